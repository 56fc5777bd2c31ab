package catalog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

func TestChecks(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, `CREATE SCHEMA "S s"`, `CREATE TABLE "S s"."R r" ("X x" int, y text COLLATE "C", z text, PRIMARY KEY ("X x", z), UNIQUE (y))`,
		`CREATE TABLE base (b int CONSTRAINT b_check CHECK (b > 0))`,
		`CREATE TABLE t (id int PRIMARY KEY, "A a" int, c text COLLATE "C", d text, self int REFERENCES t, g int GENERATED ALWAYS AS (id * 2) STORED,
			CONSTRAINT zc CHECK ("A a" < 100), CONSTRAINT ac CHECK (d <> c), CHECK (t.* IS NOT NULL), CHECK (tableoid > 0),
			CONSTRAINT fk FOREIGN KEY ("A a", d) REFERENCES "S s"."R r" MATCH FULL, CONSTRAINT mixed FOREIGN KEY (d) REFERENCES "S s"."R r" (y),
			CONSTRAINT late UNIQUE (c) DEFERRABLE, CONSTRAINT u UNIQUE (d, c)) INHERITS (base)`,
		`CREATE UNIQUE INDEX partial ON t (c) WHERE c > 'a'`, `CREATE UNIQUE INDEX expression ON t (lower(c))`, `CREATE UNIQUE INDEX pattern ON t (d text_pattern_ops)`,
		`ALTER TABLE t ADD CONSTRAINT old CHECK (c IS NOT NULL) NOT VALID`)
	relation := read(t, uri, "public", "t", Target)
	got, err := Checks(t.Context(), connect(t, uri), relation.OID)
	if err != nil {
		t.Fatal(err)
	}
	want := []planner.Check{
		{Kind: planner.CheckNotNull, Columns: []string{"id"}},
		{Kind: planner.CheckExpression, Name: "ac", Expression: "(d <> c)", Columns: []string{"c", "d"}},
		{Kind: planner.CheckExpression, Name: "b_check", Expression: "(b > 0)", Columns: []string{"b"}},
		{Kind: planner.CheckExpression, Name: "old", Expression: "(c IS NOT NULL)", Columns: []string{"c"}},
		{Kind: planner.CheckExpression, Name: "zc", Expression: `("A a" < 100)`, Columns: []string{"A a"}},
		{Kind: planner.CheckForeign, Name: "fk", Columns: []string{"A a", "d"}, References: `ONLY "S s"."R r"`, Referenced: []string{"X x", "z"},
			MatchFull: true, Operators: []string{"pg_catalog.=", "pg_catalog.="}},
		{Kind: planner.CheckForeign, Name: "t_self_fkey", Columns: []string{"self"}, References: "ONLY public.t", Referenced: []string{"id"}, Operators: []string{"pg_catalog.="}},
		{Kind: planner.CheckUnique, Name: "t_pkey", Columns: []string{"id"}, Operators: []string{"pg_catalog.="}},
		{Kind: planner.CheckUnique, Name: "u", Columns: []string{"d", "c"}, Operators: []string{"pg_catalog.=", "pg_catalog.="}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What a role may not read is left to the server.
func TestChecksOfOthers(t *testing.T) {
	uri := clustertest.Database(t)
	role := newRole(t, uri, "")
	clustertest.Exec(t, uri, `CREATE TABLE r (x int PRIMARY KEY)`, `CREATE TABLE t (x int REFERENCES r)`, `GRANT INSERT, SELECT ON t TO `+role)
	relation := read(t, uri, "public", "t", Target)
	got, err := Checks(t.Context(), connect(t, as(t, uri, role)), relation.OID)
	if err != nil || len(got) != 0 {
		t.Errorf("%v %+v", err, got)
	}
	clustertest.Exec(t, uri, `GRANT SELECT ON r TO `+role)
	if got, err = Checks(t.Context(), connect(t, as(t, uri, role)), relation.OID); err != nil || len(got) != 1 {
		t.Errorf("%v %+v", err, got)
	}
	clustertest.Exec(t, uri, `ALTER TABLE r ENABLE ROW LEVEL SECURITY`)
	if got, err = Checks(t.Context(), connect(t, as(t, uri, role)), relation.OID); err != nil || len(got) != 0 {
		t.Errorf("%v %+v", err, got)
	}
}

// checkCase is a table t and rows for it, of which the server and the queries of the plan judge.
type checkCase struct {
	name, setup string
	columns     []string
	values      []string // in SQL, that a column may get
	whole       bool     // the queries find all refused rows, and not some of them
}

func checkCases() []checkCase {
	const numbers = `CREATE TABLE r (x int PRIMARY KEY); INSERT INTO r VALUES (1), (2), (3); `
	small := []string{"NULL", "0", "1", "2", "3", "4", "5", "6", "7", "8"}
	return []checkCase{
		{"check", `CREATE TABLE t (a int CHECK (a > 2), b int CHECK (b < 7 OR b IS NULL), c int NOT NULL DEFAULT 5)`, []string{"a", "b"}, small, true},
		{"domain", `CREATE DOMAIN d AS int; CREATE TABLE t (a d CHECK (a > 2), b int)`, []string{"a", "b"}, small, true},
		{"key", `CREATE TABLE t (a int UNIQUE, b int); INSERT INTO t VALUES (3, 3), (NULL, 1)`, []string{"a", "b"}, small, true},
		{"key of two", `CREATE TABLE t (a int, b int, UNIQUE (a, b)); INSERT INTO t VALUES (3, 3), (NULL, 1)`, []string{"a", "b"}, small, true},
		{"keys", `CREATE TABLE t (a int UNIQUE, b int UNIQUE, c int UNIQUE); INSERT INTO t VALUES (3, 4, 5)`, []string{"a", "b", "c"}, small, false},
		{"key and check", `CREATE TABLE t (a int UNIQUE, b int CHECK (b > 3))`, []string{"a", "b"}, small, true},
		{"foreign", numbers + `CREATE TABLE t (a int REFERENCES r, b int)`, []string{"a", "b"}, small, true},
		{"foreign and key", numbers + `CREATE TABLE t (a int REFERENCES r, b int UNIQUE)`, []string{"a", "b"}, small, true},
		{"foreign of other type", `CREATE TABLE r (x bigint PRIMARY KEY); INSERT INTO r VALUES (1), (2); CREATE TABLE t (a smallint REFERENCES r)`, []string{"a"}, small, true},
		{"foreign partitioned", `CREATE TABLE r (x int PRIMARY KEY) PARTITION BY RANGE (x); CREATE TABLE r1 PARTITION OF r FOR VALUES FROM (0) TO (3);
			CREATE TABLE r2 PARTITION OF r DEFAULT; INSERT INTO r VALUES (1), (5); CREATE TABLE t (a int REFERENCES r)`, []string{"a"}, small, true},
		{"match simple", `CREATE TABLE r (x int, y int, PRIMARY KEY (x, y)); INSERT INTO r VALUES (1, 1), (2, 2); CREATE TABLE t (a int, b int, FOREIGN KEY (a, b) REFERENCES r)`,
			[]string{"a", "b"}, []string{"NULL", "1", "2"}, true},
		{"match full", `CREATE TABLE r (x int, y int, PRIMARY KEY (x, y)); INSERT INTO r VALUES (1, 1), (2, 2);
			CREATE TABLE t (a int, b int, FOREIGN KEY (a, b) REFERENCES r MATCH FULL)`, []string{"a", "b"}, []string{"NULL", "1", "2"}, true},
		{"range", `CREATE TABLE t (a int, b int) PARTITION BY RANGE (a); CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (1) TO (3);
			CREATE TABLE t2 PARTITION OF t FOR VALUES FROM (3) TO (6) PARTITION BY LIST (b); CREATE TABLE t3 PARTITION OF t2 FOR VALUES IN (1, NULL)`, []string{"a", "b"}, small, true},
		{"default partition", `CREATE TABLE t (a int, b int) PARTITION BY LIST (a); CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1); CREATE TABLE t2 PARTITION OF t DEFAULT`,
			[]string{"a", "b"}, small, true},
		{"hash", `CREATE TABLE t (a int, b int) PARTITION BY HASH (a); CREATE TABLE t1 PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 0)`, []string{"a", "b"}, small, true},
		{"no partition", `CREATE TABLE t (a int, b int) PARTITION BY HASH (a)`, []string{"a", "b"}, small, true},
		{"partition", `CREATE TABLE root (a int, b int) PARTITION BY RANGE (a); CREATE TABLE t PARTITION OF root FOR VALUES FROM (1) TO (4)`, []string{"a", "b"}, small, true},
		{"partitioned key", `CREATE TABLE t (a int PRIMARY KEY, b int) PARTITION BY RANGE (a); CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (1) TO (9);
			INSERT INTO t VALUES (4, 4)`, []string{"a", "b"}, small[1:], true},
		{"text", `CREATE TABLE t (a varchar(3) UNIQUE, b "char" CHECK (b <> 'x')); INSERT INTO t VALUES ('a')`, []string{"a", "b"}, []string{"NULL", "'a'", "'b'", "'x'", "''"}, true},
		{"numeric", `CREATE TABLE t (a numeric UNIQUE); INSERT INTO t VALUES (1.0)`, []string{"a"}, []string{"1.00", "1", "2.0", "2", "NULL"}, true},
	}
}

// The queries refuse no row that the server takes, and call the others what the server calls them.
func TestCheckQueries(t *testing.T) {
	uri := clustertest.Database(t)
	for _, c := range checkCases() {
		t.Run(c.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, uint64(len(c.setup))))
			clustertest.Exec(t, uri, "SET client_min_messages = warning; DROP SCHEMA public CASCADE; CREATE SCHEMA public; "+c.setup)
			for range 5 {
				judge(t, uri, &c, random)
			}
		})
	}
}

