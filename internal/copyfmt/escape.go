package copyfmt

import "bytes"

// letters has for each byte that the server escapes the letter that stands
// for it after a backslash, else 0 (CopyAttributeOutText).
var letters = [256]byte{
	'\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't', '\v': 'v', '\\': '\\',
}

// controls is the other way round: what a letter after a backslash means.
// Letters that are not here, and not digits or x, stand for themselves.
var controls = [256]byte{
	'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v',
}

// AppendTextField adds a value that is not NULL, escaped as the server
// escapes it. A nil value is the empty string. The result may have up to
// twice the value's bytes.
func AppendTextField(dst, value []byte) []byte {
	start := 0
	for i, c := range value {
		if letter := letters[c]; letter != 0 {
			dst = append(dst, value[start:i]...)
			dst = append(dst, '\\', letter)
			start = i + 1
		}
	}
	return append(dst, value[start:]...)
}

// AppendTextNull adds the NULL marker, \N.
func AppendTextNull(dst []byte) []byte { return append(dst, `\N`...) }

// AppendTextRow adds a whole row: fields, where nil is NULL, tabs between
// them and the newline.
func AppendTextRow(dst []byte, fields [][]byte) []byte {
	for i, f := range fields {
		if i > 0 {
			dst = append(dst, '\t')
		}
		if f == nil {
			dst = AppendTextNull(dst)
			continue
		}
		dst = AppendTextField(dst, f)
	}
	return append(dst, '\n')
}

// AppendUnescaped adds the value that a raw text field stands for, accepting
// all that COPY FROM accepts: letters, up to three octal digits, x and up to
// two hexadecimal digits, and any other byte for itself. A lone backslash at
// the end is dropped, as the server drops it. The value is never longer than
// the field. Check IsTextNull first: here \N is the letter N.
func AppendUnescaped(dst, field []byte) []byte {
	for {
		i := bytes.IndexByte(field, '\\')
		if i < 0 {
			return append(dst, field...)
		}
		dst = append(dst, field[:i]...)
		field = field[i+1:]
		if len(field) == 0 {
			return dst
		}
		c, n := unescape(field)
		dst = append(dst, c)
		field = field[n:]
	}
}

// IsTextNull reports whether a raw text field is NULL.
func IsTextNull(field []byte) bool {
	return len(field) == 2 && field[0] == '\\' && field[1] == 'N'
}

// unescape returns the byte that the start of s means when it stands after a
// backslash, and the length of that start. s is not empty.
func unescape(s []byte) (c byte, n int) {
	switch c = s[0]; {
	case controls[c] != 0:
		return controls[c], 1
	case c >= '0' && c <= '7':
		return octal(s)
	case c == 'x' && len(s) > 1 && hexDigit(s[1]) >= 0:
		c = byte(hexDigit(s[1]))
		if len(s) > 2 && hexDigit(s[2]) >= 0 {
			return c<<4 | byte(hexDigit(s[2])), 3
		}
		return c, 2
	}
	return c, 1
}

// octal reads one to three digits. The server keeps the low eight bits of
// \777, and so does this.
func octal(s []byte) (c byte, n int) {
	for n < 3 && n < len(s) && s[n] >= '0' && s[n] <= '7' {
		c = c<<3 | (s[n] - '0')
		n++
	}
	return c, n
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// indexBare returns the index of the first c in b that no backslash escapes,
// or -1. escaped says whether the byte before b is an escaping backslash.
func indexBare(b []byte, c byte, escaped bool) int {
	from := 0
	for {
		i := bytes.IndexByte(b[from:], c)
		if i < 0 {
			return -1
		}
		if i += from; !isEscaped(b, i, escaped) {
			return i
		}
		from = i + 1
	}
}

// isEscaped reports whether a backslash escapes the byte at i: whether the
// run of backslashes before it is odd. A backslash escapes whatever follows,
// so looking back finds the same as reading from the row's start.
func isEscaped(b []byte, i int, escaped bool) bool {
	j := i
	for j > 0 && b[j-1] == '\\' {
		j--
	}
	odd := (i-j)%2 == 1
	return odd != (j == 0 && escaped)
}
