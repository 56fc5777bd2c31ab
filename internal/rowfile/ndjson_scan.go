package rowfile

import (
	"strconv"
	"unicode/utf8"
)

// jsonFault is what is wrong with a JSON text.
type jsonFault struct {
	at   int64 // the byte, counted from 0
	what string
	nul  bool // \u0000, which is JSON but no text of the server's
}

// faultAt makes the fault of what was expected, and of what stands there instead; at may be behind the end.
func faultAt(b []byte, at int, expected string) *jsonFault {
	return &jsonFault{at: int64(at), what: "expected " + expected + ", found " + foundAt(b, at)}
}

func foundAt(b []byte, at int) string {
	if at >= len(b) {
		return "the end of the line"
	}
	r, n := utf8.DecodeRune(b[at:])
	if r == utf8.RuneError && n <= 1 || r < ' ' {
		return "byte 0x" + strconv.FormatUint(uint64(b[at]), 16)
	}
	return strconv.Quote(string(r))
}

// What a byte means in JSON (RFC 8259).
const (
	jsonSpace = 1 << iota
	jsonDigit
	jsonSpecial // ends a run of plain bytes in a string: quote, backslash, control characters
	jsonWord    // would lengthen a literal or a number in front of it
)

var jsonClass = func() (class [256]uint8) {
	for c := range class {
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			class[c] |= jsonSpace
		case c >= '0' && c <= '9':
			class[c] |= jsonDigit | jsonWord
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80:
			class[c] |= jsonWord
		}
		if c < ' ' || c == '"' || c == '\\' {
			class[c] |= jsonSpecial
		}
	}
	return class
}()

func jsonSkipSpace(b []byte, i int) int {
	for i < len(b) && jsonClass[b[i]]&jsonSpace != 0 {
		i++
	}
	return i
}

// jsonString passes over the string whose first quote is at i. Escapes are checked but for surrogates, which do not matter until the string is
// decoded: the server's json type does as much.
func jsonString(b []byte, i int) (end int, escaped bool, fault *jsonFault) {
	for i++; ; i++ {
		for i < len(b) && jsonClass[b[i]]&jsonSpecial == 0 {
			i++
		}
		switch {
		case i >= len(b):
			return i, escaped, faultAt(b, i, "the string's closing quote")
		case b[i] == '"':
			return i + 1, escaped, nil
		case b[i] != '\\':
			return i, escaped, &jsonFault{at: int64(i), what: "byte 0x" + hexByte(b[i]) + " stands in a string, where it must be escaped"}
		}
		escaped = true
		i++
		if i >= len(b) {
			return i, escaped, faultAt(b, i, "the rest of an escape")
		}
		switch b[i] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		case 'u':
			for range 4 {
				if i++; i >= len(b) || hexValue(b[i]) < 0 {
					return i, escaped, faultAt(b, i, `four hexadecimal digits behind \u`)
				}
			}
		default:
			return i, escaped, faultAt(b, i, "an escape that JSON has")
		}
	}
}

func hexByte(c byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[c>>4], digits[c&15]})
}

func hexValue(c byte) rune {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0')
	case c >= 'a' && c <= 'f':
		return rune(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return rune(c-'A') + 10
	}
	return -1
}

