package catalog

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// The planner knows the types of a table that is not made yet as the catalog does once it is.
func TestNewColumn(t *testing.T) {
	uri := clustertest.Database(t)
	types := []string{"boolean", "bool", "smallint", "int", "integer", "bigint", "real", "double precision", "numeric", "numeric(10, 2)", "numeric(7)", "text", "bytea", "date",
		"time", "timestamp", "timestamp without time zone", "timestamptz", "TIMESTAMP WITH TIME ZONE", "interval", "uuid", "json", "jsonb", "int[]", "text[]", "numeric(5,1)[]"}
	definition := ""
	for i, sql := range types {
		definition += fmt.Sprintf(", c%d %s", i, sql)
	}
	clustertest.Exec(t, uri, "CREATE TABLE t ("+definition[2:]+")")
	for i, want := range read(t, uri, "public", "t", Target).Columns {
		got := planner.NewColumn(want.Name, types[i])
		// How a length is written does not matter.
		got.Type.SQL, want.Type.SQL = planner.NewColumn("", want.Type.SQL).Type.SQL, planner.NewColumn("", want.Type.SQL).Type.SQL
		if got.Type.Elem != nil && want.Type.Elem != nil {
			got.Type.Elem, want.Type.Elem = nil, nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", types[i], diff)
		}
	}
	for _, sql := range []string{"", "box", "varchar(3)", "timestamp(3)", "numeric(0)", "numeric(5", "numeric(5,x)", "int[][]", "text(3)", "public.t"} {
		if got := planner.NewColumn("c", sql); got.Type.OID != 0 {
			t.Errorf("%s: %+v", sql, got.Type)
		}
	}
}
