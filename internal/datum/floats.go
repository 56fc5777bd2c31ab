package datum

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// Floating-point numbers are printed with the fewest digits that read back as the same number, as the server does when
// extra_float_digits is above 0 (src/common/d2s.c, f2s.c): in plain form for decimal exponents from -4 up to the type's
// guaranteed digits, else with an exponent of at least two digits. Where Go's shortest form may be the very middle between two
// neighbours, since reading rounds that to even, the server takes a number strictly between the middles.

func printFloat8(dst, value []byte) ([]byte, error) {
	if len(value) != 8 {
		return dst, cutOff("double precision")
	}
	return appendFloat(dst, math.Float64frombits(binary.LittleEndian.Uint64(value)), 64), nil
}

func printFloat4(dst, value []byte) ([]byte, error) {
	if len(value) != 4 {
		return dst, cutOff("real")
	}
	return appendFloat(dst, float64(math.Float32frombits(binary.LittleEndian.Uint32(value))), 32), nil
}

func appendFloat(dst []byte, f float64, size int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	case f == 0:
		if math.Signbit(f) {
			dst = append(dst, '-')
		}
		return append(dst, '0')
	}
	if f < 0 {
		dst, f = append(dst, '-'), -f
	}
	digits, exponent := strictDigits(f, size)
	limit := 15 // DBL_DIG
	if size == 32 {
		limit = 6 // FLT_DIG
	}
	return appendDecimal(dst, digits, exponent, limit)
}

// strictDigits gives the shortest digits of a positive number that lie strictly nearer to it than to its neighbours, and the
// decimal exponent of the first one.
func strictDigits(f float64, size int) (digits uint64, exponent int) {
	var scratch [32]byte
	digits, exponent = parseDigits(strconv.AppendFloat(scratch[:0], f, 'e', -1, size))
	if atMiddle(f, digits, exponent, size) {
		for precision := decimalLength(digits); precision < 18; precision++ {
			more, at := parseDigits(strconv.AppendFloat(scratch[:0], f, 'e', precision, size))
			if readsAs(f, more, at, size) && !atMiddle(f, more, at, size) {
				return more, at
			}
		}
	}
	if even, ok := evenNeighbour(f, digits, exponent, size); ok {
		return even, exponent
	}
	return digits, exponent
}

// evenNeighbour finds, where f lies in the middle between its odd digits and even ones, the even ones: the server rounds such a tie
// to even, and Go does not always.
func evenNeighbour(f float64, digits uint64, exponent, size int) (uint64, bool) {
	if digits&1 == 0 {
		return 0, false
	}
	mantissa, binaryExponent := split(f, size)
	shift := exponent - decimalLength(digits)
	var even uint64
	switch {
	case equal(10*digits-5, shift, mantissa, binaryExponent):
		even = digits - 1
	case equal(10*digits+5, shift, mantissa, binaryExponent):
		even = digits + 1
	default:
		return 0, false
	}
	return even, decimalLength(even) == decimalLength(digits) && readsAs(f, even, exponent, size)
}

// readsAs tells whether digits and exponent read back as f.
func readsAs(f float64, digits uint64, exponent, size int) bool {
	var scratch [32]byte
	text := append(strconv.AppendUint(scratch[:0], digits, 10), 'e')
	text = strconv.AppendInt(text, int64(exponent-decimalLength(digits)+1), 10)
	back, err := strconv.ParseFloat(string(text), size)
	return err == nil && back == f
}

// parseDigits reads d.ddde+xx as AppendFloat writes it, without the zeros at the end of the digits.
func parseDigits(text []byte) (digits uint64, exponent int) {
	for i, c := range text {
		if c == 'e' {
			for _, d := range text[i+2:] {
				exponent = exponent*10 + int(d-'0')
			}
			if text[i+1] == '-' {
				exponent = -exponent
			}
			break
		}
		if c != '.' {
			digits = digits*10 + uint64(c-'0')
		}
	}
	for digits%10 == 0 && digits > 0 {
		digits /= 10
	}
	return digits, exponent
}

func decimalLength(n uint64) int {
	length := 1
	for ; n >= 10; n /= 10 {
		length++
	}
	return length
}

