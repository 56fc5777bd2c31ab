package encode

import (
	"math"
	"strconv"
)

// iso8601 reads an interval in the forms of ISO 8601: P1Y2M3DT4H5M6S, P0001-02-03T04:05:06 and P00010203T040506 (DecodeISO8601Interval of
// datetime.c).
func (r *intervalReader) iso8601(text []byte) (span, fault) {
	if len(text) < 2 || text[0] != 'P' {
		return span{}, badFormat
	}
	if r.Version < 15 {
		return r.plainISO8601(text)
	}
	d := isoReading{rest: text[1:], inDate: true}
	for len(d.rest) > 0 && !d.done {
		if d.rest[0] == 'T' {
			d.startTime(1)
			continue
		}
		start := d.rest
		value, part, f := d.number()
		if f != noFault {
			return d.span, f
		}
		if d.inDate {
			f = d.dateUnit(start, value, part)
		} else {
			f = d.timeUnit(start, value, part)
		}
		if f != noFault {
			return d.span, f
		}
	}
	return d.span, noFault
}

// plainISO8601 is for 14, which adds up otherwise: it leaves what has more than small whole numbers, and seconds with up to six digits behind
// the point, to the server.
func (r *intervalReader) plainISO8601(text []byte) (span, fault) {
	digits := 0
	sure := true
	for i, c := range text {
		if digits++; c-'0' > 9 {
			digits = 0
		}
		switch c | 0x20 {
		case 'e', 'i', 'n', 'x':
			sure = false
		case '.':
			n := width(text[i+1:])
			sure = sure && n > 0 && i+1+n < len(text) && text[i+1+n] == 'S'
		}
		sure = sure && digits <= 6
	}
	if !sure {
		return span{}, onlyServer
	}
	later := *r.timeReader
	later.Version = 15
	v, f := (&intervalReader{timeReader: &later, fields: r.fields}).iso8601(text)
	if f == fieldOverflow {
		f = onlyServer
	}
	return v, f
}

// isoReading is the state of reading an interval of ISO 8601.
type isoReading struct {
	span
	rest   []byte
	inDate bool
	units  bool // a number with a unit has been read in this part
	done   bool
}

// next takes the character behind a number, 0 at the end.
func (d *isoReading) next() byte {
	if len(d.rest) == 0 {
		d.done = true
		return 0
	}
	c := d.rest[0]
	d.rest = d.rest[1:]
	return c
}

// startTime goes on behind the T.
func (d *isoReading) startTime(skip int) {
	d.rest = d.rest[skip:]
	d.inDate, d.units = false, false
}

// number reads a number as strtod does, and returns its whole part and the rest.
func (d *isoReading) number() (whole int64, part float64, f fault) {
	text := d.rest
	if len(text) == 0 || text[0] != '-' && text[0] != '.' && text[0]-'0' > 9 {
		return 0, 0, badFormat
	}
	n, digits := 0, 0
	if text[0] == '-' {
		n++
	}
	if n < len(text) && (text[n]|0x20 == 'i' || text[n]|0x20 == 'n') || n+1 < len(text) && text[n] == '0' && text[n+1]|0x20 == 'x' {
		return 0, 0, onlyServer // inf, nan and hexadecimal numbers
	}
	zero := true
	for point := false; n < len(text) && (text[n]-'0' <= 9 || text[n] == '.' && !point); n++ {
		if text[n] == '.' {
			point = true
			continue
		}
		digits++
		zero = zero && text[n] == '0'
	}
	if digits == 0 {
		return 0, 0, badFormat
	}
	n += exponent(text[n:])
	value, err := strconv.ParseFloat(string(text[:n]), 64)
	if err != nil {
		return 0, 0, badFormat // beyond what a double has
	}
	if !zero && math.Abs(value) < 1e-300 {
		return 0, 0, onlyServer
	}
	d.rest = text[n:]
	if value < -1e15 || value > 1e15 {
		return 0, 0, fieldOverflow
	}
	whole = int64(value)
	return whole, value - float64(whole), noFault
}

