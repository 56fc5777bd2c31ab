package heap_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/internal/heap"
)

// states tells of each value of a tuple where it is: p as it is, c compressed, e in the TOAST table, E there and compressed, - NULL, and how long it is.
func states(t *testing.T, tuple heap.Tuple, attrs []heap.Attribute) string {
	t.Helper()
	values, err := tuple.Values(attrs, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for i, v := range values {
		switch {
		case v.Null:
			all = append(all, "-")
			continue
		case attrs[i].Len > 0:
			continue
		}
		p, _, err := heap.ParseVarlena(v.Data)
		if err != nil {
			t.Fatal(err)
		}
		kind := "p"
		switch {
		case p.External && p.Pointer.Compression != heap.NoCompression:
			kind = "E"
		case p.External:
			kind = "e"
		case p.Compression != heap.NoCompression:
			kind = "c"
		}
		all = append(all, kind+strconv.Itoa(p.RawSize))
	}
	return strings.Join(all, " ")
}

// TestLongValuesGoWhereTheServerPutsThem compares for rows of many sizes which values are compressed and which are moved. What pglz makes of a value
// differs in a few bytes, so values are either noise or very even.
func TestLongValuesGoWhereTheServerPutsThem(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE EXTENSION pageinspect",
		"CREATE FUNCTION noise(n int) RETURNS text LANGUAGE sql AS $$ SELECT left(string_agg(encode(sha256((random() || 'x' || i)::bytea), 'base64'), ''), n) FROM generate_series(1, n / 44 + 1) i $$",
		`CREATE TABLE wide (id int, x text, e text, m text, p text, y text)`, "ALTER TABLE wide ALTER e SET STORAGE EXTERNAL, ALTER m SET STORAGE MAIN, ALTER p SET STORAGE PLAIN",
		`INSERT INTO wide SELECT i, CASE i % 3 WHEN 0 THEN noise(i * 37 % 3000 + 30) WHEN 1 THEN repeat('even', i * 91 % 9000 + 10) END, CASE i % 4 WHEN 0 THEN noise(i * 53 % 2500 + 25) WHEN 1 THEN repeat('x', i * 41 % 2100 + 20) END,
		CASE i % 5 WHEN 0 THEN noise(i * 17 % 2300 + 40) WHEN 1 THEN repeat('main', i * 29 % 4000 + 40) END, CASE i % 7 WHEN 0 THEN noise(i % 900 + 30) END, CASE WHEN i % 2 = 0 THEN repeat('tail', i * 13 % 1500 + 1) ELSE noise(i * 11 % 1000 + 20) END
		FROM generate_series(1, 1500) i`,
		"CREATE TABLE aimed (LIKE wide INCLUDING STORAGE) WITH (toast_tuple_target = 200)", "INSERT INTO aimed SELECT id, x || '', e || '', m || '', p || '', y || '' FROM wide")
	for table, target := range map[string]int{"wide": 0, "aimed": 200} {
		var chunks, value uint32
		f := formOf(t, uri, table)
		f.Target, f.ToastRelation = target, 77
		f.Value = func() (uint32, error) { value++; return value, nil }
		f.Chunk = func(heap.Tuple) error { chunks++; return nil }
		var attrs []heap.Attribute
		for _, c := range f.Columns {
			attrs = append(attrs, c.Attribute)
		}
		former := heap.NewFormer(f)
		rows := binaryRows(t, uri, "TABLE "+table)
		blocks, _ := strconv.Atoi(clustertest.Query(t, uri, "SELECT pg_relation_size('"+table+"') / 8192"))
		row, moved := 0, 0
		for block := range blocks {
			page := rawPage(t, uri, table, block)
			for line := 1; line <= page.Lines(); line++ {
				theirs, err := page.Tuple(line)
				if err != nil {
					t.Fatal(err)
				}
				ours, size, err := former.Row(rows)
				if err != nil {
					t.Fatal(err)
				}
				rows = rows[size:]
				row++
				if got, want := states(t, ours, attrs), states(t, theirs, attrs); got != want || ours.Infomask() != theirs.Infomask()&7 {
					t.Errorf("%s, row %d: %s instead of %s, infomask %x instead of %x", table, row, got, want, ours.Infomask(), theirs.Infomask())
				}
				moved += strings.Count(strings.ToLower(states(t, theirs, attrs)), "e")
			}
		}
		if row != 1500 || moved < 100 || int(value) != moved {
			t.Errorf("%s: %d rows, %d values in the TOAST table, %d of them here", table, row, moved, value)
		}
		if toast := clustertest.Query(t, uri, "SELECT reltoastrelid::regclass FROM pg_class WHERE relname = '"+table+"'"); fmt.Sprint(chunks) != clustertest.Query(t, uri, "SELECT count(*) FROM "+toast) {
			t.Errorf("%s: %d chunks", table, chunks)
		}
	}
}
