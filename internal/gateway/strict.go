package gateway

import (
	"unicode/utf8"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/internal/wire"
)

const (
	// strictRows is the smallest unit that is worth a COPY of its own, in rows.
	strictRows = 100

	// largeRow is the size of rows from which on an INSERT is as fast, in bytes.
	largeRow = 32 << 10
)

// take tries to carry out the group that is held. With done the client is answered; else it must go as it came, for reason.
func (a *accel) take() (done bool, reason string, err error) {
	g := &a.group
	u := &unit{statement: g.statement, raw: g.raw, parsed: g.parsed, inserts: g.binds, size: len(g.raw)}
	return a.carry(u)
}

// carry tries to carry out a unit.
func (a *accel) carry(u *unit) (done bool, reason string, err error) {
	if a.stream != nil {
		return a.streaming(u)
	}
	if a.mode == Off {
		return false, "off", nil
	}
	if a.mode != Stream && u.rowCount() < strictRows {
		return false, "small", nil
	}
	status, ok, err := a.free()
	switch {
	case err != nil:
		return false, "", err
	case !ok:
		return false, "busy", nil
	case a.doom != nil:
		return a.doomed(nil)
	case !a.current(u.statement):
		return false, "settings changed", nil
	case status == wire.InFailed:
		return false, "failed transaction", nil
	case a.mode == Stream && status == wire.InTransaction:
		return a.streaming(u)
	case u.rowCount() < strictRows:
		return false, "small", nil
	}
	return a.strict(u, status)
}

