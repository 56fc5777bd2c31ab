package move

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/pghaul/pghaul/internal/heap"
	"github.com/pghaul/pghaul/planner"
)

// pageWorker moves ranges, one after the other: it reads a range, weighs its pages, takes as many blocks of the target as it has pages
// with rows, rewrites them in place, and writes them at once.
type pageWorker struct {
	move   *pageMove
	source *pageSource
	target *pageTarget
	order  *blockOrder
	torn   *tornPages
	turns  *atomic.Int64 // next range
	rows   *atomic.Int64 // written
	writer *heap.Rewriter
	packer *heap.Packer // tuples that grew out of their pages

	waits  []tornPage // of the range at hand
	kept   []keptPage
	failed error // writing a page of tuples that grew, apart from damage of the page that they came from
}

// keptPage is a page of a range that has rows.
type keptPage struct {
	at     int // first byte, within the range
	block  uint32
	weight heap.Weight
}

// run moves ranges until none is left.
func (w *pageWorker) run(ctx context.Context) error {
	buf := make([]byte, int(w.source.piece)*w.move.Source.BlockSize)
	for {
		turn := int(w.turns.Add(1) - 1)
		first, n := w.source.span(turn)
		if n == 0 {
			return w.flush(ctx)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		pages := buf[:n*w.move.Source.BlockSize]
		got, err := w.load(ctx, pages, first)
		if err != nil {
			return err
		}
		if err := w.write(ctx, pages[:got], turn); err != nil {
			return err
		}
	}
}

// load reads a range and chooses the pages that stay: kept. It returns how many bytes were there.
func (w *pageWorker) load(ctx context.Context, pages []byte, first uint32) (int, error) {
	size := w.move.Source.BlockSize
	got, err := w.source.read(pages, first)
	if err != nil {
		return 0, err
	}
	if got < len(pages) {
		got -= got % size
		if err := w.vanished(first + uint32(got/size)); err != nil {
			return 0, err
		}
	}
	if err := w.vet(ctx, pages[:got], first); err != nil {
		return 0, err
	}
	if err := w.source.done(first); err != nil {
		return 0, err
	}
	return got, w.weigh(pages[:got], first)
}

// weigh fills kept, without the pages that wait for a second read.
func (w *pageWorker) weigh(pages []byte, first uint32) error {
	size := w.move.Source.BlockSize
	w.kept = w.kept[:0]
	waits := w.waits
	for at := 0; at < len(pages); at += size {
		block := first + uint32(at/size)
		if len(waits) > 0 && waits[0].block == block {
			waits = waits[1:]
			continue
		}
		weight, err := w.writer.Weigh(pages[at : at+size])
		if err != nil {
			return w.damaged(block, err)
		}
		if weight.Rows > 0 {
			w.kept = append(w.kept, keptPage{at: at, block: block, weight: weight})
		}
	}
	return nil
}

// write writes a range that was loaded.
func (w *pageWorker) write(ctx context.Context, pages []byte, turn int) error {
	base, err := w.order.take(turn, len(w.kept))
	if err != nil {
		return err
	}
	size, rows := w.move.Source.BlockSize, 0
	for i, k := range w.kept {
		n, err := w.writer.Write(pages[i*size:(i+1)*size], pages[k.at:k.at+size], k.weight, base+uint32(i), w.spill(ctx))
		if err != nil {
			return w.damaged(k.block, err)
		}
		rows += n
	}
	return w.put(ctx, pages[:len(w.kept)*size], base, rows)
}

// late writes one page behind what was written before.
func (w *pageWorker) late(ctx context.Context, page []byte, block uint32) error {
	weight, err := w.writer.Weigh(page)
	if err != nil {
		return w.damaged(block, err)
	}
	if weight.Rows == 0 {
		return nil
	}
	base, err := w.order.extra()
	if err != nil {
		return err
	}
	rows, err := w.writer.Write(page, page, weight, base, w.spill(ctx))
	if err != nil {
		return w.damaged(block, err)
	}
	return w.put(ctx, page, base, rows)
}

// spill takes the tuples that grew out of their pages.
func (w *pageWorker) spill(ctx context.Context) func(heap.Tuple) error {
	return func(t heap.Tuple) error {
		if w.packer.Add(t) {
			return nil
		}
		if w.failed = w.flush(ctx); w.failed != nil {
			return w.failed
		}
		w.packer.Add(t) // no tuple is larger than an empty page
		return nil
	}
}

// flush writes the page of tuples that grew out of theirs.
func (w *pageWorker) flush(ctx context.Context) error {
	if w.packer.Empty() {
		return nil
	}
	block, err := w.order.extra()
	if err != nil {
		return err
	}
	page, err := w.writer.Seal(w.packer, block)
	if err != nil {
		return err
	}
	if err := w.put(ctx, page, block, 0); err != nil { // its rows were counted with their own pages
		return err
	}
	w.packer.Reset()
	return nil
}

// put writes blocks.
func (w *pageWorker) put(ctx context.Context, blocks []byte, first uint32, rows int) error {
	if len(blocks) == 0 {
		return nil
	}
	m := w.move
	if m.Pace != nil {
		if err := m.Pace(ctx, len(blocks)); err != nil {
			return err
		}
	}
	if err := w.target.write(blocks, first); err != nil {
		return err
	}
	w.rows.Add(int64(rows))
	if m.Moved != nil {
		m.Moved(int64(rows), int64(len(blocks)))
	}
	return nil
}

// damaged is the error about a page of the source.
func (w *pageWorker) damaged(block uint32, cause error) error {
	if w.failed != nil {
		return w.failed
	}
	path := segmentPath(w.move.Source.Path, block/w.move.Source.SegmentBlocks)
	if errors.Is(cause, heap.ErrLZ4) {
		return &planner.Error{
			Kind: planner.Failed, Message: "the target's server was built without lz4, by which values of the source are compressed",
			Detail: fmt.Sprintf("Block %d of %s: %s.", block, path, cause), Hint: "Copy without --method pages: the target then compresses anew.",
		}
	}
	return &planner.Error{
		Kind: planner.Failed, Message: fmt.Sprintf("block %d of %s cannot be copied", block, path), Cause: cause,
		Hint: "pghaul heap check looks through the file for what is wrong with it. Method relay copies what the server can read.",
	}
}

// oneAtATime lets many goroutines ask.
type oneAtATime struct {
	mu sync.Mutex
	tx heap.Transactions
}

// Status asks under the lock.
func (o *oneAtATime) Status(xid uint32) (heap.Status, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.tx.Status(xid)
}

// Updater asks under the lock.
func (o *oneAtATime) Updater(multi uint32) (uint32, bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.tx.Updater(multi)
}
