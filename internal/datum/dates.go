package datum

import (
	"encoding/binary"
	"math"
	"strconv"
)

// Dates count days and timestamps microseconds from 2000-01-01 of the proleptic Gregorian calendar; the smallest and the largest
// number stand for the infinities (datatype/timestamp.h, date.c, timestamp.c, EncodeDateTime in datetime.c).

const (
	microseconds    = 1000000
	microsecondsDay = 86400 * microseconds

	firstDay = -2451545             // Julian day 0, 4714-11-24 BC
	endDay   = 2147483494 - 2451545 // 5874898-06-03, the first day that no date reaches
	firstMic = firstDay * microsecondsDay
	endMic   = 9223371331200000000 // 294277-01-01
)

func printDate(dst, value []byte) ([]byte, error) {
	if len(value) != 4 {
		return dst, cutOff("date")
	}
	switch day := int32(binary.LittleEndian.Uint32(value)); {
	case day == math.MinInt32:
		return append(dst, "-infinity"...), nil
	case day == math.MaxInt32:
		return append(dst, "infinity"...), nil
	case day < firstDay || day >= endDay:
		return dst, malformed("date", "out of range")
	default:
		dst, before := appendDay(dst, int64(day))
		return appendEra(dst, before), nil
	}
}

func printTimestamp(dst, value []byte) ([]byte, error) {
	dst, before, err := appendMoment(dst, value, "")
	return appendEra(dst, before), err
}

func printTimestamptz(dst, value []byte) ([]byte, error) {
	dst, before, err := appendMoment(dst, value, "+00")
	return appendEra(dst, before), err
}

// appendMoment writes day, time and zone, and tells whether the year is before Christ.
func appendMoment(dst, value []byte, zone string) ([]byte, bool, error) {
	if len(value) != 8 {
		return dst, false, cutOff("timestamp")
	}
	moment := int64(binary.LittleEndian.Uint64(value))
	switch {
	case moment == math.MinInt64:
		return append(dst, "-infinity"...), false, nil
	case moment == math.MaxInt64:
		return append(dst, "infinity"...), false, nil
	case moment < firstMic || moment >= endMic:
		return dst, false, malformed("timestamp", "out of range")
	}
	day, rest := moment/microsecondsDay, moment%microsecondsDay
	if rest < 0 {
		day, rest = day-1, rest+microsecondsDay
	}
	dst, before := appendDay(dst, day)
	dst = append(dst, ' ')
	dst = appendClock(dst, uint64(rest))
	return append(dst, zone...), before, nil
}

// appendDay writes a year of at least four digits, month and day; the year 0 is 1 BC.
func appendDay(dst []byte, day int64) ([]byte, bool) {
	// Years that begin in March put the leap day at their end; 2000-03-01 begins a cycle of 400 of them. One of the quarters of days is taken
	// apart at a time, as Neri and Schneider do ("Euclidean affine functions and their application to calendar algorithms"): multiplications
	// instead of divisions halve the time, and dates take a fifth of a dump.
	const shifted = 20*400 - 2000 // years that 20 cycles put before
	quarters := uint64(day-60+20*146097)*4 + 3
	century := quarters / 146097
	product := 2939745 * (quarters%146097 | 3) // 2^32 / 2939745 = 1461, the quarters of a year
	ofYear := uint32(product) / 2939745 / 4
	year := 100*century + product>>32
	if ofYear >= firstOfJanuary {
		year++
	}
	before := year <= shifted
	if before {
		year = shifted + 1 - year
	} else {
		year -= shifted
	}
	rest := daysOfYear[6*ofYear : 6*ofYear+6]
	if year > 9999 {
		return append(appendWhole(dst, year), rest...), before
	}
	high, low := 2*(year/100), 2*(year%100)
	return append(dst, digitPairs[high], digitPairs[high+1], digitPairs[low], digitPairs[low+1], rest[0], rest[1], rest[2], rest[3], rest[4], rest[5]), before
}

const firstOfJanuary = 306 // of a year that begins in March

