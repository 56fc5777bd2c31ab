package pghaul

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/pghaul/pghaul/internal/copyfmt"
	"github.com/pghaul/pghaul/internal/datadir"
	"github.com/pghaul/pghaul/internal/datum"
	"github.com/pghaul/pghaul/internal/sqltext"
)

// stateColumn is the name of the column that says what a row is.
const stateColumn = "pghaul_state"

// rowText prints rows in one of the formats.
type rowText struct {
	format    HeapFormat
	delimiter byte
	names     []string
	kinds     []jsonKind
	clean     []bool // the text never holds what a format must escape
	states    bool
	members   [][]byte // of NDJSON: what stands before each value
}

// jsonKind is how a type's text becomes JSON.
type jsonKind uint8

const (
	jsonString jsonKind = iota
	jsonNumber          // as it is, but for NaN and the infinities
	jsonBool            // t or f
	jsonRaw             // is JSON already
)

// outputKinds tells it by the name of the type's output function.
var outputKinds = map[string]jsonKind{
	"int2out": jsonNumber, "int4out": jsonNumber, "int8out": jsonNumber, "oidout": jsonNumber, "float4out": jsonNumber, "float8out": jsonNumber,
	"numeric_out": jsonNumber, "boolout": jsonBool, "json_out": jsonRaw, "jsonb_out": jsonRaw,
}

// cleanOutputs are output functions whose text has digits, letters and simple punctuation only.
var cleanOutputs = map[string]bool{
	"int2out": true, "int4out": true, "int8out": true, "oidout": true, "boolout": true, "float4out": true, "float8out": true, "numeric_out": true,
	"date_out": true, "time_out": true, "timetz_out": true, "timestamp_out": true, "timestamptz_out": true, "uuid_out": true,
}

func newRowText(format HeapFormat, columns []datadir.Column, states bool) *rowText {
	r := &rowText{format: format, delimiter: '\t', states: states}
	if format == HeapCSV {
		r.delimiter = ','
	}
	for _, c := range columns {
		output := outputFunction(c.Type)
		r.names = append(r.names, c.Name)
		r.kinds = append(r.kinds, outputKinds[output])
		r.clean = append(r.clean, cleanOutputs[output])
	}
	if states {
		r.names = append(r.names, stateColumn)
	}
	for i, name := range r.names {
		member := []byte{','}
		if i == 0 {
			member[0] = '{'
		}
		r.members = append(r.members, append(appendJSON(member, []byte(name)), ':'))
	}
	return r
}

// outputFunction is that of a type, or of what a domain is made of.
func outputFunction(t *datum.Type) string {
	for depth := 0; t.Kind == 'd' && t.Base != nil && depth < 64; depth++ {
		t = t.Base
	}
	return t.Output
}

// header appends the line of the names. NDJSON has none.
func (r *rowText) header(dst []byte) []byte {
	if r.format == HeapNDJSON {
		return dst
	}
	for i, name := range r.names {
		dst = r.separate(dst, i)
		start := len(dst)
		dst = r.escape(append(dst, name...), start)
	}
	return append(dst, '\n')
}

// Row appends a row's line.
func (r *rowText) Row(dst []byte, p *datadir.Printers, row *datadir.Row) ([]byte, error) {
	columns := len(r.names)
	if r.states {
		columns--
	}
	if r.format == HeapNDJSON {
		return r.object(dst, p, row, columns)
	}
	for i, clean := range r.clean {
		if i > 0 {
			dst = append(dst, r.delimiter)
		}
		start := len(dst)
		text, null, err := p.Append(dst, row, i)
		if err != nil {
			return dst, err
		}
		switch {
		case null && r.format == HeapText:
			dst = copyfmt.AppendTextNull(dst)
		case null:
		case clean:
			dst = text
		default:
			dst = r.escape(text, start)
		}
	}
	if r.states {
		dst = append(r.separate(dst, columns), row.State.String()...)
	}
	return append(dst, '\n'), nil
}

func (r *rowText) separate(dst []byte, i int) []byte {
	if i == 0 {
		return dst
	}
	return append(dst, r.delimiter)
}

// escape escapes what stands in dst from start on.
func (r *rowText) escape(dst []byte, start int) []byte {
	if r.format == HeapCSV {
		return quoteCSV(dst, start)
	}
	return copyfmt.EscapeText(dst, start)
}

// quoteCSV quotes a value where COPY does (CopyAttributeOutCSV of copyto.c): an empty one, which would be NULL, one with a comma, a quote or a
// line end, and \. which would end the data.
func quoteCSV(dst []byte, start int) []byte {
	value := dst[start:]
	if len(value) > 0 && !bytes.ContainsAny(value, ",\"\n\r") && string(value) != `\.` {
		return dst
	}
	quotes := bytes.Count(value, []byte{'"'})
	end := len(dst)
	dst = append(dst, make([]byte, quotes+2)...)
	at := len(dst) - 1
	dst[at] = '"'
	for i := end - 1; i >= start; i-- {
		at--
		dst[at] = dst[i]
		if dst[i] == '"' {
			at--
			dst[at] = '"'
		}
	}
	dst[start] = '"'
	return dst
}

