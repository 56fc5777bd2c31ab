package copyfmt

import (
	"encoding/binary"
	"fmt"
	"io"
)

// BinaryReader is the Reader of COPY binary. It reads the source to its end:
// bytes behind the trailer are an error, a missing trailer is not.
type BinaryReader struct {
	stream
	tuples BinarySplitter
}

// NewBinaryReader returns a reader from a header; see NewReader.
func NewBinaryReader(src io.Reader, columns, limit int) *BinaryReader {
	b := &BinaryReader{}
	b.stream = newStream(src, &b.tuples, columns, limit)
	return b
}

// Next implements Reader.
func (b *BinaryReader) Next() (*Row, error) {
	if b.failed != nil {
		return nil, b.failed
	}
	for {
		tuple, ended, err := b.next()
		if err != nil {
			return nil, b.fail(err)
		}
		if ended != rowPiece {
			continue
		}
		if b.large {
			b.row = Row{Fields: b.row.Fields[:0], Large: true}
		} else if err := b.decode(tuple); err != nil {
			return nil, b.fail(err)
		}
		b.rows++
		return &b.row, nil
	}
}

// decode sets row from a whole tuple, whose lengths the splitter has checked.
func (b *BinaryReader) decode(tuple []byte) error {
	b.row = Row{Fields: b.row.Fields[:0], Raw: tuple[:len(tuple):len(tuple)]}
	n := int(binary.BigEndian.Uint16(tuple))
	if b.columns >= 0 && n != b.columns {
		return b.wrong(0, fmt.Sprintf("row has %d fields, expected %d", n, b.columns))
	}
	rest := tuple[2:]
	for range n {
		length := int(int32(binary.BigEndian.Uint32(rest)))
		rest = rest[4:]
		if length < 0 {
			b.row.Fields = append(b.row.Fields, nil)
			continue
		}
		b.row.Fields = append(b.row.Fields, rest[:length:length])
		rest = rest[length:]
	}
	return nil
}

// inRow implements boundary.
func (s *BinarySplitter) inRow() bool {
	return s.state != inHeader && s.state != inExtension
}

// finish implements boundary.
func (s *BinarySplitter) finish(bool) (ended piece, err error) {
	if s.Whole() {
		return nothing, nil
	}
	if s.err == nil {
		err := s.fail("the stream ends inside of it")
		err.cause = io.ErrUnexpectedEOF
		s.err = err
	}
	return nothing, s.err
}
