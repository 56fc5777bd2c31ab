package encode

// Days are those of the Gregorian calendar, carried on to the times before it; the year 0 is 1 BC.

// firstDay and endDay bound the days of a date: Julian day 0, and the end of the range that date.h states, since 2000-01-01.
const (
	firstDay = -julianEpoch
	endDay   = 2147483494 - julianEpoch
)

// julianEpoch is the Julian day of 2000-01-01.
const julianEpoch = 2451545

const (
	daysOf400Years = 146097
	// shiftedYears, a multiple of 400, keeps the divisions below on numbers that are not negative for every year of a date.
	shiftedYears = 8_000_000
	shiftedDays  = shiftedYears / 400 * daysOf400Years
	// marchEpoch is the day that 1 March of the year 0 is before 2000-01-01.
	marchEpoch = 730425
)

// dayNumber is the number of days since 2000-01-01, for years within shiftedYears of 0. Years are counted from March, so that the leap
// day is the last of its year.
func dayNumber(year, month, day int) int {
	if month -= 3; month < 0 {
		month += 12
		year--
	}
	y := uint(year + shiftedYears)
	return int(y*365+y/4-y/100+y/400) + (153*month+2)/5 + day - 1 - marchEpoch - shiftedDays
}

// calendarDate is the reverse of dayNumber.
func calendarDate(days int) (year, month, day int) {
	n := uint(days + marchEpoch + shiftedDays)
	cycle, n := n/daysOf400Years, n%daysOf400Years
	y := (n - n/1460 + n/36524 - n/146096) / 365
	n -= y*365 + y/4 - y/100
	m := (5*n + 2) / 153
	day = int(n-(153*m+2)/5) + 1
	year, month = int(cycle*400+y)-shiftedYears, int(m)+3
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, day
}

func monthLength(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}
