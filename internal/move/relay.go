package move

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/pghaul/pghaul/internal/wire"
	"github.com/pghaul/pghaul/planner"
)

// ringSize is the number of 64 kB frames between the reader and the writer of one relay. Four keep both busy while one of them waits
// for the processor.
const ringSize = 4

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
	readErr, writeErr := pump(ctx, cancel, w, src, in, readSQL)
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

// pump runs the two directions until the source has ended or either side has failed.
func pump(ctx context.Context, cancel context.CancelCauseFunc, w *worker, src *raw, in *copyIn, readSQL string) (readErr, writeErr error) {
	frames := make(chan []byte, ringSize)
	empty := make(chan []byte, ringSize)
	for range ringSize {
		empty <- make([]byte, wire.HeaderSize+wire.FrameSize)
	}
	written := make(chan error, 1)
	go func() { written <- writeFrames(ctx, cancel, w.gauge, in, frames, empty) }()
	// The target may fail while nothing is written, for instance when it is shut down: its answer then stops the source too.
	pumped := make(chan struct{})
	listened := make(chan struct{})
	go func() {
		defer close(listened)
		select {
		case <-in.answer:
			cancel(errCopyEnded)
		case <-pumped:
		}
	}()
	readErr = readFrames(ctx, w.gauge, src, frames, empty, readSQL)
	if readErr != nil {
		cancel(readErr)
	}
	close(frames)
	writeErr = <-written
	close(pumped)
	<-listened
	return readErr, writeErr
}

// readFrames runs the source's COPY and turns its one-row frames into full ones.
func readFrames(ctx context.Context, g *gauge, src *raw, frames chan<- []byte, empty <-chan []byte, sql string) error {
	if err := src.start(sql, wire.TypeCopyOut); err != nil {
		return because(context.Cause(ctx), err)
	}
	c := wire.NewCoalescer(0)
	counted := int64(0)
	// The bytes behind CopyOutResponse that came with it.
	rest := src.rest
	src.rest = nil
	for {
		for len(rest) > 0 {
			used, msg, err := c.Push(rest)
			rest = rest[used:]
			if err != nil {
				return err
			}
			if msg.Type == wire.TypeCopyDone || msg.Type == wire.TypeError {
				if msg.Type == wire.TypeCopyDone {
					err = forward(ctx, c, frames, empty)
				} else {
					err = because(context.Cause(ctx), serverError(msg.Body))
				}
				src.rest = rest
				_, endErr := src.finish()
				return errors.Join(err, endErr)
			}
			if c.Full() {
				if err := forward(ctx, c, frames, empty); err != nil {
					return errors.Join(err, drain(c, src, rest))
				}
			}
		}
		n, err := g.read(ctx, src.conn, src.block)
		if n == 0 && err != nil {
			return because(context.Cause(ctx), lostConnection(err))
		}
		g.moved(c.Frames()-counted, 0)
		counted = c.Frames()
		rest = src.block[:n]
	}
}

// forward hands the frame that is being filled to the writer.
func forward(ctx context.Context, c *wire.Coalescer, frames chan<- []byte, empty <-chan []byte) error {
	if c.Len() == 0 {
		return nil
	}
	select {
	case next := <-empty:
		frames <- c.Swap(next)
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// drain reads a cancelled copy to its end.
func drain(c *wire.Coalescer, src *raw, rest []byte) error {
	for {
		for len(rest) > 0 {
			if c.Full() {
				c.Reset()
			}
			used, msg, err := c.Push(rest)
			rest = rest[used:]
			if err != nil {
				return err
			}
			// Whatever ends the copy: the message behind it is read like any other.
			if msg.Type == wire.TypeCopyDone || msg.Type == wire.TypeError {
				src.rest = rest
				_, err := src.finish()
				return err
			}
		}
		n, err := src.conn.Read(src.block)
		if n == 0 && err != nil {
			return lostConnection(err)
		}
		rest = src.block[:n]
	}
}

// writeFrames sends full frames to the target until the source has no more. After a failure it takes frames without sending them, so
// that the reader never waits for it.
func writeFrames(ctx context.Context, cancel context.CancelCauseFunc, g *gauge, in *copyIn, frames <-chan []byte, empty chan<- []byte) error {
	var failure error
	for frame := range frames {
		if failure == nil && ctx.Err() == nil {
			if failure = sendFrame(g, in, frame); failure != nil {
				cancel(errCopyEnded)
			}
		}
		empty <- frame[:cap(frame)]
	}
	return failure
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
