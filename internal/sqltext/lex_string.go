package sqltext

import (
	"bytes"
	"unicode/utf8"
)

// stringToken is a string constant found in a statement: body is what stands
// between its first and its last delimiter, still in its written form.
type stringToken struct {
	body    []byte
	plain   bool // body is the value: no doubled quote, no escape, not continued
	escaped bool // an E'' string
}

// quoted takes a string constant, plain or with E, the lexer standing at its E
// or quote. After it the lexer stands behind white space that was needed to
// look for a continuation (manual, "String Constants": two constants with
// only white space and at least one line break between them are one).
func (l *lexer) quoted() (s stringToken, ok bool) {
	s.plain = true
	if l.next() != '\'' {
		s.escaped = true
		l.at++
	}
	l.at++
	start := l.at
	highEscape := false
	for {
		n := bytes.IndexByte(l.sql[l.at:], '\'')
		if n < 0 {
			return s, false
		}
		part := l.sql[l.at : l.at+n]
		if s.escaped || !l.opts.StandardConformingStrings {
			if first := bytes.IndexByte(part, '\\'); first >= 0 {
				if !s.escaped {
					return s, false
				}
				s.plain = false
				high, ok := checkEscapes(part[first:], l.opts.UTF8)
				if !ok {
					return s, false
				}
				highEscape = highEscape || high
			}
		}
		l.at += n + 1
		end := l.at - 1
		switch c := l.next(); {
		case c == ',' || c == ')':
			// By far the most frequent.
		case c == '\'':
			l.at++
			s.plain = false
			continue
		case l.continued():
			s.plain = false
			continue
		}
		s.body = l.sql[start:end]
		break
	}
	return s, !highEscape || utf8.Valid(s.decode(nil))
}

// continued goes over white space and line comments to the quote of a
// continuation and over it. Without one the lexer stays.
func (l *lexer) continued() bool {
	at := l.at
	line := false
	for l.at < len(l.sql) {
		c := l.sql[l.at]
		switch {
		case c == '\n' || c == '\r':
			line = true
			l.at++
		case class[c]&classSpace != 0:
			l.at++
		case c == '-' && l.ahead(1) == '-':
			l.skipLine()
		case c == '\'' && line:
			l.at++
			return true
		default:
			l.at = at
			return false
		}
	}
	l.at = at
	return false
}

// decode returns the value of the constant. It is a part of the statement
// when the constant is plain, else it is written to buf from its beginning.
func (s stringToken) decode(buf []byte) []byte {
	if s.plain {
		return s.body
	}
	buf = buf[:0]
	l := lexer{sql: s.body}
	for {
		n := bytes.IndexByte(s.body[l.at:], '\'')
		part := s.body[l.at:]
		if n >= 0 {
			part = part[:n]
		}
		if s.escaped {
			buf = appendUnescaped(buf, part)
		} else {
			buf = append(buf, part...)
		}
		if n < 0 {
			return buf
		}
		l.at += n + 1
		if l.next() == '\'' {
			buf = append(buf, '\'')
			l.at++
			continue
		}
		l.continued()
	}
}

// checkEscapes reports whether the server takes each escape of a part of an
// E” string that holds no quote, and whether one stands for more than ASCII,
// so that the bytes around it must be looked at as a whole.
func checkEscapes(part []byte, utf8Server bool) (high, ok bool) {
	for len(part) > 0 {
		if part[0] != '\\' {
			n := bytes.IndexByte(part, '\\')
			if n < 0 {
				break
			}
			part = part[n:]
		}
		r, n := escape(part)
		switch {
		case n == 0:
			return false, false
		case n == 2:
			// The character itself, or a control character: never more than was written.
		case r >= utf8.RuneSelf:
			high = true
		}
		part = part[n:]
	}
	return high, utf8Server || !high
}

// appendUnescaped appends what a part of an E” string stands for.
func appendUnescaped(buf, part []byte) []byte {
	for {
		n := bytes.IndexByte(part, '\\')
		if n < 0 {
			return append(buf, part...)
		}
		buf = append(buf, part[:n]...)
		part = part[n:]
		r, n := escape(part)
		if n == 0 {
			return append(buf, part...) // checkEscapes has refused it
		}
		if unicodeEscape(part) {
			buf = utf8.AppendRune(buf, r)
		} else {
			buf = append(buf, byte(r))
		}
		part = part[n:]
	}
}

