package heap

import "strconv"

var numberMakers = map[uint32]func(*Datatype) Maker{16: same(makeBool), 18: same(copier(1)), 27: same(makeTid), 1700: numericMaker}

// makeBool takes any byte but 0 for true (boolrecv of bool.c).
func makeBool(dst, payload []byte) ([]byte, error) {
	if err := sized(payload, 1); err != nil {
		return dst, err
	}
	if payload[0] != 0 {
		return append(dst, 1), nil
	}
	return append(dst, 0), nil
}

// makeTid splits the block's number in halves (ItemPointerData of itemptr.h).
func makeTid(dst, payload []byte) ([]byte, error) {
	if err := sized(payload, 6); err != nil {
		return dst, err
	}
	return append(dst, payload[1], payload[0], payload[3], payload[2], payload[5], payload[4]), nil
}

// The layout of numeric on the page (NumericData of numeric.c): a header of 16 bits that holds sign, scale and weight where they are small, else
// sign and scale, with the weight behind it; then digits to the base 10000. The payload has the same signs.
const (
	numericNegative  = 0x4000
	numericShort     = 0x8000
	numericNaN       = 0xC000
	numericInfinity  = 0xD000
	numericMinus     = 0xF000
	numericScaleMask = 0x3FFF

	shortNegative    = 0x2000
	shortScaleShift  = 7
	shortMostScale   = 63
	shortLeastWeight = -64
	shortMostWeight  = 63
	shortWeightMask  = 0x007F

	digitsOfDigit = 4
	digitBase     = 10000
)

// numericForm is a numeric apart.
type numericForm struct {
	sign   uint16
	weight int
	scale  int
	digits []byte // payload's, two bytes each, big-endian
}

func numericMaker(t *Datatype) Maker {
	limit := numericLimitOf(t.Modifier)
	return func(dst, payload []byte) ([]byte, error) {
		n, err := readNumeric(payload)
		if err != nil {
			return dst, err
		}
		if n.sign >= numericNaN {
			if limit.set && n.sign != numericNaN {
				return dst, limit.refusal("cannot hold an infinite value.")
			}
			return le.AppendUint16(dst, n.sign), nil
		}
		if n.scale < len(n.digits)*2-4*(n.weight+1) || limit.set { // digits behind the scale, in 1/4 of a digit each
			if n, err = limit.apply(n); err != nil {
				return dst, err
			}
		}
		return n.append(dst)
	}
}

// readNumeric checks a payload (numeric_recv of numeric.c).
func readNumeric(payload []byte) (numericForm, error) {
	if len(payload) < 8 {
		return numericForm{}, errShort
	}
	count := int(payload[0])<<8 | int(payload[1])
	n := numericForm{weight: int(int16(uint16(payload[2])<<8 | uint16(payload[3]))), sign: uint16(payload[4])<<8 | uint16(payload[5]), scale: int(payload[6])<<8 | int(payload[7])}
	switch n.sign {
	case 0, numericNegative, numericNaN, numericInfinity, numericMinus:
	default:
		return n, &Refused{State: stateInvalidBinary, Message: `invalid sign in external "numeric" value`}
	}
	if n.scale&^numericScaleMask != 0 {
		return n, &Refused{State: stateInvalidBinary, Message: `invalid scale in external "numeric" value`}
	}
	if len(payload) < 8+2*count {
		return n, errShort
	}
	n.digits = payload[8 : 8+2*count]
	for i := 0; i < len(n.digits); i += 2 {
		if int(n.digits[i])<<8|int(n.digits[i+1]) >= digitBase {
			return n, &Refused{State: stateInvalidBinary, Message: `invalid digit in external "numeric" value`}
		}
	}
	if len(payload) > 8+2*count {
		return n, errLong
	}
	return n, nil
}

