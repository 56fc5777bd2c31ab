package rowfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// binarySignature begins a file of COPY binary (manual, "COPY", Binary Format). Flags and the length of an extension follow it, four bytes each.
const binarySignature = "PGCOPY\n\xff\r\n\x00"

const (
	binaryHeader     = len(binarySignature) + 8
	maxBinaryExtra   = 32 << 10 // of the extension, in bytes. No server ever wrote one.
	binaryEnd        = -1       // the count of fields that stands in the trailer
	criticalFlags    = 0xffff0000
	binaryFieldCount = 2
)

// binaryStart checks the header of a file and returns its length and the number of fields of the first row, 0 when there is none.
func binaryStart(head []byte) (length, width int, err error) {
	if len(head) < binaryHeader || string(head[:len(binarySignature)]) != binarySignature {
		return 0, 0, errors.New("the header of COPY binary is cut off")
	}
	flags := binary.BigEndian.Uint32(head[len(binarySignature):])
	extra := binary.BigEndian.Uint32(head[len(binarySignature)+4:])
	switch {
	case flags&criticalFlags != 0:
		// Bit 16 is OIDs, last written by version 11; no other was ever used.
		return 0, 0, fmt.Errorf("the header of COPY binary has critical flags 0x%x, which are not known", flags)
	case extra > maxBinaryExtra:
		return 0, 0, fmt.Errorf("the header of COPY binary has an extension of %d bytes", extra)
	}
	if length = binaryHeader + int(extra); length > len(head) {
		return 0, 0, errors.New("the header of COPY binary is cut off")
	}
	if len(head) >= length+binaryFieldCount {
		width = max(0, fieldCount(head[length:]))
	}
	return length, width, nil
}

func fieldCount(row []byte) int { return int(int16(binary.BigEndian.Uint16(row))) }

// rowLength is the length of the row that data begins with, 0 when it is not all there, or no row.
func rowLength(data []byte) int {
	if len(data) < binaryFieldCount {
		return 0
	}
	at := binaryFieldCount
	for fields := fieldCount(data); fields > 0; fields-- {
		if len(data)-at < 4 {
			return 0
		}
		n := int(int32(binary.BigEndian.Uint32(data[at:])))
		at += 4
		if n < -1 || n > len(data)-at {
			return 0
		}
		at += max(n, 0)
	}
	return at
}

// binaryEnds is the rowEnds of COPY binary. A file without its trailer is whole when it ends with a row, as it is for the server.
type binaryEnds struct{}

func (binaryEnds) cut(data []byte, _ int, last bool, limit int64) (c cut, err error) {
	for c.rows != limit && c.end < len(data) {
		rest := data[c.end:]
		if len(rest) >= binaryFieldCount && fieldCount(rest) < 0 {
			return binaryTrailer(c, rest, last)
		}
		n := rowLength(rest)
		if n == 0 {
			break
		}
		c.end += n
		c.rows++
		c.lines++
	}
	if c.end > 0 {
		return c, nil // what is wrong behind these rows comes up with the next block
	}
	return c, brokenRow(data, last)
}

// binaryTrailer takes the end marker, which nothing may follow.
func binaryTrailer(c cut, rest []byte, last bool) (cut, error) {
	switch {
	case c.rows > 0: // A block has rows alone.
	case fieldCount(rest) != binaryEnd:
		return c, fmt.Errorf("a row has %d fields", fieldCount(rest))
	case len(rest) > binaryFieldCount:
		return c, errors.New("received copy data after EOF marker")
	case last:
		c.stop = true
		c.end += binaryFieldCount
	}
	return c, nil
}

// brokenRow looks at data that begins with no whole row for lengths that no row has.
func brokenRow(data []byte, last bool) error {
	if len(data) >= binaryFieldCount {
		at := binaryFieldCount
		for range fieldCount(data) {
			if len(data)-at < 4 {
				break
			}
			n := int(int32(binary.BigEndian.Uint32(data[at:])))
			if n < -1 {
				return fmt.Errorf("a field has %d bytes", n)
			}
			if at += 4; n > len(data)-at {
				break
			}
			at += max(n, 0)
		}
	}
	if last && len(data) > 0 {
		return errors.New("unexpected EOF in COPY data: the last row is cut off")
	}
	return nil
}

// large copies the row that data begins with: lengths are looked at, values pass by.
func (binaryEnds) large(data []byte, r io.Reader, to io.Writer) (rest []byte, lines int64, err error) {
	l := &largeBinary{data: data, r: r, to: to, buf: make([]byte, BlockSize)}
	if err := l.take(binaryFieldCount); err != nil {
		return nil, 0, err
	}
	for range int(int16(binary.BigEndian.Uint16(l.last[2:]))) {
		if err := l.take(4); err != nil {
			return nil, 0, err
		}
		n := int64(int32(binary.BigEndian.Uint32(l.last[:])))
		if n < -1 {
			return nil, 0, fmt.Errorf("a field has %d bytes", n)
		}
		if err := l.take(max(n, 0)); err != nil {
			return nil, 0, err
		}
	}
	return l.data, 1, nil
}

// largeBinary is a row on its way into a spool.
type largeBinary struct {
	data []byte // read, not taken
	r    io.Reader
	to   io.Writer
	buf  []byte
	last [4]byte // the last bytes taken
}

// take passes n bytes on.
func (l *largeBinary) take(n int64) error {
	for n > 0 {
		if len(l.data) == 0 {
			got, err := readSome(l.r, l.buf)
			if l.data = l.buf[:got]; got == 0 {
				if err == io.EOF { //nolint:errorlint // the bare io.EOF alone is the end
					return errors.New("unexpected EOF in COPY data: the last row is cut off")
				}
				return err
			}
		}
		piece := l.data[:min(n, int64(len(l.data)))]
		if _, err := l.to.Write(piece); err != nil {
			return err
		}
		tail := piece[max(0, len(piece)-len(l.last)):]
		copy(l.last[:], l.last[len(tail):])
		copy(l.last[len(l.last)-len(tail):], tail)
		l.data = l.data[len(piece):]
		n -= int64(len(piece))
	}
	return nil
}
