package rowfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/pghaul/pghaul/planner"
)

// seen is what a test keeps of a row.
type seen struct {
	Fields string // each as %q, NULL as \N
	Bad    string
	Line   int64
	Offset int64
	Raw    string
}

// layoutOf completes a layout by a file's contents.
func layoutOf(t testing.TB, data []byte, l Layout) Layout {
	t.Helper()
	l, err := sniff(data[:min(len(data), 64<<10)], len(data) <= 64<<10, l)
	if err != nil {
		t.Fatalf("sniff: %v", err)
	}
	return l
}

func fieldsText(fields [][]byte) string {
	var s []string
	for _, f := range fields {
		if f == nil {
			s = append(s, `\N`)
			continue
		}
		s = append(s, fmt.Sprintf("%q", f))
	}
	return strings.Join(s, " ")
}

// rowsOf reads all rows of a file whose layout is known.
func rowsOf(t testing.TB, r io.Reader, l *Layout, from Position) ([]seen, []Position, error) {
	t.Helper()
	var rows []seen
	var places []Position
	c, p := newCutter(r, 0, "file", l, from), newTextParser(l)
	for {
		b, err := c.Next()
		if errors.Is(err, io.EOF) {
			return rows, places, nil
		}
		if err != nil {
			return rows, places, err
		}
		places = append(places, b.Begin)
		at, before := b.Begin.Offset, 0
		if b.Large != nil {
			rows = append(rows, largeRow(t, p, b))
			continue
		}
		n := int64(0)
		err = p.Parse(b, func(r *Row) error {
			at, before = at+c.size(b.Data[before:r.Start]), r.Start
			s := seen{Line: r.Line, Offset: at, Raw: string(p.Raw(b, r.Span))}
			if r.Number != n {
				t.Errorf("row %d has number %d", n, r.Number)
			}
			if n++; n < 10 && b.Offset(r.Span) != at {
				t.Errorf("row %d of a block is at %d, not at %d", n, b.Offset(r.Span), at)
			}
			if r.Bad != nil {
				s.Bad = r.Bad.State + " " + r.Bad.Message
			} else {
				s.Fields = fieldsText(r.Fields)
			}
			rows = append(rows, s)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Next.Row - b.Begin.Row; got != n {
			t.Errorf("a block of %d rows says it has %d", n, got)
		}
	}
}

func largeRow(t testing.TB, p Parser, b *Block) seen {
	t.Helper()
	defer func() { b.Large.Release() }()
	raw, err := io.ReadAll(io.NewSectionReader(b.Large.Raw, 0, b.Large.Size))
	if err != nil {
		t.Fatal(err)
	}
	s := seen{Line: b.Begin.Line, Offset: b.Begin.Offset, Raw: string(raw)}
	large, bad := p.LargeFields(b)
	if bad != nil {
		s.Bad = bad.State + " " + bad.Message
		return s
	}
	var fields [][]byte
	for i, f := range large {
		if f.Null {
			fields = append(fields, nil)
			continue
		}
		for range 2 { // A field can be opened again.
			value, err := io.ReadAll(f.Open())
			if err != nil || int64(len(value)) != f.Size {
				t.Fatalf("field %d: %d bytes, said %d, %v", i, len(value), f.Size, err)
			}
			if len(fields) <= i {
				fields = append(fields, value)
			}
		}
	}
	s.Fields = fieldsText(fields)
	return s
}

func null(s string) *string { return &s }

func TestRows(t *testing.T) {
	tests := []struct {
		name, data string
		layout     Layout
		columns    []string
		want       []seen
		fails      string
	}{
		{"plain", "1,a\n2,b\n", Layout{Format: CSV}, nil, []seen{{`"1" "a"`, "", 1, 0, "1,a\n"}, {`"2" "b"`, "", 2, 4, "2,b\n"}}, ""},
		{"no line end at the end", "1,a\n2,b", Layout{Format: CSV}, nil, []seen{{`"1" "a"`, "", 1, 0, "1,a\n"}, {`"2" "b"`, "", 2, 4, "2,b"}}, ""},
		{"nothing", "", Layout{Format: CSV}, nil, nil, ""},
		{"a byte order mark", "\xef\xbb\xbf\"x\",y\n", Layout{Format: CSV}, nil, []seen{{`"x" "y"`, "", 1, 3, "\"x\",y\n"}}, ""},
		{"a header and lines of several lines", "a,b\n\"1\n2\",3\n4,5\n", Layout{Format: CSV, Header: WithHeader}, nil,
			[]seen{{`"1\n2" "3"`, "", 2, 4, "\"1\n2\",3\n"}, {`"4" "5"`, "", 4, 12, "4,5\n"}}, ""},
		{"quotes in the middle", `a"b,c"d"""",""` + "\n", Layout{Format: CSV}, nil, []seen{{`"ab,cd\"" ""`, "", 1, 0, `a"b,c"d"""",""` + "\n"}}, ""},
		{"an escape of its own", `"a\"b\\","c\d"` + "\n", Layout{Format: CSV, Escape: '\\'}, nil, []seen{{`"a\"b\\" "c\\d"`, "", 1, 0, `"a\"b\\","c\d"` + "\n"}}, ""},
		{"NULL", "x,\"x\",\n", Layout{Format: CSV, Null: null("x")}, nil, []seen{{`\N "x" ""`, "", 1, 0, "x,\"x\",\n"}}, ""},
		{"forced", "x,\"x\",x,x\n", Layout{Format: CSV, Null: null("x"), ForceNull: []string{"b", "d"}, ForceNotNull: []string{"c", "d"}}, []string{"a", "b", "c", "d"},
			[]seen{{`\N \N "x" "x"`, "", 1, 0, "x,\"x\",x,x\n"}}, ""},
		{"fields", "1\n1,2\n1,2,3\n\n", Layout{Format: CSV}, []string{"a", "b"}, []seen{
			{"", `22P04 missing data for column "b"`, 1, 0, "1\n"}, {`"1" "2"`, "", 2, 2, "1,2\n"},
			{"", "22P04 extra data after last expected column", 3, 6, "1,2,3\n"}, {"", `22P04 missing data for column "b"`, 4, 12, "\n"}}, ""},
		{"other line ends in LF", "1,a\r\n2,b\n", Layout{Format: CSV, Ends: EndLF}, []string{"a", "b"}, []seen{
			{`"1" "a"`, "", 1, 0, "1,a\r\n"}, {"", "22P04 unquoted newline found in data", 2, 5, "2,b\n"}}, ""},
		{"CRLF in LF", "1,a\n2,b\r\n3,c\n", Layout{Format: CSV}, nil, []seen{
			{`"1" "a"`, "", 1, 0, "1,a\n"}, {"", "22P04 unquoted carriage return found in data", 2, 4, "2,b\r\n"}, {`"3" "c"`, "", 3, 9, "3,c\n"}}, ""},
		{"CR", "1,\"a\r\"\r2,b\r", Layout{Format: CSV}, nil, []seen{{`"1" "a\r"`, "", 1, 0, "1,\"a\r\"\r"}, {`"2" "b"`, "", 3, 7, "2,b\r"}}, ""},
		{"a marker in CSV", "a\n\\.\nb\n", Layout{Format: CSV}, nil, []seen{{`"a"`, "", 1, 0, "a\n"}, {`"\\."`, "", 2, 2, "\\.\n"}, {`"b"`, "", 3, 5, "b\n"}}, ""},
		{"skip and limit", "x\"y\nz\na,b\n1,2\n3,4\n5,6\n", Layout{Format: CSV, Skip: 2, Header: WithHeader, Limit: 2}, nil,
			[]seen{{`"1" "2"`, "", 4, 10, "1,2\n"}, {`"3" "4"`, "", 5, 14, "3,4\n"}}, ""},
		{"bytes", "a\n\xff\nb\x00c\n\xe0\xa0\nd\n", Layout{Format: CSV}, nil, []seen{{`"a"`, "", 1, 0, "a\n"},
			{"", `22021 invalid byte sequence for encoding "UTF8": 0xff`, 2, 2, "\xff\n"}, {"", `22021 invalid byte sequence for encoding "UTF8": 0x00`, 3, 4, "b\x00c\n"},
			{"", `22021 invalid byte sequence for encoding "UTF8": 0xe0 0xa0 0x0a`, 4, 8, "\xe0\xa0\n"}, {`"d"`, "", 5, 11, "d\n"}}, ""},
		{"an unclosed quote", "a,b\n\"c\"\"\n,d\n\n\ne", Layout{Format: CSV}, nil, []seen{{`"a" "b"`, "", 1, 0, "a,b\n"}},
			"file, line 2: unterminated CSV quoted field"},
		{"the quote opens later", "a,b\n\"c\n\",\"d\"\"\ne", Layout{Format: CSV}, nil, []seen{{`"a" "b"`, "", 1, 0, "a,b\n"}},
			"file, line 3: unterminated CSV quoted field"},
		{"text", "a\\tb\tc\\\nd\t\\N\n\\\\N\t\\x41\\101\\q\te\n", Layout{Format: Text}, nil, []seen{
			{`"a\tb" "c\nd" \N`, "", 1, 0, "a\\tb\tc\\\nd\t\\N\n"}, {`"\\N" "AAq" "e"`, "", 3, 13, "\\\\N\t\\x41\\101\\q\te\n"}}, ""},
		{"text with bytes by escapes", "\\377\n\\303\\244\n\\0\n", Layout{Format: Text}, nil, []seen{
			{"", `22021 invalid byte sequence for encoding "UTF8": 0xff`, 1, 0, "\\377\n"}, {`"ä"`, "", 2, 5, "\\303\\244\n"},
			{"", `22021 invalid byte sequence for encoding "UTF8": 0x00`, 3, 14, "\\0\n"}}, ""},
		{"the end-of-copy marker", "a\n\\.\n", Layout{Format: Text}, nil, []seen{{`"a"`, "", 1, 0, "a\n"}}, ""},
		{"text behind the marker", "a\n\\.\nb\n", Layout{Format: Text}, nil, []seen{{`"a"`, "", 1, 0, "a\n"}}, `text follows the end-of-copy marker \. of line 2`},
		{"a backslash within a character", "\x95\x5c\tx\n\x83|\x81\n\x83\x5c\ty\n", Layout{Format: Text, Encoding: "SJIS"}, []string{"a", "b"}, []seen{
			{`"表" "x"`, "", 1, 0, "\x95\x5c\tx\n"}, {"", `22021 invalid byte sequence for encoding "SJIS": 0x81 0x0a`, 2, 5, "\x83|\x81\n"}, {`"ソ" "y"`, "", 3, 9, "\x83\x5c\ty\n"}}, ""},
		{"a delimiter within a character", "\x83|,\"\x83|\"\n", Layout{Format: CSV, Encoding: "SJIS", Delimiter: '|'}, []string{"a"}, []seen{{`"ポ,ポ"`, "", 1, 0, "\x83|,\"\x83|\"\n"}}, ""},
		{"WIN1252", "\x80\n\x81\nx\n", Layout{Format: CSV, Encoding: "win1252"}, nil, []seen{{`"€"`, "", 1, 0, "\x80\n"},
			{"", `22P05 character with byte sequence 0x81 in encoding "WIN1252" has no equivalent in encoding "UTF8"`, 2, 2, "\x81\n"}, {`"x"`, "", 3, 4, "x\n"}}, ""},
		{"no columns", "\nx\n", Layout{Format: CSV}, []string{}, []seen{{"", "", 1, 0, "\n"}, {"", "22P04 extra data after last expected column", 2, 1, "x\n"}}, ""},
		{"a marker behind a value", "a\\.\nb\n", Layout{Format: Text}, nil, []seen{{"", "22P04 end-of-copy marker is not alone on its line", 1, 0, "a\\.\n"}, {`"b"`, "", 2, 4, "b\n"}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.layout.Header == AutoHeader {
				tt.layout.Header = NoHeader
			}
			l := layoutOf(t, []byte(tt.data), tt.layout)
			l.Width = 0
			if tt.columns != nil {
				l.SetColumns(tt.columns)
			} else {
				l.Names = nil
			}
			rows, _, err := rowsOf(t, strings.NewReader(tt.data), &l, Position{})
			if diff := cmp.Diff(tt.want, rows); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			if (err != nil) != (tt.fails != "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("got error %v, want %q", err, tt.fails)
			}
			if known := (*planner.Error)(nil); err != nil && !errors.As(err, &known) {
				t.Errorf("the error is a %T", err)
			}
		})
	}
}

// randomText makes text out of the bytes that matter.
func randomText(r *rand.Rand, bytes string, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = bytes[r.IntN(len(bytes))]
	}
	return b
}

// TestScanIsBytewise compares the fast ways to find rows with the one that looks at each byte.
func TestScanIsBytewise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 5000 {
		l := Layout{Format: []Format{CSV, Text, Fixed}[n%3]}
		l = l.complete()
		b := randomText(r, "a\"\n\r\\b,", r.IntN(80))
		fast, slow := newRowScan(&l, EndLF), newRowScan(&l, EndLF)
		from := r.IntN(len(b) + 1)
		end, rows, marker := fast.scan(b[:from], 0)
		end2, rows2, marker2 := 0, 0, -1
		if marker < 0 {
			end2, rows2, marker2 = fast.scan(b, from)
		}
		wantEnd, wantRows := 0, 0
		for i, c := range b {
			if slow.step(c) {
				wantEnd, wantRows = i+1, wantRows+1
			}
		}
		if marker >= 0 || marker2 >= 0 {
			continue // Where the marker is TestRows tells.
		}
		if got := max(end, end2); got != wantEnd || rows+rows2 != wantRows {
			t.Fatalf("%s %q cut at %d: end %d and %d rows, want %d and %d", l.Format, b, from, got, rows+rows2, wantEnd, wantRows)
		}
		if l.Format != Fixed && (fast.inQuote != slow.inQuote || fast.escaped != slow.escaped) {
			t.Fatalf("%s %q cut at %d: the states differ", l.Format, b, from)
		}
		one := newRowScan(&l, EndLF)
		if i := one.first(b); (i >= 0) != (wantRows > 0) || i > wantEnd {
			t.Fatalf("%s %q: first row ends at %d", l.Format, b, i)
		}
	}
}

