package move

import (
	"context"
	"io"
	"time"

	"github.com/pghaul/pghaul/internal/copyfmt"
	"github.com/pghaul/pghaul/planner"
)

// rowLimit is the size of a row above which it goes alone and in pieces. The reader holds up to four times as much.
const rowLimit = 1 << 20

// stream is a range as the source gives it, in COPY format and in pieces that know nothing of rows.
type stream interface {
	// next returns the next piece, which is good until the next call, and io.EOF behind the last.
	next() ([]byte, error)
	// ready reports whether next has a piece without waiting.
	ready() bool
	// whole reports whether the next piece is the beginning of a frame of the source, where forward can start.
	whole() bool
	// forward gives all that follows to put, in frames or pieces of them without headers.
	forward(ctx context.Context, g *gauge, put func(p []byte)) error
	// close stops what was not read, and waits for its end.
	close() error
}

// rowSource is the rows of one range as they come from the source, decoded one by one for as long as that is wanted.
type rowSource struct {
	out    stream
	gauge  *gauge
	pace   func(n int) error
	reader copyfmt.Reader
	piece  []byte // the last piece of the stream
	given  int    // how much of piece the reader has been given
	held   int64  // bytes that the reader was given and has not handed out as rows
	row    int64  // number of the last row in the range, from 1
	binary bool
	ended  bool // there are no more rows
}

// openSource starts to read a range. The context bounds the whole stream, up to close.
func openSource(ctx context.Context, w *worker, r planner.Range) (*rowSource, error) {
	var out stream
	var err error
	if w.files != nil {
		out = w.files.stream(ctx, r)
	} else {
		out, err = w.src.copyOut(ctx, w.plan.ReadSQL(r))
	}
	if err != nil {
		return nil, err
	}
	s := &rowSource{out: out, gauge: w.gauge, binary: w.plan.Format == planner.Binary}
	s.pace = func(n int) error { return w.gauge.pace(ctx, n) }
	s.reader = copyfmt.NewReader(s, s.binary, len(w.plan.Columns), rowLimit)
	if s.binary {
		s.held = -int64(len(copyfmt.AppendBinaryHeader(nil)))
	}
	return s, nil
}

// fetch gets the next piece of the stream.
func (s *rowSource) fetch() error {
	// A server sends a piece for each row, and most lie ready: only those that are waited for are worth a look at the clock.
	waits := !s.out.ready()
	var began time.Time
	if waits {
		began = time.Now()
	}
	piece, err := s.out.next()
	if waits {
		s.gauge.reading.Add(int64(time.Since(began)))
		s.gauge.signs.Add(1)
	}
	if err != nil {
		return err
	}
	s.piece, s.given = piece, 0
	return s.pace(len(piece))
}

// Read gives the stream to the reader, never more than one piece at once: so whatever the reader has not handed out as rows is the end
// of what it was given of the last piece.
func (s *rowSource) Read(p []byte) (int, error) {
	if s.given == len(s.piece) {
		if err := s.fetch(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.piece[s.given:])
	s.given += n
	s.held += int64(n)
	return n, nil
}

// next returns the next row, io.EOF behind the last.
func (s *rowSource) next() (*copyfmt.Row, error) {
	row, err := s.reader.Next()
	if err != nil {
		s.ended = true
		return nil, err
	}
	s.row++
	if !row.Large {
		s.held -= int64(len(row.Raw))
		if !s.binary {
			s.held-- // the line feed
		}
	}
	return row, nil
}

// large returns the bytes of the large row that next has returned.
func (s *rowSource) large() io.Reader { return &largeRow{source: s, rest: s.reader.LargeRow()} }

// largeRow counts what is taken of a large row.
type largeRow struct {
	source *rowSource
	rest   io.Reader
}

func (l *largeRow) Read(p []byte) (int, error) {
	n, err := l.rest.Read(p)
	l.source.held -= int64(n)
	return n, err
}

// remainder gives the stream behind the last row, as it comes, to write. No more rows can be read after it. When write fails, stop is told
// and the rest is read to its end without being written.
func (s *rowSource) remainder(ctx context.Context, write func(p []byte) error, stop context.CancelCauseFunc) (readErr, writeErr error) {
	put := func(p []byte) {
		if writeErr == nil && len(p) > 0 {
			if writeErr = write(p); writeErr != nil {
				stop(errCopyEnded)
			}
		}
	}
	put(s.piece[s.given-int(s.held):])
	// The rest of a frame of which a part has been given out.
	for !s.out.whole() {
		if err := s.fetch(); err != nil {
			return err, writeErr
		}
		put(s.piece)
	}
	readErr = s.out.forward(ctx, s.gauge, put)
	return readErr, writeErr
}

// close gives the source's connection back, after cancelling what was not read.
func (s *rowSource) close() error { return s.out.close() }
