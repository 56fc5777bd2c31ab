package encode

import "bytes"

// date reads a date in any form. The result is days since 2000-01-01.
func (r *timeReader) date(text []byte) (int32, fault) {
	d, f := r.read(text, false)
	switch {
	case f != noFault:
		return 0, f
	case d.reserved == pastMoment:
		return datePast, noFault
	case d.reserved == futureMoment:
		return dateFuture, noFault
	case !d.known():
		return 0, rangeOverflow
	}
	days := dayNumber(int(d.year), int(d.month), int(d.day))
	if days < firstDay || days >= endDay {
		return 0, rangeOverflow
	}
	return int32(days), noFault
}

// timestamp reads a timestamp in any form. The result is microseconds since 2000-01-01, of UTC when zoned.
func (r *timeReader) timestamp(text []byte, zoned bool) (int64, fault) {
	d, f := r.read(text, false)
	switch {
	case f != noFault:
		return 0, f
	case d.reserved == pastMoment:
		return momentPast, noFault
	case d.reserved == futureMoment:
		return momentFuture, noFault
	case zoned && d.said&zoneSaid == 0 && !r.UTC:
		return 0, onlyServer
	case !d.known():
		return 0, rangeOverflow
	}
	days := int64(dayNumber(int(d.year), int(d.month), int(d.day)))
	if days < firstDay-1 || days > endTimestamp/dayLength {
		return 0, rangeOverflow
	}
	at := days*dayLength + d.sinceMidnight()
	if zoned {
		at += int64(d.west) * second
	}
	if at < firstTimestamp || at >= endTimestamp {
		return 0, rangeOverflow
	}
	return at, noFault
}

// clock reads a time of day in any form. The result is microseconds, and the seconds that its zone is west of UTC when zoned.
func (r *timeReader) clock(text []byte, zoned bool) (at int64, west int32, f fault) {
	d, f := r.read(text, true)
	if f != noFault {
		return 0, 0, f
	}
	if zoned && d.said&zoneSaid == 0 && !r.UTC {
		return 0, 0, onlyServer
	}
	return d.sinceMidnight(), d.west, noFault
}

// known says whether the calendar of the server reaches a date (IS_VALID_JULIAN of timestamp.h).
func (m *moment) known() bool {
	return (m.year > -4713 || m.year == -4713 && m.month >= 11) && (m.year < 5874898 || m.year == 5874898 && m.month < 6)
}

// read reads a text field by field, as a time of day (DecodeTimeOnly of datetime.c) or as a date with or without one (DecodeDateTime).
func (r *timeReader) read(text []byte, timeOnly bool) (d reading, f fault) {
	blanked, foreign := blankForeign(text)
	if foreign {
		text = blanked
	}
	var parts fields
	d = reading{timeReader: r, reserved: ordinary}
	f = badFormat
	if parts.split(text, r.room) {
		if timeOnly {
			f = d.timeOfDay(&parts)
		} else {
			f = d.dateAndTime(&parts)
		}
	}
	switch {
	case !foreign:
	case f == noFault || f >= onlyServer:
		f = onlyServer
	default:
		f = badFormat
	}
	return d, f
}

// say notes what a field has said. No two fields may say the same.
func (d *reading) say(now mask) fault {
	if d.said&now != 0 {
		return badFormat
	}
	d.said |= now
	return noFault
}

func (d *reading) dateAndTime(parts *fields) fault {
	for i := range parts.n {
		var now mask
		var f fault
		switch text := parts.text(i); parts.kind[i] {
		case dateField:
			now, f = d.dateField(i, text)
		case clockField:
			if now, f = clockSaid, d.prefixedClock(text); f == noFault && d.clockOverflows() {
				f = fieldOverflow
			}
		case offsetField:
			now = zoneSaid
			d.west, f = zoneOffset(text)
		case numberField:
			now, f = d.number(text)
		default:
			now, f = d.word(parts, i, text)
		}
		if f == noFault {
			f = d.say(now)
		}
		if f != noFault {
			return f
		}
	}
	if d.prefix != unknownWord && d.Version >= 16 {
		return badFormat
	}
	if d.reserved != ordinary && d.reserved != epochMoment {
		return noFault
	}
	if d.reserved == epochMoment {
		d.moment = moment{year: 1970, month: 1, day: 1}
		return noFault
	}
	if f := d.validate(); f != noFault {
		return f
	}
	if f := d.noon(); f != noFault {
		return f
	}
	if d.said&dateSaid != dateSaid {
		return badFormat
	}
	return noFault
}