// TestCutAnywhere reads the same rows whatever the reader yields at once, and from each block's beginning on.
func TestCutAnywhere(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 60 {
		data := randomText(r, "abc,,,\"\"\n\n\\\t", 3000)
		if n%4 == 3 {
			data = bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
		}
		layout := Layout{Format: []Format{CSV, Text, CSV, TSV}[n%4], Header: NoHeader}
		if n%8 == 2 {
			layout.Escape = '\\'
		}
		if layout.Format == Text {
			data = bytes.ReplaceAll(data, []byte(`\.`), []byte(`.`))
		} else if bytes.Count(data, []byte{'"'})%2 == 1 {
			data = append(data, '"')
		}
		l := layoutOf(t, data, layout)
		l.Width = 0
		want, _, wantErr := rowsOf(t, bytes.NewReader(data), &l, Position{})
		for _, reader := range []io.Reader{iotest.OneByteReader(bytes.NewReader(data)), iotest.HalfReader(bytes.NewReader(data)), iotest.DataErrReader(bytes.NewReader(data))} {
			got, _, err := rowsOf(t, reader, &l, Position{})
			if !slices.Equal(want, got) || (err != nil) != (wantErr != nil) {
				t.Fatalf("layout %+v, %v, %v:\n%s", l, err, wantErr, cmp.Diff(want, got))
			}
		}
		var all strings.Builder
		for _, s := range want {
			all.WriteString(s.Raw)
		}
		if wantErr == nil && all.String() != string(data) {
			t.Errorf("the rows' bytes are not the file's")
		}
	}
}

