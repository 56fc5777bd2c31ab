package heap

import (
	"fmt"
	"slices"

	"github.com/pierrec/lz4/v4"
)

// Decompress appends to dst the rawSize bytes that src stands for.
func Decompress(dst []byte, c Compression, src []byte, rawSize int) ([]byte, error) {
	if rawSize < 1 || rawSize > 1<<30 { // An empty value is never compressed, and LZ4 wants room.
		return dst, fmt.Errorf("a value of %d bytes cannot be", rawSize)
	}
	switch c {
	case PGLZ:
		return unpglz(dst, src, rawSize)
	case LZ4:
		return unlz4(dst, src, rawSize)
	default:
		return dst, fmt.Errorf("compression method %d is not known", c)
	}
}

// unpglz decompresses the format of src/common/pg_lzcompress.c: a control byte tells for each of the next eight items, lowest bit first,
// whether it is a literal byte or a reference back. A reference has two bytes, or three when its length is 18 or more:
//
//	high 4 bits of offset | length-3 (4 bits)    low 8 bits of offset    [length-18]
func unpglz(dst, src []byte, rawSize int) ([]byte, error) {
	start := len(dst)
	end := start + rawSize
	// A lying size must not cost more memory than the bytes there can stand for: three of them for up to 273.
	if rawSize > 8*273*(len(src)+1) {
		return dst, fmt.Errorf("%d compressed bytes cannot stand for %d", len(src), rawSize)
	}
	dst = slices.Grow(dst, rawSize)
	for len(src) > 0 && len(dst) < end {
		control := src[0]
		src = src[1:]
		if control == 0 && len(src) >= 8 && len(dst)+8 <= end {
			dst = append(dst, src[:8]...)
			src = src[8:]
			continue
		}
		for bit := 0; bit < 8 && len(src) > 0 && len(dst) < end; bit++ {
			if control>>bit&1 == 0 {
				dst = append(dst, src[0])
				src = src[1:]
				continue
			}
			if len(src) < 2 {
				return dst[:start], fmt.Errorf("the compressed value is cut")
			}
			length := int(src[0]&0x0F) + 3
			offset := int(src[0]&0xF0)<<4 | int(src[1])
			src = src[2:]
			if length == 18 {
				if len(src) < 1 {
					return dst[:start], fmt.Errorf("the compressed value is cut")
				}
				length += int(src[0])
				src = src[1:]
			}
			from := len(dst) - offset
			if offset == 0 || from < start {
				return dst[:start], fmt.Errorf("the compressed value refers to before its start")
			}
			for length = min(length, end-len(dst)); length > 0; { // a copy that overlaps itself repeats a pattern, which grows with each round
				n := min(length, len(dst)-from)
				dst = append(dst, dst[from:from+n]...)
				length -= n
			}
		}
	}
	if len(dst) != end || len(src) != 0 {
		return dst[:start], fmt.Errorf("the compressed value has %d bytes and not the %d that it states", len(dst)-start, rawSize)
	}
	return dst, nil
}

// unlz4 decompresses one LZ4 block.
func unlz4(dst, src []byte, rawSize int) ([]byte, error) {
	// LZ4 makes at most 255 bytes of one.
	if rawSize > 255*(len(src)+1) {
		return dst, fmt.Errorf("%d compressed bytes cannot stand for %d", len(src), rawSize)
	}
	start := len(dst)
	dst = slices.Grow(dst, rawSize)[:start+rawSize]
	n, err := lz4.UncompressBlock(src, dst[start:])
	if err != nil {
		return dst[:start], fmt.Errorf("the value is no LZ4 block of %d bytes: %w", rawSize, err)
	}
	if n != rawSize {
		return dst[:start], fmt.Errorf("the LZ4 block has %d bytes and not the %d that it states", n, rawSize)
	}
	return dst, nil
}
