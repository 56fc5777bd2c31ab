package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/clustertest"
)

// file writes a file of the test's own and returns its path.
func file(t *testing.T, name, contents string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(contents), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoad(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, makeItems)
	path := file(t, "items.csv", "name,id,price\nhammer,1,9.50\n\"a, b\",2,\nsaw,3,12\n")
	load := []string{"load", "--target", uri, "--into", "items", path}

	o := haul(t, append(load, "--explain")...)
	o.is(t, 0)
	for _, want := range []string{"header", "COPY", "items", "binary"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("the plan lacks %q:\n%s", want, o.out)
		}
	}
	o = haul(t, load...)
	o.is(t, 0, "loaded 3 rows")
	if o.out != "" {
		t.Errorf("standard output is for data, got %q", o.out)
	}
	sameRows(t, uri, "VALUES (1, 'hammer', 9.50), (2, 'a, b', NULL), (3, 'saw', 12)", uri, allItems)

	haul(t, load...).is(t, 1, "target table public.items is not empty", "--append")
	haul(t, append(load, "--append")...).is(t, 1, "duplicate key", "Line 2 of", "--on-duplicate", "nothing was kept")
	haul(t, append(load, "--on-duplicate", "skip")...).is(t, 0, "3 rows gave way")
	haul(t, append(load, "--truncate", "--output", "json")...).is(t, 0)
	haul(t, append(load, "--replace")...).is(t, 0)
	sameRows(t, uri, "SELECT 3", uri, "SELECT count(*) FROM items")
}

func TestLoadSetsAside(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, makeItems)
	path := file(t, "items.csv", "id,name,price\n1,a,1\nx,b,2\n3,,3\n4,d\n5,e,5\n1,f,6\n")
	reject, reasons := filepath.Join(t.TempDir(), "bad.csv"), filepath.Join(t.TempDir(), "bad.json")
	load := []string{"load", "--target", uri, "--into", "items", "--on-error", "set-aside", "--reject", reject, "--reject-reasons", reasons, path}

	o := haul(t, append(load, "--output", "json")...)
	o.is(t, 3, "WARNING:  4 of 6 rows refused and set aside", "22P02", "23502", "22P04", "23505", reject)
	var result struct{ Rows, Read, Refused int64 }
	if err := json.Unmarshal([]byte(o.out), &result); err != nil || result.Rows != 2 || result.Read != 6 || result.Refused != 4 {
		t.Errorf("%v, %+v of %s", err, result, o.out)
	}
	sameRows(t, uri, "VALUES (1, 'a', 1), (5, 'e', 5)", uri, allItems)
	got, err := os.ReadFile(reject)
	if want := "id,name,price\nx,b,2\n3,,3\n4,d\n1,f,6\n"; err != nil || string(got) != want {
		t.Errorf("%v: the reject file has %q and not %q", err, got, want)
	}
	why, err := os.ReadFile(reasons)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range bytes.Split(bytes.TrimSuffix(why, []byte("\n")), []byte("\n")) {
		var reason map[string]any
		if err := json.Unmarshal(line, &reason); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if want := []float64{3, 4, 5, 7}[i]; reason["line"] != want {
			t.Errorf("reason %d names line %v and not %v", i, reason["line"], want)
		}
	}
	// Mended, the file can be loaded as it is.
	if err := os.WriteFile(reject, []byte("id,name,price\n2,b,2\n3,c,3\n4,d,4\n6,f,6\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	haul(t, "load", "--target", uri, "--into", "items", "--append", reject).is(t, 0, "loaded 4 rows")

	load = []string{"load", "--target", uri, "--into", "items", "--on-error", "set-aside", "--reject", filepath.Join(t.TempDir(), "more.csv"), path}
	haul(t, append(load, "--truncate", "--max-errors", "3")...).is(t, 1, "too many rows", "--max-errors allows 3", "nothing was kept")
	haul(t, append(load, "--truncate", "--max-errors", "50%")...).is(t, 1, "too many rows", "50%")
	sameRows(t, uri, "SELECT 6", uri, "SELECT count(*) FROM items")
}

func TestLoadCreates(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	path := file(t, "new.csv", "id;day;amount;ok;note;code\n1;2024-01-31;1.50;true;first;007\n2;2024-02-01;;false;;008\n")
	load := []string{"load", "--target", uri, "--into", "new", path}
	haul(t, load...).is(t, 1, "does not exist", "--create")
	haul(t, append(load, "--create")...).is(t, 0, "loaded 2 rows")
	sameRows(t, uri, `VALUES ('id', 'integer'), ('day', 'date'), ('amount', 'numeric'), ('ok', 'boolean'), ('note', 'text'), ('code', 'text')`,
		uri, `SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'new'::regclass AND attnum > 0 ORDER BY attnum`)
	sameRows(t, uri, "VALUES (1, DATE '2024-01-31', 1.50, true, 'first', '007'), (2, DATE '2024-02-01', NULL, false, NULL, '008')", uri, "SELECT * FROM new ORDER BY id")
}

func TestLoadBadInput(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, makeItems)
	for _, c := range []struct {
		name, contents string
		flags          []string
		code           int
		wants          []string
	}{
		{"a quote that is never closed", "id,name,price\n1,a,1\n2,\"b,2\n3,c,3\n", nil, 1, []string{"line 3"}},
		{"too few fields", "id,name,price\n1,a,1\n2,b\n", nil, 1, []string{"line 3", "missing data for column"}},
		{"an unknown column", "id,name,weight\n1,a,1\n", nil, 1, []string{"weight"}},
		{"a column twice", "id,name,id\n1,a,1\n", nil, 1, []string{"id"}},
		{"no number", "id,name,price\n1,a,1\nzwei,b,2\n", nil, 1, []string{"Column \"id\"", "line 3", `invalid input syntax for type bigint: "zwei"`, "22P02"}},
		{"a zero byte", "id,name,price\n1,a\x00b,1\n", []string{"--format", "csv"}, 1, []string{"Line 2", "0x00"}},
		{"no UTF-8", "id,name,price\n1,a\xff,1\n", nil, 1, []string{"Line 2", "0xff"}},
		{"LATIN1", "id,name,price\n1,stra\xdfe,1\n", []string{"--encoding", "LATIN1"}, 0, nil},
		{"an empty file", "", nil, 0, []string{"loaded 0 rows"}},
		{"no such format", "1\n", []string{"--format", "excel"}, 2, []string{"format"}},
		{"rejects without set-aside", "1\n", []string{"--reject", "x"}, 2, []string{"--on-error set-aside"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := file(t, "items.csv", c.contents)
			haul(t, append([]string{"load", "--target", uri, "--into", "items", "--truncate", path}, c.flags...)...).is(t, c.code, c.wants...)
		})
	}
	sameRows(t, uri, "SELECT 0", uri, "SELECT count(*) FROM items")
	haul(t, "load", "--target", uri, "--into", "items", "/no/such/file.csv").is(t, 1, "/no/such/file.csv")
	haul(t, "load", "--target", uri, "--into", "items", t.TempDir()).is(t, 1, "HINT")
}

