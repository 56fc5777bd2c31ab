package gateway

import (
	"bytes"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/internal/wire"
)

// group is what has come since the last Sync as long as it is nothing but one INSERT, again and again: a Parse or none, a
// Describe of the statement or none, then a Bind, a Describe of the portal or none, and an Execute, once or more. It is held
// until its Sync comes.
type group struct {
	raw       []byte
	statement *statement // nil: nothing is held
	parsed    bool       // it has the statement's Parse
	binds     int
	bound     bool // a Bind waits for its Execute
}

func (g *group) held() bool { return g.statement != nil }

func (g *group) reset() {
	raw := g.raw[:0]
	if cap(raw) > wire.FrameSize {
		raw = nil
	}
	*g = group{raw: raw}
}

// hold adds a message to the group, or sends all when that is too much.
func (a *accel) hold(message []byte) (bool, error) {
	if len(a.group.raw)+len(message) > holdLimit {
		a.passed(a.group.statement, "too large")
		return a.pass(message, "", false)
	}
	a.group.raw = append(a.group.raw, message...)
	return false, nil
}

// parse deals with a Parse.
func (a *accel) parse(message []byte) (bool, error) {
	p, ok := readParse(message[wire.HeaderSize:])
	if !ok {
		return a.pass(message, "", false)
	}
	word, single := wordOf(p.sql)
	s := a.remember(&p, word, single)
	if s == nil || s.insert == nil || a.loose || a.group.held() || a.mode == Off {
		ok, err := a.pass(message, word, single)
		if ok && len(p.name) == 0 {
			a.given = append(a.given[:0], message...)
		}
		return ok, err
	}
	a.group.statement, a.group.parsed = s, true
	return a.hold(message)
}

// remember keeps a prepared statement that matters: an INSERT that can be recognised, or one that ends a transaction.
func (a *accel) remember(p *parseMessage, word string, single bool) *statement {
	name := string(p.name)
	a.forgetStatement(name)
	s := &statement{name: name, oids: p.oids, word: word, seen: a.seen}
	switch {
	case word == "INSERT":
		sql := bytes.Clone(p.sql)
		insert, not := sqltext.ParseInsert(sql, a.lex)
		if insert == nil {
			a.s.counts.Passed(a.s.counts.Table("", ""), not.Reason)
			return nil
		}
		s.insert, s.sql = insert, sql
	case ends(word) || single && (word == "ROLLBACK" || word == "ABORT"):
	default:
		return nil
	}
	if len(a.statements) < mostStatements && a.remembered+len(s.sql) <= mostText {
		a.statements[name] = s
		a.remembered += len(s.sql)
	}
	return s
}

func (a *accel) forgetStatement(name string) {
	if s := a.statements[name]; s != nil {
		a.remembered -= len(s.sql)
		delete(a.statements, name)
	}
}

// dropStatement forgets what a Close closes.
func (a *accel) dropStatement(message []byte) {
	r := reader{rest: message[wire.HeaderSize:]}
	if r.byte() == byte(wire.Statement) {
		a.forgetStatement(string(r.text()))
	}
}

// ends tells whether a statement that begins so ends a transaction block that has failed.
func ends(word string) bool {
	switch word {
	case "COMMIT", "END", "PREPARE", "ROLLBACK", "ABORT":
		return true
	}
	return false
}

// wordOf is the word that a query begins with, and whether it is certainly one statement.
func wordOf(sql []byte) (word string, single bool) {
	word = sqltext.FirstWord(sql)
	at := bytes.IndexByte(sql, ';')
	return word, at < 0 || len(bytes.TrimRight(sql[at:], "; \t\r\n\f")) == 0
}

// bind deals with a Bind.
func (a *accel) bind(message []byte) (bool, error) {
	r := reader{rest: message[wire.HeaderSize:]}
	portal, name := r.text(), r.text()
	s := a.statements[string(name)]
	if r.failed || s == nil || s.insert == nil {
		word := ""
		if s != nil {
			word = s.word
		} else {
			a.block.clear()
		}
		return a.pass(message, word, true)
	}
	g := &a.group
	switch {
	case a.loose || a.mode == Off || len(portal) > 0 || g.bound || g.held() && g.statement != s:
		a.locks(s, 1)
		if !a.loose {
			a.passed(s, "mixed pipeline")
		} else {
			a.passed(s, "pipeline")
		}
		return a.pass(message, "INSERT", true)
	case len(name) == 0 && !g.parsed:
		a.locks(s, 1)
		a.passed(s, "unnamed statement")
		return a.pass(message, "INSERT", true)
	}
	g.statement, g.bound = s, true
	return a.hold(message)
}

func (a *accel) describe(message []byte) (bool, error) {
	r := reader{rest: message[wire.HeaderSize:]}
	what, name := r.byte(), r.text()
	g := &a.group
	ok := r.whole() && g.held()
	switch what {
	case 'S':
		ok = ok && g.parsed && g.binds == 0 && !g.bound && string(name) == g.statement.name
	case 'P':
		ok = ok && g.bound && len(name) == 0
	default:
		ok = false
	}
	if !ok {
		return a.pass(message, "", false)
	}
	return a.hold(message)
}

func (a *accel) execute(message []byte) (bool, error) {
	r := reader{rest: message[wire.HeaderSize:]}
	name := r.text()
	r.long()
	if !r.whole() || len(name) > 0 || !a.group.bound {
		return a.pass(message, "", false)
	}
	a.group.bound = false
	a.group.binds++
	return a.hold(message)
}

// sync deals with the end of a group.
func (a *accel) sync(message []byte) (bool, error) {
	g := &a.group
	if !g.held() || g.bound || g.binds == 0 {
		return a.pass(message, "", false)
	}
	done, reason, err := a.take()
	if done || err != nil {
		g.reset()
		return false, err
	}
	a.passed(g.statement, reason)
	return a.pass(message, "INSERT", true)
}

// release sends the group as it came.
func (a *accel) release() error {
	g := &a.group
	if !g.held() {
		return nil
	}
	if err := a.send(g.raw); err != nil {
		return err
	}
	a.loose = true
	s := g.statement
	if g.parsed && s.name == "" {
		length := frameLength(g.raw)
		a.given = append(a.given[:0], g.raw[:length]...)
	}
	if g.binds > 0 || g.bound {
		a.locks(s, g.binds)
	}
	g.reset()
	return nil
}

// locks notes that an INSERT goes to the server: it locks its table. What is known of other tables may change by its triggers.
func (a *accel) locks(s *statement, inserts int) {
	key := tableName(s.insert)
	f := a.block.facts[key]
	if f != nil && f.refused == "" && !f.Triggers {
		return
	}
	clear(a.block.facts)
	l := a.block.locked[key]
	a.block.locked[key] = lock{l.inserts + inserts, l.rows + inserts*s.insert.Rows}
}

// tableName tells tables apart as statements name them.
func tableName(i *sqltext.Insert) string { return i.Schema + "\x00" + i.Table }

// passed counts an INSERT that goes as it came.
func (a *accel) passed(s *statement, reason string) {
	schema, table := s.insert.Schema, s.insert.Table
	if s.facts != nil && s.facts.Found {
		schema, table = s.facts.Schema, s.facts.Name
	}
	a.s.counts.Passed(a.s.counts.Table(schema, table), reason)
}
