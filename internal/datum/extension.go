package datum

import (
	"encoding/binary"
	"math"
)

// printHstore prints an hstore (contrib/hstore/hstore.h): the number of pairs, for each key and value the offset of its end in the
// strings behind, and a bit for NULL. The form of before 9.0 is refused.
func printHstore(dst, value []byte) ([]byte, error) {
	const newVersion, pairs = 0x80000000, 0x0FFFFFFF
	if len(value) < 4 {
		return dst, malformed("hstore", "cut off")
	}
	header := binary.LittleEndian.Uint32(value)
	count, entries := int(header&pairs), value[4:]
	if header&newVersion == 0 && len(value) > 4 {
		return dst, malformed("hstore", "stored by a server older than 9.0")
	}
	if count*8 > len(entries) {
		return dst, malformed("hstore", "more pairs than bytes")
	}
	walk := hstoreWalk{entries: entries, strings: entries[count*8:]}
	start := len(dst)
	for i := range count {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		var ok bool
		if dst, ok = walk.pair(dst); !ok {
			return dst[:start], malformed("hstore", "a string lies outside of the value")
		}
	}
	return dst, nil
}

type hstoreWalk struct {
	entries, strings []byte
	next, offset     int
}

// pair writes "key"=>"value" or "key"=>NULL (hstore_out in hstore_io.c).
func (w *hstoreWalk) pair(dst []byte) ([]byte, bool) {
	key, _, ok := w.text()
	if !ok {
		return dst, false
	}
	dst = append(appendBackslashed(dst, key), "=>"...)
	text, null, ok := w.text()
	if null {
		return append(dst, "NULL"...), ok
	}
	return appendBackslashed(dst, text), ok
}

func (w *hstoreWalk) text() (text []byte, null, ok bool) {
	const isNull, position = 0x40000000, 0x3FFFFFFF
	entry := binary.LittleEndian.Uint32(w.entries[4*w.next:])
	end := int(entry & position)
	if end < w.offset || end > len(w.strings) {
		return nil, false, false
	}
	text = w.strings[w.offset:end]
	w.next, w.offset = w.next+1, end
	return text, entry&isNull != 0, true
}

func appendBackslashed(dst, text []byte) []byte {
	dst = append(dst, '"')
	for _, c := range text {
		if c == '"' || c == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}

// printLtree prints an ltree (contrib/ltree/ltree.h): the number of levels, then each as length and name, aligned to 8 bytes.
func printLtree(dst, value []byte) ([]byte, error) {
	if len(value) < 2 {
		return dst, malformed("ltree", "cut off")
	}
	count, offset, start := int(binary.LittleEndian.Uint16(value)), 4, len(dst)
	for i := range count {
		if offset+2 > len(value) {
			return dst[:start], malformed("ltree", "a level lies outside of the value")
		}
		length := int(binary.LittleEndian.Uint16(value[offset:]))
		if offset+2+length > len(value) {
			return dst[:start], malformed("ltree", "a level is cut off")
		}
		if i > 0 {
			dst = append(dst, '.')
		}
		dst = append(dst, value[offset+2:offset+2+length]...)
		offset += alignUp(length+2, 8)
	}
	return dst, nil
}

// printCube prints an NDBOX (contrib/cube/cubedata.h): number of dimensions and a bit for a point, the lower left corner, and
// unless it is a point the upper right one.
func printCube(dst, value []byte) ([]byte, error) {
	const point, dimensions = 0x80000000, 0x7FFFFFFF
	if len(value) < 4 {
		return dst, malformed("cube", "cut off")
	}
	header, corners := binary.LittleEndian.Uint32(value), value[4:]
	size := int(header&dimensions) * 8
	if size > len(corners) || header&point == 0 && size*2 > len(corners) {
		return dst, malformed("cube", "more dimensions than bytes")
	}
	dst = appendCorner(dst, corners[:size])
	if header&point != 0 || sameCorner(corners[:size], corners[size:]) {
		return dst, nil
	}
	return appendCorner(append(dst, ','), corners[size:size*2]), nil
}

func appendCorner(dst, corner []byte) []byte {
	dst = append(dst, '(')
	for i := range len(corner) / 8 {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = coordinate(dst, corner, i)
	}
	return append(dst, ')')
}

// sameCorner compares as numbers do: -0 and 0 are the same, NaN is not even itself.
func sameCorner(a, b []byte) bool {
	for i := 0; i < len(a); i += 8 {
		if math.Float64frombits(binary.LittleEndian.Uint64(a[i:])) != math.Float64frombits(binary.LittleEndian.Uint64(b[i:])) {
			return false
		}
	}
	return true
}
