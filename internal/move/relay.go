package move

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/pghaul/pghaul/internal/wire"
	"github.com/pghaul/pghaul/planner"
)

// errCopyEnded tells the source's reader that the target has failed already.
var errCopyEnded = errors.New("the target takes no more rows")

// carryRelay is the carrier of method relay.
func carryRelay(ctx context.Context, w *worker, r planner.Range) (int64, error) {
	return relayInto(ctx, w, w.plan.ReadSQL(r), w.plan.WriteSQL(r))
}

// relayInto forwards what a COPY TO STDOUT of the source yields into a COPY FROM STDIN of the target, and returns the target's count.
// The rows are not looked at: only the frames around them are joined. Both sockets are read at all times, since either server may
// speak up while the other is waited for. When either side fails or ctx ends, both statements are stopped and their end is waited for.
func relayInto(ctx context.Context, w *worker, readSQL, writeSQL string) (int64, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	in, err := w.dst.copyIn(ctx, writeSQL)
	if err != nil {
		return 0, &sideError{side: "target", err: err}
	}
	src, err := w.src.takeOver(ctx)
	if err != nil {
		return 0, &sideError{side: "source", err: errors.Join(err, in.fail("the source cannot be read"))}
	}
	halt := watch(ctx, w.src)
	deaf := listen(in, cancel)
	p := pump{gauge: w.gauge, src: src, in: in, cancel: cancel}
	readErr, writeErr := p.run(ctx, readSQL)
	deaf()
	halt()
	if back := src.giveBack(); back != nil && readErr == nil {
		readErr = back
	}
	return settleRelay(context.Cause(ctx), in, readErr, writeErr)
}

// settleRelay ends the target's statement as the two directions have ended, and picks the error that came first.
func settleRelay(cause error, in *copyIn, readErr, writeErr error) (int64, error) {
	if readErr == nil && writeErr == nil && cause == nil {
		rows, err := in.done()
		if err != nil {
			return 0, &sideError{side: "target", err: err}
		}
		return rows, nil
	}
	failErr := in.fail("the source could not be read to its end")
	switch {
	case writeErr != nil:
		return 0, &sideError{side: "target", err: writeErr}
	case readErr != nil && !errors.Is(readErr, errCopyEnded):
		return 0, &sideError{side: "source", err: readErr}
	case failErr != nil:
		return 0, &sideError{side: "target", err: failErr}
	}
	return 0, cause
}

// listen ends the source's statement when the target's has ended. The target may fail while nothing is written to it, for instance when it
// is shut down. The function that it returns ends the listening and waits for it.
func listen(in *copyIn, cancel context.CancelCauseFunc) (deaf func()) {
	stopped := make(chan struct{})
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		select {
		case <-in.answer:
			cancel(errCopyEnded)
		case <-stopped:
		}
	}()
	return func() {
		close(stopped)
		<-heard
	}
}

// pump forwards one COPY. It reads and writes in turn from one goroutine: the sockets' own buffers keep both servers busy meanwhile, and
// handing blocks from one goroutine to another took a third more processor time from servers on the same machine.
type pump struct {
	gauge   *gauge
	src     *raw
	in      *copyIn
	cancel  context.CancelCauseFunc
	counted int64 // source frames that the gauge has heard of
	failed  error // of the target
}

// run runs the source's COPY and sends what it yields until it ends. When the target fails it goes on reading, without sending, until the
// cancelled source has ended too.
func (p *pump) run(ctx context.Context, sql string) (readErr, writeErr error) {
	if err := p.src.start(sql, wire.TypeCopyOut); err != nil {
		p.cancel(err)
		return because(context.Cause(ctx), err), nil
	}
	c := wire.NewCoalescer(0)
	rest := p.src.rest // what came together with CopyOutResponse
	p.src.rest = nil
	for {
		for len(rest) > 0 {
			used, msg, err := c.Push(rest)
			rest = rest[used:]
			if err != nil {
				p.cancel(err)
				return err, p.failed
			}
			if c.Full() || msg.Type == wire.TypeCopyDone {
				p.send(ctx, c)
			}
			if msg.Type == wire.TypeCopyDone || msg.Type == wire.TypeError {
				p.src.rest = rest
				return p.end(ctx, msg), p.failed
			}
		}
		n, err := p.gauge.read(ctx, p.src.conn, p.src.block)
		if n == 0 && err != nil {
			p.cancel(err)
			return because(context.Cause(ctx), lostConnection(err)), p.failed
		}
		p.gauge.moved(c.Frames()-p.counted, 0)
		p.counted = c.Frames()
		rest = p.src.block[:n]
	}
}

// end reads what comes behind the source's last row, and returns why it was the last when that is not the end of the rows.
func (p *pump) end(ctx context.Context, last wire.Message) error {
	var failure error
	if last.Type == wire.TypeError {
		failure = because(context.Cause(ctx), serverError(last.Body))
	}
	_, err := p.src.finish()
	return errors.Join(failure, err)
}

// send sends the frame that has been filled, unless there is no more use in it.
func (p *pump) send(ctx context.Context, c *wire.Coalescer) {
	defer c.Reset()
	frame := c.Frame()
	if frame == nil || p.failed != nil || ctx.Err() != nil {
		return
	}
	if p.failed = sendFrame(p.gauge, p.in, frame); p.failed != nil {
		p.cancel(errCopyEnded)
	}
}

// sendFrame sends one frame unless the target has failed.
func sendFrame(g *gauge, in *copyIn, frame []byte) error {
	select {
	case <-in.answer:
		if in.outcome == nil {
			return io.ErrUnexpectedEOF
		}
		return in.outcome
	default:
	}
	began := time.Now()
	err := in.raw.send(frame)
	g.wrote(len(frame)-wire.HeaderSize, time.Since(began))
	if err != nil {
		// The server's own word about why it closed the connection says more than the failed write.
		<-in.answer
		return errors.Join(in.outcome, lostConnection(err))
	}
	return nil
}

// sideError says on which side a statement failed.
type sideError struct {
	side string // "source" or "target"
	err  error
}

func (e *sideError) Error() string { return e.side + ": " + e.err.Error() }

func (e *sideError) Unwrap() error { return e.err }
