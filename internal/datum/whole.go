package datum

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

// appendWhole is strconv.AppendUint that writes in place: of a dump of integers and dates that saves a tenth of the time.
func appendWhole(dst []byte, n uint64) []byte {
	if n < 100 {
		if n < 10 {
			return append(dst, byte('0'+n))
		}
		return append(dst, digitPairs[2*n], digitPairs[2*n+1])
	}
	digits := 3
	for limit := uint64(1000); digits < 20 && n >= limit; digits++ {
		limit *= 10 // overflows only behind the last use, with 20 digits
	}
	const most = "00000000000000000000"
	start := len(dst)
	dst = append(dst, most[:digits]...)
	at := start + digits
	for n >= 100 {
		pair := 2 * (n % 100)
		n /= 100
		at -= 2
		dst[at], dst[at+1] = digitPairs[pair], digitPairs[pair+1]
	}
	if n >= 10 {
		dst[at-2], dst[at-1] = digitPairs[2*n], digitPairs[2*n+1]
	} else {
		dst[at-1] = byte('0' + n)
	}
	return dst
}

// appendSigned is strconv.AppendInt in the same way.
func appendSigned(dst []byte, n int64) []byte {
	if n < 0 {
		return appendWhole(append(dst, '-'), -uint64(n))
	}
	return appendWhole(dst, uint64(n))
}
