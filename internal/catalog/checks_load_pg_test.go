package catalog

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// planLoad plans a load into public.t of rows with these fields, with all that the server says of it.
func planLoad(t *testing.T, uri string, fields []string, w planner.LoadWish) *planner.Plan {
	t.Helper()
	conn := connect(t, uri)
	f := planner.LoadFacts{Target: read(t, uri, "public", "t", Target), Processors: 1, Input: "rows", Fields: fields, Width: len(fields)}
	var err error
	if f.TargetServer, err = Server(t.Context(), conn); err == nil {
		f.Checks, err = Checks(t.Context(), conn, f.Target.OID)
	}
	if err == nil {
		f.Deferred, err = Deferred(t.Context(), conn, "public.t")
	}
	if err != nil {
		t.Fatal(err)
	}
	w.MaxErrors = -1
	p, err := planner.ChooseLoad(f, w)
	if err != nil {
		t.Fatal(plannerError(t, err))
	}
	return p
}

// model is a table t (id, a, b DEFAULT 7) by its keys.
type model map[string][3]string

// take is what becomes of a row (id, a).
func (m model) take(id, a string, how planner.OnDuplicate) {
	old, there := m[id]
	switch {
	case !there || how == planner.DuplicateKeepNew:
		m[id] = [3]string{id, a, "7"}
	case how == planner.DuplicateUpdate:
		old[1] = a
		m[id] = old
	}
}

// A merge in batches leaves what taking the rows one by one would.
func TestMergeOfLoads(t *testing.T) {
	uri := clustertest.Database(t)
	random := rand.New(rand.NewPCG(3, 4))
	for _, how := range []planner.OnDuplicate{planner.DuplicateSkip, planner.DuplicateUpdate, planner.DuplicateKeepNew, planner.DuplicateKeepOld} {
		for _, aside := range []planner.OnError{planner.StopOnError, planner.SetRowsAside} {
			clustertest.Exec(t, uri, "DROP TABLE IF EXISTS t", "CREATE TABLE t (id int PRIMARY KEY, a int, b int DEFAULT 7, g int GENERATED ALWAYS AS (a + 1) STORED)",
				"INSERT INTO t VALUES (1, 100, 100), (2, 100, 100)")
			want := model{"1": {"1", "100", "100"}, "2": {"2", "100", "100"}}
			p := planLoad(t, uri, []string{"id", "a"}, planner.LoadWish{OnDuplicate: how, OnError: aside})
			conn := connect(t, uri)
			must(t, conn, "BEGIN")
			must(t, conn, p.Load.Stage.Create)
			for batch := range 3 {
				if batch > 0 {
					must(t, conn, p.Load.Stage.Reset)
				}
				mergeBatch(t, conn, p, random, want, how)
			}
			must(t, conn, "COMMIT")
			got := clustertest.Query(t, uri, "SELECT id, a, b, g - a FROM t ORDER BY id")
			var lines []string
			for id := range 12 {
				if row, there := want[fmt.Sprint(id)]; there {
					lines = append(lines, strings.Join(row[:], "|")+"|1")
				}
			}
			if diff := cmp.Diff(strings.Join(lines, "\n"), got); diff != "" {
				t.Errorf("%s %s: %s", how, aside, diff)
			}
		}
	}
}

// mergeBatch stages some rows and merges them, and checks which rows are said to be dropped.
func mergeBatch(t *testing.T, conn *pgx.Conn, p *planner.Plan, random *rand.Rand, want model, how planner.OnDuplicate) {
	t.Helper()
	var dropped []int
	for i := range 8 {
		id, a := fmt.Sprint(random.IntN(12)), fmt.Sprint(random.IntN(100))
		if _, there := want[id]; there {
			dropped = append(dropped, i+1)
		}
		want.take(id, a, how)
		must(t, conn, fmt.Sprintf("INSERT INTO pg_temp.pghaul_stage VALUES (%d, %s, %s)", i+1, id, a))
	}
	if p.Load.Stage.Duplicates != "" {
		if got := numbers(t, conn, "SELECT n FROM ("+p.Load.Stage.Duplicates+") AS d (n, why) ORDER BY n"); !cmp.Equal(got, dropped) {
			t.Errorf("%s: dropped %v, want %v", how, got, dropped)
		}
	} else if how == planner.DuplicateKeepOld {
		t.Error("the dropped rows are not asked for")
	}
	must(t, conn, p.Load.Stage.Merge)
}

