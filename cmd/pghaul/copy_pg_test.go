package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
)

const makeItems = "CREATE TABLE items (id bigint PRIMARY KEY, name text NOT NULL, price numeric)"

const fillItems = "INSERT INTO items SELECT i, 'item ' || i, i / 7.0 FROM generate_series(1, 1000) AS i"

const allItems = "SELECT * FROM items ORDER BY id"

func TestCopyToAnotherServer(t *testing.T) {
	source, target := pair(t)
	clustertest.Exec(t, source, makeItems, fillItems)
	clustertest.Exec(t, target, makeItems)

	o := haul(t, "copy", "--source", source, "--target", target, "items")
	o.is(t, 0)
	if o.out != "" {
		t.Errorf("standard output is for data, got %q", o.out)
	}
	line := regexp.MustCompile(`copied 1,000 rows, [0-9.]+ (bytes|kB), in [0-9.]+ s \([0-9.]+ \w+/s, [0-9.]+ ?k? rows/s\); limited by the \w+\n$`)
	if !line.MatchString(o.errors) {
		t.Errorf("summary: %q", o.errors)
	}
	sameRows(t, source, allItems, target, allItems)
}

func TestCopyFillsAndKeys(t *testing.T) {
	source, target := pair(t)
	clustertest.Exec(t, source, makeItems, fillItems)
	clustertest.Exec(t, target, makeItems, "INSERT INTO items VALUES (1, 'old', 0), (5000, 'older', 0)")
	both := []string{"copy", "--source", source, "--target", target, "--quiet", "items"}
	with := func(flags ...string) []string { return append(both, flags...) }

	haul(t, both...).is(t, 1, "ERROR:  target table public.items is not empty", "HINT:  Use --append")
	o := haul(t, with("--append")...)
	o.is(t, 1, "duplicate key value", "DETAIL:  ", "Key (id)=(1) already exists.", "CONSTRAINT NAME:  items_pkey", "SQLSTATE:  23505", "nothing was kept")
	sameRows(t, source, "SELECT 2", target, "SELECT count(*) FROM items")

	haul(t, with("--on-conflict", "nothing")...).is(t, 0)
	sameRows(t, source, "SELECT 1001, 'old'", target, "SELECT count(*), (SELECT name FROM items WHERE id = 1) FROM items")
	haul(t, with("--on-conflict", "update")...).is(t, 0)
	sameRows(t, source, "SELECT 1001, 'item 1'", target, "SELECT count(*), (SELECT name FROM items WHERE id = 1) FROM items")
	haul(t, with("--truncate")...).is(t, 0)
	sameRows(t, source, allItems, target, allItems)
	clustertest.Exec(t, source, "DELETE FROM items WHERE id > 10")
	haul(t, with("--replace", "--verify")...).is(t, 0)
	sameRows(t, source, allItems, target, allItems)
	sameRows(t, source, "SELECT 'items_pkey'", target, "SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 'items'::regclass")
}

func TestCopyCreates(t *testing.T) {
	source, target := pair(t)
	clustertest.Exec(t, source, makeItems, fillItems, "CREATE INDEX by_name ON items (name)")

	haul(t, "copy", "--source", source, "items:copied").is(t, 1, "does not exist", "HINT:  Use --create")
	haul(t, "copy", "--source", source, "--create", "items:copied").is(t, 0, "copied 1,000 rows")
	sameRows(t, source, allItems, source, "SELECT * FROM copied ORDER BY id")
	between := haul(t, "copy", "--source", source, "--target", target, "--create", "--verify", "hash", "items")
	if pgDumpIsOld(t, source) { // servers that came without client programs
		between.is(t, 1, "pg_dump is too old", "HINT:  Install pg_dump")
		return
	}
	between.is(t, 0, "equal by hash, 1,000 rows")
	indexes := "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'items' ORDER BY 1"
	sameRows(t, source, indexes, target, indexes)
}

// pgDumpIsOld reports whether the pg_dump of PATH is older than the server.
func pgDumpIsOld(t *testing.T, uri string) bool {
	t.Helper()
	said, err := exec.CommandContext(t.Context(), "pg_dump", "--version").Output()
	if err != nil { // It is looked for in other places too.
		return false
	}
	var dump, server int
	_, err = fmt.Sscanf(string(said), "pg_dump (PostgreSQL) %d", &dump)
	_, err2 := fmt.Sscan(clustertest.Query(t, uri, "SELECT current_setting('server_version_num')::int / 10000"), &server)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	return dump < server
}

