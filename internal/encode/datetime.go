package encode

import "encoding/binary"

// timeTypes are the types of dates and times.
var timeTypes = map[uint32]maker{
	1082: dateEncoder,
	1083: timeEncoder,
	1114: timestampEncoder,
	1184: timestamptzEncoder,
	1186: intervalEncoder,
	1266: timetzEncoder,
}

// Lengths of time in microseconds.
const (
	microsecond = 1
	millisecond = 1000 * microsecond
	second      = 1000 * millisecond
	minute      = 60 * second
	hour        = 60 * minute
	dayLength   = 24 * hour
)

// The binary forms have infinity as the extremes of their integers (date.h, timestamp.h).
const (
	datePast, dateFuture     = -1 << 31, 1<<31 - 1
	momentPast, momentFuture = -1 << 63, 1<<63 - 1
)

// The range of timestamps: from 4714-11-24 BC to 294276 AD, in microseconds since 2000 (timestamp.h).
const (
	firstTimestamp = firstDay * dayLength
	endTimestamp   = 106751983 * dayLength // 294277-01-01
)

// fault is why a text is no value, without its words (the DTERR codes of datetime.h).
type fault uint8

const (
	noFault       fault = iota
	badFormat           // what is not worth a reason of its own
	fieldOverflow       // a field's number is out of its range
	monthOverflow       // a month or a day, which another order of the fields may mend
	zoneOverflow        // an offset from UTC of 16 hours or more
	spanOverflow        // a field of an interval
	rangeOverflow       // all fields are good, and the value is too large for its type
	onlyServer          // ErrUnsure
	unknownZone         // a zone that no server has, in the field whose number is added
)

// timeReader is what the encoders of this file have in common.
type timeReader struct {
	Settings
	name string // as messages of the input function call the type
	room int    // bytes of the server's buffer for the text's fields
}

func newTimeReader(name string, s Settings) *timeReader {
	r := &timeReader{Settings: s, name: name, room: 129}
	switch name { // date.c and timestamp.c: MAXDATELEN + 1, MAXDATELEN + MAXDATEFIELDS
	case "timestamp", "timestamp with time zone":
		r.room = 153
	case "interval":
		r.room = 256
	}
	return r
}

// refuse makes the error of a fault (DateTimeParseError of datetime.c).
func (r *timeReader) refuse(f fault, text []byte) error {
	given := `: "` + string(text) + `"`
	switch f {
	case onlyServer:
		return ErrUnsure
	case fieldOverflow:
		return &Invalid{State: stateDatetimeOverflow, Message: "date/time field value out of range" + given}
	case monthOverflow:
		name := "datestyle"
		if r.Version >= 18 {
			name = "DateStyle"
		}
		return &Invalid{State: stateDatetimeOverflow, Message: "date/time field value out of range" + given,
			Hint: `Perhaps you need a different "` + name + `" setting.`}
	case zoneOverflow:
		return &Invalid{State: stateZoneOverflow, Message: "time zone displacement out of range" + given}
	case spanOverflow:
		return &Invalid{State: stateIntervalOverflow, Message: "interval field value out of range" + given}
	case rangeOverflow:
		return r.outOfRange(given)
	}
	if f >= unknownZone {
		var parts fields
		parts.split(text, r.room)
		return &Invalid{State: stateInvalidParameter, Message: `time zone "` + string(parts.text(int(f-unknownZone))) + `" not recognized`}
	}
	return &Invalid{State: stateInvalidDatetime, Message: "invalid input syntax for type " + r.name + given}
}

// outOfRange is the refusal of a value whose fields are good.
func (r *timeReader) outOfRange(given string) error {
	switch r.name {
	case "interval":
		return &Invalid{State: stateDatetimeOverflow, Message: "interval out of range"}
	case "date":
		return &Invalid{State: stateDatetimeOverflow, Message: "date out of range" + given}
	}
	return &Invalid{State: stateDatetimeOverflow, Message: "timestamp out of range" + given}
}

// States that only these types raise.
const (
	stateZoneOverflow     = "22009"
	stateIntervalOverflow = "22015"
)

func dateEncoder(_ *Type, s Settings) Encoder {
	r := newTimeReader("date", s)
	return func(dst, text []byte) ([]byte, error) {
		if len(text) == 10 {
			if days, ok := plainDate(text); ok {
				return binary.BigEndian.AppendUint32(dst, uint32(days)), nil
			}
		}
		days, f := r.date(text)
		if f != noFault {
			return dst, r.refuse(f, text)
		}
		return binary.BigEndian.AppendUint32(dst, uint32(days)), nil
	}
}

func timestampEncoder(_ *Type, s Settings) Encoder {
	r := newTimeReader("timestamp", s)
	return func(dst, text []byte) ([]byte, error) {
		if at, _, _, ok := plainTimestamp(text); ok {
			return binary.BigEndian.AppendUint64(dst, uint64(at)), nil
		}
		at, f := r.timestamp(text, false)
		if f != noFault {
			return dst, r.refuse(f, text)
		}
		return binary.BigEndian.AppendUint64(dst, uint64(at)), nil
	}
}

func timestamptzEncoder(_ *Type, s Settings) Encoder {
	r := newTimeReader("timestamp with time zone", s)
	return func(dst, text []byte) ([]byte, error) {
		if at, east, zoned, ok := plainTimestamp(text); ok && (zoned || s.UTC) {
			return binary.BigEndian.AppendUint64(dst, uint64(at-int64(east)*second)), nil
		}
		at, f := r.timestamp(text, true)
		if f != noFault {
			return dst, r.refuse(f, text)
		}
		return binary.BigEndian.AppendUint64(dst, uint64(at)), nil
	}
}

func timeEncoder(_ *Type, s Settings) Encoder {
	r := newTimeReader("time", s)
	return func(dst, text []byte) ([]byte, error) {
		if at, n, ok := plainClock(text); ok && n == len(text) {
			return binary.BigEndian.AppendUint64(dst, uint64(at)), nil
		}
		at, _, f := r.clock(text, false)
		if f != noFault {
			return dst, r.refuse(f, text)
		}
		return binary.BigEndian.AppendUint64(dst, uint64(at)), nil
	}
}

func timetzEncoder(_ *Type, s Settings) Encoder {
	r := newTimeReader("time with time zone", s)
	return func(dst, text []byte) ([]byte, error) {
		if at, n, ok := plainClock(text); ok {
			if east, zoned, ok := plainZone(text[n:]); ok && (zoned || s.UTC) {
				return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(dst, uint64(at)), uint32(-east)), nil
			}
		}
		at, west, f := r.clock(text, true)
		if f != noFault {
			return dst, r.refuse(f, text)
		}
		return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(dst, uint64(at)), uint32(west)), nil
	}
}
