package encode

import "bytes"

// spanReading is the state of reading an interval from its last field to its first, so that units come before their numbers.
type spanReading struct {
	*intervalReader
	span
	said     mask
	unit     intervalUnit
	ago      bool
	pending  bool  // a unit has been read that no number has
	infinite *span // what infinity stands for, when it has been read
}

// fieldwise reads an interval as a list of fields (DecodeInterval of datetime.c, with the IntervalStyle postgres).
func (r *intervalReader) fieldwise(text []byte) (span, fault) {
	var parts fields
	if !parts.split(text, r.room) {
		return span{}, badFormat
	}
	d := spanReading{intervalReader: r}
	for i := parts.n - 1; i >= 0; i-- {
		var now mask
		var f fault
		switch part := parts.text(i); parts.kind[i] {
		case clockField:
			now, f = clockSaid, d.clock(part)
		case offsetField:
			now, f = d.signed(part)
		case dateField, numberField:
			now, f = d.number(part)
		default:
			now, f = d.word(&parts, i, part)
		}
		if f != noFault {
			return d.span, f
		}
		if d.said&now != 0 {
			return d.span, badFormat
		}
		d.said |= now
	}
	if d.said == 0 || d.pending && r.Version >= 17 {
		return d.span, badFormat
	}
	if d.infinite != nil {
		return *d.infinite, noFault
	}
	if d.ago && !d.negate() {
		return d.span, fieldOverflow
	}
	return d.span, noFault
}

// clock reads a time, which is days before it when it is not the first field.
func (d *spanReading) clock(text []byte) fault {
	c, f := d.clockNumbers(text, d.fields == minuteField|secondField)
	if f != noFault {
		return f
	}
	if d.Version < 15 && c.hour > narrow {
		return onlyServer
	}
	d.micros = int64(c.micros)
	if !d.addMicros(c.hour, hour) || !d.addMicros(int64(c.minute), minute) || !d.addMicros(int64(c.second), second) {
		return fieldOverflow
	}
	d.unit, d.pending = dayUnit, false
	return noFault
}

// signed reads a field with a sign: a time or a number.
func (d *spanReading) signed(text []byte) (mask, fault) {
	if bytes.IndexByte(text[1:], ':') < 0 {
		return d.number(text)
	}
	// A time that is none is tried as a number; what it left in the sum stays, but the number fails at its colon.
	f := d.clock(text[1:])
	if f == onlyServer {
		return 0, f
	}
	if f != noFault {
		return d.number(text)
	}
	if text[0] == '-' {
		d.micros = -d.micros // It is no minimum: times have no sign.
	}
	return clockSaid, noFault
}

// narrow is what numbers of an interval are trusted to before 15, whose sums have 32 bits and wrap around.
const narrow = 1_000_000

// number reads a number, or years and months with a dash between.
func (d *spanReading) number(text []byte) (mask, fault) {
	if d.unit == openUnit {
		d.unit = d.fields.last()
	}
	value, rest, ok := leadingInt64(text)
	if !ok || d.Version < 15 && value != int64(int32(value)) {
		return 0, fieldOverflow
	}
	var part float64
	switch {
	case len(rest) == 0:
	case rest[0] == '-':
		months, rest, ok := leadingInt(rest[1:])
		if !ok || months < 0 || months >= monthsOfYear {
			return 0, fieldOverflow
		}
		if len(rest) > 0 {
			return 0, badFormat
		}
		d.unit = monthUnit
		if text[0] == '-' {
			months = -months
		}
		var years span
		if !years.addMicros(value, monthsOfYear) || !years.addMicros(int64(months), 1) {
			return 0, fieldOverflow
		}
		value = years.micros
	case rest[0] == '.':
		var f fault
		if part, f = d.fraction(rest); f != noFault {
			return 0, f
		}
		if text[0] == '-' {
			part = -part
		}
	default:
		return 0, badFormat
	}
	if d.Version < 15 && !d.sureOf(value, part, len(rest)) {
		return 0, onlyServer
	}
	return d.count(value, part)
}

// sureOf says whether a number means before 15 what it means since: sums were narrower there, and parts of units were shared out otherwise.
func (d *spanReading) sureOf(value int64, part float64, length int) bool {
	return value <= narrow && value >= -narrow && (part == 0 || d.unit == secondUnit && length <= 7)
}

// count adds a number of the unit that is known by now.
func (d *spanReading) count(value int64, part float64) (mask, fault) {
	d.pending = false
	unit := d.unit
	if unit == otherUnit {
		return 0, badFormat
	}
	if !d.add(unit, value, part) {
		return 0, fieldOverflow
	}
	if unit == hourUnit {
		d.unit = dayUnit // for the number before it
	}
	if unit == secondUnit && part != 0 {
		return secondsSaid, noFault
	}
	return unitSaid[unit], noFault
}

// word reads a field of letters: a unit, or what stands around numbers.
func (d *spanReading) word(parts *fields, i int, text []byte) (mask, fault) {
	if d.pending && d.Version >= 17 {
		return 0, badFormat
	}
	kind, unit, value := unitWordOf(text, d.Version)
	switch kind {
	case unitWord:
		d.unit, d.pending = unit, true
	case fillerWord:
		d.unit = openUnit
	case agoWord:
		if d.Version >= 17 && !parts.ends(i) {
			return 0, badFormat
		}
		d.ago, d.unit = true, otherUnit
	case reservedWord, plusInfinity:
		return d.endless(parts.ends(i), value)
	default:
		return 0, badFormat
	}
	return 0, noFault
}

// endless reads infinity, which is the whole text.
func (d *spanReading) endless(last bool, value int32) (mask, fault) {
	switch {
	case value == pastMoment && last:
		d.infinite = &pastSpan
	case value == futureMoment && last:
		d.infinite = &futureSpan
	default:
		return 0, badFormat
	}
	d.unit = otherUnit
	return dateSaid | clockSaid, noFault
}
