package move

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"strconv"

	"github.com/pghaul/pghaul/internal/copyfmt"
	"github.com/pghaul/pghaul/internal/encode"
	"github.com/pghaul/pghaul/internal/rowfile"
)

// wideRow is a row that is too large for memory. It goes by COPY binary, where each value's length comes first, as long as its large values are
// of types whose binary form is their text; else by COPY text.
type wideRow struct {
	span   rowfile.Span
	values []wideValue // of each column
}

// wideValue is one value of a large row.
type wideValue struct {
	rowfile.LargeField
	form  int    // how its binary form is made while it is sent
	small []byte // as it is sent, where it was small enough to be read; nil for a large one
}

// smallValues is how much of a large row is read into memory, in values that fit. Several such rows are under way at the same time.
const smallValues = 2 << 20

// makeLarge reads the small values of a large row and settles its form.
func (m *pieceMaker) makeLarge(p *piece) {
	p.read, p.binary = 1, m.binary
	row := &wideRow{span: rowfile.Span{Line: p.block.Begin.Line, End: int(p.block.Large.Size)}, values: make([]wideValue, len(m.columns))}
	fields, bad := m.parser.LargeFields(p.block)
	var payloads [][]byte
	room := int64(smallValues)
	for i := 0; bad == nil && p.err == nil && i < len(m.columns); i++ {
		c, v := &m.columns[i], &row.values[i]
		v.LargeField = fields[c.Field]
		payload := []byte(nil)
		switch {
		case v.Null && c.NotNull:
			bad = m.nullRefused(c)
		case v.Null:
		case v.Size > room:
			if v.form, p.err = v.largeForm(c.Type.Receive); p.err != nil {
				continue
			}
			p.binary = p.binary && v.form != 0
		default:
			room -= v.Size
			if v.small, p.err = io.ReadAll(v.Open()); p.err == nil {
				payload, bad = m.smallPayload(p, i, v.small)
			}
		}
		payloads = append(payloads, payload)
	}
	if bad != nil {
		p.bad = []badRow{{row.span, bad}}
		return
	}
	for i := range payloads {
		if p.binary && row.values[i].small != nil {
			row.values[i].small = payloads[i]
		}
	}
	p.large, p.rows = row, 1
}

// smallPayload makes the binary form of a small value. Where that cannot be done the row goes by text.
func (m *pieceMaker) smallPayload(p *piece, i int, value []byte) ([]byte, *rowfile.RowError) {
	if m.encoders[i] == nil {
		p.binary = false
		return nil, nil
	}
	payload, err := m.encoders[i]([]byte{}, value)
	var invalid *encode.Invalid
	if errors.As(err, &invalid) {
		return nil, m.invalid(i, invalid)
	}
	p.binary = p.binary && err == nil
	return payload, nil
}

// The binary forms that can be made of a text without holding it.
const (
	sameForm  = 1 + iota // the text
	jsonbForm            // a version byte and the text
	byteaForm            // the bytes that hexadecimal digits stand for
)

// largeForm tells how to make the binary form of a value by the receive function of its type; 0 when it can only be made in memory.
func (v *wideValue) largeForm(receive string) (int, error) {
	switch receive {
	case "pg_catalog.textrecv", "pg_catalog.json_recv", "pg_catalog.varcharrecv":
		return sameForm, nil
	case "pg_catalog.xml_recv":
		// A document that declares an encoding means another thing in binary; see the encoder of xml.
		start, err := io.ReadAll(io.LimitReader(v.Open(), xmlHead))
		if bytes.Contains(bytes.ToLower(start), []byte("<?xml")) {
			return 0, err
		}
		return sameForm, err
	case "pg_catalog.jsonb_recv":
		return jsonbForm, nil
	case "pg_catalog.bytearecv":
		plain, err := hexOnly(v.Open())
		if !plain {
			return 0, err
		}
		return byteaForm, err
	}
	return 0, nil
}

// xmlHead is how far the start of a document is looked for. White space in front of it is no document.
const xmlHead = 4096

