package copyfmt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

// readAll decodes a stream; large rows are taken whole and decoded here.
func readAll(t testing.TB, r Reader, binary bool) (rows [][]string, large int, err error) {
	t.Helper()
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return rows, large, nil
		}
		if err != nil {
			return rows, large, err
		}
		if !row.Large {
			rows = append(rows, texts(row.Fields))
			continue
		}
		large++
		raw, err := io.ReadAll(r.LargeRow())
		if err != nil {
			return rows, large, err
		}
		one, ok := naiveText(string(raw))
		if binary {
			one, ok = naiveBinary(string(AppendBinaryHeader(nil)) + string(raw))
		}
		if len(one) == 1 && ok {
			rows = append(rows, one...)
			continue
		}
		return rows, large, fmt.Errorf("the large row %q is not one row", raw)
	}
}

func texts(fields [][]byte) []string {
	row := make([]string, len(fields))
	for i, f := range fields {
		row[i] = string(f)
		if f == nil {
			row[i] = null
		}
	}
	return row
}

func TestTextReader(t *testing.T) {
	tests := []struct {
		name, in string
		columns  int
		rows     [][]string
		problem  string
	}{
		{"nothing", "", 1, nil, ""},
		{"one", "a\n", 1, [][]string{{"a"}}, ""},
		{"no last newline", "a\nb", 1, [][]string{{"a"}, {"b"}}, ""},
		{"empty and NULL", "\t\\N\n", 2, [][]string{{"", null}}, ""},
		{"one empty column", "\n\n", 1, [][]string{{""}, {""}}, ""},
		{"zero columns", "\n\n", 0, [][]string{{}, {}}, ""},
		{"zero columns, data", "\nx\n", 0, [][]string{{}}, "extra data after last expected column"},
		{"escapes", `\x41\101\t\\` + "\t" + `a\N` + "\n", 2, [][]string{{"AA\t\\", "aN"}}, ""},
		{"value backslash dot", `\\.` + "\n", 1, [][]string{{`\.`}}, ""},
		{"escaped tab and newline", "a\\\tb\\\nc\td\n", 2, [][]string{{"a\tb\nc", "d"}}, ""},
		{"end marker", "a\n\\.\nb\n", 1, [][]string{{"a"}}, ""},
		{"end marker, no newline", "a\n\\.", 1, [][]string{{"a"}}, ""},
		{"end marker after data", "a\nb\\.\n", 1, [][]string{{"a"}}, "end-of-copy marker is not alone on its line"},
		{"end marker before data", "\\.b\n", 1, nil, "end-of-copy marker is not alone on its line"},
		{"lone backslash at the end", "a\n\\N\\", 1, [][]string{{"a"}, {null}}, ""},
		{"CRLF", "a\r\nb\\r\r\n\r\n", 1, [][]string{{"a"}, {"b\r"}, {""}}, ""},
		{"CR", "a\rb\r\rc", 1, [][]string{{"a"}, {"b"}, {""}, {"c"}}, ""},
		{"one line by CR", "a\r", 1, [][]string{{"a"}}, ""},
		{"escaped CR", "a\\\r\n", 1, [][]string{{"a\r"}}, ""},
		{"CR among LF", "a\nb\rc\n", 1, [][]string{{"a"}}, "literal carriage return found in data"},
		{"CRLF among LF", "a\nb\r\n", 1, [][]string{{"a"}}, "literal carriage return found in data"},
		{"LF among CRLF", "a\r\nb\n", 1, [][]string{{"a"}}, "literal newline found in data"},
		{"CR and LF among CRLF", "a\r\nb\rc\n", 1, [][]string{{"a"}}, "literal carriage return found in data"},
		{"LF among CR", "a\rb\nc\r", 1, [][]string{{"a"}}, "literal newline found in data"},
		{"CR among CRLF", "a\r\nb\rc\r\n", 1, [][]string{{"a"}}, "literal carriage return found in data"},
		{"too many", "a\tb\n1\t2\t3\n", 2, [][]string{{"a", "b"}}, "extra data after last expected column"},
		{"too few", "a\tb\n1\n", 2, [][]string{{"a", "b"}}, "missing data for column"},
		{"any number", "a\tb\n1\n", -1, [][]string{{"a", "b"}, {"1"}}, ""},
		{"bytes of no encoding", "\xff\x00\t\xc3\n", 2, [][]string{{"\xff\x00", "\xc3"}}, ""},
	}
	for _, tt := range tests {
		for size := range len(tt.in) + 1 {
			r := NewTextReader(&blocksReader{cut([]byte(tt.in), []byte{byte(size)})}, tt.columns, 0)
			rows, _, err := readAll(t, r, false)
			if !reflect.DeepEqual(rows, tt.rows) {
				t.Errorf("%s in blocks of %d: rows %q, want %q", tt.name, size+1, rows, tt.rows)
			}
			checkProblem(t, tt.name, err, tt.problem, int64(len(tt.rows)+1))
			if r.Rows() != int64(len(tt.rows)) {
				t.Errorf("%s: Rows is %d", tt.name, r.Rows())
			}
			if err == nil {
				continue
			}
			if _, again := r.Next(); !errors.Is(again, err) {
				t.Errorf("%s: the error does not stick: %v", tt.name, again)
			}
		}
	}
}

