package datadir

import (
	"testing"

	"github.com/pghaul/pghaul/internal/heap"
)

// FuzzInflate compares decompression in parts with that of a whole value.
func FuzzInflate(f *testing.F) {
	f.Add([]byte{0, 'a', 'b', 'c', 1, 0x0f, 3, 200}, 100, true)
	f.Add([]byte{0x35, 'a', 'b', 'c', 3, 0, 0x10, 'x'}, 13, false)
	f.Fuzz(func(t *testing.T, b []byte, size int, pglz bool) {
		if size < 1 || size > 1<<22 {
			return
		}
		var got []byte
		w := &window{size: size, visit: func(part []byte) error { got = append(got, part...); return nil }}
		rest := b
		s := &source{next: func() ([]byte, bool) { // in chunks of one byte
			if len(rest) == 0 {
				return nil, false
			}
			chunk := rest[:1]
			rest = rest[1:]
			return chunk, true
		}}
		compression := heap.LZ4
		if pglz {
			compression = heap.PGLZ
			w.pglz(s)
		} else {
			w.lz4(s)
		}
		if w.err == nil {
			w.finish(s)
		}
		want, err := heap.Decompress(nil, compression, b, size)
		if err == nil && (w.err != nil || string(got) != string(want)) {
			t.Errorf("got %q, %v; want %q", got, w.err, want)
		}
		if w.err == nil && len(got) != size {
			t.Errorf("%d bytes of %d", len(got), size)
		}
	})
}
