package datum

import (
	"encoding/binary"
	"strconv"
)

// The layout of numeric is that of NumericData in numeric.c: a header of 16 bits whose top two say positive, negative, short or
// special, then, unless short, the weight of the first digit, then digits to the base 10000. A short header holds sign, scale and
// weight by itself.
const (
	numericSign     = 0xC000
	numericNegative = 0x4000
	numericShort    = 0x8000
	numericSpecial  = 0xC000

	numericSpecialKind = 0xF000
	numericNaN         = 0xC000
	numericInfinity    = 0xD000
	numericMinus       = 0xF000

	numericScale = 0x3FFF

	numericShortSign        = 0x2000
	numericShortScale       = 0x1F80
	numericShortScaleShift  = 7
	numericShortWeightMinus = 0x0040
	numericShortWeight      = 0x003F
)

// printNumeric prints all digits up to the scale, as get_str_from_var in numeric.c does.
func printNumeric(dst, value []byte) ([]byte, error) {
	if len(value) < 2 || len(value)%2 != 0 {
		return dst, malformed("numeric", "wrong number of bytes")
	}
	header := binary.LittleEndian.Uint16(value)
	digits := value[2:]
	var negative bool
	var scale, weight int
	switch header & numericSign {
	case numericSpecial:
		switch header & numericSpecialKind {
		case numericNaN:
			return append(dst, "NaN"...), nil
		case numericInfinity:
			return append(dst, "Infinity"...), nil
		case numericMinus:
			return append(dst, "-Infinity"...), nil
		}
		return dst, malformed("numeric", "an unknown special value")
	case numericShort:
		negative = header&numericShortSign != 0
		scale = int(header & numericShortScale >> numericShortScaleShift)
		weight = int(header & numericShortWeight)
		if header&numericShortWeightMinus != 0 {
			weight -= numericShortWeight + 1
		}
	default:
		if len(digits) < 2 {
			return dst, malformed("numeric", "the weight is missing")
		}
		negative = header&numericSign == numericNegative
		scale = int(header & numericScale)
		weight = int(int16(binary.LittleEndian.Uint16(digits)))
		digits = digits[2:]
	}
	for i := 0; i < len(digits); i += 2 {
		if binary.LittleEndian.Uint16(digits[i:]) > 9999 {
			return dst, malformed("numeric", "a digit above 9999")
		}
	}
	if negative {
		dst = append(dst, '-')
	}
	return appendNumber(dst, digits, weight, scale), nil
}

// appendNumber writes digits to the base 10000, the first of which counts 10000^weight.
func appendNumber(dst, digits []byte, weight, scale int) []byte {
	if weight < 0 {
		dst = append(dst, '0')
	}
	for i := 0; i <= weight; i++ {
		digit := numericDigit(digits, i)
		if i == 0 {
			dst = strconv.AppendUint(dst, uint64(digit), 10)
		} else {
			dst = appendFour(dst, digit)
		}
	}
	if scale == 0 {
		return dst
	}
	dst = append(dst, '.')
	end := len(dst) + scale
	for i := weight + 1; len(dst) < end; i++ {
		dst = appendFour(dst, numericDigit(digits, i))
	}
	return dst[:end]
}

func numericDigit(digits []byte, i int) uint16 {
	if i < 0 || i*2+1 >= len(digits) {
		return 0
	}
	return binary.LittleEndian.Uint16(digits[i*2:])
}

func appendFour(dst []byte, digit uint16) []byte {
	return append(dst, byte('0'+digit/1000), byte('0'+digit/100%10), byte('0'+digit/10%10), byte('0'+digit%10))
}

// printMoney prints a Cash in the C locale: a dollar sign, groups of three and two decimals (cash_out in cash.c).
func printMoney(dst, value []byte) ([]byte, error) {
	if len(value) != 8 {
		return dst, cutOff("money")
	}
	cents := binary.LittleEndian.Uint64(value)
	if int64(cents) < 0 {
		dst, cents = append(dst, '-'), -cents
	}
	dst = append(dst, '$')
	var scratch [24]byte
	whole := strconv.AppendUint(scratch[:0], cents/100, 10)
	for i, c := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, c)
	}
	return appendPadded(append(dst, '.'), cents%100, 2), nil
}
