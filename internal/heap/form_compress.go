package heap

import (
	"encoding/binary"
	"slices"

	"github.com/pierrec/lz4/v4"
)

// Limits within which a value is compressed by pglz (the default strategy of src/common/pg_lzcompress.c).
const (
	pglzLeast     = 32   // bytes that are worth it
	pglzRate      = 75   // per cent of the value that the result may have
	pglzPatience  = 1024 // bytes of a result without any reference after which it is given up
	pglzWindow    = 4095 // how far a reference goes back
	pglzMost      = 273  // its greatest length
	pglzShortMost = 17   // the greatest that its first byte tells
	pglzTries     = 16   // places that are looked at for a match
	pglzGood      = 128  // a match that needs no better one
	hashBits      = 13
)

// Compress appends a value in compressed form, without size and method. It reports false, and dst comes back as it was, where that does not save
// enough.
func Compress(dst []byte, c Compression, src []byte) ([]byte, bool) {
	switch c {
	case PGLZ:
		return pglz(dst, src)
	case LZ4:
		return packLZ4(dst, src)
	}
	return dst, false
}

func packLZ4(dst, src []byte) ([]byte, bool) {
	had := len(dst)
	if len(src) == 0 || len(src) > 0x7E000000 {
		return dst, false
	}
	dst = slices.Grow(dst, lz4.CompressBlockBound(len(src)))
	n, err := lz4.CompressBlock(src, dst[had:cap(dst)], nil)
	if err != nil || n == 0 || n > len(src) {
		return dst[:had], false
	}
	return dst[:had+n], true
}

// pglz compresses into the format that unpglz reads. Each place of the source is chained to the one before it with the same first three bytes.
func pglz(dst, src []byte) ([]byte, bool) {
	had := len(dst)
	most := len(src) / 100 * pglzRate
	if len(src) < 1<<24 {
		most = len(src) * pglzRate / 100
	}
	if len(src) < pglzLeast {
		return dst, false
	}
	m := matcher{src: src}
	control, bit, found := 0, 8, false
	for at := 0; at < len(src); {
		if made := len(dst) - had; made >= most || !found && made >= pglzPatience {
			return dst[:had], false
		}
		if bit == 8 {
			control, bit = len(dst), 0
			dst = append(dst, 0)
		}
		back, length := m.find(at)
		if length == 0 {
			dst = append(dst, src[at])
			m.note(at)
			at++
		} else {
			found = true
			dst[control] |= 1 << bit
			if length > pglzShortMost {
				dst = append(dst, byte(back>>8<<4)|0x0F, byte(back), byte(length-pglzShortMost-1))
			} else {
				dst = append(dst, byte(back>>8<<4)|byte(length-3), byte(back))
			}
			for end := at + length; at < end; at++ {
				m.note(at)
			}
		}
		bit++
	}
	if len(dst)-had >= most {
		return dst[:had], false
	}
	return dst, true
}

// matcher finds earlier places with the same bytes.
type matcher struct {
	src    []byte
	newest [1 << hashBits]int32  // by hash: the last place, counted from 1
	before [pglzWindow + 1]int32 // by place, modulo its length: the one before it with the same hash
}

func (m *matcher) hash(at int) uint32 {
	b := m.src[at:]
	return (uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])) * 2654435761 >> (32 - hashBits)
}

// note chains a place.
func (m *matcher) note(at int) {
	if at+3 > len(m.src) {
		return
	}
	h := m.hash(at)
	m.before[at%len(m.before)] = m.newest[h]
	m.newest[h] = int32(at + 1)
}

// find returns the best match for what stands at a place: how far back it is and its length, 0 for none.
func (m *matcher) find(at int) (back, length int) {
	if at+4 > len(m.src) {
		return 0, 0
	}
	limit := min(len(m.src)-at, pglzMost)
	length = 2
	from := int(m.newest[m.hash(at)]) - 1
	for tries := pglzTries; tries > 0 && from >= 0 && at-from <= pglzWindow; tries-- {
		if m.src[from+min(length, limit-1)] == m.src[at+min(length, limit-1)] {
			if n := m.common(from, at, limit); n > length {
				back, length = at-from, n
				if n >= pglzGood || n == limit {
					break
				}
			}
		}
		next := int(m.before[from%len(m.before)]) - 1
		if next >= from { // the place was reused
			break
		}
		from = next
	}
	if back == 0 {
		return 0, 0
	}
	return back, length
}

// common counts the equal bytes at two places.
func (m *matcher) common(from, at, limit int) int {
	n := 0
	for ; n+8 <= limit; n += 8 {
		if binary.LittleEndian.Uint64(m.src[from+n:]) != binary.LittleEndian.Uint64(m.src[at+n:]) {
			break
		}
	}
	for n < limit && m.src[from+n] == m.src[at+n] {
		n++
	}
	return n
}
