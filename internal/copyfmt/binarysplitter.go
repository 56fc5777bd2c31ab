package copyfmt

import (
	"encoding/binary"
	"fmt"
)

// BinarySplitter is the Splitter of COPY binary. It checks the header, field
// counts and field lengths for what can be no stream at all, and that nothing
// follows the trailer.
type BinarySplitter struct {
	state  part
	cut    [headerSize]byte // start of a header or number that a block cut
	filled int
	skip   int   // bytes of a value or of the header's extension to pass over
	fields int   // fields of the row still to come
	rows   int64 // rows ended
	offset int64 // of the current row's first byte
	taken  int64 // bytes taken
	err    error
}

// part is what a BinarySplitter expects next.
type part int

const (
	inHeader part = iota
	inExtension
	inTuple // a field count
	inField // a field length
	inValue
	inEnd
)

// piece is what ended.
type piece int

const (
	nothing piece = iota
	headerPiece
	rowPiece
	openRow // a last row that the stream's end ended
	trailerPiece
)

// NewBinarySplitter returns a splitter at a stream's header.
func NewBinarySplitter() *BinarySplitter { return &BinarySplitter{} }

// Split implements Splitter.
func (s *BinarySplitter) Split(block []byte) (end int, rows int64, err error) {
	before := s.rows
	for pos := 0; pos < len(block); {
		if s.state == inTuple && s.filled == 0 {
			pos += s.wholeRows(block[pos:], 1<<62)
			end = pos
		}
		n, ended, err := s.step(block[pos:])
		pos += n
		if err != nil {
			return end, s.rows - before, err
		}
		if ended != nothing {
			end = pos
		}
	}
	return end, s.rows - before, s.err
}

// Whole implements Splitter. A stream that ended after a row but has no
// trailer counts as whole, as it does for the server.
func (s *BinarySplitter) Whole() bool {
	return s.err == nil && (s.state == inTuple && s.filled == 0 || s.state == inEnd)
}

// first takes bytes of block up to the end of the piece that began before or
// at its start.
func (s *BinarySplitter) first(block []byte) (n int, ended piece, err error) {
	if s.state == inTuple && s.filled == 0 {
		if n := s.wholeRows(block, 1); n > 0 {
			return n, rowPiece, nil
		}
	}
	for n < len(block) && ended == nothing && err == nil {
		var used int
		used, ended, err = s.step(block[n:])
		n += used
	}
	return n, ended, err
}

// wholeRows passes over at most limit rows that lie wholly in block. It keeps
// to local variables and leaves all else, errors too, to step.
func (s *BinarySplitter) wholeRows(block []byte, limit int64) (used int) {
	rows := int64(0)
	for rows < limit && len(block)-used >= 2 {
		fields := int(int16(binary.BigEndian.Uint16(block[used:])))
		if fields < 0 {
			break
		}
		pos := used + 2
		for fields > 0 && len(block)-pos >= 4 {
			length := int(int32(binary.BigEndian.Uint32(block[pos:])))
			pos += 4
			if length < -1 || length > len(block)-pos {
				break
			}
			pos += max(length, 0)
			fields--
		}
		if fields > 0 {
			break
		}
		used = pos
		rows++
	}
	s.rows += rows
	s.taken += int64(used)
	s.offset = s.taken
	return used
}

// step takes bytes up to the next change of state, or all of block.
func (s *BinarySplitter) step(block []byte) (used int, ended piece, err error) {
	if s.err != nil {
		return 0, nothing, s.err
	}
	if len(block) == 0 {
		return 0, nothing, nil
	}
	if s.state == inExtension || s.state == inValue {
		used = min(s.skip, len(block))
		s.skip -= used
		s.taken += int64(used)
		if s.skip > 0 {
			return used, nothing, nil
		}
		return used, s.passed(), nil
	}
	used = copy(s.cut[s.filled:s.want()], block)
	s.filled += used
	s.taken += int64(used)
	if s.state != inEnd && s.filled < s.want() {
		return used, nothing, nil
	}
	s.filled = 0
	ended, s.err = s.number()
	return used, ended, s.err
}

// want returns the size of the number or header that is expected.
func (s *BinarySplitter) want() int {
	switch s.state {
	case inHeader:
		return headerSize
	case inTuple:
		return 2
	case inField:
		return 4
	}
	return 0
}

// passed goes on behind a value or the extension.
func (s *BinarySplitter) passed() piece {
	if s.state == inExtension {
		return s.between(headerPiece)
	}
	if s.fields--; s.fields > 0 {
		s.state = inField
		return nothing
	}
	s.rows++
	return s.between(rowPiece)
}

// between stands at a row's start.
func (s *BinarySplitter) between(p piece) piece {
	s.state = inTuple
	s.offset = s.taken
	return p
}

// number goes on behind a header, a field count or a field length, which is
// complete in cut.
func (s *BinarySplitter) number() (piece, error) {
	switch s.state {
	case inHeader:
		return s.header()
	case inTuple:
		s.fields = int(int16(binary.BigEndian.Uint16(s.cut[:])))
		switch {
		case s.fields == endMarker:
			s.state = inEnd
			return trailerPiece, nil
		case s.fields < 0:
			return nothing, s.fail(fmt.Sprintf("invalid field count %d", s.fields))
		case s.fields == 0:
			s.rows++
			return s.between(rowPiece), nil
		}
		s.state = inField
		return nothing, nil
	case inField:
		length := int(int32(binary.BigEndian.Uint32(s.cut[:])))
		if length < -1 {
			return nothing, s.fail(fmt.Sprintf("invalid field length %d", length))
		}
		s.state = inValue
		if s.skip = max(length, 0); s.skip > 0 {
			return nothing, nil
		}
		return s.passed(), nil
	}
	return nothing, s.fail("data after the end marker")
}

// header reads a complete header.
func (s *BinarySplitter) header() (piece, error) {
	if string(s.cut[:len(signature)]) != signature {
		return nothing, s.fail("no COPY binary signature")
	}
	flags := binary.BigEndian.Uint32(s.cut[len(signature):])
	extension := binary.BigEndian.Uint32(s.cut[len(signature)+4:])
	switch {
	case flags>>16 != 0:
		// Bit 16 is OIDs, last written by version 11; no other was ever used.
		return nothing, s.fail(fmt.Sprintf("unknown critical flags 0x%x", flags))
	case extension > maxExtension:
		return nothing, s.fail(fmt.Sprintf("extension of %d bytes", extension))
	case extension > 0:
		s.skip, s.state = int(extension), inExtension
		return nothing, nil
	}
	return s.between(headerPiece), nil
}

func (s *BinarySplitter) fail(problem string) *FormatError {
	row := s.rows + 1
	if s.state == inHeader {
		row = 0
	}
	return &FormatError{Row: row, Offset: s.offset, Problem: problem}
}
