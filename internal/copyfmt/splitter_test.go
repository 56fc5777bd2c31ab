package copyfmt

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// cut splits a stream into blocks whose sizes are given by sizes, over and
// over.
func cut(stream, sizes []byte) (blocks [][]byte) {
	for i := 0; len(stream) > 0; i++ {
		n := len(stream)
		if len(sizes) > 0 {
			n = min(n, int(sizes[i%len(sizes)])+1)
		}
		blocks = append(blocks, stream[:n])
		stream = stream[n:]
	}
	return blocks
}

// splitAll returns where the last row end is and how many rows there are.
func splitAll(s Splitter, blocks [][]byte) (end int, rows int64, err error) {
	at := 0
	for _, block := range blocks {
		e, n, err := s.Split(block)
		if e > 0 {
			end = at + e
		}
		rows += n
		if err != nil {
			return end, rows, err
		}
		at += len(block)
	}
	return end, rows, nil
}

func TestTextSplitter(t *testing.T) {
	tests := []struct {
		in   string
		end  int
		rows int64
	}{
		{"", 0, 0},
		{"a", 0, 0},
		{"\n", 1, 1},
		{"a\nb\nc", 4, 2},
		{"a\r\nb\r\n", 6, 2},
		{"a\\\\\nb\n", 6, 2},
		{"a\\\nb\n", 5, 1},
		{"a\n\\\n", 2, 1},
		{"\\\\\\\n\n", 5, 1},
		{"\\\n\\\n\\\n", 0, 0},
		{"\n\n\n", 3, 3},
		{"a\\n\n\\t\n", 7, 2},
	}
	for _, tt := range tests {
		for size := range len(tt.in) + 1 {
			s := NewTextSplitter()
			end, rows, err := splitAll(s, cut([]byte(tt.in), []byte{byte(size)}))
			if end != tt.end || rows != tt.rows || err != nil || s.Whole() != (end == len(tt.in)) {
				t.Errorf("%q in blocks of %d: end %d, %d rows, %v, whole %v; want %d, %d",
					tt.in, size+1, end, rows, err, s.Whole(), tt.end, tt.rows)
			}
		}
	}
}

// sampleBinary has a header, rows with fields of all kinds, and a trailer.
func sampleBinary() (stream []byte, rows [][][]byte) {
	rows = [][][]byte{
		{[]byte("one"), nil, {}},
		{},
		{nil},
		{bytes.Repeat([]byte("x"), 70)},
		{{0xff, 0xff}, {0, 0, 0, 1}},
	}
	stream = AppendBinaryHeader(nil)
	for _, r := range rows {
		stream = AppendBinaryRow(stream, r)
	}
	return AppendBinaryTrailer(stream), rows
}

func TestBinarySplitter(t *testing.T) {
	stream, sample := sampleBinary()
	for size := range 128 {
		s := NewSplitter(true)
		end, rows, err := splitAll(s, cut(stream, []byte{byte(size)}))
		if end != len(stream) || rows != int64(len(sample)) || err != nil || !s.Whole() {
			t.Errorf("blocks of %d: end %d of %d, %d rows, %v", size+1, end, len(stream), rows, err)
		}
	}
	ends := []int{0, 19}
	at := AppendBinaryHeader(nil)
	for _, r := range sample {
		at = AppendBinaryRow(at, r)
		ends = append(ends, len(at))
	}
	for n := range len(stream) - 1 {
		s := NewBinarySplitter()
		end, rows, err := s.Split(stream[:n])
		whole := end == n && n > 0
		last := 0
		for i, e := range ends {
			if e <= n {
				last = i
			}
		}
		if end != ends[last] || rows != int64(max(last-1, 0)) || err != nil || s.Whole() != whole {
			t.Errorf("cut at %d: end %d, %d rows, %v, whole %v; want end %d", n, end, rows, err, s.Whole(), ends[last])
		}
	}
}

func TestBinarySplitterExtension(t *testing.T) {
	stream := []byte("PGCOPY\n\xff\r\n\x00\x00\x00\xff\xff\x00\x00\x00\x03abc\x00\x00\xff\xff")
	for size := range stream {
		s := NewBinarySplitter()
		end, rows, err := splitAll(s, cut(stream, []byte{byte(size)}))
		if end != len(stream) || rows != 1 || err != nil {
			t.Errorf("blocks of %d: end %d, %d rows, %v", size+1, end, rows, err)
		}
	}
}

