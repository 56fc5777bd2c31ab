package heap_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/pghaul/pghaul/internal/heap"
)

// FuzzPage reads damaged pages in every way there is: nothing may panic, and what is returned lies within the page. The input is what
// changes in one of a few pages, 3 bytes a change: inputs as long as pages would be changed and shortened far too slowly.
func FuzzPage(f *testing.F) {
	withNulls := tuple{infomask: 0x0903, infomask2: 2, nulls: []byte{1}, data: []byte{1, 0, 0, 0}}
	pages := append(realPages(f), makePage(soundTuple(), soundTuple()),
		makePage(withNulls, tuple{infomask: 0x1002, infomask2: 1, xmin: 10, xmax: 5, data: make([]byte, 40)}), make(heap.Page, 8192))
	change := func(at, value int) []byte { return []byte{byte(at), byte(at >> 8), byte(value)} }
	for base := range pages {
		f.Add(uint8(base), []byte{}, uint16(8192))
		f.Add(uint8(base), slices.Concat(change(12, 40), change(24, 3), change(25, 0x80), change(8160+22, 32)), uint16(8192))
		f.Add(uint8(base), slices.Concat(change(24, 0xE0), change(25, 0x9F), change(26, 0x40), change(8160+18, 5), change(8160+24, 0xFF)), uint16(8000))
	}
	attrs := []heap.Attribute{
		{Name: "id", Len: 4, Align: 'i'}, {Name: "v", Len: -1, Align: 'i'}, {Name: "c", Len: -2, Align: 'c'},
		{Name: "f", Len: 8, Align: 'd'}, {Name: "m", Len: 2, Align: 's', HasMissing: true, Missing: []byte{1, 2}},
	}
	f.Fuzz(func(t *testing.T, base uint8, changes []byte, size uint16) {
		page := bytes.Clone(pages[int(base)%len(pages)])
		for ; len(changes) >= 3; changes = changes[3:] {
			page[int(le.Uint16(changes))%len(page)] = changes[2]
		}
		p := heap.Page(page[:min(int(size), len(page))])
		p.Check(uint32(base), attrs, true)
		readLines(t, p, attrs)
		readLines(t, p, variedAttrs)
	})
}

// readLines does with each line what a scan does, and more.
func readLines(t *testing.T, p heap.Page, attrs []heap.Attribute) {
	var values []heap.Value
	for n := range p.Lines() + 2 {
		l, err := p.Line(n)
		if err != nil || l.State != heap.LineNormal {
			continue
		}
		tup, err := p.Tuple(n)
		if err != nil {
			continue
		}
		_, _ = heap.Judge(tup, history{})
		if values, err = tup.Values(attrs, values); err != nil {
			continue
		}
		sum := 0
		for i, v := range values[:tup.Natts()] {
			sum += len(v.Data)
			if attrs[i].Len != -1 || v.Null {
				continue
			}
			if _, size, err := heap.ParseVarlena(v.Data); err == nil && size != len(v.Data) {
				t.Fatalf("line %d: a varlena of %d bytes came as %d", n, size, len(v.Data))
			}
		}
		if tup.Hoff()+sum > len(tup) {
			t.Fatalf("line %d: %d bytes of values come from %d bytes of data", n, sum, len(tup)-tup.Hoff())
		}
	}
}

func FuzzVarlena(f *testing.F) {
	f.Add([]byte{9, 'a', 'b', 'c'})
	f.Add([]byte{0x20, 0, 0, 0, 'a', 'b', 'c', 'd'})
	f.Add([]byte{1, 18, 100, 0, 0, 0, 50, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0})
	f.Add([]byte{0x2A, 0, 0, 0, 20, 0, 0, 0, 2, 'a'})
	f.Fuzz(func(t *testing.T, data []byte) {
		v, size, err := heap.ParseVarlena(data)
		if err != nil {
			return
		}
		if size < 1 || size > len(data) || len(v.Payload) > size {
			t.Fatalf("a varlena of %d bytes with %d of payload came from %d bytes", size, len(v.Payload), len(data))
		}
		if v.Compression != heap.NoCompression && !v.External && v.RawSize < 1<<20 {
			_, _ = heap.Decompress(nil, v.Compression, v.Payload, v.RawSize)
		}
	})
}

func FuzzDecompress(f *testing.F) {
	f.Add([]byte{0x02, 'a', 0x0F, 1, 200}, uint16(219), true)
	f.Add([]byte{0x11, 'a', 1, 0, 0x50, 'b', 'c', 'd', 'e', 'f'}, uint16(11), false)
	f.Add([]byte{0}, uint16(0), false)
	f.Fuzz(func(t *testing.T, src []byte, size uint16, pglz bool) {
		if out, err := heap.Decompress(nil, heap.LZ4, src, 0); err == nil {
			t.Fatalf("nothing was decompressed to %d bytes", len(out))
		}
		method := heap.LZ4
		if pglz {
			method = heap.PGLZ
		}
		prefix := []byte("kept")
		out, err := heap.Decompress(prefix, method, src, int(size))
		if !bytes.HasPrefix(out, prefix) || err == nil && len(out) != len(prefix)+int(size) {
			t.Fatalf("%d bytes were wanted behind a prefix of %d, there are %d (%v)", size, len(prefix), len(out), err)
		}
	})
}
