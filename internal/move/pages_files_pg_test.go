package move

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/cluster"
	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/internal/datadir"
	"github.com/pghaul/pghaul/internal/heap"
)

// fileSource makes a table with a past: rows of all kinds that a rewriting must tell apart.
func fileSource(t testing.TB, uri string) {
	t.Helper()
	clustertest.Exec(t, uri,
		"CREATE TYPE mood AS ENUM ('sad', 'ok', 'glad')", "CREATE TYPE new_mood AS ENUM ('glad', 'ok', 'sad')",
		`CREATE TABLE source (id int, m mood, txt text, n numeric, big text, "char" "char", f float8) WITH (fillfactor = 90, autovacuum_enabled = off)`,
		"ALTER TABLE source ALTER big SET STORAGE EXTERNAL",
		`INSERT INTO source SELECT i, (ARRAY['sad','ok','glad',NULL]::mood[])[i % 4 + 1], repeat('x', i % 130), NULLIF(i % 7, 0) * 1.5,
			CASE WHEN i % 500 = 0 THEN repeat(md5(i::text), 400) END, 'c', i FROM generate_series(1, 20000) i`,
		"UPDATE source SET txt = 'hot' WHERE id % 50 = 1", "UPDATE source SET id = id WHERE id % 50 = 2",
		"DELETE FROM source WHERE id BETWEEN 3000 AND 9000", // whole pages without rows
		"DELETE FROM source WHERE id % 10 = 5",
		"BEGIN", "INSERT INTO source SELECT i, 'sad', 'never' FROM generate_series(1, 500) i", "ROLLBACK",
		"BEGIN", "SAVEPOINT a", "INSERT INTO source SELECT i, 'ok', 'sub' FROM generate_series(30001, 30100) i", "RELEASE a",
		"SAVEPOINT b", "DELETE FROM source WHERE id < 100", "ROLLBACK TO b", "COMMIT",
		"BEGIN", "SELECT count(*) FROM (SELECT * FROM source WHERE id % 100 = 3 FOR SHARE) q", "SAVEPOINT s",
		"SELECT count(*) FROM (SELECT * FROM source WHERE id % 100 = 3 FOR UPDATE) q", "COMMIT",
		"ALTER TABLE source ADD added text DEFAULT 'a value of some length'", "ALTER TABLE source ADD more int DEFAULT 42",
		"ALTER TABLE source ADD feeling mood DEFAULT 'glad'", "ALTER TABLE source ADD nothing text",
		"INSERT INTO source SELECT i, 'glad', 'late' FROM generate_series(40001, 41000) i")
}

const columnsAsNew = `id, m::text, txt, n, big, "char", f, added, more, feeling::text, nothing`

// fileMover is a hand-made move of a table's files in the form that a server needs around it.
type fileMover struct {
	uri    string
	server *cluster.Server
	conn   *pgx.Conn
	db     *datadir.Database
	main   *datadir.Table
	quiet  heap.LSN
	logged bool
	xid    uint32
	enums  map[uint32]uint32
}

func (f *fileMover) one(t *testing.T, sql string, args ...any) string {
	t.Helper()
	var text string
	if err := f.conn.QueryRow(t.Context(), sql, args...).Scan(&text); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return text
}

