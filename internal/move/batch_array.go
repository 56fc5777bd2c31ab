package move

import "encoding/binary"

// arrayType is what must be known of an array parameter to write its value.
type arrayType struct {
	elem      uint32 // OID of the element type, which the binary form carries
	delimiter byte   // pg_type.typdelim of the element type: a comma but for box and some types of extensions
}

// arrayHeadSize is the head of a one-dimensional binary array: dimensions, null flag, element type, length, lower bound
// (arrayfuncs.c, array_recv).
const arrayHeadSize = 5 * 4

// array is a one-dimensional array under construction, as binary or as a text literal.
type array struct {
	arrayType
	binary bool
	nulls  bool
	data   []byte
}

func newArray(t arrayType, binary bool) array {
	a := array{arrayType: t, binary: binary}
	a.reset(0)
	return a
}

// reset empties the array and keeps up to keep bytes of its memory.
func (a *array) reset(keep int) {
	a.nulls = false
	a.data = emptied(a.data, keep)
	if a.binary {
		a.data = append(a.data, make([]byte, arrayHeadSize)...)
	} else {
		a.data = append(a.data, '{')
	}
}

// add appends an element; nil is NULL.
func (a *array) add(element []byte) {
	if a.binary {
		a.nulls = a.nulls || element == nil
		a.data = appendValue(a.data, element)
		return
	}
	if len(a.data) > 1 {
		a.data = append(a.data, a.delimiter)
	}
	if element == nil {
		a.data = append(a.data, "NULL"...)
		return
	}
	a.data = append(a.data, '"')
	a.data = appendArrayEscaped(a.data, element)
	a.data = append(a.data, '"')
}

// size returns the length of what literal returns.
func (a *array) size() int {
	if a.binary {
		return len(a.data)
	}
	return len(a.data) + 1
}

// literal returns the array of the given number of elements. It stays good until the next add or reset.
func (a *array) literal(elements int) []byte {
	if !a.binary {
		return append(a.data, '}')
	}
	putArrayHead(a.data, a.elem, elements, a.nulls)
	return a.data
}

// first returns where the first element stands, for element.
func (a *array) first() int {
	if a.binary {
		return arrayHeadSize
	}
	return 1
}

// element returns the element that stands at a place, nil for NULL, and the place of the next one.
func (a *array) element(at int) (value []byte, next int) {
	if a.binary {
		size := int32(binary.BigEndian.Uint32(a.data[at:]))
		at += 4
		if size < 0 {
			return nil, at
		}
		return a.data[at : at+int(size)], at + int(size)
	}
	if a.data[at] != '"' {
		return nil, at + len("NULL") + 1
	}
	value = []byte{}
	for at++; a.data[at] != '"'; at++ {
		if a.data[at] == '\\' {
			at++
		}
		value = append(value, a.data[at])
	}
	return value, at + len(`",`)
}

// putArrayHead writes the head of a one-dimensional binary array.
func putArrayHead(dst []byte, elem uint32, elements int, nulls bool) {
	flags := uint32(0)
	if nulls {
		flags = 1
	}
	for i, v := range [arrayHeadSize / 4]uint32{1, flags, elem, uint32(elements), 1} {
		binary.BigEndian.PutUint32(dst[4*i:], v)
	}
}

// appendArrayEscaped adds an element's text as it stands between double quotes in an array literal: quotes and backslashes get a
// backslash, nothing else is special there (manual, "Array Input and Output Syntax").
func appendArrayEscaped(dst, element []byte) []byte {
	plain := 0
	for i, c := range element {
		if c == '"' || c == '\\' {
			dst = append(append(dst, element[plain:i]...), '\\')
			plain = i
		}
	}
	return append(dst, element[plain:]...)
}
