package datadir

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

const testBlock = 8192

// damagedRows reads a table whatever is wrong, and also gives the places that were reported.
func damagedRows(t *testing.T, db *Database, table string) (rows, places []string) {
	t.Helper()
	rows = directoryRows(t, db, table, &ScanOptions{Damaged: func(block uint32, line int, err error) {
		places = append(places, fmt.Sprintf("%d/%d", block, line))
		if err == nil || err.Error() == "" {
			t.Errorf("block %d, line %d: no reason", block, line)
		}
	}})
	return rows, places
}

// without leaves out the rows of a block.
func without(rows []string, block uint32) []string {
	prefix := fmt.Sprintf("(%d,", block)
	return slices.DeleteFunc(slices.Clone(rows), func(row string) bool { return strings.HasPrefix(row, prefix) })
}

func TestDamagedBlocksAreLeftOut(t *testing.T) {
	s := private(t, nil)
	uri := s.URI("postgres")
	clustertest.Exec(t, uri, "CREATE TABLE public.t AS SELECT g AS id, repeat('x', g % 100) AS t FROM generate_series(1, 2000) g", "CHECKPOINT")
	want := serverRows(t, uri, "public.t", "id", "t")
	d := stopped(t, s, false)
	db := database(t, d, "postgres")
	path := tablePath(t, db, "public.t")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	blocks := len(whole) / testBlock
	random := make([]byte, testBlock)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range random {
		random[i] = byte(rng.Uint32())
	}
	tests := []struct {
		name   string
		damage func()
		want   []string
		places []string
	}{
		{"zeros", func() { overwrite(t, path, 2*testBlock, make([]byte, testBlock)) }, without(want, 2), nil},
		{"random", func() { overwrite(t, path, 3*testBlock, random) }, without(want, 3), []string{"3/0"}},
		{"torn", func() { os.Truncate(path, int64(len(whole)-100)) }, without(want, uint32(blocks-1)), []string{fmt.Sprintf("%d/0", blocks-1)}},
		{"cut", func() { os.Truncate(path, int64(len(whole)-testBlock)) }, without(want, uint32(blocks-1)), []string{fmt.Sprintf("%d/0", blocks-1)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			tt.damage()
			rows, places := damagedRows(t, db, "public.t")
			if tt.name == "cut" { // whole blocks that are gone at the end leave no trace
				tt.places = nil
			}
			equalRows(t, tt.name, rows, tt.want)
			if !d.Control().Checksums && !slices.Equal(places, tt.places) {
				t.Errorf("reported %q, want %q", places, tt.places)
			}
		})
	}
}

// TestRandomDamageIsNeverMoreThanDamage changes bytes at random and demands an end without panic, and that rows of untouched blocks are
// right.
func TestRandomDamageIsNeverMoreThanDamage(t *testing.T) {
	s := private(t, nil)
	uri := s.URI("postgres")
	clustertest.Exec(t, uri, "CREATE TABLE public.t (id int, t text, a int[], j jsonb, n numeric)",
		"ALTER TABLE public.t ALTER t SET STORAGE EXTERNAL",
		`INSERT INTO public.t SELECT g, repeat(md5(g::text), CASE WHEN g % 50 = 0 THEN 200 ELSE g % 10 END), ARRAY[g, g], jsonb_build_object('a', g, 'b', 'x'),
		g / 7.0 FROM generate_series(1, 3000) g`, "CHECKPOINT")
	want := serverRows(t, uri, "public.t", "id", "t", "a", "j", "n")
	db := database(t, stopped(t, s, false), "postgres")
	path := tablePath(t, db, "public.t")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 60 {
		bad := bytes.Clone(whole)
		touched := uint32(rng.IntN(len(whole) / testBlock))
		for range 1 + rng.IntN(200) {
			bad[int(touched)*testBlock+rng.IntN(testBlock)] = byte(rng.Uint32())
		}
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		rows, _ := damagedRows(t, db, "public.t")
		equalRows(t, fmt.Sprint("round ", round), without(rows, touched), without(want, touched))
	}
}

