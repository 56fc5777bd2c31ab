package datadir

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
)

// TestCatalogsReadAsTheServerDoes compares every catalog whose columns can be printed, and the tables with their types.
func TestCatalogsReadAsTheServerDoes(t *testing.T) {
	s := private(t, nil)
	uri := s.URI("postgres")
	clustertest.Exec(t, uri, "CREATE DATABASE \"Other one\"", "ANALYZE", "CHECKPOINT")
	names := strings.Split(clustertest.Query(t, uri, "SELECT datname FROM pg_database ORDER BY datname COLLATE \"C\""), "\n")
	tables := strings.Split(clustertest.Query(t, uri, `SELECT oid::regclass::text FROM pg_class
		WHERE relkind = 'r' AND relnamespace = 'pg_catalog'::regnamespace ORDER BY relname`), "\n")
	types := clustertest.Query(t, uri, `SELECT c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull
		FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE c.relkind IN ('r', 'p', 'm') AND a.attnum > 0 AND
		NOT a.attisdropped ORDER BY relnamespace::regnamespace::text COLLATE "C", relname COLLATE "C", attnum`)
	want := map[string][]string{}
	for _, table := range tables {
		want[table] = serverRows(t, uri, "pg_catalog."+table, columnNames(t, uri, table)...)
	}
	db := database(t, stopped(t, s, false), "postgres")

	list, err := db.dir.Databases()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range list {
		got = append(got, d.Name)
	}
	if !slices.Equal(got, names) {
		t.Errorf("databases: got %q, want %q", got, names)
	}
	equalRows(t, "columns", columnTexts(t, db), strings.Split(types, "\n"))
	for _, table := range tables {
		equalRows(t, table, directoryRows(t, db, "pg_catalog."+table, nil), want[table])
	}
}

// TestScansSideBySide reads one table from several goroutines, its TOAST index being damaged, so that all need the summary.
func TestScansSideBySide(t *testing.T) {
	s := private(t, nil)
	uri := s.URI("postgres")
	clustertest.Exec(t, uri, "CREATE TYPE public.mood AS ENUM ('a', 'b')",
		"CREATE TABLE public.t (id int, t text, e public.mood, r regclass)", "ALTER TABLE public.t ALTER t SET STORAGE EXTERNAL",
		"INSERT INTO public.t SELECT g, repeat(md5(g::text), g % 200), 'b', 'pg_catalog.pg_class' FROM generate_series(1, 4000) g", "CHECKPOINT")
	want := serverRows(t, uri, "public.t", "id", "t", "e", "r")
	db := database(t, stopped(t, s, false), "postgres")
	table := findTable(t, db, "public.t")
	if err := os.Truncate(filepath.Join(db.dir.path, db.Path(table.Toast.IndexTablespace, table.Toast.IndexFile)), 0); err != nil {
		t.Fatal(err)
	}
	r, err := db.File(table)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	const workers = 4
	parts := make([][]string, workers)
	var group sync.WaitGroup
	for worker := range uint32(workers) {
		group.Go(func() {
			step := r.Blocks()/workers + 1
			parts[worker] = tableRows(t, db, table, &ScanOptions{From: worker * step, To: worker*step + step})
		})
	}
	group.Wait()
	equalRows(t, "public.t", slices.Concat(parts...), want)
}

func columnTexts(t *testing.T, db *Database) []string {
	t.Helper()
	tables, err := db.Tables()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for i := range tables {
		if err := db.Describe(&tables[i]); err != nil {
			t.Fatal(err)
		}
		for _, c := range tables[i].Columns {
			notNull := "f"
			if c.NotNull {
				notNull = "t"
			}
			lines = append(lines, strings.Join([]string{tables[i].Name, itoa(c.Number), c.Name, c.TypeName, notNull}, "|"))
		}
	}
	return lines
}