func TestCheckQueriesNullsNotDistinct(t *testing.T) {
	uri := clustertest.Database(t)
	conn := connect(t, uri)
	if version(conn) < 150000 {
		clustertest.Exec(t, uri, `CREATE TABLE t (a int UNIQUE)`) // 14 has no such keys, and no flag for them.
	} else {
		clustertest.Exec(t, uri, `CREATE TABLE t (a int UNIQUE NULLS NOT DISTINCT)`)
	}
	c := checkCase{name: "nulls", columns: []string{"a"}, values: []string{"NULL", "1", "2"}, whole: true}
	judge(t, uri, &c, rand.New(rand.NewPCG(1, 2)))
}

// judge compares the verdicts on some rows.
func judge(t *testing.T, uri string, c *checkCase, random *rand.Rand) {
	t.Helper()
	relation := read(t, uri, "public", "t", Target)
	conn := connect(t, uri)
	ctx := t.Context()
	checks, err := Checks(ctx, conn, relation.OID)
	if err != nil {
		t.Fatal(err)
	}
	server, err := Server(ctx, conn)
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.ChooseLoad(planner.LoadFacts{TargetServer: server, Target: relation, Processors: 1, Input: "rows", Fields: c.columns, Width: len(c.columns), Checks: checks},
		planner.LoadWish{Fill: planner.Append, OnError: planner.SetRowsAside, MaxErrors: -1})
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]string, 30)
	for i := range rows {
		var values []string
		for range c.columns {
			values = append(values, c.values[random.IntN(len(c.values))])
		}
		rows[i] = strings.Join(values, ", ")
	}
	want, got := serverVerdicts(t, conn, c, rows), planVerdicts(t, conn, p, rows)
	for _, i := range slices.Sorted(maps.Keys(got)) {
		switch state := want[i]; {
		case state == "":
			t.Errorf("row %d (%s) is refused by %s, and the server takes it", i, rows[i], got[i])
		case state != got[i] && (state != "23505" || got[i] != "23503"):
			t.Errorf("row %d (%s): %s, the server says %s", i, rows[i], got[i], state)
		}
	}
	for i, state := range want {
		// NULL in a NOT NULL column is found before rows are sent.
		if c.whole && got[i] == "" && state != "23502" {
			t.Errorf("row %d (%s) is taken, and the server says %s", i, rows[i], state)
		}
	}
	if len(want) == 0 && c.name != "default partition" {
		t.Error("the server refuses no row")
	}
}

