package datadir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/cluster"
	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/internal/sqltext"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

// private starts a server whose text is the one that the printers make.
func private(t *testing.T, settings map[string]string) *cluster.Server {
	t.Helper()
	all := map[string]string{"timezone": "UTC", "search_path": "", "autovacuum": "off"}
	for name, value := range settings {
		all[name] = value
	}
	return clustertest.Private(t, &cluster.Options{Settings: all})
}

// serverRows gives the rows of a table as the server prints them, in the order in which they lie.
func serverRows(t *testing.T, uri, table string, columns ...string) []string {
	t.Helper()
	for i, c := range columns {
		if c == "" { // a table without columns
			columns[i] = "''"
			continue
		}
		columns[i] = fmt.Sprintf("CASE num_nulls(%[1]s) WHEN 1 THEN '<NULL>' ELSE format('%%s', %[1]s) END", c)
	}
	sql := "SELECT ctid || ' ' || " + strings.Join(columns, " || '|' || ") + " FROM ONLY " + table + " ORDER BY ctid"
	text := clustertest.Query(t, uri, sql)
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// columnNames lists the columns that a table has, quoted.
func columnNames(t *testing.T, uri, table string) []string {
	t.Helper()
	return strings.Split(clustertest.Query(t, uri, "SELECT quote_ident(attname) FROM pg_attribute WHERE attrelid = '"+table+
		"'::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated <> 'v' ORDER BY attnum"), "\n")
}

func findTable(t *testing.T, db *Database, table string) *Table {
	t.Helper()
	schema, name, err := sqltext.ParseQualified(table)
	if err != nil {
		t.Fatal(err)
	}
	found, err := db.Table(schema, name)
	if err != nil {
		t.Fatalf("%s: %v", table, err)
	}
	return found
}

// directoryRows gives the rows of a table as this package prints them.
func directoryRows(t *testing.T, db *Database, table string, o *ScanOptions) []string {
	t.Helper()
	return tableRows(t, db, findTable(t, db, table), o)
}

func tableRows(t *testing.T, db *Database, table *Table, o *ScanOptions) []string {
	t.Helper()
	printers, err := db.Printers(table)
	if err != nil {
		t.Errorf("%s: %v", table.Name, err)
		return nil
	}
	defer printers.Close()
	var rows []string
	err = db.Scan(t.Context(), table, o, func(row Row) error {
		texts, err := printers.Row(row)
		if err != nil {
			return err
		}
		line := make([]string, len(texts))
		for i, text := range texts {
			if line[i] = string(text); text == nil {
				line[i] = "<NULL>"
			}
		}
		rows = append(rows, fmt.Sprintf("(%d,%d) %s", row.Block, row.Line, strings.Join(line, "|")))
		return nil
	})
	if err != nil {
		t.Errorf("scan %s: %v", table.Name, err)
	}
	return rows
}

func equalRows(t *testing.T, table string, got, want []string) {
	t.Helper()
	// Values may have newlines: compare the whole text.
	g, w := strings.Split(strings.Join(got, "\n"), "\n"), strings.Split(strings.Join(want, "\n"), "\n")
	if len(g) != len(w) {
		t.Errorf("%s: got %d lines of text, want %d", table, len(g), len(w))
	}
	shown := 0
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			if t.Errorf("%s:\n got %.300s\nwant %.300s", table, g[i], w[i]); shown >= 5 {
				return
			}
			shown++
		}
	}
}

// stopped stops the server in good order, or as a crash, and opens its directory.
func stopped(t *testing.T, s *cluster.Server, crash bool) *Directory {
	t.Helper()
	var err error
	if crash {
		err = s.Kill()
	} else {
		err = s.Stop(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return opened(t, s.Dir())
}

func opened(t *testing.T, path string) *Directory {
	t.Helper()
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func database(t *testing.T, d *Directory, name string) *Database {
	t.Helper()
	db, err := d.Database(name)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// overwrite changes bytes of a file.
func overwrite(t *testing.T, path string, offset int64, bytes []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(bytes, offset); err != nil {
		t.Fatal(err)
	}
}

// tablePath is the file of a table.
func tablePath(t *testing.T, db *Database, table string) string {
	t.Helper()
	found := findTable(t, db, table)
	return filepath.Join(db.dir.path, db.Path(found.Tablespace, found.File))
}

func itoa(n int) string { return fmt.Sprint(n) }
