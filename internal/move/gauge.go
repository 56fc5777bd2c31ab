package move

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// gauge counts what one table's workers move, for progress, the stall watchdog and the summary. Its methods are safe for concurrent use.
type gauge struct {
	rows    atomic.Int64 // that have reached the target
	bytes   atomic.Int64 // payload sent to the target
	signs   atomic.Int64 // counts signs of life of any kind
	reading atomic.Int64 // nanoseconds spent waiting for the source
	writing atomic.Int64 // nanoseconds spent waiting for the target
	limit   *rate.Limiter
}

// newGauge returns a gauge whose sources are read no faster than limit allows; nil means no limit.
func newGauge(limit *rate.Limiter) *gauge { return &gauge{limit: limit} }

// newLimiter returns a limiter for maxRate bytes per second, nil for no limit.
func newLimiter(maxRate int64) *rate.Limiter {
	if maxRate <= 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(maxRate), blockSize)
}

// moved adds rows and bytes that have gone to the target.
func (g *gauge) moved(rows, bytes int64) {
	g.rows.Add(rows)
	g.bytes.Add(bytes)
	g.signs.Add(1)
}

// pace waits until n bytes may be read.
func (g *gauge) pace(ctx context.Context, n int) error {
	if g.limit == nil {
		return nil
	}
	for n > 0 {
		part := min(n, g.limit.Burst())
		if err := g.limit.WaitN(ctx, part); err != nil {
			return because(context.Cause(ctx), err)
		}
		g.signs.Add(1)
		n -= part
	}
	return nil
}

// read reads one block of the source and counts how long that took.
func (g *gauge) read(conn net.Conn, block []byte) (int, error) {
	began := time.Now()
	n, err := conn.Read(block)
	g.reading.Add(int64(time.Since(began)))
	g.signs.Add(1)
	return n, err
}

// wrote counts payload that the target took, and how long that took.
func (g *gauge) wrote(bytes int, took time.Duration) {
	g.writing.Add(int64(took))
	g.bytes.Add(int64(bytes))
	g.signs.Add(1)
}

// limitedBy names the side that was waited for most during elapsed time of the given number of workers.
func (g *gauge) limitedBy(elapsed time.Duration, workers int) string {
	total := int64(elapsed) * int64(max(workers, 1))
	reading, writing := g.reading.Load(), g.writing.Load()
	switch {
	case reading+writing < total/4:
		return "the client"
	case reading > writing:
		return "the source"
	}
	return "the target"
}
