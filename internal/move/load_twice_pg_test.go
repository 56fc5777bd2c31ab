package move

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/internal/rowfile"
	"github.com/pghaul/pghaul/planner"
)

// TestLoadTwiceAtOnce: of two runs of one load that know nothing of each other's record, the one that commits second puts nothing into the table.
func TestLoadTwiceAtOnce(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE t (id int)", "INSERT INTO t VALUES (0)")
	path := filepath.Join(t.TempDir(), "rows")
	if err := os.WriteFile(path, []byte("1\n2\n3\n4\n5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	opened := func() *Move {
		m, err := OpenLoad(t.Context(), LoadRequest{Target: uri, Into: "t", Wish: planner.LoadWish{CommitEvery: 2, Fill: planner.Append},
			Open: func(ctx context.Context, columns []string, _ bool) (rowfile.Rows, []NewColumn, error) {
				rows, err := rowfile.Open(ctx, []string{path}, nil, rowfile.Layout{Columns: columns})
				return rows, nil, err
			}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.Close)
		return m
	}
	first, second := opened(), opened()
	if _, err := first.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "another run of the same load") {
		t.Errorf("the second run: got error %v", err)
	}
	if got := clustertest.Query(t, uri, "SELECT string_agg(id::text, ' ' ORDER BY id) FROM t"); got != "0 1 2 3 4 5" {
		t.Errorf("rows: got %q", got)
	}
	third := opened()
	if _, err := third.Run(t.Context()); err != nil {
		t.Errorf("a run behind both: got error %v", err)
	}
}
