package rowfile

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/pghaul/pghaul/planner"
)

// fixedParser takes blocks of fixed records apart.
type fixedParser struct {
	l     Layout
	names []string
	from  *charset // nil for UTF-8

	fields  [][]byte
	scratch []byte
	row     Row
}

func newFixedParser(l *Layout) *fixedParser {
	p := &fixedParser{l: *l, names: l.fields(), from: charsetOf(l.Encoding), fields: make([][]byte, len(l.Fixed.Fields))}
	p.scratch = make([]byte, 0, 4*l.Fixed.stride()+1024)
	return p
}

// Parse implements Parser.
func (p *fixedParser) Parse(b *Block, emit func(*Row) error) error {
	if b.Large != nil {
		return &planner.Error{Message: "a large row is read field by field"}
	}
	line := b.Begin.Line
	for at, n := 0, int64(0); at < len(b.Data); n++ {
		end, content := p.record(b, at)
		p.scratch = p.scratch[:0]
		bad := p.read(b.Data[at : at+content])
		p.row = Row{Fields: p.fields, Bad: bad, Span: Span{Start: at, End: end, Line: line + n, Number: n}}
		if err := emit(&p.row); err != nil {
			return err
		}
		at = end
	}
	return nil
}

// record returns where the record at at ends and how long it is without a line end.
func (p *fixedParser) record(b *Block, at int) (end, content int) {
	rest := b.Data[at:]
	if !p.l.Fixed.Lines {
		n := min(p.l.Fixed.stride(), len(rest))
		return at + n, n
	}
	n := bytes.IndexByte(rest, lastByte(b.ends))
	if n < 0 {
		return len(b.Data), len(rest)
	}
	content = n
	if b.ends == EndCRLF && n > 0 && rest[n-1] == '\r' {
		content--
	}
	return at + n + 1, content
}

// read sets fields from a record.
func (p *fixedParser) read(record []byte) *RowError {
	lines := p.l.Fixed.Lines
	if lines && len(bytes.TrimRight(record, " ")) > p.l.Fixed.stride() {
		return extraData()
	}
	if p.names != nil && len(p.names) < len(p.l.Fixed.Fields) {
		return extraData()
	}
	for i := range p.l.Fixed.Fields {
		f := &p.l.Fixed.Fields[i]
		end := f.Offset + f.Size
		if lines {
			end = min(end, len(record))
		}
		if end > len(record) || f.Offset > end {
			return missingData(p.names, i)
		}
		value, bad := p.value(f, record[f.Offset:end:end])
		if bad != nil {
			bad.Field, bad.Column = i+1, columnName(p.names, i)
			return bad
		}
		p.fields[i] = value
	}
	if len(p.names) > len(p.fields) {
		return missingData(p.names, len(p.fields))
	}
	return nil
}

// value returns a field's text, nil for NULL.
func (p *fixedParser) value(f *FixedField, raw []byte) ([]byte, *RowError) {
	if f.isText() {
		return p.text(f, raw)
	}
	if f.Null != nil && bytes.Equal(raw, f.Null) {
		return nil, nil
	}
	start := len(p.scratch)
	switch f.Kind {
	case FixedInteger:
		p.scratch = strconv.AppendInt(p.scratch, signed(raw), 10)
	case FixedUnsigned:
		p.scratch = strconv.AppendUint(p.scratch, unsigned(raw), 10)
	default:
		p.scratch = appendFloat(p.scratch, raw)
	}
	return p.scratch[start:len(p.scratch):len(p.scratch)], nil
}

// text is a field up to its first NUL byte. It is NULL when that is exactly what NULLIF says, and, without NULLIF, when the first byte is NUL.
func (p *fixedParser) text(f *FixedField, raw []byte) ([]byte, *RowError) {
	end := bytes.IndexByte(raw, 0)
	if end >= 0 && !p.l.Fixed.Lines {
		raw = raw[:end:end]
		if end == 0 && f.Null == nil {
			return nil, nil
		}
	}
	if f.Null != nil && bytes.Equal(raw, f.Null) {
		return nil, nil
	}
	if f.Kind == FixedChar {
		raw = bytes.TrimRight(raw, " ")
	}
	if p.from == nil {
		if !utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0 {
			return nil, badUTF8(raw, len(raw))
		}
		return raw, nil
	}
	start := len(p.scratch)
	out, bad := p.from.convert(p.scratch, raw)
	p.scratch = out
	return out[start:len(out):len(out)], bad
}

func signed(raw []byte) int64 {
	switch len(raw) {
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(raw)))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(raw)))
	}
	return int64(binary.LittleEndian.Uint64(raw))
}

func unsigned(raw []byte) uint64 {
	if len(raw) == 2 {
		return uint64(binary.LittleEndian.Uint16(raw))
	}
	return uint64(binary.LittleEndian.Uint32(raw))
}

// appendFloat writes the shortest text that reads back as the same number, with the server's words for what is not finite.
func appendFloat(dst, raw []byte) []byte {
	size, v := 64, math.Float64frombits(uint64(signed(raw)))
	if len(raw) == 4 {
		size, v = 32, float64(math.Float32frombits(uint32(unsigned(raw))))
	}
	switch {
	case math.IsNaN(v):
		return append(dst, "NaN"...)
	case math.IsInf(v, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(v, -1):
		return append(dst, "-Infinity"...)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, size)
}

// LargeFields implements Parser.
func (p *fixedParser) LargeFields(b *Block) ([]LargeField, *RowError) {
	// A record has at most 1 MB; a line above 8 MB is longer than its fields.
	return nil, extraData()
}

// Raw implements Parser.
func (p *fixedParser) Raw(b *Block, r Span) []byte { return rawRow(&p.l, b, r) }
