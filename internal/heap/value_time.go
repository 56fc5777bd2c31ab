package heap

import (
	"encoding/binary"
	"math"
)

var timeMakers = map[uint32]func(*Datatype) Maker{
	1082: same(makeDate), 1083: timeMaker, 1114: timestampMaker, 1184: timestampMaker, 1186: intervalMaker, 1266: zonedTimeMaker,
	2950: same(copier(16)), // uuid
}

// Times are microseconds, dates days, both from 2000-01-01 on (datatype/timestamp.h).
const (
	leastDate      = -2451545 // 4714-11-24 BC
	endDate        = 2145031949
	leastTimestamp = -211813488000000000
	endTimestamp   = 9223371331200000000
	dayMicros      = 86400 * 1000000
	hourMicros     = 3600 * 1000000
	minuteMicros   = 60 * 1000000
	endZone        = 16 * 3600 // seconds
	mostPrecision  = 6
)

var (
	errDate      = &Refused{State: stateDatetimeOverflow, Message: "date out of range"}
	errTime      = &Refused{State: stateDatetimeOverflow, Message: "time out of range"}
	errTimestamp = &Refused{State: stateDatetimeOverflow, Message: "timestamp out of range"}
	errInterval  = &Refused{State: stateDatetimeOverflow, Message: "interval out of range"}
	errZone      = &Refused{State: stateDisplacement, Message: "time zone displacement out of range"}
)

func makeDate(dst, payload []byte) ([]byte, error) {
	if err := sized(payload, 4); err != nil {
		return dst, err
	}
	word := binary.BigEndian.Uint32(payload)
	if d := int32(word); d != math.MinInt32 && d != math.MaxInt32 && (d < leastDate || d >= endDate) {
		return dst, errDate
	}
	return le.AppendUint32(dst, word), nil
}

// microsOf are the microseconds of a unit in the last place that a precision keeps.
var microsOf = [mostPrecision + 1]int64{1000000, 100000, 10000, 1000, 100, 10, 1}

// roundMicros rounds to a precision, half away from zero (AdjustTimestampForTypmod of timestamp.c).
func roundMicros(t int64, precision int32) int64 {
	if precision < 0 || precision >= mostPrecision {
		return t
	}
	unit := microsOf[precision]
	if t >= 0 {
		return (t + unit/2) / unit * unit
	}
	return -((-t + unit/2) / unit * unit)
}

func timeMaker(t *Datatype) Maker {
	precision := t.Modifier
	return func(dst, payload []byte) ([]byte, error) {
		if err := sized(payload, 8); err != nil {
			return dst, err
		}
		return appendTime(dst, payload, precision)
	}
}

func appendTime(dst, payload []byte, precision int32) ([]byte, error) {
	micros := int64(binary.BigEndian.Uint64(payload))
	if micros < 0 || micros > dayMicros {
		return dst, errTime
	}
	return le.AppendUint64(dst, uint64(roundMicros(micros, precision))), nil
}

func zonedTimeMaker(t *Datatype) Maker {
	precision := t.Modifier
	return func(dst, payload []byte) ([]byte, error) {
		if err := sized(payload, 12); err != nil {
			return dst, err
		}
		zone := binary.BigEndian.Uint32(payload[8:])
		made, err := appendTime(dst, payload, precision)
		if err != nil {
			return dst, err
		}
		if z := int32(zone); z <= -endZone || z >= endZone {
			return dst, errZone
		}
		return le.AppendUint32(made, zone), nil
	}
}

func timestampMaker(t *Datatype) Maker {
	precision := t.Modifier
	return func(dst, payload []byte) ([]byte, error) {
		if err := sized(payload, 8); err != nil {
			return dst, err
		}
		word := binary.BigEndian.Uint64(payload)
		if micros := int64(word); micros != math.MinInt64 && micros != math.MaxInt64 {
			if micros < leastTimestamp || micros >= endTimestamp {
				return dst, errTimestamp
			}
			word = uint64(roundMicros(micros, precision))
		}
		return le.AppendUint64(dst, word), nil
	}
}

// The fields that an interval's modifier names, as bits (INTERVAL_MASK of utils/timestamp.h, datetime.h).
const (
	fieldMonth  = 1 << 1
	fieldYear   = 1 << 2
	fieldDay    = 1 << 3
	fieldHour   = 1 << 10
	fieldMinute = 1 << 11
	fieldSecond = 1 << 12
	allFields   = 0x7FFF
	anyDecimals = 0xFFFF
)

// intervalMaker cuts an interval to the fields of its type and rounds its seconds (AdjustIntervalForTypmod of timestamp.c).
func intervalMaker(t *Datatype) Maker {
	fields, precision := allFields, int32(-1)
	if t.Modifier >= 0 {
		fields = int(t.Modifier >> 16 & allFields)
		if p := t.Modifier & 0xFFFF; p != anyDecimals {
			precision = p
		}
	}
	return func(dst, payload []byte) ([]byte, error) {
		if err := sized(payload, 16); err != nil {
			return dst, err
		}
		micros, days, months := int64(binary.BigEndian.Uint64(payload)), int32(binary.BigEndian.Uint32(payload[8:])), int32(binary.BigEndian.Uint32(payload[12:]))
		if !endless(micros, days, months) {
			switch fields {
			case fieldYear:
				micros, days, months = 0, 0, months/12*12
			case fieldMonth, fieldYear | fieldMonth:
				micros, days = 0, 0
			case fieldDay:
				micros = 0
			case fieldHour, fieldDay | fieldHour:
				micros = micros / hourMicros * hourMicros
			case fieldMinute, fieldHour | fieldMinute, fieldDay | fieldHour | fieldMinute:
				micros = micros / minuteMicros * minuteMicros
			}
			if precision >= 0 && precision < mostPrecision {
				if half := microsOf[precision] / 2; micros > math.MaxInt64-half || micros < math.MinInt64+half+1 {
					return dst, errInterval
				}
				micros = roundMicros(micros, precision)
			}
		}
		dst = le.AppendUint64(dst, uint64(micros))
		dst = le.AppendUint32(dst, uint32(days))
		return le.AppendUint32(dst, uint32(months)), nil
	}
}

// endless tells the infinities, which 17 brought (INTERVAL_NOT_FINITE). Older releases take them for numbers, which no text stands for.
func endless(micros int64, days, months int32) bool {
	return micros == math.MinInt64 && days == math.MinInt32 && months == math.MinInt32 ||
		micros == math.MaxInt64 && days == math.MaxInt32 && months == math.MaxInt32
}
