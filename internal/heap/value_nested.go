package heap

import (
	"fmt"
	"math"
)

const (
	mostDimensions = 6 // MAXDIM of c.h
	arrayHeader    = 4 + 12
	mostArraySize  = 1<<30 - 1 // MaxAllocSize
)

// nested makes the values that stand within another one.
type nested struct {
	Datatype
	make Maker
}

// nestedIn returns the maker of what stands in arrays and ranges; nil where there is none.
func nestedIn(t *Datatype, modifier int32) *nested {
	if t == nil || t.Len == -2 || t.Len == 0 {
		return nil
	}
	inner := *t
	if inner.Modifier < 0 {
		inner.Modifier = modifier
	}
	m := MakerFor(&inner)
	if m == nil {
		return nil
	}
	return &nested{Datatype: inner, make: m}
}

// append adds a value behind its padding. start is where the enclosing varlena's header begins, counted from which values are aligned. packed values
// get short headers where they can.
func (n *nested) append(dst []byte, start int, payload []byte, packed bool) ([]byte, error) {
	at := len(dst)
	if n.Len > 0 {
		return n.make(pad(dst, start, n.Align), payload)
	}
	if packed && n.Storage != 'p' {
		made, err := n.make(append(dst, 0), payload)
		if err != nil {
			return dst[:at], err
		}
		if size := len(made) - at; size <= shortMost {
			made[at] = byte(size<<1 | 1)
			return made, nil
		}
	}
	dst = pad(dst[:at], start, n.Align)
	head := len(dst)
	made, err := n.make(append(dst, 0, 0, 0, 0), payload)
	if err != nil {
		return dst[:at], err
	}
	le.PutUint32(made[head:], uint32(len(made)-head)<<2)
	return made, nil
}

// pad adds zeros until the place counted from start is aligned.
func pad(dst []byte, start int, align byte) []byte {
	off := len(dst) - start
	return append(dst, make([]byte, alignUp(off, align)-off)...)
}

// arrayMaker makes arrays: dimensions, where the values begin if there is a bitmap of NULLs before them, the elements' type, sizes and lower bounds,
// bitmap, and the values, each with its padding behind it (array_recv and ReadArrayBinary of arrayfuncs.c, utils/array.h).
func arrayMaker(t *Datatype) Maker {
	elem := nestedIn(t.Elem, t.Modifier)
	if elem == nil {
		return nil
	}
	return func(dst, payload []byte) ([]byte, error) {
		had := len(dst)
		made, err := appendArray(dst, payload, elem)
		if err != nil {
			return made[:had], err
		}
		return made, nil
	}
}

func appendArray(dst, payload []byte, elem *nested) ([]byte, error) {
	r := reader{rest: payload}
	dimensions, flags, oid := int(int32(r.uint32())), r.uint32(), r.uint32()
	switch {
	case r.short:
		return dst, errShort
	case dimensions < 0:
		return dst, &Refused{State: stateInvalidBinary, Message: fmt.Sprintf("invalid number of dimensions: %d", dimensions)}
	case dimensions > mostDimensions:
		return dst, &Refused{State: stateLimit, Message: fmt.Sprintf("number of array dimensions (%d) exceeds the maximum allowed (%d)", dimensions, mostDimensions)}
	case flags > 1:
		return dst, &Refused{State: stateInvalidBinary, Message: "invalid array flags"}
	case oid != elem.OID:
		return dst, &Refused{State: stateMismatch, Message: "wrong element type"}
	}
	sizes := r.take(8 * dimensions)
	if r.short {
		return dst, errShort
	}
	items, err := countItems(sizes)
	if err != nil {
		return dst, err
	}
	start := len(dst) - longHeader
	if items == 0 {
		dst = le.AppendUint64(dst, 0)
		return le.AppendUint32(dst, oid), r.end()
	}
	if items > len(r.rest)/4 {
		return dst, errShort
	}
	dst = le.AppendUint32(dst, uint32(dimensions))
	dst = le.AppendUint32(dst, 0)
	dst = le.AppendUint32(dst, oid)
	for _, at := range []int{0, 4} { // all sizes, then all lower bounds
		for i := range dimensions {
			dst = appendSwapped(dst, sizes[8*i+at:8*i+at+4])
		}
	}
	bitmap := len(dst)
	if hasNull(r.rest, items) {
		dst = append(dst, make([]byte, (items+7)/8)...)
		dst = pad(dst, start, 'd')
		le.PutUint32(dst[start+longHeader+4:], uint32(len(dst)-start))
	} else {
		dst, bitmap = pad(dst, start, 'd'), 0
	}
	return appendItems(dst, &r, items, elem, start, bitmap)
}

// appendItems adds the values. bitmap is where the bitmap of NULLs is, 0 for none.
func appendItems(dst []byte, r *reader, items int, elem *nested, start, bitmap int) ([]byte, error) {
	for i := range items {
		size := int32(r.uint32())
		if size == -1 {
			continue
		}
		if size < -1 || int(size) > len(r.rest) {
			return dst, &Refused{State: stateInvalidBinary, Message: "insufficient data left in message"}
		}
		var err error
		if dst, err = elem.append(dst, start, r.take(int(size)), false); err != nil {
			return dst, err
		}
		dst = pad(dst, start, elem.Align)
		if bitmap > 0 {
			dst[bitmap+i/8] |= 1 << (i % 8)
		}
		if len(dst)-start > mostArraySize {
			return dst, &Refused{State: stateLimit, Message: fmt.Sprintf("array size exceeds the maximum allowed (%d)", mostArraySize)}
		}
	}
	return dst, r.end()
}

