package copyfmt

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
)

// repeated gives n times the byte c without holding them.
func repeated(c byte, n int64) io.Reader {
	return io.LimitReader(endless(bytes.Repeat([]byte{c}, 64<<10)), n)
}

type endless []byte

func (e endless) Read(p []byte) (int, error) { return copy(p, e), nil }

// largeStream has a small row, one of size bytes in its second field, and a
// small row again.
func largeStream(binary bool, size int64) io.Reader {
	if !binary {
		return io.MultiReader(strings.NewReader("1\tone\n2\t"), repeated('x', size), strings.NewReader("\n3\tthree\n"))
	}
	small := func(dst []byte, id, value string) []byte {
		return AppendBinaryRow(dst, [][]byte{[]byte(id), []byte(value)})
	}
	start := small(AppendBinaryHeader(nil), "1", "one")
	start = AppendBinaryField(AppendBinaryTuple(start, 2), []byte("2"))
	start = append(start, byte(size>>24), byte(size>>16), byte(size>>8), byte(size))
	return io.MultiReader(bytes.NewReader(start), repeated('x', size),
		bytes.NewReader(AppendBinaryTrailer(small(nil, "3", "three"))))
}

func TestLargeRow(t *testing.T) {
	const size = 20 << 20
	for _, binary := range []bool{false, true} {
		overhead := int64(len("2\t\n"))
		if binary {
			overhead = 2 + 4 + 1 + 4
		}
		for _, read := range []int64{-1, 0, 1000} {
			r := NewReader(largeStream(binary, size), binary, 2, 0)
			checkNext(t, r, "1", "one")
			row, err := r.Next()
			if err != nil || !row.Large || len(row.Fields) > 0 {
				t.Fatalf("binary %v: row %+v, %v", binary, row, err)
			}
			large := r.LargeRow()
			if n, err := copySome(large, read); err != nil || read < 0 && n != size+overhead {
				t.Fatalf("binary %v: %d bytes, %v", binary, n, err)
			}
			checkNext(t, r, "3", "three")
			if n, err := large.Read(make([]byte, 10)); n != 0 || !errors.Is(err, io.EOF) {
				t.Errorf("binary %v: the large row still gives %d bytes, %v", binary, n, err)
			}
			if _, err := r.Next(); !errors.Is(err, io.EOF) || r.Rows() != 3 {
				t.Errorf("binary %v: at the end: %v after %d rows", binary, err, r.Rows())
			}
		}
	}
}

// copySome reads n bytes, or all for -1.
func copySome(r io.Reader, n int64) (int64, error) {
	if n < 0 {
		return io.Copy(io.Discard, r)
	}
	return io.CopyN(io.Discard, r, n)
}

func checkNext(t *testing.T, r Reader, want ...string) {
	t.Helper()
	row, err := r.Next()
	if err != nil || row.Large || strings.Join(texts(row.Fields), "|") != strings.Join(want, "|") {
		t.Fatalf("row %+v, %v; want %q", row, err, want)
	}
}

func TestLimitIsExact(t *testing.T) {
	for _, tt := range []struct {
		size  int
		large bool
	}{{99, false}, {100, true}} {
		in := strings.Repeat("x", tt.size) + "\n"
		for size := range 110 {
			r := NewTextReader(&blocksReader{cut([]byte(in), []byte{byte(size)})}, 1, 100)
			row, err := r.Next()
			if err != nil || row.Large != tt.large {
				t.Errorf("%d bytes in blocks of %d: %+v, %v", tt.size, size+1, row, err)
			}
		}
	}
}

func TestMemoryIsBounded(t *testing.T) {
	for _, binary := range []bool{false, true} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := NewReader(largeStream(binary, 300<<20), binary, 2, 0)
		large := 0
		for {
			row, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if row.Large {
				large++
			}
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 5*DefaultLimit {
			t.Errorf("binary %v: %d bytes were allocated, more than %d", binary, got, 5*DefaultLimit)
		}
		if r.Rows() != 3 || large != 1 {
			t.Errorf("binary %v: %d rows, %d large", binary, r.Rows(), large)
		}
	}
}

// TestBufferGrowsOnce reads rows just below the limit: the reader must keep
// within what it promises and make no garbage by row.
func TestBufferGrowsOnce(t *testing.T) {
	row := AppendTextRow(nil, [][]byte{[]byte("1"), bytes.Repeat([]byte(`\`), 400_000)})
	r := NewTextReader(bytes.NewReader(bytes.Repeat(row, 10)), 2, 0)
	first := testing.AllocsPerRun(5, func() {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	})
	if first > 1 {
		t.Errorf("%v allocations for each row", first)
	}
	if held := len(r.buf) + cap(r.scratch); held > 5*DefaultLimit {
		t.Errorf("%d bytes are held", held)
	}
}
