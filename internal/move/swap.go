package move

import (
	"context"

	"github.com/pghaul/pghaul/planner"
)

// bySwap fills a hidden new table over several pairs of connections and puts it in the target's place in one transaction.
func (r *run) bySwap(ctx context.Context, t *table, undo *undoLog) error {
	t.stage.set(stageBefore)
	keeper, err := t.alone(ctx)
	if err != nil {
		return &sideError{side: "target", err: err}
	}
	defer t.target.drop(keeper)
	if err := runOwn(ctx, t, t.plan.Before, 1, undo); err != nil {
		return err
	}
	release, err := r.fill(ctx, t)
	defer release()
	if err != nil {
		return err
	}
	before, change, after := splitSteps(t.plan.After)
	t.stage.set(stageIndexes)
	if before, err = r.uniqueFirst(ctx, t, before, undo); err != nil {
		return err
	}
	if err := runOwn(ctx, t, before, t.plan.Connections, undo); err != nil {
		return err
	}
	if err := t.stillAlone(ctx, keeper); err != nil {
		return &sideError{side: "target", err: err}
	}
	if err := r.changeOver(ctx, t, change); err != nil {
		return err
	}
	t.committed = true
	undo.forget()
	return r.afterwards(ctx, t, after, undo)
}

// fill puts the rows into the hidden table. What it returns gives up what is kept for a comparison afterwards.
func (r *run) fill(ctx context.Context, t *table) (release func(), err error) {
	if t.plan.Method == planner.Pages && t.load != nil {
		return r.fillFromRows(ctx, t)
	}
	if t.plan.Method == planner.Pages {
		return r.fillPages(ctx, t)
	}
	release = func() {}
	ws, err := r.workers(ctx, t, t.plan.Connections)
	if err != nil {
		return release, err
	}
	err = r.fillHidden(ctx, t, ws)
	r.dismiss(t, ws, err != nil)
	return release, err
}

// fillHidden moves the rows. The workers commit one after the other: nobody looks at the hidden table.
func (r *run) fillHidden(ctx context.Context, t *table, ws []*worker) error {
	for _, w := range ws {
		if err := r.begin(ctx, t, w); err != nil {
			return err
		}
	}
	if err := moveRanges(ctx, t, ws, carry); err != nil {
		return err
	}
	if err := r.checkImported(ctx, t); err != nil {
		return err
	}
	for _, w := range ws {
		t.noteSent(w)
		if err := commit(ctx, t, w.dst); err != nil {
			return err
		}
	}
	return nil
}

// changeOver runs the steps that make the new table the target, in one transaction.
func (r *run) changeOver(ctx context.Context, t *table, steps []planner.Step) error {
	t.stage.set(stageCommit)
	s, err := t.target.take(ctx, t.encoding)
	if err != nil {
		return err
	}
	if _, err = s.exec(ctx, beginWrite(t.encoding)); err == nil {
		if err = runInside(ctx, s, steps); err == nil {
			err = commit(ctx, t, s)
		}
	}
	if err != nil {
		t.target.drop(s)
		return err
	}
	t.target.give(t.encoding, s)
	return nil
}
