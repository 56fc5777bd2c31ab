package encode

import "encoding/binary"

// numberTypes are the types of numbers.
var numberTypes = map[uint32]maker{
	21:   int2Encoder,
	23:   int4Encoder,
	20:   int8Encoder,
	26:   unsignedEncoder(4, "oid"),
	28:   transactionEncoder(4, "xid"),
	29:   transactionEncoder(4, "cid"),
	5069: transactionEncoder(8, "xid8"),
	27:   tidEncoder,
	3220: lsnEncoder,
	700:  float4Encoder,
	701:  float8Encoder,
	1700: numericEncoder,
	790:  moneyEncoder,
}

// outOfRange is the refusal of a number that its type cannot hold.
func outOfRange(typeName string, text []byte) *Invalid {
	return &Invalid{State: stateOutOfRange, Message: `value "` + string(text) + `" is out of range for type ` + typeName}
}

// isSpace is C's isspace in the locales whose characters are UTF-8.
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isDigit(c byte) bool { return c-'0' < 10 }

// skipSpace returns where the white space that starts at i ends.
func skipSpace(text []byte, i int) int {
	for i < len(text) && isSpace(text[i]) {
		i++
	}
	return i
}

func int2Encoder(_ *Type, s Settings) Encoder {
	return func(dst, text []byte) ([]byte, error) {
		v, err := readInteger(text, 1<<15, "smallint", s)
		if err != nil {
			return dst, err
		}
		return binary.BigEndian.AppendUint16(dst, uint16(v)), nil
	}
}

func int4Encoder(_ *Type, s Settings) Encoder {
	return func(dst, text []byte) ([]byte, error) {
		v, err := readInteger(text, 1<<31, "integer", s)
		if err != nil {
			return dst, err
		}
		return binary.BigEndian.AppendUint32(dst, uint32(v)), nil
	}
}

func int8Encoder(_ *Type, s Settings) Encoder {
	return func(dst, text []byte) ([]byte, error) {
		v, err := readInteger(text, 1<<63, "bigint", s)
		if err != nil {
			return dst, err
		}
		return binary.BigEndian.AppendUint64(dst, v), nil
	}
}

// readInteger reads an integer whose least value is -limit, in two's complement.
func readInteger(text []byte, limit uint64, typeName string, s Settings) (uint64, error) {
	digits := text
	var sign uint64
	if len(digits) > 0 && digits[0] == '-' {
		digits, sign = digits[1:], 1
	}
	// Digits alone are by far the most; 18 of them cannot overflow.
	if n := len(digits); n > 0 && n <= 18 {
		var v uint64
		for _, c := range digits {
			d := c - '0'
			if d > 9 {
				return readAnyInteger(text, limit, typeName, s)
			}
			v = v*10 + uint64(d)
		}
		if v < limit+sign {
			return (v ^ -sign) + sign, nil
		}
	}
	return readAnyInteger(text, limit, typeName, s)
}

// readAnyInteger follows pg_strtoint32 and its kin (numutils.c): white space around, a sign, and since 16 underscores and the prefixes 0x, 0o
// and 0b. Which of two faults is named, overflow or syntax, depends on where the version looks for overflow.
func readAnyInteger(text []byte, limit uint64, typeName string, s Settings) (uint64, error) {
	modern := s.Version >= 16
	i := skipSpace(text, 0)
	negative := false
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		negative = text[i] == '-'
		i++
	}
	base := uint64(10)
	if modern {
		base = radix(text[i:])
	}
	if base != 10 {
		i += 2
	}
	var v uint64
	first := i
	for ; i < len(text); i++ {
		c := text[i]
		if modern && c == '_' && (i > first || base != 10) && i+1 < len(text) && digitValue(text[i+1]) < base {
			continue
		}
		d := digitValue(c)
		if d >= base {
			break
		}
		if modern && v > limit/base || !modern && v > (limit-d)/10 {
			return 0, outOfRange(typeName, text)
		}
		v = v*base + d
	}
	if i == first || skipSpace(text, i) < len(text) {
		return 0, invalidSyntax(typeName, text)
	}
	switch {
	case negative && v <= limit:
		return -v, nil
	case !negative && v < limit:
		return v, nil
	}
	return 0, outOfRange(typeName, text)
}

// radix tells the base of a literal by its prefix.
func radix(text []byte) uint64 {
	if len(text) < 2 || text[0] != '0' {
		return 10
	}
	switch text[1] | 0x20 {
	case 'x':
		return 16
	case 'o':
		return 8
	case 'b':
		return 2
	}
	return 10
}

// digitValue is the value of a digit of any base up to 36, or a number above that.
func digitValue(c byte) uint64 {
	switch lower := c | 0x20; {
	case isDigit(c):
		return uint64(c - '0')
	case lower >= 'a' && lower <= 'z':
		return uint64(lower-'a') + 10
	}
	return 99
}