func TestResume(t *testing.T) {
	for _, encoding := range []string{"", "UTF16LE", "UTF16BE"} {
		var text strings.Builder
		text.WriteString("\ufeffnumber,name\r\n")
		for i := range 60000 {
			fmt.Fprintf(&text, "%d,\"ä\r\n€😀 %d\"\r\n", i, i)
		}
		data := []byte(text.String())
		if encoding != "" {
			data = appendUTF16(nil, data, encoding == utf16BE)
		}
		l := layoutOf(t, data, Layout{Header: WithHeader})
		if encoding != "" && l.Encoding != encoding {
			t.Fatalf("encoding %s taken for %s", encoding, l.Encoding)
		}
		want, places, err := rowsOf(t, bytes.NewReader(data), &l, Position{})
		if err != nil || len(want) != 60000 || len(places) < 4 {
			t.Fatalf("%d rows in %d blocks, %v", len(want), len(places), err)
		}
		for _, s := range want[:10] {
			if !bytes.HasPrefix(data[s.Offset:], []byte(s.Raw)) {
				t.Errorf("%s: a row is not where it says it is: %+v", encoding, s)
			}
		}
		for _, from := range places[1:] {
			got, _, err := rowsOf(t, bytes.NewReader(data[from.Offset:]), &l, from)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(want[from.Row:], got) {
				t.Fatalf("%s: from %+v on the rows differ", encoding, from)
			}
		}
	}
}
