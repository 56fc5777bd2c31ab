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

func TestMain(m *testing.M) { clustertest.Main(m) }

// rawPage reads a block through the server's own eyes.
func rawPage(t *testing.T, uri, table string, block int) heap.Page {
	t.Helper()
	text := clustertest.Query(t, uri, fmt.Sprintf("SELECT encode(get_raw_page('%s', %d), 'hex')", table, block))
	page, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// variedTable has tuples of every state: deleted, updated in place and elsewhere, locked, rolled back, frozen.
var variedTable = []string{
	"CREATE EXTENSION pageinspect",
	"CREATE TABLE t (id int, v text, n numeric) WITH (autovacuum_enabled = off)",
	"CREATE INDEX ON t (id)",
	"INSERT INTO t SELECT i, CASE WHEN i % 3 > 0 THEN repeat('x', i % 50) END, i * 1.5 FROM generate_series(1, 400) i",
	"VACUUM (FREEZE) t",
	"UPDATE t SET v = 'hot' WHERE id % 7 = 0",
	"UPDATE t SET id = id + 1000 WHERE id % 11 = 0",
	"DELETE FROM t WHERE id % 5 = 0",
	"VACUUM t",
	"INSERT INTO t VALUES (9999, 'new', NULL)",
	"BEGIN; INSERT INTO t SELECT i, 'gone' FROM generate_series(2000, 2010) i; ROLLBACK",
	"BEGIN; SELECT * FROM t WHERE id < 20 FOR UPDATE; COMMIT",
	"DELETE FROM t WHERE id % 13 = 0",
}

func TestPagesAgreeWithPageinspect(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, variedTable...)
	blocks, _ := strconv.Atoi(clustertest.Query(t, uri, "SELECT pg_relation_size('t') / current_setting('block_size')::int"))
	if blocks < 2 {
		t.Fatalf("the table has %d blocks", blocks)
	}
	for block := range blocks {
		page := rawPage(t, uri, "t", block)
		header, err := page.Header()
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%s|%d|%d|%d|%d|%d|%d|%d|%d", header.LSN, int16(header.Checksum), header.Flags, header.Lower, header.Upper, header.Special,
			header.Size, header.Version, header.PruneXID)
		if want := clustertest.Query(t, uri, fmt.Sprintf("SELECT * FROM page_header(get_raw_page('t', %d))", block)); got != want {
			t.Errorf("block %d: header %s, want %s", block, got, want)
		}
		if want := clustertest.Query(t, uri, fmt.Sprintf("SELECT page_checksum(get_raw_page('t', %d), %d)", block, block)); strconv.Itoa(int(int16(heap.Checksum(page, uint32(block))))) != want {
			t.Errorf("block %d: checksum %d, want %s", block, int16(heap.Checksum(page, uint32(block))), want)
		}
		items := clustertest.Query(t, uri, fmt.Sprintf(`SELECT lp, lp_off, lp_flags, lp_len, t_xmin, t_xmax, t_field3, t_ctid, t_infomask, t_infomask2, t_hoff
			FROM heap_page_items(get_raw_page('t', %d))`, block))
		var lines []string
		for n := 1; n <= page.Lines(); n++ {
			lines = append(lines, itemText(t, page, n))
		}
		if got := strings.Join(lines, "\n"); got != items {
			t.Errorf("block %d: items\n%s\nwant\n%s", block, got, items)
		}
	}
}

func itemText(t *testing.T, page heap.Page, n int) string {
	t.Helper()
	l, err := page.Line(n)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%d|%d|%d|%d", n, l.Offset, l.State, l.Length)
	if l.State != heap.LineNormal {
		return text + "|||||||"
	}
	tuple, err := page.Tuple(n)
	if err != nil {
		t.Fatal(err)
	}
	block, line := tuple.CTID()
	return fmt.Sprintf("%s|%d|%d|%d|(%d,%d)|%d|%d|%d", text, tuple.Xmin(), tuple.Xmax(), tuple.Field3(), block, line,
		tuple.Infomask(), tuple.Infomask2(), tuple.Hoff())
}

func TestCompressedValuesAreRead(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE EXTENSION pageinspect", "CREATE TABLE t (v text)")
	methods := []string{"pglz"}
	if clustertest.Query(t, uri, "SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression'") == "t" {
		methods = append(methods, "lz4")
	}
	for _, method := range methods {
		clustertest.Exec(t, uri, "TRUNCATE t", "ALTER TABLE t ALTER v SET COMPRESSION "+method,
			"INSERT INTO t SELECT string_agg(md5((i % 10)::text) || repeat('ab', i % 7), '') FROM generate_series(1, 100) i",
			"INSERT INTO t VALUES (repeat('x', 100000)), ('short'), (repeat('y', 200))")
		want := strings.Split(clustertest.Query(t, uri, "SELECT v FROM t"), "\n")
		page := rawPage(t, uri, "t", 0)
		var kinds []heap.Compression
		for n, text := range want {
			tuple, err := page.Tuple(n + 1)
			if err != nil {
				t.Fatal(err)
			}
			values, err := tuple.Values([]heap.Attribute{{Name: "v", Len: -1, Align: 'i'}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			v, _, err := heap.ParseVarlena(values[0].Data)
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, v.Compression)
			got := v.Payload
			if v.Compression != heap.NoCompression {
				if got, err = heap.Decompress(nil, v.Compression, v.Payload, v.RawSize); err != nil {
					t.Fatal(err)
				}
			}
			if string(got) != text {
				t.Errorf("%s: value %d has %d bytes, not the %d of the server", method, n, len(got), len(text))
			}
		}
		if kinds[0] == heap.NoCompression || kinds[1] == heap.NoCompression || (kinds[0] == heap.LZ4) != (method == "lz4") {
			t.Errorf("%s: the values are compressed by %v", method, kinds)
		}
	}
}
