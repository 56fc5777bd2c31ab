package encode

import "math"

// clockParts are the numbers of a field with colons. Hours may be many in an interval.
type clockParts struct {
	hour           int64
	minute, second int32
	micros         int32
}

// clockNumbers reads hh:mm, hh:mm:ss and mm:ss.s, each with digits missing where the server does not miss them (DecodeTimeCommon of
// datetime.c). minutesFirst: mm:ss is meant by two numbers, as in an interval of minutes to seconds.
func (r *timeReader) clockNumbers(text []byte, minutesFirst bool) (c clockParts, f fault) {
	var rest []byte
	var ok bool
	if c.hour, rest, ok = leadingInt64(text); !ok || r.Version < 15 && int64(int32(c.hour)) != c.hour {
		return c, fieldOverflow
	}
	if len(rest) == 0 || rest[0] != ':' {
		return c, badFormat
	}
	if c.minute, rest, ok = leadingInt(rest[1:]); !ok {
		return c, fieldOverflow
	}
	shift := len(rest) == 0 && minutesFirst || len(rest) > 0 && rest[0] == '.'
	switch {
	case shift && len(rest) > 0:
		if c.micros, f = r.fractionMicros(rest); f != noFault {
			return c, f
		}
	case shift, len(rest) == 0:
	case rest[0] != ':':
		return c, badFormat
	default:
		if c.second, rest, ok = leadingInt(rest[1:]); !ok {
			return c, fieldOverflow
		}
		if len(rest) > 0 && rest[0] != '.' {
			return c, badFormat
		}
		if len(rest) > 0 {
			if c.micros, f = r.fractionMicros(rest); f != noFault {
				return c, f
			}
		}
	}
	if shift {
		if c.hour > math.MaxInt32 || c.hour < math.MinInt32 {
			return c, fieldOverflow
		}
		c.hour, c.minute, c.second = 0, int32(c.hour), c.minute
	}
	if c.hour < 0 || c.minute < 0 || c.minute > 59 || c.second < 0 || c.second > 60 || c.micros < 0 || c.micros > second {
		return c, fieldOverflow
	}
	return c, noFault
}

// clockField reads a time of day.
func (d *reading) clockField(text []byte) fault {
	c, f := d.clockNumbers(text, false)
	if f != noFault {
		return f
	}
	if c.hour > math.MaxInt32 {
		return fieldOverflow
	}
	d.hour, d.minute, d.second, d.micros = int32(c.hour), c.minute, c.second, c.micros
	return noFault
}

// clockOverflows says whether a time of day is out of range. 24:00:00 is not, and neither is :60, but for what would be behind midnight.
func (m *moment) clockOverflows() bool {
	return m.hour < 0 || m.hour > 24 || m.minute < 0 || m.minute > 59 || m.second < 0 || m.second > 60 || m.micros < 0 || m.micros > second ||
		m.sinceMidnight() > dayLength
}

// sinceMidnight is the time of day in microseconds.
func (m *moment) sinceMidnight() int64 {
	return int64(m.hour)*hour + int64(m.minute)*minute + int64(m.second)*second + int64(m.micros)
}

// setClock takes a time of day apart.
func (m *moment) setClock(micros int64) {
	m.hour, m.minute = int32(micros/hour), int32(micros%hour/minute)
	m.second, m.micros = int32(micros%minute/second), int32(micros%second)
}

// noon moves a time of day by AM and PM.
func (d *reading) noon() fault {
	switch {
	case d.half == 0:
	case d.hour > 12:
		return fieldOverflow
	case d.half == beforeNoon && d.hour == 12:
		d.hour = 0
	case d.half == afterNoon && d.hour != 12:
		d.hour += 12
	}
	return noFault
}