// jsonNumber passes over the number at i.
func jsonNumber(b []byte, i int) (end int, fault *jsonFault) {
	digits := func() bool {
		begin := i
		for i < len(b) && jsonClass[b[i]]&jsonDigit != 0 {
			i++
		}
		return i > begin
	}
	if b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if !digits() {
		return i, faultAt(b, i, "a digit")
	}
	if i < len(b) && b[i] == '.' {
		if i++; !digits() {
			return i, faultAt(b, i, "a digit behind the decimal point")
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if !digits() {
			return i, faultAt(b, i, "a digit of the exponent")
		}
	}
	if i < len(b) && jsonClass[b[i]]&jsonWord != 0 {
		return i, faultAt(b, i, "the end of the number")
	}
	return i, nil
}

// jsonLiteral passes over true, false or null.
func jsonLiteral(b []byte, i int) (end int, fault *jsonFault) {
	word := "null"
	switch b[i] {
	case 't':
		word = "true"
	case 'f':
		word = "false"
	case 'n':
	default:
		return i, faultAt(b, i, "a value")
	}
	end = i + len(word)
	if end > len(b) || string(b[i:end]) != word || end < len(b) && jsonClass[b[end]]&jsonWord != 0 {
		return i, &jsonFault{at: int64(i), what: "expected a value, found a word that is none"}
	}
	return end, nil
}

// jsonValue passes over the value at i, which may be an array or an object of any depth: open keeps its brackets, and is given back to be used again.
func jsonValue(b []byte, i int, open []byte) (end int, stack []byte, fault *jsonFault) {
	open = open[:0]
	for {
		i = jsonSkipSpace(b, i)
		if i >= len(b) {
			return i, open, faultAt(b, i, "a value")
		}
		switch c := b[i]; {
		case c == '[' || c == '{':
			next := jsonSkipSpace(b, i+1)
			if next < len(b) && b[next] == c+2 { // the closing bracket, in ASCII
				i = next + 1
				break
			}
			open = append(open, c)
			if i = next; c == '{' {
				if i, fault = jsonMember(b, i); fault != nil {
					return i, open, fault
				}
			}
			continue
		case c == '"':
			i, _, fault = jsonString(b, i)
		case c == '-' || jsonClass[c]&jsonDigit != 0:
			i, fault = jsonNumber(b, i)
		default:
			i, fault = jsonLiteral(b, i)
		}
		if fault != nil {
			return i, open, fault
		}
		if i, open, fault = jsonBehind(b, i, open); fault != nil || len(open) == 0 {
			return i, open, fault
		}
	}
}

// jsonBehind goes on behind a value in brackets: to the next value in them, or out of those that end.
func jsonBehind(b []byte, i int, open []byte) (int, []byte, *jsonFault) {
	for len(open) > 0 {
		last := open[len(open)-1]
		i = jsonSkipSpace(b, i)
		switch {
		case i < len(b) && b[i] == last+2:
			open = open[:len(open)-1]
			i++
		case i < len(b) && b[i] == ',':
			i = jsonSkipSpace(b, i+1)
			if last == '[' {
				return i, open, nil
			}
			i, fault := jsonMember(b, i)
			return i, open, fault
		case last == '[':
			return i, open, faultAt(b, i, `"," or "]"`)
		default:
			return i, open, faultAt(b, i, `"," or "}"`)
		}
	}
	return i, open, nil
}

// jsonMember passes over a key and the colon behind it.
func jsonMember(b []byte, i int) (int, *jsonFault) {
	if i >= len(b) || b[i] != '"' {
		return i, faultAt(b, i, "a key in quotes")
	}
	i, _, fault := jsonString(b, i)
	if fault != nil {
		return i, fault
	}
	if i = jsonSkipSpace(b, i); i >= len(b) || b[i] != ':' {
		return i, faultAt(b, i, `":"`)
	}
	return i + 1, nil
}

// jsonUnescape appends the text of a string, given without its quotes, that jsonString has passed over. at is where it begins, for faults.
func jsonUnescape(dst, s []byte, at int) ([]byte, *jsonFault) {
	for i := 0; i < len(s); {
		begin := i
		for i < len(s) && s[i] != '\\' {
			i++
		}
		dst = append(dst, s[begin:i]...)
		if i == len(s) {
			break
		}
		if s[i+1] != 'u' {
			dst = append(dst, unescaped[s[i+1]])
			i += 2
			continue
		}
		r := hexRune(s[i+2:])
		used := 6
		switch {
		case r == 0:
			return dst, &jsonFault{at: int64(at + i), nul: true}
		case r >= 0xdc00 && r < 0xe000:
			return dst, &jsonFault{at: int64(at + i), what: "Unicode low surrogate must follow a high surrogate"}
		case r >= 0xd800 && r < 0xdc00:
			low := rune(0)
			if i+12 <= len(s) && s[i+6] == '\\' && s[i+7] == 'u' {
				low = hexRune(s[i+8:])
			}
			if low < 0xdc00 || low >= 0xe000 {
				return dst, &jsonFault{at: int64(at + i), what: "Unicode high surrogate must be followed by a low surrogate"}
			}
			r = 0x10000 + (r-0xd800)<<10 + (low - 0xdc00)
			used = 12
		}
		dst = utf8.AppendRune(dst, r)
		i += used
	}
	return dst, nil
}

// unescaped is what a byte means behind a backslash.
var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func hexRune(s []byte) (r rune) {
	for _, c := range s[:4] {
		r = r<<4 | hexValue(c)
	}
	return r
}
