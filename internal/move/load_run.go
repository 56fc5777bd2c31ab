package move

import (
	"context"
	"errors"
	"runtime"

	"github.com/pghaul/pghaul/planner"
)

// loadByProtocol carries a load out. Its rows are read while whatever the plan says goes on.
func (r *run) loadByProtocol(ctx context.Context, t *table, undo *undoLog) error {
	l := t.load
	var err error
	if l.refusals, err = openRefusals(l); err != nil {
		return err
	}
	feed := l.start(ctx, t.gauge, runtime.GOMAXPROCS(0))
	l.feed.Store(feed)
	if t.plan.Atomic == planner.PerRange {
		err = r.byCommits(ctx, t, undo)
	} else {
		err = r.copyByProtocol(ctx, t, undo)
	}
	err = errors.Join(err, feed.stop())
	kept := err == nil || t.committed || t.unknown != "" || t.plan.Atomic == planner.PerRange
	return errors.Join(err, l.refusals.close(kept))
}