func TestTOASTDamage(t *testing.T) {
	s := private(t, nil)
	uri := s.URI("postgres")
	clustertest.Exec(t, uri, "CREATE TABLE public.t (id int, t text)", "ALTER TABLE public.t ALTER t SET STORAGE EXTERNAL",
		"INSERT INTO public.t SELECT g, CASE WHEN g % 2 = 0 THEN repeat(md5(g::text), 100 + g) ELSE 'short' END FROM generate_series(1, 200) g",
		"CREATE TABLE public.bare (LIKE public.t)", "CHECKPOINT")
	want := serverRows(t, uri, "public.t", "id", "t")
	db := database(t, stopped(t, s, false), "postgres")
	table := findTable(t, db, "public.t")
	toast := filepath.Join(db.dir.path, db.Path(table.Toast.Tablespace, table.Toast.File))
	index := filepath.Join(db.dir.path, db.Path(table.Toast.IndexTablespace, table.Toast.IndexFile))
	wholeIndex, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	short := slices.DeleteFunc(slices.Clone(want), func(row string) bool { return !strings.HasSuffix(row, "|short") })

	random := make([]byte, len(wholeIndex))
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range random {
		random[i] = byte(rng.Uint32())
	}
	for name, content := range map[string][]byte{
		"zeros": make([]byte, len(wholeIndex)), "random": random, "empty": {}, "meta only": wholeIndex[:testBlock],
	} {
		if err := os.WriteFile(index, content, 0o600); err != nil {
			t.Fatal(err)
		}
		equalRows(t, "index of "+name, directoryRows(t, db, "public.t", nil), want)
	}
	if err := os.Remove(index); err != nil {
		t.Fatal(err)
	}
	equalRows(t, "no index", directoryRows(t, db, "public.t", nil), want)
	if err := os.WriteFile(index, wholeIndex, 0o600); err != nil {
		t.Fatal(err)
	}

	overwrite(t, toast, 5*testBlock, random[:testBlock])
	rows, places := damagedRows(t, db, "public.t")
	if len(places) == 0 || len(places) > 4 || len(rows)+len(places) != len(want) {
		t.Errorf("one TOAST block of four chunks is damaged: %d rows of %d, reported %q", len(rows), len(want), places)
	}
	for _, row := range rows {
		if !slices.Contains(want, row) {
			t.Errorf("a row that the server has not: %.100s", row)
		}
	}

	if err := os.Remove(toast); err != nil {
		t.Fatal(err)
	}
	rows, places = damagedRows(t, db, "public.t")
	equalRows(t, "no TOAST table", rows, short)
	if len(places) != 100 {
		t.Errorf("reported %d places, want 100", len(places))
	}
}

func TestLostTransactionStates(t *testing.T) {
	s := private(t, nil)
	uri := s.URI("postgres")
	clustertest.Exec(t, uri, "CREATE TABLE public.hinted AS SELECT 1 AS a", "VACUUM public.hinted", "CREATE TABLE public.bare (a int)",
		"INSERT INTO public.bare VALUES (1)", "CHECKPOINT")
	d := stopped(t, s, false)
	db := database(t, d, "postgres")
	hinted, bare := findTable(t, db, "public.hinted"), findTable(t, db, "public.bare")
	if err := os.RemoveAll(filepath.Join(s.Dir(), "pg_xact")); err != nil {
		t.Fatal(err)
	}
	db.catalogs.tx = d.Transactions() // without the pages that are in memory since the catalogs were read
	for table, want := range map[*Table]int{hinted: 1, bare: 0} {
		rows := 0
		var reported error
		err := db.Scan(t.Context(), table, &ScanOptions{Damaged: func(_ uint32, _ int, err error) { reported = err }}, func(Row) error {
			rows++
			return nil
		})
		if err != nil || rows != want {
			t.Errorf("%s: %d rows, error %v", table.Name, rows, err)
		}
		if want == 0 && (reported == nil || !strings.Contains(reported.Error(), "pg_xact")) {
			t.Errorf("%s: reported %v", table.Name, reported)
		}
	}
}

