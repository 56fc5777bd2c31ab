package heap_test

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/internal/heap"
)

// tableAttrs asks the server for a table's columns, dropped ones included.
func tableAttrs(t *testing.T, uri, table string) []heap.Attribute {
	t.Helper()
	var attrs []heap.Attribute
	rows := clustertest.Query(t, uri, fmt.Sprintf(`SELECT attlen, attalign, attisdropped, attname FROM pg_attribute
		WHERE attrelid = '%s'::regclass AND attnum > 0 ORDER BY attnum`, table))
	for _, row := range strings.Split(rows, "\n") {
		part := strings.SplitN(row, "|", 4)
		size, err := strconv.ParseInt(part[0], 10, 16)
		if err != nil {
			t.Fatal(row, err)
		}
		attrs = append(attrs, heap.Attribute{Len: int16(size), Align: part[1][0], Dropped: part[2] == "t", Name: part[3]})
	}
	return attrs
}

// allShapes has columns of every length and alignment, some dropped, some younger than rows, and NULLs in many patterns.
var allShapes = []string{
	"CREATE EXTENSION pageinspect",
	`CREATE TABLE t (a bool, b int2, c "char", d int8, gone1 int4, e name, f text, g numeric, gone2 text, h uuid, i timetz, j interval, k macaddr,
		l macaddr8, m tid, n inet, o float4, p point, q box, r int8[], s bit(11), u bpchar(5), v bytea) WITH (autovacuum_enabled = off)`,
	`INSERT INTO t SELECT n % 2 = 0, n, chr(65 + n % 26)::"char", n * 1e10, n, 'name' || n, repeat('f', n % 200), n / 7.0, repeat('g', n % 3),
		md5(n::text)::uuid, '12:00+02', n * interval '1 day', '08:00:2b:01:02:03', '08:00:2b:01:02:03:04:05', '(1,2)', '10.0.0.1', n, point(n, n),
		box(point(0, 0), point(n, n)), ARRAY[n, NULL, 3], '10101010101', 'abc', decode(md5(n::text), 'hex')
		FROM generate_series(1, 30) n`,
	"ALTER TABLE t ALTER f SET STORAGE external",
	`INSERT INTO t (b, f, h, r, v) SELECT n, CASE WHEN n % 3 > 0 THEN repeat('f', n * 200) END, CASE WHEN n % 2 > 0 THEN md5(n::text)::uuid END,
		CASE WHEN n % 5 > 0 THEN ARRAY[n] END, CASE WHEN n % 7 > 0 THEN decode(repeat('ab', n * 100), 'hex') END FROM generate_series(1, 40) n`,
	"ALTER TABLE t DROP gone1, DROP gone2, ADD w int DEFAULT 7, ADD x text DEFAULT 'missing', ADD y line",
	"INSERT INTO t (a, x) SELECT NULL, 'here' FROM generate_series(1, 20)",
	"INSERT INTO t DEFAULT VALUES",
}

// TestValuesAgreeWithPageinspect compares each value's bytes with those that heap_page_item_attrs cuts out of the same tuples.
func TestValuesAgreeWithPageinspect(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, allShapes...)
	attrs := tableAttrs(t, uri, "t")
	external, missing := 0, 0
	blocks, _ := strconv.Atoi(clustertest.Query(t, uri, "SELECT pg_relation_size('t') / current_setting('block_size')::int"))
	for block := range blocks {
		page := rawPage(t, uri, "t", block)
		for n, want := range strings.Split(clustertest.Query(t, uri, fmt.Sprintf(`SELECT (SELECT string_agg(coalesce(encode(v, 'hex'), '-'), ' ' ORDER BY i)
			FROM unnest(t_attrs) WITH ORDINALITY u(v, i)) FROM heap_page_item_attrs(get_raw_page('t', %d), 't') ORDER BY lp`, block)), "\n") {
			tup, err := page.Tuple(n + 1)
			if err != nil {
				t.Fatal(err)
			}
			values, err := tup.Values(attrs, nil)
			if err != nil {
				t.Fatalf("block %d, line %d: %v", block, n+1, err)
			}
			missing += len(attrs) - tup.Natts()
			for _, v := range values {
				if len(v.Data) == 18 && v.Data[0] == 1 {
					external++
				}
			}
			if got := show(values); got != want {
				t.Errorf("block %d, line %d: values\n%s\nwant\n%s", block, n+1, got, want)
			}
		}
	}
	if blocks < 3 || external == 0 || missing == 0 {
		t.Errorf("of %d blocks %d values were external and %d missing", blocks, external, missing)
	}
}

// TestCatalogsAreSound checks what initdb and the server write in all their ways: no page of theirs has a fault.
func TestCatalogsAreSound(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE EXTENSION pageinspect", "CREATE TABLE many AS SELECT n, repeat(md5(n::text), 300) v FROM generate_series(1, 50) n",
		"CREATE SEQUENCE s", "UPDATE many SET n = -n WHERE n % 3 = 0", "DELETE FROM many WHERE n % 5 = 0", "VACUUM")
	tables := strings.Split(clustertest.Query(t, uri, `SELECT oid::regclass FROM pg_class WHERE relkind IN ('r', 't', 'm') AND pg_relation_size(oid) > 0 ORDER BY oid`), "\n")
	tuples := 0
	for _, table := range tables {
		attrs := tableAttrs(t, uri, table)
		pages := clustertest.Query(t, uri, fmt.Sprintf(`SELECT encode(get_raw_page('%s', n::int), 'hex')
			FROM generate_series(0, pg_relation_size('%s') / current_setting('block_size')::int - 1) n ORDER BY n`, table, table))
		for block, text := range strings.Split(pages, "\n") {
			page, err := hex.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			tuples += heap.Page(page).Lines()
			for _, f := range heap.Page(page).Check(uint32(block), attrs, false) {
				t.Errorf("%s: block %d, line %d: %s", table, block, f.Line, f.Reason)
			}
		}
	}
	if len(tables) < 40 || tuples < 5000 {
		t.Errorf("%d tables have %d tuples", len(tables), tuples)
	}
}