// countItems multiplies the sizes of an array (ArrayGetNItemsSafe and ArrayCheckBoundsSafe of arrayutils.c).
func countItems(sizes []byte) (int, error) {
	const most = mostArraySize / 8
	items := int64(1)
	if len(sizes) == 0 {
		return 0, nil
	}
	r := reader{rest: sizes}
	for range len(sizes) / 8 {
		size, lower := int64(int32(r.uint32())), int64(int32(r.uint32()))
		if lower+size > math.MaxInt32 {
			return 0, &Refused{State: stateLimit, Message: fmt.Sprintf("array lower bound is too large: %d", lower)}
		}
		if items *= size; size < 0 || items > most {
			return 0, &Refused{State: stateLimit, Message: fmt.Sprintf("array size exceeds the maximum allowed (%d)", most)}
		}
	}
	return int(items), nil
}

// hasNull looks whether one of an array's values is NULL.
func hasNull(values []byte, items int) bool {
	r := reader{rest: values}
	for range items {
		size := int32(r.uint32())
		if size == -1 && !r.short {
			return true
		}
		r.take(int(max(size, 0)))
		if r.short {
			return false
		}
	}
	return false
}

// The flags of a range (utils/rangetypes.h).
const (
	rangeEmpty          = 0x01
	rangeLowerInclusive = 0x02
	rangeUpperInclusive = 0x04
	rangeLowerInfinite  = 0x08
	rangeUpperInfinite  = 0x10
	rangeFlags          = 0x1F
)

// rangeMaker makes ranges: the type's number, the bounds that are there, flags (range_serialize of rangetypes.c). The bounds are taken to be in order
// and in the canonical form of their type.
func rangeMaker(t *Datatype) Maker {
	bound := nestedIn(t.Elem, -1)
	if bound == nil {
		return nil
	}
	oid := t.OID
	return func(dst, payload []byte) ([]byte, error) {
		had := len(dst)
		made, flags, err := appendBounds(le.AppendUint32(dst, oid), had-longHeader, payload, bound)
		if err != nil {
			return made[:had], err
		}
		return append(made, flags), nil
	}
}

// appendBounds adds the bounds of a range, aligned from start on, and returns its flags.
func appendBounds(dst []byte, start int, payload []byte, bound *nested) ([]byte, byte, error) {
	if len(payload) < 1 {
		return dst, 0, errShort
	}
	flags := payload[0] & rangeFlags
	r := reader{rest: payload[1:]}
	if flags&rangeEmpty != 0 {
		return dst, rangeEmpty, r.end()
	}
	for _, side := range []struct{ infinite, inclusive byte }{{rangeLowerInfinite, rangeLowerInclusive}, {rangeUpperInfinite, rangeUpperInclusive}} {
		if flags&side.infinite != 0 {
			flags &^= side.inclusive
			continue
		}
		value := r.take(int(int32(r.uint32())))
		if r.short {
			return dst, 0, errShort
		}
		var err error
		if dst, err = bound.append(dst, start, value, true); err != nil {
			return dst, 0, err
		}
	}
	return dst, flags, r.end()
}

const (
	multirangeStride = 4          // MULTIRANGE_ITEM_OFFSET_STRIDE of multirangetypes.c
	multirangeOffset = 0x80000000 // MULTIRANGE_ITEM_OFF_BIT
)

// multirangeMaker makes multiranges: the type's number, how many ranges, for each but the first where it begins or how long the one before is, the
// flags of all, and the bounds (write_multirange_data of multirangetypes.c). The ranges are taken to be in order and apart.
func multirangeMaker(t *Datatype) Maker {
	if t.Elem == nil {
		return nil
	}
	bound := nestedIn(t.Elem.Elem, -1)
	if bound == nil {
		return nil
	}
	oid := t.OID
	return func(dst, payload []byte) ([]byte, error) {
		had := len(dst)
		made, err := appendMultirange(dst, payload, oid, bound)
		if err != nil {
			return made[:had], err
		}
		return made, nil
	}
}

func appendMultirange(dst, payload []byte, oid uint32, bound *nested) ([]byte, error) {
	r := reader{rest: payload}
	count := int(r.uint32())
	if r.short || count > len(r.rest)/5 {
		return dst, errShort
	}
	start := len(dst) - longHeader
	dst = le.AppendUint32(dst, oid)
	dst = le.AppendUint32(dst, uint32(count))
	items := len(dst)
	flags := items + 4*max(count-1, 0)
	dst = append(dst, make([]byte, flags+count-items)...)
	align := bound.Align
	if align != 'd' { // of the range type: int, or double where the bounds need it
		align = 'i'
	}
	dst = pad(dst, start, align)
	begin, before := len(dst), 0
	for i := range count {
		if at := len(dst) - begin; i > 0 {
			item := uint32(at - before)
			if i%multirangeStride == 0 {
				item = uint32(at) | multirangeOffset
			}
			le.PutUint32(dst[items+4*(i-1):], item)
			before = at
		}
		value := r.take(int(int32(r.uint32())))
		if r.short {
			return dst, errShort
		}
		// A range's bounds lie behind eight bytes of its own, which keep them aligned as they are here.
		made, how, err := appendBounds(dst, len(dst), value, bound)
		if err != nil {
			return made, err
		}
		made[flags+i] = how
		dst = pad(made, begin, align)
	}
	return dst, r.end()
}
