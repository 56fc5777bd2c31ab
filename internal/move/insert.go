package move

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strings"

	"github.com/pghaul/pghaul/internal/copyfmt"
	"github.com/pghaul/pghaul/planner"
)

// carryInsert is the carrier of method insert. Batches of at least the threshold go by COPY, and then by one COPY for the whole range:
// a COPY of its own for each batch gains nothing over an INSERT, one that is kept open is 3 to 40 times faster.
func carryInsert(ctx context.Context, w *worker, r planner.Range) (int64, error) {
	if w.batches == nil {
		w.batches = newBatches()
	}
	b := w.batches
	switch t := w.plan.Batch.CopyThreshold; {
	case !mayCopy(w.plan.Batch):
		b.way = byInsert
	case t != planner.CopyAuto && w.plan.Batch.Size >= t:
		b.way = byCopy
	case t != planner.CopyAuto:
		b.way = byInsert
	}
	if b.way == byCopy {
		b.note(w.plan.WriteSQL(r), 0)
		return relayInto(ctx, w, r, w.plan.WriteSQL(r))
	}
	if w.plan.Batch.NoCopy != "" {
		// The session's row_security = off makes an error of every policy, where this is the method for targets that have some: an INSERT
		// checks its rows against them and drops none.
		if _, err := w.dst.exec(ctx, "SET LOCAL row_security = on"); err != nil {
			return 0, &sideError{side: "target", err: err}
		}
	}
	return insertRange(ctx, w, r)
}

// mayCopy reports whether rows may go by COPY at all.
func mayCopy(b *planner.BatchPlan) bool {
	return b.NoCopy == "" && b.Returning == "" && b.CopyThreshold != planner.CopyNever
}

// insertRange moves a range whose rows are looked at one by one.
func insertRange(ctx context.Context, w *worker, r planner.Range) (int64, error) {
	// The source is stopped when the target fails, which may be while the source is waited for.
	reading, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	src, err := openSource(reading, w, r)
	if err != nil {
		return 0, &sideError{side: "source", err: err}
	}
	in := &inserter{worker: w, part: r, src: src, stop: stop}
	err = in.end(in.run(ctx))
	if closeErr := src.close(); err == nil && closeErr != nil {
		err = &sideError{side: "source", err: closeErr}
	}
	if err == nil && w.dst.pooled {
		err = w.batches.giveUp(ctx, w.dst)
	}
	if err != nil {
		return 0, err
	}
	return in.taken, nil
}

// inserter writes the rows of one range.
type inserter struct {
	*worker
	part  planner.Range
	src   *rowSource
	stop  context.CancelCauseFunc // ends the reading of the source
	size  int                     // rows of a full batch
	batch *batch
	first int64 // number of the batch's first row in the range
	pipe  *pipe // nil while the target's session is not taken over
	held  bool  // batches are gathered, not sent
	taken int64 // rows that the target took, by its own count
}

// run moves the rows. Errors of the target that the pipe knows are left to end.
func (in *inserter) run(ctx context.Context) error {
	if err := in.prepare(ctx); err != nil {
		return err
	}
	if in.batches.way == undecided {
		if err := in.tryBoth(ctx); err != nil {
			return err
		}
		switch {
		case in.src.ended:
			return nil
		case in.batches.way == byCopy:
			return in.copyRest(ctx)
		}
		if err := in.shape(ctx, in.size); err != nil {
			return err
		}
	}
	for {
		row, err := in.src.next()
		switch {
		case errors.Is(err, io.EOF):
			return in.send(ctx)
		case err != nil:
			return &sideError{side: "source", err: err}
		}
		if err := in.take(ctx, row); err != nil {
			return err
		}
	}
}

// prepare finds out how many rows a full batch has, and makes the first batch ready.
func (in *inserter) prepare(ctx context.Context) error {
	plan := in.plan.Batch
	in.size = max(plan.Size, 1)
	if !plan.Arrays(in.size) && len(in.plan.Columns) > 0 {
		in.size = min(in.size, in.mostRows())
	}
	if limit := in.batches.limit; limit > 0 {
		in.size = min(in.size, limit)
	}
	if in.batches.way == undecided {
		return nil
	}
	return in.shape(ctx, in.size)
}

// shape makes the empty batch fit the statement for the given number of rows, or less.
func (in *inserter) shape(ctx context.Context, rows int) error {
	st, err := in.statement(ctx, rows)
	if err != nil {
		return err
	}
	if in.batch == nil || len(in.batch.arrays) != len(st.arrays) {
		in.batch = newBatch(st.arrays, in.src.binary)
	}
	return nil
}

// statement returns the statement for a batch of the given number of rows.
func (in *inserter) statement(ctx context.Context, rows int) (*statement, error) {
	if st := in.batches.ready(in.part, rows); st != nil {
		return st, nil
	}
	// To prepare one needs the session, and the answers that are still to come on it.
	if err := in.closePipe(nil); err != nil {
		return nil, err
	}
	st, err := in.batches.prepare(ctx, in.worker, in.part, rows)
	if err != nil {
		return nil, &sideError{side: "target", err: err}
	}
	return st, nil
}