func TestBinarySplitterRefuses(t *testing.T) {
	head := string(AppendBinaryHeader(nil))
	tests := []struct {
		name, in string
		row      int64
	}{
		{"text", "1\tone\n2\ttwo\n3\tthree\n", 0},
		{"line ends changed", "PGCOPY\n\xff\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 0},
		{"with OIDs", head[:11] + "\x00\x01\x00\x00\x00\x00\x00\x00", 0},
		{"huge extension", head[:15] + "\x7f\xff\xff\xff", 0},
		{"negative extension", head[:15] + "\xff\xff\xff\xff", 0},
		{"field count -2", head + "\x00\x00\xff\xfe", 2},
		{"field length -2", head + "\x00\x01\xff\xff\xff\xfe", 1},
		{"more after the end", head + "\xff\xff\x00", 1},
	}
	for _, tt := range tests {
		for size := range len(tt.in) {
			s := NewBinarySplitter()
			_, _, err := splitAll(s, cut([]byte(tt.in), []byte{byte(size)}))
			var fe *FormatError
			if !errors.As(err, &fe) || fe.Row != tt.row {
				t.Errorf("%s in blocks of %d: %v", tt.name, size+1, err)
				continue
			}
			if _, _, again := s.Split([]byte("x")); !errors.Is(again, err) || s.Whole() {
				t.Errorf("%s: the error does not stick: %v", tt.name, again)
			}
		}
	}
}

func FuzzSplitter(f *testing.F) {
	stream, _ := sampleBinary()
	f.Add(stream, []byte{0, 3, 17})
	f.Add([]byte("a\\\nb\\\\\nc"), []byte{0})
	f.Add(append(AppendBinaryHeader(nil), "\x7f\xff\x7f\xff\xff\xff"...), []byte{})
	f.Fuzz(func(t *testing.T, in, sizes []byte) {
		checkTextSplit(t, in, sizes)
		s := NewBinarySplitter()
		end, rows, err := splitAll(s, cut(in, sizes))
		want, ok := naiveBinary(string(in))
		if rows != int64(len(want)) {
			t.Fatalf("binary: %d rows, want %d", rows, len(want))
		}
		if ok != (err == nil && s.Whole()) {
			t.Fatalf("binary: error %v, whole %v; the oracle says %v", err, s.Whole(), ok)
		}
		if err == nil && s.Whole() && end != len(in) {
			t.Fatalf("binary: whole, but ends at %d of %d", end, len(in))
		}
	})
}

func checkTextSplit(t *testing.T, in, sizes []byte) {
	t.Helper()
	wantEnd, wantRows := 0, int64(0)
	for i := 0; i < len(in); i++ {
		switch in[i] {
		case '\\':
			i++
		case '\n':
			wantEnd, wantRows = i+1, wantRows+1
		}
	}
	end, rows, err := splitAll(NewTextSplitter(), cut(in, sizes))
	if end != wantEnd || rows != wantRows || err != nil {
		t.Fatalf("text: end %d, %d rows, %v; want %d, %d", end, rows, err, wantEnd, wantRows)
	}
}

func BenchmarkTextSplitter(b *testing.B) {
	row := []byte("12345678\t2024-11-30\t4711\tsome text\n")
	benchmarkSplit(b, NewTextSplitter(), bytes.Repeat(row, 2<<20/len(row)))
}

func BenchmarkBinarySplitter(b *testing.B) {
	row := AppendBinaryRow(nil, [][]byte{make([]byte, 8), make([]byte, 4), make([]byte, 4), make([]byte, 9)})
	s := NewBinarySplitter()
	if _, _, err := s.Split(AppendBinaryHeader(nil)); err != nil {
		b.Fatal(err)
	}
	benchmarkSplit(b, s, bytes.Repeat(row, 2<<20/len(row)))
}

func benchmarkSplit(b *testing.B, s Splitter, stream []byte) {
	b.Helper()
	b.SetBytes(int64(len(stream)))
	total := int64(0)
	for b.Loop() {
		_, rows, err := splitAll(s, cut(stream[:64<<10], nil))
		for from := 64 << 10; from < len(stream) && err == nil; from += 64 << 10 {
			var n int64
			_, n, err = s.Split(stream[from:min(from+64<<10, len(stream))])
			rows += n
		}
		if err != nil {
			b.Fatal(err)
		}
		total += rows
	}
	b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "rows/s")
}

// blocksReader gives out one block for each Read.
type blocksReader struct{ blocks [][]byte }

func (r *blocksReader) Read(p []byte) (int, error) {
	if len(r.blocks) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.blocks[0])
	if r.blocks[0] = r.blocks[0][n:]; len(r.blocks[0]) == 0 {
		r.blocks = r.blocks[1:]
	}
	return n, nil
}
