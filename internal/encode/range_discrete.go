package encode

import (
	"encoding/binary"
	"math"
)

// successor puts the next value in place of a value. It tells whether there is one: the infinities stay as they are.
type successor func(value []byte) (moved bool, err error)

// successors are those of the built-in ranges over integers, by the range's OID: their canonical functions (rangetypes.c) make [) of all
// bounds.
var successors = map[uint32]successor{
	3904: nextInt4,
	3926: nextInt8,
	3912: nextDate,
}

func nextInt4(value []byte) (moved bool, err error) {
	v := int32(binary.BigEndian.Uint32(value))
	if v == math.MaxInt32 {
		return false, &Invalid{State: stateOutOfRange, Message: "integer out of range"}
	}
	binary.BigEndian.PutUint32(value, uint32(v+1))
	return true, nil
}

func nextInt8(value []byte) (moved bool, err error) {
	v := int64(binary.BigEndian.Uint64(value))
	if v == math.MaxInt64 {
		return false, &Invalid{State: stateOutOfRange, Message: "bigint out of range"}
	}
	binary.BigEndian.PutUint64(value, uint64(v+1))
	return true, nil
}

func nextDate(value []byte) (moved bool, err error) {
	v := int32(binary.BigEndian.Uint32(value))
	if v == datePast || v == dateFuture {
		return false, nil
	}
	if v+1 >= endDay {
		return false, &Invalid{State: stateDatetimeOverflow, Message: "date out of range"}
	}
	binary.BigEndian.PutUint32(value, uint32(v+1))
	return true, nil
}
