package rowfile

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"reflect"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

func appendParquetBool(dst []byte, v *parquet.Value) []byte {
	return strconv.AppendBool(dst, v.Boolean())
}

func appendParquetInt32(dst []byte, v *parquet.Value) []byte {
	return strconv.AppendInt(dst, int64(v.Int32()), 10)
}

func appendParquetInt64(dst []byte, v *parquet.Value) []byte {
	return strconv.AppendInt(dst, v.Int64(), 10)
}

func appendParquetUint32(dst []byte, v *parquet.Value) []byte {
	return strconv.AppendUint(dst, uint64(uint32(v.Int32())), 10)
}

func appendParquetUint64(dst []byte, v *parquet.Value) []byte {
	return strconv.AppendUint(dst, uint64(v.Int64()), 10)
}

func appendParquetFloat(dst []byte, v *parquet.Value) []byte {
	return appendFloatText(dst, float64(v.Float()), 32)
}

func appendParquetDouble(dst []byte, v *parquet.Value) []byte {
	return appendFloatText(dst, v.Double(), 64)
}

// appendParquetFloat16 widens an IEEE 754 half, whose every value a float32 holds.
func appendParquetFloat16(dst []byte, v *parquet.Value) []byte {
	half := binary.LittleEndian.Uint16(padded(parquetBytes(v), 2))
	sign, exponent, fraction := half>>15, half>>10&0x1f, half&0x3ff
	f := math.Ldexp(float64(fraction)+1024, int(exponent)-25)
	switch {
	case exponent == 0x1f && fraction != 0:
		f = math.NaN()
	case exponent == 0x1f:
		f = math.Inf(1)
	case exponent == 0:
		f = math.Ldexp(float64(fraction), -24)
	}
	if sign != 0 {
		f = -f
	}
	return appendFloatText(dst, f, 32)
}

// appendFloatText writes the shortest text that reads as the same number, as the server does.
func appendFloatText(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, bits)
}

// parquetBytes are the bytes of a value. A damaged page can leave a value that has a length and no bytes, which the library does not bear.
func parquetBytes(v *parquet.Value) []byte {
	if reflect.ValueOf(v).Elem().Field(parquetPointer).IsNil() {
		return nil
	}
	return v.ByteArray()
}

// parquetPointer is the field of a parquet.Value that points to its bytes.
var parquetPointer = func() int {
	field, found := reflect.TypeFor[parquet.Value]().FieldByName("ptr")
	if !found || field.Type.Kind() != reflect.Pointer {
		panic("parquet.Value has another layout")
	}
	return field.Index[0]
}()

func appendParquetBytes(dst []byte, v *parquet.Value) []byte {
	return hex.AppendEncode(append(dst, `\x`...), parquetBytes(v))
}

func appendParquetHex(dst []byte, v *parquet.Value) []byte {
	return hex.AppendEncode(dst, parquetBytes(v))
}

// padded guards against values of another length than the schema says.
func padded(b []byte, n int) []byte {
	if len(b) >= n {
		return b
	}
	return append(b[:len(b):len(b)], make([]byte, n-len(b))...)
}

func appendParquetUUID(dst []byte, v *parquet.Value) []byte {
	b := padded(parquetBytes(v), 16)
	for i, end := range []int{4, 6, 8, 10, 16} {
		begin := []int{0, 4, 6, 8, 10}[i]
		if begin > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, b[begin:end])
	}
	return dst
}

// appendParquetInterval writes months, days and milliseconds, each an unsigned number of four bytes.
func appendParquetInterval(dst []byte, v *parquet.Value) []byte {
	b := padded(parquetBytes(v), 12)
	dst = strconv.AppendUint(dst, uint64(binary.LittleEndian.Uint32(b)), 10)
	dst = append(dst, " mons "...)
	dst = strconv.AppendUint(dst, uint64(binary.LittleEndian.Uint32(b[4:])), 10)
	dst = append(dst, " days "...)
	return appendClock(dst, int64(binary.LittleEndian.Uint32(b[8:])), 3)
}

// decimalAppender writes numbers that are scaled by a power of ten.
func decimalAppender(scale int, physical format.Type) func([]byte, *parquet.Value) []byte {
	switch physical {
	case format.Int32:
		return func(dst []byte, v *parquet.Value) []byte { return pointed(appendParquetInt32(dst, v), len(dst), scale) }
	case format.Int64:
		return func(dst []byte, v *parquet.Value) []byte { return pointed(appendParquetInt64(dst, v), len(dst), scale) }
	}
	return func(dst []byte, v *parquet.Value) []byte {
		return pointed(appendBigEndian(dst, parquetBytes(v)), len(dst), scale)
	}
}

