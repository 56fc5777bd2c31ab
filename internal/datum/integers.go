package datum

import (
	"encoding/binary"
)

// cutOff is the error of a fixed-length value with another length than its type's.
func cutOff(what string) error { return malformed(what, "wrong number of bytes") }

// printBool prints t or f (boolout in bool.c).
func printBool(dst, value []byte) ([]byte, error) {
	if len(value) != 1 || value[0] > 1 {
		return dst, malformed("boolean", "neither 0 nor 1")
	}
	if value[0] == 1 {
		return append(dst, 't'), nil
	}
	return append(dst, 'f'), nil
}

func printInt2(dst, value []byte) ([]byte, error) {
	if len(value) != 2 {
		return dst, cutOff("smallint")
	}
	return appendSigned(dst, int64(int16(binary.LittleEndian.Uint16(value)))), nil
}

func printInt4(dst, value []byte) ([]byte, error) {
	if len(value) != 4 {
		return dst, cutOff("integer")
	}
	return appendSigned(dst, int64(int32(binary.LittleEndian.Uint32(value)))), nil
}

func printInt8(dst, value []byte) ([]byte, error) {
	if len(value) != 8 {
		return dst, cutOff("bigint")
	}
	return appendSigned(dst, int64(binary.LittleEndian.Uint64(value))), nil
}

// printUint4 prints an oid, xid or cid.
func printUint4(dst, value []byte) ([]byte, error) {
	if len(value) != 4 {
		return dst, cutOff("oid")
	}
	return appendWhole(dst, uint64(binary.LittleEndian.Uint32(value))), nil
}

// printUint8 prints an xid8.
func printUint8(dst, value []byte) ([]byte, error) {
	if len(value) != 8 {
		return dst, cutOff("xid8")
	}
	return appendWhole(dst, binary.LittleEndian.Uint64(value)), nil
}

// printTID prints (block,line) of an ItemPointerData, whose block number is two halves of 16 bits, high one first (itemptr.h,
// block.h).
func printTID(dst, value []byte) ([]byte, error) {
	if len(value) != 6 {
		return dst, cutOff("tid")
	}
	high, low := binary.LittleEndian.Uint16(value), binary.LittleEndian.Uint16(value[2:])
	dst = append(dst, '(')
	dst = appendWhole(dst, uint64(high)<<16|uint64(low))
	dst = append(dst, ',')
	dst = appendWhole(dst, uint64(binary.LittleEndian.Uint16(value[4:])))
	return append(dst, ')'), nil
}

// printLSN prints the two halves of a WAL position in hexadecimal (pg_lsn.c).
func printLSN(dst, value []byte) ([]byte, error) {
	if len(value) != 8 {
		return dst, cutOff("pg_lsn")
	}
	dst = appendUpperHex(dst, binary.LittleEndian.Uint32(value[4:]))
	dst = append(dst, '/')
	return appendUpperHex(dst, binary.LittleEndian.Uint32(value)), nil
}

func appendUpperHex(dst []byte, n uint32) []byte {
	const digits = "0123456789ABCDEF"
	shift := 28
	for shift > 0 && n>>shift == 0 {
		shift -= 4
	}
	for ; shift >= 0; shift -= 4 {
		dst = append(dst, digits[n>>shift&15])
	}
	return dst
}