func checkProblem(t *testing.T, name string, err error, want string, row int64) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return
	}
	var fe *FormatError
	if !errors.As(err, &fe) || fe.Problem != want || fe.Row != row {
		t.Errorf("%s: error %v, want %q in row %d", name, err, want, row)
	}
}

func TestTextReaderPlaceOfError(t *testing.T) {
	r := NewTextReader(strings.NewReader("1\t2\n3\t4\t5\n"), 2, 0)
	_, _, err := readAll(t, r, false)
	var fe *FormatError
	if !errors.As(err, &fe) || fe.Row != 2 || fe.Field != 3 || fe.Offset != 4 {
		t.Errorf("error %+v", fe)
	}
	if want := "COPY row 2, column 3: extra data after last expected column"; err.Error() != want {
		t.Errorf("error reads %q", err)
	}
}

func TestBinaryReader(t *testing.T) {
	stream, sample := sampleBinary()
	var want [][]string
	for _, r := range sample {
		want = append(want, texts(r))
	}
	for size := range 128 {
		for _, limit := range []int{0, 1, 20} {
			r := NewReader(&blocksReader{cut(stream, []byte{byte(size)})}, true, -1, limit)
			rows, _, err := readAll(t, r, true)
			if err != nil || !reflect.DeepEqual(rows, want) || r.Rows() != int64(len(want)) {
				t.Errorf("blocks of %d, limit %d: rows %q, %v", size+1, limit, rows, err)
			}
		}
	}
	// Cut anywhere but behind a row, it is an error that tells of the cut.
	for n := range stream {
		s := NewBinarySplitter()
		_, _, _ = s.Split(stream[:n])
		for _, limit := range []int{0, 1} {
			_, _, err := readAll(t, NewBinaryReader(bytes.NewReader(stream[:n]), -1, limit), true)
			if s.Whole() != (err == nil) || err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("cut at %d, limit %d: %v", n, limit, err)
			}
		}
	}
}

func TestBinaryReaderRefuses(t *testing.T) {
	head := string(AppendBinaryHeader(nil))
	tests := []struct {
		name, in, problem string
		row               int64
	}{
		{"too few fields", head + "\x00\x00", "row has 0 fields, expected 1", 1},
		{"too many fields", head + "\x00\x02\xff\xff\xff\xff\xff\xff\xff\xff", "row has 2 fields, expected 1", 1},
		{"more after the end", head + "\xff\xffx", "data after the end marker", 1},
		{"no header", "x", "the stream ends inside of it", 0},
		{"empty", "", "the stream ends inside of it", 0},
		{"field length", head + "\x00\x01\x80\x00\x00\x00", "invalid field length -2147483648", 1},
	}
	for _, tt := range tests {
		r := NewBinaryReader(strings.NewReader(tt.in), 1, 0)
		_, _, err := readAll(t, r, true)
		checkProblem(t, tt.name, err, tt.problem, tt.row)
	}
}