func unicodeEscape(s []byte) bool { return s[1] == 'u' || s[1] == 'U' }

// escape reads the escape that s begins with: a byte, or for \u and \U a
// character, and its length. The length is 0 for what the server refuses (a
// zero byte, half a surrogate pair, too few digits), and for what it takes
// only in some versions or settings: \v is a vertical tab since 17, \' depends
// on backslash_quote, which is not reported.
func escape(s []byte) (r rune, n int) {
	if len(s) < 2 {
		return 0, 0
	}
	switch c := s[1]; c {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'v', '\'':
		return 0, 0
	case 'u':
		return unicodePair(s, 4)
	case 'U':
		return unicodePair(s, 8)
	case '0', '1', '2', '3', '4', '5', '6', '7':
		return byteEscape(s, 1, 3, 8)
	case 'x':
		if len(s) > 2 && digit(s[2], 16) >= 0 {
			return byteEscape(s, 2, 2, 16)
		}
		return 'x', 2
	default:
		return rune(c), 2
	}
}

// byteEscape reads 1 to most digits from at on. The length it returns is
// never 2 for a byte beyond ASCII: two octal digits end at 63.
func byteEscape(s []byte, at, most int, base int32) (r rune, n int) {
	n = at
	for n < len(s) && n < at+most && digit(s[n], base) >= 0 {
		r = r*base + digit(s[n], base)
		n++
	}
	r &= 0xFF // the server cuts \400 and more
	if r == 0 {
		return 0, 0
	}
	return r, n
}

// unicodePair reads \u or \U with so many digits, and a second one when the
// first is the first half of a surrogate pair.
func unicodePair(s []byte, digits int) (r rune, n int) {
	r, n = unicodeDigits(s, digits)
	if n == 0 || r >= 0xDC00 && r < 0xE000 {
		return 0, 0
	}
	if r < 0xD800 || r >= 0xE000 {
		return r, n
	}
	rest := s[n:]
	if len(rest) < 2 || rest[0] != '\\' || !unicodeEscape(rest) {
		return 0, 0
	}
	digits = 4
	if rest[1] == 'U' {
		digits = 8
	}
	second, m := unicodeDigits(rest, digits)
	if m == 0 || second < 0xDC00 || second >= 0xE000 {
		return 0, 0
	}
	return 0x10000 + (r-0xD800)<<10 + (second - 0xDC00), n + m
}

func unicodeDigits(s []byte, digits int) (r rune, n int) {
	n = 2 + digits
	if len(s) < n {
		return 0, 0
	}
	for _, c := range s[2:n] {
		d := digit(c, 16)
		if d < 0 || r > utf8.MaxRune {
			return 0, 0
		}
		r = r<<4 | d
	}
	if r == 0 || r > utf8.MaxRune {
		return 0, 0
	}
	return r, n
}

// digit returns the value of a digit, -1 when c is none in that base.
func digit(c byte, base int32) int32 {
	d := int32(-1)
	switch {
	case c >= '0' && c <= '9':
		d = int32(c - '0')
	case c >= 'a' && c <= 'f':
		d = int32(c-'a') + 10
	case c >= 'A' && c <= 'F':
		d = int32(c-'A') + 10
	}
	if d >= base {
		return -1
	}
	return d
}

// dollarQuoted takes a string between $$ or $tag$, the lexer standing at its
// first dollar. Tags beyond ASCII are refused: they are compared after the
// server's conversion.
func (l *lexer) dollarQuoted() (s stringToken, ok bool) {
	end := l.at + 1
	for end < len(l.sql) && l.sql[end] != '$' {
		c := l.sql[end]
		if class[c]&classPart == 0 || c >= utf8.RuneSelf || end == l.at+1 && class[c]&classStart == 0 {
			return s, false
		}
		end++
	}
	if end >= len(l.sql) {
		return s, false
	}
	tag := l.sql[l.at : end+1]
	n := bytes.Index(l.sql[end+1:], tag)
	if n < 0 {
		return s, false
	}
	s = stringToken{body: l.sql[end+1 : end+1+n], plain: true}
	l.at = end + 1 + n + len(tag)
	return s, true
}
