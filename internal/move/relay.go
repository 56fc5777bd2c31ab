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
	return relayInto(ctx, w, r, w.plan.WriteSQL(r))
}

// relayInto moves a range by COPY from wherever the worker reads.
func relayInto(ctx context.Context, w *worker, r planner.Range, writeSQL string) (int64, error) {
	if w.files != nil {
		return decodeInto(ctx, w, r, writeSQL)
	}
	return forwardInto(ctx, w, w.plan.ReadSQL(r), writeSQL)
}

// forwardInto forwards what a COPY TO STDOUT of the source yields into a COPY FROM STDIN of the target, and returns the target's count.
// The rows are not looked at: only the frames around them are joined. Both sockets are read at all times, since either server may
// speak up while the other is waited for. When either side fails or ctx ends, both statements are stopped and their end is waited for.
func forwardInto(ctx context.Context, w *worker, readSQL, writeSQL string) (int64, error) {
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
	case writeErr != nil && (cause == nil || errors.Is(cause, errCopyEnded)):
		return 0, &sideError{side: "target", err: writeErr}
	case readErr != nil && !errors.Is(readErr, errCopyEnded):
		return 0, &sideError{side: "source", err: readErr}
	case writeErr != nil: // A write that was under way when the run was stopped.
		return 0, &sideError{side: "target", err: because(cause, writeErr)}
	case failErr != nil && errors.Is(cause, errCopyEnded) && in.outcome != nil:
		return 0, &sideError{side: "target", err: in.outcome}
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

// pump forwards one COPY.
type pump struct {
	gauge  *gauge
	src    *raw
	in     *copyIn
	cancel context.CancelCauseFunc
	failed error // of the target
}

// run runs the source's COPY and sends what it yields until it ends. When the target fails it goes on reading, without sending, until the
// cancelled source has ended too.
func (p *pump) run(ctx context.Context, sql string) (readErr, writeErr error) {
	err := p.src.start(sql, wire.TypeCopyOut)
	if err == nil {
		err = p.src.frames(ctx, p.gauge, func(frame []byte) { p.send(ctx, frame) }, func(n int64) { p.gauge.moved(n, 0) })
	}
	if err != nil {
		p.cancel(err)
		err = because(context.Cause(ctx), err)
	}
	return err, p.failed
}

// send sends one frame, unless there is no more use in it.
func (p *pump) send(ctx context.Context, frame []byte) {
	if p.failed != nil || ctx.Err() != nil {
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
