package heap

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Form says how rows of COPY binary become the tuples of a relation.
type Form struct {
	// Columns are the relation's attributes by number, dropped ones included.
	Columns []FormColumn
	Fields  int // of a row
	Size    int // of a page, in bytes
	// Target is the size in bytes that long values are made shorter for (toast_tuple_target); 0 is the usual one, 2032 with 8 kB pages.
	Target int
	// Value returns the number of a new value of the TOAST relation, which no other value has. nil where the relation has no such relation: long
	// values are then compressed and no more.
	Value func() (uint32, error)
	// Chunk takes a tuple of the TOAST relation, good until it returns.
	Chunk func(Tuple) error
	// ToastRelation is the number that TOAST pointers get.
	ToastRelation uint32
}

// FormColumn is one attribute of a Form.
type FormColumn struct {
	Attribute
	Type        *Datatype
	Storage     byte        // attstorage: p, e, m or x
	Compression Compression // of long values
	Field       int         // of the row, counted from 0; -1 is NULL
	Make        Maker       // of Type; nil where Field is -1
}

// Former forms the tuples of a relation (heap_form_tuple of src/backend/access/common/heaptuple.c). What they have of transactions and places is for
// Rewriter.Seal to say. A Former is for one goroutine.
type Former struct {
	Form
	columns   []formColumn
	fields    [][]byte // of the row at hand; nil is NULL
	tuple     []byte
	threshold int // bytes of a tuple above which long values are looked at
	target    int
	chunk     int // bytes of a value in one tuple of the TOAST relation
	most      int // bytes of a tuple
	long      longValues
}

// formColumn is a column in the order of the loop over them.
type formColumn struct {
	FormColumn
	less int // alignment, less one
	swap int // bytes of a number that only changes its order; 0 for others
}

// FieldError is the refusal of one field of a row.
type FieldError struct {
	Field  int // counted from 0; -1 when the row as a whole is at fault
	Column string
	Refused
}

// Error returns the message.
func (e *FieldError) Error() string { return e.Message }

var errRow = errors.New("the row of COPY binary is cut off")

// NewFormer returns a Former.
func NewFormer(f Form) *Former {
	r := &Former{Form: f, fields: make([][]byte, f.Fields)}
	const perPage = 4 // TOAST_TUPLES_PER_PAGE and EXTERN_TUPLES_PER_PAGE of heaptoast.h
	r.threshold = bytesPerTuple(f.Size, perPage)
	r.target = f.Target
	if r.target == 0 {
		r.target = r.threshold
	}
	r.most = bytesPerTuple(f.Size, 1)
	r.chunk = r.threshold - alignUp(TupleHeaderSize, 'd') - chunkHead
	for _, c := range f.Columns {
		made := formColumn{FormColumn: c, less: alignments[c.Align]}
		if c.Field >= 0 {
			made.swap = c.Type.swapBytes()
		}
		r.columns = append(r.columns, made)
	}
	return r
}

// bytesPerTuple is the size of each of so many tuples that fill a page (MaximumBytesPerTuple of heaptoast.h).
func bytesPerTuple(page, tuples int) int {
	return (page - alignUp(PageHeaderSize+tuples*lineSize, 'd')) / tuples &^ (maxAlign - 1)
}

// Row forms the tuple of the row that data begins with, and returns it with the bytes that the row takes. The tuple is good until the next call. A
// *FieldError means that the row cannot be stored; its size is returned then as well.
func (f *Former) Row(data []byte) (t Tuple, size int, err error) {
	if size, err = f.split(data); err != nil {
		return nil, 0, err
	}
	nulls := f.hasNull()
	hoff := alignUp(TupleHeaderSize, 'd')
	if nulls {
		hoff = alignUp(TupleHeaderSize+(len(f.columns)+7)/8, 'd')
	}
	out := grown(f.tuple, hoff)
	clear(out)
	var mask Infomask
	if nulls {
		mask = HasNull
	}
	for i := range f.columns {
		c := &f.columns[i]
		if c.Field < 0 || f.fields[c.Field] == nil {
			continue
		}
		payload := f.fields[c.Field]
		if nulls {
			out[TupleHeaderSize+i>>3] |= 1 << (i & 7)
		}
		if c.swap > 0 && len(payload) == c.swap {
			for (len(out)-hoff)&c.less != 0 {
				out = append(out, 0)
			}
			out = appendSwapped(out, payload)
			continue
		}
		if c.Len == -1 {
			mask |= HasVarWidth
			out, err = c.appendVarlena(out, hoff, payload)
		} else {
			out, err = c.Make(pad(out, hoff, c.Align), payload)
		}
		if err != nil {
			return nil, size, c.refused(err)
		}
	}
	f.tuple = out
	if len(out) > f.threshold {
		t, err = f.shorten(hoff, mask)
		return t, size, err
	}
	return f.head(out, hoff, mask), size, nil
}

