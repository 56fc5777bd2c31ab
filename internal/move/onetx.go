package move

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/planner"
)

// inOneTransaction moves a table over one pair of connections whose target side commits once.
func (r *run) inOneTransaction(ctx context.Context, t *table, undo *undoLog) error {
	own, inside := splitBefore(t.plan.Before)
	t.stage.set(stageBefore)
	if err := runOwn(ctx, t, own, 1, undo); err != nil {
		return err
	}
	ws, err := r.workers(ctx, t, 1)
	if err != nil {
		return err
	}
	_, change, after := splitSteps(t.plan.After)
	if err := r.fillOnce(ctx, t, ws[0], inside, change); err != nil {
		r.dismiss(t, ws, true)
		return err
	}
	t.committed = true
	undo.forget()
	r.dismiss(t, ws, false)
	return r.afterwards(ctx, t, after, undo)
}

// fillOnce is all that happens inside the one transaction.
func (r *run) fillOnce(ctx context.Context, t *table, w *worker, before, after []planner.Step) error {
	if err := r.begin(ctx, t, w); err != nil {
		return err
	}
	if err := r.guardEmpty(ctx, t, w.dst); err != nil {
		return err
	}
	if err := runInside(ctx, w.dst, before); err != nil {
		return err
	}
	if err := r.fillOpen(ctx, t, w, after); err != nil {
		return err
	}
	return commit(ctx, t, w.dst)
}

// fillOpen moves the rows in the worker's open transaction, and leaves it open for the commit.
func (r *run) fillOpen(ctx context.Context, t *table, w *worker, after []planner.Step) error {
	if err := moveRanges(ctx, t, []*worker{w}, carry); err != nil {
		return err
	}
	if err := r.checkImported(ctx, t); err != nil {
		return err
	}
	if t.plan.Method == planner.Merge && t.load == nil {
		t.stage.set(stageMerge)
		merged, duplicates, err := mergeStaged(ctx, w, t.rows.Load())
		if err != nil {
			return &sideError{side: "target", err: err}
		}
		t.setMerged(merged, duplicates)
	}
	t.noteSent(w)
	t.stage.set(stageIndexes)
	if err := runInside(ctx, w.dst, after); err != nil {
		return err
	}
	if r.verify != NoVerify && !inServer(t.plan.Method) {
		if err := r.compareOpen(ctx, t, w); err != nil {
			return err
		}
	}
	t.stage.set(stageCommit)
	return nil
}

// commit ends the session's transaction. When the connection is lost on the way, another one asks the server what became of it: a
// commit whose answer was lost is not a failure, and to say so would lead to the rows being moved twice.
func commit(ctx context.Context, t *table, s *session) error {
	xid, err := s.value(ctx, "SELECT pg_catalog.pg_current_xact_id_if_assigned()")
	if err != nil {
		return err
	}
	// From here on the end of ctx is not looked at: COMMIT is either carried out or not.
	_, err = s.exec(context.WithoutCancel(ctx), "COMMIT")
	var answer *pgconn.PgError
	if err == nil || xid == "" || errors.As(err, &answer) && !connectionLost(err) {
		return err
	}
	status, askErr := t.transactionStatus(xid)
	switch {
	case askErr != nil:
		t.unknown = "It is not known whether transaction " + xid + " was committed: ask the server by SELECT pg_xact_status('" + xid + "')."
		return errors.Join(err, askErr)
	case status == "committed":
		return nil
	}
	return err
}

// transactionStatus asks over a new connection what became of a transaction, until it is no longer in progress.
func (t *table) transactionStatus(xid string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*stopGrace)
	defer cancel()
	pause := time.NewTicker(200 * time.Millisecond)
	defer pause.Stop()
	for {
		status, err := t.askStatus(ctx, xid)
		// A server that has just crashed refuses connections while it recovers.
		if err == nil && status != "in progress" {
			return status, nil
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return status, errors.Join(err, fmt.Errorf("ask for the state of transaction %s: %w", xid, ctx.Err()))
		}
	}
}

func (t *table) askStatus(ctx context.Context, xid string) (string, error) {
	s, err := openSession(ctx, t.target.config, t.encoding, t.target.server.Address)
	if err != nil {
		return "", err
	}
	defer s.close()
	return s.value(ctx, "SELECT pg_catalog.pg_xact_status('"+xid+"')")
}

// connectionLost reports whether err is the end of a connection rather than a server's answer.
func connectionLost(err error) bool {
	var netErr net.Error
	// pgconn says ErrConnClosed where it noticed the end of the connection at some other moment than while it waited for an answer.
	return errors.Is(err, pgconn.ErrConnClosed) || pgconn.SafeToRetry(err) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.As(err, &netErr) ||
		hasState(err, stateAdminShutdown) || hasState(err, stateCrashShutdown) || hasState(err, stateCannotConnect)
}

// splitBefore parts the steps before the rows into those by themselves and those of the transaction.
func splitBefore(steps []planner.Step) (own, inside []planner.Step) {
	for _, s := range steps {
		if s.Own {
			own = append(own, s)
		} else {
			inside = append(inside, s)
		}
	}
	return own, inside
}
