package rowfile

import (
	"encoding/binary"
	"math/bits"
)

const (
	eachByte = 0x0101010101010101
	highBits = 0x8080808080808080
)

// specials are four bytes that a search stops at. It looks at eight bytes at once: fields are short, so that a call of bytes.IndexByte for each
// byte and field costs more than it saves.
type specials struct {
	words [4]uint64
	is    [256]bool
}

func newSpecials(a, b, c, d byte) specials {
	var s specials
	for i, x := range [4]byte{a, b, c, d} {
		s.words[i] = uint64(x) * eachByte
		s.is[x] = true
	}
	return s
}

// index returns where the first of the bytes stands in b from i on, or len(b).
func (s *specials) index(b []byte, i int) int {
	w0, w1, w2, w3 := s.words[0], s.words[1], s.words[2], s.words[3]
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		v0, v1, v2, v3 := w^w0, w^w1, w^w2, w^w3
		// The high bit of each zero byte, and perhaps of bytes behind the first of them, which does not move the first.
		m := ((v0-eachByte)&^v0 | (v1-eachByte)&^v1 | (v2-eachByte)&^v2 | (v3-eachByte)&^v3) & highBits
		if m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for ; i < len(b); i++ {
		if s.is[b[i]] {
			return i
		}
	}
	return len(b)
}

// zeroBytes returns the high bit of each byte of v that is zero, and of no other.
func zeroBytes(v uint64) uint64 {
	return ^((v&^highBits + ^uint64(highBits)) | v | ^uint64(highBits))
}

// gathered moves the high bits of the eight bytes into the low byte, the first byte's lowest.
func gathered(m uint64) uint8 { return uint8((m >> 7) * 0x0102040810204080 >> 56) }

// isASCII reports whether no byte has its high bit set.
func isASCII(b []byte) bool {
	for len(b) >= 32 {
		if (binary.LittleEndian.Uint64(b)|binary.LittleEndian.Uint64(b[8:])|binary.LittleEndian.Uint64(b[16:])|
			binary.LittleEndian.Uint64(b[24:]))&highBits != 0 {
			return false
		}
		b = b[32:]
	}
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}