func (f *fileMover) number(t *testing.T, sql string, args ...any) uint32 {
	t.Helper()
	n, err := strconv.ParseUint(f.one(t, sql, args...), 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(n)
}

// begin makes the target in a transaction that stays open, and reads what must be known of the source.
func (f *fileMover) begin(t *testing.T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), f.uri)
	if err != nil {
		t.Fatal(err)
	}
	f.conn = conn
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	for _, sql := range []string{
		"BEGIN", "LOCK TABLE source IN SHARE MODE",
		`CREATE TABLE target (id int, m new_mood, txt text, n numeric, big text, "char" "char", f float8, added text, more int, feeling new_mood, nothing text)`,
		"LOCK TABLE target IN ACCESS EXCLUSIVE MODE",
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	clustertest.Exec(t, f.uri, "CHECKPOINT")
	f.quiet = heap.LSN(0)
	var high, low uint32
	if _, err := fmt.Sscanf(f.one(t, "SELECT pg_current_wal_insert_lsn()::text"), "%X/%X", &high, &low); err != nil {
		t.Fatal(err)
	}
	f.quiet = heap.LSN(high)<<32 | heap.LSN(low)
	d, err := datadir.Open(f.server.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if f.db, err = d.Database(f.one(t, "SELECT current_database()::text")); err != nil {
		t.Fatal(err)
	}
	if f.main, err = f.db.Table("public", "source"); err != nil {
		t.Fatal(err)
	}
	if f.logged {
		f.xid = f.number(t, "SELECT (pg_current_xact_id()::text::bigint & 4294967295)::text")
	}
	f.enums = map[uint32]uint32{}
	for _, label := range []string{"sad", "ok", "glad"} {
		const sql = "SELECT oid::text FROM pg_enum WHERE enumtypid = $1::text::regtype AND enumlabel = $2"
		f.enums[f.number(t, sql, "mood", label)] = f.number(t, sql, "new_mood", label)
	}
}

// move is the pageMove of a relation into a file of the new one.
func (f *fileMover) move(t *testing.T, from *datadir.Table, path string) *pageMove {
	t.Helper()
	blocks, err := f.db.Blocks(from)
	if err != nil {
		t.Fatal(err)
	}
	control := f.db.Directory().Control()
	file := func(path string) pageFile {
		return pageFile{Path: filepath.Join(f.server.Dir(), path), SegmentBlocks: control.SegmentBlocks, BlockSize: control.BlockSize}
	}
	return &pageMove{
		Source: file(f.db.Path(from.Tablespace, from.File)), Target: file(path), Blocks: blocks, Quiet: f.quiet, Unlocked: from.Kind == 't',
		SourceChecksums: control.Checksums, VisibilityMap: !f.logged, Jobs: 2,
		Rewrite: heap.Rewrite{Attrs: from.Attributes, Xid: f.xid, Checksums: control.Checksums, Tx: f.db.Directory().Transactions(), Walk: true},
	}
}

// run moves the table and its TOAST table, and returns the number of rows.
func (f *fileMover) run(t *testing.T) int64 {
	t.Helper()
	m := f.move(t, f.main, f.one(t, "SELECT pg_relation_filepath('target')"))
	m.Rewrite.ToastRelation = f.number(t, "SELECT reltoastrelid::text FROM pg_class WHERE oid = 'target'::regclass")
	m.Rewrite.Enums = map[int]map[uint32]uint32{1: f.enums, 9: f.enums}
	moved, err := m.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	toast := f.move(t, f.db.ToastTable(f.main), f.one(t, "SELECT pg_relation_filepath(reltoastrelid) FROM pg_class WHERE oid = 'target'::regclass"))
	if _, err := toast.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.conn.Exec(t.Context(), "REINDEX TABLE "+f.one(t, "SELECT reltoastrelid::regclass::text FROM pg_class WHERE oid = 'target'::regclass")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.conn.Exec(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	return moved.Rows
}

// TestPageFilesAreTheServersOwn has the server judge a table whose files were written without it.
func TestPageFilesAreTheServersOwn(t *testing.T) {
	for _, checksums := range []bool{false, true} {
		server := clustertest.Private(t, testOptions(t))
		if checksums && !giveChecksums(t, server) {
			continue // the builds that the test matrix fetches lack pg_checksums
		}
		for _, logged := range []bool{false, true} {
			t.Run(fmt.Sprintf("checksums %s, logged %v", clustertest.Query(t, server.URI("postgres"), "SHOW data_checksums"), logged), func(t *testing.T) {
				uri := clustertest.DatabaseOn(t, server)
				fileSource(t, uri)
				f := &fileMover{uri: uri, server: server, logged: logged}
				f.begin(t)
				rows := f.run(t)
				if want := clustertest.Query(t, uri, "SELECT count(*) FROM source"); want != strconv.FormatInt(rows, 10) {
					t.Errorf("%d rows, the server counts %s", rows, want)
				}
				judgeFiles(t, uri, logged)
				if err := server.Restart(t.Context()); err != nil { // nothing of it may live in shared buffers alone
					t.Fatal(err)
				}
				sameContents(t, uri, "SELECT "+columnsAsNew+" FROM source WHERE id < 50000 AND id NOT BETWEEN 100 AND 200", uri,
					"SELECT "+columnsAsNew+" FROM target WHERE id < 50000 AND id NOT BETWEEN 100 AND 200")
			})
		}
	}
}

func testOptions(t *testing.T) *cluster.Options {
	t.Helper()
	major, err := strconv.Atoi(clustertest.Query(t, clustertest.Database(t), "SELECT current_setting('server_version_num')::int / 10000"))
	if err != nil {
		t.Fatal(err)
	}
	return &cluster.Options{Major: major}
}

// giveChecksums turns checksums on, where pg_checksums is there.
func giveChecksums(t *testing.T, s *cluster.Server) bool {
	t.Helper()
	program := filepath.Join(s.Binaries().Dir, "pg_checksums")
	if clustertest.Query(t, s.URI("postgres"), "SHOW data_checksums") == "on" {
		return true
	}
	if _, err := os.Stat(program); err != nil {
		return false
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(program, "--enable", "-D", s.Dir()).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	return clustertest.Query(t, s.URI("postgres"), "SHOW data_checksums") == "on"
}

// judgeFiles asks the server about the new table in every way that it has, and changes it.
func judgeFiles(t *testing.T, uri string, logged bool) {
	t.Helper()
	same := func() {
		sameContents(t, uri, "SELECT "+columnsAsNew+" FROM source", uri, "SELECT "+columnsAsNew+" FROM target")
	}
	same()
	sound := func() {
		t.Helper()
		if !clustertest.HasExtension(t, uri, "amcheck") {
			return
		}
		clustertest.Exec(t, uri, "CREATE EXTENSION IF NOT EXISTS amcheck")
		if faults := clustertest.Query(t, uri, "SELECT * FROM verify_heapam('target', check_toast => true) LIMIT 5"); faults != "" {
			t.Errorf("verify_heapam: %s", faults)
		}
	}
	sound()
	visible := clustertest.HasExtension(t, uri, "pg_visibility")
	if visible {
		clustertest.Exec(t, uri, "CREATE EXTENSION IF NOT EXISTS pg_visibility")
	}
	if logged {
		clustertest.Exec(t, uri, "VACUUM (FREEZE, INDEX_CLEANUP off, TRUNCATE false) target")
	}
	if visible {
		got := clustertest.Query(t, uri, `SELECT count(*) FILTER (WHERE NOT (all_visible AND all_frozen AND pd_all_visible)) FROM pg_visibility('target')
			UNION ALL SELECT count(*) FROM pg_check_frozen('target') UNION ALL SELECT count(*) FROM pg_check_visible('target')`)
		if got != "0\n0\n0" {
			t.Errorf("blocks that are not frozen, and faults of the visibility map: %s", strings.ReplaceAll(got, "\n", ", "))
		}
	}
	if logged && clustertest.HasExtension(t, uri, "pageinspect") {
		clustertest.Exec(t, uri, "CREATE EXTENSION IF NOT EXISTS pageinspect")
		if got := clustertest.Query(t, uri, `SELECT count(*) FROM generate_series(0, pg_relation_size('target') / 8192 - 1) b
			WHERE (page_header(get_raw_page('target', b::int))).lsn = '0/0'`); got != "0" {
			t.Errorf("VACUUM logged all pages but %s", got)
		}
	}
	same()
	for _, sql := range []string{
		"CREATE INDEX ON target (id)", "UPDATE target SET txt = 'changed' WHERE id BETWEEN 100 AND 200", "DELETE FROM target WHERE id BETWEEN 100 AND 110",
		"INSERT INTO target SELECT * FROM target WHERE id BETWEEN 111 AND 120", "UPDATE target SET id = id + 100000 WHERE id = 500",
		"UPDATE target SET id = id - 100000 WHERE id = 100500", "VACUUM target", "VACUUM (FREEZE) target",
	} {
		clustertest.Exec(t, uri, sql)
	}
	sound()
	if got := clustertest.Query(t, uri, "SET enable_seqscan = off; SELECT count(*) FROM target WHERE id = 12345 OR id = 40500"); got != "1" {
		t.Errorf("the index leads to %s rows", got)
	}
}
