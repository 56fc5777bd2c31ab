package heap

import "fmt"

// Attribute is what the walk through a tuple must know of a column (pg_attribute). Dropped columns count too.
type Attribute struct {
	Name       string
	Len        int16 // bytes; -1 for a varlena, -2 for a C string (attlen)
	Align      byte  // 'c', 's', 'i' or 'd' (attalign)
	ByVal      bool
	Dropped    bool
	HasMissing bool   // tuples older than the column have the value Missing, else NULL
	Missing    []byte // in the form of Value.Data (attmissingval)
}

// Value is one attribute of one tuple.
type Value struct {
	Null bool
	Data []byte // fixed-length bytes, a varlena with its header, or a C string without its NUL; part of the page
}

// Values walks through the tuple's data and returns one value for each of attrs, in dst's memory where it suffices. The values are
// parts of the tuple, and good as long as its page is. Values that do not fill the tuple to its end are an error too: a table with
// other columns must not pass for this one. (heap_deform_tuple of src/backend/access/common/heaptuple.c.)
func (t Tuple) Values(attrs []Attribute, dst []Value) ([]Value, error) {
	natts := t.Natts()
	if natts > len(attrs) {
		return dst[:0], fmt.Errorf("the tuple has %d attributes, the table %d", natts, len(attrs))
	}
	if cap(dst) < len(attrs) {
		dst = make([]Value, len(attrs))
	}
	dst = dst[:len(attrs)]
	nulls, data, off := t.Nulls(), t[t.Hoff():], 0
	for i := range attrs[:natts] {
		if len(nulls) > 0 && nulls[i>>3]&(1<<(i&7)) == 0 {
			dst[i] = Value{Null: true}
			continue
		}
		a := &attrs[i]
		var start int
		size := int(a.Len)
		switch {
		case size > 0:
			start = alignUp(off, a.Align)
		case size == -1 && off < len(data) && data[off]&1 == 1 && data[off] != 1: // a one-byte header, as most have
			start, size = off, int(data[off]>>1)
		default:
			var err error
			if start, size, err = variable(data, off, a); err != nil {
				return dst[:0], fmt.Errorf("column %s: %w", a.Name, err)
			}
		}
		if start+size > len(data) {
			return dst[:0], fmt.Errorf("column %s ends %d bytes behind the tuple", a.Name, start+size-len(data))
		}
		dst[i] = Value{Data: data[start : start+size : start+size]}
		off = start + size
		if a.Len == -2 {
			off++
		}
	}
	// The server never pads a tuple behind its last value (heap_fill_tuple asserts it): these are not the columns it was written with.
	if off != len(data) {
		return dst[:0], fmt.Errorf("the tuple has %d bytes behind its last column", len(data)-off)
	}
	for i := natts; i < len(attrs); i++ {
		dst[i] = Value{Null: !attrs[i].HasMissing, Data: attrs[i].Missing}
	}
	return dst, nil
}

// alignments are what attalign names, in bytes less one; 0 for anything else. A table, since a scan looks for each value of each row.
var alignments = [256]int{'s': 1, 'i': 3, 'd': 7}

// alignUp rounds off up to the alignment that attalign names.
func alignUp(off int, align byte) int {
	less := alignments[align]
	return (off + less) &^ less
}

// variable finds where a value of no fixed length starts, and its length. A varlena with a one-byte header is not aligned, and its
// first byte is never 0, while padding always is (att_align_pointer of tupmacs.h).
func variable(data []byte, off int, a *Attribute) (start, size int, err error) {
	if a.Len == -2 {
		for end := off; end < len(data); end++ {
			if data[end] == 0 {
				return off, end - off, nil
			}
		}
		return 0, 0, fmt.Errorf("a C string does not end within the tuple")
	}
	if a.Len != -1 {
		return 0, 0, fmt.Errorf("a length of %d is not known", a.Len)
	}
	if off >= len(data) {
		return 0, 0, fmt.Errorf("the value starts behind the tuple")
	}
	if data[off] == 0 {
		off = alignUp(off, a.Align)
	}
	size, err = VarlenaSize(data[min(off, len(data)):])
	return off, size, err
}
