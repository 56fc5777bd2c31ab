package move

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// inTwoPhases moves a table over several pairs of connections and commits them together.
//
// One more transaction decides: it gets its transaction ID when all rows are written, every worker prepares its own transaction under a
// name that holds that ID, and then the deciding one commits. From that moment on the rows count as moved. Whoever comes across a
// prepared transaction of such a name, this run or a later one, asks the server what became of the ID and does the same. The decider's
// ID is younger than those of the prepared transactions, which keep the server from forgetting it.
func (r *run) inTwoPhases(ctx context.Context, t *table, undo *undoLog) error {
	own, inside := splitBefore(t.plan.Before)
	t.stage.set(stageBefore)
	if err := runOwn(ctx, t, own, 1, undo); err != nil {
		return err
	}
	ws, err := r.workers(ctx, t, t.plan.Connections)
	if err != nil {
		return err
	}
	prepared, err := r.fillPrepared(ctx, t, ws, inside)
	if err != nil {
		// A worker that did not get as far as PREPARE is rolled back by the end of its connection.
		r.dismiss(t, ws, true)
		return errors.Join(err, t.finishPrepared(prepared, "ROLLBACK PREPARED "))
	}
	t.committed = true
	undo.forget()
	r.dismiss(t, ws, false)
	if err := t.finishPrepared(prepared, "COMMIT PREPARED "); err != nil {
		return &planner.Error{
			Message: "the rows are safe, but some of them are not visible yet",
			Detail:  "Every transaction of this move is prepared and its commit is decided, but the last step failed.",
			Hint:    "Run pghaul against this target again: it finishes what it finds prepared.",
			Cause:   err,
		}
	}
	_, _, after := splitSteps(t.plan.After)
	return r.afterwards(ctx, t, after, undo)
}

// fillPrepared moves the rows, prepares every worker's transaction and takes the decision. It returns the names of the transactions
// that may stand prepared, also on an error.
func (r *run) fillPrepared(ctx context.Context, t *table, ws []*worker, before []planner.Step) ([]string, error) {
	for i, w := range ws {
		if err := r.begin(ctx, t, w); err != nil {
			return nil, err
		}
		if i == 0 {
			if err := r.guardEmpty(ctx, t, w.dst); err != nil {
				return nil, err
			}
			if err := runInside(ctx, w.dst, before); err != nil {
				return nil, err
			}
		}
	}
	if err := moveRanges(ctx, t, ws, carry); err != nil {
		return nil, err
	}
	for _, w := range ws {
		t.noteSent(w)
	}
	if err := r.checkImported(ctx, t); err != nil {
		return nil, err
	}
	t.stage.set(stageCommit)
	return r.prepareAndDecide(ctx, t, ws)
}

func (r *run) prepareAndDecide(ctx context.Context, t *table, ws []*worker) ([]string, error) {
	decider, err := t.target.take(ctx, t.encoding)
	if err != nil {
		return nil, err
	}
	names, err := r.decide(ctx, t, ws, decider)
	if err != nil {
		t.target.drop(decider)
		return names, err
	}
	t.target.give(t.encoding, decider)
	return names, nil
}

func (r *run) decide(ctx context.Context, t *table, ws []*worker, decider *session) ([]string, error) {
	// The message puts something into WAL: a transaction that has written nothing commits without waiting for the disk.
	sql := beginWrite(t.encoding) + "; SET LOCAL synchronous_commit = on; " +
		"SELECT pg_catalog.pg_logical_emit_message(true, 'pghaul', 'decision'); SELECT pg_catalog.pg_current_xact_id()"
	xid, err := decider.value(ctx, sql)
	if err != nil {
		return nil, fmt.Errorf("begin the deciding transaction: %w", err)
	}
	names := make([]string, len(ws))
	for i := range ws {
		names[i] = preparedName{run: r.id, xid: xid, worker: t.number*maxWorkers + i}.String()
	}
	group, gctx := errgroup.WithContext(ctx)
	for i, w := range ws {
		group.Go(func() error {
			_, err := w.dst.exec(gctx, "PREPARE TRANSACTION "+sqltext.QuoteLiteral(names[i]))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return names, fmt.Errorf("prepare the ranges' transactions: %w", err)
	}
	if err := commit(ctx, t, decider); err != nil {
		return names, fmt.Errorf("commit the deciding transaction: %w", err)
	}
	return names, nil
}

// finishPrepared ends prepared transactions on connections of its own, whatever has become of the move's. It goes on over lost
// connections for some time, since the rows are not all visible before it is done. A transaction that does not exist has been ended by
// somebody who knew the decision as well, or was never prepared.
func (t *table) finishPrepared(names []string, verb string) error {
	if len(names) == 0 || t.unknown != "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*stopGrace)
	defer cancel()
	return persist(ctx, func() error { return t.endPrepared(ctx, names, verb) })
}

func (t *table) endPrepared(ctx context.Context, names []string, verb string) error {
	s, err := openSession(ctx, t.target.config, t.encoding, t.target.server.Address)
	if err != nil {
		return err
	}
	defer s.close()
	var failed error
	for _, name := range names {
		_, err := s.exec(ctx, verb+sqltext.QuoteLiteral(name))
		if err != nil && !hasState(err, stateUndefinedObject) {
			failed = errors.Join(failed, fmt.Errorf("%s%s: %w", verb, name, err))
		}
	}
	return failed
}

// persist repeats what failed because the server could not be reached, until ctx ends.
func persist(ctx context.Context, act func() error) error {
	pause := time.NewTicker(200 * time.Millisecond)
	defer pause.Stop()
	for {
		err := act()
		if err == nil || !connectionLost(err) {
			return err
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return err
		}
	}
}
