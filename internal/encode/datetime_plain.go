package encode

// The forms below are nearly all that files hold, and what the server writes: they are read in one pass, the others field by field.

// notDigits is what pair returns when its bytes are no digits: more than any bound.
const notDigits = 1 << 20

// pair is the number of two digits.
func pair(a, b byte) uint32 {
	high, low := uint32(a)-'0', uint32(b)-'0'
	if high > 9 || low > 9 {
		return notDigits
	}
	return high*10 + low
}

// plainDate reads YYYY-MM-DD, which means the same whatever the order of the fields is. The result is days since 2000-01-01.
func plainDate(text []byte) (days int32, ok bool) {
	t := (*[10]byte)(text)
	year, month, day := pair(t[0], t[1])*100+pair(t[2], t[3]), pair(t[5], t[6]), pair(t[8], t[9])
	if t[4] != '-' || t[7] != '-' || year-1 > 9998 || month-1 > 11 || day-1 > 27 && int(day) > monthLength(int(year), int(month)) || day == 0 {
		return 0, false
	}
	return int32(dayNumber(int(year), int(month), int(day))), true
}

// plainTimestamp reads YYYY-MM-DD, with or without a time behind a space or a T, and an offset behind that. The result is microseconds since
// 2000-01-01 in the time that the text speaks of, and how many seconds that is east of UTC.
func plainTimestamp(text []byte) (at int64, east int32, zoned, ok bool) {
	if len(text) < 10 {
		return 0, 0, false, false
	}
	days, ok := plainDate(text)
	if !ok || len(text) == 10 {
		return int64(days) * dayLength, 0, false, ok
	}
	if text[10] != ' ' && text[10] != 'T' {
		return 0, 0, false, false
	}
	clock, n, ok := plainClock(text[11:])
	if !ok {
		return 0, 0, false, false
	}
	if 11+n < len(text) {
		if east, zoned, ok = plainZone(text[11+n:]); !ok {
			return 0, 0, false, false
		}
	}
	return int64(days)*dayLength + clock, east, zoned, true
}

// plainClock reads HH:MM:SS with up to six digits of a second, at the start of the text. The result is microseconds and the bytes read.
func plainClock(text []byte) (at int64, n int, ok bool) {
	if len(text) < 8 {
		return 0, 0, false
	}
	t := (*[8]byte)(text)
	h, m, s := pair(t[0], t[1]), pair(t[3], t[4]), pair(t[6], t[7])
	if h > 23 || m > 59 || s > 59 || t[2] != ':' || t[5] != ':' {
		return 0, 0, false
	}
	at = int64(h*3600+m*60+s) * second
	n = 8
	if len(text) == 8 || text[8] != '.' {
		// What follows digits directly and is no sign, space or Z belongs to the same field and is for the exact reader.
		return at, n, true
	}
	scale := int64(second)
	for n = 9; n < len(text); n++ {
		digit := uint32(text[n]) - '0'
		if digit > 9 {
			break
		}
		scale /= 10
		at += int64(digit) * scale
	}
	return at, n, n > 9 && n <= 15
}

// plainZone reads what stands behind a time to the end: nothing, Z, +hh or +hh:mm.
func plainZone(text []byte) (east int32, zoned, ok bool) {
	if len(text) == 0 {
		return 0, false, true
	}
	if len(text) == 1 {
		return 0, true, text[0] == 'Z'
	}
	if len(text) != 3 && len(text) != 6 || text[0] != '+' && text[0] != '-' {
		return 0, false, false
	}
	hours, minutes := pair(text[1], text[2]), uint32(0)
	if len(text) == 6 {
		if text[3] != ':' {
			return 0, false, false
		}
		minutes = pair(text[4], text[5])
	}
	if hours > 15 || minutes > 59 {
		return 0, false, false
	}
	east = int32(hours*3600 + minutes*60)
	if text[0] == '-' {
		east = -east
	}
	return east, true, true
}
