package catalog

import (
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

func TestReadPlainTable(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, `CREATE TABLE t (id bigint PRIMARY KEY, gone int, name varchar(10) DEFAULT 'x' NOT NULL,
		twice bigint GENERATED ALWAYS AS (id * 2) STORED, n serial, i int GENERATED ALWAYS AS IDENTITY, UNIQUE (name, n))`,
		`ALTER TABLE t DROP COLUMN gone`, `INSERT INTO t (id) SELECT generate_series(1, 1000)`, `ANALYZE t`)
	c := connect(t, uri)
	got, err := Read(t.Context(), c, "public", "t", Target)
	if err != nil {
		t.Fatal(err)
	}
	if got.Kind != planner.Table || got.Empty || got.Rows != 1000 || got.Pages == 0 || got.HeapBytes != got.Pages*8192 {
		t.Errorf("%+v", got)
	}
	t.Logf("%+v", got)
}
