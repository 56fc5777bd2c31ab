package rowfile

import (
	"bytes"
	"io"
)

// byteOrderMark is U+FEFF in UTF-8, which some programs put in front of a text.
const byteOrderMark = "\xef\xbb\xbf"

// lineEnds is the rowEnds of NDJSON: a row is a line that is not blank.
type lineEnds struct{}

func (lineEnds) cut(data []byte, seen int, last bool, limit int64) (c cut, err error) {
	if seen > 0 && !last && bytes.IndexByte(data[seen:], '\n') < 0 {
		return c, nil
	}
	for c.rows != limit {
		n := bytes.IndexByte(data[c.end:], '\n') + 1
		if n == 0 {
			if !last || c.end == len(data) {
				return c, nil
			}
			n = len(data) - c.end
		}
		if !isBlank(data[c.end : c.end+n]) {
			c.rows++
		}
		c.lines++
		c.end += n
	}
	return c, nil
}

func (lineEnds) large(data []byte, r io.Reader, to io.Writer) (rest []byte, lines int64, err error) {
	buf := make([]byte, BlockSize)
	for {
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			_, err := to.Write(data[:i+1])
			return data[i+1:], 1, err
		}
		if _, err := to.Write(data); err != nil {
			return nil, 0, err
		}
		n, err := readSome(r, buf)
		if data = buf[:n]; err != nil && n == 0 {
			if err == io.EOF { //nolint:errorlint // the bare io.EOF alone is the end
				return nil, 1, nil
			}
			return nil, 0, err
		}
	}
}

// skipLines drops lines at the start of contents, and a byte order mark in front of them.
func skipLines(c *contents, n int64) (pos Position, rest []byte, err error) {
	buf := make([]byte, BlockSize)
	got, err := io.ReadFull(c, buf)
	rest = bytes.TrimPrefix(buf[:got], []byte(byteOrderMark))
	pos = Position{Offset: int64(got - len(rest)), Line: 1}
	for err == nil || len(rest) > 0 {
		if pos.Line > n {
			break
		}
		i := bytes.IndexByte(rest, '\n') + 1
		if i > 0 {
			pos.Line++
			pos.Offset += int64(i)
			rest = rest[i:]
			continue
		}
		pos.Offset += int64(len(rest))
		rest = nil
		if err == nil {
			got, err = io.ReadFull(c, buf)
			rest = buf[:got]
		}
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return pos, rest, err
}