func TestDirectoriesThatCannotBeOpened(t *testing.T) {
	s := private(t, nil)
	dir := s.Dir()
	d := opened(t, dir)
	if pid, running := d.Running(); pid == 0 || !running {
		t.Errorf("the server runs: got %d, %t", pid, running)
	}
	d = stopped(t, s, true)
	if pid, running := d.Running(); running {
		t.Errorf("the server was killed: got %d, %t", pid, running)
	}
	control := filepath.Join(dir, "global", "pg_control")
	whole, err := os.ReadFile(control)
	if err != nil {
		t.Fatal(err)
	}
	version := filepath.Join(dir, "PG_VERSION")
	text, err := os.ReadFile(version)
	if err != nil {
		t.Fatal(err)
	}
	swapped := bytes.Clone(whole)
	slices.Reverse(swapped[8:12])
	flipped := bytes.Clone(whole)
	flipped[100] ^= 1
	tests := []struct {
		name, file string
		content    []byte
		want       string
	}{
		{"newer version", version, []byte("99\n"), "PostgreSQL \"99\""},
		{"no version", version, []byte("\x00\xff"), "PostgreSQL"},
		{"another version", version, []byte(map[bool]string{true: "17\n", false: "18\n"}[d.Version() == 18]), "version"},
		{"damaged control file", control, flipped, "checksum"},
		{"another architecture", control, swapped, "architecture"},
		{"short control file", control, whole[:100], "100 bytes"},
		{"empty control file", control, nil, "0 bytes"},
	}
	for _, tt := range tests {
		os.WriteFile(version, text, 0o600)
		os.WriteFile(control, whole, 0o600)
		if err := os.WriteFile(tt.file, tt.content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir)
		var e *planner.Error
		if !errors.As(err, &e) || e.Hint == "" || !strings.Contains(e.Message+e.Detail, tt.want) {
			t.Errorf("%s: got %#v", tt.name, err)
		}
	}
	for _, path := range []string{filepath.Join(dir, "none"), control, t.TempDir()} {
		_, err := Open(path)
		var e *planner.Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, path) {
			t.Errorf("%s: got %v", path, err)
		}
	}
	os.WriteFile(version, text, 0o600)
	os.WriteFile(control, whole, 0o600)
	_, err = opened(t, dir).Database("none")
	var e *planner.Error
	if !errors.As(err, &e) || e.Kind != planner.Usage || !strings.Contains(e.Hint, "postgres, template0, template1") {
		t.Errorf("no database: got %#v", err)
	}
	demandSoundMaps(t, d)
	db := database(t, d, "postgres")
	if _, err = db.Table("public", "none"); !errors.As(err, &e) || e.Kind != planner.Usage {
		t.Errorf("no table: got %#v", err)
	}
}

// demandSoundMaps damages each map of relations.
func demandSoundMaps(t *testing.T, d *Directory) {
	t.Helper()
	var e *planner.Error
	maps := []string{filepath.Join(d.path, "global"), filepath.Join(d.path, database(t, d, "postgres").directory(0))}
	for _, path := range maps {
		name := filepath.Join(path, "pg_filenode.map")
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		overwrite(t, name, 20, []byte{content[20] ^ 1})
		list, err := d.Databases()
		if err == nil {
			_, err = list[0].Tables()
		}
		if !errors.As(err, &e) || e.Hint == "" || !strings.Contains(e.Message, name) {
			t.Errorf("%s is damaged: %#v", name, err)
		}
		overwrite(t, name, 20, content[20:21])
	}
}
