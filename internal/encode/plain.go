package encode

import (
	"strconv"
	"unicode/utf8"
)

// plainTypes are those whose binary form is their text, or nearly so.
var plainTypes = map[uint32]maker{
	16:   boolEncoder,
	17:   byteaEncoder,
	18:   charEncoder,
	19:   nameEncoder,
	25:   textEncoder,
	1042: limitedEncoder("character"),
	1043: limitedEncoder("character varying"),
	114:  jsonEncoder,
	3802: jsonbEncoder,
	4072: versionedEncoder, // jsonpath
	142:  xmlEncoder,
	2950: uuidEncoder,
	1560: bitEncoder,
	1562: varbitEncoder,
}

// noHex marks what is no hexadecimal digit in hexValues.
const noHex = 0xff

// hexValues are the values of hexadecimal digits.
var hexValues = func() (values [256]byte) {
	for c := range values {
		values[c] = noHex
		if d := digitValue(byte(c)); d < 16 {
			values[c] = byte(d)
		}
	}
	return values
}()

func textEncoder(*Type, Settings) Encoder {
	return func(dst, text []byte) ([]byte, error) { return append(dst, text...), nil }
}

// limitedEncoder makes the encoder of character(n) or character varying(n): of what is too long, blanks may be cut (varchar.c). The server
// pads character(n) itself.
func limitedEncoder(typeName string) maker {
	return func(t *Type, s Settings) Encoder {
		if t.Modifier < 4 {
			return textEncoder(t, s)
		}
		limit := int(t.Modifier - 4)
		return func(dst, text []byte) ([]byte, error) {
			if len(text) <= limit { // a character has at least one byte
				return append(dst, text...), nil
			}
			cut := clip(text, limit)
			for _, c := range text[cut:] {
				if c != ' ' {
					return dst, &Invalid{State: stateTooLong, Message: "value too long for type " + typeName + "(" + strconv.Itoa(limit) + ")"}
				}
			}
			return append(dst, text[:cut]...), nil
		}
	}
}

// clip returns where the first n characters of UTF-8 text end.
func clip(text []byte, n int) int {
	for i, c := range text {
		if c&0xC0 == 0x80 {
			continue
		}
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}

// nameLength is NAMEDATALEN - 1, in bytes of the server's encoding.
const nameLength = 63

// nameEncoder cuts what is too long, as namein does and namerecv does not.
func nameEncoder(*Type, Settings) Encoder {
	return func(dst, text []byte) ([]byte, error) {
		if len(text) <= nameLength {
			return append(dst, text...), nil
		}
		for _, c := range text {
			if c >= utf8.RuneSelf { // where to cut depends on the server's encoding
				return dst, ErrUnsure
			}
		}
		return append(dst, text[:nameLength]...), nil
	}
}

// charEncoder keeps the first byte, and since 15 reads \ooo, of which it keeps eight bits (char.c).
func charEncoder(_ *Type, s Settings) Encoder {
	return func(dst, text []byte) ([]byte, error) {
		if len(text) == 0 {
			return append(dst, 0), nil
		}
		if text[0] >= utf8.RuneSelf { // a byte of the server's encoding
			return dst, ErrUnsure
		}
		if s.Version >= 15 && len(text) == 4 && text[0] == '\\' {
			if a, b, c := text[1]-'0', text[2]-'0', text[3]-'0'; a|b|c <= 7 {
				return append(dst, a<<6|b<<3|c), nil
			}
		}
		return append(dst, text[0]), nil
	}
}

// versionedEncoder is for types whose binary form is version 1 of itself: a byte, then the text, which the server reads as it reads text.
func versionedEncoder(*Type, Settings) Encoder {
	return func(dst, text []byte) ([]byte, error) { return append(append(dst, 1), text...), nil }
}

// xmlEncoder passes on all but documents that declare an encoding: as text it is ignored, as binary data believed (xml.c).
func xmlEncoder(*Type, Settings) Encoder {
	return func(dst, text []byte) ([]byte, error) {
		if hasWord(text, "<?xml") {
			return dst, ErrUnsure
		}
		return append(dst, text...), nil
	}
}

// boolEncoder takes what boolin takes (bool.c): the words and their beginnings, as far as these are clear.
func boolEncoder(*Type, Settings) Encoder {
	return func(dst, text []byte) ([]byte, error) {
		if len(text) == 1 {
			switch text[0] {
			case 't', '1':
				return append(dst, 1), nil
			case 'f', '0':
				return append(dst, 0), nil
			}
		}
		start, end := skipSpace(text, 0), len(text)
		for end > start && isSpace(text[end-1]) {
			end--
		}
		switch word := text[start:end]; {
		case len(word) == 0:
		case begins("true", word), begins("yes", word), len(word) == 2 && begins("on", word), len(word) == 1 && word[0] == '1':
			return append(dst, 1), nil
		case begins("false", word), begins("no", word), len(word) >= 2 && begins("off", word), len(word) == 1 && word[0] == '0':
			return append(dst, 0), nil
		}
		return dst, invalidSyntax("boolean", text)
	}
}

// begins tells whether a word of lower-case letters begins with part, in any case.
func begins(word string, part []byte) bool {
	return len(part) <= len(word) && hasWord(part, word[:len(part)])
}

func uuidEncoder(*Type, Settings) Encoder {
	return func(dst, text []byte) ([]byte, error) {
		made, ok := appendUUID(dst, text)
		if !ok {
			return dst, invalidSyntax("uuid", text)
		}
		return made, nil
	}
}

// appendUUID takes what string_to_uuid takes (uuid.c): a hyphen after any two bytes but the last, braces around the whole.
func appendUUID(dst, text []byte) ([]byte, bool) {
	braces := len(text) > 0 && text[0] == '{'
	if braces {
		if text[len(text)-1] != '}' {
			return dst, false
		}
		text = text[1 : len(text)-1]
	}
	var value [16]byte
	i := 0
	for n := range value {
		if i+2 > len(text) {
			return dst, false
		}
		high, low := hexValues[text[i]], hexValues[text[i+1]]
		if high|low == noHex {
			return dst, false
		}
		value[n] = high<<4 | low
		i += 2
		if n&1 == 1 && n < len(value)-1 && i < len(text) && text[i] == '-' {
			i++
		}
	}
	return append(dst, value[:]...), i == len(text)
}

// enumEncoder takes the labels, which are the binary form too (enum.c).
func enumEncoder(t *Type) Encoder {
	labels := make(map[string]struct{}, len(t.Labels))
	for _, label := range t.Labels {
		labels[label] = struct{}{}
	}
	name := t.Name
	return func(dst, text []byte) ([]byte, error) {
		if _, ok := labels[string(text)]; !ok {
			return dst, &Invalid{State: stateInvalidText, Message: "invalid input value for enum " + name + `: "` + string(text) + `"`}
		}
		return append(dst, text...), nil
	}
}

// extensionEncoder knows the types of extensions by their receive functions. Those of ltree read version 1 of their text as the input
// functions do.
func extensionEncoder(t *Type) Encoder {
	switch t.Receive {
	case "citextrecv", "textrecv":
		return textEncoder(t, Settings{})
	case "ltree_recv", "lquery_recv", "ltxtq_recv":
		return versionedEncoder(t, Settings{})
	}
	return nil
}
