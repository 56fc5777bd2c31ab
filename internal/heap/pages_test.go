package heap_test

import "encoding/binary"

var le = binary.LittleEndian

// tuple is what makePage puts into a page.
type tuple struct {
	infomask, infomask2 uint16
	xmin, xmax          uint32
	nulls               []byte
	data                []byte
}

// makePage builds a page of 8 kB with a line for each tuple, in PostgreSQL's way: lines from the front, tuples from the back.
func makePage(tuples ...tuple) []byte {
	page := make([]byte, 8192)
	upper := len(page)
	for i, t := range tuples {
		hoff := (23 + len(t.nulls) + 7) &^ 7
		size := hoff + len(t.data)
		upper -= (size + 7) &^ 7
		at := page[upper:]
		le.PutUint32(at, t.xmin)
		le.PutUint32(at[4:], t.xmax)
		le.PutUint16(at[16:], uint16(i+1))
		le.PutUint16(at[18:], t.infomask2)
		le.PutUint16(at[20:], t.infomask)
		at[22] = byte(hoff)
		copy(at[23:], t.nulls)
		copy(at[hoff:], t.data)
		putLine(page, i+1, upper, 1, size)
	}
	le.PutUint16(page[12:], uint16(24+4*len(tuples)))
	le.PutUint16(page[14:], uint16(upper))
	le.PutUint16(page[16:], uint16(len(page)))
	le.PutUint16(page[18:], uint16(len(page)|4))
	return page
}

// putLine writes a line pointer.
func putLine(page []byte, n, offset, state, length int) {
	le.PutUint32(page[24+4*(n-1):], uint32(offset|state<<15|length<<17))
}
