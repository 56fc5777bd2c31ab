package move

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
)

// TestPagesOfSeveralTables copies tables of equal names in several schemas at once, some of which cannot be.
func TestPagesOfSeveralTables(t *testing.T) {
	t.Parallel()
	live := clustertest.Database(t)
	var pairs []TablePair
	for i := range 6 {
		clustertest.Exec(t, live, fmt.Sprintf("CREATE SCHEMA s%d", i), fmt.Sprintf("CREATE TABLE s%d.t (id int PRIMARY KEY, v text)", i),
			fmt.Sprintf("INSERT INTO s%d.t SELECT i, repeat(md5(i::text), 150 * (i %% 2)) FROM generate_series(1, %d) i", i, 300*(i+1)),
			fmt.Sprintf("CREATE SCHEMA r%d", i), fmt.Sprintf("CREATE TABLE r%d.t (id int PRIMARY KEY, v text)", i))
		pairs = append(pairs, TablePair{Source: fmt.Sprintf("s%d.t", i), Target: fmt.Sprintf("r%d.t", i)})
	}
	clustertest.Exec(t, live, "ALTER TABLE r3.t ADD CHECK (id <> 700)")
	report := refused(t, Request{Source: live, Target: live, Tables: pairs, Wish: pagesWish(false)}, "t_id_check", "r3.pghaul_")
	for i := range pairs {
		want := "SELECT count(*), sum(length(v)) FROM s%[1]d.t"
		if i == 3 {
			want = "SELECT 0, NULL::int"
		}
		sameContents(t, live, strings.ReplaceAll(want, "%[1]d", fmt.Sprint(i)), live, fmt.Sprintf("SELECT count(*), sum(length(v)) FROM r%d.t", i))
		if failed := report.Tables[i].Err != nil; failed != (i == 3) {
			t.Errorf("table %d: %v", i, report.Tables[i].Err)
		}
	}
	clean(t, live)
}

// TestPagesInTablespaces has each side in one of its own. A partition is the source.
func TestPagesInTablespaces(t *testing.T) {
	t.Parallel()
	s := clustertest.Private(t, testOptions(t))
	live := clustertest.DatabaseOn(t, s)
	for _, name := range []string{"one", "two"} {
		clustertest.Exec(t, live, "CREATE TABLESPACE "+name+" LOCATION '"+besideData(t, s, name)+"'")
	}
	clustertest.Exec(t, live, "CREATE TABLE tree (id int, v text, double int GENERATED ALWAYS AS (id * 2) STORED) PARTITION BY RANGE (id)",
		"CREATE TABLE leaf (v text, gone int, id int, double int GENERATED ALWAYS AS (id * 2) STORED) TABLESPACE one", "ALTER TABLE leaf DROP gone", "ALTER TABLE tree ATTACH PARTITION leaf FOR VALUES FROM (1) TO (10000)",
		"INSERT INTO tree SELECT i, repeat(md5(i::text), 100 * (i % 2)) FROM generate_series(1, 2000) i", "UPDATE tree SET id = id + 5000 WHERE id % 7 = 0",
		"CREATE TABLE target (id int PRIMARY KEY USING INDEX TABLESPACE one, v text, double int GENERATED ALWAYS AS (id * 2) STORED) TABLESPACE two")
	for _, notLogged := range []bool{false, true} {
		w := pagesWish(notLogged)
		clustertest.Exec(t, live, "TRUNCATE target")
		q := onePair(live, live, "leaf", "target", w)
		q.Verify = VerifyHash
		moves(t, q)
		sameContents(t, live, "SELECT id, v, double FROM tree", live, "TABLE target")
		if got := clustertest.Query(t, live, "SELECT string_agg(s.spcname, ' ' ORDER BY c.relkind) FROM pg_class c, pg_tablespace s WHERE s.oid = c.reltablespace AND c.relname IN ('target', 'target_pkey')"); got != "one two" {
			t.Errorf("index and table are in %s", got)
		}
		clean(t, live)
	}
	clustertest.Exec(t, live, "TRUNCATE target")
	refused(t, onePair(live, live, "tree", "target", pagesWish(false)), "name its partitions")
	clustertest.Exec(t, live, "CREATE TABLE other (LIKE tree INCLUDING GENERATED) PARTITION BY RANGE (id)", "CREATE TABLE bough PARTITION OF other DEFAULT")
	refused(t, onePair(live, live, "leaf", "bough", pagesWish(false)), "It is a partition")
}

