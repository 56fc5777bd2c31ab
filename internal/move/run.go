package move

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/pghaul/pghaul/planner"
)

// run is one carrying out of a Move.
type run struct {
	id        string // names this run's prepared transactions
	wish      planner.Wish
	verify    VerifyLevel
	tables    []*table
	snapshots map[*site]*snapshot
	logger    *slog.Logger
	slots     *semaphore.Weighted // pairs of connections
	slotCount int64
	settled   bool       // transactions that an earlier run had left prepared were ended
	holding   sync.Mutex // over statements of the snapshots' holders
}

// Run carries the plans out. The Report is never nil: it tells what was done and what was kept, also when the error is not. The error is
// that of the first table that failed; one table's failure does not stop the others, the end of ctx stops all. Run may be called once.
func (m *Move) Run(ctx context.Context) (*Report, error) {
	began := time.Now()
	report := &Report{Tables: make([]TableReport, len(m.tables))}
	for i, t := range m.tables {
		t.report = &report.Tables[i]
		t.report.Plan = t.plan
	}
	r := m.newRun()
	watched := m.watchStalls(ctx)
	err := r.prepareWatched(ctx, m, report)
	if err == nil {
		err = r.moveAll(ctx)
	}
	watched()
	for _, snap := range r.snapshots {
		snap.end()
	}
	if err == nil && m.request.Wish.Commit == planner.CommitRange {
		err = r.forgetRecords(ctx)
	}
	report.Duration = time.Since(began)
	return report, err
}

func (m *Move) newRun() *run {
	id := make([]byte, 6)
	_, _ = rand.Read(id) // never fails (crypto/rand)
	slots := int64(1)
	for _, t := range m.tables {
		slots = max(slots, int64(t.plan.Connections))
	}
	slots = max(slots, int64(m.request.Wish.Connections))
	for _, t := range m.tables {
		if t.source.server.Pooled { // The one session that holds the snapshot reads all tables.
			slots = 1
		}
	}
	return &run{
		id: hex.EncodeToString(id), wish: m.request.Wish, verify: m.request.Verify, tables: m.tables,
		snapshots: map[*site]*snapshot{}, logger: m.logger, slots: semaphore.NewWeighted(slots), slotCount: slots,
	}
}

// prepareWatched is prepare under the eyes of the stall watchdog, which looks at tables: each of them stands for all here.
func (r *run) prepareWatched(ctx context.Context, m *Move, report *Report) error {
	pctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for _, t := range r.tables {
		t.setCancel(cancel)
		t.stage.set(stageBefore)
	}
	err := r.prepare(pctx, m, report)
	for _, t := range r.tables {
		t.stage.set(stageWaiting)
		t.setCancel(nil)
	}
	cause := context.Cause(pctx)
	if err == nil || cause == nil {
		return err
	}
	var told *planner.Error
	if errors.As(cause, &told) {
		return told
	}
	return &planner.Error{Message: "the copy was cancelled before it began", Cause: because(cause, err)}
}

// prepare settles what earlier runs left, takes the snapshots and notes the state of the servers.
func (r *run) prepare(ctx context.Context, m *Move, report *Report) error {
	settled := map[*site]bool{}
	for _, t := range m.tables {
		if settled[t.target] {
			continue
		}
		settled[t.target] = true
		s, err := t.target.take(ctx, t.encoding)
		if err != nil {
			return err
		}
		done, err := settle(ctx, s)
		report.Settled = append(report.Settled, done...)
		r.settled = r.settled || len(done) > 0
		t.target.give(t.encoding, s)
		if err != nil {
			return &planner.Error{Message: "cannot finish what an earlier run left on " + t.target.server.Address, Cause: err,
				Hint: "Connect as the role that ran it, or as a superuser."}
		}
	}
	for _, t := range m.tables {
		// Nobody changes a directory on which no server runs. Pages are read under a lock, and a snapshot would keep VACUUM from freezing them.
		if r.snapshots[t.source] != nil || t.source.directory != nil || t.load != nil || t.plan.Method == planner.Pages {
			continue
		}
		snap, err := takeSnapshot(ctx, t.source, t.encoding, pathFor(m.request.Query, r.wish.Where), m.locksOn(t.source), m.sharesSnapshot(t.source))
		if err != nil {
			return err
		}
		r.snapshots[t.source] = snap
	}
	return nil
}

