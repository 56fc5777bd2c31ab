package heap_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pierrec/lz4/v4"

	"github.com/pghaul/pghaul/internal/heap"
)

func phrases(size int) string {
	return strings.Repeat("the quick brown fox jumps over the lazy dog, 1234567890; ", size/57+1)[:size]
}

// runs are single bytes again and again: references that overlap themselves.
func runs(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString(strings.Repeat(string(rune('a'+i%26)), 1+i*37%400))
	}
	return b.String()[:size]
}

func noise(size int) string {
	random := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return string(b)
}

// pglz compresses in the plainest way there is: the longest match of all.
func pglz(raw []byte) []byte {
	var out []byte
	for at := 0; at < len(raw); {
		control := len(out)
		out = append(out, 0)
		for bit := 0; bit < 8 && at < len(raw); bit++ {
			length, offset := longestMatch(raw, at)
			if length < 3 {
				out = append(out, raw[at])
				at++
				continue
			}
			out[control] |= 1 << bit
			out = append(out, byte(offset>>8<<4|min(length-3, 15)), byte(offset))
			if length >= 18 {
				out = append(out, byte(length-18))
			}
			at += length
		}
	}
	return out
}

func longestMatch(raw []byte, at int) (length, offset int) {
	for back := 1; back <= min(at, 4095); back++ {
		n := 0
		for n < 273 && at+n < len(raw) && raw[at+n] == raw[at-back+n] {
			n++
		}
		if n > length {
			length, offset = n, back
		}
	}
	return length, offset
}

func TestDecompressGivesTheValueBack(t *testing.T) {
	for name, raw := range map[string]string{
		"one byte": "x", "a run": strings.Repeat("x", 1000), "phrases": phrases(9000), "runs": runs(9000), "noise": noise(5000),
		"far references": noise(4095) + noise(300), "mixed": noise(13) + strings.Repeat("ab", 9) + noise(21),
	} {
		packed := pglz([]byte(raw))
		out, err := heap.Decompress([]byte("before"), heap.PGLZ, packed, len(raw))
		if err != nil || string(out) != "before"+raw {
			t.Errorf("%s: pglz gave %d bytes for %d (%v)", name, len(out)-6, len(raw), err)
		}
		block := make([]byte, lz4.CompressBlockBound(len(raw)))
		n, err := lz4.CompressBlock([]byte(raw), block, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			continue // not worth compressing
		}
		out, err = heap.Decompress([]byte("before"), heap.LZ4, block[:n], len(raw))
		if err != nil || string(out) != "before"+raw {
			t.Errorf("%s: lz4 gave %d bytes for %d (%v)", name, len(out)-6, len(raw), err)
		}
	}
}

func TestDecompressRefusesDamage(t *testing.T) {
	text := phrases(600)
	packed := pglz([]byte(text))
	for _, c := range []struct {
		name   string
		method heap.Compression
		src    []byte
		size   int
		reason string
	}{
		{"too short", heap.PGLZ, packed[:len(packed)-1], 600, ""},
		{"something behind", heap.PGLZ, append(bytes.Clone(packed), 0), 600, "not the 600"},
		{"a size too large", heap.PGLZ, packed, 601, "not the 601"},
		{"a size too small", heap.PGLZ, packed, 60, "not the 60"},
		{"a size that cannot be", heap.PGLZ, packed[:10], 1 << 29, "cannot stand for"},
		{"a size beyond all", heap.PGLZ, packed, 1<<30 + 1, "cannot be"},
		{"no size", heap.PGLZ, packed, 0, "cannot be"},
		{"a negative size", heap.LZ4, packed, -1, "cannot be"},
		{"a reference to before the start", heap.PGLZ, []byte{2, 'a', 0, 2, 'b'}, 5, "before its start"},
		{"a reference to itself", heap.PGLZ, []byte{2, 'a', 0, 0, 'b'}, 5, "before its start"},
		{"half a reference", heap.PGLZ, []byte{2, 'a', 0}, 4, "is cut"},
		{"a reference without its length", heap.PGLZ, []byte{2, 'a', 15, 1}, 40, "is cut"},
		{"no LZ4 block", heap.LZ4, []byte(noise(50)), 600, "LZ4"},
		{"an LZ4 block of another size", heap.LZ4, []byte{0x10, 'a'}, 3, "not the 3"},
		{"an LZ4 size that cannot be", heap.LZ4, []byte{0x10, 'a'}, 1 << 29, "cannot stand for"},
		{"no method", heap.NoCompression, packed, 600, "is not known"},
	} {
		out, err := heap.Decompress([]byte("before"), c.method, c.src, c.size)
		if err == nil || !strings.Contains(err.Error(), c.reason) || string(out) != "before" {
			t.Errorf("%s: gave %q and the error %v, want %q", c.name, out, err, c.reason)
		}
	}
}

// FuzzPGLZ compresses and decompresses, and then damages a byte: the result has the wanted size, or is an error.
func FuzzPGLZ(f *testing.F) {
	f.Add([]byte(phrases(300)), uint16(9), byte(1))
	f.Add([]byte(runs(900)), uint16(3), byte(0x80))
	f.Add([]byte(noise(40)), uint16(0), byte(0xFF))
	f.Fuzz(func(t *testing.T, raw []byte, at uint16, change byte) {
		if len(raw) == 0 || len(raw) > 5000 {
			return
		}
		packed := pglz(raw)
		if out, err := heap.Decompress(nil, heap.PGLZ, packed, len(raw)); err != nil || !bytes.Equal(out, raw) {
			t.Fatalf("%q became %q (%v)", raw, out, err)
		}
		packed[int(at)%len(packed)] ^= change
		if out, err := heap.Decompress(nil, heap.PGLZ, packed, len(raw)); err == nil && len(out) != len(raw) {
			t.Fatalf("%d bytes were wanted, %d came without an error", len(raw), len(out))
		}
	})
}
