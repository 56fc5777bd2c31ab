package encode

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

const stateInvalidParameter = "22023"

// byteaEncoder follows byteain (varlena.c): the hexadecimal form after \x, else the escape form.
func byteaEncoder(*Type, Settings) Encoder {
	return func(dst, text []byte) ([]byte, error) {
		if digits, ok := bytes.CutPrefix(text, []byte(`\x`)); ok {
			return appendHex(dst, digits)
		}
		return appendEscaped(dst, text)
	}
}

// appendHex reads pairs of digits, with white space between the pairs.
func appendHex(dst, digits []byte) ([]byte, error) {
	start := len(dst)
	dst = slices.Grow(dst, len(digits)/2)
	for i := 0; i < len(digits); i += 2 {
		high := hexValues[digits[i]]
		if high == noHex {
			switch digits[i] {
			case ' ', '\n', '\t', '\r':
				i--
				continue
			}
			return dst[:start], invalidHex(digits[i:])
		}
		if i+1 == len(digits) {
			return dst[:start], &Invalid{State: stateInvalidParameter, Message: "invalid hexadecimal data: odd number of digits"}
		}
		low := hexValues[digits[i+1]]
		if low == noHex {
			return dst[:start], invalidHex(digits[i+1:])
		}
		dst = append(dst, high<<4|low)
	}
	return dst, nil
}

func invalidHex(rest []byte) *Invalid {
	return &Invalid{State: stateInvalidParameter, Message: `invalid hexadecimal digit: "` + firstCharacter(rest) + `"`}
}

func firstCharacter(text []byte) string {
	_, n := utf8.DecodeRune(text)
	return string(text[:n])
}

// appendEscaped reads the escape form: \\ and \ooo stand for a byte, others for themselves.
func appendEscaped(dst, text []byte) ([]byte, error) {
	start := len(dst)
	foreign := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		foreign = foreign || c >= utf8.RuneSelf
		if c != '\\' {
			dst = append(dst, c)
			continue
		}
		if value, ok := octal(text[i:]); ok {
			dst = append(dst, value)
			i += 3
		} else if i+1 < len(text) && text[i+1] == '\\' {
			dst = append(dst, '\\')
			i++
		} else {
			return dst[:start], &Invalid{State: stateInvalidText, Message: "invalid input syntax for type bytea"}
		}
	}
	if foreign { // its bytes are those of the server's encoding
		return dst[:start], ErrUnsure
	}
	return dst, nil
}

// octal reads a backslash and three octal digits up to \377 at the start of text.
func octal(text []byte) (byte, bool) {
	if len(text) < 4 || text[0] != '\\' {
		return 0, false
	}
	a, b, c := text[1]-'0', text[2]-'0', text[3]-'0'
	return a<<6 | b<<3 | c, a <= 3 && b <= 7 && c <= 7
}
