package move

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pghaul/pghaul/planner"
)

// worker is a pair of sessions that moves ranges of one plan. Both are inside their transactions. Where the source is a data directory,
// files takes the place of src, which is nil.
type worker struct {
	src, dst *session
	files    *decoder
	load     *load // takes the place of src too
	plan     *planner.Plan
	gauge    *gauge
	batches  *batches // of method insert
}

// table is one table of a run.
type table struct {
	number   int // its place in the request
	facts    planner.Facts
	plan     *planner.Plan
	source   *site
	target   *site
	encoding string // client_encoding of both sides
	key      string // names the move in the target's records (CommitRange)
	gauge    *gauge
	stage    stage
	report   *TableReport
	began    time.Time

	// committed: the rows are in the target for good. unknown says so when a lost connection left that open.
	committed bool
	unknown   string
	notUndone error // why a step that was committed before the rows still stands

	rows       atomic.Int64 // that the target took
	ranges     atomic.Int64 // that are complete
	duplicates int64
	files      fileTally      // of a source that is a data directory
	load       *load          // whose rows no server holds; nil for a copy
	group      []*table       // tables that are truncated and filled in one transaction, itself included; nil for one that moves alone
	late       []planner.Step // to be run when all tables are in place

	lock   sync.Mutex
	sent   []planner.SentStatement
	cancel context.CancelCauseFunc // ends the move; nil while it does not run
}

// name is how messages call the table.
func (t *table) name() string {
	if t.load != nil {
		return t.load.name() + " into " + t.load.target
	}
	if t.plan.Source.Relation == t.plan.Target.Relation {
		return t.plan.Source.Relation
	}
	return t.plan.Source.Relation + " to " + t.plan.Target.Relation
}

// expectsEmpty reports whether the target must hold no row before the first one of this run.
func (t *table) expectsEmpty(wish planner.Wish) bool {
	to := t.facts.Target.Kind
	if t.load != nil {
		return wish.Fill == planner.RequireEmpty && t.load.wish.OnDuplicate == planner.DuplicateError && to != planner.Missing && to != planner.View && !t.plan.Resumes
	}
	return wish.Fill == planner.RequireEmpty && wish.OnConflict == planner.NoConflictAction && t.plan.Method != planner.Merge &&
		to != planner.Missing && to != planner.View && !t.plan.Resumes
}

func (t *table) addRows(n int64) {
	t.rows.Add(n)
	t.ranges.Add(1)
}

func (t *table) setMerged(rows, duplicates int64) {
	t.rows.Store(rows)
	t.duplicates = duplicates
}

// noteSent keeps what method insert has sent over a worker.
func (t *table) noteSent(w *worker) {
	if w.batches == nil {
		return
	}
	t.lock.Lock()
	defer t.lock.Unlock()
	for _, s := range w.batches.sent() {
		t.sent = addSent(t.sent, s)
	}
}

// addSent adds one statement to a list that holds each text and size once.
func addSent(list []planner.SentStatement, s planner.SentStatement) []planner.SentStatement {
	for i := range list {
		if list[i].SQL == s.SQL && list[i].Rows == s.Rows {
			list[i].Times += s.Times
			return list
		}
	}
	return append(list, s)
}

// setCancel lets the stall watchdog end the move.
func (t *table) setCancel(cancel context.CancelCauseFunc) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.cancel = cancel
}

// stop ends a running move for the given reason.
func (t *table) stop(why error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.cancel != nil {
		t.cancel(why)
	}
}

// keptNothing is what a failed move leaves of itself when its commit is atomic.
const keptNothing = "nothing was kept: the target is as it was"

// kept says what of an unsuccessful move stands in the target.
func (t *table) kept() string {
	switch {
	case t.unknown != "":
		return t.unknown
	case t.committed:
		return fmt.Sprintf("all %d rows are in the target; what failed came after them", t.rows.Load())
	case t.plan.Atomic == planner.PerRange && t.load != nil:
		return t.load.kept(t.rows.Load())
	case t.plan.Atomic == planner.PerRange:
		done := t.ranges.Load() + int64(len(t.plan.Ranges)-len(t.pending()))
		if done == 0 {
			return keptNothing
		}
		return fmt.Sprintf("%d of %d ranges are in the target; running the same command again copies the rest", done, len(t.plan.Ranges))
	case t.notUndone != nil:
		return "no row was kept, but what was made before the rows still stands (" + t.notUndone.Error() + "); the next run removes it"
	}
	return keptNothing
}

// rowsKept is the number of rows that this run has put into the target.
func (t *table) rowsKept(err error) int64 {
	if err != nil && !t.committed && t.plan.Atomic != planner.PerRange {
		return 0
	}
	return t.rows.Load()
}

// takeBack undoes the steps that were committed by themselves before a move failed.
func (t *table) takeBack(undo *undoLog) error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*stopGrace)
	defer cancel()
	return undo.run(ctx, t)
}

// walPosition returns the target's WAL position, "" where it cannot be had.
func (t *table) walPosition(ctx context.Context) string {
	// A figure is not worth waiting for a server that has gone away.
	ctx, cancel := context.WithTimeout(ctx, stopGrace/2)
	defer cancel()
	s, err := t.target.take(ctx, t.encoding)
	if err != nil {
		return ""
	}
	at, err := s.value(ctx, "SELECT pg_catalog.pg_current_wal_insert_lsn()")
	if err != nil {
		t.target.drop(s)
		return ""
	}
	t.target.give(t.encoding, s)
	return at
}

// actual returns what the move took, for a plan that is printed after it.
func (t *table) actual(ctx context.Context, walBefore string) *planner.Actual {
	return &planner.Actual{
		Rows: t.report.Rows, Bytes: t.report.Bytes, Seconds: t.report.Duration.Seconds(), WALBytes: t.walSince(ctx, walBefore),
		LimitedBy: t.gauge.limitedBy(t.report.Duration, t.plan.Connections), Statements: t.sent, Duplicates: t.duplicates,
	}
}

// walSince returns the bytes of WAL that the target's server has written since a position, -1 when that is not known.
func (t *table) walSince(ctx context.Context, before string) int64 {
	// Asked after a cancel too, but not for ever: the network may be silent.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	after := t.walPosition(ctx)
	from, ok := parseLSN(before)
	to, ok2 := parseLSN(after)
	if !ok || !ok2 {
		return -1
	}
	return to - from
}

// parseLSN reads a WAL position such as 16/B374D848 (manual, "pg_lsn Type").
func parseLSN(s string) (int64, bool) {
	for i := range len(s) {
		if s[i] == '/' {
			high, err := strconv.ParseUint(s[:i], 16, 32)
			low, err2 := strconv.ParseUint(s[i+1:], 16, 32)
			return int64(high<<32 | low), err == nil && err2 == nil
		}
	}
	return 0, false
}