// hexOnly reports whether the text of a bytea is pairs of hexadecimal digits alone. The server also takes white space between them, and has its
// words for what it does not take.
func hexOnly(text io.Reader) (bool, error) {
	in := bufio.NewReaderSize(text, spoolPiece)
	if start, err := in.Peek(2); err != nil || string(start) != `\x` {
		return false, ignoreEnd(err)
	}
	_, _ = in.Discard(2)
	_, err := io.Copy(io.Discard, hex.NewDecoder(in))
	var wrong hex.InvalidByteError
	if errors.As(err, &wrong) || errors.Is(err, io.ErrUnexpectedEOF) {
		return false, nil
	}
	return err == nil, err
}

func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// writeLarge sends a large row.
func (c *copying) writeLarge(ctx context.Context, p *piece) error {
	if err := c.open(ctx, p.binary); err != nil {
		return err
	}
	c.number++
	out := &largeWriter{copying: c}
	var err error
	if p.binary {
		err = out.binaryRow(p.large)
	} else {
		err = out.textRow(p.large)
	}
	switch {
	case out.failed != nil:
		return out.failed
	case err != nil:
		return errors.Join(err, c.abandon("the input could not be read"))
	}
	if !c.aside {
		c.count(1)
	}
	return nil
}

// largeWriter writes to an open COPY, and keeps its error apart from those of the input.
type largeWriter struct {
	*copying
	failed error
}

func (w *largeWriter) Write(p []byte) (int, error) {
	if w.failed = w.send(p, 0); w.failed != nil {
		return 0, w.failed
	}
	return len(p), nil
}

func (w *largeWriter) binaryRow(row *wideRow) error {
	columns, number := len(row.values), []byte(nil)
	if w.numbered {
		columns++
		number = binary.BigEndian.AppendUint64([]byte{0, 0, 0, 8}, uint64(w.number))
	}
	if _, err := w.Write(append(copyfmt.AppendBinaryTuple(nil, columns), number...)); err != nil {
		return err
	}
	for i := range row.values {
		v := &row.values[i]
		var err error
		switch {
		case v.Null:
			_, err = w.Write(copyfmt.AppendBinaryNull(nil))
		case v.small != nil:
			_, err = w.Write(copyfmt.AppendBinaryField(nil, v.small))
		default:
			err = w.largePayload(v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// largePayload sends the binary form of a large value while it is read.
func (w *largeWriter) largePayload(v *wideValue) error {
	size, from := v.Size, v.Open()
	var head []byte
	switch v.form {
	case jsonbForm:
		head = []byte{1}
	case byteaForm:
		in := bufio.NewReaderSize(from, spoolPiece)
		_, _ = in.Discard(2)
		size, from = size/2-1, hex.NewDecoder(in)
	}
	if _, err := w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(size)+uint32(len(head))), head...)); err != nil {
		return err
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{w}, io.LimitReader(from, size), make([]byte, spoolPiece))
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	return err
}

func (w *largeWriter) textRow(row *wideRow) error {
	var line []byte
	if w.numbered {
		line = append(strconv.AppendInt(nil, w.number, 10), '\t')
	}
	for i := range row.values {
		if i > 0 {
			line = append(line, '\t')
		}
		v := &row.values[i]
		switch {
		case v.Null:
			line = copyfmt.AppendTextNull(line)
			continue
		case v.small != nil:
			line = copyfmt.AppendTextField(line, v.small)
			continue
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
		line = line[:0]
		if err := w.escaped(v.Open()); err != nil {
			return err
		}
	}
	_, err := w.Write(append(line, '\n'))
	return err
}

// escaped sends a value piece by piece: escapes of COPY text stand for single bytes, so it may be cut anywhere.
func (w *largeWriter) escaped(from io.Reader) error {
	block, line := make([]byte, spoolPiece), []byte(nil)
	for {
		n, err := from.Read(block)
		line = copyfmt.AppendTextField(line[:0], block[:n])
		if _, sendErr := w.Write(line); sendErr != nil {
			return sendErr
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