func TestManyColumns(t *testing.T) {
	fields := make([][]byte, 1600)
	for i := range fields {
		if i%3 != 0 {
			fields[i] = fmt.Appendf(nil, "%d\t\\", i)
		}
	}
	text := AppendTextRow(nil, fields)
	bin := AppendBinaryRow(AppendBinaryHeader(nil), fields)
	for _, tt := range []struct {
		in     []byte
		binary bool
	}{{text, false}, {bin, true}} {
		row, err := NewReader(bytes.NewReader(tt.in), tt.binary, 1600, 0).Next()
		if err != nil || !reflect.DeepEqual(row.Fields, fields) {
			t.Errorf("binary %v: %v", tt.binary, err)
		}
	}
}

func TestFieldsDoNotOverlap(t *testing.T) {
	for _, in := range []string{"a\tb\tc\n", "a\\\\\tb\\\\\tc\\\\\n"} {
		row, err := NewTextReader(strings.NewReader(in), 3, 0).Next()
		if err != nil {
			t.Fatal(err)
		}
		want := texts(row.Fields)
		for _, f := range row.Fields {
			_ = append(f, "XXX"...)
		}
		if got := texts(row.Fields); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: appending to one field changed others: %q", in, got)
		}
	}
}

func TestSourceErrors(t *testing.T) {
	broken := errors.New("connection reset")
	for _, binary := range []bool{false, true} {
		start := AppendTextRow(nil, [][]byte{[]byte("1")})
		if binary {
			start = AppendBinaryRow(AppendBinaryHeader(nil), [][]byte{[]byte("1")})
		}
		// An error that wraps io.EOF must not pass for the end of the data.
		for cause, want := range map[error]error{broken: broken, fmt.Errorf("read: %w", io.EOF): io.ErrUnexpectedEOF} {
			r := NewReader(io.MultiReader(bytes.NewReader(start), &failing{cause}), binary, 1, 0)
			if _, err := r.Next(); err != nil {
				t.Errorf("binary %v: first row: %v", binary, err)
			}
			if _, err := r.Next(); errors.Is(err, io.EOF) || !errors.Is(err, want) {
				t.Errorf("binary %v: %v came out as %v", binary, cause, err)
			}
		}
		if _, err := NewReader(idle{}, binary, 1, 0).Next(); !errors.Is(err, io.ErrNoProgress) {
			t.Errorf("binary %v: a source that gives nothing: %v", binary, err)
		}
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// idle gives nothing and no error.
type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func FuzzReader(f *testing.F) {
	stream, _ := sampleBinary()
	f.Add(stream, []byte{0, 3, 17}, uint8(30))
	f.Add([]byte("a\\\tb\\\nc\t\\N\r\nd\r\n"), []byte{0}, uint8(3))
	f.Add([]byte("a\rb\r\\.\rc"), []byte{1}, uint8(0))
	f.Add([]byte("\\x41\\101\\b\\\\.\n\\."), []byte{9, 0}, uint8(200))
	f.Fuzz(func(t *testing.T, in, sizes []byte, limit uint8) {
		for _, binary := range []bool{false, true} {
			want, ok := naiveText(string(in))
			if binary {
				want, ok = naiveBinary(string(in))
			}
			r := NewReader(&blocksReader{cut(in, sizes)}, binary, -1, int(limit)+1)
			got, large, err := readAll(t, r, binary)
			if large > 0 && (err != nil || !ok) {
				continue // what is in large rows is not checked
			}
			if (err == nil) != ok || len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
				t.Fatalf("binary %v: got %q, %v; want %q, %v", binary, got, err, want, ok)
			}
		}
	})
}

func BenchmarkTextReader(b *testing.B) {
	row := []byte("12345678\t2024-11-30\t4711\tsome text\n")
	benchmarkReader(b, false, bytes.Repeat(row, 2<<20/len(row)))
}

func BenchmarkBinaryReader(b *testing.B) {
	row := AppendBinaryRow(nil, [][]byte{make([]byte, 8), make([]byte, 4), make([]byte, 4), make([]byte, 9)})
	benchmarkReader(b, true, append(AppendBinaryHeader(nil), bytes.Repeat(row, 2<<20/len(row))...))
}

func benchmarkReader(b *testing.B, binary bool, stream []byte) {
	b.Helper()
	b.SetBytes(int64(len(stream)))
	total := int64(0)
	for b.Loop() {
		r := NewReader(bytes.NewReader(stream), binary, 4, 0)
		for {
			if _, err := r.Next(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
		total += r.Rows()
	}
	b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "rows/s")
}
