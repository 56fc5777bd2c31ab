package rowfile

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pghaul/pghaul/planner"
)

// States of the errors about encodings.
const (
	stateInvalidBytes = "22021" // character_not_in_repertoire
	stateNoEquivalent = "22P05" // untranslatable_character
)

const utf8Name = "UTF8"

// The names of UTF-16, which the server does not have.
const (
	utf16LE = "UTF16LE"
	utf16BE = "UTF16BE"
)

// wideness says which bytes of ASCII may also be part of a character in an encoding. In most none is.
type wideness int

const (
	narrow wideness = iota
	wideSJIS
	wideDouble // BIG5, GBK, UHC
	wideGB18030
)

// firstTrail is the lowest byte that is the second or a later one of a character in any encoding here (GB18030's digits).
const firstTrail = 0x30

// leads reports whether c, which is not ASCII, begins a character of more than one byte.
func (w wideness) leads(c byte) bool { return w != wideSJIS || c < 0xa1 || c > 0xdf }

func bareName(name string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			return c
		}
		return -1
	}, strings.ToUpper(name))
}

// encodingNamed returns an encoding's name as this package uses it.
func encodingNamed(name string) (string, error) {
	switch bare := bareName(name); bare {
	case "":
		return "", nil
	case utf8Name, "UNICODE", "SQLASCII":
		return utf8Name, nil
	case "UTF16":
		return "UTF16", nil
	case utf16LE, utf16BE:
		return bare, nil
	default:
		if c := charsets[bare]; c != nil {
			return c.name, nil
		}
	}
	return "", &planner.Error{Kind: planner.Usage, Message: fmt.Sprintf("encoding %q cannot be read", name),
		Hint: "Convert the file to UTF8 first, for example with iconv."}
}

// charsetOf returns the encoding to convert from, nil for UTF-8 and for UTF-16, which is converted before rows are cut.
func charsetOf(name string) *charset { return charsets[bareName(name)] }

func wideOf(name string) wideness {
	if c := charsetOf(name); c != nil {
		return c.wide
	}
	return narrow
}

// hexBytes writes bytes as the server's messages do (report_invalid_encoding in mbutils.c).
func hexBytes(b []byte) string {
	var s strings.Builder
	for i, c := range b {
		if i > 0 {
			s.WriteByte(' ')
		}
		fmt.Fprintf(&s, "0x%02x", c)
	}
	return s.String()
}

// badUTF8 returns what the server says about text[:n], or nil when it is valid and without NUL bytes. What stands behind n is shown as far as the
// first broken character reaches into it.
func badUTF8(text []byte, n int) *RowError {
	for i := 0; i < n; {
		c, size := text[i], 1
		if c >= 0x80 {
			var r rune
			if r, size = utf8.DecodeRune(text[i:n]); r == utf8.RuneError && size == 1 {
				size = 0
			}
		}
		if c == 0 || size == 0 {
			shown := text[i:min(i+utf8Length(c), len(text))]
			return &RowError{State: stateInvalidBytes, Message: fmt.Sprintf(`invalid byte sequence for encoding "UTF8": %s`, hexBytes(shown))}
		}
		i += size
	}
	return nil
}

// utf8Length is the length of the character that begins with c (pg_utf_mblen).
func utf8Length(c byte) int {
	switch {
	case c&0xe0 == 0xc0:
		return 2
	case c&0xf0 == 0xe0:
		return 3
	case c&0xf8 == 0xf0:
		return 4
	}
	return 1
}

// utf8Stream checks text that comes in pieces.
type utf8Stream struct{ rest []byte }

// add checks the next piece; last: it is the end.
func (u *utf8Stream) add(piece []byte, last bool) *RowError {
	if len(u.rest) > 0 {
		piece = append(u.rest, piece...)
	}
	n := len(piece)
	if !last {
		// A character may go on in the next piece.
		for i := n - 1; i >= 0 && i >= n-utf8.UTFMax+1; i-- {
			if utf8.RuneStart(piece[i]) {
				if !utf8.FullRune(piece[i:]) {
					n = i
				}
				break
			}
		}
	}
	if bad := badUTF8(piece[:n], n); bad != nil {
		return bad
	}
	u.rest = append([]byte(nil), piece[n:]...)
	return nil
}
