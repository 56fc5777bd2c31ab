package rowfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// parsedLine parses one line with the given columns.
func parsedLine(t *testing.T, line string, names []string, arrays []byte) string {
	t.Helper()
	rows := []string{}
	b := &Block{Data: []byte(line), Begin: Position{Line: 1}}
	if err := newNDJSONParser(names, arrays).Parse(b, func(r *Row) error {
		rows = append(rows, rowText(r))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(rows, "\n")
}

func TestNDJSONValues(t *testing.T) {
	cases := []struct{ line, want string }{
		{`{"a":1,"b":"x"}`, "1|x"},
		{`{"b":"x","a":1}`, "1|x"},
		{` { "a" : -0.50e+10 , "b" : true } ` + "\r", "-0.50e+10|true"},
		{`{"a":null}`, "~|~"},
		{`{}`, "~|~"},
		{`{"a":"","b":"null"}`, "|null"},
		{`{"a":1,"a":2,"a":null}`, "~|~"},
		{`{"a":{"x":[1,{"y":"}"}]},"b":[ 1, "]" ]}`, `{"x":[1,{"y":"}"}]}|[ 1, "]" ]`},
		{`{"\u0061":"q\"\\\/\b\f\n\r\t"}`, "q\"\\/\b\f\n\r\t|~"},
		{`{"a":"\u00fc\u20AC\ud83d\ude00","b":"ü€😀"}`, "ü€😀|ü€😀"},
		{"", ""},
		{" \t\r", ""},
	}
	for _, c := range cases {
		if got := parsedLine(t, c.line, []string{"a", "b"}, nil); got != c.want {
			t.Errorf("%s: got %q, want %q", c.line, got, c.want)
		}
	}
}

// TestNDJSONDocuments: in columns of json a string stays one.
func TestNDJSONDocuments(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{"a":"x\"\u00e9","b":"x\"\u00e9"}`, `"x\"\u00e9"|x"é`},
		{`{"a":["x",1,null,{"k":"v"}],"b":["x"]}`, `{"\"x\"",1,NULL,"{\"k\":\"v\"}"}|["x"]`},
		{`{"a":null,"b":"null"}`, `~|null`},
	} {
		in := opened(t, nil, Layout{}, fileOf(t, "f", []byte(c.line)))
		in.SetArrays([]byte{',', 0})
		in.SetDocuments([]bool{true, false})
		rows, _, err := drain(t, in, 0, Position{})
		if err != nil {
			t.Fatal(err)
		}
		mustEqual(t, c.line, rows, []string{c.want})
	}
}

func TestNDJSONRefused(t *testing.T) {
	const bad = "!22P02 invalid input syntax for type json|At byte "
	cases := []struct{ line, want string }{
		{`{"a":1`, bad + `7 of the row: expected "," or "}", found the end of the line.`},
		{`{"a" 1}`, bad + `6 of the row: expected ":", found "1".`},
		{`{"a":01}`, bad + `7 of the row: expected the end of the number, found "1".`},
		{`{"a":1.}`, bad + `8 of the row: expected a digit behind the decimal point, found "}".`},
		{`{"a":+1}`, bad + `6 of the row: expected a value, found "+".`},
		{`{"a":tru}`, bad + `6 of the row: expected a value, found a word that is none.`},
		{`{"a":truer}`, bad + `6 of the row: expected a value, found a word that is none.`},
		{`{"a":"x` + "\t" + `"}`, bad + `8 of the row: byte 0x09 stands in a string, where it must be escaped.`},
		{`{"a":"\x"}`, bad + `8 of the row: expected an escape that JSON has, found "x".`},
		{`{"a":"\u12g4"}`, bad + `11 of the row: expected four hexadecimal digits behind \u, found "g".`},
		{`{"a":"\ud800"}`, bad + `7 of the row: Unicode high surrogate must be followed by a low surrogate.`},
		{`{"a":"\udc00"}`, bad + `7 of the row: Unicode low surrogate must follow a high surrogate.`},
		{`{"a":[1,]}`, bad + `9 of the row: expected a value, found "]".`},
		{`{"a":{"x"}}`, bad + `10 of the row: expected ":", found "}".`},
		{`{"a":1,}`, bad + `8 of the row: expected a key in quotes, found "}".`},
		{`{"a":1} x`, bad + `9 of the row: expected the end of the line, found "x".`},
		{`[1]`, bad + `1 of the row: expected one JSON object, found "[".`},
		{`{"a":"\u0000"}`, `!22021 invalid byte sequence for encoding "UTF8": 0x00|\u0000 stands at byte 7 of the row.`},
		{`{"c":1}`, `!22P04 no column for key "c"|`},
		{"{\"a\":\"\xff\"}", `!22021 invalid byte sequence for encoding "UTF8": 0xff|`},
	}
	for _, c := range cases {
		if got := parsedLine(t, c.line, []string{"a", "b"}, nil); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.line, got, c.want)
		}
	}
}