// serverVerdicts are the SQLSTATEs of the refused rows when each is inserted by itself.
func serverVerdicts(t *testing.T, conn *pgx.Conn, c *checkCase, rows []string) map[int]string {
	t.Helper()
	verdicts := map[int]string{}
	must(t, conn, "BEGIN")
	defer must(t, conn, "ROLLBACK")
	for i, row := range rows {
		must(t, conn, "SAVEPOINT s")
		_, err := conn.Exec(t.Context(), "INSERT INTO public.t ("+strings.Join(c.columns, ", ")+") VALUES ("+row+")")
		var refused *pgconn.PgError
		if errors.As(err, &refused) {
			verdicts[i] = refused.Code
			must(t, conn, "ROLLBACK TO SAVEPOINT s")
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return verdicts
}

// planVerdicts are those of the plan's queries over all rows together.
func planVerdicts(t *testing.T, conn *pgx.Conn, p *planner.Plan, rows []string) map[int]string {
	t.Helper()
	verdicts := map[int]string{}
	if p.Load.Check == nil {
		return verdicts
	}
	must(t, conn, "BEGIN")
	defer must(t, conn, "ROLLBACK")
	must(t, conn, p.Load.Check.Create)
	for i, row := range rows {
		must(t, conn, fmt.Sprintf("INSERT INTO pg_temp.pghaul_check VALUES (%d, %s)", i+1, row))
	}
	for _, q := range p.Load.Check.Queries {
		for _, n := range numbers(t, conn, q.SQL) {
			if old := verdicts[n-1]; old != "" {
				t.Errorf("row %d is refused by %s and then by %s", n-1, old, q.State)
			}
			verdicts[n-1] = q.State
		}
	}
	return verdicts
}

func numbers(t *testing.T, conn *pgx.Conn, sql string) []int {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return all
}

// must runs a statement, also when the test is over.
func must(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(context.WithoutCancel(t.Context()), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}
