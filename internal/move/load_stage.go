package move

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/rowfile"
	"github.com/pghaul/pghaul/planner"
)

// temporaryBuffers hold a batch and its numbers in a temporary table, whose pages would be written to disk and read again with the server's 8 MB.
const temporaryBuffers = "32MB"

// widenTemporary makes room for temporary tables in a session that has had none. Behind a pooler others would get the session.
func (l *load) widenTemporary(ctx context.Context, at *site, s *session) error {
	if l.plan.Check == nil && l.plan.Stage == nil || at.server.Pooled {
		return nil
	}
	_, err := s.exec(ctx, "SET temp_buffers = '"+temporaryBuffers+"'")
	return err
}

// gather takes the pieces of the next batch: loadBatchBytes of input, or fewer where that reaches a number of rows read (0: any). more says that
// there may be others behind it.
func (s *loader) gather(ctx context.Context, rows int64) (b *loadBatch, more bool, err error) {
	b = &loadBatch{}
	read := int64(0)
	for b.bytes < loadBatchBytes && (rows <= 0 || read < rows) {
		p, err := s.l.feed.Load().next(ctx)
		if errors.Is(err, io.EOF) {
			return b, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		b.pieces = append(b.pieces, p)
		b.bytes += len(p.block.Data)
		read += p.read
		if p.large != nil {
			break
		}
	}
	return b, true, nil
}

// put sends rows of a batch to the target and returns how many it took.
func (s *loader) put(ctx context.Context, b *loadBatch, rows []stretch) (int64, error) {
	if s.plan.Batch != nil {
		return s.insertRows(ctx, b, rows)
	}
	into, err := s.destination(ctx)
	if err != nil {
		return 0, err
	}
	took, err := s.copyRows(ctx, b, rows, into)
	if err != nil || s.plan.Stage == nil {
		return took, err
	}
	return s.mergeBatch(ctx, b, rows)
}

// copyRows copies rows of a batch to wherever they go.
func (s *loader) copyRows(ctx context.Context, b *loadBatch, rows []stretch, into destination) (int64, error) {
	c := &copying{session: s.w.dst, gauge: s.w.gauge, destination: into, buffer: s.buffer}
	defer func() { s.buffer = c.buffer }()
	for _, r := range rows {
		if err := c.write(ctx, b.pieces[r.piece], r.from, r.to); err != nil {
			c.takeBack()
			return 0, err
		}
	}
	if err := c.finish(); err != nil {
		c.takeBack()
		return 0, err
	}
	return c.took, nil
}

// mergeAll moves what was staged of the whole input, so many rows, into the target.
func (s *loader) mergeAll(ctx context.Context, staged int64) (int64, error) {
	s.l.stage.set(stageMerge)
	counted := int64(-1)
	if s.plan.Stage.Duplicates != "" {
		found, err := s.w.dst.value(ctx, "SELECT pg_catalog.count(*) FROM ("+s.plan.Stage.Duplicates+") AS duplicates")
		if err != nil {
			return 0, &sideError{side: "target", err: err}
		}
		if counted, err = strconv.ParseInt(found, 10, 64); err != nil {
			return 0, err
		}
	}
	took, err := s.merge(ctx)
	if err != nil {
		return 0, &sideError{side: "target", err: err}
	}
	s.countDuplicates(counted, staged-took)
	return took, nil
}

// mergeBatch moves the staged rows of a batch into the target and empties the staging table.
func (s *loader) mergeBatch(ctx context.Context, b *loadBatch, rows []stretch) (int64, error) {
	var dropped []int64
	counted := int64(-1)
	if s.plan.Stage.Duplicates != "" {
		var err error
		if dropped, err = s.numbers(ctx, s.plan.Stage.Duplicates); err != nil {
			return 0, err
		}
		counted = int64(len(dropped))
	}
	took, err := s.merge(ctx)
	if err != nil {
		return 0, err
	}
	if _, err := s.w.dst.exec(ctx, s.plan.Stage.Reset); err != nil {
		return 0, err
	}
	s.countDuplicates(counted, int64(count(rows))-took)
	if s.plan.OnDuplicate == planner.DuplicateKeepOld {
		return took, s.l.refusals.keep(s.l, b, rows, dropped)
	}
	return took, nil
}

// merge moves what is staged into the target and returns how many rows that took.
func (s *loader) merge(ctx context.Context) (int64, error) {
	tag, err := s.w.dst.exec(ctx, s.plan.Stage.Merge)
	return tag.RowsAffected(), err
}

// countDuplicates counts the rows that gave way to others, as they were counted, or where nobody counted them (-1) by what is missing.
func (s *loader) countDuplicates(counted, missing int64) {
	switch {
	case counted >= 0:
		s.l.duplicates.Add(counted)
	case s.plan.OnDuplicate != planner.DuplicateError:
		s.l.duplicates.Add(missing)
	}
}

// numbers returns the first column of a query's rows: positions of rows, counted from 0.
func (s *loader) numbers(ctx context.Context, sql string) ([]int64, error) {
	found, err := s.w.dst.table(ctx, sql)
	if err != nil {
		return nil, err
	}
	at := make([]int64, len(found))
	for i, row := range found {
		n, err := strconv.ParseInt(row[0], 10, 64)
		if err != nil {
			return nil, err
		}
		at[i] = n - 1
	}
	return at, nil
}

// sift finds the rows of a batch that the checks refuse, notes them, and returns the others. Doubtful are those that share a key with a row in front
// of them: it may be refused for what no check can find.
func (s *loader) sift(ctx context.Context, b *loadBatch, rows []stretch) (good, doubtful []stretch, err error) {
	if !s.prepared[checkTable] {
		failed, err := s.inSubtransaction(ctx, bearAny, func() error { return s.makeTable(ctx, checkTable, s.check.Create) })
		if err != nil || failed != nil { // Its number is one column too many for it.
			s.check = nil
			return rows, nil, err
		}
	}
	var found verdicts
	failed, err := s.inSubtransaction(ctx, bearAny, func() (err error) {
		found, err = s.ask(ctx, b, rows)
		return err
	})
	if err != nil || failed != nil {
		return rows, nil, err
	}
	positions := slices.Sorted(maps.Keys(found))
	marked, good := pick(rows, positions)
	for i, n := range positions {
		if found[n] == nil {
			doubtful = append(doubtful, marked[i])
		} else {
			b.refuse(marked[i], found[n])
		}
	}
	return good, doubtful, nil
}

// bearAny is for subtransactions whose failure does no harm.
func bearAny(*pgconn.PgError) bool { return true }

// verdicts are why rows are refused, by position; nil for a doubtful one.
type verdicts map[int64]*rowfile.RowError

// ask asks each check which of the rows it refuses. One that fails itself, as one that divides by zero does, ends the questions: the rows that
// it would have found are still there for the others.
func (s *loader) ask(ctx context.Context, b *loadBatch, rows []stretch) (verdicts, error) {
	check := s.check
	into := destination{text: check.CopyText, binary: check.CopyBinary, numbered: true, aside: true, name: checkTable}
	if _, err := s.copyRows(ctx, b, rows, into); err != nil {
		return nil, err
	}
	all := verdicts{}
	for _, q := range check.Queries {
		var found []int64
		failed, err := s.inSubtransaction(ctx, bearAny, func() (err error) {
			found, err = s.numbers(ctx, q.SQL)
			return err
		})
		if err != nil {
			return nil, err
		}
		if failed != nil {
			break
		}
		for _, n := range found {
			if q.Doubtful {
				all[n] = nil
			} else {
				all[n] = &rowfile.RowError{State: q.State, Message: q.Message, Column: q.Column}
			}
		}
	}
	_, err := s.w.dst.exec(ctx, check.Reset)
	return all, err
}
