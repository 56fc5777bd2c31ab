package move

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/pghaul/pghaul/internal/copyfmt"
	"github.com/pghaul/pghaul/internal/encode"
	"github.com/pghaul/pghaul/internal/rowfile"
	"github.com/pghaul/pghaul/planner"
)

// RowSource yields rows of Go values, one after the other. It has the methods of pgx's CopyFromSource.
type RowSource interface {
	// Next reports whether there is another row, and makes it the current one.
	Next() bool
	// Values returns the values of the current row.
	Values() ([]any, error)
	// Err returns why the rows ended too early, nil when they did not.
	Err() error
}

// TypedSource yields rows without boxing their values.
type TypedSource interface {
	// NextRow adds the values of the next row to b, one for each column, or returns false behind the last.
	NextRow(b *RowBuilder) (bool, error)
}

// GivenRows opens rows that a program hands over, with the names of their columns; see LoadRequest.Open. One of the sources is not nil.
func GivenRows(names []string, values RowSource, typed TypedSource) func(context.Context, []string, bool) (rowfile.Rows, []NewColumn, error) {
	g := &given{names: names}
	g.fill = g.fillTyped
	if g.typed = typed; typed == nil {
		g.values, g.fill = values, g.fillValues
	}
	return func(context.Context, []string, bool) (rowfile.Rows, []NewColumn, error) { return g, nil, nil }
}

// given is a stream of rows that a program hands over. They are kept as rows of COPY binary; where the plan is to send text, the payloads are
// texts.
type given struct {
	names   []string
	values  RowSource
	typed   TypedSource
	fill    func(*RowBuilder) (bool, error)
	builder *RowBuilder
	row     int64 // that were taken
	ended   bool
}

// Names implements rowfile.Rows.
func (g *given) Names() []string { return g.names }

// Width implements rowfile.Rows.
func (g *given) Width() int { return len(g.names) }

// Files implements rowfile.Rows.
func (g *given) Files() []rowfile.File {
	return []rowfile.File{{Name: "the given rows", Bytes: -1, Format: rowfile.Given}}
}

// Describe implements rowfile.Rows.
func (g *given) Describe() string { return "rows of a program" }

// Open implements rowfile.Rows.
func (g *given) Open(context.Context, int, rowfile.Position) (rowfile.Stream, error) { return g, nil }

// Parser implements rowfile.Rows.
func (g *given) Parser() rowfile.Parser { return &givenParser{text: !g.builder.binary} }

// Consumed implements rowfile.Stream.
func (g *given) Consumed() int64 { return 0 }

// Close implements rowfile.Stream.
func (g *given) Close() error { return nil }

// planned tells the rows where their values go.
func (g *given) planned(l *load) { g.builder = newRowBuilder(l) }

// Next implements rowfile.Stream.
func (g *given) Next() (*rowfile.Block, error) {
	b := &rowfile.Block{Begin: rowfile.Position{Row: g.row}}
	g.builder.data = nil
	for !g.ended && len(g.builder.data) < rowfile.BlockSize {
		more, err := g.builder.take(g.fill)
		if err != nil {
			return nil, &planner.Error{Message: fmt.Sprintf("cannot take row %d", g.row+1), Cause: err}
		}
		if !more {
			g.ended = true
			break
		}
		g.row++
		b.Count++
	}
	if b.Count == 0 {
		return nil, io.EOF
	}
	b.Data, b.Next = g.builder.data, rowfile.Position{Row: g.row}
	return b, nil
}

func (g *given) fillTyped(b *RowBuilder) (bool, error) { return g.typed.NextRow(b) }

func (g *given) fillValues(b *RowBuilder) (bool, error) {
	if !g.values.Next() {
		return false, g.values.Err()
	}
	values, err := g.values.Values()
	if err != nil {
		return false, err
	}
	for _, v := range values {
		b.Value(v)
	}
	return true, nil
}

