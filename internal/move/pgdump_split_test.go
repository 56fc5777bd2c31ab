package move

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/planner"
)

func TestSplitDump(t *testing.T) {
	t.Parallel()
	text := "--\n-- PostgreSQL database dump\n--\n\n\\restrict abc\n\nSET statement_timeout = 0;\nSELECT pg_catalog.set_config('search_path', '', false);\n" +
		"--\n-- Name: t; Type: TABLE; Schema: public; Owner: -\n--\n\nCREATE TABLE public.t (\n    a text DEFAULT 'x;y'::text, -- ; no end\n    \"b;\" int /* ; /* ; */ ; */\n);\n" +
		"--\n-- Name: TABLE t; Type: COMMENT; Schema: public; Owner: -\n--\n\nCOMMENT ON TABLE public.t IS 'one;\n\\connect x\n-- Name: e; Type: INDEX; Schema: s; Owner: -\n';\n" +
		"COMMENT ON COLUMN public.t.a IS E'it\\'s; \\\\';\n" +
		"--\n-- Name: r; Type: RULE; Schema: public; Owner: -\n--\n\nCREATE RULE r AS ON INSERT TO public.t DO ( INSERT INTO x VALUES (1);\n DELETE FROM y;\n);\n" +
		"--\n-- Name: f; Type: FUNCTION; Schema: public; Owner: -\n--\n\nCREATE FUNCTION f() AS $_$ a; $$ b; $_$;\nSELECT a$1;\n\\unrestrict abc\n"
	want := []dumpStatement{
		{"TABLE", "t", true, "CREATE TABLE public.t (\n    a text DEFAULT 'x;y'::text, -- ; no end\n    \"b;\" int /* ; /* ; */ ; */\n)"},
		{"COMMENT", "TABLE t", true, "COMMENT ON TABLE public.t IS 'one;\n\\connect x\n-- Name: e; Type: INDEX; Schema: s; Owner: -\n'"},
		{"COMMENT", "TABLE t", false, `COMMENT ON COLUMN public.t.a IS E'it\'s; \\'`},
		{"RULE", "r", true, "CREATE RULE r AS ON INSERT TO public.t DO ( INSERT INTO x VALUES (1);\n DELETE FROM y;\n)"},
		{"FUNCTION", "f", true, "CREATE FUNCTION f() AS $_$ a; $$ b; $_$"},
		{"FUNCTION", "f", false, "SELECT a$1"},
	}
	if diff := cmp.Diff(want, splitDump(text), cmp.AllowUnexported(dumpStatement{})); diff != "" {
		t.Error(diff)
	}
}

func TestConstraintIndex(t *testing.T) {
	t.Parallel()
	tables := []dumpedTable{{tableKey: tableKey{"public", "T x"}}, {tableKey: tableKey{"public", "p"}, partitioned: true}}
	for _, c := range []struct{ sql, index, constraint string }{
		{"ALTER TABLE ONLY public.\"T x\"\n    ADD CONSTRAINT \"k)\" PRIMARY KEY (a, \"b)\")", `CREATE UNIQUE INDEX "k)" ON public."T x" USING btree (a, "b)")`,
			`ALTER TABLE ONLY public."T x" ADD CONSTRAINT "k)" PRIMARY KEY USING INDEX "k)"`},
		{"ALTER TABLE ONLY public.\"T x\"\n    ADD CONSTRAINT k UNIQUE NULLS NOT DISTINCT (a) INCLUDE (b) DEFERRABLE INITIALLY DEFERRED",
			`CREATE UNIQUE INDEX k ON public."T x" USING btree (a) INCLUDE (b) NULLS NOT DISTINCT`,
			`ALTER TABLE ONLY public."T x" ADD CONSTRAINT k UNIQUE USING INDEX k DEFERRABLE INITIALLY DEFERRED`},
		{"ALTER TABLE ONLY public.\"T x\"\n    ADD CONSTRAINT k EXCLUDE USING gist (a WITH &&)", "", ""},
		{"ALTER TABLE ONLY public.\"T x\"\n    ADD CONSTRAINT k PRIMARY KEY (a, b WITHOUT OVERLAPS)", "", ""},
		{"ALTER TABLE ONLY public.\"T x\"\n    ADD CONSTRAINT k UNIQUE (a) WITH (fillfactor='50')", "", ""},
		{"ALTER TABLE ONLY public.p\n    ADD CONSTRAINT k PRIMARY KEY (a)", "", ""},
	} {
		index, constraint := constraintIndex(c.sql, tables)
		if c.index == "" {
			c.index = c.sql
		}
		if index != c.index || constraint != c.constraint {
			t.Errorf("%s:\n got %s; %s\nwant %s; %s", c.sql, index, constraint, c.index, c.constraint)
		}
	}
}

