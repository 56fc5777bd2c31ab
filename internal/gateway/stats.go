package gateway

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Form is what an INSERT was turned into.
type Form int32

// The forms.
const (
	FormSent       Form = iota // the INSERT as the client sent it
	FormCopyBinary             // COPY ... (FORMAT binary)
	FormCopyText               // COPY in text
	FormUnnest                 // INSERT ... SELECT unnest(...)
	FormBind                   // the same INSERT, its literals sent as parameters
	formCount
)

// String returns the form's word in the console, the metrics and the status page.
func (f Form) String() string {
	words := [formCount]string{"sent", "copy_binary", "copy_text", "unnest", "bind"}
	if f < 0 || f >= formCount {
		return "unknown"
	}
	return words[f]
}

// maxTables bounds the tables that are counted by name, for names come from clients. Further ones share one entry,
// whose name is otherTables.
const (
	maxTables   = 1000
	otherTables = "(others)"
	maxReasons  = 100
	maxName     = 63
)

// Stats counts what becomes of the INSERTs that a gateway sees, by table and by session; Traffic counts the relay's own work.
// Its methods, and those of SessionStats and TableStats, may be called from several goroutines.
type Stats struct {
	started time.Time

	mu       sync.Mutex
	next     uint64
	sessions map[uint64]*SessionStats
	closed   Counts // of sessions that are over
	tables   map[tableKey]*TableStats
	nowhere  *TableStats // statements whose table is not known
}

type tableKey struct{ database, schema, table string }

func newStats() *Stats {
	return &Stats{
		started:  time.Now(),
		sessions: map[uint64]*SessionStats{},
		tables:   map[tableKey]*TableStats{},
		nowhere:  &TableStats{},
	}
}

// Origin is where a session comes from.
type Origin struct {
	Client                      string // its address
	User, Database, Application string // as the start-up packet has them; Database empty: the user's
	TLS                         bool   // between client and gateway
	Mode                        string // that it starts with

	// Bytes reads how many bytes have come from the client and how many have gone to it. nil is none.
	Bytes func() (received, sent int64)
}

// Open begins the counting of a session. The caller calls Close at the session's end.
func (s *Stats) Open(o Origin) *SessionStats {
	if o.Database == "" {
		o.Database = o.User
	}
	for _, name := range []*string{&o.Client, &o.User, &o.Database, &o.Application} {
		*name = clip(*name)
	}
	session := &SessionStats{stats: s, started: time.Now(), origin: o}
	session.mode.Store(&o.Mode)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	session.id = s.next
	s.sessions[session.id] = session
	return session
}

// clip makes a name fit to be kept and shown: not longer than the server keeps one (NAMEDATALEN), and valid UTF-8, without
// which the metrics could not be read.
func clip(name string) string {
	return strings.ToValidUTF8(name[:min(len(name), maxName)], "")
}

// table finds a table's counters, or makes them.
func (s *Stats) table(key tableKey) *TableStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.tables[key]; t != nil {
		return t
	}
	if len(s.tables) >= maxTables {
		key = tableKey{table: otherTables}
		if t := s.tables[key]; t != nil {
			return t
		}
	}
	t := &TableStats{key: key}
	s.tables[key] = t
	return t
}

// SessionStats counts what one session does.
type SessionStats struct {
	stats   *Stats
	id      uint64
	started time.Time
	origin  Origin

	mode    atomic.Pointer[string]
	copying atomic.Bool
	fresh   atomic.Bool // nothing was taken yet by the COPY that is open
	inserts atomic.Int64
	taken   atomic.Int64
	rows    atomic.Int64

	mu      sync.Mutex
	touched map[tableKey]*TableStats // saves the lock that all sessions share
}

// Close ends the counting of the session. It may be called more than once.
func (c *SessionStats) Close() {
	c.stats.mu.Lock()
	defer c.stats.mu.Unlock()
	if c.stats.sessions[c.id] == nil {
		return
	}
	delete(c.stats.sessions, c.id)
	c.stats.closed.add(c.counts())
}

// ID is the session's number, from 1 in the order of their beginning.
func (c *SessionStats) ID() uint64 { return c.id }

// SetMode notes the mode that the session is in now.
func (c *SessionStats) SetMode(mode string) { c.mode.Store(&mode) }

// SetCopying notes whether a COPY is open that the gateway began. All INSERTs taken while it is are one statement.
func (c *SessionStats) SetCopying(open bool) {
	c.fresh.Store(open)
	c.copying.Store(open)
}

// Table finds the counters of a table in the session's database. Both names are as the server has them; an empty table
// means that it is not known, and an empty schema that it was found by the search path and not asked for yet.
func (c *SessionStats) Table(schema, table string) *TableStats {
	if table == "" {
		return c.stats.nowhere
	}
	key := tableKey{c.origin.Database, clip(schema), clip(table)}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.touched[key]
	if t != nil {
		return t
	}
	t = c.stats.table(key)
	if c.touched == nil {
		c.touched = map[tableKey]*TableStats{}
	}
	if len(c.touched) < maxTables {
		c.touched[key] = t
	}
	return t
}

// Passed counts an INSERT that went as it came, under its reason: one of a small fixed set of words that hold nothing of
// the statement.
func (c *SessionStats) Passed(t *TableStats, reason string) {
	c.inserts.Add(1)
	t.passed(reason)
}

// Taken counts INSERTs that went in another form, with their rows: as one statement, or as a part of the COPY that is open.
func (c *SessionStats) Taken(t *TableStats, form Form, inserts, rows int64) {
	c.inserts.Add(inserts)
	c.taken.Add(inserts)
	c.rows.Add(rows)
	if !c.copying.Load() || c.fresh.Swap(false) {
		t.began(form)
	}
	t.taken(form, inserts, rows)
}

// Replayed counts INSERTs that were sent again as they came, after another form had failed.
func (c *SessionStats) Replayed(t *TableStats, inserts int64) { t.replayed.Add(inserts) }

// TableStats counts what became of the INSERTs into one table.
type TableStats struct {
	key      tableKey
	form     atomic.Int32
	forms    [formCount]struct{ units, inserts, rows atomic.Int64 }
	replayed atomic.Int64

	mu      sync.Mutex
	reasons map[string]int64
}

// SetForm notes the form that statements into the table take now.
func (t *TableStats) SetForm(form Form) { t.form.Store(int32(form)) }

func (t *TableStats) began(form Form) {
	t.forms[form].units.Add(1)
	t.SetForm(form)
}

func (t *TableStats) taken(form Form, inserts, rows int64) {
	f := &t.forms[form]
	f.inserts.Add(inserts)
	f.rows.Add(rows)
}

func (t *TableStats) passed(reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reasons == nil {
		t.reasons = map[string]int64{}
	}
	if _, known := t.reasons[reason]; !known && len(t.reasons) >= maxReasons {
		reason = "other"
	}
	t.reasons[reason]++
}

func (t *TableStats) passedCopy() map[string]int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.reasons)
}
