package move

import (
	"context"
	"slices"

	"github.com/pghaul/pghaul/planner"
)

// inBatches loads the pieces in batches, each in a subtransaction, until there are no more. Where batches have many bad rows, the next one is sifted
// over a second connection while one is loaded: that takes the server nearly as long.
func (s *loader) inBatches(ctx context.Context) (rows int64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	ahead := &sifter{idle: s}
	next := make(chan gathered, 1)
	running := false
	defer func() {
		cancel()
		if running {
			<-next
		}
		ahead.close()
	}()
	for more := true; more; {
		var got gathered
		if running {
			got, running = <-next, false
		} else {
			got = s.gatherNext(ctx)
		}
		if got.err != nil {
			return 0, got.err
		}
		if more = got.more; more && s.checkFirst && ahead.ready(ctx) {
			running = true
			go func() { next <- ahead.sifted(ctx, s.gatherNext(ctx)) }()
		}
		n, err := s.takeOrFail(ctx, got.batch)
		if err != nil {
			return 0, err
		}
		rows += n
	}
	return rows, nil
}

// gathered is the next batch of a load.
type gathered struct {
	batch *loadBatch
	more  bool // there may be others behind it
	err   error
}

func (s *loader) gatherNext(ctx context.Context) gathered {
	b, more, err := s.gather(ctx, 0)
	return gathered{b, more, err}
}

// sifter looks through batches over a connection of its own.
type sifter struct {
	idle   *loader // the one whose batches they are
	own    *loader // nil while there is no connection
	broken bool    // there will be none
}

// ready connects, unless that was done. Without a connection batches are sifted by the one that loads.
func (a *sifter) ready(ctx context.Context) bool {
	if a.own != nil || a.broken {
		return a.own != nil
	}
	if a.broken = !a.idle.seenFromOutside(); a.broken {
		return false
	}
	l := a.idle.l
	dst, err := l.at.fresh(ctx, endEncoding)
	if err != nil { // The server may have no connection left.
		a.broken = true
		return false
	}
	w := &worker{dst: dst, plan: a.idle.w.plan, gauge: a.idle.w.gauge, load: l}
	if err = l.widenTemporary(ctx, l.at, dst); err == nil {
		// Whoever waits for the lock that the loading connection has on the target stands in front of this one, which must not wait in turn.
		_, err = dst.exec(ctx, l.begin(beginWrite(endEncoding))+"; SET LOCAL lock_timeout = '1s'")
	}
	if err != nil {
		l.at.drop(dst)
		a.broken = true
		return false
	}
	a.own = newLoader(w)
	return true
}

// seenFromOutside reports whether the checks say the same to another transaction: it can neither see the rows that are loaded nor look at a table
// that the loading one has locked against it.
func (s *loader) seenFromOutside() bool {
	_, inside := splitBefore(s.w.plan.Before)
	return s.check != nil && s.plan.Stage == nil && len(inside) == 0 && !s.l.at.server.Pooled &&
		!slices.ContainsFunc(s.check.Queries, func(q planner.CheckQuery) bool { return q.State == stateUniqueViolation || q.Doubtful })
}

// sifted finds the rows of a batch that the checks refuse.
func (a *sifter) sifted(ctx context.Context, g gathered) gathered {
	if g.err != nil {
		return g
	}
	b := g.batch
	b.bad = make([][]refusedRow, len(b.pieces))
	good, doubtful, err := a.own.sift(ctx, b, b.all())
	if err != nil { // The connection that loads will meet whatever is the matter, or find the rows by itself.
		b.bad = nil
		a.broken = true
		return g
	}
	b.sifted, b.good, b.doubtful = true, good, doubtful
	return g
}

func (a *sifter) close() {
	if a.own != nil {
		a.idle.l.at.drop(a.own.w.dst)
	}
}
