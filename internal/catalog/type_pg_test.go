package catalog

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// short prints a type with what it is made of, which is easier to compare than the struct.
func short(t planner.Type) string {
	s := string(t.Class) + " " + t.SQL
	switch {
	case t.Elem != nil:
		s += " of {" + short(*t.Elem) + "}"
	case t.Base != nil:
		s += " over {" + short(*t.Base) + "}"
	case t.Sub != nil:
		s += " of {" + short(*t.Sub) + "}"
	}
	for _, f := range t.Fields {
		s += " " + f.Name + " {" + short(f.Type) + "}"
	}
	for _, l := range t.Labels {
		s += " '" + l + "'"
	}
	return s
}

func TestReadTypes(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri,
		`CREATE TYPE mood AS ENUM ('sad', 'ok')`, `ALTER TYPE mood ADD VALUE 'so%so' BEFORE 'ok'`,
		`CREATE DOMAIN percent AS numeric(5,2) CHECK (VALUE >= 0)`, `CREATE DOMAIN percents AS percent[]`,
		`CREATE TYPE inner_t AS (x int, gone int, y varchar(3)[])`, `ALTER TYPE inner_t DROP ATTRIBUTE gone`,
		`CREATE TYPE "Outer T" AS (m mood, i inner_t, p percent)`,
		`CREATE TYPE floats AS RANGE (subtype = float8)`,
		`CREATE TABLE t (a varchar(7)[], b mood, c percent, d percents, e "Outer T"[], f floats, g int4multirange, h int2vector,
			i timestamp(3) with time zone, j bit(4), k "char", l interval day to second(2), m oidvector[], n text COLLATE "C", o regclass,
			p floats_multirange)`)
	got := read(t, uri, "public", "t", Source)
	want := map[string]string{
		"a": "a character varying(7)[] of {b character varying(7)}",
		"b": "e public.mood 'sad' 'so%so' 'ok'",
		"c": "d public.percent over {b numeric(5,2)}",
		"d": "d public.percents over {a public.percent[] of {d public.percent over {b numeric(5,2)}}}",
		"e": `a public."Outer T"[] of {c public."Outer T" m {e public.mood 'sad' 'so%so' 'ok'} i {c public.inner_t x {b integer} ` +
			`y {a character varying(3)[] of {b character varying(3)}}} p {d public.percent over {b numeric(5,2)}}}`,
		"f": "r public.floats of {b double precision}",
		"g": "m int4multirange of {b integer}",
		"h": "b int2vector",
		"i": "b timestamp(3) with time zone",
		"j": "b bit(4)",
		"k": `b "char"`,
		"l": "b interval day to second(2)",
		"m": "a oidvector[] of {b oidvector}",
		"n": "b text",
		"o": "b regclass",
		"p": "m public.floats_multirange of {b double precision}",
	}
	for _, col := range got.Columns {
		if s := short(col.Type); s != want[col.Name] {
			t.Errorf("%s:\n got %s\nwant %s", col.Name, s, want[col.Name])
		}
	}
	if a := got.Columns[0].Type; a.Mod != 11 || a.Elem.Mod != 11 || a.Send != "pg_catalog.array_send" || a.Receive != "pg_catalog.array_recv" ||
		!a.BuiltIn() || a.OID != 1015 || a.Schema != "pg_catalog" || a.Name != "_varchar" {
		t.Errorf("%+v", a)
	}
	if b := got.Columns[1].Type; b.Send != "pg_catalog.enum_send" || b.BuiltIn() || b.Schema != "public" || b.Name != "mood" || b.Mod != -1 {
		t.Errorf("%+v", b)
	}
}

func TestReadEveryBuiltInType(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, `DO $$ DECLARE cols text; BEGIN
		SELECT string_agg(format('%I %s', 'c_' || t.typname, format_type(t.oid, NULL)), ', ') INTO cols
		  FROM pg_type t WHERE t.typtype IN ('b', 'r', 'm', 'd') AND t.typnamespace = 'pg_catalog'::regnamespace
		   AND NOT EXISTS (SELECT FROM pg_type e WHERE e.oid = t.typelem AND e.typtype IN ('c', 'p'));
		EXECUTE 'CREATE TABLE every (' || cols || ')'; END $$`)
	got := read(t, uri, "public", "every", Source)
	if len(got.Columns) < 150 {
		t.Fatalf("%d columns", len(got.Columns))
	}
	for _, col := range got.Columns {
		if !col.Type.BuiltIn() || col.Type.SQL == "" || "c_"+col.Type.Name != col.Name {
			t.Errorf("%s: %+v", col.Name, col.Type)
		}
		if col.Type.Class == planner.Array && (col.Type.Elem == nil || col.Type.Elem.SQL+"[]" != col.Type.SQL) {
			t.Errorf("%s: element %+v", col.Name, col.Type.Elem)
		}
	}
}

