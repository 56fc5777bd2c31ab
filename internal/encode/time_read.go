package encode

import "bytes"

// timeOfDay reads the fields of a time. A date in front of it is taken too, for the sake of its zone.
func (d *reading) timeOfDay(parts *fields) fault {
	for i := range parts.n {
		var now mask
		var f fault
		switch text := parts.text(i); parts.kind[i] {
		case dateField:
			now, f = d.dateInTime(parts, i, text)
		case clockField:
			now = clockSaid
			if d.Version >= 16 {
				f = d.prefixedClock(text)
			} else {
				f = d.clockField(text)
			}
		case offsetField:
			now = zoneSaid
			d.west, f = zoneOffset(text)
		case numberField:
			now, f = d.numberInTime(parts, i, text)
		default:
			now, f = d.wordInTime(parts, i, text)
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
	if f := d.validate(); f != noFault {
		return f
	}
	if f := d.noon(); f != noFault {
		return f
	}
	if d.clockOverflows() {
		return fieldOverflow
	}
	if d.said&clockSaid != clockSaid || d.said&zoneSaid == 0 && d.said&dateSaid != 0 && d.said&dateSaid != dateSaid {
		return badFormat
	}
	return noFault
}

// dateInTime reads a field of digits or letters around - / . of a time.
func (d *reading) dateInTime(parts *fields, i int, text []byte) (mask, fault) {
	if i == 0 && parts.n >= 2 && (parts.kind[parts.n-1] == dateField || parts.kind[1] == clockField) {
		return d.dateParts(text)
	}
	if charClasses[text[0]]&digit == 0 {
		return 0, d.zonePath(i, text)
	}
	return d.clockZoned(text, d.said|dateSaid)
}

// numberInTime reads a field of digits of a time.
func (d *reading) numberInTime(parts *fields, i int, text []byte) (mask, fault) {
	if d.prefix != unknownWord {
		return d.prefixed(text)
	}
	at := bytes.IndexByte(text, '.')
	switch {
	case at >= 0 && i == 0 && parts.n >= 2 && parts.kind[parts.n-1] == dateField:
		return d.dateParts(text)
	case at > 2, at < 0 && len(text) > 4:
		return d.together(text, d.said|dateSaid)
	case at >= 0:
		return 0, badFormat
	}
	micros, now, f := d.datePart(text, false, d.said|dateSaid)
	if micros >= 0 {
		d.micros = micros
	}
	return now, f
}

// wordInTime reads a field of letters of a time.
func (d *reading) wordInTime(parts *fields, i int, text []byte) (mask, fault) {
	kind, value := dateWord(text)
	switch kind {
	case fillerWord:
		return 0, noFault
	case reservedWord:
		if value == nowMoment {
			return 0, onlyServer
		}
		if value == midnightUTC {
			return d.reservedWord(parts.n, value)
		}
		return 0, badFormat
	case weekdayWord:
		if value == 6 {
			return 0, onlyServer // In the Australian set of abbreviations it is a zone.
		}
		return 0, badFormat
	}
	return d.commonWord(parts, i, text, kind, value)
}
