package heap

import (
	"fmt"
	"slices"
)

const (
	chunkHead      = 4 + 4 + longHeader // chunk_id, chunk_seq and the header of chunk_data
	leastToMove    = 24                 // a TOAST pointer, aligned: what is not larger is left alone
	mostValue      = 1<<30 - 1
	compressedMark = 2
)

// longValues are the values of a tuple that is too large, apart.
type longValues struct {
	values []longValue
	memory []byte
	packed []byte
}

// longValue is one value of such a tuple.
type longValue struct {
	null     bool
	fixed    bool
	data     []byte // of a varlena with its header
	from, to int    // in memory, until all are made
	stiff    bool   // it was not made smaller by compression, or must not be
	state    longState
}

type longState uint8

const (
	longPlain longState = iota
	longCompressed
	longExternal
)

// shorten forms the row anew with its long values compressed or moved into the TOAST relation, in the order of heap_toast_insert_or_update
// (src/backend/access/heap/heaptoast.c): the largest first, extended ones compressed, then moved, and main ones only when that is not enough.
func (f *Former) shorten(hoff int, mask Infomask) (Tuple, error) {
	if err := f.apart(); err != nil {
		return nil, err
	}
	l, most := &f.long, f.target-hoff
	for f.dataSize() > most {
		i := f.largest(true, false)
		if i < 0 {
			break
		}
		if f.columns[i].Storage == 'x' {
			l.compress(i, f.columns[i].Compression)
		} else {
			l.values[i].stiff = true
		}
		if len(l.values[i].data) > most && f.Value != nil {
			if err := f.external(i); err != nil {
				return nil, err
			}
		}
	}
	if err := f.moveOut(most, false); err != nil {
		return nil, err
	}
	for f.dataSize() > most {
		i := f.largest(true, true)
		if i < 0 {
			break
		}
		l.compress(i, f.columns[i].Compression)
	}
	if err := f.moveOut(f.most-hoff, true); err != nil {
		return nil, err
	}
	return f.rejoin(hoff, mask)
}

// moveOut moves values into the TOAST relation, the largest first, until the others take no more than most.
func (f *Former) moveOut(most int, main bool) error {
	for f.Value != nil && f.dataSize() > most {
		i := f.largest(false, main)
		if i < 0 {
			break
		}
		if err := f.external(i); err != nil {
			return err
		}
	}
	return nil
}

// apart makes each value of the row by itself.
func (f *Former) apart() error {
	l := &f.long
	l.values, l.memory = slices.Grow(l.values[:0], len(f.columns))[:len(f.columns)], l.memory[:0]
	for i := range f.columns {
		c, v := &f.columns[i], &l.values[i]
		*v = longValue{null: c.Field < 0 || f.fields[c.Field] == nil, fixed: c.Len != -1, from: len(l.memory)}
		v.stiff = v.fixed || c.Storage == 'p'
		if v.null {
			continue
		}
		if !v.fixed {
			l.memory = append(l.memory, 0, 0, 0, 0)
		}
		var err error
		if l.memory, err = c.Make(l.memory, f.fields[c.Field]); err != nil {
			return c.refused(err)
		}
		v.to = len(l.memory)
	}
	for i := range l.values {
		v := &l.values[i]
		v.data = l.memory[v.from:max(v.to, v.from)]
		if !v.fixed && !v.null {
			if len(v.data) > mostValue {
				return &FieldError{Field: f.columns[i].Field, Column: f.columns[i].Name, Refused: Refused{State: stateLimit, Message: "a value is larger than 1 GB"}}
			}
			le.PutUint32(v.data, uint32(len(v.data))<<2)
		}
	}
	return nil
}

// short reports whether a value gets a one-byte header.
func (f *Former) short(i int) bool {
	v := &f.long.values[i]
	return v.state == longPlain && f.columns[i].Storage != 'p' && len(v.data)-longHeader+1 <= shortMost
}

// packed is the size of a varlena in the tuple, beside its padding.
func (f *Former) packed(i int) int {
	if f.short(i) {
		return len(f.long.values[i].data) - longHeader + 1
	}
	return len(f.long.values[i].data)
}