// givenParser takes the rows of a program apart.
type givenParser struct {
	text   bool
	fields [][]byte
}

// Parse implements rowfile.Parser.
func (p *givenParser) Parse(b *rowfile.Block, emit func(*rowfile.Row) error) error {
	data, at := b.Data, 0
	for n := int64(0); at < len(data); n++ {
		start := at
		fields := int(binary.BigEndian.Uint16(data[at:]))
		at += 2
		p.fields = p.fields[:0]
		for range fields {
			size := int(int32(binary.BigEndian.Uint32(data[at:])))
			at += 4
			if size < 0 {
				p.fields = append(p.fields, nil)
				continue
			}
			p.fields = append(p.fields, data[at:at+size:at+size])
			at += size
		}
		row := rowfile.Row{Fields: p.fields, Binary: !p.text, Span: rowfile.Span{Start: start, End: at, Number: n}}
		if err := emit(&row); err != nil {
			return err
		}
	}
	return nil
}

// LargeFields implements rowfile.Parser. Rows of a program are in memory anyway.
func (p *givenParser) LargeFields(*rowfile.Block) ([]rowfile.LargeField, *rowfile.RowError) {
	return nil, nil
}

// Raw implements rowfile.Parser: the row in COPY text, values in binary as hexadecimal digits.
func (p *givenParser) Raw(b *rowfile.Block, at rowfile.Span) []byte {
	var line []byte
	_ = p.Parse(&rowfile.Block{Data: b.Data[at.Start:at.End]}, func(r *rowfile.Row) error {
		for i, f := range r.Fields {
			if i > 0 {
				line = append(line, '\t')
			}
			switch {
			case f == nil:
				line = copyfmt.AppendTextNull(line)
			case p.text:
				line = copyfmt.AppendTextField(line, f)
			default:
				line = fmt.Appendf(line, `\\x%x`, f)
			}
		}
		return nil
	})
	return append(line, '\n')
}

// RowBuilder takes the values of a row, one call for each column in order. Errors stick until the row's end.
type RowBuilder struct {
	columns  []planner.LoadColumn // by field
	encoders []encode.Encoder
	types    *pgtype.Map
	binary   bool
	relation string
	data     []byte
	field    int
	err      error
}

func newRowBuilder(l *load) *RowBuilder {
	b := &RowBuilder{types: pgtype.NewMap(), binary: l.plan.NoBinary == "", relation: l.target}
	encoders := l.encoders()
	for i, c := range l.plan.Columns {
		for len(b.columns) <= c.Field {
			b.columns, b.encoders = append(b.columns, planner.LoadColumn{}), append(b.encoders, nil)
		}
		b.columns[c.Field], b.encoders[c.Field] = c, encoders[i]
	}
	return b
}

// take adds one row by fill, or nothing when there is none.
func (b *RowBuilder) take(fill func(*RowBuilder) (bool, error)) (bool, error) {
	had := len(b.data)
	b.data = copyfmt.AppendBinaryTuple(b.data, len(b.columns))
	b.field, b.err = 0, nil
	more, err := fill(b)
	if err = errors.Join(err, b.err); err == nil && more && b.field != len(b.columns) {
		err = fmt.Errorf("it has %d values and not %d", b.field, len(b.columns))
	}
	if err != nil || !more {
		b.data = b.data[:had]
	}
	return more, err
}

// next returns the column that the next value goes to, nil when there is none.
func (b *RowBuilder) next() *planner.LoadColumn {
	b.field++
	if b.field > len(b.columns) || b.err != nil {
		return nil
	}
	return &b.columns[b.field-1]
}

// Null adds a NULL.
func (b *RowBuilder) Null() {
	if b.next() != nil {
		b.data = copyfmt.AppendBinaryNull(b.data)
	}
}

