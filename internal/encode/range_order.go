package encode

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
)

// order compares two values of a type by their binary forms, as the type's default B-tree operator class does.
type order func(a, b []byte) int

// orders are the subtypes of ranges whose order their binary form tells.
var orders = map[uint32]order{
	21:   compareSigned,
	23:   compareSigned,
	20:   compareSigned,
	26:   bytes.Compare, // oid
	700:  compareFloat4,
	701:  compareFloat8,
	790:  compareSigned, // money
	1700: compareNumeric,
	1082: compareSigned, // dates and times are integers whose extremes are the infinities
	1083: compareSigned,
	1114: compareSigned,
	1184: compareSigned,
	2950: bytes.Compare, // uuid
}

// compareSigned compares big-endian integers of the same length in two's complement.
func compareSigned(a, b []byte) int {
	if len(a) == 0 || len(b) == 0 || (a[0]^b[0])&0x80 == 0 {
		return bytes.Compare(a, b)
	}
	return bytes.Compare(b, a)
}

// compareFloats has all NaNs equal and above all numbers (float8_cmp_internal of float.h).
func compareFloats(a, b float64) int {
	return cmp.Compare(nanRank(a), nanRank(b))*2 + cmp.Compare(withoutNaN(a), withoutNaN(b))
}

func nanRank(v float64) int {
	if math.IsNaN(v) {
		return 1
	}
	return 0
}

func withoutNaN(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

func compareFloat4(a, b []byte) int {
	return compareFloats(float64(math.Float32frombits(binary.BigEndian.Uint32(a))), float64(math.Float32frombits(binary.BigEndian.Uint32(b))))
}

func compareFloat8(a, b []byte) int {
	return compareFloats(math.Float64frombits(binary.BigEndian.Uint64(a)), math.Float64frombits(binary.BigEndian.Uint64(b)))
}

// Signs of a numeric's binary form (numeric_send of numeric.c: digits, weight, sign, scale, digits to the base of 10000).
const (
	signMinus    = 0x4000
	signNaN      = 0xc000
	signInfinity = 0xd000
	signBelow    = 0xf000 // negative infinity
)

// compareNumeric orders -Infinity, numbers, Infinity, NaN; the scale does not count.
func compareNumeric(a, b []byte) int {
	if c := cmp.Compare(numericRank(a), numericRank(b)); c != 0 || numericRank(a) != 0 {
		return c
	}
	signA, signB := numericSign(a), numericSign(b)
	if signA != signB || signA == 0 {
		return cmp.Compare(signA, signB)
	}
	return signA * compareDigits(a, b)
}

func numericRank(v []byte) int {
	switch binary.BigEndian.Uint16(v[4:]) {
	case signBelow:
		return -1
	case signInfinity:
		return 1
	case signNaN:
		return 2
	}
	return 0
}

// numericSign is 0 for zero, which has no digits.
func numericSign(v []byte) int {
	switch {
	case len(v) == 8:
		return 0
	case binary.BigEndian.Uint16(v[4:]) == signMinus:
		return -1
	}
	return 1
}

// compareDigits compares two numbers without their signs. The first and the last digit of a number are not zero.
func compareDigits(a, b []byte) int {
	weightA, weightB := int16(binary.BigEndian.Uint16(a[2:])), int16(binary.BigEndian.Uint16(b[2:]))
	if weightA != weightB {
		return cmp.Compare(weightA, weightB)
	}
	return bytes.Compare(a[8:], b[8:])
}
