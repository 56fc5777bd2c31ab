package move

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/pghaul/pghaul/internal/copyfmt"
	"github.com/pghaul/pghaul/internal/wire"
)

// way is how method insert sends the batches of one worker.
type way int

const (
	undecided way = iota
	byInsert
	byCopy
)

// Measuring must cost less than a tenth of a move of 100 000 short rows, which takes a COPY 40 ms. COPY is the faster one wherever it can
// put many rows into a page at once, which is nearly everywhere: the exceptions are foreign tables before 16, where it sends row by row.
// So rows go by INSERT only as long as that is clearly faster in one round after the other, and the first samples are small: together
// about 1 ms.
const (
	warmSample   = 64  // rows of a first COPY that is not counted: it finds the caches cold
	copySample   = 128 // rows of the first COPY that is
	insertSample = 100 // rows of the first INSERTs at most
	insertLeast  = 16  // rows at least, for batches of one row
	insertRounds = 4   // batches otherwise
	sampleBytes  = 256 << 10
	sampleGrowth = 4

	// slowSample is what no sample should take: after one that did, the samples do not grow.
	slowSample = 20 * time.Millisecond

	// lead is how much faster INSERT must be in the end. What is lost where it is faster by less, the promise of 10 % allows.
	lead = 1.1
	// clearLead ends the trial after two rounds.
	clearLead = 3
)

// leads are what INSERT must be faster by in each round. A COPY of 1000 rows and more costs the server 1 ms by itself, on a busy machine
// 5, for the slots that hold them: that is nearly all there is to see of it in a small sample, and nothing in a stream.
var leads = [...]float64{4, 4, 2.5, lead}

// pace is what a row took in the best sample of one way. Other work on the machine makes samples slower, nothing makes them faster.
type pace struct {
	perRow time.Duration
	slow   bool // the last sample took too long
}

// add counts a sample.
func (p *pace) add(rows int, took time.Duration) {
	p.slow = took > slowSample
	if perRow := took / time.Duration(max(rows, 1)); p.perRow == 0 || perRow < p.perRow {
		p.perRow = perRow
	}
}

// compare chooses between the two after a round, undecided meaning that another round is needed.
func compare(round int, copied, inserted *pace) way {
	c, i := float64(copied.perRow), float64(inserted.perRow)
	needed := leads[min(round, len(leads)-1)]
	if copied.slow {
		needed = lead // So long a sample tells of its rows, not of its start.
	}
	switch {
	case c <= i*needed:
		return byCopy
	case round >= len(leads)-1, round > 0 && copied.slow && c > i*clearLead:
		return byInsert
	}
	return undecided
}

// tryBoth moves the first rows alternately by COPY and by INSERT until it is clear which is faster, or no rows are left.
func (in *inserter) tryBoth(ctx context.Context) error {
	var warm, copied, inserted pace
	if more, err := in.sampleCopy(ctx, warmSample, &warm); err != nil || !more {
		return err
	}
	copyRows, insertRows := copySample, in.firstSample()
	if warm.slow {
		copyRows = 2 * warmSample
	}
	for round := 0; in.batches.way == undecided; round++ {
		if more, err := in.sampleCopy(ctx, copyRows, &copied); err != nil || !more {
			return err
		}
		if more, err := in.sampleInsert(ctx, insertRows, &inserted); err != nil || !more {
			return err
		}
		in.batches.way = compare(round, &copied, &inserted)
		if !copied.slow {
			copyRows *= sampleGrowth
		}
		if !inserted.slow {
			insertRows *= sampleGrowth
		}
	}
	return nil
}

// firstSample returns how many rows the first INSERTs of a trial take: whole batches where several are cheap, else a part of one.
func (in *inserter) firstSample() int {
	rows := min(max(insertLeast, insertRounds*in.size), insertSample)
	return max(rows/in.size*in.size, min(rows, in.size))
}

// sampleCopy moves up to rows rows by a COPY of its own and measures that. It returns false when the trial is over: the range has
// no more rows, or a large one, which ends it in favour of COPY, the only way that takes it as it comes.
func (in *inserter) sampleCopy(ctx context.Context, rows int, p *pace) (more bool, err error) {
	var data []byte
	if in.src.binary {
		data = copyfmt.AppendBinaryHeader(nil)
	}
	n, large, more := 0, false, true
	for n < rows && len(data) < sampleBytes && !large {
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
		return false, in.takeLarge(ctx)
	}
	return more, nil
}

// copyBlock sends whole rows, from row first of the range on, by a COPY of their own. Statement, rows and end go out together, without
// waiting for the server's readiness, so that a sample has one round trip just as one of INSERTs has.
func (in *inserter) copyBlock(ctx context.Context, data []byte, first int64) error {
	sql := in.plan.WriteSQL(in.part)
	r, err := in.dst.takeOver(ctx)
	if err != nil {
		return &sideError{side: "target", err: err}
	}
	in.batches.note(sql, 0)
	r.tx = 0
	halt := watch(ctx, in.dst)
	sent := make(chan error, 1)
	go func() {
		message := wire.AppendQuery(make([]byte, 0, len(sql)+len(data)+64), sql)
		message = wire.AppendCopyDone(wire.AppendCopyData(message, data))
		sent <- r.send(message)
	}()
	rows, err := r.finish()
	// A server that has gone makes the sender fail too; one that refuses the COPY takes its rows and drops them.
	sendErr := <-sent
	halt()
	if back := r.giveBack(); err == nil {
		err = errors.Join(sendErr, back)
	}
	if err != nil {
		return &sideError{side: "target", err: &rowError{first: first, err: because(context.Cause(ctx), err)}}
	}
	in.taken += rows
	in.gauge.moved(rows, int64(len(data)))
	return nil
}

// sampleInsert moves up to rows rows by INSERT and measures that, from the first message to the last answer. It returns false when the
// trial is over, as sampleCopy does.
func (in *inserter) sampleInsert(ctx context.Context, rows int, p *pace) (more bool, err error) {
	// Only the target is to be measured: the rows are gathered before they are sent, and their statement is prepared.
	full := in.size
	defer func() { in.size, in.held = full, false }()
	in.size = min(full, rows)
	if err := in.shape(ctx, in.size); err != nil {
		return false, err
	}
	in.held = true
	n, size, more := 0, 0, true
	for n < rows && size < sampleBytes {
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
			return false, in.takeLarge(ctx)
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