// TestLoadKilled kills a load at random moments until one comes to its end: each run goes on where the one before was killed.
func TestLoadKilled(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE numbers (i int, t text)", "CREATE INDEX ON numbers (i)")
	var text strings.Builder
	const rows = 60000
	refused := 0
	for i := range rows {
		if i%97 == 13 {
			fmt.Fprintf(&text, "bad%d,x\n", i)
			refused++
			continue
		}
		fmt.Fprintf(&text, "%d,text of %d\n", i, i)
	}
	path := file(t, "numbers.csv", text.String())
	reject := filepath.Join(t.TempDir(), "bad.csv")
	args := []string{"load", "--target", uri, "--into", "numbers", "--commit-every", "1500", "--on-error", "set-aside", "--reject", reject, "--header", "no",
		"--max-rate", "3MB", "--progress", "none", path}
	r := rand.New(rand.NewPCG(1, 2))
	for killed := 0; ; killed++ {
		cmd := command(nil, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		if killed < 12 {
			select {
			case <-time.After(time.Duration(r.IntN(400)) * time.Millisecond):
				_ = cmd.Process.Kill()
				<-done
			case <-done:
			}
		} else {
			<-done
		}
		if code := cmd.ProcessState.ExitCode(); code == 3 || code == 0 {
			t.Logf("killed %d times", killed)
			break
		} else if code != -1 {
			haul(t, args...).is(t, 3)
			t.Fatalf("exit code %d", code)
		}
	}
	sameRows(t, uri, fmt.Sprintf("SELECT %d, %d", rows-refused, rows-refused), uri, "SELECT count(*), count(DISTINCT i) FROM numbers")
	got, err := os.ReadFile(reject)
	if n := bytes.Count(got, []byte("\n")); err != nil || n != refused {
		t.Errorf("%v: the reject file has %d rows and not %d", err, n, refused)
	}
	haul(t, args...).is(t, 0, "were loaded to their ends before")
}