func TestNDJSONArrays(t *testing.T) {
	cases := []struct{ line, want string }{
		{`{"a":[1,-2.5, null]}`, "{1,-2.5,NULL}|~"},
		{`{"a":["x","q\"\\","",  "NULL"]}`, `{"x","q\"\\","","NULL"}|~`},
		{`{"a":[[1,2],[3,4]],"b":[1]}`, `{{1,2},{3,4}}|[1]`},
		{`{"a":[{"k":"v"},true]}`, `{"{\"k\":\"v\"}",true}|~`},
		{`{"a":[]}`, `{}|~`},
		{`{"a":"{1,2}"}`, `{1,2}|~`},
		{`{"a":["\u0000"]}`, `!22021 invalid byte sequence for encoding "UTF8": 0x00|\u0000 stands at byte 8 of the row.`},
	}
	for _, c := range cases {
		if got := parsedLine(t, c.line, []string{"a", "b"}, []byte{',', 0}); got != c.want {
			t.Errorf("%s: got %q, want %q", c.line, got, c.want)
		}
	}
	if got := parsedLine(t, `{"a":["(1,1),(0,0)","(2,2),(1,1)"]}`, []string{"a"}, []byte{';'}); got != `{"(1,1),(0,0)";"(2,2),(1,1)"}` {
		t.Errorf("boxes: got %s", got)
	}
}

func TestNDJSONColumns(t *testing.T) {
	in := opened(t, nil, Layout{}, fileOf(t, "f", []byte("\xef\xbb\xbf{\"b\":1,\"a\":2}\n\n{\"c\":3}\n{\"a\":4,\"b\":5}")))
	mustEqual(t, "names", in.Names(), []string{"b", "a", "c"})
	rows, blocks, err := drain(t, in, 0, Position{})
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "rows", rows, []string{"1|2|~", "~|~|3", "5|4|~"})
	mustEqual(t, "position", blocks[0].Next, Position{Offset: 39, Line: 5, Row: 3})
	in = opened(t, nil, Layout{Columns: []string{"a", "c"}, Skip: 1, Limit: 1, Format: NDJSON}, fileOf(t, "f", []byte("{\"b\":1}\n{\"c\":3}\n{\"a\":4}")))
	mustEqual(t, "names", in.Names(), []string{"a", "c"})
	mustEqual(t, "rows", allRows(t, in), []string{"~|3"})
	_, err = Open(t.Context(), []string{fileOf(t, "f", []byte("[\n{\"b\":1},\n{\"b\":2}\n]"))}, nil, Layout{Format: NDJSON})
	mustFail(t, err, "one JSON array", "jq")
	// The first row is longer than what is looked at of a file.
	long := fmt.Sprintf(`{"a":%q,"z":1}`, strings.Repeat("x", 3*headSize))
	in = opened(t, nil, Layout{}, fileOf(t, "f", []byte(long)))
	mustEqual(t, "names", in.Names(), []string{"a", "z"})
}

// TestNDJSONBlocks reads from the start of each block, and compares with the rows that encoding/json reads.
func TestNDJSONBlocks(t *testing.T) {
	var content bytes.Buffer
	var want []string
	for i := range 20_000 {
		row := map[string]any{"id": i, "name": strings.Repeat("é\"", i%40)}
		text, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		content.Write(text)
		content.WriteString([]string{"\n", "\r\n", "\n\n"}[i%3])
		want = append(want, fmt.Sprintf("%d|%s", i, row["name"]))
	}
	in := opened(t, nil, Layout{}, fileOf(t, "f", content.Bytes()))
	rows, blocks, err := drain(t, in, 0, Position{})
	if err != nil || !slices.Equal(rows, want) {
		t.Fatalf("%d rows, error %v", len(rows), err)
	}
	if len(blocks) < 3 {
		t.Fatalf("%d blocks", len(blocks))
	}
	for _, b := range blocks {
		rest, _, err := drain(t, in, 0, b.Next)
		if err != nil || !slices.Equal(rest, want[b.Next.Row:]) {
			t.Fatalf("from %+v: %d rows, error %v", b.Next, len(rest), err)
		}
	}
}

