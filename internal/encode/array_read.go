package encode

import "encoding/binary"

// arrayReader reads what stands in braces and appends the elements.
type arrayReader struct {
	*arrayKind
	text     []byte
	at       int
	shape    arrayShape
	header   int // where in dst the dimensions are; -1 for not yet
	elements int
	nulls    bool
}

// reserve leaves room for the dimensions, whose number is certain from the first element on.
func (r *arrayReader) reserve(dst []byte) []byte {
	r.header = len(dst)
	return append(dst, make([]byte, 8*r.shape.n)...)
}

// read follows ReadArrayStr of 17 and later. The text that older versions have taken apart before has none of the faults that they see then.
func (r *arrayReader) read(dst []byte) ([]byte, error) {
	shape := &r.shape
	var counts [maxDimensions]int
	depth, frozen, wantDelim := 0, shape.given, false
	for {
		r.at = skipSpace(r.text, r.at)
		if r.at == len(r.text) {
			return dst, malformedArray(r.text, arrayEnds)
		}
		switch c := r.text[r.at]; c {
		case '{':
			if wantDelim {
				return dst, malformedArray(r.text, unexpected(c))
			}
			if depth == maxDimensions {
				return dst, r.tooDeep()
			}
			counts[depth] = 0
			if depth++; depth > shape.n {
				if frozen {
					return dst, r.mismatch()
				}
				shape.n = depth
			}
		case '}':
			depth--
			if counts[depth] > 0 && !wantDelim {
				return dst, malformedArray(r.text, unexpected(c))
			}
			if depth > 0 {
				counts[depth-1]++
			}
			if shape.length[depth] < 0 {
				shape.length[depth] = counts[depth]
			} else if shape.length[depth] != counts[depth] {
				return dst, r.mismatch()
			}
			wantDelim = true
		case r.delim:
			if !wantDelim {
				return dst, malformedArray(r.text, unexpected(c))
			}
			wantDelim = false
		default:
			var err error
			if dst, err = r.element(dst, wantDelim); err != nil {
				return dst, err
			}
			frozen = true
			if depth != shape.n {
				return dst, r.mismatch()
			}
			counts[depth-1]++
			wantDelim = true
			continue
		}
		r.at++
		if depth == 0 {
			return dst, nil
		}
	}
}

func (r *arrayReader) mismatch() error {
	if r.shape.given {
		return malformedArray(r.text, arrayMismatch)
	}
	return malformedArray(r.text, arrayDimensions)
}

// element reads an element and appends it with its length. A fault of its text comes before that of an element where none may stand.
func (r *arrayReader) element(dst []byte, misplaced bool) ([]byte, error) {
	var item []byte
	var escapes bool
	var err error
	quoted := r.text[r.at] == '"'
	if quoted {
		item, escapes, err = r.scanQuoted()
	} else {
		item, escapes, err = r.scanBare()
	}
	if err != nil {
		return dst, err
	}
	if misplaced {
		return dst, malformedArray(r.text, arrayElement)
	}
	if r.header < 0 {
		dst = r.reserve(dst)
	}
	r.elements++
	if !quoted && !escapes && len(item) == 4 && hasWord(item, "null") {
		r.nulls = true
		return append(dst, 0xff, 0xff, 0xff, 0xff), nil
	}
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	if escapes {
		if dst, err = r.escaped(dst, item); err != nil {
			return dst, err
		}
	} else if dst, err = r.elem(dst, item); err != nil {
		return dst, err
	}
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst, nil
}

// escaped encodes an element that has backslashes. What it is without them stands at the end of dst meanwhile, which saves memory of its own.
func (r *arrayReader) escaped(dst, item []byte) ([]byte, error) {
	start := len(dst)
	for i := 0; i < len(item); i++ {
		if item[i] == '\\' {
			i++
		}
		dst = append(dst, item[i])
	}
	end := len(dst)
	dst, err := r.elem(dst, dst[start:end:end])
	if err != nil {
		return dst, err
	}
	n := copy(dst[start:], dst[end:])
	return dst[:start+n], nil
}

// scanQuoted finds the end of an element in quotes.
func (r *arrayReader) scanQuoted() (item []byte, escapes bool, err error) {
	start := r.at + 1
	i := start
	for ; i < len(r.text) && r.text[i] != '"'; i++ {
		if r.text[i] == '\\' {
			escapes = true
			i++
		}
	}
	if i >= len(r.text) {
		return nil, false, malformedArray(r.text, arrayEnds)
	}
	r.at = skipSpace(r.text, i+1)
	if r.at == len(r.text) {
		return nil, false, malformedArray(r.text, arrayEnds)
	}
	if c := r.text[r.at]; c != r.delim && c != '}' && c != '{' {
		return nil, false, malformedArray(r.text, "Incorrectly quoted array element.")
	}
	return r.text[start:i], escapes, nil
}

// scanBare finds the end of an element without quotes, behind which white space does not count.
func (r *arrayReader) scanBare() (item []byte, escapes bool, err error) {
	start, end := r.at, r.at
	for i := start; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '{':
			return nil, false, malformedArray(r.text, unexpected(c))
		case c == '"':
			return nil, false, malformedArray(r.text, "Incorrectly quoted array element.")
		case c == r.delim || c == '}':
			r.at = i
			return r.text[start:end], escapes, nil
		case c == '\\':
			escapes = true
			if i++; i == len(r.text) {
				return nil, false, malformedArray(r.text, arrayEnds)
			}
			end = i + 1
		case !isSpace(c):
			end = i + 1
		}
	}
	return nil, false, malformedArray(r.text, arrayEnds)
}
