package rowfile

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"
)

// maxLargeArray is the size of a JSON array, in bytes, up to which it is turned into an array of the server in a large row: that is done in memory.
const maxLargeArray = 32 << 20

// jsonStream passes over the JSON text of a large row as the functions of ndjson_scan.go do with one in memory.
type jsonStream struct {
	r  *bufio.Reader
	at int64
}

func newJSONStream(raw io.ReaderAt, from, to int64) *jsonStream {
	return &jsonStream{r: bufio.NewReaderSize(io.NewSectionReader(raw, from, to-from), rawBuffer), at: from}
}

// peek returns the next byte, and false at the end.
func (s *jsonStream) peek() (byte, bool) {
	b, err := s.r.Peek(1)
	if err != nil {
		return 0, false
	}
	return b[0], true
}

func (s *jsonStream) skip(n int) {
	n, _ = s.r.Discard(n)
	s.at += int64(n)
}

func (s *jsonStream) space() (byte, bool) {
	for {
		c, ok := s.peek()
		if !ok || jsonClass[c]&jsonSpace == 0 {
			return c, ok
		}
		s.skip(1)
	}
}

func (s *jsonStream) expected(what string) *jsonFault {
	head, _ := s.r.Peek(utf8.UTFMax)
	f := faultAt(head, 0, what)
	f.at = s.at
	return f
}

// token passes over a string, number or literal, which is small but for strings.
func (s *jsonStream) token() *jsonFault {
	c, ok := s.peek()
	if !ok {
		return s.expected("a value")
	}
	if c == '"' {
		_, fault := s.text(nil, false)
		return fault
	}
	// Numbers of more than a buffer are none that the server takes: numeric ends at 147 455 digits, a buffer holds 65 536, so let them be.
	head, err := s.r.Peek(rawBuffer)
	if err == nil && !bytes.ContainsAny(head, ",]} \t\r\n") {
		return &jsonFault{at: s.at, what: "a number or word of more than 65536 bytes"}
	}
	var end int
	var fault *jsonFault
	if c == '-' || jsonClass[c]&jsonDigit != 0 {
		end, fault = jsonNumber(head, 0)
	} else {
		end, fault = jsonLiteral(head, 0)
	}
	if fault != nil {
		fault.at += s.at
		return fault
	}
	s.skip(end)
	return nil
}

// text passes over a string, decodes it when that is wanted, and returns how long it is then. The text goes to w when there is one.
func (s *jsonStream) text(w *bytes.Buffer, decode bool) (size int64, fault *jsonFault) {
	s.skip(1)
	var piece []byte
	for done := false; !done; size += int64(len(piece)) {
		if piece, done, fault = s.piece(piece[:0], decode); fault != nil {
			return size, fault
		}
		if w != nil {
			w.Write(piece)
		}
	}
	return size, nil
}

// piece appends the next part of a string's text: a run of plain bytes or one escape. done: the closing quote was passed.
func (s *jsonStream) piece(dst []byte, decode bool) (_ []byte, done bool, fault *jsonFault) {
	head, err := s.r.Peek(max(1, s.r.Buffered()))
	if len(head) == 0 {
		_ = err // a spool file that cannot be read ends as if it were cut off, which is an error too
		return dst, false, s.expected("the string's closing quote")
	}
	n := 0
	for n < len(head) && jsonClass[head[n]]&jsonSpecial == 0 {
		n++
	}
	if n > 0 {
		dst = append(dst, head[:n]...)
		s.skip(n)
		return dst, false, nil
	}
	switch head[0] {
	case '"':
		s.skip(1)
		return dst, true, nil
	case '\\':
	default:
		return dst, false, &jsonFault{at: s.at, what: "byte 0x" + hexByte(head[0]) + " stands in a string, where it must be escaped"}
	}
	dst, fault = s.escape(dst, decode)
	return dst, false, fault
}