func TestRenaming(t *testing.T) {
	t.Parallel()
	r := renamer{own: renaming{{"public", "t"}: {"New", "u.v"}, {"public", "t_id_seq"}: {"New", "t_id_seq"}, {"public", "i"}: {"New", "j k"}}}
	for _, c := range []struct{ sql, want string }{
		{"CREATE TABLE public.t (a int)", `CREATE TABLE "New"."u.v" (a int)`},
		{"COMMENT ON COLUMN public.t.a IS 'public.t'", `COMMENT ON COLUMN "New"."u.v".a IS 'public.t'`},
		{"ALTER TABLE ONLY public.t ALTER COLUMN id SET DEFAULT nextval('public.t_id_seq'::regclass)",
			`ALTER TABLE ONLY "New"."u.v" ALTER COLUMN id SET DEFAULT nextval('"New".t_id_seq'::regclass)`},
		{"CREATE TABLE public.t2 (public text, t int, x public.tt)", "CREATE TABLE public.t2 (public text, t int, x public.tt)"},
		{`CREATE INDEX i ON public."t" (a) -- public.t`, `CREATE INDEX "j k" ON "New"."u.v" (a) -- public.t`},
		{"ALTER TABLE ONLY public.t ADD CONSTRAINT i PRIMARY KEY USING INDEX i", `ALTER TABLE ONLY "New"."u.v" ADD CONSTRAINT "j k" PRIMARY KEY USING INDEX "j k"`},
		{"ALTER TABLE public.t CLUSTER ON i", `ALTER TABLE "New"."u.v" CLUSTER ON "j k"`},
		{"COMMENT ON CONSTRAINT i ON public.t IS 'i'", `COMMENT ON CONSTRAINT "j k" ON "New"."u.v" IS 'i'`},
		{"ALTER INDEX public.i ATTACH PARTITION other.i", `ALTER INDEX "New"."j k" ATTACH PARTITION other.i`},
		{"CREATE INDEX i ON other.t (i)", "CREATE INDEX i ON other.t (i)"},
		{"SELECT $$public.t$$, 1.5, t.a", "SELECT $$public.t$$, 1.5, t.a"},
	} {
		if got := r.apply(c.sql); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.sql, got, c.want)
		}
	}
}

func TestLibpqEnvironment(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dsn  string
		want map[string]string
	}{
		{"postgres://me:p%40%26+ss@db.example:6000/my%20db?sslmode=disable&application_name=x", map[string]string{
			"user": "me", "password": "p@&+ss", "host": "db.example", "port": "6000", "dbname": "my db", "sslmode": "disable", "application_name": "x"}},
		{"postgresql://a:1,[::1]:2/db?target_session_attrs=any", map[string]string{
			"host": "a,::1", "port": "1,2", "dbname": "db", "target_session_attrs": "any"}},
		{"postgres:///db?host=/tmp/x&port=5999&user=u", map[string]string{"host": "/tmp/x", "port": "5999", "user": "u", "dbname": "db"}},
		{`host = /tmp password='it\'s \\ ' user=a\ b dbname=''`, map[string]string{"host": "/tmp", "password": `it's \ `, "user": "a b", "dbname": ""}},
	} {
		got, err := dsnParameters(c.dsn)
		if err != nil {
			t.Errorf("%s: %v", c.dsn, err)
		}
		delete(got, "")
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.dsn, diff)
		}
	}
	for _, bad := range []string{"host", "password='secret", "postgres://u:sec%ret@h/", "a b=c"} {
		var e *planner.Error
		if _, err := dsnParameters(bad); !errors.As(err, &e) || e.Kind != planner.Usage || strings.Contains(err.Error(), "sec") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	config, err := pgx.ParseConfig("host=/tmp/x port=5999 user=u password=secret dbname=d sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	environment, err := libpqEnvironment(config)
	want := []string{"PGDATABASE=d", "PGHOST=/tmp/x", "PGHOSTADDR=", "PGPASSWORD=secret", "PGPORT=5999", "PGSSLMODE=disable", "PGUSER=u"}
	if diff := cmp.Diff(want, environment); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func FuzzSplitDump(f *testing.F) {
	f.Add("CREATE TABLE a (b text DEFAULT $x$;$x$); 'E\\';")
	f.Add("/* /* ;")
	f.Add("\v;")
	f.Add("--\n-- Name: ; Type: INDEX; Schema: ; Owner: \nE'\\")
	f.Fuzz(func(t *testing.T, text string) {
		r := renamer{own: renaming{{"a", "b"}: {"c", "d"}}}
		for _, s := range splitDump(text) {
			if s.sql == "" {
				t.Error("empty statement")
			}
			r.apply(s.sql)
			firstRelation(s.sql, func(tableKey) bool { return false })
			constraintIndex(s.sql, []dumpedTable{{tableKey: tableKey{"a", "b"}}})
		}
	})
}
