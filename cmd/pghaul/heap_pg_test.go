package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/cluster"
	"github.com/pghaul/pghaul/internal/clustertest"
)

// stopped makes a database with the statements, keeps what COPY prints of the tables named, and stops the server.
func stopped(t *testing.T, tables []string, sql ...string) (dir string, printed map[string]string) {
	t.Helper()
	s := clustertest.Private(t, &cluster.Options{Settings: map[string]string{"timezone": "UTC", "autovacuum": "off"}})
	uri := clustertest.DatabaseOn(t, s)
	clustertest.Exec(t, uri, sql...)
	printed = map[string]string{}
	for _, table := range tables {
		file := filepath.Join(s.Dir(), "printed")
		clustertest.Exec(t, uri, "COPY "+table+" TO '"+file+"'")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		printed[table] = string(text)
	}
	name := clustertest.Query(t, uri, "SELECT current_database()")
	if err := s.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s.Dir() + "?dbname=" + name, printed
}

// typesTable has columns of many types, with NULLs, long values, and a column that was added later.
var typesTable = []string{
	"CREATE TYPE mood AS ENUM ('sad', 'so so', 'happy')",
	"CREATE TYPE pair AS (a int, b text)",
	`CREATE TABLE "Odd ""Name" (id bigint, gone int, t text, n numeric(12,3), d date, ts timestamptz, b bool, y bytea, a int[], ta text[], j jsonb, r int4range, m mood, p pair, f float8, i interval)`,
	`INSERT INTO "Odd ""Name" SELECT i, 1, CASE i % 3 WHEN 0 THEN repeat(md5(i::text), i) WHEN 1 THEN E'tab\there\\ "q"\nline' END, i / 7.0, date '2000-01-01' + i, timestamptz '2001-02-03 04:05:06.7+00',
		i % 2 = 0, decode(md5(i::text), 'hex'), ARRAY[i, NULL, -i], ARRAY['a b', NULL, '"x"', ''], jsonb_build_object('k', i, 'l', ARRAY[1.5, 2]), int4range(i, i + 5), 'so so', ROW(i, 'x y'::text)::pair, i / 3.0, make_interval(days => i)
		FROM generate_series(1, 300) i`,
	`ALTER TABLE "Odd ""Name" DROP COLUMN gone`,
	`ALTER TABLE "Odd ""Name" ADD COLUMN late text DEFAULT 'later'`,
	`DELETE FROM "Odd ""Name" WHERE id % 10 = 0`,
	`UPDATE "Odd ""Name" SET t = 'changed' WHERE id % 11 = 0`,
}

func TestHeapDumpPrintsWhatCopyDoes(t *testing.T) {
	const table = `"Odd ""Name"`
	dir, printed := stopped(t, []string{table}, typesTable...)
	for _, jobs := range []string{"1", "3"} {
		var stdout, stderr bytes.Buffer
		if code := run([]string{"heap", "dump", dir, table, "--jobs", jobs}, &stdout, &stderr); code != exitDone {
			t.Fatalf("exit code %d: %s", code, &stderr)
		}
		if stdout.String() != printed[table] {
			t.Errorf("%s jobs: the dump has %d bytes and differs from the %d bytes of COPY", jobs, stdout.Len(), len(printed[table]))
		}
	}
}

func TestHeapDumpForms(t *testing.T) {
	dir, _ := stopped(t, nil, "CREATE TABLE t (id int, v text, b bool, j json, n numeric)", `INSERT INTO t VALUES (1, 'a,"b"', true, '{"k": 1}', 'NaN'), (2, '', false, '[1,
2]', 1.50), (3, NULL, NULL, NULL, NULL), (4, '\.', NULL, NULL, NULL)`, "DELETE FROM t WHERE id = 3", "BEGIN; INSERT INTO t VALUES (5); ROLLBACK")
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"csv", []string{"--format", "csv", "--header", "--columns", "v,id"}, "v,id\n\"a,\"\"b\"\"\",1\n\"\",2\n\"\\.\",4\n"},
		{"ndjson", []string{"--format", "ndjson"}, `{"id":1,"v":"a,\"b\"","b":true,"j":{"k":1},"n":"NaN"}` + "\n" +
			`{"id":2,"v":"","b":false,"j":[1,2],"n":1.50}` + "\n" + `{"id":4,"v":"\\.","b":null,"j":null,"n":null}` + "\n"},
		{"deleted", []string{"--deleted", "--columns", "id"}, "1\tlive\n2\tlive\n3\tdeleted\n4\tlive\n5\taborted\n"},
		{"no block", []string{"--ranges", "1-"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := run(append([]string{"heap", "dump", dir, "t"}, c.args...), &stdout, &stderr); code != exitDone || stdout.String() != c.want {
				t.Errorf("exit code %d, printed\n%q\nwant\n%q\n%s", code, &stdout, c.want, &stderr)
			}
		})
	}
}