// moveAll moves the tables side by side as far as connections and foreign keys allow.
func (r *run) moveAll(ctx context.Context) error {
	finished := make(map[*table]chan struct{}, len(r.tables))
	for _, t := range r.tables {
		finished[t] = make(chan struct{})
	}
	waits := parentsFirst(r.tables) // All that point to a member of a group, or that one points to, are members too.
	for _, t := range bySize(r.tables) {
		go func() {
			defer close(finished[t])
			leader := t.leader()
			if leader != nil && leader != t { // which moves this one along
				<-finished[leader]
				return
			}
			for _, parent := range waits[t] {
				if leader == nil {
					<-finished[parent]
				}
			}
			if leader != nil {
				r.moveTogether(ctx, inOrder(t.group, waits))
				return
			}
			t.report.Err = r.moveOne(ctx, t)
		}()
	}
	for _, t := range r.tables {
		<-finished[t]
	}
	var first error
	for _, t := range r.tables {
		if t.report.Err == nil {
			t.report.Err = r.explain(t, r.finishLate(ctx, t))
		}
		if first == nil {
			first = t.report.Err
		}
	}
	return first
}

// finishLate runs the steps of a table that speak of other tables. A run that goes on where another was interrupted may find them done.
func (r *run) finishLate(ctx context.Context, t *table) error {
	for _, step := range t.late {
		err := runOwn(ctx, t, []planner.Step{step}, 1, &undoLog{})
		if err != nil && (!t.plan.Resumes || !hasState(err, stateDuplicateObject)) {
			t.report.Kept = t.kept()
			return err
		}
	}
	return nil
}

// moveOne moves one table once enough connections are free.
func (r *run) moveOne(ctx context.Context, t *table) error {
	weight := min(int64(max(t.plan.Connections, 1)), r.slotCount)
	if err := r.slots.Acquire(ctx, weight); err != nil {
		t.report.Kept = keptNothing
		return r.explain(t, context.Cause(ctx))
	}
	defer r.slots.Release(weight)
	t.began = time.Now()
	tctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t.setCancel(cancel)
	before := t.walPosition(ctx)
	undo := &undoLog{}
	err := r.byProtocol(tctx, t, undo)
	if err != nil {
		t.notUndone = t.takeBack(undo)
	}
	r.conclude(ctx, t, before, err)
	return r.explain(t, err)
}

func (r *run) byProtocol(ctx context.Context, t *table, undo *undoLog) error {
	if t.load != nil {
		return r.loadByProtocol(ctx, t, undo)
	}
	return r.copyByProtocol(ctx, t, undo)
}

func (r *run) copyByProtocol(ctx context.Context, t *table, undo *undoLog) error {
	switch t.plan.Atomic {
	case planner.TwoPhase:
		return r.inTwoPhases(ctx, t, undo)
	case planner.Swap:
		return r.bySwap(ctx, t, undo)
	case planner.PerRange:
		return r.byRange(ctx, t, undo)
	default:
		return r.inOneTransaction(ctx, t, undo)
	}
}

// afterwards is what follows when the rows are visible.
func (r *run) afterwards(ctx context.Context, t *table, steps []planner.Step, undo *undoLog) error {
	t.stage.set(stageIndexes)
	steps, t.late = splitLate(steps)
	err := runOwn(ctx, t, steps, int(r.slotCount), undo)
	if err == nil && len(t.plan.Sequences) > 0 {
		err = r.setSequences(ctx, t)
	}
	if err == nil && r.verify != NoVerify && t.report.Verified == nil {
		t.stage.set(stageVerify)
		err = r.compareVisible(ctx, t)
	}
	return err
}

// setSequences carries the state of the columns' sequences over.
func (r *run) setSequences(ctx context.Context, t *table) error {
	read := t.source.directory.sequence
	if t.source.directory == nil {
		src, err := t.source.fresh(ctx, t.encoding)
		if err != nil {
			return err
		}
		defer t.source.drop(src)
		read = src.sequence
	}
	dst, err := t.target.take(ctx, t.encoding)
	if err != nil {
		return err
	}
	if err := copySequences(ctx, read, dst, t.plan.Sequences); err != nil {
		t.target.drop(dst)
		return err
	}
	t.target.give(t.encoding, dst)
	return nil
}