// prefixedClock reads a time that a T may stand before.
func (d *reading) prefixedClock(text []byte) fault {
	if d.prefix != unknownWord && d.prefix != clockWord {
		return badFormat
	}
	d.prefix = unknownWord
	return d.clockField(text)
}

// dateField reads a field of digits or letters around - / . of a text that has a date: the date, or what may look like one behind it.
func (d *reading) dateField(i int, text []byte) (mask, fault) {
	if d.prefix == julianWord {
		return d.julianZoned(text)
	}
	if d.prefix == unknownWord && d.said&(monthSaid|daySaid) != monthSaid|daySaid {
		return d.dateParts(text)
	}
	if d.prefix == unknownWord && charClasses[text[0]]&digit == 0 {
		return 0, d.zonePath(i, text)
	}
	if d.prefix != unknownWord && d.prefix != clockWord {
		return 0, badFormat
	}
	d.prefix = unknownWord
	return d.clockZoned(text, d.said)
}

// clockZoned reads a time run together with the offset of its zone, such as 101112-05.
func (d *reading) clockZoned(text []byte, said mask) (mask, fault) {
	at := bytes.IndexByte(text, '-')
	if d.said&clockSaid == clockSaid || at < 0 {
		return 0, badFormat
	}
	var f fault
	if d.west, f = zoneOffset(text[at:]); f != noFault {
		return 0, f
	}
	now, f := d.together(text[:at], said)
	return now | zoneSaid, f
}

// together is runTogether with its fraction kept.
func (d *reading) together(text []byte, said mask) (mask, fault) {
	micros, now, f := d.runTogether(text, said)
	if micros >= 0 {
		d.micros = micros
	}
	return now, f
}

// part is datePart with its fraction kept.
func (d *reading) part(text []byte, said mask) (mask, fault) {
	micros, now, f := d.datePart(text, d.wordMonth, said)
	if micros >= 0 {
		d.micros = micros
	}
	return now, f
}

// julianZoned reads a Julian day run together with the offset of a zone.
func (d *reading) julianZoned(text []byte) (now mask, f fault) {
	days, rest, ok := leadingInt(text)
	if !ok || days < 0 {
		return 0, fieldOverflow
	}
	d.setJulian(days)
	d.west, f = zoneOffset(rest)
	return dateSaid | clockSaid | zoneSaid, f
}

func (d *reading) setJulian(days int32) {
	year, month, day := calendarDate(int(days) - julianEpoch)
	d.year, d.month, d.day = int32(year), int32(month), int32(day)
	d.julian, d.prefix = true, unknownWord
}

// prefixed reads a number that a J or a T stands before.
func (d *reading) prefixed(text []byte) (mask, fault) {
	days, rest, ok := leadingInt(text)
	if !ok || d.prefix == julianWord && days < 0 {
		return 0, fieldOverflow
	}
	if d.prefix == clockWord {
		now, f := d.together(text, d.said|dateSaid)
		if f == noFault && now != clockSaid {
			f = badFormat
		}
		d.prefix = unknownWord
		return now, f
	}
	if d.prefix != julianWord {
		return 0, badFormat
	}
	d.setJulian(days)
	if len(rest) == 0 {
		return dateSaid, noFault
	}
	part, f := d.fraction(rest)
	d.setClock(int64(part * dayLength))
	return dateSaid | clockSaid, f
}

// number reads a field of digits of a text that has a date.
func (d *reading) number(text []byte) (mask, fault) {
	if d.prefix != unknownWord {
		return d.prefixed(text)
	}
	at := bytes.IndexByte(text, '.')
	switch {
	case at >= 0 && d.said&dateSaid == 0:
		return d.dateParts(text)
	case at > 2, len(text) >= 6 && (d.said&dateSaid == 0 || d.said&clockSaid == 0):
		return d.together(text, d.said)
	}
	return d.part(text, d.said)
}
