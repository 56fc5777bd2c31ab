package gateway

import (
	"encoding/binary"
	"strconv"

	"github.com/pghaul/pghaul/internal/wire"
)

// frameLength is the length of the frame that m begins with, header included.
func frameLength(m []byte) int { return int(binary.BigEndian.Uint32(m[1:])) + 1 }

// frames calls visit with each frame of m, until it returns false.
func frames(m []byte, visit func(kind byte, body []byte) bool) {
	for len(m) > 0 {
		n := frameLength(m)
		if !visit(m[0], m[wire.HeaderSize:n]) {
			return
		}
		m = m[n:]
	}
}

// fill writes a unit's rows. When it cannot it says why and leaves r as it was.
func (a *accel) fill(u *unit, r *rows) (reason string) {
	s := u.statement
	if u.raw == nil {
		return a.doubt(s, r.add(s.insert, nil))
	}
	buffer, frame, count := len(r.buffer), r.frame, r.count
	frames(u.raw, func(kind byte, body []byte) bool {
		if kind != wire.TypeBind {
			return true
		}
		if !readBind(body, &r.params) || len(r.params.values) != s.insert.Parameters {
			reason = "malformed Bind"
			return false
		}
		reason = r.add(s.insert, &r.params)
		return reason == ""
	})
	if reason != "" {
		r.buffer, r.frame, r.count = r.buffer[:buffer], frame, count
	}
	return a.doubt(s, reason)
}

// doubt remembers that a statement's values have no binary form.
func (a *accel) doubt(s *statement, reason string) string {
	if reason == reasonUnsure && a.stream != nil {
		s.inText = true
	}
	s.mixed = s.mixed || reason == reasonMixed
	return reason
}

// answers are what the server would have answered to a unit whose INSERTs have stored n rows each.
func (a *accel) answers(u *unit, n int64, status wire.Status) []byte {
	out := a.said[:0]
	if u.raw == nil {
		out = appendTag(out, n)
	}
	frames(u.raw, func(kind byte, body []byte) bool {
		switch kind {
		case wire.TypeParse:
			out = wire.AppendHeader(out, wire.TypeParseComplete, 0)
		case wire.TypeBind:
			out = wire.AppendHeader(out, wire.TypeBindComplete, 0)
		case wire.TypeDescribe:
			if body[0] == 'S' {
				out = appendTypes(out, u.statement.types)
			}
			out = wire.AppendHeader(out, wire.TypeNoData, 0)
		case wire.TypeExecute:
			out = appendTag(out, n)
		}
		return true
	})
	a.said = appendReady(out, status)
	return a.said
}

func appendTag(dst []byte, n int64) []byte {
	start := len(dst)
	dst = wire.AppendHeader(dst, wire.TypeCommandComplete, 0)
	dst = strconv.AppendInt(append(dst, "INSERT 0 "...), n, 10)
	dst = append(dst, 0)
	binary.BigEndian.PutUint32(dst[start+1:], uint32(len(dst)-start-1))
	return dst
}

func appendTypes(dst []byte, types []uint32) []byte {
	dst = wire.AppendHeader(dst, wire.TypeParamDesc, 2+4*len(types))
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(types)))
	for _, oid := range types {
		dst = binary.BigEndian.AppendUint32(dst, oid)
	}
	return dst
}

func appendReady(dst []byte, status wire.Status) []byte {
	return append(wire.AppendHeader(dst, wire.TypeReadyForQuery, 1), byte(status))
}

// replay decides what becomes of a unit whose COPY has failed. All that it did is undone, so it goes as it came, and the
// server says what it has to say. Not so when it was cancelled: then the client gets that.
func (a *accel) replay(u *unit, e *errand, status wire.Status) (done bool, reason string, err error) {
	s := u.statement
	a.unnesting = ""
	if status == wire.Idle {
		// Whatever has failed: the facts may be old, and the statement that checks them may be gone.
		a.forget(s)
		a.checking = false
	}
	if e.failure != nil && sqlState(e.failure) == "57014" {
		d := doom{body: streamError(e.failure, "", nil)}
		return true, "", a.s.say(appendReady(d.appendError(e.notices), e.status))
	}
	if status == wire.InTransaction {
		a.undo()
		if a.broken != nil {
			return false, "", a.broken
		}
	} else if err := a.tidy(); err != nil {
		return false, "", err
	}
	a.s.counts.Replayed(a.s.counts.Table(s.insert.Schema, s.insert.Table), int64(u.inserts))
	return false, "replayed", nil
}

// doomed gives a whole unit the doom.
func (a *accel) doomed(err error) (bool, string, error) {
	if err != nil {
		return false, "", err
	}
	d := a.doom
	a.doom = nil
	status, _ := a.owes.settle(0)
	return true, "", a.s.say(appendReady(d.appendError(nil), status))
}

// punish gives the doom to a statement that begins with a message of this kind.
func (a *accel) punish(kind byte, word string, _ bool) error {
	out := a.doom.appendError(nil)
	a.doom = nil
	if kind != wire.TypeQuery && kind != typeFunctionCall {
		a.skipping, a.ends = true, ends(word)
		return a.s.say(out)
	}
	return a.finishDoom(out, ends(word))
}

// finishDoom ends the statement that got the doom. One that would have ended the transaction block ends it.
func (a *accel) finishDoom(out []byte, over bool) error {
	a.block.clear()
	if over {
		e := newErrand()
		e.keep = true
		if err := a.run(e, wire.AppendSync(appendRun(nil, "ROLLBACK"))); err != nil {
			return err
		}
	}
	status, _ := a.owes.settle(0)
	return a.s.say(appendReady(out, status))
}

// skip passes over what the server would pass over after an error: all up to the Sync.
func (a *accel) skip(message []byte) (bool, error) {
	body := message[wire.HeaderSize:]
	switch message[0] {
	case wire.TypeSync:
		over := a.ends
		a.skipping, a.ends = false, false
		return false, a.finishDoom(nil, over)
	case wire.TypeTerminate:
		return true, nil
	case wire.TypeParse:
		if p, ok := readParse(body); ok {
			word, _ := wordOf(p.sql)
			a.ends = a.ends || ends(word)
		}
	case wire.TypeBind:
		r := reader{rest: body}
		r.text()
		if s := a.statements[string(r.text())]; s != nil {
			a.ends = a.ends || ends(s.word)
		}
	}
	return false, nil
}
