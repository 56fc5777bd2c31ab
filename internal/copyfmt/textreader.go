package copyfmt

import (
	"bytes"
	"io"
)

// TextReader is the Reader of COPY text with the default delimiter and NULL
// marker. As COPY FROM it takes \n, \r\n or \r as the line end, whichever
// comes first, and then no other; a last row without one is a row; a line of
// \. alone ends the data, and what follows it is not read.
type TextReader struct {
	stream
	lines   lineEnds
	scratch []byte // unescaped fields of the current row
}

// endOfCopy is what once ended the data, before the protocol had CopyDone.
var endOfCopy = []byte(`\.`)

// NewTextReader returns a reader from a row's start; see NewReader.
func NewTextReader(src io.Reader, columns, limit int) *TextReader {
	t := &TextReader{}
	t.stream = newStream(src, &t.lines, columns, limit)
	return t
}

// Next implements Reader.
func (t *TextReader) Next() (*Row, error) {
	if t.failed != nil {
		return nil, t.failed
	}
	line, ended, err := t.next()
	if err != nil {
		return nil, t.fail(err)
	}
	if t.large {
		t.rows++
		t.row = Row{Fields: t.row.Fields[:0], Large: true}
		return &t.row, nil
	}
	if err := t.decode(line, ended); err != nil {
		return nil, t.fail(err)
	}
	t.rows++
	return &t.row, nil
}

// decode sets row from a line; io.EOF means the end marker.
func (t *TextReader) decode(line []byte, ended piece) error {
	content, problem := t.lines.trim(line, ended)
	if problem != "" {
		return t.wrong(0, problem)
	}
	t.row = Row{Fields: t.row.Fields[:0], Raw: content}
	switch {
	case bytes.IndexByte(content, '\\') >= 0:
		if bytes.Equal(content, endOfCopy) {
			return io.EOF
		}
		// A server of version 17 drops what follows; 18 refuses, and so does
		// this: rows that vanish are worse than an error.
		if hasEndMarker(content) {
			return t.wrong(0, "end-of-copy marker is not alone on its line")
		}
		t.splitEscaped(content)
	case t.columns == 0 && len(content) == 0:
		return nil
	default:
		t.splitPlain(content)
	}
	switch n := len(t.row.Fields); {
	case t.columns < 0 || n == t.columns:
		return nil
	case n > t.columns:
		return t.wrong(t.columns+1, "extra data after last expected column")
	default:
		return t.wrong(n+1, "missing data for column")
	}
}

// hasEndMarker reports whether a line has \. with a backslash that is not
// itself escaped.
func hasEndMarker(content []byte) bool {
	for from := 0; ; {
		i := bytes.Index(content[from:], endOfCopy)
		if i < 0 {
			return false
		}
		if from += i + 1; isEscaped(content, from, false) {
			return true
		}
	}
}

// splitPlain cuts a line that has no backslash.
func (t *TextReader) splitPlain(content []byte) {
	for {
		i := bytes.IndexByte(content, '\t')
		if i < 0 {
			t.row.Fields = append(t.row.Fields, content)
			return
		}
		t.row.Fields = append(t.row.Fields, content[:i:i])
		content = content[i+1:]
	}
}

// splitEscaped cuts a line with backslashes, and unescapes where they are.
func (t *TextReader) splitEscaped(content []byte) {
	// Room for all fields at once: growing in between would leave the first
	// fields in the old buffer, which is right but holds both.
	if cap(t.scratch) < len(content) {
		t.scratch = make([]byte, 0, 2*len(content))
	}
	t.scratch = t.scratch[:0]
	for {
		i := indexBare(content, '\t', false)
		if i < 0 {
			t.row.Fields = append(t.row.Fields, t.value(content))
			return
		}
		t.row.Fields = append(t.row.Fields, t.value(content[:i:i]))
		content = content[i+1:]
	}
}

// value returns what a raw field stands for; nil is NULL.
func (t *TextReader) value(field []byte) []byte {
	// A lone backslash at the end of a line that has no line end is dropped
	// before NULL is looked for, in the server too.
	if isEscaped(field, len(field), false) {
		field = field[:len(field)-1]
	}
	if IsTextNull(field) {
		return nil
	}
	if bytes.IndexByte(field, '\\') < 0 {
		return field
	}
	start := len(t.scratch)
	t.scratch = AppendUnescaped(t.scratch, field)
	end := len(t.scratch)
	return t.scratch[start:end:end]
}
