package move

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"sync"

	"github.com/pghaul/pghaul/internal/rowfile"
	"github.com/pghaul/pghaul/planner"
)

// rowPlaces remembers which rows of the input are in which pages: two bytes a page, and about a hundred for each megabyte of rows.
type rowPlaces struct {
	lock   sync.Mutex
	groups []groupPlace
}

// groupPlace is the place of the rows of a group of pieces: base, base+1 and so on, each with so many lines.
type groupPlace struct {
	base   uint32
	lines  []uint16
	pieces []piecePlace
}

// piecePlace is where a piece began, and which of its rows were refused.
type piecePlace struct {
	file  int
	begin rowfile.Position
	rows  int // that are in the pages
	bad   []int64
}

// add notes a group.
func (p *rowPlaces) add(base uint32, lines []uint16, pieces []*piece) {
	if len(lines) == 0 { // The next group has the same base.
		return
	}
	g := groupPlace{base: base, lines: lines}
	for _, from := range pieces {
		at := piecePlace{file: from.block.File, begin: from.block.Begin, rows: from.rows}
		for _, b := range from.bad {
			at.bad = append(at.bad, b.span.Number)
		}
		g.pieces = append(g.pieces, at)
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	p.groups = append(p.groups, g)
}

// sort puts the groups in order, once all are known.
func (p *rowPlaces) sort() {
	slices.SortFunc(p.groups, func(a, b groupPlace) int { return int(int64(a.base) - int64(b.base)) })
}

// tid is the place of a tuple.
type tid struct {
	block uint32
	line  uint16
}

// String writes it as the server does.
func (t tid) String() string { return fmt.Sprintf("(%d,%d)", t.block, t.line) }

func parseTid(text string) (t tid, err error) {
	_, err = fmt.Sscanf(text, "(%d,%d)", &t.block, &t.line)
	return t, err
}

// find returns the piece that a tuple's row came from, and the number of the row within it, refused ones counted.
func (p *rowPlaces) find(at tid) (*piecePlace, int64, error) {
	i := sort.Search(len(p.groups), func(i int) bool { return p.groups[i].base > at.block }) - 1
	if i < 0 || int(at.block-p.groups[i].base) >= len(p.groups[i].lines) {
		return nil, 0, fmt.Errorf("no row was written to %s", at)
	}
	g := &p.groups[i]
	n := int(at.line) - 1
	for _, lines := range g.lines[:at.block-g.base] {
		n += int(lines)
	}
	for i := range g.pieces {
		from := &g.pieces[i]
		if n >= from.rows {
			n -= from.rows
			continue
		}
		number := int64(n)
		for _, bad := range from.bad { // which are in order
			if bad <= number {
				number++
			}
		}
		return from, number, nil
	}
	return nil, 0, fmt.Errorf("no row was written to %s", at)
}

// oddRow is a row that was written, and why it has to go.
type oddRow struct {
	at  tid
	why *rowfile.RowError
}

// inputAgain reads parts of the input a second time, of each file in their order.
type inputAgain struct {
	load   *load
	places *rowPlaces
	open   []*fileAgain // the last one used is the last
}

// fileAgain is a file that is read a second time.
type fileAgain struct {
	file   int
	stream rowfile.Stream
	next   rowfile.Position
}

// openAgain is how many files are kept open. Files that were read side by side take turns in the pages, and what is compressed can only be read on.
const openAgain = pageJobs

func (r *inputAgain) close() {
	for _, f := range r.open {
		_ = f.stream.Close() // It was only read.
	}
	r.open = nil
}

// hand gives the rows that have to go to take, as rows of the blocks that they are in. The rows are in the order of their places.
func (r *inputAgain) hand(ctx context.Context, rows []oddRow, take func(p *piece, bad []badRow) error) error {
	for len(rows) > 0 {
		from, _, err := r.places.find(rows[0].at)
		if err != nil {
			return err
		}
		wanted := map[int64]*rowfile.RowError{}
		for len(rows) > 0 {
			at, number, err := r.places.find(rows[0].at)
			if err != nil {
				return err
			}
			if at != from {
				break
			}
			wanted[number], rows = rows[0].why, rows[1:]
		}
		if err := r.piece(ctx, from, wanted, take); err != nil {
			return err
		}
	}
	return nil
}

// piece reads the rows of a piece again. It may be cut into other blocks now.
func (r *inputAgain) piece(ctx context.Context, from *piecePlace, wanted map[int64]*rowfile.RowError, take func(p *piece, bad []badRow) error) error {
	f, err := r.seek(ctx, from)
	if err != nil {
		return err
	}
	for first := int64(0); len(wanted) > 0; {
		block, err := f.block()
		if err != nil {
			return r.changed(from, err)
		}
		p := &piece{block: block}
		var bad []badRow
		count := int64(0)
		if block.Large == nil {
			err = r.load.rows.Parser().Parse(block, func(row *rowfile.Row) error {
				count++
				if why := wanted[first+row.Number]; why != nil {
					bad = append(bad, badRow{row.Span, why})
					delete(wanted, first+row.Number)
				}
				return nil
			})
		}
		if err == nil && len(bad) > 0 {
			err = take(p, bad)
		}
		p.release()
		if err != nil {
			return err
		}
		first += count
	}
	return nil
}

// block reads the next block.
func (f *fileAgain) block() (*rowfile.Block, error) {
	b, err := f.stream.Next()
	if err == nil {
		f.next = b.Next
	}
	return b, err
}

// seek goes to where a piece began. What is compressed is read on, since each opening of it would begin at its start.
func (r *inputAgain) seek(ctx context.Context, from *piecePlace) (*fileAgain, error) {
	at := slices.IndexFunc(r.open, func(f *fileAgain) bool { return f.file == from.file })
	if at >= 0 {
		f := r.open[at]
		r.open = append(slices.Delete(r.open, at, at+1), f)
		ahead := f.next.Offset <= from.begin.Offset && f.next.Row <= from.begin.Row
		if f.next == from.begin {
			return f, nil
		}
		if ahead && r.load.files[from.file].Compressed {
			return f, r.skip(f, from)
		}
		r.drop(len(r.open) - 1)
	}
	if len(r.open) == openAgain {
		r.drop(0)
	}
	stream, err := r.load.rows.Open(ctx, from.file, from.begin)
	if err != nil {
		return nil, err
	}
	f := &fileAgain{file: from.file, stream: stream, next: from.begin}
	r.open = append(r.open, f)
	return f, nil
}

// drop closes one file.
func (r *inputAgain) drop(at int) {
	_ = r.open[at].stream.Close() // It was only read.
	r.open = slices.Delete(r.open, at, at+1)
}

// skip reads on to where a piece began.
func (r *inputAgain) skip(f *fileAgain, from *piecePlace) error {
	for f.next.Offset < from.begin.Offset {
		b, err := f.block()
		if err != nil {
			return r.changed(from, err)
		}
		(&piece{block: b}).release()
	}
	if f.next.Offset != from.begin.Offset {
		return r.changed(from, io.ErrUnexpectedEOF)
	}
	return nil
}

// changed is the error when the input is not what it was.
func (r *inputAgain) changed(from *piecePlace, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &planner.Error{Message: r.load.files[from.file].Name + " has changed while it was loaded", Hint: "Run the same command again when nobody writes to it."}
	}
	return err
}
