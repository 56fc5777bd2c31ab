package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// TestDamagedCatalogs destroys blocks of the catalogs that initdb filled: tables of the user are still found and read.
func TestDamagedCatalogs(t *testing.T) {
	s := private(t, nil)
	uri := s.URI("postgres")
	clustertest.Exec(t, uri, "CREATE TYPE public.mood AS ENUM ('a', 'b')", "CREATE TABLE public.first (a int)",
		"CREATE TABLE public.t AS SELECT g AS id, repeat(md5(g::text), g) AS t, 'b'::public.mood AS m FROM generate_series(1, 300) g", "CHECKPOINT")
	want := serverRows(t, uri, "public.t", "id", "t", "m")
	users := map[string][]string{} // blocks with rows of the user's tables
	for catalog, key := range map[string]string{"pg_attribute": "attrelid", "pg_class": "oid"} {
		users[catalog] = strings.Split(clustertest.Query(t, uri, "SELECT DISTINCT (ctid::text::point)[0] FROM pg_catalog."+catalog+
			" WHERE "+key+" >= 16384"), "\n")
	}
	d := stopped(t, s, false)
	paths := map[string]string{}
	whole := map[string][]byte{}
	db := database(t, d, "postgres")
	for _, name := range []string{"pg_attribute", "pg_class", "pg_namespace", "pg_type", "pg_proc"} {
		paths[name] = tablePath(t, db, "pg_catalog."+name)
		content, err := os.ReadFile(paths[name])
		if err != nil {
			t.Fatal(err)
		}
		whole[name] = content
	}
	noise := slices.Repeat([]byte{0xA5, 0x17, 0xC3}, testBlock)[:testBlock]
	for _, damaged := range []string{"pg_attribute", "pg_class"} {
		blocks := len(whole[damaged]) / testBlock
		for block := range blocks {
			if slices.Contains(users[damaged], itoa(block)) {
				continue
			}
			overwrite(t, paths[damaged], int64(block)*testBlock, noise)
			if block%5 == 0 || block < 3 {
				db := database(t, d, "postgres")
				equalRows(t, damaged, directoryRows(t, db, "public.t", nil), want)
				_, err := db.Table("public", "none")
				var e *planner.Error
				if !errors.As(err, &e) || damaged == "pg_class" && !strings.Contains(e.Detail, "pg_class") {
					t.Errorf("a table that is not there: %#v", err)
				}
			}
		}
		if err := os.WriteFile(paths[damaged], whole[damaged], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Without the type's and its output function's rows, the column is what cannot be printed.
	if err := os.Truncate(paths["pg_type"], 0); err != nil {
		t.Fatal(err)
	}
	db = database(t, d, "postgres")
	table := findTable(t, db, "public.t")
	_, err := db.Printers(table)
	var e *planner.Error
	if !errors.As(err, &e) || e.Kind != planner.Refused || e.Hint == "" {
		t.Errorf("no pg_type: %#v", err)
	}
}

func TestTablespaces(t *testing.T) {
	s := private(t, nil)
	uri := s.URI("postgres")
	space := filepath.Join(filepath.Dir(s.Dir()), "space")
	if err := os.Mkdir(space, 0o700); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	owner := info.Sys().(*syscall.Stat_t)
	if err := os.Chown(space, int(owner.Uid), int(owner.Gid)); err != nil {
		t.Fatal(err)
	}
	clustertest.Exec(t, uri, "CREATE TABLESPACE other LOCATION '"+space+"'", "CREATE DATABASE moved TABLESPACE other")
	moved := s.URI("moved")
	clustertest.Exec(t, moved, "CREATE TABLE public.there AS SELECT 1 AS a", "CREATE TABLE public.here TABLESPACE pg_default AS SELECT 2 AS a",
		"VACUUM FULL pg_catalog.pg_class", "VACUUM FULL pg_catalog.pg_attribute", "VACUUM FULL pg_catalog.pg_namespace", "CHECKPOINT")
	d := stopped(t, s, false)
	db := database(t, d, "moved")
	equalRows(t, "there", directoryRows(t, db, "public.there", nil), []string{"(0,1) 1"})
	equalRows(t, "here", directoryRows(t, db, "public.here", nil), []string{"(0,1) 2"})
	if path := db.Path(findTable(t, db, "public.there").Tablespace, 1); !strings.HasPrefix(path, "pg_tblspc/") {
		t.Errorf("path %s", path)
	}
	names, err := db.Tablespaces()
	if err != nil || names[db.Tablespace] != "other" {
		t.Errorf("tablespaces %v, %v", names, err)
	}
	there := findTable(t, db, "public.there")
	if err := os.Rename(space, space+".gone"); err != nil {
		t.Fatal(err)
	}
	_, err = db.File(there)
	var e *planner.Error
	if !errors.As(err, &e) || !strings.Contains(e.Hint, "tablespace") {
		t.Errorf("a tablespace that is gone: %#v", err)
	}
}
