package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// names fills a database with relations in and out of the search_path.
func names(t *testing.T) string {
	t.Helper()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, `CREATE SCHEMA app`, `CREATE SCHEMA "Far"`,
		`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = "$user", app, public', current_database()); END $$`,
		`CREATE TABLE app.orders (a int)`, `CREATE TABLE public.orders (a int)`, `CREATE TABLE public.items (a int)`,
		`CREATE TABLE "Far".orders (a int)`, `CREATE TABLE "Far"."Odd ""T"" 😀" (a int)`, `CREATE TABLE "Far".lonely (a int)`,
		`CREATE TABLE app.parted (a int) PARTITION BY LIST (a)`, `CREATE TABLE app.part_1 PARTITION OF app.parted DEFAULT`,
		`CREATE VIEW app.v_orders AS SELECT a FROM app.orders`, `CREATE MATERIALIZED VIEW app.m_orders AS SELECT a FROM app.orders`,
		`CREATE SEQUENCE app.seq`, `CREATE INDEX order_index ON app.orders (a)`, `CREATE TYPE app.comp AS (a int)`)
	return uri
}

func TestResolve(t *testing.T) {
	c := connect(t, names(t))
	for typed, want := range map[string]Name{
		"orders": {"app", "orders"}, "ORDERS": {"app", "orders"}, "items": {"public", "items"}, "public.orders": {"public", "orders"},
		`"Far".orders`: {"Far", "orders"}, `"Far"."Odd ""T"" 😀"`: {"Far", `Odd "T" 😀`}, "nowhere.nothing": {"nowhere", "nothing"},
		"pg_class": {"pg_catalog", "pg_class"}, "v_orders": {"app", "v_orders"}, "seq": {"app", "seq"}, "order_index": {"app", "order_index"}, "comp": {"app", "comp"},
	} {
		schema, name, err := Resolve(t.Context(), c, typed)
		if err != nil || (Name{schema, name}) != want {
			t.Errorf("%s: %s.%s, %v", typed, schema, name, err)
		}
	}
	wantEmptyPath(t, c)
	for typed, hint := range map[string]string{
		"ordres": "app.orders", "lonely": `"Far".lonely`, `"ITEMS"`: "public.items", "xyzzy": "SCHEMA.TABLE",
	} {
		_, _, err := Resolve(t.Context(), c, typed)
		if e := plannerError(t, err); e.Kind != planner.Failed || !strings.Contains(e.Hint, hint) || !strings.Contains(e.Message, "does not exist") {
			t.Errorf("%s: %+v", typed, e)
		}
	}
	for _, typed := range []string{"", "a.b.c", `"open`, "a b", "bad\xff"} {
		_, _, err := Resolve(t.Context(), c, typed)
		if e := plannerError(t, err); e.Kind != planner.Usage {
			t.Errorf("%q: %+v", typed, e)
		}
	}
}

func wantEmptyPath(t *testing.T, c *pgx.Conn) {
	t.Helper()
	var path string
	if err := c.QueryRow(t.Context(), "SHOW search_path").Scan(&path); err != nil || path != "" {
		t.Errorf("search_path is left as %q (%v)", path, err)
	}
}

func TestResolveInATransaction(t *testing.T) {
	c := connect(t, names(t))
	if _, err := c.Exec(t.Context(), "BEGIN"); err != nil {
		t.Fatal(err)
	}
	if schema, _, err := Resolve(t.Context(), c, "orders"); err != nil || schema != "app" {
		t.Error(schema, err)
	}
	wantEmptyPath(t, c)
	if _, err := List(t.Context(), c, []string{"orders"}); err != nil {
		t.Error(err)
	}
	wantEmptyPath(t, c)
}

func TestResolveNew(t *testing.T) {
	uri := names(t)
	c := connect(t, uri)
	for typed, want := range map[string]Name{"fresh": {"app", "fresh"}, "items": {"public", "items"}, "x.y": {"x", "y"}} {
		schema, name, err := ResolveNew(t.Context(), c, typed)
		if err != nil || (Name{schema, name}) != want {
			t.Errorf("%s: %s.%s, %v", typed, schema, name, err)
		}
	}
	wantEmptyPath(t, c)
	role := newRole(t, uri, "")
	clustertest.Exec(t, uri, "ALTER ROLE "+role+" SET search_path = nowhere")
	_, _, err := ResolveNew(t.Context(), connect(t, as(t, uri, role)), "fresh")
	if e := plannerError(t, err); !strings.HasPrefix(e.Message, "no schema has been selected") {
		t.Errorf("%+v", e)
	}
}

func TestNear(t *testing.T) {
	c := connect(t, names(t))
	for _, test := range []struct {
		schema, name string
		want         []string
	}{
		{"", "orders", []string{`"Far".orders`, "app.orders", "public.orders"}}, {"app", "order", []string{"app.orders"}},
		{"app", "lonelie", []string{`"Far".lonely`}}, {"", "something", nil},
	} {
		got, err := Near(t.Context(), c, test.schema, test.name)
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s.%s: %q, %v", test.schema, test.name, got, err)
		}
	}
}

func TestList(t *testing.T) {
	uri := names(t)
	clustertest.Exec(t, uri, `CREATE EXTENSION citext SCHEMA app`, `CREATE TABLE app.ext_table (a int)`, `ALTER EXTENSION citext ADD TABLE app.ext_table`)
	c := connect(t, uri)
	for _, test := range []struct {
		patterns []string
		want     string
	}{
		{[]string{"orders"}, "app.orders"},
		{[]string{"*"}, "app.orders app.parted public.items"},
		{[]string{"*.*"}, `"Far"."Odd ""T"" 😀" "Far".lonely "Far".orders app.orders app.parted public.items public.orders`},
		{[]string{"*.orders", "public.*"}, `"Far".orders app.orders public.items public.orders`},
		{[]string{`"Far".*`}, `"Far"."Odd ""T"" 😀" "Far".lonely "Far".orders`}, {[]string{"app.(orders|parted)"}, "app.orders app.parted"},
		{[]string{"part_1"}, "app.part_1"}, {[]string{"v_orders", "m_orders"}, "app.m_orders app.v_orders"}, {[]string{"app.ext_table"}, "app.ext_table"},
		{nil, ""},
	} {
		got, err := List(t.Context(), c, test.patterns)
		texts := make([]string, len(got))
		for i, n := range got {
			texts[i] = n.String()
		}
		if err != nil || strings.Join(texts, " ") != test.want {
			t.Errorf("%q: %v, %v", test.patterns, texts, err)
		}
	}
	wantEmptyPath(t, c)
	for pattern, kind := range map[string]planner.ErrorKind{
		"nothing*": planner.Failed, "app.nothing": planner.Failed, "pg_catalog.*": planner.Failed, "a.b.c": planner.Usage, "": planner.Usage,
		"[": planner.Usage, "(a": planner.Usage,
	} {
		_, err := List(t.Context(), c, []string{"orders", pattern})
		if e := plannerError(t, err); e.Kind != kind {
			t.Errorf("%q: %+v", pattern, e)
		}
	}
}
