package rowfile

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// ndjsonParser parses newline-delimited JSON: one object a line, with a column's name as each key. A key that a row lacks is NULL, a key that no
// column has is an error, and of equal keys the last one counts, as in jsonb. Blank lines are passed over.
type ndjsonParser struct {
	names  []string
	index  map[string]int
	arrays []byte // by field: what stands between the elements of the array column that it goes to; 0 for other columns
	// documents are the fields of json and jsonb columns, and of arrays of them: strings are documents there, as in json_populate_record.
	documents []bool
	row       Row
	fields    [][]byte
	text      []byte // decoded strings of the row
	kinds     []byte // of the values, by their first characters: '"' for a string
	open      []byte // brackets
}

func newNDJSONParser(names []string, arrays []byte) *ndjsonParser {
	p := &ndjsonParser{names: names, index: make(map[string]int, len(names)), arrays: arrays, fields: make([][]byte, len(names)), kinds: make([]byte, len(names))}
	for i, name := range names {
		p.index[name] = i
	}
	return p
}

// Parse implements Parser.
func (p *ndjsonParser) Parse(b *Block, emit func(*Row) error) error {
	valid := utf8.Valid(b.Data)
	line, number := b.Begin.Line, int64(0)
	for start := 0; start < len(b.Data); line++ {
		end := len(b.Data)
		if i := bytes.IndexByte(b.Data[start:], '\n'); i >= 0 {
			end = start + i + 1
		}
		text := b.Data[start:end]
		if isBlank(text) {
			start = end
			continue
		}
		p.row = Row{Fields: p.fields, Span: Span{Start: start, End: end, Line: line, Number: number}}
		if !valid {
			p.row.Bad = badUTF8(text, len(text))
		}
		if p.row.Bad == nil {
			p.row.Bad = p.object(text)
		}
		if err := emit(&p.row); err != nil {
			return err
		}
		number++
		start = end
	}
	return nil
}

// isBlank reports whether a line is no row. Nearly all lines show at their first byte that they are one.
func isBlank(line []byte) bool { return jsonSkipSpace(line, 0) == len(line) }

// Raw implements Parser.
func (p *ndjsonParser) Raw(b *Block, r Span) []byte { return b.Data[r.Start:r.End] }

// object sets the fields from a line.
func (p *ndjsonParser) object(line []byte) *RowError {
	clear(p.fields)
	p.text = p.text[:0]
	i := jsonSkipSpace(line, 0)
	if line[i] != '{' {
		return syntaxFault(faultAt(line, i, "one JSON object"))
	}
	i = jsonSkipSpace(line, i+1)
	if i < len(line) && line[i] == '}' {
		return endOfObject(line, i)
	}
	for next := 0; ; next++ {
		key := i
		if i >= len(line) || line[i] != '"' {
			return syntaxFault(faultAt(line, i, "a key in quotes"))
		}
		end, escaped, fault := jsonString(line, i)
		if fault != nil {
			return syntaxFault(fault)
		}
		i = end
		field, bad := p.column(line[key+1:i-1], key+1, escaped, next)
		if bad != nil {
			return bad
		}
		next = field
		if i = jsonSkipSpace(line, i); i >= len(line) || line[i] != ':' {
			return syntaxFault(faultAt(line, i, `":"`))
		}
		if i, bad = p.value(line, jsonSkipSpace(line, i+1), field); bad != nil {
			return bad
		}
		i = jsonSkipSpace(line, i)
		switch {
		case i < len(line) && line[i] == '}':
			return endOfObject(line, i)
		case i >= len(line) || line[i] != ',':
			return syntaxFault(faultAt(line, i, `"," or "}"`))
		}
		i = jsonSkipSpace(line, i+1)
	}
}

func endOfObject(line []byte, i int) *RowError {
	if i = jsonSkipSpace(line, i+1); i < len(line) {
		return syntaxFault(faultAt(line, i, "the end of the line"))
	}
	return nil
}

// column finds the field of a key. Rows mostly have their keys in the order of the columns, so the one behind the last is tried first.
func (p *ndjsonParser) column(key []byte, at int, escaped bool, next int) (int, *RowError) {
	if next < len(p.names) && string(key) == p.names[next] {
		return next, nil
	}
	if escaped {
		begin := len(p.text)
		var fault *jsonFault
		if p.text, fault = jsonUnescape(p.text, key, at); fault != nil {
			return 0, syntaxFault(fault)
		}
		key = p.text[begin:]
	}
	if i, ok := p.index[string(key)]; ok {
		return i, nil
	}
	return 0, unknownKey(string(key))
}

func unknownKey(key string) *RowError {
	return &RowError{
		State: "22P04", Message: fmt.Sprintf("no column for key %q", key),
		Hint: "Columns are known by the keys of the file's first rows, or by --columns.",
	}
}

// value sets a field from the value at i.
func (p *ndjsonParser) value(line []byte, i, field int) (int, *RowError) {
	if i >= len(line) {
		return i, syntaxFault(faultAt(line, i, "a value"))
	}
	p.kinds[field] = line[i]
	if line[i] == '"' {
		end, escaped, fault := jsonString(line, i)
		if fault != nil {
			return i, p.blame(syntaxFault(fault), field)
		}
		text := line[i+1 : end-1 : end-1]
		if p.isDocument(field) {
			text = line[i:end:end]
		} else if escaped {
			begin := len(p.text)
			if p.text, fault = jsonUnescape(p.text, text, i+1); fault != nil {
				return i, p.blame(syntaxFault(fault), field)
			}
			text = p.text[begin:len(p.text):len(p.text)]
		}
		p.fields[field] = text
		return end, nil
	}
	end, open, fault := jsonValue(line, i, p.open)
	p.open = open
	if fault != nil {
		return i, p.blame(syntaxFault(fault), field)
	}
	text := line[i:end:end]
	switch {
	case line[i] == 'n':
		text = nil
	case line[i] == '[' && field < len(p.arrays) && p.arrays[field] != 0:
		begin := len(p.text)
		if p.text, fault = appendArray(p.text, text, i, p.arrays[field], p.isDocument(field)); fault != nil {
			return i, p.blame(syntaxFault(fault), field)
		}
		text = p.text[begin:len(p.text):len(p.text)]
	}
	p.fields[field] = text
	return end, nil
}

func (p *ndjsonParser) isDocument(field int) bool {
	return field < len(p.documents) && p.documents[field]
}

func (p *ndjsonParser) blame(e *RowError, field int) *RowError {
	e.Column, e.Field = p.names[field], field+1
	return e
}

// syntaxFault is the error of a row that is no JSON, in the server's words.
func syntaxFault(f *jsonFault) *RowError {
	if f.nul {
		return &RowError{
			State: "22021", Message: `invalid byte sequence for encoding "UTF8": 0x00`,
			Detail: fmt.Sprintf(`\u0000 stands at byte %d of the row.`, f.at+1), Hint: "No type of text can hold it.",
		}
	}
	return &RowError{
		State: "22P02", Message: "invalid input syntax for type json",
		Detail: fmt.Sprintf("At byte %d of the row: %s.", f.at+1, f.what),
	}
}