// escape passes over an escape and appends what it stands for.
func (s *jsonStream) escape(dst []byte, decode bool) (_ []byte, fault *jsonFault) {
	escape, _ := s.r.Peek(12)
	if len(escape) > 1 && unescaped[escape[1]] != 0 {
		s.skip(2)
		return append(dst, unescaped[escape[1]]), nil
	}
	n := 2
	if len(escape) >= 6 && escape[1] == 'u' {
		n = 6
		if decode && len(escape) == 12 && escape[6] == '\\' && escape[7] == 'u' {
			if r := hexRune(escape[2:]); r >= 0xd800 && r < 0xdc00 {
				n = 12
			}
		}
	}
	escape = escape[:min(n, len(escape))]
	// A quote is put around the escape, so that one function alone says what escapes there are.
	quoted := append(append([]byte{'"'}, escape...), '"')
	if _, _, fault = jsonString(quoted, 0); fault != nil {
		fault.at += s.at - 1
		return dst, fault
	}
	if decode {
		if dst, fault = jsonUnescape(dst, escape, 0); fault != nil {
			fault.at = s.at
			return dst, fault
		}
	}
	s.skip(len(escape))
	return dst, nil
}

// value passes over any value, as jsonValue.
func (s *jsonStream) value() *jsonFault {
	var open []byte
	for {
		c, ok := s.space()
		if !ok {
			return s.expected("a value")
		}
		if c == '[' || c == '{' {
			s.skip(1)
			if next, ok := s.space(); !ok || next != c+2 {
				if open = append(open, c); c == '{' {
					if fault := s.key(nil); fault != nil {
						return fault
					}
				}
				continue
			}
			s.skip(1)
		} else if fault := s.token(); fault != nil {
			return fault
		}
		var fault *jsonFault
		if open, fault = s.behind(open); fault != nil || len(open) == 0 {
			return fault
		}
	}
}

// behind goes on behind a value in brackets, as jsonBehind.
func (s *jsonStream) behind(open []byte) ([]byte, *jsonFault) {
	for len(open) > 0 {
		last := open[len(open)-1]
		c, ok := s.space()
		switch {
		case ok && c == last+2:
			open = open[:len(open)-1]
			s.skip(1)
		case ok && c == ',':
			s.skip(1)
			if last == '[' {
				return open, nil
			}
			s.space()
			return open, s.key(nil)
		case last == '[':
			return open, s.expected(`"," or "]"`)
		default:
			return open, s.expected(`"," or "}"`)
		}
	}
	return open, nil
}

// key passes over a key, whose text goes to w, and its colon.
func (s *jsonStream) key(w *bytes.Buffer) *jsonFault {
	if c, ok := s.peek(); !ok || c != '"' {
		return s.expected("a key in quotes")
	}
	if _, fault := s.text(w, w != nil); fault != nil {
		return fault
	}
	if c, ok := s.space(); !ok || c != ':' {
		return s.expected(`":"`)
	}
	s.skip(1)
	return nil
}

// members calls each with every key of the row's object, at its value, which each must pass over.
func (s *jsonStream) members(each func(key string) *RowError) *RowError {
	if c, ok := s.space(); !ok || c != '{' {
		return syntaxFault(s.expected("one JSON object"))
	}
	s.skip(1)
	if c, ok := s.space(); ok && c == '}' {
		return s.end()
	}
	for {
		var key bytes.Buffer
		if fault := s.key(&key); fault != nil {
			return syntaxFault(fault)
		}
		s.space()
		if bad := each(key.String()); bad != nil {
			return bad
		}
		switch c, ok := s.space(); {
		case ok && c == '}':
			return s.end()
		case !ok || c != ',':
			return syntaxFault(s.expected(`"," or "}"`))
		}
		s.skip(1)
		s.space()
	}
}

func (s *jsonStream) end() *RowError {
	s.skip(1)
	if _, ok := s.space(); ok {
		return syntaxFault(s.expected("the end of the line"))
	}
	return nil
}

// LargeFields implements Parser. The whole row is read once to check it.
func (p *ndjsonParser) LargeFields(b *Block) ([]LargeField, *RowError) {
	if bad := largeUTF8(b.Large); bad != nil {
		return nil, bad
	}
	fields := make([]LargeField, len(p.names))
	for i := range fields {
		fields[i].Null = true
	}
	s := newJSONStream(b.Large.Raw, 0, b.Large.Size)
	bad := s.members(func(key string) *RowError {
		field, ok := p.index[key]
		if !ok {
			return unknownKey(key)
		}
		var bad *RowError
		if fields[field], bad = p.largeValue(b.Large.Raw, s, field); bad != nil {
			return p.blame(bad, field)
		}
		return nil
	})
	if bad != nil {
		return nil, bad
	}
	return fields, nil
}