// TestPagesOfRolesThatAreNoSuperusers is of what the documentation asks for and no more.
func TestPagesOfRolesThatAreNoSuperusers(t *testing.T) {
	t.Parallel()
	s := clustertest.Private(t, testOptions(t))
	live := clustertest.DatabaseOn(t, s)
	if clustertest.Query(t, live, "SELECT count(*) FROM pg_roles WHERE rolname = 'pg_checkpoint'") == "0" {
		return // From 15 on others than superusers may run CHECKPOINT.
	}
	clustertest.Exec(t, live, "CREATE ROLE hauler LOGIN", "CREATE SCHEMA hauler AUTHORIZATION hauler", "SET ROLE hauler", "CREATE TABLE hauler.t (id int PRIMARY KEY, v text)",
		"INSERT INTO hauler.t SELECT i, repeat(md5(i::text), 200) FROM generate_series(1, 100) i", "RESET ROLE")
	uri := strings.Replace(live, "postgres@", "hauler@", 1)
	w := pagesWish(false)
	w.Create = true
	refused(t, onePair(uri, uri, "hauler.t", "hauler.kept", w), "pg_read_all_settings and pg_checkpoint")
	clustertest.Exec(t, live, "GRANT pg_read_all_settings, pg_checkpoint TO hauler")
	q := onePair(uri, uri, "hauler.t", "hauler.kept", w)
	q.Verify = VerifyHash
	moves(t, q)
	sameContents(t, live, "TABLE hauler.t", live, "TABLE hauler.kept")
	clean(t, live)
}

// TestPagesHoldBackWhatWasNotValidated is of constraints that say less about the rows than it seems.
func TestPagesHoldBackWhatWasNotValidated(t *testing.T) {
	t.Parallel()
	live := clustertest.Database(t)
	clustertest.Exec(t, live, "CREATE TABLE s (id int, v int)", "INSERT INTO s SELECT i, NULLIF(i, 500) FROM generate_series(1, 1000) i", "ALTER TABLE s ADD CONSTRAINT late CHECK (id <> 77) NOT VALID",
		"CREATE TABLE late (id int, v int, CONSTRAINT late CHECK (id <> 77))")
	refused(t, onePair(live, live, "s", "late", pagesWish(false)), "the target's constraint late")
	if clustertest.Query(t, live, "SELECT current_setting('server_version_num')::int < 180000") == "t" {
		return
	}
	clustertest.Exec(t, live, "ALTER TABLE s DROP CONSTRAINT late, ADD CONSTRAINT known NOT NULL v NOT VALID, ADD CONSTRAINT wished CHECK (id < 0) NOT ENFORCED", "CREATE TABLE filled (id int, v int NOT NULL)", "CREATE TABLE free (id int, v int)")
	refused(t, onePair(live, live, "s", "filled", pagesWish(false)), "column v holds NULL")
	create := pagesWish(false)
	create.Create = true
	refused(t, onePair(live, live, "s", "made", create), "column v holds NULL")
	moves(t, onePair(live, live, "s", "free", pagesWish(false)))
	clustertest.Exec(t, live, "DELETE FROM s WHERE v IS NULL")
	moves(t, onePair(live, live, "s", "filled", pagesWish(false)))
	moves(t, onePair(live, live, "s", "made", create))
	sameContents(t, live, "TABLE s", live, "TABLE made")
	clean(t, live)
}
