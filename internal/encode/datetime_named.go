package encode

// word reads a field of letters of a text that has a date.
func (d *reading) word(parts *fields, i int, text []byte) (mask, fault) {
	kind, value := dateWord(text)
	if kind == plusInfinity && d.Version >= 16 {
		kind = reservedWord
	}
	switch kind {
	case fillerWord:
		return 0, noFault
	case reservedWord:
		return d.reservedWord(parts.n, value)
	case monthWord:
		return d.nameMonth(value), noFault
	case weekdayWord:
		if value == 6 && d.name == "timestamp with time zone" {
			return 0, onlyServer // In the Australian set of abbreviations it is a zone.
		}
		return weekdaySaid, noFault
	case clockWord:
		if d.said&dateSaid != dateSaid {
			return 0, badFormat
		}
	}
	return d.commonWord(parts, i, text, kind, value)
}

// nameMonth notes a month that is a word. A number that was taken for the month is then the day.
func (d *reading) nameMonth(value int32) mask {
	now := monthSaid
	if d.said&(monthSaid|daySaid) == monthSaid && !d.wordMonth && d.month >= 1 && d.month <= 31 {
		d.day = d.month
		now = daySaid
	}
	d.wordMonth, d.month = true, value
	return now
}

// reservedWord reads a moment by name.
func (d *reading) reservedWord(n int, value int32) (mask, fault) {
	switch value {
	case midnightUTC:
		d.setClock(0)
		d.west = 0
		return clockSaid | zoneSaid, noFault
	case pastMoment, futureMoment, epochMoment:
		if n > 1 && d.Version < 16 {
			return 0, onlyServer // What else the text has is read and ignored there.
		}
		d.reserved = value
		return dateSaid | clockSaid | zoneSaid, noFault
	}
	return 0, onlyServer
}

// commonWord reads the words that times have with and without a date.
func (d *reading) commonWord(parts *fields, i int, text []byte, kind word, value int32) (mask, fault) {
	switch kind {
	case halfWord:
		d.half = value
		return halfSaid, noFault
	case eraWord:
		d.beforeChrist = value == 1
		return eraSaid, noFault
	case summerWord:
		return 0, onlyServer
	case julianWord, clockWord, unitWord:
		return 0, d.announce(parts, i, kind)
	case unknownWord:
		switch d.zoneName(text) {
		case utcZone:
			d.west = 0
			return zoneSaid, noFault
		case otherZone:
			return 0, onlyServer
		case noZone:
		}
	}
	return 0, badFormat
}

// announce notes a word that says what the next number is.
func (d *reading) announce(parts *fields, i int, kind word) fault {
	switch {
	case d.Version >= 16 && d.prefix != unknownWord:
		return badFormat
	case d.Version >= 16:
	case kind == clockWord && (parts.ends(i) || parts.kind[i+1] > clockField):
		return badFormat
	case kind == unitWord && !parts.ends(i):
		return onlyServer // y2024m01d31 was a date once.
	}
	d.prefix = kind
	return noFault
}
