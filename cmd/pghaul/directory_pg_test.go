package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/cluster"
	"github.com/pghaul/pghaul/internal/clustertest"
)

func TestCopyFromADirectory(t *testing.T) {
	s := clustertest.Private(t, &cluster.Options{Major: clustertest.Server(t).Binaries().Version})
	clustertest.Exec(t, s.URI("postgres"), makeItems, fillItems)
	file := clustertest.Query(t, s.URI("postgres"), "SELECT pg_relation_filepath('items')")
	target := clustertest.Database(t)
	clustertest.Exec(t, target, makeItems)
	source := "pgdata:" + s.Dir() + "?dbname=postgres"
	run := func(args ...string) outcome {
		return haul(t, append([]string{"copy", "--source", source, "--target", target, "items"}, args...)...)
	}
	run().is(t, 4, "ERROR:  a server runs on the data directory", "HINT:  Connect to it instead")
	clustertest.Exec(t, s.URI("postgres"), "CHECKPOINT")
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}

	o := run("--explain")
	o.is(t, 0)
	for _, want := range []string{"on pgdata:" + s.Dir(), "Read: " + file + " (", "), decoded here", "Target SQL: COPY public.items (id, name, price) FROM STDIN\n"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("%q is not in the plan:\n%s", want, o.out)
		}
	}
	run("--verify", "count").is(t, 0, "NOTICE:  public.items: the server of "+s.Dir()+" was not shut down cleanly", "equal by count, 1,000 rows", "copied 1,000 rows")
	sameRows(t, target, "SELECT i, 'item ' || i, i / 7.0 FROM generate_series(1, 1000) AS i", target, allItems)
	run("--where", "id = 1").is(t, 4, "--where")
	haul(t, "verify", "--source", source, "--target", target, "items").is(t, 2, "ERROR:  ", "data directory")

	clustertest.Exec(t, target, "TRUNCATE items")
	f, err := os.OpenFile(filepath.Join(s.Dir(), file), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(bytes.Repeat([]byte{7}, 8192), 8192); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	run().is(t, 1, "ERROR:  cannot read all rows of public.items", "block 1", "HINT:  Use --skip-damaged", "nothing was kept")
	sameRows(t, target, "SELECT 0", target, allCount)
	o = run("--skip-damaged", "--output", "json", "--verify", "count")
	o.is(t, 3, "WARNING:  1 damaged block of public.items left out", "DETAIL:  "+file+": block 1: ", "copied ")
	var r result
	if err := json.Unmarshal([]byte(o.out), &r); err != nil || r.Tables[0].Damage == nil || r.Tables[0].Damage.Blocks != 1 {
		t.Errorf("%v: %s", err, o.out)
	}
	sameRows(t, target, "SELECT true", target, "SELECT count(*) BETWEEN 700 AND 999 FROM items")
}

const allCount = "SELECT count(*) FROM items"
