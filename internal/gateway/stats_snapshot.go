package gateway

import (
	"cmp"
	"slices"
	"time"
)

// Counts is what one or more sessions have done.
type Counts struct {
	Received int64 // bytes from clients
	Sent     int64 // bytes to clients
	Inserts  int64 // INSERTs seen
	Taken    int64 // of them: went in another form
	Rows     int64 // rows of those
}

func (t *Counts) add(more Counts) {
	t.Received += more.Received
	t.Sent += more.Sent
	t.Inserts += more.Inserts
	t.Taken += more.Taken
	t.Rows += more.Rows
}

// SessionView is one session at one moment.
type SessionView struct {
	ID                                  uint64
	Started                             time.Time
	Client, User, Database, Application string
	TLS                                 bool // between client and gateway
	Mode                                string
	Copying                             bool // a COPY of the gateway is open
	Counts
}

// FormView is what went to one table in one form.
type FormView struct {
	Form    Form
	Units   int64 // statements sent to the server
	Inserts int64 // INSERTs of the client in them
	Rows    int64
}

// TableView is one table at one moment.
type TableView struct {
	Database, Schema, Table string // all empty: INSERTs whose table is not known
	Form                    Form   // of the last unit
	Forms                   []FormView
	Passed                  map[string]int64 // by reason; nil when none was
	Replayed                int64
}

// PassedTotal is the number of INSERTs that went as they came.
func (t *TableView) PassedTotal() int64 {
	var n int64
	for _, count := range t.Passed {
		n += count
	}
	return n
}

// TakenTotal is the number of INSERTs that went in another form, and their rows.
func (t *TableView) TakenTotal() (inserts, rows int64) {
	for _, f := range t.Forms {
		inserts += f.Inserts
		rows += f.Rows
	}
	return inserts, rows
}

// Snapshot is all that was counted, at one moment. Numbers that change while it is taken may be a message apart.
type Snapshot struct {
	Started  time.Time
	Total    Counts // of all sessions, also of those that are over
	Sessions []SessionView
	Tables   []TableView // in the order of their names; the entry without names last, when it counted anything
}

func (c *SessionStats) counts() Counts {
	n := Counts{Inserts: c.inserts.Load(), Taken: c.taken.Load(), Rows: c.rows.Load()}
	if c.origin.Bytes != nil {
		n.Received, n.Sent = c.origin.Bytes()
	}
	return n
}

func (c *SessionStats) view() SessionView {
	o := &c.origin
	return SessionView{
		ID: c.id, Started: c.started, Client: o.Client, User: o.User, Database: o.Database, Application: o.Application,
		TLS: o.TLS, Mode: *c.mode.Load(), Copying: c.copying.Load(), Counts: c.counts(),
	}
}

func (t *TableStats) view() TableView {
	v := TableView{
		Database: t.key.database, Schema: t.key.schema, Table: t.key.table,
		Form: Form(t.form.Load()), Passed: t.passedCopy(), Replayed: t.replayed.Load(),
	}
	for i := range t.forms {
		f := &t.forms[i]
		if units := f.units.Load(); units > 0 {
			v.Forms = append(v.Forms, FormView{Form(i), units, f.inserts.Load(), f.rows.Load()})
		}
	}
	return v
}

// Stats reads all counters of the INSERTs.
func (g *Gateway) Stats() *Snapshot { return g.stats.Snapshot() }

// Snapshot reads all counters.
func (s *Stats) Snapshot() *Snapshot {
	s.mu.Lock()
	shot := &Snapshot{Started: s.started, Total: s.closed}
	sessions := make([]*SessionStats, 0, len(s.sessions))
	for _, c := range s.sessions {
		sessions = append(sessions, c)
	}
	tables := make([]*TableStats, 0, len(s.tables))
	for _, t := range s.tables {
		tables = append(tables, t)
	}
	s.mu.Unlock()
	for _, c := range sessions {
		v := c.view()
		shot.Total.add(v.Counts)
		shot.Sessions = append(shot.Sessions, v)
	}
	slices.SortFunc(shot.Sessions, func(a, b SessionView) int { return cmp.Compare(a.ID, b.ID) })
	for _, t := range tables {
		shot.Tables = append(shot.Tables, t.view())
	}
	slices.SortFunc(shot.Tables, func(a, b TableView) int {
		return cmp.Or(cmp.Compare(a.Database, b.Database), cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Table, b.Table))
	})
	if v := s.nowhere.view(); len(v.Passed) > 0 || len(v.Forms) > 0 {
		shot.Tables = append(shot.Tables, v)
	}
	return shot
}
