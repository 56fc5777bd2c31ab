package move

import (
	"context"
	"errors"
	"time"

	"github.com/pghaul/pghaul/internal/wire"
)

// A source sends 8 kB at a time, and a reader that waits for each of them spends its time in waking up and takes the processor from the
// servers. One that finds less than shortRead lets more come together first, for so short a time that neither server runs out of what its
// socket holds.
const (
	shortRead = 96 << 10
	nap       = 250 * time.Microsecond
)

// frames reads a COPY TO STDOUT, from where a frame starts, up to the end of the statement, and gives its rows to put as full CopyData
// frames, header included, each good until put returns. rows hears how many of the source's own frames have come since it was last told.
//
// It reads and puts in turn from one goroutine: the sockets' own buffers keep both servers busy meanwhile, and handing blocks from one
// goroutine to another took a third more processor time from servers on the same machine.
func (r *raw) frames(ctx context.Context, g *gauge, put func(frame []byte), rows func(n int64)) error {
	c := wire.NewCoalescer(0)
	var told int64
	rest := r.rest
	r.rest = nil
	for {
		for len(rest) > 0 {
			used, msg, err := c.Push(rest)
			rest = rest[used:]
			if err != nil {
				return err
			}
			if frame := c.Frame(); frame != nil && (c.Full() || msg.Type == wire.TypeCopyDone) {
				put(frame)
				c.Reset()
			}
			if msg.Type == wire.TypeCopyDone || msg.Type == wire.TypeError {
				r.rest = rest
				return r.endOfRows(ctx, msg)
			}
		}
		n, err := g.read(r.conn, r.block)
		if n == 0 && err != nil {
			return because(context.Cause(ctx), lostConnection(err))
		}
		// Only the end of ctx breaks the pace, and that ends the source's statement by itself.
		_ = g.pace(ctx, n)
		rows(c.Frames() - told)
		told = c.Frames()
		rest = r.block[:n]
		if n < shortRead {
			time.Sleep(nap)
		}
	}
}

// endOfRows reads what comes behind the last row, and returns why it was the last when that is not the end of the rows.
func (r *raw) endOfRows(ctx context.Context, last wire.Message) error {
	var failure error
	if last.Type == wire.TypeError {
		failure = because(context.Cause(ctx), serverError(last.Body))
	}
	_, err := r.finish()
	return errors.Join(failure, err)
}
