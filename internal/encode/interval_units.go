package encode

// intervalUnit is what a number in an interval counts.
type intervalUnit uint8

const (
	openUnit intervalUnit = iota // not yet known
	microsecondUnit
	millisecondUnit
	secondUnit
	minuteUnit
	hourUnit
	dayUnit
	weekUnit
	monthUnit
	yearUnit
	decadeUnit
	centuryUnit
	millenniumUnit
	otherUnit // a known word that numbers cannot have
)

// unitSaid is what a number of each unit says.
var unitSaid = [...]mask{
	microsecondUnit: microsecondSaid, millisecondUnit: millisecondSaid, secondUnit: secondSaid, minuteUnit: minuteSaid, hourUnit: hourSaid,
	dayUnit: daySaid, weekUnit: weekSaid, monthUnit: monthSaid, yearUnit: yearSaid, decadeUnit: decadeSaid, centuryUnit: centurySaid,
	millenniumUnit: millenniumSaid, otherUnit: 0,
}

// significant is how many characters of a unit's name count.
const significant = 10

// unitWordOf looks up a word in lower case among the units of intervals (deltatktbl of datetime.c), then, since 17, among the words of dates.
func unitWordOf(text []byte, version int) (kind word, unit intervalUnit, value int32) {
	if len(text) > significant {
		text = text[:significant]
	}
	if unit = unitNamed(text); unit != openUnit {
		return unitWord, unit, 0
	}
	if string(text) == "ago" {
		return agoWord, openUnit, 0
	}
	if version < 17 {
		return unknownWord, openUnit, 0
	}
	kind, value = dateWord(text)
	switch kind {
	case unitWord, julianWord: // of dates: isodow, j
		if string(text) == "mm" {
			return unitWord, minuteUnit, 0
		}
		return unitWord, otherUnit, 0
	case fillerWord, reservedWord, plusInfinity:
		return kind, openUnit, value
	}
	return unknownWord, openUnit, 0
}

func unitNamed(text []byte) intervalUnit {
	switch string(text) {
	case "us", "usec", "usecond", "useconds", "usecs", "microsecon":
		return microsecondUnit
	case "ms", "msec", "msecond", "mseconds", "msecs", "millisecon":
		return millisecondUnit
	case "s", "sec", "second", "seconds", "secs":
		return secondUnit
	case "m", "min", "mins", "minute", "minutes":
		return minuteUnit
	case "h", "hour", "hours", "hr", "hrs":
		return hourUnit
	case "d", "day", "days":
		return dayUnit
	case "w", "week", "weeks":
		return weekUnit
	case "mon", "mons", "month", "months":
		return monthUnit
	case "y", "year", "years", "yr", "yrs":
		return yearUnit
	case "dec", "decade", "decades", "decs":
		return decadeUnit
	case "c", "cent", "centuries", "century":
		return centuryUnit
	case "mil", "mils", "millennia", "millennium":
		return millenniumUnit
	case "qtr", "quarter", "timezone", "timezone_h", "timezone_m":
		return otherUnit
	}
	return openUnit
}

// intervalFields are the fields that a column keeps, as bits (INTERVAL_MASK of timestamp.h).
type intervalFields int32

const (
	monthField  intervalFields = 1 << 1
	yearField   intervalFields = 1 << 2
	dayField    intervalFields = 1 << 3
	hourField   intervalFields = 1 << 10
	minuteField intervalFields = 1 << 11
	secondField intervalFields = 1 << 12
	anyFields   intervalFields = 0x7fff
)

// last is the unit of a number that has none, the last of a text.
func (f intervalFields) last() intervalUnit {
	switch f {
	case yearField:
		return yearUnit
	case monthField, yearField | monthField:
		return monthUnit
	case dayField:
		return dayUnit
	case hourField, dayField | hourField:
		return hourUnit
	case minuteField, hourField | minuteField, dayField | hourField | minuteField:
		return minuteUnit
	}
	return secondUnit
}
