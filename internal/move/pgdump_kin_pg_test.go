package move

import (
	"slices"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// TestCreateInheritance makes children whose names sort before their parents'.
func TestCreateInheritance(t *testing.T) {
	t.Parallel()
	server := dumpCluster(t)
	source, target := clustertest.DatabaseOn(t, server), clustertest.DatabaseOn(t, server)
	clustertest.Exec(t, source,
		"CREATE TABLE z (id int, t text); CREATE TABLE y (n int) INHERITS (z); CREATE TABLE x (m int); CREATE TABLE a () INHERITS (x, y)",
		"INSERT INTO z VALUES (1, 'z'); INSERT INTO y VALUES (2, 'y', 2); INSERT INTO x VALUES (3); INSERT INTO a VALUES (4, 4, 'a', 4)")
	report := moves(t, Request{Source: source, Target: target, Patterns: []string{"public.*"}, Wish: planner.Wish{Create: true}})
	if len(report.Tables) != 4 {
		t.Errorf("%d tables were moved", len(report.Tables))
	}
	for _, query := range []string{"SELECT tableoid::regclass, * FROM z", "SELECT tableoid::regclass, * FROM x",
		"SELECT inhrelid::regclass, inhparent::regclass, inhseqno FROM pg_inherits"} {
		sameContents(t, source, query, target, query)
	}
}

func TestDefinitionOfStatistics(t *testing.T) {
	t.Parallel()
	server := dumpCluster(t)
	source := clustertest.DatabaseOn(t, server)
	clustertest.Exec(t, source, `CREATE SCHEMA "S 1"; CREATE SCHEMA other`,
		`CREATE TABLE "S 1".t (a int, "B b" text, c int)`,
		`CREATE STATISTICS "S 1".t (ndistinct, mcv) ON a, "B b" FROM "S 1".t; ALTER STATISTICS "S 1".t SET STATISTICS 77`,
		`CREATE STATISTICS other."e'x" ON (a + 1), lower("B b") FROM "S 1".t; COMMENT ON STATISTICS other."e'x" IS 'it''s'`)
	const list = `SELECT stxnamespace::regnamespace, stxname, stxrelid::regclass, stxkind, stxkeys, coalesce(stxstattarget, -1),
		obj_description(oid, 'pg_statistic_ext'), pg_get_statisticsobjdef_expressions(oid) FROM pg_statistic_ext ORDER BY 2`
	for _, to := range []tableKey{{"S 1", "t"}, {"public", "u"}} {
		target := clustertest.DatabaseOn(t, server)
		clustertest.Exec(t, target, `CREATE SCHEMA "S 1"; CREATE SCHEMA other`)
		d, err := definitionOf(t, source, want{source: planner.Relation{Kind: planner.Table, Schema: "S 1", Name: "t"}, schema: to.schema, name: to.name})
		if err != nil {
			t.Fatal(err)
		}
		clustertest.Exec(t, target, slices.Concat([]string{"SET search_path = ''"}, d.Before, d.Indexes, d.After)...)
		if to.schema == "public" {
			clustertest.Exec(t, target, `ALTER TABLE public.u RENAME TO t; ALTER TABLE public.t SET SCHEMA "S 1"; ALTER STATISTICS public.t SET SCHEMA "S 1"`)
		}
		if want, got := clustertest.Query(t, source, list), clustertest.Query(t, target, list); want != got {
			t.Errorf("as %v: got %s, want %s", to, got, want)
		}
	}
}