// take adds a row to the batch and sends it when it is full.
func (in *inserter) take(ctx context.Context, row *copyfmt.Row) error {
	if row.Large {
		return in.takeLarge(ctx)
	}
	if in.batch.rows == 0 {
		in.first = in.src.row
	}
	in.batch.add(row.Fields)
	switch {
	case in.batch.rows >= in.size:
		return in.send(ctx)
	case in.batch.size() >= batchBytes:
		// Each number of rows is a statement of its own. Batches of a power of two from now on make few of them.
		in.size = 1 << (bits.Len(uint(in.batch.rows)) - 1)
		in.batches.limit = in.size
		if err := in.send(ctx); err != nil {
			return err
		}
		return in.shape(ctx, in.size)
	}
	return nil
}

// send sends the batch as far as it is filled.
func (in *inserter) send(ctx context.Context) error {
	b := in.batch
	if b == nil || b.rows == 0 {
		return nil
	}
	if !in.plan.Batch.Arrays(b.rows) {
		b.flatten()
		// A last batch too small for arrays may still have more values than one statement takes.
		for most := in.mostRows(); b.rows > most; {
			piece := b.split(most)
			if err := in.sendOne(ctx, piece); err != nil {
				return err
			}
			in.first += int64(most)
		}
	}
	if err := in.sendOne(ctx, b); err != nil {
		return err
	}
	b.reset()
	return nil
}

// mostRows is how many rows one statement with single values takes.
func (in *inserter) mostRows() int {
	return max(maxParams/max(len(in.plan.Columns), 1), 1)
}

// sendOne sends one statement's rows.
func (in *inserter) sendOne(ctx context.Context, b *batch) error {
	st, err := in.statement(ctx, b.rows)
	if err != nil {
		return err
	}
	if err := in.openPipe(ctx); err != nil {
		return err
	}
	if err := in.pipe.put(b, st.name, in.first, in.held); err != nil {
		return err
	}
	in.batches.note(st.sql, b.rows)
	return nil
}

// openPipe takes the target's session over, unless that is done.
func (in *inserter) openPipe(ctx context.Context) error {
	if in.pipe != nil {
		return nil
	}
	var err error
	if in.pipe, err = openPipe(ctx, in.dst, in.gauge, in.stop); err != nil {
		return &sideError{side: "target", err: err}
	}
	return nil
}

// closePipe waits for all answers and gives the target's session back. failure is why no more is sent, if so.
func (in *inserter) closePipe(failure error) error {
	p := in.pipe
	if p == nil {
		return failure
	}
	in.pipe = nil
	rows, err := p.close(failure)
	in.taken += rows
	in.batches.returned += p.returned.Load()
	switch {
	case err == nil || p.failure == nil && failure != nil:
		return err // The sender's, who knows its side.
	case p.failed.rows > 0:
		err = &rowError{first: p.failed.first, last: p.failed.first + p.failed.rows - 1, err: err}
	}
	return &sideError{side: "target", err: err}
}

// end waits for the answers to all that was sent, and picks the error that came first.
func (in *inserter) end(failure error) error { return in.closePipe(failure) }

// copyRest sends all rows that are left by one COPY.
func (in *inserter) copyRest(ctx context.Context) error {
	sql := in.plan.WriteSQL(in.part)
	out, err := in.dst.copyIn(ctx, sql)
	if err != nil {
		return &sideError{side: "target", err: err}
	}
	in.batches.note(sql, 0)
	first := in.src.row
	var head []byte
	if in.src.binary {
		head = copyfmt.AppendBinaryHeader(nil)
	}
	// The target may fail while the source is waited for.
	deaf := listen(out, in.stop)
	var read error
	wrote := out.write(head)
	if wrote == nil {
		read, wrote = in.src.remainder(ctx, func(p []byte) error {
			in.gauge.moved(0, int64(len(p)))
			return out.write(p)
		}, in.stop)
	}
	deaf()
	switch {
	case wrote != nil:
		_ = out.fail("the rest could not be sent")
		return &sideError{side: "target", err: &rowError{first: first + 1, err: wrote}}
	case read != nil:
		return &sideError{side: "source", err: errors.Join(read, out.fail("the source could not be read to its end"))}
	}
	rows, err := out.done()
	if err != nil {
		return &sideError{side: "target", err: &rowError{first: first + 1, err: err}}
	}
	in.taken += rows
	in.gauge.moved(rows, 0)
	return nil
}

// rowError says which rows of the range a failure is about, counted from 1. Without last it is the first or any later one.
type rowError struct {
	first, last int64
	err         error
}

// Error names the rows.
func (e *rowError) Error() string { return strings.TrimPrefix(e.place()+": "+e.err.Error(), ": ") }

// place names the rows, "" when they can be any.
func (e *rowError) place() string {
	switch {
	case e.last == 0 && e.first <= 1:
		return ""
	case e.last == 0:
		return fmt.Sprintf("behind row %d", e.first-1)
	case e.first == e.last:
		return fmt.Sprintf("row %d", e.first)
	}
	return fmt.Sprintf("rows %d to %d", e.first, e.last)
}

// Unwrap returns what happened.
func (e *rowError) Unwrap() error { return e.err }