// largeValue passes over the value at s.
func (p *ndjsonParser) largeValue(raw io.ReaderAt, s *jsonStream, field int) (LargeField, *RowError) {
	from := s.at
	c, _ := s.peek()
	if c == '"' {
		size, fault := s.text(nil, !p.isDocument(field))
		if fault != nil {
			return LargeField{}, syntaxFault(fault)
		}
		to := s.at
		if p.isDocument(field) {
			return LargeField{Size: to - from, Open: func() io.Reader { return io.NewSectionReader(raw, from, to-from) }}, nil
		}
		return LargeField{Size: size, Open: func() io.Reader {
			text := newJSONStream(raw, from, to)
			text.skip(1)
			return &jsonText{s: text}
		}}, nil
	}
	if fault := s.value(); fault != nil {
		return LargeField{}, syntaxFault(fault)
	}
	size := s.at - from
	if c == '[' && field < len(p.arrays) && p.arrays[field] != 0 {
		return largeArray(raw, from, size, p.arrays[field], p.isDocument(field))
	}
	return LargeField{Null: c == 'n', Size: size, Open: func() io.Reader { return io.NewSectionReader(raw, from, size) }}, nil
}

// largeArray turns an array of a large row into one of the server.
func largeArray(raw io.ReaderAt, from, size int64, delimiter byte, documents bool) (LargeField, *RowError) {
	if size > maxLargeArray {
		return LargeField{}, &RowError{
			State: "54000", Message: fmt.Sprintf("an array of %d bytes is too large to be read", size),
			Detail: fmt.Sprintf("JSON arrays above %d bytes are not turned into arrays of the server.", maxLargeArray),
			Hint:   "A column of type jsonb takes it as it is.",
		}
	}
	text := make([]byte, size)
	if n, err := raw.ReadAt(text, from); n < len(text) {
		return LargeField{}, &RowError{State: "58030", Message: "could not read the row again: " + err.Error()}
	}
	array, fault := appendArray(nil, text, int(from), delimiter, documents)
	if fault != nil {
		return LargeField{}, syntaxFault(fault)
	}
	return LargeField{Size: int64(len(array)), Open: func() io.Reader { return bytes.NewReader(array) }}, nil
}

// jsonTextPiece is how much is decoded at once, in bytes: texts may have an escape at every other character.
const jsonTextPiece = 4 << 10

// jsonText reads the decoded text of a string that was passed over before.
type jsonText struct {
	s    *jsonStream
	left []byte
	buf  []byte
	done bool
}

// Read implements io.Reader.
func (t *jsonText) Read(p []byte) (int, error) {
	for len(t.left) == 0 {
		if t.done {
			return 0, io.EOF
		}
		t.buf = t.buf[:0]
		for !t.done && len(t.buf) < jsonTextPiece {
			var fault *jsonFault
			if t.buf, t.done, fault = t.s.piece(t.buf, true); fault != nil {
				return 0, fmt.Errorf("read a row again: %s", fault.what)
			}
		}
		t.left = t.buf
	}
	n := copy(p, t.left)
	t.left = t.left[n:]
	return n, nil
}

// largeUTF8 checks a large row's encoding.
func largeUTF8(l *Large) *RowError {
	buf := make([]byte, rawBuffer)
	kept := 0
	for at := int64(0); at < l.Size; {
		n, err := l.Raw.ReadAt(buf[kept:], at)
		at += int64(n)
		data := buf[:kept+n]
		if n == 0 {
			return &RowError{State: "58030", Message: "could not read the row again: " + err.Error()}
		}
		whole := len(data)
		if at < l.Size {
			// A character may be cut; the longest have four bytes.
			for back := 1; back < utf8.UTFMax && back <= len(data); back++ {
				if utf8.RuneStart(data[len(data)-back]) {
					if !utf8.FullRune(data[len(data)-back:]) {
						whole = len(data) - back
					}
					break
				}
			}
		}
		if !utf8.Valid(data[:whole]) {
			return badUTF8(data, whole)
		}
		kept = copy(buf, data[whole:])
	}
	return nil
}