// appendBigEndian writes a number in two's complement.
func appendBigEndian(dst, b []byte) []byte {
	if len(b) == 0 {
		return append(dst, '0')
	}
	sign := byte(int8(b[0]) >> 7)
	small := uint64(int64(int8(sign)))
	for i, c := range b {
		if len(b)-i > 8 && c == sign {
			continue
		}
		if len(b)-i > 8 || len(b)-i == 8 && len(b) > 8 && c>>7 != sign>>7 {
			var n big.Int
			n.SetBytes(b)
			if sign != 0 {
				n.Sub(&n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
			}
			return n.Append(dst, 10)
		}
		small = small<<8 | uint64(c)
	}
	return strconv.AppendInt(dst, int64(small), 10)
}

// pointed puts a decimal point into the number that dst has from begin on.
func pointed(dst []byte, begin, scale int) []byte {
	if scale == 0 {
		return dst
	}
	if dst[begin] == '-' {
		begin++
	}
	for zeros := scale + 1 - (len(dst) - begin); zeros > 0; zeros-- {
		dst = append(dst, 0)
		copy(dst[begin+1:], dst[begin:])
		dst[begin] = '0'
	}
	dst = append(dst, 0)
	at := len(dst) - 1 - scale
	copy(dst[at+1:], dst[at:])
	dst[at] = '.'
	return dst
}

const (
	secondsPerDay = 24 * 60 * 60
	julianEpoch   = 2440588 // the Julian day of 1970-01-01
)

func appendParquetDate(dst []byte, v *parquet.Value) []byte {
	dst, bc := appendDay(dst, int64(v.Int32()))
	return append(dst, bc...)
}

// appendParquetInt96 writes a timestamp of Impala, Hive and old Spark: nanoseconds of the day, and a Julian day.
func appendParquetInt96(dst []byte, v *parquet.Value) []byte {
	n := v.Int96()
	nanos := int64(uint64(n[1])<<32 | uint64(n[0]))
	days := int64(int32(n[2])) - julianEpoch
	const perDay = secondsPerDay * 1_000_000_000
	days += floorDiv(nanos, perDay)
	dst, bc := appendDay(dst, days)
	dst = appendClock(append(dst, ' '), nanos-floorDiv(nanos, perDay)*perDay, 9)
	return append(dst, bc...)
}

// timeAppender writes times of day. A zone is added to those of UTC: type time passes over it, timetz needs it.
func timeAppender(digits int, utc bool) func([]byte, *parquet.Value) []byte {
	return func(dst []byte, v *parquet.Value) []byte {
		n := int64(v.Int32())
		if v.Kind() == parquet.Int64 {
			n = v.Int64()
		}
		if n < 0 {
			dst, n = append(dst, '-'), -n // which no time is, for the server to refuse
		}
		dst = appendClock(dst, n, digits)
		if utc {
			dst = append(dst, "+00"...)
		}
		return dst
	}
}

func timestampAppender(digits int, utc bool) func([]byte, *parquet.Value) []byte {
	perDay := int64(secondsPerDay)
	for range digits {
		perDay *= 10
	}
	return func(dst []byte, v *parquet.Value) []byte {
		n := v.Int64()
		days := floorDiv(n, perDay)
		dst, bc := appendDay(dst, days)
		dst = appendClock(append(dst, ' '), n-days*perDay, digits)
		if utc {
			dst = append(dst, "+00"...)
		}
		return append(dst, bc...)
	}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// appendDay writes a day counted from 1970-01-01 in the Gregorian calendar, and returns what stands behind it before year 1. The calculation is
// that of Howard Hinnant's "chrono-Compatible Low-Level Date Algorithms", whose years begin in March.
func appendDay(dst []byte, days int64) (_ []byte, bc string) {
	days += 719468
	era := floorDiv(days, 146097)
	day := days - era*146097
	year := (day - day/1460 + day/36524 - day/146096) / 365
	dayOfYear := day - (365*year + year/4 - year/100)
	month := (5*dayOfYear + 2) / 153
	dayOfMonth := dayOfYear - (153*month+2)/5 + 1
	year += era * 400
	if month += 3; month > 12 {
		month -= 12
		year++
	}
	if year <= 0 {
		year, bc = 1-year, " BC"
	}
	dst = appendPadded(dst, year, 4)
	dst = appendPadded(append(dst, '-'), month, 2)
	return appendPadded(append(dst, '-'), dayOfMonth, 2), bc
}

// appendClock writes a time of day given in units of that many decimal digits behind the second.
func appendClock(dst []byte, n int64, digits int) []byte {
	unit := int64(1)
	for range digits {
		unit *= 10
	}
	seconds, fraction := n/unit, n%unit
	dst = appendPadded(dst, seconds/3600, 2)
	dst = appendPadded(append(dst, ':'), seconds/60%60, 2)
	dst = appendPadded(append(dst, ':'), seconds%60, 2)
	if fraction == 0 {
		return dst
	}
	dst = appendPadded(append(dst, '.'), fraction, digits)
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

func appendPadded(dst []byte, n int64, width int) []byte {
	limit := int64(1)
	for range width - 1 {
		limit *= 10
	}
	for ; n < limit && limit > 1; limit /= 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, n, 10)
}