// daysOfYear are the months and days of a year that begins in March, such as -03-01.
var daysOfYear = func() []byte {
	days := make([]byte, 0, 6*366)
	for i, length := range []int{31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 31, 29} {
		month := 2 * ((i+2)%12 + 1)
		for day := range length {
			days = append(days, '-', digitPairs[month], digitPairs[month+1], '-', digitPairs[2*day+2], digitPairs[2*day+3])
		}
	}
	return days
}()

func appendEra(dst []byte, before bool) []byte {
	if before {
		return append(dst, " BC"...)
	}
	return dst
}

// appendClock writes hours, minutes, seconds and, without zeros at their end, microseconds.
func appendClock(dst []byte, rest uint64) []byte {
	seconds, fraction := rest/microseconds, rest%microseconds
	dst = append(appendPadded(dst, seconds/3600, 2), ':')
	dst = append(appendPadded(dst, seconds/60%60, 2), ':')
	return appendFraction(appendPadded(dst, seconds%60, 2), fraction)
}

func appendFraction(dst []byte, fraction uint64) []byte {
	if fraction == 0 {
		return dst
	}
	dst = appendPadded(append(dst, '.'), fraction, 6)
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// printTime prints a time of day, 24:00:00 included.
func printTime(dst, value []byte) ([]byte, error) {
	if len(value) != 8 {
		return dst, cutOff("time")
	}
	clock := binary.LittleEndian.Uint64(value)
	if clock > microsecondsDay {
		return dst, malformed("time", "out of range")
	}
	return appendClock(dst, clock), nil
}

// printTimetz prints a TimeTzADT: the time and the zone in seconds west of Greenwich (date.h).
func printTimetz(dst, value []byte) ([]byte, error) {
	if len(value) != 12 {
		return dst, cutOff("timetz")
	}
	clock, west := binary.LittleEndian.Uint64(value), int32(binary.LittleEndian.Uint32(value[8:]))
	if clock > microsecondsDay || west <= -86400*7 || west >= 86400*7 {
		return dst, malformed("timetz", "out of range")
	}
	dst = appendClock(dst, clock)
	sign := byte('+')
	if west > 0 {
		sign = '-'
	} else {
		west = -west
	}
	zone := uint64(west)
	dst = appendPadded(append(dst, sign), zone/3600, 2)
	if zone%3600 != 0 {
		dst = appendPadded(append(dst, ':'), zone/60%60, 2)
	}
	if zone%60 != 0 {
		dst = appendPadded(append(dst, ':'), zone%60, 2)
	}
	return dst, nil
}

// printInterval prints an Interval of microseconds, days and months in IntervalStyle postgres (timestamp.h, EncodeInterval in
// datetime.c). All three at their ends are the infinities of 17 and later.
func printInterval(dst, value []byte) ([]byte, error) {
	if len(value) != 16 {
		return dst, cutOff("interval")
	}
	clock := int64(binary.LittleEndian.Uint64(value))
	days := int32(binary.LittleEndian.Uint32(value[8:]))
	months := int32(binary.LittleEndian.Uint32(value[12:]))
	switch {
	case clock == math.MinInt64 && days == math.MinInt32 && months == math.MinInt32:
		return append(dst, "-infinity"...), nil
	case clock == math.MaxInt64 && days == math.MaxInt32 && months == math.MaxInt32:
		return append(dst, "infinity"...), nil
	}
	start, negative := len(dst), false
	for _, part := range []struct {
		count int64
		unit  string
	}{{int64(months / 12), "year"}, {int64(months % 12), "mon"}, {int64(days), "day"}} {
		if part.count == 0 {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		if negative && part.count > 0 {
			dst = append(dst, '+')
		}
		dst = strconv.AppendInt(dst, part.count, 10)
		dst = append(append(dst, ' '), part.unit...)
		if part.count != 1 {
			dst = append(dst, 's')
		}
		negative = part.count < 0 // an explicit sign follows a negative part, and only the next one
	}
	if clock == 0 && len(dst) > start {
		return dst, nil
	}
	if len(dst) > start {
		dst = append(dst, ' ')
	}
	rest := uint64(clock)
	switch {
	case clock < 0:
		dst, rest = append(dst, '-'), -rest
	case negative:
		dst = append(dst, '+')
	}
	return appendClock(dst, rest), nil
}
