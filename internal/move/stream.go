package move

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/pghaul/pghaul/internal/wire"
)

// copyOut is a COPY TO STDOUT that is being read by a method that looks into rows.
type copyOut struct {
	raw    *raw
	cause  func() error // why the context ended, nil while it has not
	halt   func()       // ends the watch over the context
	rows   int64
	ended  bool  // ReadyForQuery came
	failed error // sticks
}

// copyOut starts a COPY ... TO STDOUT. The context bounds the whole stream, up to close.
func (s *session) copyOut(ctx context.Context, sql string) (*copyOut, error) {
	r, err := s.takeOver(ctx)
	if err != nil {
		return nil, err
	}
	o := &copyOut{raw: r, cause: func() error { return context.Cause(ctx) }, halt: watch(ctx, s)}
	if err := r.start(sql, wire.TypeCopyOut); err != nil {
		o.ended = true
		return nil, errors.Join(because(o.cause(), err), o.close())
	}
	return o, nil
}

// next returns the next piece of the stream, which may hold a part of a row and is good until the next call. It returns io.EOF once
// the server has said that the copy is complete.
func (o *copyOut) next() ([]byte, error) {
	for o.failed == nil && !o.ended {
		event, err := o.raw.receive()
		if err != nil {
			o.failed = because(o.cause(), err)
			break
		}
		switch event.Type {
		case wire.TypeCopyData:
			if len(event.Body) > 0 {
				return event.Body, nil
			}
		case wire.TypeCommandComplete:
			if o.rows, err = commandRows(event.Body); err != nil {
				o.failed = err
			}
		case wire.TypeError:
			o.failed = because(o.cause(), serverError(event.Body))
			o.ended = true
			if _, err := o.raw.finish(); err != nil {
				o.failed = errors.Join(o.failed, err)
			}
		case wire.TypeReadyForQuery:
			o.ended = true
		}
	}
	if o.failed != nil {
		return nil, o.failed
	}
	return nil, io.EOF
}

// ready reports whether what was read of the socket holds more.
func (o *copyOut) ready() bool { return len(o.raw.rest) > 0 }

// whole reports whether the stream stands between two frames of the server.
func (o *copyOut) whole() bool { return o.raw.scan.Idle() }

// forward gives the rest of the stream to put, in pieces as large as frames.
func (o *copyOut) forward(ctx context.Context, g *gauge, put func(p []byte)) error {
	err := o.raw.frames(ctx, g, func(frame []byte) { put(frame[wire.HeaderSize:]) }, func(int64) {})
	o.ended = o.raw.tx != 0
	o.failed = err
	return err
}

// close gives the connection back to the session. A copy that was not read to its end is cancelled first.
func (o *copyOut) close() error {
	if o.raw == nil {
		return nil
	}
	if !o.ended {
		stopped := make(chan struct{})
		watched := make(chan struct{})
		go func() {
			defer close(watched)
			o.raw.session.cancelUntil(stopped)
		}()
		// The answer to a cancel is an error that was asked for.
		_, _ = o.raw.finish()
		close(stopped)
		<-watched
	}
	o.halt()
	err := o.raw.giveBack()
	o.raw = nil
	return err
}

// copyIn is a COPY FROM STDIN that is being written by a method that looks into rows.
type copyIn struct {
	raw     *raw
	cause   func() error
	halt    func()
	frame   []byte        // header and payload of the frame that is being filled
	answer  chan struct{} // closed once the server has answered for good
	rows    int64
	outcome error // valid when answer is closed
}

// copyIn starts a COPY ... FROM STDIN. The context bounds the whole stream, up to done or fail.
func (s *session) copyIn(ctx context.Context, sql string) (*copyIn, error) {
	r, err := s.takeOver(ctx)
	if err != nil {
		return nil, err
	}
	c := &copyIn{raw: r, cause: func() error { return context.Cause(ctx) }, halt: watch(ctx, s)}
	if err := r.start(sql, wire.TypeCopyIn); err != nil {
		c.halt()
		return nil, errors.Join(because(c.cause(), err), r.giveBack())
	}
	c.frame = make([]byte, wire.HeaderSize, wire.HeaderSize+wire.FrameSize)
	c.answer = make(chan struct{})
	go func() {
		defer close(c.answer)
		// Notices come while rows are sent: unless somebody reads them, both ends wait for each other.
		c.rows, c.outcome = r.finish()
	}()
	return c, nil
}

// write adds bytes to the stream. An error means that the copy has failed; the session can be used after fail.
func (c *copyIn) write(p []byte) error {
	for len(p) > 0 {
		n := min(len(p), cap(c.frame)-len(c.frame))
		c.frame = append(c.frame, p[:n]...)
		p = p[n:]
		if len(c.frame) == cap(c.frame) {
			if err := c.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush sends the frame that is being filled.
func (c *copyIn) flush() error {
	select {
	case <-c.answer:
		if c.outcome != nil {
			return because(c.cause(), c.outcome)
		}
		return errors.New("the server ended the copy early")
	default:
	}
	// A server that waits for rows does not look for cancels.
	if err := c.cause(); err != nil {
		return err
	}
	if len(c.frame) == wire.HeaderSize {
		return nil
	}
	wire.PutCopyDataHeader(c.frame, len(c.frame)-wire.HeaderSize)
	err := c.raw.send(c.frame)
	c.frame = c.frame[:wire.HeaderSize]
	if err != nil {
		return because(c.cause(), lostConnection(err))
	}
	return nil
}

// done ends the stream and returns the server's count of the rows that it took.
func (c *copyIn) done() (int64, error) {
	if err := c.flush(); err != nil {
		return 0, errors.Join(err, c.fail("the rest could not be sent"))
	}
	return c.end(wire.AppendCopyDone(nil))
}

// fail ends the stream so that none of its rows stay. It returns nil when the server has agreed.
func (c *copyIn) fail(reason string) error {
	if c.raw == nil {
		return nil
	}
	_, err := c.end(wire.AppendCopyFail(nil, reason))
	if hasState(err, stateQueryCanceled) {
		return nil
	}
	return err
}

// end sends the last message, waits for the answer and gives the connection back.
func (c *copyIn) end(last []byte) (int64, error) {
	select {
	case <-c.answer: // It failed: the server takes no more of this copy.
	default:
		if err := c.raw.send(last); err != nil {
			_ = c.raw.conn.Close()
		}
	}
	<-c.answer
	c.halt()
	err := c.outcome
	if back := c.raw.giveBack(); back != nil && err == nil { // After an error of the connection this one follows from it.
		err = fmt.Errorf("give back the connection to %s: %w", c.raw.session.address, back)
	}
	c.raw = nil
	if err != nil {
		return 0, because(c.cause(), err)
	}
	return c.rows, nil
}
