package move

import (
	"log/slog"
	"strconv"
	"sync"

	"golang.org/x/time/rate"

	"github.com/pghaul/pghaul/planner"
)

// Move is a planned run: what Open has found out and chosen. It is for one Run.
type Move struct {
	request Request
	opened  sync.Mutex       // over sites while tables are planned
	sites   map[string]*site // by address and role
	tables  []*table
	// directory is the source when that is no server.
	directory *directory
	logger    *slog.Logger
	waits     waiting
	limit     *rate.Limiter
}

// Plans returns the plan of each table, in the order asked for. After Run they hold the actual figures.
func (m *Move) Plans() []*planner.Plan {
	plans := make([]*planner.Plan, len(m.tables))
	for i, t := range m.tables {
		plans[i] = t.plan
	}
	return plans
}

// Progress returns a look at the move, which may be running.
func (m *Move) Progress() Progress {
	var p Progress
	active := 0
	for _, t := range m.tables {
		p.Rows += t.gauge.rows.Load()
		p.Bytes += t.payload()
		p.Total += t.plan.Estimate.Bytes
		if rows := t.plan.Estimate.Rows; rows < 0 || p.TotalRow < 0 {
			p.TotalRow = -1
		} else {
			p.TotalRow += rows
		}
		if at := t.stage.at.Load(); at != stageWaiting && at != stageDone {
			active++
			p.Table, p.Stage = t.plan.Source.Relation, t.stage.String()
			if t.load != nil {
				p.Table = t.load.name()
			}
		}
	}
	if active > 1 {
		p.Table = strconv.Itoa(active) + " tables"
	}
	m.waits.lock.Lock()
	defer m.waits.lock.Unlock()
	p.Waiting = m.waits.text
	return p
}

// payload is how far a table's move is, in the bytes that its plan estimates: those of files for a load.
func (t *table) payload() int64 {
	if t.load == nil {
		return t.gauge.bytes.Load()
	}
	if feed := t.load.feed.Load(); feed != nil {
		return feed.consumed()
	}
	return 0
}

// Close closes all connections. What Run has begun is over by then, since Run waits for it.
func (m *Move) Close() {
	for _, s := range m.sites {
		s.close()
	}
	for _, t := range m.tables {
		if t.load != nil {
			t.load.close()
		}
	}
}

// limiter returns the limit on reading that all tables share, nil for none.
func (m *Move) limiter() *rate.Limiter {
	if m.limit == nil {
		m.limit = newLimiter(m.request.MaxRate)
	}
	return m.limit
}

// locksOn lists the relations of a source that must keep their shape while they are read.
func (m *Move) locksOn(s *site) []string {
	var names []string
	for _, t := range m.tables {
		kind := t.facts.Source.Kind
		if t.source == s && (kind == planner.Table || kind == planner.Partitioned) {
			names = append(names, t.plan.Source.Relation)
		}
	}
	return names
}

// sharesSnapshot reports whether more than one session will read from a source.
func (m *Move) sharesSnapshot(s *site) bool {
	if s.server.Pooled {
		return false
	}
	readers := 0
	for _, t := range m.tables {
		if t.source != s {
			continue
		}
		readers += t.plan.Connections
		if inServer(t.plan.Method) { // Its target's session is one more.
			readers++
		}
	}
	return readers > 1
}
