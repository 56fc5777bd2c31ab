package move

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strconv"
	"sync"

	"github.com/pghaul/pghaul/internal/copyfmt"
	"github.com/pghaul/pghaul/internal/encode"
	"github.com/pghaul/pghaul/internal/rowfile"
	"github.com/pghaul/pghaul/planner"
)

// piece is a block of rows in the form in which it is sent. Rows that were refused here are not in it.
type piece struct {
	block  *rowfile.Block
	binary bool
	data   []byte // rows of COPY, without header and trailer
	rows   int    // in data
	read   int64  // rows of the block, refused ones included
	// bad are the rows that were refused here, by their numbers in the block.
	bad []badRow
	// large is the one row of a block that is too large for memory.
	large *wideRow
	err   error // of the reading; ends the load
}

// badRow is a row that is not loaded.
type badRow struct {
	span rowfile.Span
	why  *rowfile.RowError
}

// maxKept is how large a buffer is kept for another piece.
const maxKept = 4 * rowfile.BlockSize

var pieceBuffers = sync.Pool{New: func() any { return new([]byte) }}

// release gives the memory of a piece back.
func (p *piece) release() {
	if cap(p.data) > 0 && cap(p.data) <= maxKept {
		data := p.data[:0]
		pieceBuffers.Put(&data)
	}
	if p.block.Large != nil { // Also of a row that was refused here.
		p.block.Large.Release()
	}
	p.block.Release()
	p.block, p.data = nil, nil
}

// pieceMaker turns blocks into pieces. It is for one goroutine.
type pieceMaker struct {
	parser   rowfile.Parser
	columns  []planner.LoadColumn
	encoders []encode.Encoder
	// binary: rows are sent in COPY binary unless a value is for the server to read.
	binary   bool
	relation string
	scratch  []byte
	unsure   bool
}

// make takes a block apart. The rows are tried in binary; where a value is for the server to read, the whole block becomes text.
func (m *pieceMaker) make(b *rowfile.Block) *piece {
	p := &piece{block: b, binary: m.binary}
	if b.Large != nil {
		m.makeLarge(p)
		return p
	}
	p.data = (*pieceBuffers.Get().(*[]byte))[:0]
	m.unsure = false
	p.err = m.parser.Parse(b, func(r *rowfile.Row) error { return m.add(p, r) })
	if errors.Is(p.err, encode.ErrUnsure) {
		p.binary, p.data, p.rows, p.bad, p.read = false, p.data[:0], 0, nil, 0
		p.err = m.parser.Parse(b, func(r *rowfile.Row) error { return m.add(p, r) })
	}
	return p
}

// add adds one row to a piece. The error is encode.ErrUnsure.
func (m *pieceMaker) add(p *piece, r *rowfile.Row) error {
	p.read++
	had := len(p.data)
	refused, unsure := m.appendRow(p, r)
	switch {
	case refused != nil:
		p.data = p.data[:had]
		p.bad = append(p.bad, badRow{r.Span, refused})
	case unsure == nil:
		p.rows++
	}
	return unsure
}

// appendRow adds a row in the form of the piece.
func (m *pieceMaker) appendRow(p *piece, r *rowfile.Row) (refused *rowfile.RowError, unsure error) {
	switch {
	case r.Bad != nil:
		return r.Bad, nil
	case r.Binary:
		return m.appendPayloads(p, r), nil
	case p.binary:
		return m.appendBinary(p, r)
	}
	return m.appendText(p, r), nil
}

