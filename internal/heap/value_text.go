package heap

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

const (
	oidXML       = 142
	nameSize     = 64 // NAMEDATALEN
	modifierHead = 4  // VARHDRSZ, which the modifiers of character types count
)

// Makers of types whose payload is text, and of strings of bytes and bits.
var textMakers = map[uint32]func(*Datatype) Maker{
	17: same(makeBytes), 19: same(makeName), 25: same(makeText), oidXML: same(makeText), 114: same(makeJSON),
	1042: paddedMaker, 1043: varyingMaker, 1560: bitsMaker, 1562: bitsMaker,
}

func makeBytes(dst, payload []byte) ([]byte, error) { return append(dst, payload...), nil }

func makeText(dst, payload []byte) ([]byte, error) {
	if err := checkText(payload); err != nil {
		return dst, err
	}
	return append(dst, payload...), nil
}

// checkText refuses what is no UTF-8, and NUL bytes (report_invalid_encoding of mbutils.c).
func checkText(text []byte) error {
	if utf8.Valid(text) && bytes.IndexByte(text, 0) < 0 {
		return nil
	}
	for rest := text; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r != 0 && (r != utf8.RuneError || size > 1) {
			rest = rest[size:]
			continue
		}
		message := `invalid byte sequence for encoding "UTF8":`
		for _, b := range rest[:min(len(rest), statedLength(rest[0]))] {
			message += fmt.Sprintf(" 0x%02x", b)
		}
		return &Refused{State: stateBadEncoding, Message: message}
	}
	return nil
}

// statedLength is how long a character is by its first byte (pg_utf_mblen of wchar.c).
func statedLength(first byte) int {
	switch {
	case first&0xE0 == 0xC0:
		return 2
	case first&0xF0 == 0xE0:
		return 3
	case first&0xF8 == 0xF0:
		return 4
	}
	return 1
}

func makeJSON(dst, payload []byte) ([]byte, error) {
	if err := checkText(payload); err != nil {
		return dst, err
	}
	if !json.Valid(payload) {
		return dst, errJSON
	}
	return append(dst, payload...), nil
}

var errJSON = &Refused{State: stateInvalidText, Message: "invalid input syntax for type json"}

func makeName(dst, payload []byte) ([]byte, error) {
	if err := checkText(payload); err != nil {
		return dst, err
	}
	if len(payload) >= nameSize {
		return dst, &Refused{State: stateNameTooLong, Message: "identifier too long", Detail: "Identifier must be less than " + strconv.Itoa(nameSize) + " characters."}
	}
	return append(append(dst, payload...), make([]byte, nameSize-len(payload))...), nil
}

// varyingMaker cuts blanks behind the limit of varchar(n) (varchar_input of varchar.c).
func varyingMaker(t *Datatype) Maker {
	most := int(t.Modifier) - modifierHead
	if most < 0 {
		return makeText
	}
	return func(dst, payload []byte) ([]byte, error) {
		if err := checkText(payload); err != nil {
			return dst, err
		}
		payload, _, err := cutBlanks(payload, most, "character varying")
		return append(dst, payload...), err
	}
}

// paddedMaker fills char(n) up with blanks (bpchar_input of varchar.c).
func paddedMaker(t *Datatype) Maker {
	size := int(t.Modifier) - modifierHead
	if size < 0 {
		return makeText
	}
	blanks := bytes.Repeat([]byte{' '}, size)
	return func(dst, payload []byte) ([]byte, error) {
		if err := checkText(payload); err != nil {
			return dst, err
		}
		payload, characters, err := cutBlanks(payload, size, "character")
		if err != nil {
			return dst, err
		}
		return append(append(dst, payload...), blanks[:size-characters]...), nil
	}
}

// cutBlanks holds a text to a number of characters, and returns how many it has.
func cutBlanks(text []byte, most int, name string) (cut []byte, characters int, err error) {
	if characters = utf8.RuneCount(text); characters <= most {
		return text, characters, nil
	}
	at := 0
	for range most {
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	if len(bytes.TrimRight(text[at:], " ")) > 0 {
		return nil, 0, &Refused{State: stateTooLong, Message: "value too long for type " + name + "(" + strconv.Itoa(most) + ")"}
	}
	return text[:at], most, nil
}

const (
	oidBit     = 1560
	mostBits   = 1<<31 - 1 - 7 // VARBITMAXLEN
	bitsOfByte = 8
)

// bitsMaker makes bit(n) and bit varying(n): the number of bits, then the bits, the rest of the last byte 0 (bit_recv and varbit_recv of varbit.c).
func bitsMaker(t *Datatype) Maker {
	limit, fixed := int(t.Modifier), t.OID == oidBit
	return func(dst, payload []byte) ([]byte, error) {
		r := reader{rest: payload}
		size := int(int32(r.uint32()))
		switch {
		case r.short:
			return dst, errShort
		case size < 0 || size > mostBits:
			return dst, &Refused{State: stateInvalidBinary, Message: "invalid length in external bit string"}
		case fixed && limit > 0 && size != limit:
			return dst, &Refused{State: stateLengthMismatch, Message: fmt.Sprintf("bit string length %d does not match type bit(%d)", size, limit)}
		case !fixed && limit > 0 && size > limit:
			return dst, &Refused{State: stateTooLong, Message: fmt.Sprintf("bit string too long for type bit varying(%d)", limit)}
		}
		bits := r.rest
		if err := sized(bits, (size+bitsOfByte-1)/bitsOfByte); err != nil {
			return dst, err
		}
		dst = append(le.AppendUint32(dst, uint32(size)), bits...)
		if rest := size % bitsOfByte; rest > 0 {
			dst[len(dst)-1] &= 0xFF << (bitsOfByte - rest)
		}
		return dst, nil
	}
}