// NULLs in a key that allows them, and a key that holds them to be equal.
func TestMergeOfLoadsWithNulls(t *testing.T) {
	uri := clustertest.Database(t)
	keys := []string{"UNIQUE (k, l)"}
	if version(connect(t, uri)) >= 150000 {
		keys = append(keys, "UNIQUE NULLS NOT DISTINCT (k, l)")
	}
	for i, key := range keys {
		for how, want := range map[planner.OnDuplicate]string{
			planner.DuplicateUpdate:  []string{"1||1\n1||3\n1|1|4", "1||3\n1|1|4"}[i],
			planner.DuplicateKeepOld: []string{"1||1\n1||3\n1|1|2", "1||1\n1|1|2"}[i],
		} {
			clustertest.Exec(t, uri, "DROP TABLE IF EXISTS t", "CREATE TABLE t (k int, l int, v int, "+key+")")
			p := planLoad(t, uri, []string{"k", "l", "v"}, planner.LoadWish{OnDuplicate: how})
			conn := connect(t, uri)
			must(t, conn, "BEGIN")
			must(t, conn, p.Load.Stage.Create)
			must(t, conn, "INSERT INTO pg_temp.pghaul_stage VALUES (1, 1, NULL, 1), (2, 1, 1, 2), (3, 1, NULL, 3), (4, 1, 1, 4)")
			must(t, conn, p.Load.Stage.Merge)
			must(t, conn, "COMMIT")
			if got := clustertest.Query(t, uri, "SELECT k, l, v FROM t ORDER BY l NULLS FIRST, v"); got != want {
				t.Errorf("%s %s: got %q, want %q", key, how, got, want)
			}
		}
	}
}

// Expressions see fields by their names, and functions along the role's path.
func TestSetOfLoads(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE FUNCTION twice(n numeric) RETURNS numeric LANGUAGE sql AS 'SELECT $1 * 2'", "CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY, n numeric, s varchar(5))")
	w := planner.LoadWish{Set: []planner.SetColumn{{Column: "n", Expression: "twice(replace(n, ',', '.')::numeric)"}, {Column: "s", Expression: "upper(\"X y\") -- as text"}}}
	p := planLoad(t, uri, []string{"ID", "n", "X y"}, w)
	conn := connect(t, uri)
	must(t, conn, "BEGIN")
	for _, sql := range append(p.Load.Begin, p.Load.Stage.Create, "INSERT INTO pg_temp.pghaul_stage VALUES (1, 5, '1,5', 'abc')", p.Load.Stage.Merge, "COMMIT") {
		must(t, conn, sql)
	}
	p = planLoad(t, uri, []string{"ID", "n", "X y"}, planner.LoadWish{Set: w.Set, Method: planner.Insert, Fill: planner.Append})
	must(t, conn, "BEGIN")
	for _, sql := range p.Load.Begin {
		must(t, conn, sql)
	}
	if _, err := conn.Exec(t.Context(), p.Load.Batch.Head+"($1, $2, $3), ($4, $5, $6)"+p.Load.Batch.Tail, "6", "2,5", "d", "7", nil, nil); err != nil {
		t.Fatal(p.Load.Batch.Head, err)
	}
	must(t, conn, "COMMIT")
	if got, want := clustertest.Query(t, uri, "SELECT * FROM t"), "5|3.0|ABC\n6|5.0|D\n7||"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

const definitionsSQL = `SELECT pg_get_indexdef(i.indexrelid), i.indisclustered, obj_description(i.indexrelid, 'pg_class'), k.conname, pg_get_constraintdef(k.oid), obj_description(k.oid, 'pg_constraint')
	FROM pg_index i LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.conrelid = i.indrelid WHERE i.indrelid = 'public.t'::regclass ORDER BY 1`

