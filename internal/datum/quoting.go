package datum

// quoting says when and how the containing types quote the text of a value in them.
type quoting struct {
	special [256]bool // characters that make quotes necessary
	doubled bool      // " and \ are doubled; else a backslash goes before them
	null    bool      // the text NULL needs quotes
}

func newQuoting(special string, doubled, null bool) *quoting {
	q := &quoting{doubled: doubled, null: null}
	for _, c := range []byte(special + "\"\\ \t\n\v\f\r") {
		q.special[c] = true
	}
	return q
}

// quote puts the text from start to the end of dst into quotes where it needs them, in place: no second buffer is wanted.
func (q *quoting) quote(dst []byte, start int) []byte {
	text := dst[start:]
	needed := len(text) == 0 || q.null && isNull(text)
	escapes := 0
	for _, c := range text {
		if q.special[c] {
			needed = true
			if c == '"' || c == '\\' {
				escapes++
			}
		}
	}
	if !needed {
		return dst
	}
	from := len(dst) - 1
	for range escapes + 2 {
		dst = append(dst, '"')
	}
	to := len(dst) - 2 // the closing quote stands at the end already
	for ; from >= start; from-- {
		c := dst[from]
		dst[to] = c
		to--
		if c == '"' || c == '\\' {
			escape := byte('\\')
			if q.doubled {
				escape = c
			}
			dst[to] = escape
			to--
		}
	}
	dst[start] = '"'
	return dst
}

func isNull(text []byte) bool {
	return len(text) == 4 && text[0]|0x20 == 'n' && text[1]|0x20 == 'u' && text[2]|0x20 == 'l' && text[3]|0x20 == 'l'
}
