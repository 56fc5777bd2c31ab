package datum

import "encoding/binary"

// The layout of values behind each other is that of heap_deform_tuple in access/common/heaptuple.c and of the att_ macros in
// access/tupmacs.h; the headers of varlenas are those of varatt.h on a little-endian machine.

// OpenPlain is an Open that reads varlenas with a 1-byte or a 4-byte header and refuses compressed and external ones.
func OpenPlain(varlena []byte) (payload []byte, size int, err error) {
	if len(varlena) == 0 {
		return nil, 0, malformed("varlena", "nothing is left to read")
	}
	header := 1
	switch first := varlena[0]; {
	case first == 1:
		return nil, 0, malformed("varlena", "a TOAST pointer stands where a plain value is expected")
	case first&1 == 1:
		size = int(first >> 1)
	case first&3 == 2:
		return nil, 0, malformed("varlena", "a compressed value stands where a plain one is expected")
	case len(varlena) < 4:
		return nil, 0, malformed("varlena", "the header is cut off")
	default:
		header, size = 4, int(binary.LittleEndian.Uint32(varlena)>>2)
	}
	if size < header || size > len(varlena) {
		return nil, 0, malformed("varlena", "its length leads outside of the value")
	}
	return varlena[header:size], size, nil
}

// alignment is the multiple that a typalign stands for, on every 64-bit machine that PostgreSQL runs on.
func alignment(align byte) int {
	switch align {
	case 's':
		return 2
	case 'i':
		return 4
	case 'd':
		return 8
	}
	return 1
}

// alignUp rounds an offset up to a multiple of a power of two.
func alignUp(offset, multiple int) int { return (offset + multiple - 1) &^ (multiple - 1) }

// layout is how values of one type lie behind each other.
type layout struct {
	length int
	align  int
	open   Open
}

func (b *builder) layout(length int16, align byte) layout {
	return layout{length: int(length), align: alignment(align), open: b.open}
}

// next finds the value at an offset of body and returns it as a Printer takes it, with the offset behind it. Offsets count from
// the start of the containing varlena with its 4-byte header, while body begins base bytes behind that start: alignment counts
// from there. packed allows a varlena to begin unaligned with a short header.
func (l *layout) next(body []byte, base, offset int, packed bool) (value []byte, end int, err error) {
	aligned := alignUp(offset+base, l.align) - base
	if l.length == -1 && packed && offset < len(body) && body[offset] != 0 {
		aligned = offset
	}
	if aligned > len(body) {
		return nil, 0, malformed("value", "a nested value begins behind the end")
	}
	switch {
	case l.length >= 0:
		if l.length > len(body)-aligned {
			return nil, 0, malformed("value", "a nested value is cut off")
		}
		return body[aligned : aligned+l.length], aligned + l.length, nil
	case l.length == -1:
		payload, size, err := l.open(body[aligned:])
		if err != nil {
			return nil, 0, err
		}
		if size <= 0 || size > len(body)-aligned {
			return nil, 0, malformed("value", "the length of a nested value leads outside")
		}
		return payload, aligned + size, nil
	}
	for i := aligned; i < len(body); i++ {
		if body[i] == 0 {
			return body[aligned:i], i + 1, nil
		}
	}
	return nil, 0, malformed("value", "a nested string does not end")
}

// isNullItem tells whether a NULL bitmap, whose ones are values that are there, marks an item; without a bitmap nothing is NULL.
func isNullItem(bitmap []byte, i int) bool { return i/8 < len(bitmap) && bitmap[i/8]>>(i%8)&1 == 0 }
