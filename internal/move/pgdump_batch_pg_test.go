package move

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// relatedTables name one another, so that a statement of one is easily taken for another's.
const relatedTables = `
CREATE TABLE public."A.b" (id int PRIMARY KEY, up int REFERENCES public."A.b");
CREATE TABLE "odd $s; Type: INDEX"."A.b" (id serial PRIMARY KEY, far int CONSTRAINT "to ""A.b""" REFERENCES public."A.b", rich int REFERENCES public.rich);
COMMENT ON TABLE "odd $s; Type: INDEX"."A.b" IS 'public."A.b"';
CREATE INDEX "public.rich" ON "odd $s; Type: INDEX"."A.b" (far) WHERE far > 0;
CREATE RULE "public.parent" AS ON UPDATE TO public."A.b" DO ALSO INSERT INTO public.parent VALUES (1);
CREATE TABLE public.heir (n int) INHERITS (public."A.b");`

// TestDefinitionsTogether compares what one pg_dump for all tables gives with what one for each gives.
func TestDefinitionsTogether(t *testing.T) {
	t.Parallel()
	source := clustertest.DatabaseOn(t, dumpCluster(t))
	clustertest.Exec(t, source, aroundTables, richTable, partitionedTable, oddTable, relatedTables)
	odd := "odd $s; Type: INDEX"
	var wants []want
	for _, key := range []tableKey{{"public", "rich"}, {"public", "parts"}, {"public", "parts_23"}, {odd, "T\".x$*? é😀"}, {"public", "A.b"}, {odd, "A.b"},
		{"public", "heir"}, {"public", "parent"}} {
		wants = append(wants, want{source: planner.Relation{Kind: planner.Table, Schema: key.schema, Name: key.name}, schema: key.schema, name: key.name})
	}
	spy, calls := dumpSpy(t)
	together, err := definitions(t.Context(), spy, configOf(t, source), dumpedServer(t, source), wants)
	if err != nil {
		t.Fatal(err)
	}
	if n := calls(); n != 2 {
		t.Errorf("pg_dump was asked %d times, want once for each section", n)
	}
	for i, w := range wants {
		alone, err := definitionOf(t, source, w)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(alone, together[i]); diff != "" || len(alone.Before) == 0 {
			t.Errorf("%s: %s", w.name, diff)
		}
	}
}

// dumpSpy is a pg_dump that counts how often it is asked for a dump.
func dumpSpy(t *testing.T) (path string, calls func() int) {
	t.Helper()
	genuine, err := findPgDump(t.Context(), "", planner.Server{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path, log := filepath.Join(dir, "pg_dump"), filepath.Join(dir, "log")
	script := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = --version ] || echo call >> '%s'\nexec '%s' \"$@\"\n", log, genuine.path)
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path, func() int {
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "\n")
	}
}

// TestCreateKeepsForeignKeysWithin: a foreign key between tables of the run leads to the table that the run has made of the other one.
func TestCreateKeepsForeignKeysWithin(t *testing.T) {
	t.Parallel()
	server := dumpCluster(t)
	source, target := clustertest.DatabaseOn(t, server), clustertest.DatabaseOn(t, server)
	clustertest.Exec(t, source, "CREATE TABLE parent (id int PRIMARY KEY); CREATE TABLE child (p int REFERENCES parent); CREATE TABLE heir () INHERITS (parent)",
		"INSERT INTO parent VALUES (1); INSERT INTO child VALUES (1); INSERT INTO heir VALUES (2)")
	clustertest.Exec(t, target, `CREATE SCHEMA "S"`)
	moves(t, Request{Source: source, Target: target, Wish: planner.Wish{Create: true}, Tables: []TablePair{
		{Source: "heir", Target: `"S".heir`}, {Source: "child", Target: `"S"."c.2"`}, {Source: "parent", Target: `"S".elder`}}})
	got := clustertest.Query(t, target, `SELECT confrelid::regclass, conrelid::regclass FROM pg_constraint WHERE contype = 'f'
		UNION ALL SELECT inhparent::regclass, inhrelid::regclass FROM pg_inherits`)
	if want := `"S".elder|"S"."c.2"` + "\n" + `"S".elder|"S".heir`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDumpBatches(t *testing.T) {
	t.Parallel()
	var dumped []*dumping
	for i := range 5 {
		d := &dumping{}
		for n := range i%2*3 + 1 {
			d.tables = append(d.tables, dumpedTable{tableKey: tableKey{"public", fmt.Sprintf("table_%d_%d", i, n)}})
		}
		dumped = append(dumped, d)
	}
	size := len(tableArgument(dumped[0].tables[0].tableKey)) + 1
	var got []int
	for _, batch := range dumpBatches(dumped, 2*size) {
		got = append(got, len(batch))
	}
	// The second and fourth have four relations each, which is more than a batch holds: they stand alone.
	if diff := cmp.Diff([]int{1, 1, 1, 1, 1}, got); diff != "" {
		t.Error(diff)
	}
	if n := len(dumpBatches(dumped, 11*size)); n != 1 {
		t.Errorf("%d batches where one has room for all", n)
	}
	if n := len(dumpBatches(dumped, 6*size)); n != 2 {
		t.Errorf("%d batches where two have room for all", n)
	}
}
