package encode

import (
	"encoding/binary"
	"strconv"
)

func bitEncoder(t *Type, _ Settings) Encoder {
	return func(dst, text []byte) ([]byte, error) {
		digits, perDigit := bitDigits(text)
		if n := len(digits) * perDigit; t.Modifier > 0 && n != int(t.Modifier) {
			return dst, &Invalid{State: stateLengthMismatch,
				Message: "bit string length " + strconv.Itoa(n) + " does not match type bit(" + strconv.Itoa(int(t.Modifier)) + ")"}
		}
		return appendBits(dst, digits, perDigit)
	}
}

func varbitEncoder(t *Type, _ Settings) Encoder {
	return func(dst, text []byte) ([]byte, error) {
		digits, perDigit := bitDigits(text)
		if n := len(digits) * perDigit; t.Modifier > 0 && n > int(t.Modifier) {
			return dst, &Invalid{State: stateTooLong, Message: "bit string too long for type bit varying(" + strconv.Itoa(int(t.Modifier)) + ")"}
		}
		return appendBits(dst, digits, perDigit)
	}
}

// bitDigits takes the prefix off, which is without quotes here, and tells the bits of each digit (varbit.c).
func bitDigits(text []byte) (digits []byte, perDigit int) {
	if len(text) > 0 {
		switch text[0] {
		case 'b', 'B':
			return text[1:], 1
		case 'x', 'X':
			return text[1:], 4
		}
	}
	return text, 1
}

// appendBits appends the number of bits, then the bits from the highest of each byte on.
func appendBits(dst, digits []byte, perDigit int) ([]byte, error) {
	start := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(digits)*perDigit))
	kind := "binary"
	if perDigit == 4 {
		kind = "hexadecimal"
	}
	var pending byte
	free := 8
	for i, c := range digits {
		value := hexValues[c]
		if value>>perDigit != 0 {
			return dst[:start], &Invalid{State: stateInvalidText, Message: `"` + firstCharacter(digits[i:]) + `" is not a valid ` + kind + " digit"}
		}
		free -= perDigit
		pending |= value << free
		if free == 0 {
			dst = append(dst, pending)
			pending, free = 0, 8
		}
	}
	if free < 8 {
		dst = append(dst, pending)
	}
	return dst, nil
}