// append writes the form of the page, without zeros in front and behind (make_result).
func (n *numericForm) append(dst []byte) ([]byte, error) {
	for len(n.digits) > 0 && n.digits[0] == 0 && n.digits[1] == 0 {
		n.digits, n.weight = n.digits[2:], n.weight-1
	}
	for len(n.digits) > 0 && n.digits[len(n.digits)-1] == 0 && n.digits[len(n.digits)-2] == 0 {
		n.digits = n.digits[:len(n.digits)-2]
	}
	if len(n.digits) == 0 {
		n.sign, n.weight = 0, 0
	}
	if n.scale <= shortMostScale && n.weight >= shortLeastWeight && n.weight <= shortMostWeight {
		head := uint16(numericShort | n.scale<<shortScaleShift | n.weight&shortWeightMask)
		if n.sign == numericNegative {
			head |= shortNegative
		}
		dst = le.AppendUint16(dst, head)
	} else {
		if n.weight != int(int16(n.weight)) || n.scale > numericScaleMask {
			return dst, &Refused{State: stateOutOfRange, Message: "value overflows numeric format"}
		}
		dst = le.AppendUint16(dst, n.sign|uint16(n.scale))
		dst = le.AppendUint16(dst, uint16(int16(n.weight)))
	}
	for i := 0; i < len(n.digits); i += 2 {
		dst = append(dst, n.digits[i+1], n.digits[i])
	}
	return dst, nil
}

// numericLimit is what numeric(precision, scale) takes.
type numericLimit struct {
	set              bool
	precision, scale int
}

// numericLimitOf reads a modifier (numeric_typmod_scale: eleven bits with a sign, of which releases before 15 use what is not negative).
func numericLimitOf(modifier int32) numericLimit {
	if modifier < 4 {
		return numericLimit{}
	}
	m := int(modifier - 4)
	return numericLimit{set: true, precision: m >> 16 & 0xFFFF, scale: m&0x7FF ^ 1024 - 1024}
}

// refusal is the error of a value that the precision does not allow.
func (l *numericLimit) refusal(what string) error {
	return &Refused{State: stateOutOfRange, Message: "numeric field overflow",
		Detail: "A field with precision " + strconv.Itoa(l.precision) + ", scale " + strconv.Itoa(l.scale) + " " + what}
}

// apply cuts what stands behind the value's own scale, rounds to the limit's, and refuses what is too large (apply_typmod).
func (l *numericLimit) apply(n numericForm) (numericForm, error) {
	n.digits = keepDecimals(n, n.scale, false).digits
	if !l.set {
		return n, nil
	}
	if n.scale != l.scale {
		n = keepDecimals(n, l.scale, true)
		n.scale = max(l.scale, 0)
	}
	most := l.precision - l.scale
	for i := 0; i < len(n.digits); i += 2 {
		digit := int(n.digits[i])<<8 | int(n.digits[i+1])
		if digit == 0 {
			continue
		}
		before := (n.weight - i/2) * digitsOfDigit // decimal digits before the point, less those of this digit
		for ; digit > 0; digit /= 10 {
			before++
		}
		if before <= most {
			break
		}
		power := "1"
		if most != 0 {
			power = "10^" + strconv.Itoa(most)
		}
		return n, l.refusal("must round to an absolute value less than " + power + ".")
	}
	return n, nil
}

// keepDecimals leaves that many decimal digits behind the point, or before it when there are fewer than none, rounded half away from zero or cut.
func keepDecimals(n numericForm, decimals int, round bool) numericForm {
	places := (n.weight+1)*digitsOfDigit + decimals // decimal digits that stay
	have := len(n.digits) / 2 * digitsOfDigit
	if places >= have {
		return n
	}
	if places < 0 || places == 0 && !round {
		n.digits = nil
		return n
	}
	unit := [digitsOfDigit]uint16{10000, 1000, 100, 10}[places%digitsOfDigit]
	if at := places / digitsOfDigit * 2; at+2 == len(n.digits) && (uint16(n.digits[at])<<8|uint16(n.digits[at+1]))%unit == 0 {
		return n // most values have nothing to lose
	}
	digits := make([]uint16, places/digitsOfDigit+2) // one in front for the carry
	for i := 1; i < len(digits) && 2*i <= len(n.digits); i++ {
		digits[i] = uint16(n.digits[2*i-2])<<8 | uint16(n.digits[2*i-1])
	}
	last := 1 + places/digitsOfDigit // the digit that is cut
	rest := digits[last] % unit
	digits[last] -= rest
	if round && rest >= unit/2 {
		digits[last] += unit
		for i := last; digits[i] >= digitBase; i-- {
			digits[i] -= digitBase
			digits[i-1]++
		}
	}
	n.weight++
	n.digits = make([]byte, 0, 2*len(digits))
	for _, d := range digits {
		n.digits = append(n.digits, byte(d>>8), byte(d))
	}
	return n
}
