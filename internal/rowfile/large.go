package rowfile

import (
	"bytes"
	"fmt"
)

// large hands out the row that buf begins with and that is longer than buf.
func (c *cutter) large() (*Block, error) {
	s, err := newScratch()
	if err != nil {
		return nil, err
	}
	b, err := c.spool(s)
	if err != nil {
		s.release()
		return nil, err
	}
	return b, nil
}

func (c *cutter) spool(s *scratch) (*Block, error) {
	b := &Block{File: c.file, Begin: c.at, ends: c.ends, wide: c.unit == 2}
	after := c.at
	keep := func(part []byte) error {
		after.Line += int64(bytes.Count(part, []byte{c.scan.term}))
		after.Offset += c.size(part)
		_, err := s.Write(part)
		return err
	}
	if err := keep(c.buf); err != nil {
		return nil, err
	}
	for ended := false; !ended; {
		c.buf = make([]byte, 0, BlockSize)
		if err := c.fill(BlockSize); err != nil {
			return nil, err
		}
		end := c.scan.first(c.buf)
		if ended = end >= 0 || c.whole; end < 0 {
			end = len(c.buf)
		}
		if err := keep(c.buf[:end]); err != nil {
			return nil, err
		}
		c.buf = c.buf[end:]
		if !ended && s.size > maxRow {
			return nil, c.tooLarge(s)
		}
	}
	if c.scan.inQuote {
		return nil, c.unclosed(s.reader())
	}
	after.Row++
	c.at, c.scanned, c.scan = after, 0, newRowScan(c.l, c.ends)
	b.Next = after
	b.Large = &Large{Raw: s, Size: s.size, Release: s.release}
	return b, nil
}

// tooLarge is the error of a row that no server can take, most likely one whose quote was never closed.
func (c *cutter) tooLarge(s *scratch) error {
	const message = "this row has more than 4 GB, which is more than a table can hold"
	if !c.scan.inQuote {
		return c.wrong(message, "", "")
	}
	line, err := c.openingLine(s.reader())
	if err != nil {
		return err
	}
	return c.wrong(message, fmt.Sprintf("A quote that opens in line %d is not closed.", line), "A quote that stands for itself must be doubled.")
}
