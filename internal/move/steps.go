package move

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/pghaul/pghaul/planner"
)

// splitLate parts a plan's After steps from those that wait for the other tables of the run.
func splitLate(steps []planner.Step) (now, late []planner.Step) {
	for _, s := range steps {
		if s.Late {
			late = append(late, s)
		} else {
			now = append(now, s)
		}
	}
	return now, late
}

// splitSteps cuts a plan's After steps into those to run by themselves before the rows become visible, those of the transaction that
// makes them visible, and those to run by themselves afterwards.
func splitSteps(steps []planner.Step) (before, inside, after []planner.Step) {
	first, last := len(steps), len(steps)
	for i, s := range steps {
		if !s.Own {
			first = min(first, i)
			last = i + 1
		}
	}
	if first == len(steps) { // Nothing belongs to the transaction.
		return nil, nil, steps
	}
	return steps[:first], steps[first:last], steps[last:]
}

// runInside runs steps in the session's open transaction.
func runInside(ctx context.Context, s *session, steps []planner.Step) error {
	for _, step := range steps {
		if _, err := s.exec(ctx, step.SQL); err != nil {
			return &stepError{step: step, err: err}
		}
	}
	return nil
}

// runOwn runs steps that are committed by themselves, neighbours that are Parallel side by side on up to jobs connections. undo collects
// what takes them back.
func runOwn(ctx context.Context, t *table, steps []planner.Step, jobs int, undo *undoLog) error {
	for len(steps) > 0 {
		n := 1
		for steps[0].Parallel && n < len(steps) && steps[n].Parallel {
			n++
		}
		group, gctx := errgroup.WithContext(ctx)
		group.SetLimit(max(jobs, 1))
		for _, step := range steps[:n] {
			group.Go(func() error { return runOwnStep(gctx, t, step, undo) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
		steps = steps[n:]
	}
	return nil
}

func runOwnStep(ctx context.Context, t *table, step planner.Step, undo *undoLog) error {
	s, err := t.target.take(ctx, t.encoding)
	if err != nil {
		return err
	}
	// Registered before it runs: when the connection is lost it is not known whether the statement was carried out.
	undo.add(step.Undo)
	if _, err := s.exec(ctx, step.SQL); err != nil {
		t.target.drop(s)
		return &stepError{step: step, err: err}
	}
	t.target.give(t.encoding, s)
	return nil
}

// stepError says which statement of the plan failed.
type stepError struct {
	step planner.Step
	err  error
}

func (e *stepError) Error() string { return fmt.Sprintf("%s (in %s)", e.err, e.step.SQL) }

func (e *stepError) Unwrap() error { return e.err }

// undoLog collects the statements that take a failed move's own steps back.
type undoLog struct {
	lock       sync.Mutex
	statements []string
}

func (u *undoLog) add(sql string) {
	if sql == "" {
		return
	}
	u.lock.Lock()
	defer u.lock.Unlock()
	u.statements = append(u.statements, sql)
}

// forget drops what was collected, once the move has succeeded.
func (u *undoLog) forget() {
	u.lock.Lock()
	defer u.lock.Unlock()
	u.statements = nil
}

// run takes everything back, last step first.
func (u *undoLog) run(ctx context.Context, t *table) error {
	u.lock.Lock()
	statements := u.statements
	u.statements = nil
	u.lock.Unlock()
	var failed error
	for i := len(statements) - 1; i >= 0; i-- {
		s, err := t.target.take(ctx, t.encoding)
		if err != nil {
			return errors.Join(failed, err)
		}
		if _, err := s.exec(ctx, statements[i]); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", statements[i], err))
			t.target.drop(s)
			continue
		}
		t.target.give(t.encoding, s)
	}
	return failed
}
