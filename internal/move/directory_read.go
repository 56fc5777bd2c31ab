package move

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/pghaul/pghaul/internal/datadir"
	"github.com/pghaul/pghaul/internal/wire"
	"github.com/pghaul/pghaul/planner"
)

// decodeInto decodes a range of a data directory into a COPY FROM STDIN of the target, and returns the target's count. It decodes and
// sends in turn from one goroutine: the socket's buffer keeps the server busy meanwhile.
func decodeInto(ctx context.Context, w *worker, r planner.Range, writeSQL string) (int64, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	in, err := w.dst.copyIn(ctx, writeSQL)
	if err != nil {
		return 0, &sideError{side: "target", err: err}
	}
	deaf := listen(in, cancel)
	var writeErr error
	readErr := w.files.read(ctx, r, func(frame []byte, rows int64) error {
		if err := w.gauge.pace(ctx, len(frame)); err != nil {
			return err
		}
		if writeErr = sendFrame(w.gauge, in, frame); writeErr != nil {
			cancel(errCopyEnded)
			return errCopyEnded
		}
		w.gauge.moved(rows, 0)
		return nil
	})
	deaf()
	if readErr != nil {
		readErr = because(context.Cause(ctx), readErr)
	}
	return settleRelay(context.Cause(ctx), in, readErr, writeErr)
}

// read decodes a range and gives it to put in CopyData frames, header included, each good until put returns, with the number of rows that
// end in it. An error of put ends the reading.
func (d *decoder) read(ctx context.Context, r planner.Range, put func(frame []byte, rows int64) error) error {
	p, err := d.part(r.Part)
	if err != nil {
		return err
	}
	f := framer{put: put}
	f.renew()
	options := &datadir.ScanOptions{From: uint32(r.FromPage), To: uint32(r.ToPage)}
	if d.at.skip {
		options.Damaged = func(block uint32, line int, err error) { d.seen.leaveOut(p.file, block, line, err) }
	}
	err = d.at.db.Scan(ctx, p.table, options, func(row datadir.Row) error {
		damage := func(err error) error { return &datadir.Damage{Block: row.Block, Line: row.Line, Cause: err} }
		large := p.hasLarge(row)
		if large && d.at.skip {
			if err := p.probe(row); err != nil {
				return damage(err)
			}
		}
		had := len(f.buffer)
		if err := p.writeRow(&f, row); err != nil {
			if put, ok := fromReceiver(err); ok {
				return put
			}
			if large && d.at.skip { // It was good a moment ago.
				return fmt.Errorf("read %s again: %w", p.file, err)
			}
			if !large {
				f.buffer = f.buffer[:had]
			}
			return damage(err)
		}
		return f.ended()
	})
	if err == nil {
		err = f.flush()
	}
	d.seen.rows.Add(f.total)
	var damage *datadir.Damage
	if errors.As(err, &damage) {
		return damaged(p, damage)
	}
	return err
}

// damaged is the error of a copy that ends at damage.
func damaged(p *partDecoder, d *datadir.Damage) error {
	return &planner.Error{Message: "cannot read all rows of " + p.name, Detail: "The damage is in " + p.file + ".",
		Hint: "Use --skip-damaged to copy all rows but the damaged ones, which are counted and reported.", Cause: d}
}

// mostKept is how large a buffer is kept after a large row.
const mostKept = 1 << 20

// framer gathers rows into frames.
type framer struct {
	put    func(frame []byte, rows int64) error
	buffer []byte // room for a header, then rows
	rows   int64  // that end in buffer
	total  int64
}

func (f *framer) renew() { f.buffer = make([]byte, wire.HeaderSize, 2*wire.FrameSize) }

// ended notes the end of a row.
func (f *framer) ended() error {
	f.rows++
	f.total++
	return f.room()
}

// room sends what is full.
func (f *framer) room() error {
	if len(f.buffer) < wire.HeaderSize+wire.FrameSize {
		return nil
	}
	rest, err := f.send(wire.FrameSize)
	if err != nil {
		return err
	}
	if cap(f.buffer) > mostKept { // Rows of hundreds of megabytes are rare, and memory is bounded.
		f.renew()
	}
	f.buffer = append(f.buffer[:wire.HeaderSize], rest...)
	return nil
}

// flush sends what is left.
func (f *framer) flush() error {
	_, err := f.send(1)
	return err
}

// send sends frames as long as at least so many bytes are there, and returns what is left. Each header overwrites the end of what has been
// sent before it.
func (f *framer) send(least int) ([]byte, error) {
	body := f.buffer
	for len(body)-wire.HeaderSize >= least {
		n := min(len(body)-wire.HeaderSize, wire.FrameSize)
		wire.PutCopyDataHeader(body, n)
		rows := f.rows
		f.rows = 0
		if err := f.put(body[:wire.HeaderSize+n], rows); err != nil {
			return nil, err
		}
		body = body[n:]
	}
	return body[wire.HeaderSize:], nil
}

// fileStream gives a range of a data directory to a method that looks into rows. A goroutine decodes ahead by two pieces.
type fileStream struct {
	pieces chan []byte
	free   chan []byte
	taken  []byte // given out by next
	cancel context.CancelFunc
	failed error // valid when pieces is closed
}

// stream starts to decode a range. The context bounds the whole stream, up to close.
func (d *decoder) stream(ctx context.Context, r planner.Range) *fileStream {
	ctx, cancel := context.WithCancel(ctx)
	s := &fileStream{pieces: make(chan []byte, 1), free: make(chan []byte, 2), cancel: cancel}
	for range cap(s.free) {
		s.free <- nil
	}
	go func() {
		defer close(s.pieces)
		err := d.read(ctx, r, func(frame []byte, _ int64) error {
			select {
			case piece := <-s.free:
				s.pieces <- append(piece[:0], frame[wire.HeaderSize:]...)
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		if err != nil {
			err = because(context.Cause(ctx), err)
		}
		s.failed = err
	}()
	return s
}

// next returns the next piece.
func (s *fileStream) next() ([]byte, error) {
	if s.taken != nil {
		s.free <- s.taken
		s.taken = nil
	}
	piece, more := <-s.pieces
	if more {
		s.taken = piece
		return piece, nil
	}
	if s.failed != nil {
		return nil, s.failed
	}
	return nil, io.EOF
}

func (s *fileStream) ready() bool { return len(s.pieces) > 0 }

func (s *fileStream) whole() bool { return true }

// forward gives the rest of the stream to put.
func (s *fileStream) forward(ctx context.Context, g *gauge, put func(p []byte)) error {
	for {
		piece, err := s.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := g.pace(ctx, len(piece)); err != nil {
			return err
		}
		put(piece)
	}
}

// close ends the goroutine and waits for it.
func (s *fileStream) close() error {
	s.cancel()
	for range s.pieces {
		continue // What was decoded ahead is not wanted.
	}
	return nil
}
