package rowfile

import (
	"bytes"

	"github.com/pghaul/pghaul/internal/copyfmt"
)

// textSplitter parts rows of COPY text (CopyReadAttributesText in copyfromparse.c).
type textSplitter struct {
	delimiter byte
	null      []byte
	ends      LineEnd
	stops     specials
}

func newTextSplitter(l *Layout, ends LineEnd) *textSplitter {
	return &textSplitter{delimiter: l.Delimiter, null: append([]byte{}, l.null()...), ends: ends, stops: newSpecials(l.Delimiter, '\\', '\n', '\r')}
}

func (s *textSplitter) split(data []byte, at int, row *fieldList) (end int, bad *RowError) {
	for {
		start := at
		i := s.stops.index(data, at)
		escaped := i < len(data) && data[i] == '\\'
		for i < len(data) && data[i] == '\\' {
			if i+1 < len(data) && data[i+1] == '.' && bad == nil {
				bad = markerInRow()
			}
			i = s.stops.index(data, min(i+2, len(data)))
		}
		value, why := data[start:i:i], (*RowError)(nil)
		if escaped {
			row.lines = true
			value, why = s.unescape(value, row)
		} else if len(value) == len(s.null) && string(value) == string(s.null) {
			value = nil
		}
		if bad == nil && why != nil {
			why.Field = row.count + 1
			bad = why
		}
		row.add(value)
		if i == len(data) {
			return i, bad
		}
		at = i + 1
		if data[i] == s.delimiter {
			continue
		}
		end, stray := lineEndAt(data, i, s.ends)
		if stray && bad == nil {
			bad = strayText(data[i])
		}
		if end > 0 {
			return end, bad
		}
	}
}

// unescape returns what a field with backslashes stands for.
func (s *textSplitter) unescape(field []byte, row *fieldList) ([]byte, *RowError) {
	// A lone backslash at the end of the data is dropped before NULL is looked for, in the server too.
	bare := field
	if n := len(field); (n-len(bytes.TrimRight(field, `\`)))%2 == 1 {
		bare = field[:n-1]
	}
	if string(bare) == string(s.null) {
		return nil, nil
	}
	begin := len(row.scratch)
	row.scratch = copyfmt.AppendUnescaped(row.scratch, field)
	value := row.scratch[begin:len(row.scratch):len(row.scratch)]
	return value, badUTF8(value, len(value)) // \377 may be anything.
}

// strayText is the server's refusal of a line end that is not the file's.
func strayText(c byte) *RowError {
	name, escape := endName(c), `\n`
	if c == '\r' {
		escape = `\r`
	}
	return &RowError{State: stateBadFormat, Message: "literal " + name + " found in data", Hint: `Use "` + escape + `" to represent ` + name + "."}
}

// markerInRow is the refusal of an end-of-copy marker that has text before or behind it in its line. Servers before 18 take the text before it
// as a row and drop all that follows.
func markerInRow() *RowError {
	return &RowError{State: stateBadFormat, Message: "end-of-copy marker is not alone on its line"}
}

// escapeLength is how many bytes the escape has that s begins with: a backslash and what belongs to it.
func escapeLength(s []byte) int {
	isOctal := func(c byte) bool { return c >= '0' && c <= '7' }
	isHex := func(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }
	n := min(2, len(s))
	switch {
	case n < 2:
	case isOctal(s[1]):
		for n < 4 && n < len(s) && isOctal(s[n]) {
			n++
		}
	case s[1] == 'x':
		for n < 4 && n < len(s) && isHex(s[n]) {
			n++
		}
	}
	return n
}

// appendEscape adds what one escape stands for.
func appendEscape(dst, escape []byte) []byte { return copyfmt.AppendUnescaped(dst, escape) }
