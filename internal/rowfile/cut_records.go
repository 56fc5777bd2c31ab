package rowfile

import "io"

// records hands out whole records of fixed length. What is left at the end of the file, when it is not a whole record, is a row by itself, so
// that it is refused and not lost.
func (c *cutter) records() (*Block, error) {
	stride := c.l.Fixed.stride()
	if err := c.fill(max(BlockSize/stride, 1) * stride); err != nil {
		return nil, err
	}
	n := len(c.buf) / stride
	if left := c.l.Limit - c.at.Row; c.l.Limit > 0 && int64(n) > left {
		n = int(left)
	}
	end, rows := n*stride, int64(n)
	switch {
	case len(c.buf) == 0:
		return nil, io.EOF
	case n == 0:
		end, rows = len(c.buf), 1
	}
	b := &Block{File: c.file, Begin: c.at, Data: c.buf[:end:end]}
	c.buf = append([]byte(nil), c.buf[end:]...)
	c.at = Position{Offset: c.at.Offset + int64(end), Line: c.at.Line + rows, Row: c.at.Row + rows}
	b.Next = c.at
	return b, nil
}

// skipRecords passes the records that the layout skips.
func (c *cutter) skipRecords() error {
	stride := c.l.Fixed.stride()
	for range c.l.Skip {
		if err := c.fill(stride); err != nil {
			return err
		}
		n := min(stride, len(c.buf))
		if n == 0 {
			return nil
		}
		c.buf = c.buf[n:]
		c.at.Offset += int64(n)
		c.at.Line++
	}
	return nil
}
