package move

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/pghaul/pghaul/planner"
)

// carrier moves one range and returns the rows that the target says it took.
type carrier func(ctx context.Context, w *worker, r planner.Range) (int64, error)

// carriers is the way in to each method.
var carriers = map[planner.Method]carrier{
	planner.Relay:        carryRelay,
	planner.InsertSelect: carryStatement,
	planner.CreateAs:     carryStatement,
	planner.Unlogged:     carryStatement,
	planner.Insert:       carryInsert,
	planner.Merge:        carryMerge,
}

// inServer reports whether a method's rows never leave the server, so that nothing is read through a session of the source.
func inServer(m planner.Method) bool {
	return m == planner.InsertSelect || m == planner.CreateAs || m == planner.Unlogged
}

// carryStatement is the carrier of the methods that are one statement on the target.
func carryStatement(ctx context.Context, w *worker, r planner.Range) (int64, error) {
	tag, err := w.dst.exec(ctx, w.plan.WriteSQL(r))
	if err != nil {
		return 0, &sideError{side: "target", err: err}
	}
	w.gauge.moved(tag.RowsAffected(), r.Bytes)
	return tag.RowsAffected(), nil
}

// workers opens n pairs of sessions for a table. The source's stand in transactions that see the snapshot, the target's in none.
func (r *run) workers(ctx context.Context, t *table, n int) ([]*worker, error) {
	var ws []*worker
	for range n {
		w := &worker{plan: t.plan, gauge: t.gauge}
		ws = append(ws, w)
		var err error
		switch {
		case inServer(t.plan.Method):
		case t.load != nil:
			w.load = t.load
		case t.source.directory != nil:
			w.files = t.source.directory.decoder(t)
		default:
			if w.src, err = r.snapshots[t.source].reader(ctx); err != nil {
				r.dismiss(t, ws, true)
				return nil, &sideError{side: "source", err: err}
			}
		}
		if w.dst, err = t.target.take(ctx, t.encoding); err != nil {
			r.dismiss(t, ws, true)
			return nil, &sideError{side: "target", err: err}
		}
		if t.load != nil {
			if err := t.load.widenTemporary(ctx, t.target, w.dst); err != nil {
				r.dismiss(t, ws, true)
				return nil, &sideError{side: "target", err: err}
			}
		}
	}
	return ws, nil
}

// dismiss gives the sessions of workers back, or closes them when the move failed and their state is not known.
func (r *run) dismiss(t *table, ws []*worker, failed bool) {
	for _, w := range ws {
		if w.src != nil {
			r.snapshots[t.source].release(w.src, failed)
		}
		if w.files != nil {
			w.files.close()
		}
		if w.dst == nil {
			continue
		}
		if failed {
			t.target.drop(w.dst)
		} else {
			t.target.give(t.encoding, w.dst)
		}
	}
}

// begin starts the target's transaction of a worker. A method that reads inside the server sees the run's snapshot there.
func (r *run) begin(ctx context.Context, t *table, w *worker) error {
	sql := beginWrite(t.encoding)
	if snap := r.snapshots[t.source]; inServer(t.plan.Method) {
		sql = beginBoth(t.encoding, snap.id, snap.names)
	}
	if t.load != nil {
		sql = t.load.begin(sql)
	}
	if _, err := w.dst.exec(ctx, sql); err != nil {
		return &sideError{side: "target", err: err}
	}
	return nil
}

// pending lists the ranges that are to be moved: all of them, or those that no earlier run has recorded.
func (t *table) pending() []int {
	var todo []int
	for i := range t.plan.Ranges {
		if rec := t.facts.Recorded; !t.plan.Resumes || i >= len(rec.Done) || !rec.Done[i] {
			todo = append(todo, i)
		}
	}
	return todo
}

// moveRanges lets workers take the pending ranges one after the other, each as soon as it is free, and returns the first error.
func moveRanges(ctx context.Context, t *table, ws []*worker, move func(context.Context, *worker, int) (int64, error)) error {
	pending := t.pending()
	todo := make(chan int, len(pending))
	for _, i := range pending {
		todo <- i
	}
	close(todo)
	t.stage.set(stageRows)
	group, gctx := errgroup.WithContext(ctx)
	for _, w := range ws {
		group.Go(func() error {
			for i := range todo {
				if err := context.Cause(gctx); err != nil {
					return err
				}
				rows, err := move(gctx, w, i)
				if err != nil {
					return &rangeError{table: t, index: i, err: err}
				}
				t.addRows(rows)
			}
			return nil
		})
	}
	return group.Wait()
}

// carry moves range i in the worker's open transaction.
func carry(ctx context.Context, w *worker, i int) (int64, error) {
	if w.load != nil {
		return carryLoad(ctx, w, w.plan.Ranges[i])
	}
	return carriers[w.plan.Method](ctx, w, w.plan.Ranges[i])
}

// rangeError says which range failed.
type rangeError struct {
	table *table
	index int
	err   error
}

func (e *rangeError) Error() string { return fmt.Sprintf("range %d: %s", e.index+1, e.err) }

func (e *rangeError) Unwrap() error { return e.err }