// Deferred indexes are what they were, after a load, after one that fails, and after one that was interrupted.
func TestDeferredIndexes(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, `CREATE EXTENSION btree_gist`, `CREATE TABLE t (id int PRIMARY KEY, a int CONSTRAINT "A key" UNIQUE DEFERRABLE INITIALLY DEFERRED, b int, r int4range, EXCLUDE USING gist (b WITH =, r WITH &&))`,
		`CREATE INDEX "b I" ON t (b DESC) WHERE b > 5`, `COMMENT ON INDEX "b I" IS 'it''s'`, `ALTER TABLE t CLUSTER ON t_pkey`, `COMMENT ON CONSTRAINT "A key" ON t IS 'why'`)
	before := clustertest.Query(t, uri, definitionsSQL)
	conn := connect(t, uri)
	p := planLoad(t, uri, []string{"id", "a", "b"}, planner.LoadWish{DeferIndexes: true, Fill: planner.Append})
	must(t, conn, "BEGIN")
	runSteps(t, conn, p.Before)
	must(t, conn, "INSERT INTO public.t (id, a, b) VALUES (1, 2, 3)")
	runSteps(t, conn, p.After)
	must(t, conn, "COMMIT")
	if diff := cmp.Diff(before, clustertest.Query(t, uri, definitionsSQL)); diff != "" {
		t.Error(diff)
	}
	p = planLoad(t, uri, []string{"id", "a", "b"}, planner.LoadWish{DeferIndexes: true, Fill: planner.Append, CommitEvery: 10})
	runSteps(t, conn, p.Before)
	if got := clustertest.Query(t, uri, definitionsSQL); got != "" {
		t.Errorf("still there: %s", got)
	}
	for _, step := range p.Before {
		if step.Undo != "" {
			must(t, conn, step.Undo)
		}
	}
	if diff := cmp.Diff(before, clustertest.Query(t, uri, definitionsSQL)); diff != "" {
		t.Error(diff)
	}
	runSteps(t, conn, p.Before) // and then it is killed
	p = planLoad(t, uri, []string{"id", "a", "b"}, planner.LoadWish{Fill: planner.Append})
	runSteps(t, conn, p.After)
	runSteps(t, conn, p.After)
	if diff := cmp.Diff(before, clustertest.Query(t, uri, definitionsSQL)); diff != "" {
		t.Error(diff)
	}
	if got := clustertest.Query(t, uri, "SELECT count(*) FROM pghaul.deferred_index"); got != "0" {
		t.Errorf("%s records are left", got)
	}
}

func runSteps(t *testing.T, conn *pgx.Conn, steps []planner.Step) {
	t.Helper()
	for _, step := range steps {
		must(t, conn, step.SQL)
	}
}

// A record is kept up to date, whatever the table and the files are called.
func TestRecordOfLoads(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE t (id int)")
	p := planLoad(t, uri, []string{"id"}, planner.LoadWish{CommitEvery: 10})
	conn := connect(t, uri)
	runSteps(t, conn, p.Before)
	// The third run knows of a record that another one has overtaken.
	for n, known := range []string{"{}", `{"n": 0}`, `{"n": 0}`} {
		tag, err := conn.Exec(t.Context(), p.Load.Record, "k", fmt.Sprintf(`{"n": %d}`, n), 10*n, n, known)
		if err != nil || (tag.RowsAffected() == 1) != (n < 2) {
			t.Fatalf("record %d: %s, %v", n, tag, err)
		}
	}
	if got := clustertest.Query(t, uri, "SELECT key, target, position, rows, refused, changed > started FROM pghaul.load"); got != `k|public.t|{"n": 1}|10|1|t` {
		t.Error(got)
	}
}

// A table that is replaced by rows some of which are set aside gets its keys before them, and is then as it was.
func TestReplaceWithKeysFirst(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, `CREATE TABLE r (x int PRIMARY KEY)`, `INSERT INTO r VALUES (1)`,
		`CREATE TABLE t (id int PRIMARY KEY, a int CONSTRAINT "A key" UNIQUE, x int CONSTRAINT "x fk" REFERENCES r ON DELETE CASCADE, up int REFERENCES t, EXCLUDE (a WITH =))`,
		`INSERT INTO t VALUES (5, 5, 1, 5)`, `CREATE INDEX "b I" ON t (x)`)
	const foreign = "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'public.t'::regclass AND contype = 'f' ORDER BY 1"
	before := clustertest.Query(t, uri, definitionsSQL) + clustertest.Query(t, uri, foreign)
	conn := connect(t, uri)
	p := planLoad(t, uri, []string{"id", "a", "x", "up"}, planner.LoadWish{Fill: planner.Replace, OnError: planner.SetRowsAside})
	runSteps(t, conn, p.Before)
	for row, refused := range map[string]bool{"(2, 2, 1, NULL)": false, "(3, 3, 7, NULL)": true} {
		_, err := conn.Exec(t.Context(), "INSERT INTO "+p.Parts[0].Target+" VALUES "+row)
		if refused != (err != nil) {
			t.Errorf("%s: %v", row, err)
		}
	}
	if _, err := conn.Exec(t.Context(), "INSERT INTO "+p.Parts[0].Target+" VALUES (2, 9, 1, NULL)"); sqlState(err) != "23505" {
		t.Errorf("duplicate: %v", err)
	}
	must(t, conn, "BEGIN")
	runSteps(t, conn, p.After)
	must(t, conn, "COMMIT")
	if diff := cmp.Diff(before, clustertest.Query(t, uri, definitionsSQL)+clustertest.Query(t, uri, foreign)); diff != "" {
		t.Error(diff)
	}
	if got := clustertest.Query(t, uri, "SELECT * FROM t"); got != "2|2|1|" {
		t.Error(got)
	}
}
