package heap

import (
	"strings"
	"testing"
)

// perTuple reports the time of one tuple: it decides the speed of a dump.
func perTuple(b *testing.B, tuples int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(tuples)/float64(b.N), "ns/tuple")
}

func BenchmarkWalk(b *testing.B) {
	page := seedPage()
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	var values []Value
	for b.Loop() {
		for n := 1; n <= page.Lines(); n++ {
			t, err := page.Tuple(n)
			if err != nil {
				b.Fatal(err)
			}
			if v, err := Judge(t, nil); v != Live || err != nil {
				b.Fatal(v, err)
			}
			if values, err = t.Values(seedAttrs, values); err != nil {
				b.Fatal(err)
			}
		}
	}
	perTuple(b, page.Lines())
}

func BenchmarkCheck(b *testing.B) {
	page := seedPage()
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		if faults := page.Check(0, seedAttrs, false); len(faults) != 0 {
			b.Fatal(faults)
		}
	}
}

func BenchmarkChecksum(b *testing.B) {
	page := seedPage()
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		Checksum(page, 5)
	}
}

func BenchmarkDecompress(b *testing.B) {
	text := []byte(strings.Repeat("the quick brown fox jumps over the lazy dog, 1234567890; ", 80))
	var runs strings.Builder
	for i := range 300 {
		runs.WriteString(strings.Repeat(string(rune('a'+i%26)), 1+i%40))
	}
	for name, raw := range map[string][]byte{"phrases": text, "runs": []byte(runs.String())} {
		packed := pglz(raw)
		b.Run("pglz/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			dst := make([]byte, 0, len(raw))
			for b.Loop() {
				if _, err := Decompress(dst[:0], PGLZ, packed, len(raw)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// pglz compresses in the plainest way there is: the longest match by looking at all offsets.
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