func TestReadExtensionTypes(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, `CREATE SCHEMA ext`, `CREATE EXTENSION hstore SCHEMA ext`, `CREATE EXTENSION citext`,
		`CREATE DOMAIN tag AS ext.hstore`, `CREATE TYPE own AS (h ext.hstore)`, `CREATE TABLE t (h ext.hstore, c citext, hh ext.hstore[], d tag, o own)`)
	got := read(t, uri, "public", "t", Source)
	h := got.Columns[0].Type
	if h.Extension != "hstore" || h.ExtensionVersion == "" || h.Send != "ext.hstore_send" || h.Receive != "ext.hstore_recv" || h.SQL != "ext.hstore" {
		t.Errorf("%+v", h)
	}
	if c := got.Columns[1].Type; c.Extension != "citext" || c.Class != planner.BaseType {
		t.Errorf("%+v", c)
	}
	if hh := got.Columns[2].Type; hh.Extension != "hstore" || hh.ExtensionVersion != h.ExtensionVersion || hh.Elem.Extension != "hstore" {
		t.Errorf("%+v", hh)
	}
	if d := got.Columns[3].Type; d.Extension != "" || d.Base.Extension != "hstore" {
		t.Errorf("%+v", d)
	}
	if o := got.Columns[4].Type; o.Extension != "" || o.Fields[0].Type.Extension != "hstore" {
		t.Errorf("%+v", o)
	}
}

func TestReadQuery(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, `CREATE TYPE mood AS ENUM ('sad', 'ok')`, `CREATE TABLE t (id int, name varchar(7), m mood[])`,
		`INSERT INTO t SELECT g FROM generate_series(1, 500) g`, `ANALYZE t`)
	c := connect(t, uri)
	for _, test := range []struct {
		query, sent string
		columns     []string
	}{
		{"SELECT id, name AS \"N 1\", m FROM public.t ; ;\n", "SELECT id, name AS \"N 1\", m FROM public.t", []string{"id", "N 1", "m"}},
		{"TABLE public.t", "TABLE public.t", []string{"id", "name", "m"}},
		{"VALUES (1, 'x'::text), (2, 'y')", "VALUES (1, 'x'::text), (2, 'y')", []string{"column1", "column2"}},
		{"WITH w AS (SELECT 1 AS a) SELECT a FROM w -- all of it", "WITH w AS (SELECT 1 AS a) SELECT a FROM w -- all of it\n", []string{"a"}},
		{"SELECT ROW(1, 'x') AS r", "SELECT ROW(1, 'x') AS r", []string{"r"}},
		{"SELECT FROM public.t", "SELECT FROM public.t", []string{}},
	} {
		got, err := ReadQuery(t.Context(), c, test.query)
		if err != nil {
			t.Errorf("%s: %v", test.query, err)
			continue
		}
		if got.Kind != planner.Query || got.Query != test.sent || !slices.Equal(columnNames(got), test.columns) || got.Rows <= 0 {
			t.Errorf("%s: %+v", test.query, got)
		}
	}
	got, err := ReadQuery(t.Context(), c, "SELECT * FROM public.t")
	if err != nil {
		t.Fatal(err)
	}
	types := []string{short(got.Columns[0].Type), short(got.Columns[1].Type), short(got.Columns[2].Type)}
	want := []string{"b integer", "b character varying(7)", "a public.mood[] of {e public.mood 'sad' 'ok'}"}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Error(diff)
	}
	if got.Rows != 500 {
		t.Errorf("%d rows", got.Rows)
	}
}

func TestReadQuerySearchPath(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, `CREATE SCHEMA app`, `CREATE TABLE app.here (id int)`,
		`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = app', current_database()); END $$`)
	c := connect(t, uri)
	for _, begin := range []string{"SELECT 1", "BEGIN"} {
		if _, err := c.Exec(t.Context(), begin); err != nil {
			t.Fatal(err)
		}
		got, err := ReadQuery(t.Context(), c, "TABLE here")
		if err != nil || !slices.Equal(columnNames(got), []string{"id"}) {
			t.Errorf("after %s: %+v, %v", begin, got, err)
		}
		wantEmptyPath(t, c)
	}
}

func TestReadQueryRefuses(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, `CREATE TABLE t (id int)`)
	c := connect(t, uri)
	for _, query := range []string{
		"INSERT INTO public.t VALUES (1)", "INSERT INTO public.t VALUES (1) RETURNING id", "EXPLAIN SELECT 1", "SHOW work_mem", "",
		"SELECT 1; SELECT 2", "SELECT 1) AS a, (SELECT 2", "SELECT $1::int", "SELECT 1 AS a, 2 AS a",
		"SELECT 1 INTO public.x", "WITH w AS (INSERT INTO public.t VALUES (1) RETURNING id) SELECT * FROM w", "FETCH ALL FROM c", "garbage",
		"COMMIT", "SELECT nothing FROM public.t", "DELETE FROM public.t RETURNING *", "SELECT 1 -- ) AS x\n)--",
	} {
		_, err := ReadQuery(t.Context(), c, query)
		if err == nil {
			t.Errorf("%s was taken", query)
			continue
		}
		plannerError(t, err)
		if status := c.PgConn().TxStatus(); status != 'I' {
			t.Fatalf("%s leaves transaction status %c", query, status)
		}
	}
	if n := clustertest.Query(t, uri, "SELECT count(*) FROM t"); n != "0" {
		t.Errorf("a refused query wrote %s rows", n)
	}
	_, err := ReadQuery(t.Context(), c, "SELECT * FROM nowhere")
	if e := plannerError(t, err); e.Hint == "" || sqlState(err) != "42P01" {
		t.Errorf("no hint at the search_path: %+v", e)
	}
}