// exponent is the length of an exponent at the start of a text.
func exponent(text []byte) int {
	if len(text) < 2 || text[0]|0x20 != 'e' {
		return 0
	}
	n := 1
	if text[n] == '+' || text[n] == '-' {
		n++
	}
	first := n
	for n < len(text) && text[n]-'0' <= 9 {
		n++
	}
	if n == first {
		return 0
	}
	return n
}

// width is the number of digits that a number starts with.
func width(text []byte) int {
	if len(text) > 0 && text[0] == '-' {
		text = text[1:]
	}
	n := 0
	for n < len(text) && text[n]-'0' <= 9 {
		n++
	}
	return n
}

// count adds a number of a unit.
func (d *isoReading) count(unit intervalUnit, value int64, part float64) fault {
	if !d.add(unit, value, part) {
		return fieldOverflow
	}
	d.units = true
	return noFault
}

// dateUnit reads what follows a number of the date.
func (d *isoReading) dateUnit(start []byte, value int64, part float64) fault {
	switch unit := d.next(); unit {
	case 'Y':
		return d.count(yearUnit, value, part)
	case 'M':
		return d.count(monthUnit, value, part)
	case 'W':
		return d.count(weekUnit, value, part)
	case 'D':
		return d.count(dayUnit, value, part)
	case 'T', 0:
		if width(start) != 8 || d.units {
			return d.dashed(unit, value, part)
		}
		if !d.add(yearUnit, value/10000, 0) || !d.add(monthUnit, value/100%100, 0) || !d.add(dayUnit, value%100, part) {
			return fieldOverflow
		}
		d.startTime(0)
		return noFault
	case '-':
		return d.dashed(unit, value, part)
	}
	return badFormat
}

// dashed reads the rest of years-months-days, each of which may be the last.
func (d *isoReading) dashed(unit byte, value int64, part float64) fault {
	if d.units {
		return badFormat
	}
	for _, field := range []intervalUnit{yearUnit, monthUnit, dayUnit} {
		if field != yearUnit {
			var f fault
			if value, part, f = d.number(); f != noFault {
				return f
			}
			unit = d.next()
		}
		if !d.add(field, value, part) {
			return fieldOverflow
		}
		switch unit {
		case 0:
			return noFault
		case 'T':
			d.startTime(0)
			return noFault
		case '-':
		default:
			return badFormat
		}
	}
	return badFormat
}

// timeUnit reads what follows a number of the time.
func (d *isoReading) timeUnit(start []byte, value int64, part float64) fault {
	switch unit := d.next(); unit {
	case 'H':
		return d.count(hourUnit, value, part)
	case 'M':
		return d.count(minuteUnit, value, part)
	case 'S':
		return d.count(secondUnit, value, part)
	case 0:
		if width(start) != 6 || d.units {
			return d.coloned(unit, value, part)
		}
		if !d.add(hourUnit, value/10000, 0) || !d.add(minuteUnit, value/100%100, 0) || !d.add(secondUnit, value%100, 0) ||
			!d.addFraction(part, microsecond) { // The fraction counts as one of a microsecond.
			return fieldOverflow
		}
		return noFault
	case ':':
		return d.coloned(unit, value, part)
	}
	return badFormat
}

// coloned reads the rest of hours:minutes:seconds, each of which may be the last.
func (d *isoReading) coloned(unit byte, value int64, part float64) fault {
	if d.units {
		return badFormat
	}
	for _, field := range []intervalUnit{hourUnit, minuteUnit, secondUnit} {
		if field != hourUnit {
			var f fault
			if value, part, f = d.number(); f != noFault {
				return f
			}
			unit = d.next()
		}
		if !d.add(field, value, part) {
			return fieldOverflow
		}
		if unit == 0 {
			return noFault
		}
		if unit != ':' {
			return badFormat
		}
	}
	return badFormat
}
