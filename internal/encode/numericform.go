package encode

import (
	"encoding/binary"
	"math"
	"strconv"
)

// numericLimit is the precision and scale of numeric(p, s).
type numericLimit struct {
	set              bool
	precision, scale int
}

// numericLimitOf takes a modifier apart (numeric.c). Negative scales came with 15.
func numericLimitOf(modifier int32, s Settings) numericLimit {
	if modifier < 4 {
		return numericLimit{}
	}
	bits := int(modifier - 4)
	l := numericLimit{set: true, precision: bits >> 16 & 0xffff, scale: bits & 0xffff}
	if s.Version >= 15 {
		l.scale = (bits&0x7ff ^ 1024) - 1024
	}
	return l
}

func (l *numericLimit) head() string {
	return "A field with precision " + strconv.Itoa(l.precision) + ", scale " + strconv.Itoa(l.scale)
}

func (l *numericLimit) noInfinity() *Invalid {
	return &Invalid{State: stateOutOfRange, Message: "numeric field overflow", Detail: l.head() + " cannot hold an infinite value."}
}

func (l *numericLimit) tooLarge() *Invalid {
	bound := "1"
	if digits := l.precision - l.scale; digits != 0 {
		bound = "10^" + strconv.Itoa(digits)
	}
	return &Invalid{State: stateOutOfRange, Message: "numeric field overflow",
		Detail: l.head() + " must round to an absolute value less than " + bound + "."}
}

func numericOverflow() *Invalid {
	return &Invalid{State: stateOutOfRange, Message: "value overflows numeric format"}
}

// groupAt is the weight of the group of four digits that holds a power of ten.
func groupAt(power int) int { return power >> 2 }

// powersOfTen are the places in a group.
var powersOfTen = [4]uint32{1, 10, 100, 1000}

// append appends the form of numeric_send, groups of four digits aligned to the point, rounded to the limit half away from zero.
func (d *decimal) append(dst []byte, limit *numericLimit) ([]byte, error) {
	scale, cut := d.scale, math.MinInt
	if limit.set {
		scale, cut = max(limit.scale, 0), -limit.scale
	}
	if scale > maxNumericScale {
		return dst, numericOverflow()
	}
	if len(d.text) == 0 || limit.set && d.power < cut-1 {
		return appendNumericHead(dst, 0, 0, 0, scale), nil
	}
	start := len(dst)
	dst = appendNumericHead(dst, 0, 0, 0, scale)
	body := len(dst)
	weight := groupAt(max(d.power, cut))
	if cut > d.last {
		dst, weight = append(dst, 0, 0), weight+1 // for a carry
		var up bool
		if dst, up = d.appendGroups(dst, cut); up {
			carry(dst[body:], powersOfTen[cut&3])
		}
		for len(dst) > body && dst[body]|dst[body+1] == 0 {
			dst, weight = append(dst[:body], dst[body+2:]...), weight-1
		}
		for len(dst) > body && dst[len(dst)-2]|dst[len(dst)-1] == 0 {
			dst = dst[:len(dst)-2]
		}
		if len(dst) == body {
			return appendNumericHead(dst[:start], 0, 0, 0, scale), nil
		}
	} else {
		dst, _ = d.appendGroups(dst, cut)
	}
	if limit.set && firstPower(dst[body:], weight) >= limit.precision-limit.scale {
		return dst[:start], limit.tooLarge()
	}
	if weight > maxNumericWeight {
		return dst[:start], numericOverflow()
	}
	var sign uint16
	if d.negative {
		sign = numericNegative
	}
	appendNumericHead(dst[:start], (len(dst)-body)/2, weight, sign, scale)
	return dst, nil
}

// appendGroups appends the digits down to the power cut, and tells whether the digit below it rounds up.
func (d *decimal) appendGroups(dst []byte, cut int) (groups []byte, up bool) {
	power, group := d.power, uint32(0)
	if power < cut {
		return append(dst, 0, 0), d.text[0] >= '5'
	}
	for _, c := range d.text {
		digit := c - '0'
		if digit > 9 { // the point, an underscore
			continue
		}
		if power < cut {
			up = digit >= 5
			break
		}
		group = group*10 + uint32(digit)
		if power&3 == 0 {
			dst = append(dst, byte(group>>8), byte(group))
			group = 0
		}
		power--
	}
	if last := power + 1; last&3 != 0 {
		group *= powersOfTen[last&3]
		dst = append(dst, byte(group>>8), byte(group))
	}
	return dst, up
}

// carry adds to the last group.
func carry(groups []byte, add uint32) {
	for at := len(groups) - 2; at >= 0 && add > 0; at -= 2 {
		group := uint32(binary.BigEndian.Uint16(groups[at:])) + add
		add = 0
		if group >= 10000 {
			group, add = group-10000, 1
		}
		binary.BigEndian.PutUint16(groups[at:], uint16(group))
	}
}

// firstPower is the power of ten of the first digit that is not 0.
func firstPower(groups []byte, weight int) int {
	first := uint32(binary.BigEndian.Uint16(groups))
	power := weight * 4
	for _, place := range powersOfTen[1:] {
		if first >= place {
			power++
		}
	}
	return power
}
