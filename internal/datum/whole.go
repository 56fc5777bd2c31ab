package datum

import (
	"encoding/binary"
	"math/bits"
)

// digitPairs are 00 to 99.
const digitPairs = "00010203040506070809" +
	"10111213141516171819" +
	"20212223242526272829" +
	"30313233343536373839" +
	"40414243444546474849" +
	"50515253545556575859" +
	"60616263646566676869" +
	"70717273747576777879" +
	"80818283848586878889" +
	"90919293949596979899"

// appendWhole is strconv.AppendUint, faster: of a dump of integers and dates that saves a fifth of the time.
func appendWhole(dst []byte, n uint64) []byte {
	if n < 10 {
		return append(dst, byte('0'+n))
	}
	const eight = 100000000
	if n >= eight {
		dst = appendWhole(dst, n/eight)
		return binary.LittleEndian.AppendUint64(dst, eightDigits(n%eight)|zeros)
	}
	digits := eightDigits(n)
	leading := bits.TrailingZeros64(digits) &^ 7 // n is not 0
	dst = binary.LittleEndian.AppendUint64(dst, (digits|zeros)>>leading)
	return dst[:len(dst)-leading/8]
}

// zeros are the digits 00000000.
const zeros = 0x3030303030303030

// eightDigits are the digits of a number below 100000000, the highest in the lowest byte. It is halved thrice, all parts at a time:
// 10486/2^20 and 103/2^10 are 1/100 and 1/10 for numbers as small as these.
func eightDigits(n uint64) uint64 {
	n = n/10000 | n%10000<<32
	hundreds := n * 10486 >> 20 & 0x0000007F0000007F
	n = hundreds | (n-100*hundreds)<<16
	tens := n * 103 >> 10 & 0x000F000F000F000F
	return tens | (n-10*tens)<<8
}

// appendSigned is strconv.AppendInt in the same way.
func appendSigned(dst []byte, n int64) []byte {
	if n < 0 {
		return appendWhole(append(dst, '-'), -uint64(n))
	}
	return appendWhole(dst, uint64(n))
}
