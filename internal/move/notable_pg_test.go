package move

import (
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// What is no table is told from what is not there, on both sides, with its table where it has one.
func TestNoTable(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, `CREATE TABLE "T t" (id serial CONSTRAINT i PRIMARY KEY, x text); CREATE TABLE u (id int)`,
		"CREATE TABLE p (id int) PARTITION BY LIST (id); CREATE INDEX pi ON p (id)", "CREATE TYPE c AS (a int)", "CREATE SEQUENCE s")
	toast := clustertest.Query(t, uri, `SELECT reltoastrelid::regclass FROM pg_class WHERE relname = 'T t'`)
	for _, c := range []struct {
		name  string
		words []string
	}{
		{"i", []string{"index public.i", `It is an index of table public."T t".`, "Name the table"}},
		{"public.i", []string{"index public.i", `It is an index of table public."T t".`}},
		{"pi", []string{"index public.pi", "It is an index of table public.p."}},
		{"c", []string{"composite type public.c", "It is a composite type", "Name a table"}},
		{"s", []string{"sequence public.s", "It is a sequence and not a table.", "copied with the table"}},
		{`"T t_id_seq"`, []string{`sequence public."T t_id_seq"`, `It is a sequence of table public."T t".`}},
		{toast, []string{"TOAST table " + toast, `It is a TOAST table of table public."T t".`}},
		{toast + "_index", []string{"index " + toast + "_index", "It is an index of table " + toast + "."}},
	} {
		refused(t, onePair(uri, uri, c.name, "u", planner.Wish{}), append(c.words, "cannot copy from ")...)
		refused(t, onePair(uri, uri, "u", c.name, planner.Wish{Create: true}), append(c.words, "cannot copy into ")...)
	}
	refused(t, onePair(uri, uri, "u", "pg_class", planner.Wish{Fill: planner.Append}), "cannot copy into system table pg_catalog.pg_class", "a table of your own")
	moves(t, onePair(uri, uri, "pg_namespace", "public.spaces", planner.Wish{Create: true}))
}
