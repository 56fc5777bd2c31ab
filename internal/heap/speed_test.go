package heap_test

import (
	"testing"

	"github.com/pghaul/pghaul/internal/heap"
)

// seedAttrs are the columns of a common small row: (bigint, date, int, varchar).
var seedAttrs = []heap.Attribute{
	{Name: "id", Len: 8, Align: 'd', ByVal: true}, {Name: "day", Len: 4, Align: 'i', ByVal: true},
	{Name: "n", Len: 4, Align: 'i', ByVal: true}, {Name: "v", Len: -1, Align: 'i'},
}

// seedPage is full of such rows.
func seedPage() heap.Page {
	var rows []tuple
	for i := range 136 {
		data := le.AppendUint64(nil, uint64(i))
		data = le.AppendUint32(le.AppendUint32(data, 7000), uint32(i*7919))
		rows = append(rows, tuple{infomask: 0x0902, infomask2: 4, xmin: 700, data: append(data, 10<<1|1, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i')})
	}
	return makePage(rows...)
}

// BenchmarkWalk does with each tuple of a page what a dump does.
func BenchmarkWalk(b *testing.B) {
	page := seedPage()
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	var values []heap.Value
	for b.Loop() {
		for n := 1; n <= page.Lines(); n++ {
			t, err := page.Tuple(n)
			if err != nil {
				b.Fatal(err)
			}
			if v, err := heap.Judge(t, nil); v != heap.Live || err != nil {
				b.Fatal(v, err)
			}
			if values, err = t.Values(seedAttrs, values); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(page.Lines()*b.N), "ns/tuple")
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
		heap.Checksum(page, 5)
	}
}

func BenchmarkPGLZ(b *testing.B) {
	for name, raw := range map[string]string{"phrases": phrases(4500), "runs": runs(6000), "noise": noise(4000)} {
		packed := pglz([]byte(raw))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			dst := make([]byte, 0, len(raw))
			for b.Loop() {
				if _, err := heap.Decompress(dst[:0], heap.PGLZ, packed, len(raw)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
