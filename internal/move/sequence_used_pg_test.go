package move

import (
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// TestCopySetsUsedSequence: the sequence of a default goes on where the source's stands, whoever owns it, and never goes back.
func TestCopySetsUsedSequence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, source, target string
		next                 string // what the target's default gives after the copy
	}{
		{"shared", "CREATE SEQUENCE s; CREATE TABLE t (id int DEFAULT nextval('s'), x text)", "", "4"},
		{"another name", "CREATE SEQUENCE s; CREATE TABLE t (id int DEFAULT 1000 + nextval('s'), x text)",
			`CREATE SCHEMA "S"; CREATE SEQUENCE "S"."q'"; CREATE TABLE t (id int DEFAULT nextval('"S"."q''"'), x text)`, "4"},
		{"further on", "CREATE SEQUENCE s; CREATE TABLE t (id int DEFAULT nextval('s'), x text)",
			"CREATE SEQUENCE s START 50; CREATE TABLE t (id int DEFAULT nextval('s'), x text); SELECT nextval('s')", "51"},
		{"owned there", "CREATE SEQUENCE s; CREATE TABLE t (id int DEFAULT nextval('s'), x text)", "CREATE TABLE t (id serial, x text)", "4"},
		{"owned here", "CREATE TABLE t (id serial, x text)", "CREATE SEQUENCE s; CREATE TABLE t (id int DEFAULT nextval('s'), x text)", "4"},
		{"no default there", "CREATE SEQUENCE s; CREATE TABLE t (id int DEFAULT nextval('s'), x text)", "CREATE TABLE t (id int DEFAULT 7, x text)", "7"},
		{"owned by another table", "CREATE TABLE o (id serial); CREATE TABLE t (id int DEFAULT nextval('o_id_seq'), x text)", "", "4"},
	} {
		source, target := clustertest.Database(t), clustertest.Database(t)
		if c.target == "" {
			c.target = c.source
		}
		clustertest.Exec(t, source, c.source, "INSERT INTO t (x) VALUES ('a'), ('b'), ('c')")
		clustertest.Exec(t, target, c.target)
		moves(t, onePair(source, target, "t", "t", planner.Wish{}))
		clustertest.Exec(t, target, "INSERT INTO t (x) VALUES ('new')")
		if got := clustertest.Query(t, target, "SELECT id FROM t WHERE x = 'new'"); got != c.next {
			t.Errorf("%s: the next value is %s, want %s", c.name, got, c.next)
		}
	}
}

// A role that may not touch the sequence copies the table all the same, and the plan says so.
func TestUsedSequenceDenied(t *testing.T) {
	t.Parallel()
	source, target := clustertest.Database(t), clustertest.Database(t)
	for _, uri := range []string{source, target} {
		clustertest.Exec(t, uri, "CREATE SEQUENCE s; CREATE TABLE t (id int DEFAULT nextval('s'))")
	}
	clustertest.Exec(t, source, "INSERT INTO t DEFAULT VALUES")
	clustertest.Exec(t, target, "CREATE ROLE sequence_nobody LOGIN", "GRANT ALL ON t TO sequence_nobody", "GRANT SELECT, USAGE ON s TO sequence_nobody")
	t.Cleanup(func() { clustertest.Exec(t, target, "DROP OWNED BY sequence_nobody", "DROP ROLE sequence_nobody") })
	report := moves(t, onePair(source, strings.Replace(target, "postgres@", "sequence_nobody@", 1), "t", "t", planner.Wish{}))
	if notes := strings.Join(report.Tables[0].Plan.Notes, "; "); !strings.Contains(notes, "sequence public.s, which the default of column id uses, may not be read or set") {
		t.Errorf("notes: %s", notes)
	}
	sameContents(t, source, "TABLE t", target, "TABLE t")
}

// TestCreateMakesUsedSequence: tables that share a sequence arrive with it, also side by side and through the hidden table of several connections.
func TestCreateMakesUsedSequence(t *testing.T) {
	t.Parallel()
	server := dumpCluster(t)
	source := clustertest.DatabaseOn(t, server)
	clustertest.Exec(t, source, `CREATE SEQUENCE "S q" INCREMENT 10 START 5 MAXVALUE 100000`,
		`CREATE TABLE a (id int DEFAULT nextval('"S q"'), x int); CREATE TABLE b (id int DEFAULT nextval('"S q"'), x int)`,
		`CREATE TABLE z (own serial); CREATE TABLE c (id int DEFAULT nextval('z_own_seq'), x int)`,
		"INSERT INTO a (x) SELECT generate_series(1, 3000); INSERT INTO b (x) SELECT 1; INSERT INTO z DEFAULT VALUES; INSERT INTO c (x) VALUES (1)")
	for name, wish := range map[string]planner.Wish{
		"one connection": {Create: true}, "several": {Create: true, Connections: 2, RangeBytes: 8192}, "ranges": {Create: true, Commit: planner.CommitRange},
	} {
		target := clustertest.DatabaseOn(t, server)
		if name == "several" {
			clustertest.Exec(t, target, `CREATE SEQUENCE "S q" INCREMENT 10`) // It is used as it is.
		}
		moves(t, Request{Source: source, Target: target, Patterns: []string{"public.*"}, Wish: wish})
		for _, table := range []string{"a", "b", "c", "z"} {
			sameContents(t, source, "TABLE "+table, target, "TABLE "+table)
		}
		clustertest.Exec(t, target, "INSERT INTO a (x) VALUES (-1)", "INSERT INTO b (x) VALUES (-1)", "INSERT INTO c (x) VALUES (-1)")
		got := clustertest.Query(t, target, `SELECT a.id, b.id, c.id, pg_get_serial_sequence('z', 'own') FROM a, b, c WHERE a.x = -1 AND b.x = -1 AND c.x = -1`)
		if got != "30015|30025|3|public.z_own_seq" {
			t.Errorf("%s: next values %s", name, got)
		}
	}
}

// A failed copy takes the sequence that it made away again, unless a table that stands uses it.
func TestCreateTakesUsedSequenceBack(t *testing.T) {
	t.Parallel()
	server := dumpCluster(t)
	source := clustertest.DatabaseOn(t, server)
	clustertest.Exec(t, source, "CREATE SEQUENCE s; CREATE TABLE a (id int DEFAULT nextval('s')); CREATE TABLE b (id int DEFAULT nextval('s'), x float)",
		"INSERT INTO b SELECT g, g FROM generate_series(1, 3000) AS g",
		"CREATE FUNCTION f(float) RETURNS float IMMUTABLE LANGUAGE sql AS 'SELECT $1'", "CREATE INDEX ON b (f(x))") // which the target lacks
	for _, connections := range []int{1, 2} {
		target := clustertest.DatabaseOn(t, server)
		q := Request{Source: source, Target: target, Patterns: []string{"b"}, Wish: planner.Wish{Create: true, Connections: connections, RangeBytes: 8192}}
		refused(t, q, "function public.f(")
		if got := clustertest.Query(t, target, "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"); got != "" {
			t.Errorf("%d connections left %s", connections, got)
		}
		q.Patterns = []string{"a", "b"}
		report := refused(t, q, "function public.f(")
		if got := clustertest.Query(t, target, "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1"); got != "a\ns" {
			t.Errorf("%d connections left %s", connections, got)
		}
		if kept := report.Tables[1].Kept; kept != keptNothing {
			t.Errorf("kept: %s", kept)
		}
	}
}
