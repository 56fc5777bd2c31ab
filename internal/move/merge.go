package move

import (
	"context"
	"fmt"
	"strconv"

	"github.com/pghaul/pghaul/planner"
)

// carryMerge is the carrier of method merge: it copies a range into the staging table, which it makes on first use. The rows reach the
// target in mergeStaged.
func carryMerge(ctx context.Context, w *worker, r planner.Range) (int64, error) {
	if err := makeStaging(ctx, w); err != nil {
		return 0, &sideError{side: "target", err: err}
	}
	return relayInto(ctx, w, r, w.plan.Merge.Write)
}

// mergeStaged moves the given number of staged rows into the target, in the same transaction. It returns how many rows were inserted or
// updated, and how many rows of the input shared their key with another one.
func mergeStaged(ctx context.Context, w *worker, staged int64) (merged, duplicates int64, err error) {
	if err := makeStaging(ctx, w); err != nil {
		return 0, 0, err
	}
	m := w.plan.Merge
	if m.Count != "" && !m.CountAfter {
		if duplicates, err = countStaged(ctx, w); err != nil {
			return 0, 0, err
		}
	}
	sql := m.Merge
	if duplicates == 0 && m.Plain != "" {
		sql = m.Plain
	}
	tag, err := w.dst.exec(ctx, sql)
	if err != nil {
		return 0, 0, fmt.Errorf("merge the staged rows: %w", err)
	}
	if m.CountAfter && tag.RowsAffected() < staged {
		duplicates, err = countStaged(ctx, w)
	}
	return tag.RowsAffected(), duplicates, err
}

// countStaged counts the rows that share their key with another one.
func countStaged(ctx context.Context, w *worker) (int64, error) {
	text, err := w.dst.value(ctx, w.plan.Merge.Count)
	if err != nil || text == "" {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("count the rows with equal keys: %w", err)
	}
	return n, nil
}

// makeStaging creates the staging table unless the worker has done so.
func makeStaging(ctx context.Context, w *worker) error {
	if w.batches == nil {
		w.batches = newBatches()
	}
	if w.batches.staged {
		return nil
	}
	if _, err := w.dst.exec(ctx, w.plan.Merge.Create); err != nil {
		return fmt.Errorf("create the staging table: %w", err)
	}
	w.batches.staged = true
	return nil
}
