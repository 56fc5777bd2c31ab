package encode

import (
	"encoding/binary"
	"math"
)

// unsignedEncoder makes the encoder of an unsigned integer of 4 or 8 bytes that is read by uint32in_subr or uint64in_subr (numutils.c, since
// 16) or oidin (before).
func unsignedEncoder(size int, typeName string) maker {
	return func(_ *Type, s Settings) Encoder {
		base := uint64(10)
		if s.Version >= 16 {
			base = 0
		}
		return func(dst, text []byte) ([]byte, error) {
			v, end, overflow, sure := strtoul(text, base)
			if !sure {
				return dst, ErrUnsure
			}
			switch {
			case end == 0:
				return dst, invalidSyntax(typeName, text)
			case overflow:
				return dst, outOfRange(typeName, text)
			case skipSpace(text, end) < len(text):
				return dst, invalidSyntax(typeName, text)
			}
			if size == 8 {
				return binary.BigEndian.AppendUint64(dst, v), nil
			}
			// A negative number down to the least of 32 bits is taken too, as its two's complement.
			if v > math.MaxUint32 && v < 1<<64-1<<31 {
				return dst, outOfRange(typeName, text)
			}
			return binary.BigEndian.AppendUint32(dst, uint32(v)), nil
		}
	}
}

// transactionEncoder is unsignedEncoder for xid, cid and xid8, whose input functions took anything before 16: what does not start with a
// number was 0.
func transactionEncoder(size int, typeName string) maker {
	strict := unsignedEncoder(size, typeName)
	return func(t *Type, s Settings) Encoder {
		if s.Version >= 16 {
			return strict(t, s)
		}
		return func(dst, text []byte) ([]byte, error) {
			v, _, _, sure := strtoul(text, 0)
			if !sure {
				return dst, ErrUnsure
			}
			if size == 8 {
				return binary.BigEndian.AppendUint64(dst, v), nil
			}
			return binary.BigEndian.AppendUint32(dst, uint32(v)), nil
		}
	}
}

// strtoul is C's function of that name for 64 bits: white space, a sign, and for base 0 the prefixes 0x and 0. end is 0 where there is no
// number. It is not sure about 0b, which C libraries of 2023 read as a prefix and older ones do not.
func strtoul(text []byte, base uint64) (v uint64, end int, overflow, sure bool) {
	i := skipSpace(text, 0)
	negative := false
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		negative = text[i] == '-'
		i++
	}
	if base == 0 {
		base = 10
		switch prefix := radix(text[i:]); {
		case prefix == 2:
			return 0, 0, false, false
		case prefix == 16 && i+2 < len(text) && digitValue(text[i+2]) < 16:
			base, i = 16, i+2
		case i < len(text) && text[i] == '0':
			base = 8
		}
	}
	for ; i < len(text); i++ {
		d := digitValue(text[i])
		if d >= base {
			break
		}
		end = i + 1
		if v > (math.MaxUint64-d)/base {
			overflow = true
		}
		v = v*base + d
	}
	if overflow {
		return math.MaxUint64, end, true, true
	}
	if negative {
		v = -v
	}
	return v, end, false, true
}

// tidEncoder follows tidin (tid.c): two numbers, each after a parenthesis or a comma, and whatever follows the closing parenthesis.
func tidEncoder(_ *Type, s Settings) Encoder {
	return func(dst, text []byte) ([]byte, error) {
		var starts [2]int
		n := 0
		for i := 0; i < len(text) && n < 2 && text[i] != ')'; i++ {
			if text[i] == ',' || text[i] == '(' && n == 0 {
				starts[n] = i + 1
				n++
			}
		}
		if n < 2 {
			return dst, invalidSyntax("tid", text)
		}
		block, end, overflow, _ := strtoul(text[starts[0]:], 10)
		if overflow || end == 0 && text[starts[0]] != ',' || text[starts[0]+end] != ',' {
			return dst, invalidSyntax("tid", text)
		}
		// 14 kept the lower half of a number that is too large; minor releases differ in whether they still do.
		if block > math.MaxUint32 && block < 1<<64-1<<31 {
			if s.Version < 16 {
				return dst, ErrUnsure
			}
			return dst, invalidSyntax("tid", text)
		}
		rest := text[starts[1]:]
		offset, end, overflow, _ := strtoul(rest, 10)
		// As with the block.
		if s.Version < 15 && offset > math.MaxInt32 && offset < 1<<64-1<<31 {
			return dst, ErrUnsure
		}
		if overflow || end >= len(rest) || rest[end] != ')' || offset > math.MaxUint16 {
			return dst, invalidSyntax("tid", text)
		}
		dst = binary.BigEndian.AppendUint32(dst, uint32(block))
		return binary.BigEndian.AppendUint16(dst, uint16(offset)), nil
	}
}

// lsnEncoder follows pg_lsn_in (pg_lsn.c): two hexadecimal numbers of 1 to 8 digits.
func lsnEncoder(*Type, Settings) Encoder {
	return func(dst, text []byte) ([]byte, error) {
		high, n, ok := readHex32(text)
		if !ok || n == len(text) || text[n] != '/' {
			return dst, invalidSyntax("pg_lsn", text)
		}
		low, m, ok := readHex32(text[n+1:])
		if !ok || n+1+m != len(text) {
			return dst, invalidSyntax("pg_lsn", text)
		}
		return binary.BigEndian.AppendUint64(dst, high<<32|low), nil
	}
}

func readHex32(text []byte) (v uint64, n int, ok bool) {
	for n < len(text) && digitValue(text[n]) < 16 {
		if n == 8 {
			return 0, 0, false
		}
		v = v<<4 | digitValue(text[n])
		n++
	}
	return v, n, n > 0
}
