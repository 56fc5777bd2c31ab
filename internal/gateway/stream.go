package gateway

import (
	"github.com/pghaul/pghaul/internal/wire"
)

// stream is a COPY that stays open across INSERTs of a transaction block, each of which is answered at once. As long as it is
// open its errand gets all that the server says, and nothing is owed to the client.
type stream struct {
	errand *errand
	key    string // of the target
	rows   rows
	spans  spans
	table  *TableStats
	form   Form
	target *target
}

// unit is what becomes one COPY, or a part of one: a group, or a Query of one INSERT.
type unit struct {
	statement *statement
	raw       []byte // the group's messages; nil for a Query
	parsed    bool
	inserts   int
	size      int // bytes of messages
}

func (u *unit) rowCount() int { return u.inserts * u.statement.insert.Rows }

// streaming adds a unit to the stream, which it opens when there is none for its table. With done the client is answered.
func (a *accel) streaming(u *unit) (done bool, reason string, err error) {
	s := u.statement
	a.recall(s)
	st := a.stream
	if st != nil && (s.target == nil || s.facts != st.target.facts || s.target != st.target && s.target.key() != st.key) {
		if err := a.close(); err != nil || a.doom != nil {
			return a.doomed(err)
		}
		st = nil
	}
	if st == nil {
		t, reason := a.known(s, wire.InTransaction)
		if reason == "" {
			reason = a.streamable(u, t)
		}
		if reason != "" {
			return false, reason, nil
		}
		if st, err = a.open(u, t); err != nil {
			return false, "", err
		}
	}
	if u.parsed && !a.givenAlready(u) {
		reason = "other unnamed statement"
	} else {
		st.rows.target = s.target
		reason = a.fill(u, &st.rows)
	}
	if reason != "" || st.errand.failed.Load() {
		if err := a.close(); err != nil || a.doom != nil {
			return a.doomed(err)
		}
		return false, reason, nil
	}
	for range u.inserts {
		st.spans = st.spans.add(s.insert.Rows)
	}
	a.s.counts.Taken(st.table, st.form, int64(u.inserts), int64(u.rowCount()))
	if len(st.rows.buffer) >= wire.FrameSize {
		if err := a.pour(st); err != nil {
			return false, "", err
		}
	}
	return true, "", a.s.say(a.answers(u, int64(s.insert.Rows), wire.InTransaction))
}

// streamable says why a unit cannot go into a stream.
func (a *accel) streamable(u *unit, t *target) string {
	switch {
	case a.mode != Stream:
		return "not in stream mode"
	case t.joined != "":
		return t.joined
	case t.facts.Timeout:
		return "statement_timeout" // it would count from the stream's beginning
	case u.statement.mixed:
		return "no common form"
	case u.size/u.rowCount() > largeRow:
		return "large rows"
	case u.parsed && !a.givenAlready(u):
		return "other unnamed statement"
	}
	return ""
}

// givenAlready tells whether the unit's Parse of the unnamed statement is what the server got last, so that it need not get it
// again.
func (a *accel) givenAlready(u *unit) bool {
	parse := u.raw[:frameLength(u.raw)]
	return u.statement.name == "" && string(parse) == string(a.given)
}

// open begins the COPY. It goes to the server with the first rows.
func (a *accel) open(u *unit, t *target) (*stream, error) {
	s := u.statement
	st := &stream{errand: newErrand(), key: t.key(), target: t, form: FormCopyText}
	inBinary := a.utf8 && !s.inText
	if inBinary {
		st.form = FormCopyBinary
	}
	st.table = a.s.counts.Table(t.facts.Schema, t.facts.Name)
	st.rows.buffer = a.spare
	a.spare = nil
	st.rows.start(a.copyHead(nil, u, t, inBinary), t, inBinary, a.encoding)
	if !a.owes.begin(st.errand) {
		return nil, errSessionEnded
	}
	a.stream = st
	a.s.counts.SetCopying(true)
	return st, nil
}

// copyHead adds what begins a COPY by the extended protocol. Its portal is the unnamed one, as the client's INSERT would have
// had; a Query would have ended the unnamed statement too.
func (a *accel) copyHead(dst []byte, u *unit, t *target, binary bool) []byte {
	if u.raw == nil {
		dst = wire.AppendClose(dst, wire.Statement, "")
		a.given = nil
	}
	dst = wire.AppendClose(dst, wire.Statement, ownName)
	dst = wire.AppendParse(dst, ownName, t.copy(quotedTable(u.statement.insert), binary), nil)
	dst = wire.AppendBind(dst, &wire.Bind{Statement: ownName})
	return wire.AppendExecute(dst, "", 0)
}

// pour sends the rows that are ready.
func (a *accel) pour(st *stream) error {
	st.rows.cut()
	if err := a.send(st.rows.buffer); err != nil {
		return err
	}
	st.rows.buffer = st.rows.buffer[:0]
	st.rows.open()
	return nil
}

// close ends the stream and waits for what the server makes of it. A refused row becomes the doom of the client's next
// statement.
func (a *accel) close() error {
	st := a.stream
	st.rows.finish()
	m := wire.AppendCopyDone(st.rows.buffer)
	m = wire.AppendClose(m, wire.Statement, ownName)
	if err := a.end(st, wire.AppendSync(m)); err != nil {
		return err
	}
	e := st.errand
	if e.failure == nil {
		return nil
	}
	a.doom = &doom{body: streamError(e.failure, st.target.facts.Name, st.spans)}
	return a.tidy()
}

// drop ends the stream without its rows: what follows undoes them anyway.
func (a *accel) drop() error {
	st := a.stream
	m := wire.AppendCopyFail(st.rows.buffer[:st.rows.frame], "the transaction is rolled back")
	if err := a.end(st, wire.AppendSync(m)); err != nil {
		return err
	}
	return a.tidy()
}

// abandon ends the stream because the client cancels.
func (a *accel) abandon() error {
	if a.stream == nil {
		return nil
	}
	if err := a.drop(); err != nil {
		return err
	}
	a.doom = &doom{body: cancelledBody()}
	return nil
}

func (a *accel) end(st *stream, m []byte) error {
	a.stream = nil
	a.s.counts.SetCopying(false)
	err := a.send(m)
	if err == nil {
		err = a.await(st.errand)
	}
	if cap(m) <= 2*wire.FrameSize {
		a.spare = m[:0]
	}
	return err
}

// tidy removes the prepared statement that a failed COPY has left.
func (a *accel) tidy() error {
	e := newErrand()
	return a.run(e, wire.AppendSync(wire.AppendClose(nil, wire.Statement, ownName)))
}