// current tells whether the statement is read as the server has read it. Settings that it has reported since may be older than
// the statement: it was sent before their report came.
func (a *accel) current(s *statement) bool {
	a.refresh()
	if !a.lex.SafeEncoding {
		return false
	}
	if s.seen == a.seen {
		return true
	}
	for _, c := range s.sql {
		if c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// strict carries out a unit as one COPY whose outcome the client is told.
func (a *accel) strict(u *unit, status wire.Status) (done bool, reason string, err error) {
	s := u.statement
	t, reason := a.known(s, status)
	switch {
	case reason != "":
		return false, reason, nil
	case u.inserts > 1 && t.joined != "":
		return false, t.joined, nil
	case u.inserts > 1 && t.facts.Timeout:
		return false, "statement_timeout", nil
	case u.size/u.rowCount() > largeRow:
		return false, "large rows", nil
	case u.parsed && s.name != "":
		return false, "statement being prepared", nil
	}
	form, reason := a.write(u, t, status)
	if reason != "" {
		return false, reason, nil
	}
	e := newErrand()
	e.keep = true
	if err := a.run(e, a.work.buffer); err != nil {
		return false, "", err
	}
	a.trim()
	n, ok := copied(e.replies)
	if e.failure == nil && ok && (u.inserts == 1 || n == int64(u.rowCount())) {
		a.checking = a.checking || status == wire.Idle && !t.facts.Heavy
		if u.parsed {
			a.given = append(a.given[:0], u.raw[:frameLength(u.raw)]...)
		}
		a.s.counts.Taken(a.s.counts.Table(t.facts.Schema, t.facts.Name), form, int64(u.inserts), int64(u.rowCount()))
		if u.inserts > 1 {
			n = int64(s.insert.Rows)
		}
		return true, "", a.s.say(append(notices(e.notices, t.facts.Name), a.answers(u, n, e.status)...))
	}
	return a.replay(u, e, status)
}

// write makes the messages of the unit in a.work.
func (a *accel) write(u *unit, t *target, status wire.Status) (Form, string) {
	s := u.statement
	form, reason := FormCopyBinary, reasonUnsure
	if a.utf8 && !s.inText {
		if u.rowCount() <= unnestRows && t.unnests() {
			form = FormUnnest
		}
		reason = a.writeRows(u, t, status, form)
	}
	if reason == reasonUnsure {
		form = FormCopyText
		reason = a.writeRows(u, t, status, form)
		s.inText = reason == ""
	}
	if reason != "" {
		return form, reason
	}
	m := a.work.buffer
	if status == wire.InTransaction {
		m = appendRun(m, "RELEASE SAVEPOINT "+ownName)
	} else {
		m = a.appendCheck(m, s)
	}
	a.work.buffer = wire.AppendSync(m)
	return form, ""
}

// writeRows makes the messages up to the rows' end.
func (a *accel) writeRows(u *unit, t *target, status wire.Status, form Form) string {
	var head []byte
	if status == wire.InTransaction {
		head = appendRun(head, "SAVEPOINT "+ownName)
	}
	if u.parsed {
		head = append(head, u.raw[:frameLength(u.raw)]...)
	}
	w := &a.work
	if form == FormUnnest {
		w.startBare(t, a.encoding)
		if reason := a.fill(u, w); reason != "" {
			return reason
		}
		w.buffer = a.appendUnnest(head, u, t, w)
		return ""
	}
	binary := form == FormCopyBinary
	w.start(a.copyHead(head, u, t, binary), t, binary, a.encoding)
	if reason := a.fill(u, w); reason != "" {
		return reason
	}
	w.finish()
	w.buffer = wire.AppendClose(wire.AppendCopyDone(w.buffer), wire.Statement, ownName)
	return ""
}

// appendCheck adds what fails when the table is no longer as it was. It runs behind the COPY, whose lock keeps the table as
// it is from then on, and takes the COPY back with it.
func (a *accel) appendCheck(m []byte, s *statement) []byte {
	table, name := []byte(quotedTable(s.insert)), []byte(s.name)
	if s.facts.Heavy {
		return appendRun(m, factsCheckSQL, table, name, []byte(s.facts.fingerprint))
	}
	return appendExecution(a.appendCheckName(m), checkName, table, name, []byte(s.facts.mark))
}

func quotedTable(i *sqltext.Insert) string {
	if i.Schema != "" {
		return sqltext.QuoteIdent(i.Schema) + "." + sqltext.QuoteIdent(i.Table)
	}
	return sqltext.QuoteIdent(i.Table)
}

// copied finds how many rows the COPY or INSERT among an errand's replies has stored.
func copied(replies []reply) (int64, bool) {
	for _, r := range replies {
		if r.kind != wire.TypeCommandComplete {
			continue
		}
		if tag, err := wire.ParseTag(r.body); err == nil && (tag.Verb == "COPY" || tag.Verb == "INSERT") {
			return tag.Rows, true
		}
	}
	return 0, false
}

// trim lets a large buffer go.
func (a *accel) trim() {
	if cap(a.work.buffer) > 4*wire.FrameSize {
		a.work.buffer = nil
	}
}

// query deals with a Query.
func (a *accel) query(message []byte) (bool, error) {
	sql := message[wire.HeaderSize:]
	if len(sql) == 0 || sql[len(sql)-1] != 0 {
		a.block.clear()
		return a.pass(message, "", false)
	}
	sql = sql[:len(sql)-1]
	word, single := wordOf(sql)
	if word == "INSERT" && !a.loose && !a.group.held() {
		return a.insertQuery(message, sql)
	}
	if !single || word != "SAVEPOINT" && word != "RELEASE" {
		a.block.clear()
	}
	ok, err := a.pass(message, word, single)
	if ok {
		a.noteSetting(word, sql)
	}
	return ok, err
}

// insertQuery deals with a Query of an INSERT.
func (a *accel) insertQuery(message, sql []byte) (bool, error) {
	insert, not := sqltext.ParseInsert(sql, a.lex)
	if insert == nil {
		a.block.clear()
		a.s.counts.Passed(a.s.counts.Table("", ""), not.Reason)
		return a.pass(message, "INSERT", true)
	}
	s := &statement{insert: insert, sql: sql, word: "INSERT", typed: true, seen: a.seen}
	done, reason, err := a.carry(&unit{statement: s, inserts: 1, size: len(message)})
	if done || err != nil {
		return false, err
	}
	a.passed(s, reason)
	a.locks(s, 1)
	return a.pass(message, "INSERT", true)
}
