package rowfile

import (
	"bytes"
	"math"
	"strconv"
)

func isBoolean(f []byte) bool {
	return bytes.EqualFold(f, []byte("true")) || bytes.EqualFold(f, []byte("false"))
}

// numberParts splits a number as JSON would write it: digits without leading zeros, and the lengths of what stands behind the point and of the
// exponent, -1 when there is none. Minus zero is not ok: only floating point knows it.
func numberParts(f []byte) (digits []byte, point, exponent int, ok bool) {
	if len(f) == 0 || f[0] != '-' && jsonClass[f[0]]&jsonDigit == 0 {
		return nil, -1, -1, false
	}
	if end, fault := jsonNumber(f, 0); fault != nil || end != len(f) {
		return nil, -1, -1, false
	}
	digits = bytes.TrimPrefix(f, []byte("-"))
	point, exponent = -1, -1
	if i := bytes.IndexAny(digits, "eE"); i >= 0 {
		exponent = len(digits) - i - 1
		digits = digits[:i]
	}
	if i := bytes.IndexByte(digits, '.'); i >= 0 {
		point = len(digits) - i - 1
		digits = digits[:i]
	}
	return digits, point, exponent, true
}

func minusZero(f []byte) bool { return f[0] == '-' && len(bytes.Trim(f[1:], "0.")) == 0 }

func isWhole(f []byte, bits int) bool {
	digits, point, exponent, ok := numberParts(f)
	if !ok || point >= 0 || exponent >= 0 || len(digits) > 19 || minusZero(f) {
		return false
	}
	_, err := strconv.ParseInt(string(f), 10, bits)
	return err == nil
}

// isNumeric has the limits of type numeric (manual, "Numeric Types").
func isNumeric(f []byte) bool {
	digits, point, exponent, ok := numberParts(f)
	return ok && exponent < 0 && len(digits) <= 131072 && point <= 16383 && !minusZero(f)
}

func isDouble(f []byte) bool {
	switch string(f) {
	case "NaN", "Infinity", "-Infinity":
		return true
	}
	if _, _, _, ok := numberParts(f); !ok {
		return false
	}
	v, err := strconv.ParseFloat(string(f), 64)
	// The server refuses what is too small for any number but 0.
	return err == nil && !math.IsInf(v, 0) && (v != 0 || len(bytes.TrimLeft(f, "-0.eE+")) == 0)
}

// number reads a fixed count of digits.
func fixedNumber(f []byte) (n int, ok bool) {
	for _, c := range f {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, true
}

// isDate is for years of four digits, month and day, with hyphens: no other order of them can be told from its like.
func isDate(f []byte) bool {
	if len(f) != 10 || f[4] != '-' || f[7] != '-' {
		return false
	}
	year, ok1 := fixedNumber(f[:4])
	month, ok2 := fixedNumber(f[5:7])
	day, ok3 := fixedNumber(f[8:])
	if !ok1 || !ok2 || !ok3 || year == 0 || month < 1 || month > 12 || day < 1 {
		return false
	}
	days := []int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		days++
	}
	return day <= days
}

// isTimestamp is for ISO 8601 with a time to at most the microsecond: the server would round what is finer.
func isTimestamp(f []byte, zone bool) bool {
	if len(f) < 16 || !isDate(f[:10]) || f[10] != ' ' && f[10] != 'T' {
		return false
	}
	rest, ok := clockOf(f[11:])
	if !ok || !zone {
		return ok && len(rest) == 0
	}
	if len(rest) == 0 || rest[0] == 'Z' {
		return len(rest) == 1
	}
	if rest[0] != '+' && rest[0] != '-' {
		return false
	}
	digits := bytes.Replace(rest[1:], []byte(":"), nil, 1)
	if len(digits) != 2 && len(digits) != 4 || len(digits) == 2 && len(rest) != 3 || len(rest) == 6 && rest[3] != ':' {
		return false
	}
	n, ok := fixedNumber(digits)
	if len(digits) == 2 {
		n *= 100
	}
	return ok && n/100 <= 15 && n%100 < 60
}

// clockOf passes over HH:MM, HH:MM:SS or HH:MM:SS.f.
func clockOf(f []byte) (rest []byte, ok bool) {
	limits := []int{23, 59, 59}
	for i, most := range limits {
		if i > 0 {
			if len(f) == 0 || f[0] != ':' {
				return f, i == 2
			}
			f = f[1:]
		}
		if len(f) < 2 {
			return f, false
		}
		n, ok := fixedNumber(f[:2])
		if !ok || n > most {
			return f, false
		}
		f = f[2:]
	}
	if len(f) == 0 || f[0] != '.' {
		return f, true
	}
	n := 1
	for n < len(f) && f[n] >= '0' && f[n] <= '9' {
		n++
	}
	return f[n:], n > 1 && n <= 7
}

// isUUID is for the form that the server writes, in either case.
func isUUID(f []byte) bool {
	if len(f) != 36 {
		return false
	}
	for i, c := range f {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if hexValue(c) < 0 {
			return false
		}
	}
	return true
}

// isDocument is for JSON objects and arrays that jsonb takes: \u0000 is none of its characters, and lone surrogates are none at all.
func isDocument(f []byte) bool {
	if len(f) < 2 || f[0] != '{' && f[0] != '[' {
		return false
	}
	end, _, fault := jsonValue(f, 0, nil)
	if fault != nil || jsonSkipSpace(f, end) != len(f) {
		return false
	}
	for i := 0; i < len(f); i++ {
		if f[i] != '"' {
			continue
		}
		end, _, _ := jsonString(f, i)
		if _, fault := jsonUnescape(nil, f[i+1:end-1], 0); fault != nil {
			return false
		}
		i = end - 1
	}
	return true
}
