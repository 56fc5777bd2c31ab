package encode

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// span is an interval as it is summed up from its fields. Sums are checked as the server's are: each in 32 bits, microseconds in 64.
type span struct {
	years, months, days int64
	micros              int64
}

// Calendar units as intervals count them.
const (
	monthsOfYear = 12
	daysOfMonth  = 30
	daysOfWeek   = 7
)

func intervalEncoder(t *Type, s Settings) Encoder {
	r := intervalReader{timeReader: newTimeReader("interval", s), fields: anyFields}
	if t.Modifier >= 0 {
		r.fields = intervalFields(t.Modifier >> 16 & 0x7fff)
		if precision := t.Modifier & 0xffff; precision < 6 {
			r.half = int64(second / powersOf10[precision] / 2)
		}
	}
	return func(dst, text []byte) ([]byte, error) {
		v, f := r.interval(text)
		if f != noFault {
			return dst, r.refuse(f, text)
		}
		dst = binary.BigEndian.AppendUint64(dst, uint64(v.micros))
		dst = binary.BigEndian.AppendUint32(dst, uint32(v.days))
		return binary.BigEndian.AppendUint32(dst, uint32(v.months)), nil
	}
}

// intervalReader reads intervals for a column that may be declared with fields only, such as "interval day to second".
type intervalReader struct {
	*timeReader
	fields intervalFields
	half   int64 // of the last digit that the column keeps, in microseconds; 0 when it keeps all
}

// The extremes of an interval: infinity since 17, and out of range where a finite value comes to them.
var (
	pastSpan   = span{months: math.MinInt32, days: math.MinInt32, micros: math.MinInt64}
	futureSpan = span{months: math.MaxInt32, days: math.MaxInt32, micros: math.MaxInt64}
)

// interval reads an interval in any form: words and units, the forms of the SQL standard, and ISO 8601.
func (r *intervalReader) interval(text []byte) (v span, f fault) {
	blanked, foreign := blankForeign(text)
	if foreign {
		// In UTF-8 no list of fields has these characters, and what ISO 8601 makes of them it says before it comes to them.
		if _, f = r.anyForm(blanked); f == noFault || f == onlyServer {
			return v, onlyServer
		}
		_, f = r.iso8601(text)
	} else if v, f = r.anyForm(text); f == noFault {
		return r.total(v)
	}
	if f == fieldOverflow {
		f = spanOverflow
	}
	if f == spanOverflow && r.Version < 15 {
		f = onlyServer // 14 has narrower sums, some of which wrap around.
	}
	return v, f
}

func (r *intervalReader) anyForm(text []byte) (span, fault) {
	v, f := r.fieldwise(text)
	if f == badFormat {
		v, f = r.iso8601(text)
	}
	return v, f
}

// total adds the years to the months.
func (r *intervalReader) total(v span) (span, fault) {
	if v == pastSpan || v == futureSpan {
		return v, noFault
	}
	v.months += v.years * monthsOfYear
	v.years = 0
	if v.months != int64(int32(v.months)) {
		return v, rangeOverflow
	}
	if r.Version < 17 {
		return v, noFault
	}
	// Since 17 a finite value that has come to infinity is refused, and so is one that its precision rounds beyond the range.
	rounding := span{micros: v.micros}
	half := r.half
	if v.micros < 0 {
		half = -half
	}
	if v == pastSpan || v == futureSpan || !rounding.addMicros(half, microsecond) {
		return v, rangeOverflow
	}
	return v, noFault
}

// add32 adds a product to a sum of 32 bits.
func add32(sum *int64, value, scale int64) bool {
	if value != int64(int32(value)) {
		return false
	}
	product := value * scale
	*sum += product
	return product == int64(int32(product)) && *sum == int64(int32(*sum))
}

// addMicros adds a product to the microseconds.
func (v *span) addMicros(value, scale int64) bool {
	high, low := bits.Mul64(uint64(value), uint64(scale))
	if value < 0 {
		high -= uint64(scale)
	}
	product := int64(low)
	if int64(high) != product>>63 {
		return false
	}
	sum := v.micros + product
	fits := (sum > v.micros) == (product > 0)
	v.micros = sum
	return fits
}

// addFraction adds part of a unit of scale microseconds, rounded to the nearest.
func (v *span) addFraction(part float64, scale int64) bool {
	if part == 0 {
		return true
	}
	part *= float64(scale)
	micros := int64(part)
	part -= float64(micros)
	if part > 0.5 {
		micros++
	} else if part < -0.5 {
		micros--
	}
	return v.addMicros(micros, 1)
}

// addDayFraction adds part of a unit of scale days: whole days, and the rest as a time.
func (v *span) addDayFraction(part float64, scale int64) bool {
	if part == 0 {
		return true
	}
	part *= float64(scale)
	days := int64(part)
	return add32(&v.days, days, 1) && v.addFraction(part-float64(days), dayLength)
}

// addYears adds years and a part, which is rounded to months.
func (v *span) addYears(value int64, part float64, scale int64) bool {
	if !add32(&v.years, value, scale) {
		return false
	}
	return add32(&v.months, int64(math.RoundToEven(part*float64(scale)*monthsOfYear)), 1)
}

// add adds a number of units with its part.
func (v *span) add(unit intervalUnit, value int64, part float64) bool {
	switch unit {
	case microsecondUnit, millisecondUnit, secondUnit, minuteUnit, hourUnit:
		scale := clockUnits[unit]
		return v.addMicros(value, scale) && v.addFraction(part, scale)
	case dayUnit:
		return add32(&v.days, value, 1) && v.addFraction(part, dayLength)
	case weekUnit:
		return add32(&v.days, value, daysOfWeek) && v.addDayFraction(part, daysOfWeek)
	case monthUnit:
		return add32(&v.months, value, 1) && v.addDayFraction(part, daysOfMonth)
	case yearUnit:
		return v.addYears(value, part, 1)
	case decadeUnit:
		return v.addYears(value, part, 10)
	case centuryUnit:
		return v.addYears(value, part, 100)
	case millenniumUnit:
		return v.addYears(value, part, 1000)
	}
	return false
}

var clockUnits = [...]int64{
	microsecondUnit: microsecond, millisecondUnit: millisecond, secondUnit: second, minuteUnit: minute, hourUnit: hour,
}

// negate turns the sign of all fields.
func (v *span) negate() bool {
	if v.micros == math.MinInt64 || v.days == math.MinInt32 || v.months == math.MinInt32 || v.years == math.MinInt32 {
		return false
	}
	*v = span{years: -v.years, months: -v.months, days: -v.days, micros: -v.micros}
	return true
}
