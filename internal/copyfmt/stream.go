package copyfmt

import (
	"errors"
	"fmt"
	"io"
)

// boundary finds row ends in consecutive pieces of a stream.
type boundary interface {
	// first takes bytes of block up to the end of the current row, header
	// or trailer.
	first(block []byte) (n int, ended piece, err error)
	// inRow reports whether what was taken last belongs to a row.
	inRow() bool
	// finish says what the end of the stream ends: nothing or a row. begun
	// tells whether bytes were taken since the last end.
	finish(begun bool) (ended piece, err error)
}

// stream gives out rows undecoded, large ones in parts. Both readers are
// made of it.
type stream struct {
	window
	ends    boundary
	limit   int
	columns int
	row     Row
	rows    int64
	at      int64 // offset of the current row
	failed  error

	large bool // the current row is given out in parts
	known int  // bytes at the window's start that belong to it
	whole bool // it ends with these
}

func newStream(src io.Reader, ends boundary, columns, limit int) stream {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return stream{window: window{src: src}, ends: ends, columns: columns, limit: limit}
}

// Rows implements Reader.
func (s *stream) Rows() int64 { return s.rows }

// LargeRow implements Reader.
func (s *stream) LargeRow() io.Reader { return &largeRow{s: s, row: s.rows} }

// next returns the next row, header or trailer with its line end, or nil with
// large set. At the stream's end the error is io.EOF.
func (s *stream) next() (data []byte, ended piece, err error) {
	for s.large {
		part, err := s.part()
		if err != nil {
			return nil, nothing, err
		}
		s.drop(len(part))
	}
	s.at = s.offset
	data, ended, err = s.find()
	s.take(len(data))
	return data, ended, err
}

// find looks for the end of what begins at the window's start.
func (s *stream) find() (data []byte, ended piece, err error) {
	seen := 0
	for {
		if seen < len(s.data()) {
			n, ended, err := s.ends.first(s.data()[seen:])
			seen += n
			switch {
			case err != nil:
				return nil, nothing, err
			case ended == headerPiece || ended == trailerPiece:
				return s.data()[:seen], ended, nil
			case seen > s.limit && s.ends.inRow():
				s.large, s.known, s.whole = true, seen, ended != nothing
				return nil, rowPiece, nil
			case ended != nothing:
				return s.data()[:seen], ended, nil
			}
		}
		if !s.more() {
			ended, err := s.finish(seen > 0)
			return s.data()[:seen], ended, err
		}
	}
}

// finish says what the source's end means where it came.
func (s *stream) finish(begun bool) (ended piece, err error) {
	if s.err != io.EOF { //nolint:errorlint // the bare io.EOF alone is the end
		return nothing, brokenOff(s.err)
	}
	ended, err = s.ends.finish(begun)
	if err == nil && ended == nothing {
		err = io.EOF
	}
	return ended, err
}

// brokenOff returns a source's error. A source that broke off often wraps
// io.EOF, which a caller would take for the end of the data and lose rows.
func brokenOff(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("read rows: %w: %s", io.ErrUnexpectedEOF, err.Error())
	}
	return err
}

// part returns the next bytes of the large row, to be dropped by the caller
// when they are used. At the row's end it returns none and unsets large.
func (s *stream) part() ([]byte, error) {
	for s.known == 0 {
		if s.whole {
			s.large = false
			return nil, nil
		}
		if len(s.data()) == 0 && !s.more() {
			if _, err := s.finish(true); err != nil {
				return nil, s.fail(err)
			}
			s.whole = true
			continue
		}
		n, ended, err := s.ends.first(s.data())
		if err != nil {
			return nil, s.fail(err)
		}
		s.known, s.whole = n, ended != nothing
	}
	return s.data()[:s.known], nil
}

// drop passes over n bytes of the large row.
func (s *stream) drop(n int) {
	s.known -= n
	s.take(n)
}

// fail makes err stick.
func (s *stream) fail(err error) error {
	s.failed, s.large = err, false
	return err
}

// wrong makes the error of the current row, which is not counted yet.
func (s *stream) wrong(field int, problem string) error {
	return &FormatError{Row: s.rows + 1, Field: field, Offset: s.at, Problem: problem}
}

// largeRow reads one large row.
type largeRow struct {
	s   *stream
	row int64
}

// Read implements io.Reader.
func (l *largeRow) Read(p []byte) (int, error) {
	if l.row != l.s.rows {
		return 0, io.EOF
	}
	if !l.s.large {
		if l.s.failed != nil {
			return 0, l.s.failed
		}
		return 0, io.EOF
	}
	part, err := l.s.part()
	if err != nil {
		return 0, err
	}
	if !l.s.large {
		return 0, io.EOF
	}
	n := copy(p, part)
	l.s.drop(n)
	return n, nil
}
