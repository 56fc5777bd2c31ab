package encode

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"
)

func float8Encoder(_ *Type, s Settings) Encoder {
	return func(dst, text []byte) ([]byte, error) {
		if v, ok := quickFloat(text); ok {
			return binary.BigEndian.AppendUint64(dst, math.Float64bits(v)), nil
		}
		v, err := readFloat(text, 64, s)
		if err != nil {
			return dst, err
		}
		return binary.BigEndian.AppendUint64(dst, math.Float64bits(v)), nil
	}
}

func float4Encoder(_ *Type, s Settings) Encoder {
	return func(dst, text []byte) ([]byte, error) {
		v, err := readFloat(text, 32, s)
		if err != nil {
			return dst, err
		}
		if math.IsNaN(v) { // a conversion might lose the sign, which the server keeps
			return binary.BigEndian.AppendUint32(dst, uint32(math.Float64bits(v)>>32&(1<<31))|0x7fc00000), nil
		}
		return binary.BigEndian.AppendUint32(dst, math.Float32bits(float32(v))), nil
	}
}

// exactPowers are the powers of ten that a float64 holds exactly.
var exactPowers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// quickFloat reads digits with at most one point and no exponent, where number and power of ten are exact, so that one division rounds once.
func quickFloat(text []byte) (float64, bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	if len(text) == 0 || len(text) > len(exactPowers) {
		return 0, false
	}
	var mantissa uint64
	point := -1
	for i, c := range text {
		if d := c - '0'; d <= 9 {
			mantissa = mantissa*10 + uint64(d)
			continue
		}
		if c != '.' || point >= 0 || len(text) == 1 {
			return 0, false
		}
		point = i
	}
	if mantissa > 1<<53 {
		return 0, false
	}
	v := float64(mantissa)
	if point >= 0 {
		v /= exactPowers[len(text)-1-point]
	}
	if negative {
		v = -v
	}
	return v, true
}

// readFloat follows float8in_internal (float.c), which asks strtod: the longest prefix that is a number, then white space.
func readFloat(text []byte, bits int, s Settings) (float64, error) {
	typeName := "double precision"
	if bits == 32 {
		typeName = "real"
	}
	start := skipSpace(text, 0)
	v, end, err := strtod(text[start:], bits)
	if errors.Is(err, errRange) {
		if bits == 32 && s.Version < 16 { // which names the whole text, the number alone only for double precision
			start, end = 0, len(text)
		}
		return 0, &Invalid{State: stateOutOfRange, Message: `"` + string(text[start:start+end]) + `" is out of range for type ` + typeName}
	}
	if err != nil {
		return 0, err
	}
	if end == 0 || skipSpace(text, start+end) < len(text) {
		return 0, invalidSyntax(typeName, text)
	}
	return v, nil
}

// errRange says that a number became infinite, or zero without being zero.
var errRange = strconv.ErrRange

// longestFloat bounds the digits that are read here: strconv counts exponents up to 10000 and no further.
const longestFloat = 5000

// strtod is C's function of that name in the C locale, with the number rounded once to bits. end is 0 where there is no number.
func strtod(text []byte, bits int) (v float64, end int, err error) {
	i := 0
	negative := false
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		negative = text[0] == '-'
		i++
	}
	switch rest := text[i:]; {
	case hasWord(rest, "infinity"):
		v, end = math.Inf(1), i+8
	case hasWord(rest, "inf"):
		v, end = math.Inf(1), i+3
	case hasWord(rest, "nan"):
		if len(rest) > 3 && rest[3] == '(' { // C libraries differ in what they make of nan(1)
			return 0, 0, ErrUnsure
		}
		v, end = math.Float64frombits(0x7ff8<<48), i+3 // math.NaN has another bit set
	default:
		n, hex, nonzero := floatExtent(rest)
		if n == 0 {
			return 0, 0, nil
		}
		if n > longestFloat {
			return 0, 0, ErrUnsure
		}
		end = i + n
		if v = parseFloat(rest[:n], hex, bits); math.IsInf(v, 0) || v == 0 && nonzero {
			return 0, end, errRange
		}
	}
	return math.Copysign(v, signOf(negative)), end, nil
}

func signOf(negative bool) float64 {
	if negative {
		return -1
	}
	return 1
}

// parseFloat reads a well-formed number; what is too large is infinite.
func parseFloat(number []byte, hex bool, bits int) float64 {
	if hex && !hasByteFold(number, 'p') {
		v, _ := strconv.ParseFloat(string(number)+"p0", bits) // a range error comes with infinity, other errors cannot be
		return v
	}
	v, _ := strconv.ParseFloat(string(number), bits) // as above
	return v
}

// floatExtent finds the end of the unsigned number at the start of text, and tells whether it has a digit besides 0.
func floatExtent(text []byte) (n int, hex, nonzero bool) {
	base, mark := uint64(10), byte('e')
	start := 0
	if radix(text) == 16 && len(text) > 2 && (digitValue(text[2]) < 16 || text[2] == '.' && len(text) > 3 && digitValue(text[3]) < 16) {
		base, mark, hex, start = 16, 'p', true, 2
	}
	i, digits, point := start, 0, false
	for ; i < len(text); i++ {
		if c := text[i]; c == '.' && !point {
			point = true
		} else if d := digitValue(c); d < base {
			digits++
			nonzero = nonzero || d != 0
		} else {
			break
		}
	}
	if digits == 0 {
		return 0, false, false
	}
	n = i
	if i < len(text) && text[i]|0x20 == mark {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		for ; i < len(text) && isDigit(text[i]); i++ {
			n = i + 1
		}
	}
	return n, hex, nonzero
}

// hasWord tells whether text starts with a word of lower-case letters, in any case.
func hasWord(text []byte, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		if text[i]|0x20 != word[i] {
			return false
		}
	}
	return true
}

func hasByteFold(text []byte, lower byte) bool {
	for _, c := range text {
		if c|0x20 == lower {
			return true
		}
	}
	return false
}
