package move

import (
	"context"
	"slices"
	"time"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// linkTruncated finds the targets that foreign keys tie together and that are to be truncated: the server refuses to empty one without the
// other, so they are emptied by one statement and filled in its transaction.
func linkTruncated(tables []*table, wish planner.Wish) {
	if wish.Fill != planner.Truncate {
		return
	}
	linked := map[*table][]*table{}
	for _, child := range tables {
		for _, parent := range tables {
			if child != parent && child.target == parent.target && child.encoding == parent.encoding && pointsTo(child, parent) {
				linked[child] = append(linked[child], parent)
				linked[parent] = append(linked[parent], child)
			}
		}
	}
	for _, t := range tables { // In the order of the request, so that the first of a group leads it.
		if len(linked[t]) == 0 || len(t.group) > 0 {
			continue
		}
		group := reached(t, linked)
		for _, member := range group {
			member.group = group
			for _, other := range group {
				if other != member {
					to := other.facts.Target
					member.facts.TruncatedWith = append(member.facts.TruncatedWith, planner.Place{Relation: targetName(other), Kind: to.Kind})
				}
			}
			member.facts.TruncatedBy = targetName(t)
		}
	}
}

func targetName(t *table) string {
	return sqltext.QuoteQualified(t.facts.Target.Schema, t.facts.Target.Name)
}

// pointsTo reports whether a foreign key of the child's target points to the parent's. Unlike refersTo it can be asked before there is a plan.
func pointsTo(child, parent *table) bool {
	rebuild := parent.facts.Target.Rebuild
	return rebuild != nil && slices.Contains(rebuild.ReferencedBy, targetName(child))
}

// reached lists a table and all that are linked to it, over any number of others.
func reached(t *table, linked map[*table][]*table) []*table {
	group := []*table{t}
	for i := 0; i < len(group); i++ {
		for _, next := range linked[group[i]] {
			if !slices.Contains(group, next) {
				group = append(group, next)
			}
		}
	}
	return group
}

// leader is the table that moves the whole group, nil for one that moves alone.
func (t *table) leader() *table {
	if len(t.group) == 0 {
		return nil
	}
	return t.group[0]
}

// inOrder lists a group so that each table comes after those that its foreign keys point to, as far as these make no circle.
func inOrder(group []*table, waits map[*table][]*table) []*table {
	var order []*table
	var visit func(*table)
	visit = func(t *table) {
		if slices.Contains(order, t) {
			return
		}
		for _, parent := range waits[t] {
			if slices.Contains(group, parent) {
				visit(parent)
			}
		}
		order = append(order, t)
	}
	for _, t := range group {
		visit(t)
	}
	return order
}

// moveTogether moves a group in one transaction of the target, and notes in each table's report what came of it.
func (r *run) moveTogether(ctx context.Context, group []*table) {
	if err := r.slots.Acquire(ctx, 1); err != nil {
		for _, t := range group {
			t.report.Kept, t.report.Err = keptNothing, r.explain(t, context.Cause(ctx))
		}
		return
	}
	defer r.slots.Release(1)
	tctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	before := group[0].walPosition(ctx)
	for _, t := range group {
		t.began = time.Now()
		t.setCancel(cancel)
	}
	failed, err := r.fillTogether(tctx, group)
	for _, t := range group {
		own := err
		switch {
		case err == nil:
			_, _, after := splitSteps(t.plan.After)
			own = r.afterwards(tctx, t, after, &undoLog{})
		case t != failed:
			own = &planner.Error{Message: "cannot copy " + t.name(), Cause: err,
				Detail: "It is emptied and filled in one transaction with " + failed.plan.Target.Relation + ", which could not be copied."}
		}
		r.conclude(ctx, t, before, own)
		t.report.Err = r.explain(t, own)
	}
}

// conclude notes in a table's report how its move ended.
func (r *run) conclude(ctx context.Context, t *table, walBefore string, err error) {
	if err != nil {
		t.report.Kept = t.kept()
	}
	t.stage.set(stageDone)
	t.report.Duration = time.Since(t.began)
	t.report.Bytes = t.gauge.bytes.Load()
	t.report.Rows = t.rowsKept(err)
	t.report.Damage = t.files.found()
	if t.load != nil {
		t.report.Load = t.load.report()
	}
	t.plan.Actual = t.actual(ctx, walBefore)
}

// fillTogether is the one transaction. It returns the table that failed with its error.
func (r *run) fillTogether(ctx context.Context, group []*table) (*table, error) {
	first := group[0]
	dst, err := first.target.take(ctx, first.encoding)
	if err != nil {
		return first, &sideError{side: "target", err: err}
	}
	failed, err := r.fillAll(ctx, group, dst)
	if err != nil {
		first.target.drop(dst)
		return failed, err
	}
	first.target.give(first.encoding, dst)
	return nil, nil
}

func (r *run) fillAll(ctx context.Context, group []*table, dst *session) (*table, error) {
	begins := group[max(0, slices.IndexFunc(group, func(t *table) bool { return inServer(t.plan.Method) }))]
	if err := r.begin(ctx, begins, &worker{dst: dst}); err != nil {
		return begins, err
	}
	for _, t := range group {
		t.stage.set(stageBefore)
		if err := runInside(ctx, dst, t.plan.Before); err != nil {
			return t, err
		}
		t.stage.set(stageWaiting)
	}
	for _, t := range group {
		t.began = time.Now()
		if err := r.fillShared(ctx, t, dst); err != nil {
			return t, err
		}
	}
	last := group[len(group)-1]
	if err := commit(ctx, last, dst); err != nil {
		for _, t := range group {
			t.unknown = last.unknown
		}
		return last, err
	}
	for _, t := range group {
		t.committed = true
	}
	return nil, nil
}

// fillShared fills one table in the group's transaction. It reads over a session of the source only for so long.
func (r *run) fillShared(ctx context.Context, t *table, dst *session) error {
	w := &worker{plan: t.plan, gauge: t.gauge, dst: dst}
	if !inServer(t.plan.Method) {
		var err error
		if w.src, err = r.snapshots[t.source].reader(ctx); err != nil {
			return &sideError{side: "source", err: err}
		}
	}
	_, change, _ := splitSteps(t.plan.After)
	err := r.fillOpen(ctx, t, w, change)
	if w.src != nil {
		r.snapshots[t.source].release(w.src, err != nil)
	}
	return err
}
