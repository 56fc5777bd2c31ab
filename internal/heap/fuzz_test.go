package heap_test

import (
	"bytes"
	"testing"

	"github.com/pghaul/pghaul/internal/heap"
)

// FuzzPage reads damaged pages in every way there is: nothing may panic, and what is returned lies within the page.
func FuzzPage(f *testing.F) {
	f.Add(makePage(soundTuple(), soundTuple()), uint32(3))
	withNulls := tuple{infomask: 0x0903, infomask2: 2, nulls: []byte{1}, data: []byte{1, 0, 0, 0}}
	f.Add(makePage(withNulls, tuple{infomask: 0x1002, infomask2: 1, xmin: 10, xmax: 5, data: make([]byte, 40)}), uint32(0))
	f.Add([]byte{}, uint32(0))
	for block, page := range realPages(f) {
		f.Add([]byte(page), uint32(block))
	}
	attrs := []heap.Attribute{
		{Name: "id", Len: 4, Align: 'i'}, {Name: "v", Len: -1, Align: 'i'}, {Name: "c", Len: -2, Align: 'c'},
		{Name: "f", Len: 8, Align: 'd'}, {Name: "m", Len: 2, Align: 's', HasMissing: true, Missing: []byte{1, 2}},
	}
	f.Fuzz(func(t *testing.T, page []byte, block uint32) {
		p := heap.Page(page)
		p.Check(block, attrs, true)
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
			for _, v := range values {
				if len(v.Data) > len(page) && len(page) > 2 {
					t.Fatalf("a value of %d bytes came from a page of %d", len(v.Data), len(page))
				}
			}
		}
	})
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