// appendBinary adds a row of COPY binary. The error is encode.ErrUnsure.
func (m *pieceMaker) appendBinary(p *piece, r *rowfile.Row) (*rowfile.RowError, error) {
	dst := copyfmt.AppendBinaryTuple(p.data, len(m.columns))
	for i := range m.columns {
		c := &m.columns[i]
		value := r.Fields[c.Field]
		if value == nil {
			if c.NotNull {
				return m.nullRefused(c), nil
			}
			dst = copyfmt.AppendBinaryNull(dst)
			continue
		}
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		var err error
		if dst, err = m.encoders[i](dst, value); err != nil {
			var invalid *encode.Invalid
			if errors.As(err, &invalid) {
				return m.invalid(i, invalid), nil
			}
			return nil, err
		}
		binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	p.data = dst
	return nil, nil
}

// appendPayloads adds a row whose fields are payloads of COPY binary already.
func (m *pieceMaker) appendPayloads(p *piece, r *rowfile.Row) *rowfile.RowError {
	dst := copyfmt.AppendBinaryTuple(p.data, len(m.columns))
	for i := range m.columns {
		c := &m.columns[i]
		value := r.Fields[c.Field]
		switch {
		case value != nil:
			dst = copyfmt.AppendBinaryField(dst, value)
		case c.NotNull:
			return m.nullRefused(c)
		default:
			dst = copyfmt.AppendBinaryNull(dst)
		}
	}
	p.data = dst
	return nil
}

// appendText adds a row of COPY text. Values that an encoder knows to be wrong are refused here as well.
func (m *pieceMaker) appendText(p *piece, r *rowfile.Row) *rowfile.RowError {
	dst := p.data
	for i := range m.columns {
		c := &m.columns[i]
		if i > 0 {
			dst = append(dst, '\t')
		}
		value := r.Fields[c.Field]
		if value == nil {
			if c.NotNull {
				return m.nullRefused(c)
			}
			dst = copyfmt.AppendTextNull(dst)
			continue
		}
		if m.encoders[i] != nil {
			var err error
			if m.scratch, err = m.encoders[i](m.scratch[:0], value); err != nil {
				var invalid *encode.Invalid
				if errors.As(err, &invalid) {
					return m.invalid(i, invalid)
				}
			}
		}
		dst = copyfmt.AppendTextField(dst, value)
	}
	dst = append(dst, '\n')
	p.data = dst
	return nil
}

func (m *pieceMaker) invalid(i int, e *encode.Invalid) *rowfile.RowError {
	c := &m.columns[i]
	return &rowfile.RowError{Column: c.Name, Field: c.Field + 1, State: e.State, Message: e.Message, Detail: e.Detail, Hint: e.Hint}
}

// nullRefused is the server's refusal of a NULL (execMain.c, ExecConstraints).
func (m *pieceMaker) nullRefused(c *planner.LoadColumn) *rowfile.RowError {
	return &rowfile.RowError{Column: c.Name, Field: c.Field + 1, State: stateNotNull,
		Message: "null value in column \"" + c.Name + "\" of relation \"" + m.relation + "\" violates not-null constraint"}
}

// skipRows returns the number of bytes that the first n rows of data take.
func skipRows(data []byte, binaryFormat bool, n int) int {
	at := 0
	for range n {
		if !binaryFormat {
			at += bytes.IndexByte(data[at:], '\n') + 1
			continue
		}
		fields := int(binary.BigEndian.Uint16(data[at:]))
		at += 2
		for range fields {
			size := int32(binary.BigEndian.Uint32(data[at:]))
			at += 4 + int(max(size, 0))
		}
	}
	return at
}

// appendNumbered adds rows with their numbers, from the given one on, as a first column.
func appendNumbered(dst, data []byte, binaryFormat bool, number int64) ([]byte, int64) {
	for len(data) > 0 {
		n := skipRows(data, binaryFormat, 1)
		if binaryFormat {
			dst = copyfmt.AppendBinaryTuple(dst, int(binary.BigEndian.Uint16(data))+1)
			dst = append(dst, 0, 0, 0, 8)
			dst = binary.BigEndian.AppendUint64(dst, uint64(number))
			dst = append(dst, data[2:n]...)
		} else {
			dst = append(strconv.AppendInt(dst, number, 10), '\t')
			dst = append(dst, data[:n]...)
		}
		data = data[n:]
		number++
	}
	return dst, number
}