// dataSize is what the values take behind the header (heap_compute_data_size).
func (f *Former) dataSize() int {
	size := 0
	for i := range f.long.values {
		v := &f.long.values[i]
		switch {
		case v.null:
		case v.fixed:
			size = alignUp(size, f.columns[i].Align) + len(v.data)
		case v.state == longExternal:
			size += externalSize
		case f.short(i):
			size += f.packed(i)
		default:
			size = alignUp(size, f.columns[i].Align) + len(v.data)
		}
	}
	return size
}

// largest is the largest value that can still be made shorter, -1 when there is none (toast_tuple_find_biggest_attribute).
func (f *Former) largest(compress, main bool) int {
	found, size := -1, leastToMove
	for i := range f.long.values {
		v, storage := &f.long.values[i], f.columns[i].Storage
		switch {
		case v.null || v.fixed || storage == 'p' || v.state == longExternal:
		case compress && (v.stiff || v.state == longCompressed):
		case main != (storage == 'm'):
		case f.packed(i) > size:
			found, size = i, f.packed(i)
		}
	}
	return found
}

// compress compresses a value where that saves more than two bytes (toast_compress_datum).
func (l *longValues) compress(i int, how Compression) {
	v := &l.values[i]
	raw := v.data[longHeader:]
	packed, ok := Compress(grown(l.packed, compressedHeader), how, raw)
	l.packed = packed
	if !ok || len(packed) >= len(raw)-2 {
		v.stiff = true
		return
	}
	le.PutUint32(packed, uint32(len(packed))<<2|compressedMark)
	le.PutUint32(packed[4:], uint32(len(raw))|uint32(how)<<30)
	v.data = append(v.data[:0], packed...)
	v.state = longCompressed
}

// external moves a value into the TOAST relation and leaves a pointer to it (toast_save_datum of src/backend/access/common/toast_internals.c).
func (f *Former) external(i int) error {
	v := &f.long.values[i]
	number, err := f.Value()
	if err != nil {
		return err
	}
	stored := v.data[longHeader:] // of a compressed value with the word that has its size and method
	raw, info := uint32(len(v.data)), uint32(len(stored))
	if v.state == longCompressed {
		word := le.Uint32(stored)
		raw, info = word&0x3FFFFFFF+longHeader, info|word&^0x3FFFFFFF
	}
	for seq := uint32(0); len(stored) > 0; seq++ {
		n := min(len(stored), f.chunk)
		if err := f.Chunk(f.chunkTuple(number, seq, stored[:n])); err != nil {
			return err
		}
		stored = stored[n:]
	}
	v.data = append(v.data[:0], 1, externalTag)
	for _, word := range []uint32{raw, info, number, f.ToastRelation} {
		v.data = le.AppendUint32(v.data, word)
	}
	v.state = longExternal
	return nil
}

// chunkTuple forms a tuple of the TOAST relation, whose values are never compressed nor packed.
func (f *Former) chunkTuple(number, seq uint32, data []byte) Tuple {
	hoff := alignUp(TupleHeaderSize, 'd')
	t := grown(f.tuple, hoff)
	clear(t)
	le.PutUint16(t[18:], 3)
	le.PutUint16(t[20:], uint16(HasVarWidth))
	t[22] = byte(hoff)
	t = le.AppendUint32(t, number)
	t = le.AppendUint32(t, seq)
	t = le.AppendUint32(t, uint32(longHeader+len(data))<<2)
	t = append(t, data...)
	f.tuple = t
	return t
}

// rejoin forms the tuple of what the values have become.
func (f *Former) rejoin(hoff int, mask Infomask) (Tuple, error) {
	out := grown(f.tuple, hoff)
	clear(out)
	for i := range f.long.values {
		v := &f.long.values[i]
		if v.null {
			continue
		}
		if mask&HasNull != 0 {
			out[TupleHeaderSize+i>>3] |= 1 << (i & 7)
		}
		switch {
		case v.state == longExternal:
			mask |= HasExternal
			out = append(out, v.data...)
		case !v.fixed && f.short(i):
			out = append(out, byte((len(v.data)-longHeader+1)<<1|1))
			out = append(out, v.data[longHeader:]...)
		default:
			out = append(pad(out, hoff, f.columns[i].Align), v.data...)
		}
	}
	f.tuple = out
	if len(out) > f.most { // heap_insert's RelationGetBufferForTuple
		return nil, &FieldError{Field: -1, Refused: Refused{State: stateLimit, Message: fmt.Sprintf("row is too big: size %d, maximum size %d", len(out), f.most)}}
	}
	return f.head(out, hoff, mask), nil
}
