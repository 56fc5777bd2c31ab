package encode

import (
	"bytes"
	"math"
	"strconv"
)

// leadingInt64 reads a number with an optional sign, as strtol does: without digits it is 0, and what follows it is the rest. It is false
// when it has more than 64 bits.
func leadingInt64(text []byte) (value int64, rest []byte, ok bool) {
	at, negative := 0, false
	if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
		negative = text[0] == '-'
		at = 1
	}
	start := at
	ok = true
	for ; at < len(text) && text[at]-'0' <= 9; at++ {
		d := int64(text[at] - '0')
		// Summed up below zero, where there is room for one more.
		if value < (math.MinInt64+d)/10 {
			ok = false
		}
		value = value*10 - d
	}
	if at == start {
		return 0, text, true
	}
	if !negative {
		if value == math.MinInt64 {
			ok = false
		}
		value = -value
	}
	return value, text[at:], ok
}

// leadingInt is leadingInt64 for 32 bits.
func leadingInt(text []byte) (value int32, rest []byte, ok bool) {
	wide, rest, ok := leadingInt64(text)
	return int32(wide), rest, ok && wide == int64(int32(wide))
}

// wrappedInt reads digits as atoi does: 64 bits at most, and the lower 32 of them.
func wrappedInt(digits []byte) int32 {
	value, _, ok := leadingInt64(digits)
	if !ok {
		value = math.MaxInt64
	}
	return int32(value)
}

// fraction reads a point and the digits behind it to the end of the text. A point alone is 0 since 15.
func (r *timeReader) fraction(text []byte) (float64, fault) {
	digits := text[1:]
	if len(digits) == 0 {
		if r.Version < 15 {
			return 0, badFormat
		}
		return 0, noFault
	}
	for _, c := range digits {
		if c-'0' > 9 {
			return 0, badFormat
		}
	}
	if len(digits) <= len(powersOf10)-1 {
		value, _, _ := leadingInt64(digits)
		return float64(value) / powersOf10[len(digits)], noFault // both are exact, so the quotient is the nearest
	}
	value, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return 0, badFormat
	}
	return value, noFault
}

var powersOf10 = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// fractionMicros is a fraction of a second in microseconds.
func (r *timeReader) fractionMicros(text []byte) (int32, fault) {
	value, f := r.fraction(text)
	return int32(math.RoundToEven(value * 1e6)), f
}

// mask is a set of what fields have said, so that none is said twice.
type mask uint32

const (
	yearSaid mask = 1 << iota
	monthSaid
	daySaid
	yearDaySaid
	weekdaySaid
	hourSaid
	minuteSaid
	secondSaid
	millisecondSaid
	microsecondSaid
	zoneSaid
	halfSaid
	eraSaid
	weekSaid
	decadeSaid
	centurySaid
	millenniumSaid

	dateSaid    = yearSaid | monthSaid | daySaid
	secondsSaid = secondSaid | millisecondSaid | microsecondSaid
	clockSaid   = hourSaid | minuteSaid | secondsSaid
)

// moment is a date and a time as they are read.
type moment struct {
	year, month, day, yearDay    int32
	hour, minute, second, micros int32
	west                         int32 // of UTC, in seconds
}

// reading is the state of reading one text.
type reading struct {
	*timeReader
	moment
	said         mask
	prefix       word // julianWord or clockWord: what the next field is
	wordMonth    bool // the month was a word
	shortYear    bool // the year has one or two digits
	julian       bool
	beforeChrist bool
	half         int32
	reserved     int32 // the moment that the text is by name, ordinary for none
}

const ordinary = -1

// dateParts reads a field that holds a whole date (DecodeDate of datetime.c). Of the text between two parts one character is skipped
// whatever it is, as the server does.
func (d *reading) dateParts(text []byte) (mask, fault) {
	var parts [maxFields][]byte
	n := 0
	for at := 0; at < len(text) && n < maxFields; n++ {
		for at < len(text) && charClasses[text[at]]&(digit|letter) == 0 {
			at++
		}
		if at == len(text) {
			return 0, badFormat
		}
		start, class := at, charClasses[text[at]]&(digit|letter)
		for at < len(text) && charClasses[text[at]]&class != 0 {
			at++
		}
		parts[n] = text[start:at]
		at++
	}
	said := d.said
	wordMonth := false
	for i, part := range parts[:n] {
		if charClasses[part[0]]&letter == 0 {
			continue
		}
		kind, month := dateWord(part)
		if kind == fillerWord {
			continue
		}
		if kind != monthWord || said&monthSaid != 0 {
			return 0, badFormat
		}
		d.month, wordMonth = month, true
		said |= monthSaid
		parts[i] = nil
	}
	for _, part := range parts[:n] {
		if part == nil {
			continue
		}
		_, now, f := d.datePart(part, wordMonth, said)
		if f != noFault {
			return 0, f
		}
		if said&now != 0 {
			return 0, badFormat
		}
		said |= now
	}
	if said&^(yearDaySaid|zoneSaid) != dateSaid {
		return 0, badFormat
	}
	return said &^ d.said, noFault
}

