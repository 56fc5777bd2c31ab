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

// inOrder makes something of each piece on several goroutines and takes the results in the order of the pieces, from one goroutine. No
// more than two results for each goroutine wait to be taken. worker is called once by each goroutine.
func inOrder[T any](ctx context.Context, pieces []span, jobs int, worker func() (do func(context.Context, span) (T, error), end func() error, err error),
	take func(T) error,
) error {
	type slot struct {
		piece  span
		result chan T
	}
	jobs = max(min(jobs, len(pieces)), 1)
	todo, order := make(chan slot), make(chan slot, 2*jobs)
	group, gctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(todo)
		defer close(order)
		for _, p := range pieces {
			s := slot{p, make(chan T, 1)}
			for _, to := range []chan slot{order, todo} {
				select {
				case to <- s:
				case <-gctx.Done():
					return context.Cause(gctx)
				}
			}
		}
		return nil
	})
	for range jobs {
		group.Go(func() (failed error) {
			do, end, err := worker()
			if err != nil {
				return err
			}
			defer func() {
				if err := end(); failed == nil {
					failed = err
				}
			}()
			for s := range todo {
				made, err := do(gctx, s.piece)
				if err != nil {
					return err
				}
				s.result <- made
			}
			return nil
		})
	}
	group.Go(func() error {
		for s := range order {
			select {
			case made := <-s.result:
				if err := take(made); err != nil {
					return err
				}
			case <-gctx.Done():
				return context.Cause(gctx)
			}
		}
		return nil
	})
	return group.Wait()
}
