package gateway

import (
	"time"

	"github.com/pghaul/pghaul/internal/wire"
)

const (
	// probeRows and probeInserts are how much of a transaction block goes into a table before its facts are asked, which costs
	// the server as much as some 20 small INSERTs.
	probeRows    = 64
	probeInserts = 8

	// refusedTime is how long a table that was refused is not asked for again.
	refusedTime = 5 * time.Second

	// mostTables bounds the tables whose facts a session keeps.
	mostTables = 1000

	reasonFirst = "first in transaction"
)

// lock is what has gone into a table in a transaction block.
type lock struct{ inserts, rows int }

// known finds the target of an INSERT at a moment when front may speak with the server.
func (a *accel) known(s *statement, status wire.Status) (*target, string) {
	var f *facts
	var reason string
	if status == wire.InTransaction {
		f, reason = a.knownInBlock(s)
	} else {
		f, reason = a.knownIdle(s)
	}
	if reason != "" {
		return nil, reason
	}
	if a.mode == Off {
		return nil, "off"
	}
	if s.name != "" && f.prepared[s.name] != s {
		return nil, "prepared statement"
	}
	if s.facts != f {
		s.facts = f
		s.target, s.reason = f.aim(s.insert, s.types)
	}
	if f.refused != "" {
		a.refuse(tableName(s.insert), f.refused)
	}
	return s.target, s.reason
}

// knownInBlock finds facts that a lock of this transaction keeps true: that of an INSERT which went to the server before.
func (a *accel) knownInBlock(s *statement) (*facts, string) {
	key := tableName(s.insert)
	l, locked := a.block.locked[key]
	if !locked {
		return nil, reasonFirst
	}
	f := a.block.facts[key]
	if f != nil && s.typed && (s.name == "" || f.prepared[s.name] == s) {
		return f, ""
	}
	if reason := a.refusedLately(key); reason != "" {
		return nil, reason
	}
	if l.rows < probeRows && l.inserts < probeInserts {
		return nil, reasonFirst
	}
	own := key + "\x00" + s.name
	if f := a.cache[own]; f != nil && s.typed && !f.Heavy && a.still(s, f) {
		f.prepare(s)
		a.block.facts[key] = f
		return f, ""
	}
	if a.broken != nil {
		return nil, "session ended"
	}
	f, reason := a.ask(s, true)
	if reason == "" {
		a.block.facts[key] = f
		a.keep(own, f)
	}
	return f, reason
}

// prepare notes that a statement is the one that the server has by its name.
func (f *facts) prepare(s *statement) {
	if s.name != "" && f.Prepared == string(s.sql) {
		f.prepared[s.name] = s
	}
}

func (a *accel) keep(own string, f *facts) {
	if len(a.cache) >= mostTables {
		clear(a.cache)
	}
	a.cache[own] = f
}

// recall finds what is known of a statement's table in this transaction block without asking.
func (a *accel) recall(s *statement) {
	f := a.block.facts[tableName(s.insert)]
	if f == nil || f == s.facts || !s.typed || s.name != "" && f.prepared[s.name] != s {
		return
	}
	s.facts = f
	s.target, s.reason = f.aim(s.insert, s.types)
}

// knownIdle finds facts that were true once: each unit checks them again.
func (a *accel) knownIdle(s *statement) (*facts, string) {
	key := tableName(s.insert)
	if reason := a.refusedLately(key); reason != "" {
		return nil, reason
	}
	own := key + "\x00" + s.name
	f := a.cache[own]
	if f != nil && s.typed {
		f.prepare(s)
		return f, ""
	}
	f, reason := a.ask(s, false)
	if reason != "" {
		return nil, reason
	}
	a.keep(own, f)
	return f, ""
}

// forget drops facts that have turned out to be no longer true.
func (a *accel) forget(s *statement) {
	delete(a.cache, tableName(s.insert)+"\x00"+s.name)
	s.facts = nil
}

type refusal struct {
	reason string
	until  time.Time
}

func (a *accel) refuse(key, reason string) {
	if len(a.refused) >= mostTables {
		clear(a.refused)
	}
	a.refused[key] = refusal{reason, time.Now().Add(refusedTime)}
}

func (a *accel) refusedLately(key string) string {
	r, ok := a.refused[key]
	if !ok {
		return ""
	}
	if time.Now().After(r.until) {
		delete(a.refused, key)
		for own := range a.cache {
			if len(own) > len(key) && own[:len(key)+1] == key+"\x00" {
				delete(a.cache, own)
			}
		}
		return ""
	}
	return r.reason
}
