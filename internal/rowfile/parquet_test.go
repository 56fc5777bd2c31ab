package rowfile

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

func parquetFileNamed(name string) string {
	return filepath.Join("testdata", "parquet", name+".parquet")
}

// TestParquetOfOthers reads files of other writers. What they should hold was written down from the statements that made them.
func TestParquetOfOthers(t *testing.T) {
	types := func(list string) []string { return strings.Split(list, "|") }
	arrow := []string{"1|1|a|\\x00ff|1582-10-15|00:00:00.001|1.5", "2|18446744073709551615|b|~|~|23:59:59.999|-0", "3|~|a|\\x|2000-01-01|~|~"}
	arrowTypes := types("integer|numeric|text|bytea|date|time without time zone|real")
	cases := []struct {
		name  string
		types []string
		rows  []string
	}{
		{"arrow_rs_v1", arrowTypes, arrow},
		{"arrow_rs_v2", arrowTypes, arrow},
		{"arrow_rs_lz4", arrowTypes, arrow},
		{"hyparquet", types("integer|bigint|text|jsonb|timestamp with time zone"), []string{
			`1|1|Alice|{"a":1}|1970-01-01 00:00:00+00`, `2|-5|Bob|~|2020-02-02 02:02:02.002+00`, `3|~|~|[1,2]|~`,
		}},
		{"duckdb_types", types("smallint|smallint|integer|bigint|smallint|integer|bigint|numeric|boolean|real|double precision|numeric(4,2)|" +
			"numeric(9,2)|numeric(18,6)|numeric(38,6)|date|time without time zone|timestamp without time zone|timestamp with time zone|" +
			"timestamp without time zone|timestamp without time zone|timestamp without time zone|interval|uuid|bytea|text|jsonb|text|" +
			"integer[]|text[]|numeric(4,2)[]|date[]"), []string{
			"1|-2|3|9223372036854775807|200|65535|4294967295|18446744073709551615|true|1.5|0.1|12.34|-0.05|123456789012.345678|" +
				"-99999999999999999999999999999999.999999|2024-02-29|23:59:59.123456|2024-02-29 12:34:56.789012|1969-12-31 23:59:59.5+00|" +
				"1900-01-01 00:00:00.001|2024-01-01 00:00:00.123456789|2001-01-01 00:00:01|14 mons 3 days 00:00:01.5|" +
				`a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11|\x00ff|grüße, "x"|{"a": [1, 2]}|one|{1,2,NULL,3}|{"a","b\"c",NULL,""}|{1.50}|{"2000-01-01"}`,
			strings.Repeat("~|", 31) + "~",
			"-128|-32768|-2147483648|-9223372036854775808|0|0|0|0|false|NaN|-Infinity|-99.99|9999999.99|-0.000001|0.000000|0001-01-01|00:00:00|" +
				"0044-03-15 00:00:00 BC|9999-12-31 23:59:59.999999+00|2262-01-01 00:00:00|1677-09-22 00:00:00|1960-01-01 00:00:01|" +
				`0 mons 0 days 00:00:00|00000000-0000-0000-0000-000000000000|\x||null|two|{}|{"NULL"}|{}|{NULL}`,
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			in := opened(t, nil, Layout{}, parquetFileNamed(c.name))
			mustEqual(t, "rows", allRows(t, in), c.rows)
			columns, err := in.Infer(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, column := range columns {
				got = append(got, column.Type)
			}
			mustEqual(t, "types", got, c.types)
		})
	}
}

func TestParquetNested(t *testing.T) {
	for name, words := range map[string][]string{
		"duckdb_struct": {`"point"`, "a struct", "jsonb"}, "duckdb_map": {`"pairs"`, "a map"}, "duckdb_deep": {`"deep"`, "list of lists"},
	} {
		_, err := Open(t.Context(), []string{parquetFileNamed(name)}, nil, Layout{})
		mustFail(t, err, append(words, name)...)
	}
}

// largeRows are the rows of duckdb_large, whose pages no index finds.
func largeRows() []string {
	var want []string
	for i := range 70_000 {
		few := "~"
		if i%3 != 0 {
			few = []string{"{}", "{0}", "{0,1}"}[i/500%3]
		}
		want = append(want, fmt.Sprintf("%d|%s|%s", i/7, string("abc"[i/1000%3]), few))
	}
	return want
}

// writtenRows writes a file of the library's own writer, with an index of its pages.
func writtenRows(t *testing.T) (content []byte, want []string) {
	t.Helper()
	type row struct {
		ID   int64    `parquet:"id,delta"`
		Name *string  `parquet:"name,optional,dict"`
		Tags []string `parquet:"tags,list"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, parquet.PageBufferSize(2000), parquet.MaxRowsPerRowGroup(30_000))
	for i := range 100_000 {
		r := row{ID: int64(i)}
		text := fmt.Sprintf("%d|~|{", i)
		if i%4 > 0 {
			name := fmt.Sprintf("name %d", i%100)
			r.Name = &name
			text = fmt.Sprintf("%d|%s|{", i, name)
		}
		for j := range i % 3 {
			r.Tags = append(r.Tags, fmt.Sprint(j))
			text += []string{"", ","}[min(j, 1)] + fmt.Sprintf("%q", fmt.Sprint(j))
		}
		want = append(want, text+"}")
		if _, err := w.Write([]row{r}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), want
}

// TestParquetBlocks reads the blocks in any order and several times, whole and rows alone, as parsers on several goroutines do.
func TestParquetBlocks(t *testing.T) {
	written, want := writtenRows(t)
	for name, c := range map[string]struct {
		path string
		want []string
	}{
		"without index": {parquetFileNamed("duckdb_large"), largeRows()},
		"with index":    {fileOf(t, "f.parquet", written), want},
	} {
		t.Run(name, func(t *testing.T) {
			in := opened(t, nil, Layout{}, c.path)
			rows, blocks, err := drain(t, in, 0, Position{})
			if err != nil || !slices.Equal(rows, c.want) {
				t.Fatalf("%d rows, want %d, error %v", len(rows), len(c.want), err)
			}
			if len(blocks) < 2 {
				t.Fatalf("%d blocks", len(blocks))
			}
			p := in.Parser()
			for _, i := range append(rand.Perm(len(blocks)), 0, 0) {
				b := blocks[i]
				at := b.Begin.Row
				if err := p.Parse(b, func(r *Row) error {
					if got := rowText(r); got != c.want[at] || r.Line != at+1 || r.Number != at-b.Begin.Row {
						t.Errorf("row %d: %q, want %q, span %+v", at, got, c.want[at], r.Span)
					}
					if at++; at%1000 == 0 {
						return errEnough // and go elsewhere
					}
					return nil
				}); err != nil && !errors.Is(err, errEnough) {
					t.Fatal(err)
				}
				number := rand.Int64N(b.Count)
				line := strings.ReplaceAll(strings.TrimSuffix(string(p.Raw(b, Span{Number: number})), "\n"), `"`, "")
				plain := strings.NewReplacer("~", "", "|", ",", `"`, "").Replace(c.want[b.Begin.Row+number])
				mustEqual(t, "line of CSV", line, plain)
			}
			rest, _, err := drain(t, in, 0, blocks[1].Begin)
			if err != nil || !slices.Equal(rest, c.want[blocks[1].Begin.Row:]) {
				t.Errorf("from %+v: %d rows, error %v", blocks[1].Begin, len(rest), err)
			}
		})
	}
	in := opened(t, nil, Layout{Skip: 10, Limit: 5}, fileOf(t, "f.parquet", written))
	mustEqual(t, "limited rows", allRows(t, in), want[10:15])
	for _, content := range [][]byte{written, gzipped(t, written)} {
		in = opened(t, bytes.NewReader(content), Layout{}, "-")
		if rows := allRows(t, in); !slices.Equal(rows, want) {
			t.Errorf("from a stream: %d rows", len(rows))
		}
	}
}