func TestCopyParts(t *testing.T) {
	source, target := pair(t)
	clustertest.Exec(t, source, makeItems, fillItems, "CREATE SCHEMA s", "CREATE TABLE s.a AS SELECT 1 AS x", "CREATE TABLE s.b AS SELECT 2 AS x")
	clustertest.Exec(t, target, makeItems, "CREATE SCHEMA s", "CREATE TABLE s.a (x int)", "CREATE TABLE s.b (x int)", "CREATE TABLE totals (n bigint, s text)")
	run := func(args ...string) outcome {
		return haul(t, append([]string{"copy", "--source", source, "--target", target}, args...)...)
	}

	run("--where", "id <= 10", "--columns", "ID, name", "items").is(t, 0, "copied 10 rows")
	sameRows(t, source, "SELECT id, name, NULL FROM items WHERE id <= 10 ORDER BY 1", target, allItems)
	run("--query", "SELECT count(*) AS n, max(name) AS s FROM public.items", "--into", "totals").is(t, 0, "copied 1 row,")
	sameRows(t, source, "SELECT count(*), max(name) FROM items", target, "SELECT * FROM totals")
	run("-t", "s.*", "--append", "--jobs", "2").is(t, 0, "copied 2 tables, 2 rows")
	sameRows(t, source, "SELECT x FROM s.a UNION ALL SELECT x FROM s.b", target, "SELECT x FROM s.a UNION ALL SELECT x FROM s.b")
	run("-t", "nowhere.*").is(t, 1, "ERROR:  ", "nowhere")
}

func TestCopyOddNames(t *testing.T) {
	source, target := pair(t)
	for i, name := range []string{`"Upper"`, `"a ""quote"""`, `"dot.ted"`, `"co:lon"`, `"select"`, `"🐘"`, `"star*"`, `"back\slash"`, `"per%cent"`} {
		schema := fmt.Sprintf(`"Sch.%d"`, i)
		column := `"C ""x"", 🐘"`
		for _, uri := range []string{source, target} {
			clustertest.Exec(t, uri, "CREATE SCHEMA "+schema, "CREATE TABLE "+schema+"."+name+" ("+column+" text, plain int)")
		}
		full := schema + "." + name
		clustertest.Exec(t, source, "INSERT INTO "+full+" VALUES ('a', 1), (NULL, 2)")
		haul(t, "copy", "--source", source, "--target", target, full+":"+full, "--columns", column+",plain", "--verify").is(t, 0, "copied 2 rows")
		sameRows(t, source, "TABLE "+full, target, "TABLE "+full)
	}
	haul(t, "copy", "--source", source, "--target", target, "Upper").is(t, 1, "ERROR:  ")
}

func TestExplainChangesNothing(t *testing.T) {
	source, target := pair(t)
	clustertest.Exec(t, source, makeItems, fillItems)
	clustertest.Exec(t, target, makeItems)
	run := func(args ...string) outcome {
		return haul(t, append([]string{"copy", "--source", source, "--target", target, "items"}, args...)...)
	}

	o := run("--explain")
	o.is(t, 0)
	for _, want := range []string{"public.items", "relay", "COPY ", "FROM STDIN", "insert-select"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("%q is missing in the plan:\n%s", want, o.out)
		}
	}
	if dry := run("--dry-run"); dry.out != o.out || o.errors != "" {
		t.Errorf("--dry-run printed\n%s\nand --explain\n%s\n%s", dry.out, o.out, o.errors)
	}
	var plans []map[string]any
	if o := run("--explain", "--output", "json"); json.Unmarshal([]byte(o.out), &plans) != nil || len(plans) != 1 {
		t.Errorf("not an array of one plan: %s", o.out)
	}
	sameRows(t, source, "SELECT 0", target, "SELECT count(*) FROM items")
	if o := run("--analyze"); o.code != 0 || !strings.Contains(o.out, "actual") || !strings.Contains(o.errors, "copied 1,000 rows") {
		t.Errorf("--analyze: %+v", o)
	}
}

