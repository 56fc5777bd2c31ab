package rowfile

import (
	"encoding/binary"
	"fmt"
	"io"
)

// binaryParser parses rows of COPY binary, whose fields are payloads already. Every row must have as many fields as the first.
type binaryParser struct {
	width  int
	row    Row
	fields [][]byte
}

// Parse implements Parser.
func (p *binaryParser) Parse(b *Block, emit func(*Row) error) error {
	for start, number := 0, int64(0); start < len(b.Data); number++ {
		end := p.split(b.Data, start)
		p.row = Row{Fields: p.fields, Binary: true, Span: Span{Start: start, End: end, Line: b.Begin.Line + number, Number: number}}
		if len(p.fields) != p.width {
			p.row.Bad = wrongWidth(len(p.fields), p.width)
		}
		if err := emit(&p.row); err != nil {
			return err
		}
		start = end
	}
	return nil
}

// split sets the fields of the row that begins at start, and returns where it ends. The block was cut by rowLength, so that lengths are right.
func (p *binaryParser) split(data []byte, start int) (end int) {
	p.fields = p.fields[:0]
	end = start + rowLength(data[start:])
	if end == start {
		return len(data)
	}
	rest := data[start+2 : end]
	for len(rest) >= 4 {
		n := int(int32(binary.BigEndian.Uint32(rest)))
		rest = rest[4:]
		if n < 0 {
			p.fields = append(p.fields, nil)
			continue
		}
		p.fields = append(p.fields, rest[:n:n])
		rest = rest[n:]
	}
	return end
}

// wrongWidth is the server's error (BinaryOneRow in copyfromparse.c).
func wrongWidth(is, want int) *RowError {
	return &RowError{State: "22P04", Message: fmt.Sprintf("row field count is %d, expected %d", is, want)}
}

// Raw implements Parser.
func (p *binaryParser) Raw(b *Block, r Span) []byte { return b.Data[r.Start:r.End] }

// LargeFields implements Parser.
func (p *binaryParser) LargeFields(b *Block) ([]LargeField, *RowError) {
	raw := b.Large.Raw
	var number [4]byte
	unreadable := func(err error) *RowError {
		return &RowError{State: "58030", Message: "could not read the row again: " + err.Error()}
	}
	if _, err := raw.ReadAt(number[:2], 0); err != nil {
		return nil, unreadable(err)
	}
	if n := int(binary.BigEndian.Uint16(number[:])); n != p.width {
		return nil, wrongWidth(n, p.width)
	}
	fields := make([]LargeField, p.width)
	at := int64(2)
	for i := range fields {
		// The end of the file is told together with the last bytes.
		if n, err := raw.ReadAt(number[:], at); n < len(number) {
			return nil, unreadable(err)
		}
		at += int64(len(number))
		size := int64(int32(binary.BigEndian.Uint32(number[:])))
		if size < 0 {
			fields[i].Null = true
			continue
		}
		from := at
		fields[i] = LargeField{Size: size, Open: func() io.Reader { return io.NewSectionReader(raw, from, size) }}
		at += size
	}
	return fields, nil
}
