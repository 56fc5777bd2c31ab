package heap

import "math/rand/v2"

// madePage lays out tuples as PageAddItem does: line pointers upward from the header, tuples downward from the end.
type madePage struct {
	page         Page
	lower, upper int
}

func newPage(size int) *madePage { return &madePage{make(Page, size), PageHeaderSize, size} }

// add puts a tuple, or whatever is given for one, at the next line and returns the line's number.
func (m *madePage) add(tuple []byte) int {
	m.upper -= (len(tuple) + 7) &^ 7
	copy(m.page[m.upper:], tuple)
	return m.line(LineNormal, m.upper, len(tuple))
}

// line adds a line pointer, true or not.
func (m *madePage) line(state LineState, offset, length int) int {
	le.PutUint32(m.page[m.lower:], lineWord(state, offset, length))
	m.lower += lineSize
	return (m.lower - PageHeaderSize) / lineSize
}

func lineWord(state LineState, offset, length int) uint32 {
	return uint32(offset) | uint32(state)<<15 | uint32(length)<<17
}

// done writes the header.
func (m *madePage) done() Page {
	p := m.page
	le.PutUint16(p[12:], uint16(m.lower))
	le.PutUint16(p[14:], uint16(m.upper))
	le.PutUint16(p[16:], uint16(len(p)))
	le.PutUint16(p[18:], uint16(len(p))|LayoutVersion)
	return p
}

// madeTuple is a tuple before it is bytes.
type madeTuple struct {
	xmin, xmax, field3 uint32
	mask               Infomask
	natts, mask2       uint16
	nulls              []byte // makes HasNull
	data               []byte
	line               uint16 // of t_ctid, block 0
}

func (m madeTuple) bytes() Tuple {
	hoff := (TupleHeaderSize + len(m.nulls) + 7) &^ 7
	t := make(Tuple, hoff, hoff+len(m.data))
	le.PutUint32(t, m.xmin)
	le.PutUint32(t[4:], m.xmax)
	le.PutUint32(t[8:], m.field3)
	le.PutUint16(t[16:], m.line)
	le.PutUint16(t[18:], m.natts|m.mask2)
	mask := m.mask
	if m.nulls != nil {
		mask |= HasNull
	}
	le.PutUint16(t[20:], uint16(mask))
	t[22] = byte(hoff)
	copy(t[TupleHeaderSize:], m.nulls)
	return append(t, m.data...)
}

// seedAttrs are the columns (bigint, date, int, varchar).
var seedAttrs = []Attribute{
	{Name: "id", Len: 8, Align: 'd', ByVal: true}, {Name: "day", Len: 4, Align: 'i', ByVal: true},
	{Name: "n", Len: 4, Align: 'i', ByVal: true}, {Name: "v", Len: -1, Align: 'i'},
}

// seedPage is a full page of such rows.
func seedPage() Page {
	m := newPage(8192)
	for m.upper-m.lower > 60 {
		n := uint16(m.lower/lineSize - 5)
		data := le.AppendUint64(nil, uint64(n))
		data = le.AppendUint32(data, 7000)
		data = le.AppendUint32(data, rand.Uint32())
		data = append(data, 10<<1|1, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i')
		m.add(madeTuple{xmin: 700, mask: HasVarWidth | XminCommitted | XmaxInvalid, natts: 4, data: data, line: n}.bytes())
	}
	return m.done()
}
