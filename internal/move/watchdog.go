package move

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pghaul/pghaul/planner"
)

const (
	// lookEvery is how often the watchdog looks at the gauges.
	lookEvery = 500 * time.Millisecond
	// askAfter is how long a table may be silent before the servers are asked whether it waits for a lock.
	askAfter = 2 * time.Second
	// defaultStall is the default of Request.StallTimeout.
	defaultStall = 5 * time.Minute
)

// silence is what the watchdog knows of one table.
type silence struct {
	signs int64
	stage int32
	since time.Time
}

// watchStalls starts the watchdog. The function that it returns ends it and waits for it.
func (m *Move) watchStalls(ctx context.Context) (halt func()) {
	wctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		w := &watchdog{move: m, seen: map[*table]*silence{}, askers: map[*site]*session{}}
		defer w.close()
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case now := <-tick.C:
				w.look(wctx, now)
			case <-wctx.Done():
				return
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// watchdog ends tables that make no progress. It belongs to one goroutine.
type watchdog struct {
	move   *Move
	seen   map[*table]*silence
	askers map[*site]*session // connections to ask over, opened when first needed
}

func (w *watchdog) look(ctx context.Context, now time.Time) {
	waiting := ""
	for _, t := range w.move.tables {
		at := t.stage.at.Load()
		if at == stageWaiting || at == stageDone {
			continue
		}
		s := w.seen[t]
		if signs := t.gauge.signs.Load(); s == nil || s.signs != signs || s.stage != at {
			w.seen[t] = &silence{signs: signs, stage: at, since: now}
			continue
		}
		if now.Sub(s.since) < min(askAfter, w.move.stall()/2) {
			continue
		}
		if why := w.judge(ctx, t, s, now); why != "" {
			waiting = why
		}
	}
	w.move.setWaiting(waiting)
}

// judge looks at a silent table from outside: it returns what lock it waits for, lets a statement that works inside the server work on,
// and ends the table when neither explains the silence and it has lasted too long.
func (w *watchdog) judge(ctx context.Context, t *table, s *silence, now time.Time) string {
	for _, site := range []*site{t.source, t.target} {
		lock, own, err := w.lockWait(ctx, site)
		if err != nil || lock == "" {
			continue
		}
		if own {
			t.stop(&planner.Error{Message: "the copy of " + t.name() + " waits for a lock that it holds itself", Detail: lock + ".",
				Hint: "A view, trigger or rule reads the table that is being written. Use --method insert-select or a copy of the view's result."})
			return ""
		}
		s.since = now
		return lock
	}
	if who := w.heldBack(ctx, t, s.stage); who != "" {
		s.since = now
		return who
	}
	if w.worksInside(ctx, t, s) {
		s.since = now
		return ""
	}
	if stall := w.move.stall(); now.Sub(s.since) >= stall {
		t.stop(&planner.Error{
			Message: fmt.Sprintf("no progress for %s", stall),
			Detail:  "Neither server sent or took anything for " + t.name() + ", and none of them waits for a lock.",
			Hint:    "See --stall-timeout if the source takes longer than that to find its first row.",
		})
	}
	return ""
}

// lockWait says which lock a session of the site waits for, if any, and whether the run itself holds it.
func (w *watchdog) lockWait(ctx context.Context, at *site) (text string, own bool, err error) {
	pids := at.open()
	if len(pids) == 0 {
		return "", false, nil
	}
	rows, err := w.ask(ctx, at, lockWaitSQL(pids))
	if err != nil || len(rows) == 0 {
		return "", false, err
	}
	row := rows[0]
	return fmt.Sprintf("process %s on %s waits for a lock held by process %s (%s)", row[0], at.server.Address, row[1], row[2]), row[3] == "t", nil
}

// lockWaitSQL finds backends of ours that wait for a lock, with one that holds it.
func lockWaitSQL(pids []uint32) string {
	list := pidList(pids)
	return "SELECT a.pid, b.pid, coalesce(nullif(h.application_name, ''), h.backend_type, 'prepared transaction'), b.pid IN (" + list + ") " +
		"FROM pg_catalog.pg_stat_activity a CROSS JOIN LATERAL unnest(pg_catalog.pg_blocking_pids(a.pid)) AS b(pid) " +
		"LEFT JOIN pg_catalog.pg_stat_activity h ON h.pid = b.pid " +
		"WHERE a.wait_event_type = 'Lock' AND a.pid IN (" + list + ") ORDER BY 4 DESC LIMIT 1"
}

// pidList writes process IDs for IN (...).
func pidList(pids []uint32) string {
	texts := make([]string, len(pids))
	for i, pid := range pids {
		texts[i] = strconv.FormatUint(uint64(pid), 10)
	}
	return strings.Join(texts, ", ")
}

// worksInside reports whether the silence is that of a statement which runs inside the target's server and sends nothing until its end:
// an index build, a SET LOGGED, an INSERT ... SELECT. Such a statement is left alone as long as its server says that it is active.
func (w *watchdog) worksInside(ctx context.Context, t *table, s *silence) bool {
	if s.stage == stageRows && !inServer(t.plan.Method) && t.plan.Method != planner.Pages {
		return false
	}
	for _, at := range []*site{t.target, t.source} {
		pids := at.open()
		if len(pids) == 0 {
			continue
		}
		rows, err := w.ask(ctx, at, "SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE state = 'active' "+
			"AND wait_event_type IS DISTINCT FROM 'Client' AND pid IN ("+pidList(pids)+")")
		if err == nil && len(rows) == 1 && rows[0][0] != "0" {
			return true
		}
	}
	return false
}

// ask runs a question over the watchdog's own connection to the site. The network may be silent, and several questions make one look, so
// the answer is not waited for longer than half of the stall timeout.
func (w *watchdog) ask(ctx context.Context, at *site, sql string) ([][]string, error) {
	limit := min(stopGrace, w.move.stall()/2)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s := w.askers[at]
	if s == nil {
		var err error
		if s, err = openSession(ctx, at.config, "", at.server.Address); err != nil {
			return nil, err
		}
		w.askers[at] = s
	}
	// A deadline of the socket: the end of ctx would begin a cancel, which takes the silent network as long again.
	err := s.conn.Conn().SetDeadline(time.Now().Add(limit))
	var rows [][]string
	if err == nil {
		rows, err = s.table(context.WithoutCancel(ctx), sql)
	}
	if err != nil {
		s.close()
		delete(w.askers, at)
	}
	return rows, err
}

func (w *watchdog) close() {
	for _, s := range w.askers {
		s.close()
	}
}

// waiting is what Progress shows of lock waits.
type waiting struct {
	lock sync.Mutex
	text string
}

func (m *Move) setWaiting(text string) {
	m.waits.lock.Lock()
	defer m.waits.lock.Unlock()
	m.waits.text = text
}

// stall returns the stall timeout.
func (m *Move) stall() time.Duration {
	if m.request.StallTimeout > 0 {
		return m.request.StallTimeout
	}
	return defaultStall
}
