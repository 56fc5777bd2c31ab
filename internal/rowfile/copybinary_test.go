package rowfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/copyfmt"
)

func binaryRows(rows ...[]string) []byte {
	b := copyfmt.AppendBinaryHeader(nil)
	for _, row := range rows {
		var fields [][]byte
		for _, f := range row {
			if f == "~" {
				fields = append(fields, nil)
				continue
			}
			fields = append(fields, []byte(f))
		}
		b = copyfmt.AppendBinaryRow(b, fields)
	}
	return b
}

func TestCopyBinary(t *testing.T) {
	var rows [][]string
	var want []string
	for i := range 30_000 {
		row := []string{fmt.Sprint(i), strings.Repeat("x", i%50), "~"}
		rows = append(rows, row)
		want = append(want, strings.Join(row, "|"))
	}
	whole := copyfmt.AppendBinaryTrailer(binaryRows(rows...))
	in := opened(t, nil, Layout{}, fileOf(t, "f", whole))
	if in.Width() != 3 || in.Describe() != "COPY binary" {
		t.Errorf("width %d, %s", in.Width(), in.Describe())
	}
	got, blocks, err := drain(t, in, 0, Position{})
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%d rows, error %v", len(got), err)
	}
	for _, b := range blocks {
		rest, _, err := drain(t, in, 0, b.Next)
		if err != nil || !slices.Equal(rest, want[b.Next.Row:]) {
			t.Fatalf("from %+v: %d rows, error %v", b.Next, len(rest), err)
		}
	}
	in = opened(t, nil, Layout{Skip: 2, Limit: 3}, fileOf(t, "f", whole))
	mustEqual(t, "limited rows", allRows(t, in), want[2:5])
	in = opened(t, nil, Layout{}, fileOf(t, "f", binaryRows(rows...)))
	if got := allRows(t, in); !slices.Equal(got, want) {
		t.Errorf("without trailer: %d rows", len(got))
	}
	_, err = in.Infer(t.Context(), 0)
	mustFail(t, err, "do not say what types")
}

func TestCopyBinaryRefused(t *testing.T) {
	good := binaryRows([]string{"a", "b"}, []string{"c", "d"})
	cases := []struct {
		name    string
		content []byte
		words   []string
	}{
		{"cut header", good[:15], []string{"header", "cut off"}},
		{"critical flags", append(append([]byte(binarySignature), 0, 1, 0, 0), 0, 0, 0, 0), []string{"flags 0x10000"}},
		{"cut row", good[:len(good)-1], []string{"cut off", "The rows up to byte"}},
		{"cut count", good[:len(good)-13], []string{"cut off"}},
		{"data behind the trailer", append(copyfmt.AppendBinaryTrailer(bytes.Clone(good)), 0), []string{"after EOF marker"}},
		{"negative count", append(bytes.Clone(good), 0x80, 0), []string{"-32768 fields"}},
		{"negative length", append(bytes.Clone(good), 0, 1, 0xff, 0xff, 0xff, 0), []string{"-256 bytes"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			in, err := Open(t.Context(), []string{fileOf(t, "f", c.content)}, nil, Layout{Format: Binary})
			if err == nil {
				defer in.Close()
				_, _, err = drain(t, in, 0, Position{})
			}
			mustFail(t, err, c.words...)
		})
	}
	in := opened(t, nil, Layout{}, fileOf(t, "f", binaryRows([]string{"a", "b"}, []string{"c"}, []string{"d", "e"})))
	mustEqual(t, "rows", allRows(t, in), []string{"a|b", "!22P04 row field count is 1, expected 2|", "d|e"})
}

func TestCopyBinaryLargeRow(t *testing.T) {
	text := strings.Repeat("0123456789", LargeRow/10)
	content := copyfmt.AppendBinaryTrailer(binaryRows([]string{"a", "b", "c"}, []string{text, "~", text + "x"}, []string{"d", "e", "f"}))
	in := opened(t, nil, Layout{}, fileOf(t, "f", content))
	rows, blocks, err := drain(t, in, 0, Position{})
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "rows", rows, []string{"a|b|c", fmt.Sprintf("large %d", 2+3*4+2*len(text)+1), "d|e|f"})
	fields, bad := in.Parser().LargeFields(blocks[1])
	if bad != nil {
		t.Fatal(bad)
	}
	for i, want := range []string{text, "", text + "x"} {
		if i == 1 {
			if !fields[1].Null {
				t.Error("NULL is not NULL")
			}
			continue
		}
		got, err := io.ReadAll(fields[i].Open())
		if err != nil || string(got) != want || fields[i].Size != int64(len(want)) {
			t.Errorf("field %d: %d bytes, error %v", i, len(got), err)
		}
	}
	rest, _, err := drain(t, in, 0, blocks[1].Next)
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "the rest", rest, []string{"d|e|f"})
	in = opened(t, nil, Layout{}, fileOf(t, "f", content[:len(content)-LargeRow/2]))
	_, _, err = drain(t, in, 0, Position{})
	mustFail(t, err, "cut off")
}

// FuzzCopyBinary: no bytes make the reading panic, and rows that are read are those that copyfmt's reader sees.
func FuzzCopyBinary(f *testing.F) {
	f.Add(copyfmt.AppendBinaryTrailer(binaryRows([]string{"a", "b"}, []string{"~", "d"})))
	f.Add([]byte("\x00\x0000\x00\x0000")) // an extension that is not there
	f.Fuzz(func(t *testing.T, content []byte) {
		if !bytes.HasPrefix(content, []byte(binarySignature)) {
			content = append([]byte(binarySignature), content...)
		}
		got, err := readBytes(t, content, Binary)
		r := copyfmt.NewReader(bytes.NewReader(content), true, -1, 0)
		var want []string
		row, naive := r.Next()
		for ; naive == nil; row, naive = r.Next() {
			want = append(want, rowText(&Row{Fields: row.Fields}))
		}
		if (err == nil) != errors.Is(naive, io.EOF) {
			t.Fatalf("error %v, copyfmt has %v", err, naive)
		}
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] && !strings.HasPrefix(got[i], "!22P04") {
				t.Fatalf("row %d: %q, want %q", i, got[i], want[i])
			}
		}
		if err == nil && len(got) != len(want) {
			t.Fatalf("%d rows, want %d", len(got), len(want))
		}
	})
}
