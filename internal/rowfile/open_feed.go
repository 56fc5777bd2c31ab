package rowfile

import (
	"fmt"
	"io"

	"github.com/pghaul/pghaul/planner"
)

// feed cuts contents into blocks of whole rows. It serves the formats whose rows end where the bytes alone say so.
type feed struct {
	*contents
	name  string
	file  int
	ends  rowEnds
	pos   Position
	limit int64 // rows still to come, -1 for all
	rest  []byte
	err   error // of the contents, io.EOF at their end
	stuck error // what Next answers from now on
}

// rowEnds finds the ends of rows.
type rowEnds interface {
	// cut returns how far whole rows go in data, at most limit of them, and how many rows and lines they are. The first seen bytes are known to
	// have no row end. last says that nothing follows data. stop: no rows come behind these, whatever follows.
	cut(data []byte, seen int, last bool, limit int64) (c cut, err error)
	// large passes the row that data begins with, the rest of it coming from r, to the spool and returns what is left of the bytes read.
	large(data []byte, r io.Reader, to io.Writer) (rest []byte, lines int64, err error)
}

// cut is what rowEnds found.
type cut struct {
	end         int
	rows, lines int64
	stop        bool
}

// rowsLeft is how many of limit rows are still to come behind those before, -1 for all.
func rowsLeft(limit, before int64) int64 {
	if limit <= 0 {
		return -1
	}
	return max(0, limit-before)
}

func newFeed(c *contents, name string, file int, ends rowEnds, pos Position, limit int64) *feed {
	return &feed{contents: c, name: name, file: file, ends: ends, pos: pos, limit: limit}
}

// Next implements Stream.
func (f *feed) Next() (*Block, error) {
	if f.stuck != nil {
		return nil, f.stuck
	}
	b, err := f.next()
	if err != nil {
		f.stuck = err
		return nil, err
	}
	f.pos = b.Next
	return b, nil
}

func (f *feed) next() (*Block, error) {
	if f.limit == 0 {
		return nil, io.EOF
	}
	buf := make([]byte, 0, max(BlockSize, 2*len(f.rest)))
	buf = append(buf, f.rest...)
	f.rest = f.rest[:0]
	for seen := 0; ; {
		buf = f.fill(buf, cap(buf))
		if f.err != nil && f.err != io.EOF { //nolint:errorlint // the bare io.EOF alone is the end
			return nil, f.err
		}
		last := f.err != nil
		c, err := f.ends.cut(buf, seen, last, f.limit)
		if err != nil {
			return nil, f.broken(err)
		}
		if c.end > 0 || last || c.stop {
			return f.block(buf, c)
		}
		if seen = len(buf); seen >= LargeRow {
			return f.large(buf)
		}
		buf = append(make([]byte, 0, min(2*cap(buf), LargeRow)), buf...)
	}
}

// fill reads until buf has size bytes or the contents end.
func (f *feed) fill(buf []byte, size int) []byte {
	for len(buf) < size && f.err == nil {
		n, err := readSome(f.Reader, buf[len(buf):size])
		buf, f.err = buf[:len(buf)+n], err
	}
	return buf
}

// block hands out what was cut, or io.EOF when there are no rows in it.
func (f *feed) block(buf []byte, c cut) (*Block, error) {
	if c.stop {
		f.limit = 0
	} else {
		f.rest = append(f.rest, buf[c.end:]...)
	}
	next := Position{Offset: f.pos.Offset + int64(c.end), Line: f.pos.Line + c.lines, Row: f.pos.Row + c.rows}
	if c.rows == 0 {
		f.pos = next
		if f.err == nil && !c.stop {
			return f.next() // blank lines alone
		}
		return nil, io.EOF
	}
	if f.limit > 0 {
		f.limit -= c.rows
	}
	return &Block{File: f.file, Begin: f.pos, Data: buf[:c.end:c.end], Next: next}, nil
}

// large spools the row that buf begins with.
func (f *feed) large(buf []byte) (*Block, error) {
	to, err := newScratch()
	if err != nil {
		return nil, err
	}
	rest, lines, err := f.ends.large(buf, f.Reader, to)
	if err != nil {
		to.release()
		return nil, f.broken(err)
	}
	f.rest = append(f.rest[:0], rest...)
	if f.limit > 0 {
		f.limit--
	}
	return &Block{
		File: f.file, Begin: f.pos, Large: &Large{Raw: to, Size: to.size, Release: to.release},
		Next: Position{Offset: f.pos.Offset + to.size, Line: f.pos.Line + lines, Row: f.pos.Row + 1},
	}, nil
}

// broken names the place of an error.
func (f *feed) broken(err error) error {
	if own, ok := err.(*planner.Error); ok { //nolint:errorlint // what is complete already
		return own
	}
	return &planner.Error{
		Message: "could not read rows of " + fileWords(f.name), Cause: err,
		Detail: fmt.Sprintf("The rows up to byte %d, %d of them, could be read.", f.pos.Offset, f.pos.Row),
	}
}

// Consumed implements Stream.
func (f *feed) Consumed() int64 { return f.consumed() }

// Close implements Stream.
func (f *feed) Close() error {
	f.close()
	return nil
}
