package rowfile

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/pghaul/pghaul/planner"
)

// textParser takes blocks of CSV and Text apart.
type textParser struct {
	l     Layout
	names []string // what fields are held to
	width int      // how many fields a row has, -1 when that is not known
	force []forcing
	null  []byte

	split [EndCR + 1]fieldSplitter // by line end
	from  *charset                 // nil for UTF-8

	list      fieldList
	converted []byte
	row       Row
}

// forcing says what becomes of a field that is, or is not, NULL.
type forcing struct{ null, notNull bool }

// newTextParser returns a parser of a layout; the layout is complete. Parser of Fixed, too, has its own type.
func newTextParser(l *Layout) Parser {
	if l.Format == Fixed {
		return newFixedParser(l)
	}
	p := &textParser{l: *l, names: l.fields(), width: -1, from: charsetOf(l.Encoding), null: append([]byte{}, l.null()...)}
	switch {
	case p.names != nil:
		p.width = len(p.names)
	case l.Width > 0:
		p.width = l.Width
	}
	p.list.most = mostFields
	if p.width >= 0 {
		p.list.most = max(p.width, 1)
	}
	p.list.scratch = make([]byte, 0, 1024)
	for ends := range p.split {
		if l.Format == Text {
			p.split[ends] = newTextSplitter(l, LineEnd(ends))
			continue
		}
		p.split[ends] = newCSVSplitter(l, LineEnd(ends))
	}
	if l.isCSV() {
		p.force = forcings(l, p.names)
	}
	return p
}

// forcings returns which fields are forced, nil when none is.
func forcings(l *Layout, names []string) []forcing {
	if len(l.ForceNull)+len(l.ForceNotNull) == 0 {
		return nil
	}
	listed := func(list []string, name string) bool {
		for _, s := range list {
			if s == name || s == "*" && len(list) == 1 {
				return true
			}
		}
		return false
	}
	made := make([]forcing, max(len(names), l.Width))
	for i := range made {
		name := ""
		if i < len(names) {
			name = names[i]
		}
		made[i] = forcing{null: listed(l.ForceNull, name), notNull: listed(l.ForceNotNull, name)}
	}
	return made
}

// Parse implements Parser.
func (p *textParser) Parse(b *Block, emit func(*Row) error) error {
	if b.Large != nil {
		return &planner.Error{Message: "a large row is read field by field"}
	}
	plain := p.from == nil || isASCII(b.Data)
	valid := bytes.IndexByte(b.Data, 0) < 0 && (p.from != nil || utf8.Valid(b.Data))
	splitter := p.split[b.ends]
	line := b.Begin.Line
	for at, n := 0, int64(0); at < len(b.Data); n++ {
		p.list = fieldList{fields: p.list.fields[:0], most: p.list.most, scratch: p.list.scratch[:0]}
		var end int
		var bad *RowError
		if plain {
			end, bad = splitter.split(b.Data, at, &p.list)
		} else {
			end, bad = p.convert(b, at, splitter)
		}
		if !valid {
			// Bytes come before syntax: the server looks at a buffer's bytes before it looks for rows in it.
			if why := p.badBytes(b.Data[at:], end-at); why != nil {
				bad = why
			}
		}
		if bad == nil {
			bad = p.finish()
		}
		p.row = Row{Fields: p.list.fields, Bad: p.named(bad), Span: Span{Start: at, End: end, Line: line, Number: n}}
		if err := emit(&p.row); err != nil {
			return err
		}
		line++
		if p.list.lines {
			line += int64(max(bytes.Count(b.Data[at:end], []byte{lastByte(b.ends)})-1, 0))
		}
		at = end
	}
	return nil
}

func (p *textParser) badBytes(data []byte, n int) *RowError {
	if p.from == nil {
		return badUTF8(data, n)
	}
	if i := bytes.IndexByte(data[:n], 0); i >= 0 {
		return p.from.invalid(data[i : i+1])
	}
	return nil
}

// convert splits a row that may not be in ASCII.
func (p *textParser) convert(b *Block, at int, splitter fieldSplitter) (end int, bad *RowError) {
	scan := newRowScan(&p.l, b.ends)
	end = len(b.Data)
	if n := scan.first(b.Data[at:]); n >= 0 {
		end = at + n
	}
	raw := b.Data[at:end]
	if isASCII(raw) {
		_, bad = splitter.split(raw, 0, &p.list)
		return end, bad
	}
	p.converted, bad = p.from.convert(p.converted[:0], raw)
	if bad == nil {
		_, bad = splitter.split(p.converted, 0, &p.list)
	}
	p.list.lines = true
	return end, bad
}

// finish checks the number of fields and forces NULLs.
func (p *textParser) finish() *RowError {
	list := &p.list
	switch {
	case p.width < 0:
		if list.count > list.most {
			return extraData()
		}
	case p.width == 0 && list.count == 1 && len(list.fields[0]) == 0:
		list.fields = list.fields[:0] // An empty line, which has one empty field to this parser, is a row of a table without columns.
	case list.count > p.width:
		return extraData()
	case list.count < p.width:
		return missingData(p.names, list.count)
	}
	for i := range min(len(p.force), len(list.fields)) {
		switch f := list.fields[i]; {
		case f == nil && p.force[i].notNull:
			list.fields[i] = p.null
		case f != nil && p.force[i].null && string(f) == string(p.null):
			list.fields[i] = nil
		}
	}
	return nil
}

func extraData() *RowError {
	return &RowError{State: stateBadFormat, Message: "extra data after last expected column"}
}

// missingData is the server's refusal of a row that ends before field i, counted from 0.
func missingData(names []string, i int) *RowError {
	name := columnName(names, i)
	return &RowError{Column: name, Field: i + 1, State: stateBadFormat, Message: fmt.Sprintf(`missing data for column "%s"`, name)}
}

// columnName is the name of field i, counted from 0, for messages.
func columnName(names []string, i int) string {
	if i < len(names) && names[i] != "" {
		return names[i]
	}
	return fmt.Sprintf("column%d", i+1)
}

// named completes an error with its column.
func (p *textParser) named(bad *RowError) *RowError {
	if bad != nil && bad.Field > 0 && bad.Column == "" {
		bad.Column = columnName(p.names, bad.Field-1)
	}
	return bad
}

// lastByte is the last byte of a line end.
func lastByte(ends LineEnd) byte {
	if ends == EndCR {
		return '\r'
	}
	return '\n'
}

// Raw implements Parser.
func (p *textParser) Raw(b *Block, r Span) []byte { return rawRow(&p.l, b, r) }

// rawRow returns a row's bytes as the file has them.
func rawRow(l *Layout, b *Block, r Span) []byte {
	raw := b.Data[r.Start:r.End:r.End]
	if l.wideText() {
		return appendUTF16(nil, raw, l.Encoding == utf16BE)
	}
	return raw
}