// Part appends a part of a row that has a large value, a text, a bytea or a json.
func (r *rowText) Part(dst []byte, part datadir.Part, first bool) []byte {
	i := part.Column
	whole := first && part.Last
	if first {
		if r.format == HeapNDJSON {
			dst = append(dst, r.members[i]...)
		} else {
			dst = r.separate(dst, i)
		}
	}
	start := len(dst)
	switch {
	case part.Null && r.format == HeapNDJSON:
		return append(dst, "null"...)
	case part.Null && r.format == HeapCSV:
		return dst
	case part.Null:
		return copyfmt.AppendTextNull(dst)
	case whole && r.format == HeapNDJSON:
		return r.value(append(dst, part.Text...), start, r.kinds[i])
	case whole || r.format == HeapText:
		return r.escape(append(dst, part.Text...), start)
	}
	return r.largePart(dst, part, first)
}

// largePart appends a part of a value that is always quoted, or is JSON itself.
func (r *rowText) largePart(dst []byte, part datadir.Part, first bool) []byte {
	raw := r.format == HeapNDJSON && r.kinds[part.Column] == jsonRaw
	if first && !raw {
		dst = append(dst, '"')
	}
	for _, c := range part.Text {
		switch {
		case raw && (c == '\n' || c == '\r'): // Between the tokens; within a string there is none.
			dst = append(dst, ' ')
		case raw:
			dst = append(dst, c)
		case r.format == HeapCSV && c == '"':
			dst = append(dst, '"', '"')
		case r.format == HeapCSV:
			dst = append(dst, c)
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = fmt.Appendf(dst, "\\u%04x", c)
		default:
			dst = append(dst, c)
		}
	}
	if part.Last && !raw {
		dst = append(dst, '"')
	}
	return dst
}

// End appends what ends the line of a row that came in parts.
func (r *rowText) End(dst []byte, row *datadir.Row) []byte {
	last := len(r.names) - 1
	switch {
	case r.format == HeapNDJSON && r.states:
		return append(appendJSON(append(dst, r.members[last]...), []byte(row.State.String())), '}', '\n')
	case r.format == HeapNDJSON:
		return append(dst, '}', '\n')
	case r.states:
		dst = append(r.separate(dst, last), row.State.String()...)
	}
	return append(dst, '\n')
}

// object appends a row as a JSON object.
func (r *rowText) object(dst []byte, p *datadir.Printers, row *datadir.Row, columns int) ([]byte, error) {
	if len(r.names) == 0 {
		dst = append(dst, '{')
	}
	for i := range columns {
		dst = append(dst, r.members[i]...)
		start := len(dst)
		text, null, err := p.Append(dst, row, i)
		switch {
		case err != nil:
			return dst, err
		case null:
			dst = append(dst, "null"...)
		default:
			dst = r.value(text, start, r.kinds[i])
		}
	}
	if r.states {
		dst = appendJSON(append(dst, r.members[columns]...), []byte(row.State.String()))
	}
	return append(dst, '}', '\n'), nil
}

// value turns the text that stands in dst from start on into JSON.
func (r *rowText) value(dst []byte, start int, kind jsonKind) []byte {
	text := dst[start:]
	switch kind {
	case jsonNumber:
		if last := text[len(text)-1]; last >= '0' && last <= '9' && text[0] != 'I' {
			return dst
		}
	case jsonBool:
		word := "false"
		if text[0] == 't' {
			word = "true"
		}
		return append(dst[:start], word...)
	case jsonRaw:
		// A json value keeps its line ends, which a line must not have.
		var line bytes.Buffer
		if json.Compact(&line, text) == nil {
			return append(dst[:start], line.Bytes()...)
		}
	case jsonString:
	}
	return appendJSON(dst[:start], bytes.Clone(text)) // the text lies where the string will
}

// appendJSON appends text as a JSON string. Bytes that are no UTF-8 become U+FFFD, since JSON has no way to say them.
func appendJSON(dst, text []byte) []byte {
	if plainJSON(text) {
		dst = append(append(dst, '"'), text...)
		return append(dst, '"')
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(string(text)) // A string always has a form in JSON.
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte{'\n'})...)
}

// plainJSON reports whether a text needs no escape in JSON.
func plainJSON(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c >= 0x7F || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

func heapName(t *datadir.Table) string { return sqltext.QuoteQualified(t.Schema, t.Name) }
