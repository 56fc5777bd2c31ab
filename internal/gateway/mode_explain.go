package gateway

import (
	"slices"

	"github.com/pghaul/pghaul/internal/encode"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/internal/wire"
)

// explain lets an EXPLAIN of an INSERT pass and adds a line to the server's answer: what the gateway would make of the INSERT,
// or why it would pass it. done is false when nothing is to be added.
func (a *accel) explain(message, sql []byte) (done bool, err error) {
	x := sqltext.ParseExplain(sql, a.lex)
	if x == nil || !x.Text || a.mode == Off || a.loose || a.group.held() {
		return false, nil
	}
	if err := a.clear(false); err != nil || a.doom != nil {
		return false, err
	}
	status, ok, err := a.free()
	if err != nil || !ok || status == wire.InFailed {
		return false, err
	}
	line, err := a.explanation(x, status)
	if err != nil || line == "" {
		return false, err
	}
	e := newErrand()
	e.line = appendLine(nil, "Gateway: "+line)
	return true, a.run(e, message)
}

// explanation is what the line says; empty when it cannot be known.
func (a *accel) explanation(x *sqltext.Explain, status wire.Status) (string, error) {
	if x.Insert == nil {
		return "passed: " + x.Not.Reason, nil
	}
	if x.Insert.Parameters > 0 {
		return "", nil
	}
	s := &statement{insert: x.Insert, typed: true}
	f, _ := a.ask(s, status == wire.InTransaction)
	if f == nil {
		return "", a.broken
	}
	t, reason := f.aim(x.Insert, nil)
	streams := a.mode == Stream && status == wire.InTransaction
	switch {
	case reason != "":
	case a.mode == Off:
		reason = "off"
	case streams:
		reason = t.joined
	case x.Insert.Rows < strictRows:
		reason = "small"
	}
	if reason != "" {
		return "passed: " + reason, nil
	}
	var r rows
	r.start(nil, t, true, a.encoding)
	inBinary := a.utf8 && !slices.ContainsFunc(r.encoders, func(e encode.Encoder) bool { return e == nil })
	if !streams && inBinary && x.Insert.Rows <= unnestRows && t.unnests() {
		return t.unnest(t.relation()), nil
	}
	return t.copy(t.relation(), inBinary), nil
}

// appendLine adds a row of one text.
func appendLine(dst []byte, text string) []byte {
	dst = wire.AppendHeader(dst, wire.TypeDataRow, 2+4+len(text))
	n := len(text)
	return append(append(dst, 0, 1, byte(n>>24), byte(n>>16), byte(n>>8), byte(n)), text...)
}