// datePart reads a number whose meaning depends on what has been said and on the order of the fields (DecodeNumber of datetime.c). A fraction
// is returned in microseconds, -1 for none.
func (d *reading) datePart(text []byte, wordMonth bool, said mask) (micros int32, now mask, f fault) {
	micros = -1
	value, rest, ok := leadingInt(text)
	switch {
	case !ok:
		return micros, 0, fieldOverflow
	case len(rest) == len(text):
		return micros, 0, badFormat
	case len(rest) > 0 && rest[0] != '.':
		return micros, 0, badFormat
	case len(rest) > 0 && len(text)-len(rest) > 2:
		return d.runTogether(text, said|dateSaid)
	case len(rest) > 0:
		if micros, f = d.fractionMicros(rest); f != noFault {
			return micros, 0, f
		}
	}
	if len(text) == 3 && said&dateSaid == yearSaid && value >= 1 && value <= 366 {
		d.yearDay = value
		return micros, yearDaySaid | monthSaid | daySaid, noFault
	}
	switch said & dateSaid {
	case 0:
		now = d.firstPart(len(text) >= 3)
	case yearSaid, daySaid:
		now = monthSaid
	case monthSaid:
		now = daySaid
		if wordMonth && (len(text) >= 3 || d.Order == YMD) {
			now = yearSaid
		}
	case yearSaid | monthSaid:
		now = daySaid
		if wordMonth && len(text) >= 3 && d.shortYear {
			// DD-MON-YYYY where the order made the first number the year.
			d.day, d.year, d.shortYear = d.year, value, false
			return micros, daySaid, noFault
		}
	case monthSaid | daySaid:
		now = yearSaid
	case dateSaid:
		return d.runTogether(text, said)
	default: // year and day: no order of the fields is like that
		return micros, 0, badFormat
	}
	d.set(now, value, len(text) <= 2)
	return micros, now, noFault
}

// firstPart is what the first number of a date is.
func (d *reading) firstPart(long bool) mask {
	switch {
	case long || d.Order == YMD:
		return yearSaid
	case d.Order == DMY:
		return daySaid
	}
	return monthSaid
}

func (d *reading) set(part mask, value int32, short bool) {
	switch part {
	case yearSaid:
		d.year, d.shortYear = value, short
	case monthSaid:
		d.month = value
	case daySaid:
		d.day = value
	}
}

// runTogether reads YYYYMMDD, YYMMDD, hhmmss and hhmm, times with or without a fraction (DecodeNumberField of datetime.c).
func (d *reading) runTogether(text []byte, said mask) (micros int32, now mask, f fault) {
	micros = -1
	for _, c := range text {
		if charClasses[c]&(digit|point) == 0 {
			return micros, 0, onlyServer // Minor releases differ in which of these they refuse.
		}
	}
	if at := bytes.IndexByte(text, '.'); at >= 0 {
		if micros, f = d.fractionMicros(text[at:]); f != noFault {
			return micros, 0, f
		}
		text = text[:at]
	} else if n := len(text); said&dateSaid != dateSaid && n >= 6 {
		d.day, d.month, d.year = wrappedInt(text[n-2:]), wrappedInt(text[n-4:n-2]), wrappedInt(text[:n-4])
		if n == 6 {
			d.shortYear = true
		}
		return micros, dateSaid, noFault
	}
	if said&clockSaid != clockSaid && (len(text) == 6 || len(text) == 4) {
		d.hour, d.minute, d.second = wrappedInt(text[:2]), wrappedInt(text[2:4]), 0
		if len(text) == 6 {
			d.second = wrappedInt(text[4:])
		}
		return micros, clockSaid, noFault
	}
	return micros, 0, badFormat
}

// validate checks what has been said of the date, and settles the year (ValidateDate of datetime.c).
func (d *reading) validate() fault {
	if d.said&yearSaid != 0 && !d.julian {
		switch {
		case d.beforeChrist:
			if d.year <= 0 {
				return fieldOverflow
			}
			d.year = 1 - d.year
		case d.shortYear && d.year < 0:
			return fieldOverflow
		case d.shortYear && d.year < 70:
			d.year += 2000
		case d.shortYear && d.year < 100:
			d.year += 1900
		case !d.shortYear && d.year <= 0:
			return fieldOverflow
		}
	}
	if d.said&yearDaySaid != 0 {
		if d.year < -5000 || d.year > 5874897 {
			return onlyServer // The server's arithmetic overflows there.
		}
		year, month, day := calendarDate(dayNumber(int(d.year), 1, 1) + int(d.yearDay) - 1)
		d.year, d.month, d.day = int32(year), int32(month), int32(day)
	}
	if d.said&monthSaid != 0 && (d.month < 1 || d.month > 12) || d.said&daySaid != 0 && (d.day < 1 || d.day > 31) {
		return monthOverflow
	}
	if d.said&dateSaid == dateSaid && int(d.day) > monthLength(int(d.year), int(d.month)) {
		return fieldOverflow
	}
	return noFault
}
