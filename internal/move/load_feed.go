package move

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/pghaul/pghaul/internal/rowfile"
)

// feed reads the streams of a load and takes their blocks apart on several goroutines. Pieces come out in the order of the blocks.
type feed struct {
	load   *load
	order  chan *slot
	work   chan *slot
	cancel context.CancelFunc
	group  *errgroup.Group
	gauge  *gauge
	taking sync.Mutex // several connections take pieces from one feed
	opened sync.Mutex // over streams
	stream []rowfile.Stream
	ahead  int64 // bytes of the streams that are closed
}

// slot is the place of a block in the order.
type slot struct {
	block *rowfile.Block
	piece chan *piece // takes one
}

// start begins to read. The context bounds the whole feed, up to stop. makers is how many goroutines take blocks apart.
func (l *load) start(ctx context.Context, g *gauge, makers int) *feed {
	ctx, cancel := context.WithCancel(ctx)
	f := &feed{load: l, cancel: cancel, gauge: g, order: make(chan *slot, 2*makers), work: make(chan *slot)}
	f.group, ctx = errgroup.WithContext(ctx)
	f.group.Go(func() error {
		defer close(f.order)
		defer close(f.work)
		return f.read(ctx)
	})
	for range makers {
		m := l.maker()
		f.group.Go(func() error {
			for s := range f.work {
				s.piece <- m.make(s.block)
			}
			return nil
		})
	}
	return f
}

// maker returns a maker of pieces.
func (l *load) maker() *pieceMaker {
	return &pieceMaker{parser: l.rows.Parser(), columns: l.plan.Columns, encoders: l.encoders(), binary: l.plan.NoBinary == "", relation: l.relation}
}

// stop ends the reading and waits for it. It returns why the reading failed, nil when it came to its end or was stopped.
func (f *feed) stop() error {
	f.cancel()
	for s := range f.order { // What was read ahead is not wanted.
		(<-s.piece).release()
	}
	return f.group.Wait()
}

// read reads the streams one after the other. Files that must be decompressed are read side by side unless their order counts: no stream of
// them can be cut for several processors.
func (f *feed) read(ctx context.Context) error {
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(1)
	if !f.load.wish.Ordered && f.load.packed() {
		group.SetLimit(runtime.GOMAXPROCS(0))
	}
	for i := range f.load.files {
		if f.load.whole[i] {
			continue
		}
		group.Go(func() error {
			if gctx.Err() == nil {
				return f.readFile(gctx, i)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		f.fail(ctx, err)
	}
	return nil
}

// packed reports whether all files are compressed.
func (l *load) packed() bool {
	return !slices.ContainsFunc(l.files, func(f rowfile.File) bool { return !f.Compressed })
}

// fail hands an error of the reading over in the place where its block would have been.
func (f *feed) fail(ctx context.Context, err error) {
	s := &slot{piece: make(chan *piece, 1)}
	s.piece <- &piece{err: err, block: &rowfile.Block{}}
	select {
	case f.order <- s:
	case <-ctx.Done():
	}
}

func (f *feed) readFile(ctx context.Context, i int) error {
	s, err := f.load.rows.Open(ctx, i, f.load.from[i])
	if err != nil {
		return err
	}
	f.opened.Lock()
	f.stream = append(f.stream, s)
	f.opened.Unlock()
	err = f.pass(ctx, s)
	f.opened.Lock()
	f.ahead += s.Consumed()
	f.stream = slices.DeleteFunc(f.stream, func(open rowfile.Stream) bool { return open == s })
	f.opened.Unlock()
	return errors.Join(err, s.Close())
}

// pass hands the blocks of one stream on.
func (f *feed) pass(ctx context.Context, from rowfile.Stream) error {
	for {
		block, err := from.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		f.gauge.signs.Add(1)
		if err := f.gauge.pace(ctx, len(block.Data)); err != nil {
			return err
		}
		s := &slot{block: block, piece: make(chan *piece, 1)}
		for _, to := range []chan *slot{f.order, f.work} {
			select {
			case to <- s:
			case <-ctx.Done():
				if to == f.work { // It stands in the order already.
					s.piece <- &piece{block: block}
				}
				return ctx.Err()
			}
		}
	}
}

// next returns the next piece, or io.EOF behind the last.
func (f *feed) next(ctx context.Context) (*piece, error) {
	f.taking.Lock()
	defer f.taking.Unlock()
	select {
	case s, more := <-f.order:
		if !more {
			return nil, io.EOF
		}
		select {
		case p := <-s.piece:
			if p.err != nil {
				return nil, p.err
			}
			f.load.read.Add(p.read)
			return p, nil
		case <-ctx.Done():
			(<-s.piece).release()
			return nil, context.Cause(ctx)
		}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// consumed is how many bytes on disk have been read.
func (f *feed) consumed() int64 {
	f.opened.Lock()
	defer f.opened.Unlock()
	n := f.ahead
	for _, s := range f.stream {
		n += s.Consumed()
	}
	return n
}
