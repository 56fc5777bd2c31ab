package rowfile

import (
	"bytes"
	"fmt"
	"io"

	"github.com/pghaul/pghaul/planner"
)

// maxRow is more than any row may have that a server can take: 1 GB, with each byte escaped by four.
const maxRow = 4<<30 + 1<<20

// cutter cuts a stream of text into blocks of whole rows.
type cutter struct {
	r    io.Reader
	file int
	name string
	l    *Layout
	scan rowScan
	ends LineEnd
	// unit is 2 when the file is in UTF-16 and r converts it; offsets are then those of the file.
	unit int

	buf     []byte // from the next row on
	scanned int    // how much of buf scan has seen
	whole   bool   // nothing comes after buf
	at      Position
	begun   bool
	failed  error
}

var utf8BOM = []byte("\xef\xbb\xbf")

// newCutter returns the stream of a file's rows from a position on. r yields the decompressed contents from there on; the layout is complete and
// this file's own. Its Next is that of Stream.
func newCutter(r io.Reader, file int, name string, l *Layout, from Position) *cutter {
	c := &cutter{r: r, file: file, name: name, l: l, at: from, ends: l.Ends, unit: 1}
	if l.wideText() {
		c.unit = 2
		c.r = newUTF16Reader(r, l.Encoding == utf16BE)
	}
	c.scan = newRowScan(l, c.ends)
	return c
}

// Next implements Stream.
func (c *cutter) Next() (*Block, error) {
	if c.failed != nil {
		return nil, c.failed
	}
	b, err := c.next()
	if err != nil {
		c.failed = err
		c.buf = nil
		return nil, err
	}
	return b, nil
}

func (c *cutter) next() (*Block, error) {
	if !c.begun {
		if err := c.begin(); err != nil {
			return nil, err
		}
	}
	if c.l.Limit > 0 && c.at.Row >= c.l.Limit {
		return nil, io.EOF
	}
	if c.l.Format == Fixed && !c.l.Fixed.Lines {
		return c.records()
	}
	for size := BlockSize; ; size = 2 * len(c.buf) {
		if err := c.fill(min(size, LargeRow)); err != nil {
			return nil, err
		}
		end, rows, marker := c.scan.scan(c.buf, c.scanned)
		c.scanned = len(c.buf)
		if end == 0 && marker < 0 && c.whole && len(c.buf) > 0 {
			return c.last()
		}
		if rows > 0 {
			if marker >= 0 {
				c.scan = newRowScan(c.l, c.ends) // The next one begins at the marker and finds it again.
			}
			return c.block(end, int64(rows), marker >= 0), nil
		}
		switch {
		case marker >= 0:
			return nil, c.behindMarker()
		case len(c.buf) == 0:
			return nil, io.EOF
		case len(c.buf) >= LargeRow:
			return c.large()
		}
	}
}

// begin passes what stands before the first row: byte order mark, skipped lines, header.
func (c *cutter) begin() error {
	c.begun = true
	if c.at.Line > 0 {
		return nil
	}
	c.at.Line = 1
	if err := c.fill(BlockSize); err != nil {
		return err
	}
	if c.l.Format == Fixed && !c.l.Fixed.Lines {
		return c.skipRecords()
	}
	if bytes.HasPrefix(c.buf, utf8BOM) {
		c.drop(len(utf8BOM))
	}
	if err := c.findEnds(); err != nil {
		return err
	}
	lines := rowScan{term: c.scan.term}
	for range c.l.Skip {
		if more, err := c.skip(lines); err != nil || !more {
			return err
		}
	}
	if c.l.hasHeader() {
		_, err := c.skip(c.scan)
		return err
	}
	return nil
}

// findEnds finds how lines end where the first bytes of the file did not show it.
func (c *cutter) findEnds() error {
	shape := c.l
	if c.l.Skip > 0 {
		shape = &Layout{Format: Fixed} // Skipped lines have no quotes.
	}
	for size := 2 * BlockSize; c.ends == UnknownEnd; size *= 2 {
		if c.ends = lineEndOf(shape, c.buf, c.whole); c.ends != UnknownEnd || c.whole {
			break
		}
		if len(c.buf) >= LargeRow {
			c.ends = EndLF
			break
		}
		if err := c.fill(min(size, LargeRow)); err != nil {
			return err
		}
	}
	c.scan = newRowScan(c.l, c.ends)
	return nil
}

// skip drops one row or line, and reports whether there was one.
func (c *cutter) skip(scan rowScan) (bool, error) {
	for size := BlockSize; ; size = 2 * len(c.buf) {
		if len(c.buf) == 0 && c.whole {
			return false, nil
		}
		fresh := scan
		if end := fresh.first(c.buf); end >= 0 {
			c.drop(end)
			return true, nil
		}
		switch {
		case c.whole && fresh.inQuote:
			return false, c.unclosed(bytes.NewReader(c.buf))
		case c.whole:
			c.drop(len(c.buf))
			return true, nil
		case len(c.buf) >= LargeRow:
			return false, c.wrong(fmt.Sprintf("the first line is longer than %d MB", LargeRow>>20), "", "Is this a text file?")
		}
		if err := c.fill(min(size, LargeRow)); err != nil {
			return false, err
		}
	}
}