func TestParquetText(t *testing.T) {
	decimals := []struct {
		bytes []byte
		scale int
		want  string
	}{
		{nil, 2, "0.00"},
		{[]byte{0x7f}, 0, "127"},
		{[]byte{0xff}, 3, "-0.001"},
		{[]byte{0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 0, "18446744073709551615"},
		{[]byte{0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 0, "-9223372036854775809"},
		{[]byte{0xff, 0x80, 0, 0, 0, 0, 0, 0, 0}, 1, "-922337203685477580.8"},
		{[]byte{0x00, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 19, "0.9223372036854775807"},
	}
	for _, c := range decimals {
		got := pointed(appendBigEndian([]byte("x"), c.bytes), 1, c.scale)
		mustEqual(t, "decimal", string(got), "x"+c.want)
	}
	for days, want := range map[int64]string{
		0: "1970-01-01", -1: "1969-12-31", 11016: "2000-02-29", -719528: "0001-01-01 BC", -719162: "0001-01-01", 2932897: "10000-01-01",
	} {
		got, bc := appendDay(nil, days)
		mustEqual(t, fmt.Sprint(days), string(got)+bc, want)
	}
	half := func(bits uint16) string {
		v := parquet.FixedLenByteArrayValue([]byte{byte(bits), byte(bits >> 8)})
		return string(appendParquetFloat16(nil, &v))
	}
	for bits, want := range map[uint16]string{0x3c00: "1", 0xc000: "-2", 0x7bff: "65504", 0x0001: "5.9604645e-08", 0x7c00: "Infinity", 0xfe00: "NaN", 0x3555: "0.33325195"} {
		mustEqual(t, fmt.Sprintf("half %04x", bits), half(bits), want)
	}
}

// TestParquetDamaged: no damage makes the reading panic, and rows are never missing without an error.
func TestParquetDamaged(t *testing.T) {
	for _, name := range []string{"duckdb_groups", "duckdb_types", "arrow_rs_v1", "arrow_rs_v2", "arrow_rs_lz4", "hyparquet"} {
		content, err := os.ReadFile(parquetFileNamed(name))
		if err != nil {
			t.Fatal(err)
		}
		whole, err := readBytes(t, content, AutoFormat)
		if err != nil {
			t.Fatal(err)
		}
		for range 60 {
			broken := bytes.Clone(content)
			for range 1 + rand.IntN(3) {
				broken[4+rand.IntN(len(broken)-4)] ^= byte(1 << rand.IntN(8))
			}
			_, _ = readBytes(t, broken, AutoFormat)
		}
		for range 20 {
			rows, err := readBytes(t, content[:8+rand.IntN(len(content)-8)], AutoFormat)
			if err == nil {
				t.Errorf("%s, cut: %d rows of %d and no error", name, len(rows), len(whole))
			}
		}
	}
	_, err := readBytes(t, []byte("PAR1 and no more than that"), AutoFormat)
	mustFail(t, err, "damaged or cut off")
}
