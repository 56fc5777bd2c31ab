package move

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/pghaul/pghaul/internal/copyfmt"
)

// way is how method insert sends the batches of one worker.
type way int

const (
	undecided way = iota
	byInsert
	byCopy
)

// Measuring must cost less than a tenth of a move of 100 000 short rows, which takes a COPY 50 ms. So the first samples are small, and
// grow only while the two are close to each other, when it matters little which one takes the rows.
const (
	copySample   = 4096 // rows of the first COPY: enough that its start and end, 0.3 ms, do not decide
	insertSample = 1000 // rows of the first INSERTs at most, about 1 ms in one batch
	valuesSample = 100  // the same for lists of VALUES, of which the server prepares about 1000 values in 1 ms
	insertLeast  = 16   // rows at least, for batches of one row
	insertRounds = 10   // batches in the first sample otherwise
	sampleBytes  = 256 << 10
	sampleGrowth = 4
	sampleRounds = 4

	// clearLead is how many times faster one must be to be chosen before the last round.
	clearLead = 1.5
)

// pace is what one way took for its samples.
type pace struct {
	rows int
	took time.Duration
}

func (p *pace) add(rows int, took time.Duration) {
	p.rows += rows
	p.took += took
}

// perRow is in nanoseconds.
func (p *pace) perRow() float64 { return float64(p.took) / float64(max(p.rows, 1)) }

// compare chooses between the two after a round, undecided meaning that another round is needed. The first INSERTs and the first COPY
// also find everything cold, so an INSERT must have a lead in two rounds: a wrong COPY costs little, a wrong INSERT may cost 40 times.
func compare(round int, byCopySoFar, byInsertSoFar *pace) way {
	c, i := byCopySoFar.perRow(), byInsertSoFar.perRow()
	switch {
	case i > c*clearLead:
		return byCopy
	case round > 0 && c > i*clearLead:
		return byInsert
	case round < sampleRounds-1:
		return undecided
	case i < c:
		return byInsert
	}
	return byCopy
}

// tryBoth moves the first rows alternately by COPY and by INSERT until it is clear which is faster.
func (in *inserter) tryBoth(ctx context.Context) error {
	var copied, inserted pace
	rows := in.firstSample()
	for round, scale := 0, 1; in.batches.way == undecided; round, scale = round+1, scale*sampleGrowth {
		more, err := in.sampleCopy(ctx, copySample*scale, sampleBytes*scale, &copied)
		if err != nil || !more || in.batches.way != undecided {
			return err
		}
		more, err = in.sampleInsert(ctx, rows*scale, sampleBytes*scale, &inserted)
		if err != nil || !more || in.batches.way != undecided {
			return err
		}
		in.batches.way = compare(round, &copied, &inserted)
	}
	return nil
}

// firstSample returns how many rows the first INSERTs of a trial take: whole batches where several are cheap, else a part of one.
func (in *inserter) firstSample() int {
	most := insertSample
	if !in.plan.Batch.Arrays(in.size) {
		most = valuesSample
	}
	rows := min(max(insertLeast, insertRounds*in.size), most)
	return max(rows/in.size*in.size, min(rows, in.size))
}

// sampleCopy moves up to rows rows by a COPY of its own and measures that. It returns false when the range has no more rows. A large
// row ends the trial in favour of COPY, which is the only way that takes it as it comes.
func (in *inserter) sampleCopy(ctx context.Context, rows, bytes int, p *pace) (more bool, err error) {
	var data []byte
	if in.src.binary {
		data = copyfmt.AppendBinaryHeader(nil)
	}
	n, large, more := 0, false, true
	for n < rows && len(data) < bytes && !large {
		row, err := in.src.next()
		if errors.Is(err, io.EOF) {
			more = false
			break
		}
		if err != nil {
			return false, &sideError{side: "source", err: err}
		}
		if large = row.Large; large {
			break
		}
		data = append(data, row.Raw...)
		if !in.src.binary {
			data = append(data, '\n')
		}
		n++
	}
	if n > 0 {
		if in.src.binary {
			data = copyfmt.AppendBinaryTrailer(data)
		}
		first := in.src.row - int64(n) + 1
		if large {
			first--
		}
		began := time.Now()
		if err := in.copyBlock(ctx, data, first); err != nil {
			return false, err
		}
		p.add(n, time.Since(began))
	}
	if large {
		in.batches.way = byCopy
		return true, in.takeLarge(ctx)
	}
	return more, nil
}

// copyBlock sends whole rows, from row first of the range on, by a COPY of their own.
func (in *inserter) copyBlock(ctx context.Context, data []byte, first int64) error {
	sql := in.plan.WriteSQL(in.part)
	out, err := in.dst.copyIn(ctx, sql)
	if err != nil {
		return &sideError{side: "target", err: err}
	}
	in.batches.note(sql, 0)
	if err := out.write(data); err != nil {
		_ = out.fail("the rest could not be sent")
		return &sideError{side: "target", err: &rowError{first: first, err: err}}
	}
	rows, err := out.done()
	if err != nil {
		return &sideError{side: "target", err: &rowError{first: first, err: err}}
	}
	in.taken += rows
	in.gauge.moved(rows, int64(len(data)))
	return nil
}

// sampleInsert moves up to rows rows by INSERT and measures that, from the first message to the last answer. It returns false when the
// range has no more rows.
func (in *inserter) sampleInsert(ctx context.Context, rows, bytes int, p *pace) (more bool, err error) {
	// Only the target is to be measured: the rows are gathered before they are sent, and their statement is prepared.
	full := in.size
	defer func() { in.size, in.held = full, false }()
	in.size = min(full, rows)
	if err := in.shape(ctx, in.size); err != nil {
		return false, err
	}
	in.held = true
	n, size, more := 0, 0, true
	for n < rows && size < bytes {
		row, err := in.src.next()
		if errors.Is(err, io.EOF) {
			more = false
			break
		}
		if err != nil {
			return false, &sideError{side: "source", err: err}
		}
		if row.Large {
			in.batches.way = byCopy
			if err := in.takeLarge(ctx); err != nil {
				return false, err
			}
			break
		}
		n++
		size += len(row.Raw)
		if err := in.take(ctx, row); err != nil {
			return false, err
		}
	}
	if err := in.send(ctx); err != nil {
		return false, err
	}
	began := time.Now()
	if err := in.closePipe(nil); err != nil {
		return false, err
	}
	p.add(n, time.Since(began))
	return more, nil
}
