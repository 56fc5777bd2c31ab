package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pghaul/pghaul"
	"github.com/pghaul/pghaul/internal/cluster"
	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/internal/heap"
)

const blockSize = 8192

// ran runs pghaul and compares its exit code.
func ran(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	if got := run(args, &out, &errs); got != code {
		t.Errorf("%v: exit code %d, want %d: %s", args, got, code, &errs)
	}
	return out.String(), errs.String()
}

// edited changes a block of a file, whose checksum, if it has one, is then right again.
func edited(t *testing.T, path string, block int, edit func(page []byte)) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := content[block*blockSize : (block+1)*blockSize]
	summed := binary.LittleEndian.Uint16(page[8:]) != 0
	edit(page)
	if summed {
		binary.LittleEndian.PutUint16(page[8:], heap.Checksum(page, uint32(block)))
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestHeapLs(t *testing.T) {
	dir, _ := stopped(t, nil, "CREATE TABLE plain (a int)", "INSERT INTO plain SELECT generate_series(1, 1000)", "ANALYZE plain",
		"CREATE TABLE lost AS SELECT 1 AS a", `CREATE SCHEMA "S"`, `CREATE TABLE "S"."long	name" (v text)`, "CREATE MATERIALIZED VIEW mv AS SELECT 7 AS a",
		"CREATE TABLE parted (a int) PARTITION BY LIST (a)", "CREATE TABLE part PARTITION OF parted DEFAULT")
	path, name, _ := strings.Cut(dir, "?dbname=")
	fields := func(text string) string {
		var lines []string
		for line := range strings.Lines(regexp.MustCompile(`base/\d+/\d+`).ReplaceAllString(text, "FILE")) {
			lines = append(lines, strings.Join(strings.Fields(line), " ")+"\n")
		}
		return strings.Join(lines, "")
	}
	stdout, _ := ran(t, exitDone, "heap", "ls", dir)
	const want = `schema table kind file size TOAST rows
S long\tname table FILE 0 bytes 0 bytes unknown
public lost table FILE 8.0 kB 0 bytes unknown
public mv materialized view FILE 8.0 kB 0 bytes unknown
public part table FILE 0 bytes 0 bytes unknown
public parted partitioned table 0 bytes 0 bytes unknown
public plain table FILE 40 kB 0 bytes 1000
`
	if got := fields(stdout); got != want {
		t.Errorf("heap ls prints\n%s\nwant\n%s", got, want)
	}
	if stdout, _ = ran(t, exitDone, "heap", "ls", path); !strings.Contains(fields(stdout), "database oid tables size\n") || !strings.Contains(fields(stdout), "template0 ") {
		t.Errorf("heap ls prints\n%s", stdout)
	}

	lost := fileOf(t, dir, "lost")
	if err := os.Remove(lost); err != nil {
		t.Fatal(err)
	}
	var tables []pghaul.HeapTable
	stdout, stderr := ran(t, exitSetAside, "heap", "ls", dir, "--count", "--output", "json")
	if err := json.Unmarshal([]byte(stdout), &tables); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(tables, func(h pghaul.HeapTable) bool { return h.Name == "lost" })
	if h := tables[i]; h.Rows != -1 || h.Damage != 1 || !strings.Contains(stderr, "WARNING:  public.lost, block 0: cannot read "+lost) {
		t.Errorf("a lost table: %+v\n%s", h, stderr)
	}
	if i = slices.IndexFunc(tables, func(h pghaul.HeapTable) bool { return h.Name == "plain" }); tables[i].Rows != 1000 {
		t.Errorf("%d rows counted", tables[i].Rows)
	}

	var databases []pghaul.HeapDatabase
	stdout, _ = ran(t, exitDone, "heap", "ls", path, "--output", "json")
	if err := json.Unmarshal([]byte(stdout), &databases); err != nil {
		t.Fatal(err)
	}
	i = slices.IndexFunc(databases, func(d pghaul.HeapDatabase) bool { return d.Name == "template1" })
	gone := filepath.Join(path, "base", fmt.Sprint(databases[i].OID))
	if err := os.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	stdout, stderr = ran(t, exitSetAside, "heap", "ls", path)
	if !strings.Contains(stdout, name) || !strings.Contains(stderr, "WARNING:  database template1: cannot read "+gone) || !strings.Contains(stderr, "1 database could not be read whole") {
		t.Errorf("a lost database:\n%s%s", stdout, stderr)
	}
}

func TestHeapDumpOfPartitions(t *testing.T) {
	dir, printed := stopped(t, []string{"(SELECT a, b FROM one)", "(SELECT a, b FROM two)"}, "CREATE TABLE parted (a int, b text) PARTITION BY LIST (a)",
		"CREATE TABLE one (gone date, b text, a int)", "ALTER TABLE one DROP COLUMN gone", "ALTER TABLE parted ATTACH PARTITION one FOR VALUES IN (1)",
		"CREATE TABLE two PARTITION OF parted DEFAULT", "INSERT INTO parted SELECT i % 3, 'row ' || i FROM generate_series(1, 100) i")
	one, two := printed["(SELECT a, b FROM one)"], printed["(SELECT a, b FROM two)"]
	stdout, _ := ran(t, exitDone, "heap", "dump", dir, "parted", "--header")
	if want := "a\tb\n" + one + two; stdout != want {
		t.Errorf("the dump is\n%s\nwant\n%s", stdout, want)
	}
	if err := os.Remove(fileOf(t, dir, "one")); err != nil {
		t.Fatal(err)
	}
	stdout, stderr := ran(t, exitSetAside, "heap", "dump", dir, "parted", "--header")
	if stdout != "a\tb\n"+two || !strings.Contains(stderr, "WARNING:  public.one, block 0: cannot read ") {
		t.Errorf("without a partition's file the dump is\n%s%s", stdout, stderr)
	}
	if _, stderr = ran(t, exitFailed, "heap", "dump", dir, "one"); !strings.Contains(stderr, "only a backup has its rows") {
		t.Errorf("the lost partition alone: %s", stderr)
	}
}

func TestHeapCheckReadsLongValues(t *testing.T) {
	const place = "(SELECT pg_relation_filepath(reltoastrelid) FROM pg_class WHERE relname = 'long')"
	dir, printed := stopped(t, []string{"long", place}, "CREATE TABLE long (id int, here text, there text)", "ALTER TABLE long ALTER there SET STORAGE EXTERNAL",
		`INSERT INTO long SELECT i, repeat('compressed ', 500), (SELECT string_agg(md5(g::text), '') FROM generate_series(1, 300) g) FROM generate_series(1, 50) i`)
	file := fileOf(t, dir, "long")
	apart := filepath.Join(t.TempDir(), "apart")
	toast := filepath.Join(filepath.Dir(file), filepath.Base(strings.TrimSpace(printed[place])))
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(apart, content, 0o600); err != nil {
		t.Fatal(err)
	}
	lone := []string{"--column-types", "id int, here text, there text", apart}
	if stdout, _ := ran(t, exitDone, append([]string{"heap", "dump", "--toast", toast}, lone...)...); stdout != printed["long"] {
		t.Error("the dump of a lone file with its TOAST file differs from COPY")
	}
	if stdout, stderr := ran(t, exitSetAside, append([]string{"heap", "dump"}, lone...)...); stdout != "" || !strings.Contains(stderr, "column there: a value is in TOAST relation") {
		t.Errorf("without its TOAST file: %s%s", stdout, stderr)
	}

	edited(t, file, 0, func(page []byte) { // the first tuple's compressed bytes: references to before the value's start
		at := bytes.Index(page, []byte("compres"))
		for i := range 8 {
			page[at-1+i] = 0xFF
		}
	})
	edited(t, toast, 3, func(page []byte) { copy(page[:24], make([]byte, 24)) })
	stdout, stderr := ran(t, exitFailed, "heap", "check", dir, "long")
	if !strings.Contains(stderr, "column here: ") || !strings.Contains(stderr, "column there: chunk ") || !strings.Contains(stderr, "the TOAST table of public.long, block 3: ") {
		t.Errorf("heap check prints\n%s%s", stdout, stderr)
	}
	stdout, _ = ran(t, exitFailed, "heap", "check", dir, "long", "--output", "json")
	var found heapChecked
	if err := json.Unmarshal([]byte(stdout), &found); err != nil || found.Faults < 3 || len(found.Damage) != int(found.Faults) || found.Tables != 1 {
		t.Errorf("heap check prints (%v)\n%s", err, stdout)
	}
}

func TestHeapNotes(t *testing.T) {
	s := clustertest.Private(t, &cluster.Options{})
	uri := clustertest.DatabaseOn(t, s)
	clustertest.Exec(t, uri, "CREATE TABLE t AS SELECT 1 AS a", "CHECKPOINT", "INSERT INTO t VALUES (2)")
	dir := s.Dir() + "?dbname=" + clustertest.Query(t, uri, "SELECT current_database()")
	if stdout, stderr := ran(t, exitDone, "heap", "dump", dir, "t"); stdout != "1\n" || !strings.Contains(stderr, "a server runs on") || !strings.Contains(stderr, "CHECKPOINT") {
		t.Errorf("a running server:\n%s%s", stdout, stderr)
	}
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"dump", "check"} {
		if _, stderr := ran(t, exitDone, "heap", verb, dir, "t"); !strings.Contains(stderr, "was not shut down cleanly") || !strings.Contains(stderr, "WAL") {
			t.Errorf("heap %s of a crashed server: %s", verb, stderr)
		}
	}
	if err := s.Restart(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// TestHeapDumpOfRandomBytes destroys pages of a table with checksums in every way: what is printed are rows of the table, in their order.
func TestHeapDumpOfRandomBytes(t *testing.T) {
	dir, printed := stopped(t, []string{"t"}, "CREATE TABLE t AS SELECT i AS id, md5(i::text) AS v, ARRAY[i] AS a FROM generate_series(1, 6000) i")
	file := fileOf(t, dir, "t")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	blocks := len(content) / blockSize
	for block := range blocks {
		page := content[block*blockSize:][:blockSize]
		binary.LittleEndian.PutUint16(page[8:], heap.Checksum(page, uint32(block)))
	}
	apart := filepath.Join(t.TempDir(), "16384")
	random := rand.New(rand.NewPCG(1, 2))
	lone := []string{"--column-types", "id int, v text, a int[]", apart}
	for round := range 15 {
		damaged := bytes.Clone(content)
		for range 1 + random.IntN(20) {
			page := damaged[(1+random.IntN(blocks-1))*blockSize:][:blockSize]
			switch random.IntN(4) {
			case 0:
				clear(page)
			case 1:
				page[random.IntN(blockSize)] ^= byte(1 + random.IntN(255))
			case 2:
				for i := range page {
					page[i] = byte(random.Uint32())
				}
			default: // torn
				copy(page[blockSize/2:], damaged[:blockSize/2])
			}
		}
		damaged = damaged[:len(damaged)-random.IntN(3*blockSize)]
		if err := os.WriteFile(apart, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		run(append([]string{"heap", "dump"}, lone...), &stdout, &stderr)
		rest := printed["t"]
		for line := range strings.Lines(stdout.String()) {
			at := strings.Index(rest, line)
			if at < 0 {
				t.Fatalf("round %d: the line %q is not of the table, or not in order", round, line)
			}
			rest = rest[at+len(line):]
		}
		if stdout.Len() == 0 {
			t.Errorf("round %d: nothing was saved", round)
		}
		run(append([]string{"heap", "check"}, lone...), &stdout, &stderr)
		run(append([]string{"heap", "dump", "--ignore-checksums", "--deleted"}, lone...), &stdout, &stderr)
		if strings.Contains(stderr.String(), "panic") || strings.Contains(stderr.String(), "runtime error") {
			t.Fatalf("round %d: %s", round, &stderr)
		}
	}
}