func TestCopyJSON(t *testing.T) {
	source, target := pair(t)
	clustertest.Exec(t, source, makeItems, fillItems)
	clustertest.Exec(t, target, makeItems)
	type table struct {
		Source, Target, Method, Format, Kept string
		Rows                                 int64
		Plan                                 map[string]any
		Verified                             map[string]any
		Errors                               []map[string]any
	}
	var got struct {
		Rows    int64
		Seconds float64
		Tables  []table
		Errors  []map[string]any
	}
	args := []string{"copy", "--source", source, "--target", target, "--output", "json", "items", "--quiet"}
	o := haul(t, append(args, "--analyze", "--verify", "count")...)
	o.is(t, 0)
	if err := json.Unmarshal([]byte(o.out), &got); err != nil {
		t.Fatalf("%v: %s", err, o.out)
	}
	if got.Rows != 1000 || got.Seconds <= 0 || len(got.Tables) != 1 || got.Tables[0].Source != "public.items" || got.Tables[0].Method != "relay" ||
		got.Tables[0].Plan == nil || got.Tables[0].Verified["source_rows"] != 1000.0 || len(got.Errors) > 0 || o.errors != "" {
		t.Errorf("got %s and %q", o.out, o.errors)
	}
	o = haul(t, append(args, "--append")...)
	o.is(t, 1)
	got.Tables = nil
	if err := json.Unmarshal([]byte(o.out), &got); err != nil {
		t.Fatalf("%v: %s", err, o.out)
	}
	if len(got.Tables) != 1 || got.Tables[0].Kept == "" || len(got.Errors) != 1 || got.Errors[0]["sqlstate"] != "23505" || got.Errors[0]["constraint"] != "items_pkey" {
		t.Errorf("got %s", o.out)
	}
}

func TestRefusedMethodsEndWith4(t *testing.T) {
	source, target := pair(t)
	clustertest.Exec(t, source, makeItems, fillItems, "CREATE TYPE pair AS (a int, b text)", "CREATE TABLE odd (p pair)")
	clustertest.Exec(t, target, makeItems, "CREATE TYPE other AS (a int)", "CREATE TYPE pair AS (a int, b text)", "CREATE TABLE odd (p pair)")
	run := func(args ...string) outcome {
		return haul(t, append([]string{"copy", "--source", source, "--target", target}, args...)...)
	}
	run("--method", "insert-select", "items").is(t, 4, "ERROR:  method insert-select cannot copy", "DETAIL:  ", "HINT:  ")
	run("--format", "binary", "odd:odd", "--columns", "p").is(t, 0)
	run("--freeze", "items").is(t, 4, "--freeze")
	sameRows(t, source, "SELECT 0", target, "SELECT count(*) FROM items")
}

// One table's failure is told with its reason, and does not keep the others from arriving.
func TestOneTableOfTwoFails(t *testing.T) {
	source, target := pair(t)
	clustertest.Exec(t, source, makeItems, fillItems, "CREATE TABLE bad AS SELECT i FROM generate_series(1, 10) AS i")
	clustertest.Exec(t, target, makeItems, "CREATE TABLE bad (i int CHECK (i < 7))")
	haul(t, "copy", "--source", source, "--target", target, "bad", "items").is(t, 1,
		"ERROR:  ", "SQLSTATE:  23514", "public.bad: nothing was kept", "public.items: 1,000 rows are copied and committed")
	sameRows(t, source, allItems, target, allItems)
	sameRows(t, source, "SELECT 0", target, "SELECT count(*) FROM bad")
}

func TestSourceFromEnvironment(t *testing.T) {
	server := clustertest.Server(t)
	source := clustertest.Database(t)
	clustertest.Exec(t, source, makeItems, fillItems, "CREATE TABLE copied (LIKE items)")
	name := clustertest.Query(t, source, "SELECT current_database()")
	cmd := command([]string{"PGHOST=" + server.SocketDir(), fmt.Sprintf("PGPORT=%d", server.Port()), "PGUSER=postgres", "PGDATABASE=" + name},
		"copy", "items:copied")
	finish(t, cmd).is(t, 0, "copied 1,000 rows")
}

func TestPasswordsAreNeverPrinted(t *testing.T) {
	source := clustertest.Database(t)
	const secret = "S3cretWord"
	for _, uri := range []string{
		"postgres://u:" + secret + "@localhost:1/x", "host=/nowhere user=u password=" + secret, "postgres://u:" + secret + "@localhost:port/x",
		"postgres://u:" + secret + "@[::1/x", "password=" + secret + " nonsense", "postgres://localhost:1/x?password=" + secret, "host=h port=99999999 password='" + secret,
	} {
		for _, args := range [][]string{{"copy", "--source", uri, "t"}, {"copy", "--source", source, "--target", uri, "t", "--verbose"}, {"verify", "--source", uri, "t"}} {
			o := haul(t, args...)
			if o.code == 0 || !strings.HasPrefix(o.errors, "ERROR:  ") && !strings.Contains(o.errors, "\nERROR:  ") {
				t.Errorf("%s: %+v", uri, o)
			}
			if strings.Contains(o.errors+o.out, secret) {
				t.Errorf("the password is printed for %s:\n%s", uri, o.errors)
			}
		}
	}
}
