package encode

import (
	"math"
	"math/big"
)

// Limits of numeric, and signs of its binary form (numeric.c).
const (
	maxNumericWeight = math.MaxInt16
	maxNumericScale  = 1<<14 - 1
	maxExponent      = math.MaxInt32 / 2

	numericNegative         = 0x4000
	numericNaN              = 0xC000
	numericInfinity         = 0xD000
	numericNegativeInfinity = 0xF000
)

// decimal is a scanned number: digits, perhaps with one point and underscores, which are looked at twice and never copied.
type decimal struct {
	text     []byte // starts at the first digit that is not 0, ends after the last one; empty for zero
	power    int    // of ten, of the first digit in text
	last     int    // power of the last digit in text
	scale    int    // digits after the point as written, the exponent counted in
	negative bool
}

func numericEncoder(t *Type, s Settings) Encoder {
	limit := numericLimitOf(t.Modifier, s)
	modern := s.Version >= 16
	return func(dst, text []byte) ([]byte, error) {
		if made, ok := appendQuickNumeric(dst, text, &limit); ok {
			return made, nil
		}
		i := skipSpace(text, 0)
		var d decimal
		start := i
		if i < len(text) && (text[i] == '-' || text[i] == '+') {
			d.negative = text[i] == '-'
			i++
		}
		if i < len(text) && !isDigit(text[i]) && text[i] != '.' {
			return appendSpecial(dst, text, start, i, &limit)
		}
		var end int
		var err error
		if base := radix(text[i:]); modern && base != 10 {
			end, err = d.scanInteger(text, i+2, base)
		} else {
			end, err = d.scan(text, i, modern)
		}
		if err != nil {
			return dst, err
		}
		if skipSpace(text, end) < len(text) {
			return dst, invalidSyntax("numeric", text)
		}
		return d.append(dst, &limit)
	}
}

// appendSpecial reads NaN and the infinities. NaN has no sign.
func appendSpecial(dst, text []byte, start, unsigned int, limit *numericLimit) ([]byte, error) {
	var sign uint16
	var end int
	switch rest := text[unsigned:]; {
	case unsigned == start && hasWord(rest, "nan"):
		sign, end = numericNaN, unsigned+3
	case hasWord(rest, "infinity"):
		sign, end = numericInfinity, unsigned+8
	case hasWord(rest, "inf"):
		sign, end = numericInfinity, unsigned+3
	default:
		return dst, invalidSyntax("numeric", text)
	}
	if skipSpace(text, end) < len(text) {
		return dst, invalidSyntax("numeric", text)
	}
	if sign == numericInfinity {
		if limit.set {
			return dst, limit.noInfinity()
		}
		if text[start] == '-' {
			sign = numericNegativeInfinity
		}
	}
	return appendNumericHead(dst, 0, 0, sign, 0), nil
}

func appendNumericHead(dst []byte, digits, weight int, sign uint16, scale int) []byte {
	return append(dst, byte(digits>>8), byte(digits), byte(weight>>8), byte(weight), byte(sign>>8), byte(sign), byte(scale>>8), byte(scale))
}

// scan reads a decimal number from i on and returns where it ends. Underscores between digits came with 16.
func (d *decimal) scan(text []byte, i int, modern bool) (int, error) {
	first, last := -1, -1 // where the first and the last digit besides 0 stand
	before, after := 0, 0 // digits before and after the point
	firstAt, lastAt := 0, 0
	point := false
	if i < len(text) && text[i] == '.' {
		point = true
		i++
	}
	if i == len(text) || !isDigit(text[i]) {
		return 0, invalidSyntax("numeric", text)
	}
scanning:
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case isDigit(c):
			if c != '0' {
				if first < 0 {
					first, firstAt = i, before+after
				}
				last, lastAt = i, before+after
			}
			if point {
				after++
			} else {
				before++
			}
		case c == '.' && !point && !(modern && i+1 < len(text) && text[i+1] == '_'):
			point = true
		case c == '_' && modern && i+1 < len(text) && isDigit(text[i+1]):
		case c == '.' || c == '_':
			return 0, invalidSyntax("numeric", text)
		default:
			break scanning
		}
	}
	exponent, i, err := readExponent(text, i, modern)
	if err != nil {
		return 0, err
	}
	d.scale = max(after-exponent, 0)
	if first >= 0 {
		d.text = text[first : last+1]
		d.power, d.last = before-1-firstAt+exponent, before-1-lastAt+exponent
	}
	return i, nil
}

// readExponent reads an exponent where one starts at i.
func readExponent(text []byte, i int, modern bool) (exponent, end int, err error) {
	if i == len(text) || text[i]|0x20 != 'e' {
		return 0, i, nil
	}
	i++
	if !modern { // strtol, which skips white space
		i = skipSpace(text, i)
	}
	negative := false
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		negative = text[i] == '-'
		i++
	}
	first := i
	for ; i < len(text); i++ {
		if modern && text[i] == '_' && i > first && i+1 < len(text) && isDigit(text[i+1]) {
			continue
		}
		if !isDigit(text[i]) {
			break
		}
		exponent = min(exponent*10+int(text[i]-'0'), maxExponent+1)
		if modern && exponent > maxExponent {
			return 0, 0, numericOverflow()
		}
	}
	if i == first {
		return 0, 0, invalidSyntax("numeric", text)
	}
	if !modern && exponent >= maxExponent {
		return 0, 0, numericOverflow()
	}
	if negative {
		exponent = -exponent
	}
	return exponent, i, nil
}

// scanInteger reads an integer of another base, from after its prefix on. The decimal digits are made by math/big.
func (d *decimal) scanInteger(text []byte, i int, base uint64) (int, error) {
	first := i
	digits := make([]byte, 0, 64)
	for ; i < len(text); i++ {
		if text[i] == '_' && i+1 < len(text) && digitValue(text[i+1]) < base {
			continue
		}
		if digitValue(text[i]) >= base {
			break
		}
		// 440 000 bits are beyond the largest weight; more would only take long.
		if len(digits) > 0 || text[i] != '0' {
			digits = append(digits, text[i])
		}
		if len(digits) > 440000 {
			return 0, numericOverflow()
		}
	}
	if i == first {
		return 0, invalidSyntax("numeric", text)
	}
	if len(digits) == 0 {
		return i, nil
	}
	value, _ := new(big.Int).SetString(string(digits), int(base)) // all of them are digits
	if _, err := d.scan(value.Append(nil, 10), 0, true); err != nil {
		return 0, err
	}
	if groupAt(d.power) > maxNumericWeight { // found before the limit of the column is looked at
		return 0, numericOverflow()
	}
	return i, nil
}