// atMiddle tells whether a decimal number is exactly the middle between f and one of its neighbours: (2m ± 1) * 2^(e-1) for
// f = m * 2^e. Below a power of two the middle is (4m - 1) * 2^(e-2) instead, which no shortest number is: 2^54 - 1 and 2^25 - 1
// have no factor 5, so that f itself has no more digits.
func atMiddle(f float64, digits uint64, exponent, size int) bool {
	mantissa, binaryExponent := split(f, size)
	if mantissa&1 == 1 {
		return false // reading rounds to even, so that Go does not take the middle
	}
	shift := exponent - decimalLength(digits) + 1 // the number is digits * 10^shift
	return equal(digits, shift, 2*mantissa+1, binaryExponent-1) || equal(digits, shift, 2*mantissa-1, binaryExponent-1)
}

// equal tells whether digits * 10^shift is mantissa * 2^exponent: the powers of two agree, and the odd parts.
func equal(digits uint64, shift int, mantissa uint64, exponent int) bool {
	if digits == 0 || mantissa == 0 {
		return false
	}
	left, right := bits.TrailingZeros64(digits), bits.TrailingZeros64(mantissa)
	if left+shift != right+exponent {
		return false
	}
	digits, mantissa = digits>>left, mantissa>>right
	for ; shift > 0 && digits <= mantissa; shift-- {
		high, low := bits.Mul64(digits, 5)
		if high != 0 {
			return false
		}
		digits = low
	}
	for ; shift < 0 && mantissa <= digits; shift++ {
		high, low := bits.Mul64(mantissa, 5)
		if high != 0 {
			return false
		}
		mantissa = low
	}
	return shift == 0 && digits == mantissa
}

// split gives f as mantissa * 2^exponent with the mantissa of its own format.
func split(f float64, size int) (mantissa uint64, exponent int) {
	fraction, bias := 52, 1075
	whole, all := math.Float64bits(f), 0x7ff
	if size == 32 {
		fraction, bias = 23, 150
		whole, all = uint64(math.Float32bits(float32(f))), 0xff
	}
	mantissa, exponent = whole&(1<<fraction-1), int(whole>>fraction)&all
	if exponent == 0 {
		return mantissa, 1 - bias
	}
	return mantissa | 1<<fraction, exponent - bias
}

// appendDecimal writes digits whose first one has a decimal exponent.
func appendDecimal(dst []byte, digits uint64, exponent, limit int) []byte {
	var scratch [24]byte
	text := strconv.AppendUint(scratch[:0], digits, 10)
	switch {
	case exponent < -4 || exponent >= limit:
		dst = append(dst, text[0])
		if len(text) > 1 {
			dst = append(append(dst, '.'), text[1:]...)
		}
		sign := byte('+')
		if exponent < 0 {
			sign, exponent = '-', -exponent
		}
		dst = append(dst, 'e', sign)
		return appendPadded(dst, uint64(exponent), 2)
	case exponent < 0:
		dst = append(dst, "0.0000"[:1-exponent]...)
		return append(dst, text...)
	case len(text) <= exponent+1:
		dst = append(dst, text...)
		for i := len(text); i <= exponent; i++ {
			dst = append(dst, '0')
		}
		return dst
	default:
		dst = append(append(dst, text[:exponent+1]...), '.')
		return append(dst, text[exponent+1:]...)
	}
}

// appendPadded writes a number with zeros in front up to a width.
func appendPadded(dst []byte, n uint64, width int) []byte {
	switch {
	case width == 2 && n < 100:
		return append(dst, digitPairs[2*n], digitPairs[2*n+1])
	case width == 4 && n < 10000:
		high, low := 2*(n/100), 2*(n%100)
		return append(dst, digitPairs[high], digitPairs[high+1], digitPairs[low], digitPairs[low+1])
	}
	for limit := uint64(10); width > 1; width, limit = width-1, limit*10 {
		if n < limit {
			for ; width > 1; width-- {
				dst = append(dst, '0')
			}
			break
		}
	}
	return appendWhole(dst, n)
}
