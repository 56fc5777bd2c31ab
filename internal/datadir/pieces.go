package datadir

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// pieceBlocks is how many blocks one goroutine reads before it takes other ones: 1 MB of 8 kB blocks.
const pieceBlocks = 128

// span is a row of blocks.
type span struct{ from, to uint32 }

// spans cuts blocks into pieces. to 0 means the end, which blocks is.
func spans(from, to, blocks uint32) []span {
	if to == 0 || to > blocks {
		to = blocks
	}
	var all []span
	for at := from; at < to; at += min(pieceBlocks, to-at) {
		all = append(all, span{at, at + min(pieceBlocks, to-at)})
	}
	return all
}

// pieceWorker makes results of pieces and emits them in order. One goroutine uses it.
type pieceWorker[T any] struct {
	do  func(ctx context.Context, at span, emit func(T) error) error
	end func() error
}

// pieceSlot is a piece on its way, with the results that wait to be taken.
type pieceSlot[T any] struct {
	piece   span
	results chan T // closed behind the last one
}

// inOrder has pieces worked on by several goroutines and takes the results in the order of the pieces, from one goroutine. Of each piece one
// result waits to be taken, and the goroutine that makes more of them waits too; twice as many pieces as goroutines are begun or done.
func inOrder[T any](ctx context.Context, pieces []span, jobs int, worker func() (pieceWorker[T], error), take func(T) error) error {
	jobs = max(min(jobs, len(pieces)), 1)
	todo, order := make(chan pieceSlot[T]), make(chan pieceSlot[T], 2*jobs)
	group, gctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(todo)
		defer close(order)
		for _, p := range pieces {
			s := pieceSlot[T]{p, make(chan T, 1)}
			for _, to := range []chan pieceSlot[T]{order, todo} {
				if err := send(gctx, to, s); err != nil {
					return err
				}
			}
		}
		return nil
	})
	for range jobs {
		group.Go(func() (failed error) {
			w, err := worker()
			if err != nil {
				return err
			}
			defer func() {
				if err := w.end(); failed == nil {
					failed = err
				}
			}()
			for s := range todo {
				if err := w.do(gctx, s.piece, func(made T) error { return send(gctx, s.results, made) }); err != nil {
					return err
				}
				close(s.results)
			}
			return nil
		})
	}
	group.Go(func() error { return takeAll(gctx, order, take) })
	return group.Wait()
}

// takeAll takes the results of all pieces.
func takeAll[T any](ctx context.Context, order <-chan pieceSlot[T], take func(T) error) error {
	for s := range order {
		for open := true; open; {
			var made T
			select {
			case made, open = <-s.results:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			if !open {
				break
			}
			if err := take(made); err != nil {
				return err
			}
		}
	}
	return nil
}

func send[T any](ctx context.Context, to chan<- T, value T) error {
	select {
	case to <- value:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