// drop passes n bytes of buf.
func (c *cutter) drop(n int) {
	c.pass(c.buf[:n])
	c.buf = c.buf[n:]
	c.scanned = 0
}

// pass moves the position over bytes.
func (c *cutter) pass(b []byte) {
	c.at.Line += int64(bytes.Count(b, []byte{c.scan.term}))
	c.at.Offset += c.size(b)
}

// size is the number of bytes that b has in the file.
func (c *cutter) size(b []byte) int64 {
	if c.unit == 2 {
		return utf16Size(b)
	}
	return int64(len(b))
}

// fill reads until buf has n bytes or the file has no more.
func (c *cutter) fill(n int) error {
	if c.whole || len(c.buf) >= n {
		return nil
	}
	if cap(c.buf) < n {
		c.buf = append(make([]byte, 0, n), c.buf...)
	}
	for !c.whole && len(c.buf) < n {
		got, err := c.r.Read(c.buf[len(c.buf):n])
		c.buf = c.buf[:len(c.buf)+got]
		switch {
		case err == io.EOF:
			c.whole = true
		case err != nil:
			return err
		}
	}
	return nil
}

// block hands out the first end bytes of buf. again: what follows must be scanned anew.
func (c *cutter) block(end int, rows int64, again bool) *Block {
	if left := c.l.Limit - c.at.Row; c.l.Limit > 0 && rows > left {
		rows = left
		end = c.rowsEnd(left)
	}
	b := &Block{File: c.file, Begin: c.at, Data: c.buf[:end:end], ends: c.ends, wide: c.unit == 2}
	// What follows goes to a buffer of its own: the block is its receiver's now.
	rest := append(make([]byte, 0, max(BlockSize, len(c.buf)-end)), c.buf[end:]...)
	c.pass(b.Data)
	c.at.Row += rows
	c.buf, c.scanned = rest, len(rest)
	if again {
		c.scanned = 0
	}
	b.Next = c.at
	return b
}

// rowsEnd is where the first n rows of buf end.
func (c *cutter) rowsEnd(n int64) int {
	end := 0
	for ; n > 0; n-- {
		scan := newRowScan(c.l, c.ends)
		end += scan.first(c.buf[end:])
	}
	return end
}

// last hands out a last row that has no line end.
func (c *cutter) last() (*Block, error) {
	switch {
	case c.scan.inQuote:
		return nil, c.unclosed(bytes.NewReader(c.buf))
	case c.l.Format == Text && isMarker(c.buf):
		return nil, io.EOF
	}
	return c.block(len(c.buf), 1, false), nil
}

// behindMarker is how a file ends that has the end-of-copy marker: nothing may follow it.
func (c *cutter) behindMarker() error {
	line := c.at.Line
	scan := newRowScan(c.l, c.ends)
	c.drop(scan.first(c.buf))
	if err := c.fill(1); err != nil {
		return err
	}
	if len(c.buf) == 0 {
		return io.EOF
	}
	return c.wrong(fmt.Sprintf(`text follows the end-of-copy marker \. of line %d`, line),
		"The rows behind it would not be loaded.", `Remove the line; or write \\. if it is a value.`)
}

// wrong is an error of the file at the line where the cutter is.
func (c *cutter) wrong(message, detail, hint string) error {
	return &planner.Error{Message: fmt.Sprintf("%s, line %d: %s", c.name, c.at.Line, message), Detail: detail, Hint: hint}
}

// unclosed is the error of a file that ends within quotes. row is its last row.
func (c *cutter) unclosed(row io.Reader) error {
	begin := c.at.Line
	line, err := c.openingLine(row)
	if err != nil {
		return err
	}
	c.at.Line = line
	return c.wrong("unterminated CSV quoted field", fmt.Sprintf("The quote that opens in line %d, in the row of line %d, is not closed before the file ends.", line, begin),
		fmt.Sprintf("A quote that stands for itself must be doubled. Where a file has none that enclose fields, name another character for %q.", c.l.Quote))
}

// openingLine finds where the field begins whose quote is never closed.
func (c *cutter) openingLine(row io.Reader) (int64, error) {
	scan := newRowScan(c.l, c.ends)
	line, opened := c.at.Line, c.at.Line
	closed := false // the last byte closed a quote: another one is a doubled quote and opens none
	buf := make([]byte, 64<<10)
	for {
		n, err := row.Read(buf)
		for _, b := range buf[:n] {
			was := scan.inQuote
			scan.step(b)
			if scan.inQuote && !was && !closed {
				opened = line
			}
			closed = was && !scan.inQuote
			if b == scan.term {
				line++
			}
		}
		if err == io.EOF {
			return opened, nil
		}
		if err != nil {
			return 0, err
		}
	}
}