func TestNDJSONLargeRow(t *testing.T) {
	text := strings.Repeat("é\n\"x"+strings.Repeat("y", 60), LargeRow/60)
	list := make([]int, 1000)
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	line := fmt.Sprintf("{\"id\": 7, \"doc\": {\"k\":%s}, \"list\": %s, \"none\": null, \"text\": %s}\n", quoted, numbers, quoted)
	content := "{\"id\":1,\"text\":\"a\",\"doc\":1,\"list\":[],\"none\":1}\n" + line + "{\"id\":2}\n"
	in := opened(t, nil, Layout{}, fileOf(t, "f", []byte(content)))
	in.SetArrays([]byte{0, 0, 0, ',', 0})
	rows, blocks, err := drain(t, in, 0, Position{})
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "rows", rows, []string{"1|a|1|{}|1", fmt.Sprintf("large %d", len(line)), "2|~|~|~|~"})
	fields, bad := in.Parser().LargeFields(blocks[1])
	if bad != nil {
		t.Fatal(bad)
	}
	want := []string{"7", text, `{"k":` + string(quoted) + "}", "{" + strings.Trim(string(numbers), "[]") + "}"}
	for i, w := range want {
		for range 2 {
			got, err := io.ReadAll(fields[i].Open())
			if err != nil || string(got) != w || fields[i].Size != int64(len(w)) {
				t.Fatalf("field %d: %d bytes of size %d, want %d, error %v", i, len(got), fields[i].Size, len(w), err)
			}
		}
	}
	if !fields[4].Null {
		t.Error("null is not NULL")
	}
}

// TestNDJSONLargeAsSmall: the two scanners agree on what is wrong, and where.
func TestNDJSONLargeAsSmall(t *testing.T) {
	for _, line := range []string{
		`{"a":1`, `{"a" 1}`, `{"a":01}`, `{"a":tru}`, `{"a":"\ud800"}`, `{"a":"\udc00x"}`, `{"a":[1,]}`, `{"a":{"x"}}`, `{"a":1,}`, `{"a":1} x`, `[1]`,
		`{"a":"\u0000"}`, `{"c":1}`, "{\"a\":\"\xff\"}", `{"a":"x`, `{"a":{"b":[{}]},"b":"\ud83d\ude00"}`, `{}`, `{"a":""}`, "{\"a\":\"\t\"}",
	} {
		p := newNDJSONParser([]string{"a", "b"}, nil)
		small := parsedLine(t, line, p.names, nil)
		fields, bad := p.LargeFields(&Block{Large: &Large{Raw: strings.NewReader(line), Size: int64(len(line))}})
		large := ""
		if bad != nil {
			large = "!" + bad.State + " " + bad.Message + "|" + bad.Detail
		}
		for i, f := range fields {
			if i > 0 {
				large += "|"
			}
			if f.Null {
				large += "~"
				continue
			}
			text, err := io.ReadAll(f.Open())
			if err != nil {
				t.Fatal(err)
			}
			large += string(text)
		}
		if small != large {
			t.Errorf("%s:\nsmall %s\nlarge %s", line, small, large)
		}
	}
}

func TestNDJSONAllocations(t *testing.T) {
	line := []byte(`{"id":123456,"day":"2024-02-29","n":42,"name":"abc\ndef"}` + "\n")
	b := &Block{Data: bytes.Repeat(line, 1000), Begin: Position{Line: 1}}
	p := newNDJSONParser([]string{"id", "day", "n", "name"}, nil)
	emit := func(*Row) error { return nil }
	if err := p.Parse(b, emit); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(5, func() { _ = p.Parse(b, emit) }); n > 1 {
		t.Errorf("%v allocations for 1000 rows", n)
	}
}

func BenchmarkNDJSON(b *testing.B) {
	line := []byte(`{"id":123456,"day":"2024-02-29","n":42,"name":"abcdefghij"}` + "\n")
	block := &Block{Data: bytes.Repeat(line, 4000), Begin: Position{Line: 1}}
	p := newNDJSONParser([]string{"id", "day", "n", "name"}, nil)
	b.SetBytes(int64(len(block.Data)))
	for b.Loop() {
		_ = p.Parse(block, func(*Row) error { return nil })
	}
}
