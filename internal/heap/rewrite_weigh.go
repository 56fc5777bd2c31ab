package heap

import "fmt"

// Weight is what a page holds for a rewriting.
type Weight struct {
	Rows  int  // live tuples
	Whole bool // all lines lead to live tuples, none of which changes its size or overlaps another
}

// settled are the flags that decide about a tuple at a glance, hinted their values where the tuple is live.
const (
	settled = XminCommitted | XmaxInvalid | MovedOff | MovedIn
	hinted  = XminCommitted | XmaxInvalid
)

// Weigh counts the live tuples of a page and checks what Write relies on. It is apart from Write since a page without rows is left out of
// the new relation, and so the number of the block is known only then. A zero page has no rows.
func (r *Rewriter) Weigh(src Page) (Weight, error) {
	if len(src) != r.size {
		return Weight{}, fmt.Errorf("the block has %d bytes instead of %d", len(src), r.size)
	}
	if le.Uint64(src[8:]) == 0 && src.Zero() {
		return Weight{}, nil
	}
	h, err := src.Header()
	if err != nil {
		return Weight{}, err
	}
	switch {
	case int(h.Special) != len(src):
		return Weight{}, fmt.Errorf("the page has %d bytes of special space, a heap page has none", len(src)-int(h.Special))
	case (h.Lower-PageHeaderSize)%lineSize != 0:
		return Weight{}, fmt.Errorf("the page's line pointers end at %d, within one", h.Lower)
	}
	w := Weight{Whole: true}
	before := len(src) // where the line before has its tuple: in a page that was only filled they descend
	for at := PageHeaderSize; at < int(h.Lower); at += lineSize {
		word := le.Uint32(src[at:])
		offset, length := int(word&0x7FFF), int(word>>17)
		if LineState(word>>15&3) != LineNormal {
			w.Whole = false
			if _, err := src.LineUnder(&h, lineAt(at)); err != nil {
				return Weight{}, err
			}
			continue
		}
		if offset < int(h.Upper) || offset%maxAlign != 0 || length <= TupleHeaderSize || offset+length > len(src) {
			if _, err := src.LineUnder(&h, lineAt(at)); err != nil {
				return Weight{}, err
			}
			return Weight{}, fmt.Errorf("line %d has a tuple of %d bytes, too few for its header", lineAt(at), length)
		}
		t := Tuple(src[offset : offset+length : offset+length])
		live, err := r.weighTuple(t)
		if err != nil {
			return Weight{}, fmt.Errorf("line %d: %w", lineAt(at), err)
		}
		if live {
			w.Rows++
		}
		if !live || offset+length > before || t.Natts() < r.full {
			w.Whole = false
		}
		before = offset
	}
	return w, nil
}

// lineAt is the number of the line pointer at an offset.
func lineAt(offset int) int { return (offset-PageHeaderSize)/lineSize + 1 }

// weighTuple tells whether a tuple is live, and checks its header.
func (r *Rewriter) weighTuple(t Tuple) (live bool, err error) {
	word := le.Uint64(t[16:]) // the line of t_ctid, t_infomask2, t_infomask, t_hoff, and the first byte of the null bitmap
	mask, natts, hoff := Infomask(word>>32), int(word>>16&NattsMask), int(word>>48&0xFF)
	need := TupleHeaderSize + 1
	if mask&HasNull != 0 {
		need = alignUp(TupleHeaderSize+(natts+7)/8, 'd')
	}
	switch {
	case hoff != need || hoff > len(t):
		if err := t.sound(); err != nil {
			return false, err
		}
		return false, fmt.Errorf("the tuple's data start at %d, its header takes %d bytes", hoff, need)
	case mask&HasOldOID != 0:
		return false, fmt.Errorf("the tuple has an OID, which no release since 12 knows")
	case natts > len(r.Attrs):
		return false, fmt.Errorf("the tuple has %d attributes, the table %d", natts, len(r.Attrs))
	}
	if mask&settled != hinted {
		verdict, err := Judge(t, &r.tx)
		if err != nil || verdict != Live {
			return false, err
		}
	}
	if r.Walk || r.NoLZ4 {
		return true, r.walk(t)
	}
	return true, nil
}

// walk checks that a tuple's values fit, and are such as the new relation's server can read.
func (r *Rewriter) walk(t Tuple) (err error) {
	if r.values, err = t.Values(r.Attrs, r.values); err != nil {
		return err
	}
	for i, v := range r.values[:t.Natts()] {
		if v.Null || r.Attrs[i].Len != -1 {
			continue
		}
		value, _, err := ParseVarlena(v.Data)
		if r.NoLZ4 && err == nil && !r.Attrs[i].Dropped && (value.Compression == LZ4 || value.External && value.Pointer.Compression == LZ4) {
			err = ErrLZ4
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", r.Attrs[i].Name, err)
		}
	}
	return nil
}