// grown returns a slice of a length in the memory of another one where that suffices.
func grown(b []byte, size int) []byte {
	if cap(b) < size {
		return make([]byte, size, 2*size)
	}
	return b[:size]
}

// split finds the fields of a row.
func (f *Former) split(data []byte) (int, error) {
	if len(data) < 2 {
		return 0, errRow
	}
	if n := int(binary.BigEndian.Uint16(data)); n != len(f.fields) {
		return 0, fmt.Errorf("the row of COPY binary has %d fields instead of %d", n, len(f.fields))
	}
	at := 2
	for i := range f.fields {
		if len(data)-at < 4 {
			return 0, errRow
		}
		size := int(int32(binary.BigEndian.Uint32(data[at:])))
		at += 4
		if size < 0 {
			f.fields[i] = nil
			continue
		}
		if size > len(data)-at {
			return 0, errRow
		}
		f.fields[i] = data[at : at+size : at+size]
		at += size
	}
	return at, nil
}

// hasNull reports whether the tuple needs a bitmap.
func (f *Former) hasNull() bool {
	for i := range f.columns {
		if at := f.columns[i].Field; at < 0 || f.fields[at] == nil {
			return true
		}
	}
	return false
}

// head writes what the header tells of the tuple itself.
func (f *Former) head(out []byte, hoff int, mask Infomask) Tuple {
	le.PutUint16(out[18:], uint16(len(f.columns)))
	le.PutUint16(out[20:], uint16(mask))
	out[22] = byte(hoff)
	return out
}

func (c *formColumn) refused(err error) error {
	var r *Refused
	if errors.As(err, &r) {
		return &FieldError{Field: c.Field, Column: c.Name, Refused: *r}
	}
	return err
}

// shortMost is the size of the largest varlena with a one-byte header, which counts itself.
const shortMost = 127

// appendVarlena adds a value of variable length, with a one-byte header and without padding where it is short enough and its storage allows it.
func (c *formColumn) appendVarlena(out []byte, hoff int, payload []byte) ([]byte, error) {
	at := len(out)
	if c.Storage != 'p' && len(payload) < shortMost {
		made, err := c.Make(append(out, 0), payload)
		if err != nil {
			return out, err
		}
		if size := len(made) - at; size <= shortMost {
			made[at] = byte(size<<1 | 1)
			return made, nil
		}
		return c.lengthen(made, hoff, at), nil
	}
	out = pad(out, hoff, c.Align)
	head := len(out)
	made, err := c.Make(append(out, 0, 0, 0, 0), payload)
	if err != nil {
		return out, err
	}
	size := len(made) - head
	if short := size - longHeader + 1; c.Storage != 'p' && short <= shortMost {
		made[at] = byte(short<<1 | 1)
		copy(made[at+1:], made[head+longHeader:])
		return made[:at+short], nil
	}
	le.PutUint32(made[head:], uint32(size)<<2)
	return made, nil
}

// lengthen moves a value that was made behind one byte for its header.
func (c *formColumn) lengthen(made []byte, hoff, at int) []byte {
	size := len(made) - at - 1
	head := alignUp(at-hoff, c.Align) + hoff
	end := head + longHeader + size
	for len(made) < end {
		made = append(made, 0)
	}
	copy(made[head+longHeader:end], made[at+1:at+1+size])
	clear(made[at:head])
	le.PutUint32(made[head:], uint32(longHeader+size)<<2)
	return made[:end]
}

// Free is the number of bytes that another tuple of a page can take, beside its line pointer.
func (p *Packer) Free() int {
	return int(le.Uint16(p.page[14:])) - int(le.Uint16(p.page[12:])) - lineSize
}

// PackerOn returns a packer that fills a page of the caller's.
func PackerOn(page Page) *Packer {
	p := &Packer{page: page}
	p.Reset()
	return p
}

// SealPage gives the tuples of a packed page their headers and values, and the page its place: block.
func (r *Rewriter) SealPage(page Page, block uint32) error { return r.seal(page, block) }