// fileOf finds a table's file by heap ls.
func fileOf(t *testing.T, dir, table string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run([]string{"heap", "ls", dir}, &stdout, &stderr); code != exitDone {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	for line := range strings.Lines(stdout.String()) {
		if f := strings.Fields(line); len(f) > 3 && f[1] == table {
			path, _, _ := strings.Cut(dir, "?")
			return filepath.Join(path, f[3])
		}
	}
	t.Fatalf("heap ls does not list %s:\n%s", table, &stdout)
	return ""
}

func TestHeapReadsALoneFile(t *testing.T) {
	dir, printed := stopped(t, []string{"t"}, "CREATE TABLE t (id int8, d date, v varchar(10), a int[])",
		"INSERT INTO t SELECT i, date '2000-01-01' + i, 'v' || i, ARRAY[i] FROM generate_series(1, 1000) i", "DELETE FROM t WHERE id % 3 = 0", "VACUUM t")
	file := fileOf(t, dir, "t")
	apart := filepath.Join(t.TempDir(), "16384")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(apart, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, apart} {
		var stdout, stderr bytes.Buffer
		if code := run([]string{"heap", "dump", "--column-types", "id bigint, d date, character varying(10), int[]", path}, &stdout, &stderr); code != exitDone {
			t.Fatalf("exit code %d: %s", code, &stderr)
		}
		if stdout.String() != printed["t"] {
			t.Errorf("the dump of %s differs from COPY", path)
		}
	}
	var stdout, stderr bytes.Buffer
	if code := run([]string{"heap", "dump", "--column-types", "id bigint, v text", apart}, &stdout, &stderr); code != exitSetAside || !strings.Contains(stderr.String(), "the table 2") {
		t.Errorf("with wrong column types the exit code is %d: %s", code, &stderr)
	}
}

func TestHeapCheckNamesTheDamage(t *testing.T) {
	dir, _ := stopped(t, nil, "CREATE TABLE t (id int, v text)", "INSERT INTO t SELECT i, repeat('x', 100) FROM generate_series(1, 1000) i")
	var stdout, stderr bytes.Buffer
	if code := run([]string{"heap", "check", dir}, &stdout, &stderr); code != exitDone || stderr.Len() > 0 {
		t.Fatalf("a sound directory: exit code %d: %s", code, &stderr)
	}
	file := fileOf(t, dir, "t")
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte{0xFF, 0x7F}, 3*8192+14); err != nil { // pd_upper of block 3
		t.Fatal(err)
	}
	stdout.Reset()
	if code := run([]string{"heap", "check", dir, "t"}, &stdout, &stderr); code != exitFailed || !strings.Contains(stderr.String(), "public.t, block 3: the page's bounds are broken") {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
	stdout.Reset()
	stderr.Reset()
	if code := run([]string{"heap", "dump", dir, "t", "--columns", "id"}, &stdout, &stderr); code != exitSetAside || !strings.Contains(stderr.String(), "block 3") {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
	if rows := strings.Count(stdout.String(), "\n"); rows < 900 || rows >= 1000 {
		t.Errorf("%d rows were saved of a table of 1000 with one broken page", rows)
	}
}

func TestHeapUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"heap", "nothing"}, exitUsage, "no such verb of heap"},
		{[]string{"heap", "dump", "/nowhere"}, exitUsage, "one table"},
		{[]string{"heap", "dump", "/nowhere", "t"}, exitFailed, "/nowhere"},
		{[]string{"heap", "dump", "--column-types", "int8", "/nowhere"}, exitFailed, "/nowhere"},
		{[]string{"heap", "dump", "--column-types", "id nothing", "/nowhere"}, exitUsage, "names no built-in type"},
		{[]string{"heap", "dump", "/nowhere", "t", "--ranges", "9-3"}, exitUsage, "--ranges"},
		{[]string{"heap", "ls", "/nowhere", "--count"}, exitUsage, "--database"},
		{[]string{"heap", "check"}, exitUsage, "name a data directory"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(c.args, &stdout, &stderr); code != c.code || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%v: exit code %d, want %d: %s", c.args, code, c.code, &stderr)
		}
	}
}

func TestHeapDumpOfLargeValues(t *testing.T) {
	dir, printed := stopped(t, []string{"big"}, "CREATE TABLE big (id int, v text, b bytea, j json, n text)", "ALTER TABLE big ALTER v SET STORAGE EXTERNAL, ALTER b SET STORAGE EXTERNAL, ALTER j SET STORAGE EXTERNAL",
		`INSERT INTO big SELECT i, (SELECT string_agg(E'a"b\\c\nü,\t' || g, '') FROM generate_series(1, 200000) g), decode(repeat(md5(i::text), 100000), 'hex'),
		('["' || repeat('q\"\u0041 ', 200000) || E'",\n 1]')::json FROM generate_series(1, 2) i`, "INSERT INTO big VALUES (3, 'plain', NULL, '{}', 's')", "DELETE FROM big WHERE id = 2")
	dump := func(args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := run(append([]string{"heap", "dump", dir, "big"}, args...), &stdout, &stderr); code != exitDone {
			t.Fatalf("exit code %d: %s", code, &stderr)
		}
		return stdout.String()
	}
	if dump() != printed["big"] {
		t.Error("the text differs from that of COPY")
	}
	text, _, _ := strings.Cut(strings.SplitN(printed["big"], "\t", 3)[1], "\t")
	want := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`).Replace(text)
	rows, err := csv.NewReader(strings.NewReader(dump("--format", "csv"))).ReadAll()
	if err != nil || len(rows) != 2 || rows[0][1] != want {
		t.Errorf("the CSV has %d rows (%v), or another text", len(rows), err)
	}
	decoder := json.NewDecoder(strings.NewReader(dump("--format", "ndjson", "--deleted")))
	var states []string
	for decoder.More() {
		var row struct {
			V     string
			B     *string
			J     any
			State string `json:"pghaul_state"`
		}
		if err := decoder.Decode(&row); err != nil {
			t.Fatal(err)
		}
		if len(states) == 0 && (row.V != want || row.B == nil || len(*row.B) != 2+3200000) {
			t.Errorf("the first row has a text of %d bytes, not %d", len(row.V), len(want))
		}
		states = append(states, row.State)
	}
	if strings.Join(states, " ") != "live deleted live" {
		t.Errorf("the rows are %v", states)
	}
}