// Int64 adds an integer to a column of any type that takes one.
func (b *RowBuilder) Int64(v int64) {
	c := b.next()
	switch {
	case c == nil:
	case b.binary && c.Type.OID == pgtype.Int8OID:
		b.data = binary.BigEndian.AppendUint64(append(b.data, 0, 0, 0, 8), uint64(v))
	case b.binary && c.Type.OID == pgtype.Int4OID && v == int64(int32(v)):
		b.data = binary.BigEndian.AppendUint32(append(b.data, 0, 0, 0, 4), uint32(v))
	default:
		b.value(c, v)
	}
}

// Text adds the text of a value to a column of any type, as an INSERT would take it as a literal. A text that only the server can read, such as
// "tomorrow" for a date, is an error unless the rows go as text.
func (b *RowBuilder) Text(v string) {
	c := b.next()
	switch {
	case c == nil:
	case !utf8.ValidString(v) || strings.IndexByte(v, 0) >= 0:
		b.err = fmt.Errorf("column %q: the text is not UTF-8, or has a NUL byte in it", c.Name)
	case !b.binary || c.Type.OID == pgtype.TextOID || c.Type.OID == pgtype.VarcharOID:
		b.data = append(binary.BigEndian.AppendUint32(b.data, uint32(len(v))), v...)
	default:
		b.text(c, v)
	}
}

// Value adds a value of any Go type that pgx can send to the column's type; nil is NULL.
func (b *RowBuilder) Value(v any) {
	c := b.next()
	switch text := v.(type) {
	case nil:
		if c != nil {
			b.data = copyfmt.AppendBinaryNull(b.data)
		}
	case string:
		b.field--
		b.Text(text)
	default:
		if c != nil {
			b.value(c, v)
		}
	}
}

// value adds any value.
func (b *RowBuilder) value(c *planner.LoadColumn, v any) {
	form := int16(pgtype.TextFormatCode)
	if b.binary {
		form = pgtype.BinaryFormatCode
	}
	base := &c.Type
	for base.Class == planner.Domain && base.Base != nil {
		base = base.Base
	}
	b.payload(c, func(dst []byte) ([]byte, error) {
		made, err := b.types.Encode(base.OID, form, v, dst)
		if err != nil {
			return b.asText(base.OID, v, dst, err)
		}
		return made, nil
	})
}

// asText adds a value that pgx has no binary form for, or whose type it does not know, such as an enum's.
func (b *RowBuilder) asText(oid uint32, v any, dst []byte, failed error) ([]byte, error) {
	text, err := b.types.Encode(oid, pgtype.TextFormatCode, v, []byte{})
	if err != nil {
		named := reflect.ValueOf(v)
		if named.Kind() != reflect.String {
			return dst, failed
		}
		text = []byte(named.String())
	}
	if !b.binary {
		return append(dst, text...), nil
	}
	return b.encoders[b.field-1](dst, text)
}

// text adds the binary form of a text.
func (b *RowBuilder) text(c *planner.LoadColumn, v string) {
	b.payload(c, func(dst []byte) ([]byte, error) { return b.encoders[b.field-1](dst, []byte(v)) })
}

// payload adds a value behind its length. Encoders answer nil for NULL.
func (b *RowBuilder) payload(c *planner.LoadColumn, add func([]byte) ([]byte, error)) {
	at := len(b.data)
	b.data = append(b.data, 0, 0, 0, 0)
	data, err := add(b.data)
	switch {
	case errors.Is(err, encode.ErrUnsure):
		b.err = &planner.Error{Message: "the value of column \"" + c.Name + "\" is one that only the server can read",
			Hint: "Write it in a form that depends on nothing, or load the rows as text."}
		return
	case err != nil:
		b.err = fmt.Errorf("column %q: %w", c.Name, err)
		return
	case data == nil:
		b.data = copyfmt.AppendBinaryNull(b.data[:at])
		return
	}
	b.data = data
	binary.BigEndian.PutUint32(b.data[at:], uint32(len(b.data)-at-4))
}
