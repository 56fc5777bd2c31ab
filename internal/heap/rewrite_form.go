package heap

import "fmt"

// form writes a tuple out with all attributes of the new relation, its header otherwise unchanged (heap_form_tuple and heap_fill_tuple of
// src/backend/access/common/heaptuple.c). Dropped columns become NULL, as in every new row. The result is good until the next call.
func (r *Rewriter) form(t Tuple) (formed Tuple, err error) {
	if r.values, err = t.Values(r.Attrs, r.values); err != nil {
		return nil, err
	}
	var mask Infomask
	if len(r.formedOf) != len(r.attrs) {
		r.formedOf = make([]Value, len(r.attrs))
	}
	for i := range r.attrs {
		v, a := &r.formedOf[i], &r.attrs[i]
		*v = Value{Null: true}
		if from := r.source(i); from >= 0 {
			*v = r.values[from]
		}
		if v.Null = v.Null || a.Dropped || v.Data == nil; v.Null {
			mask |= HasNull
		} else if a.Len > 0 && len(v.Data) != int(a.Len) || a.Len == -1 && len(v.Data) == 0 {
			return nil, fmt.Errorf("column %s: the value for older rows has %d bytes", a.Name, len(v.Data))
		} else if a.Len < 0 {
			mask |= HasVarWidth
			if a.Len == -1 && v.Data[0] == 1 {
				mask |= HasExternal
			}
		}
	}
	hoff := alignUp(TupleHeaderSize, 'd')
	if mask&HasNull != 0 {
		hoff = alignUp(TupleHeaderSize+(len(r.attrs)+7)/8, 'd')
	}
	out := r.formed[:0]
	out = append(out, make([]byte, hoff)...)
	copy(out, t[:TupleHeaderSize])
	out[22] = byte(hoff)
	le.PutUint16(out[18:], t.Infomask2()&^NattsMask|uint16(len(r.attrs)))
	le.PutUint16(out[20:], uint16(t.Infomask()&^(HasNull|HasVarWidth|HasExternal)|mask))
	for i, v := range r.formedOf {
		if v.Null {
			continue
		}
		if mask&HasNull != 0 {
			out[TupleHeaderSize+i/8] |= 1 << (i % 8)
		}
		out = appendValue(out, hoff, &r.attrs[i], v.Data)
	}
	r.formed = out
	// MaxHeapTupleSize of htup_details.h
	if most := (r.size - alignUp(PageHeaderSize+lineSize, 'd')); len(out) > most {
		return nil, fmt.Errorf("with the values of columns that were added later the row takes %d bytes, and a page holds %d", len(out), most)
	}
	return out, nil
}

// appendValue adds a value behind its padding. A varlena with a one-byte header is not aligned.
func appendValue(out []byte, hoff int, a *Attribute, data []byte) []byte {
	if a.Len != -1 || data[0]&1 == 0 {
		out = append(out, make([]byte, alignUp(len(out)-hoff, a.Align)+hoff-len(out))...)
	}
	out = append(out, data...)
	if a.Len == -2 {
		out = append(out, 0)
	}
	return out
}
