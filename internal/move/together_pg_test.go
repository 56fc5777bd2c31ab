package move

import (
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// family makes tables tied by foreign keys on both sides, the target's with rows that the source lacks. Child sorts before parent.
func family(t *testing.T) (source, target string) {
	t.Helper()
	source, target = clustertest.Database(t), clustertest.Database(t)
	const tables = `CREATE TABLE "z Parent" (id int PRIMARY KEY, up int REFERENCES "z Parent");
		CREATE TABLE child (id int PRIMARY KEY, p int REFERENCES "z Parent") PARTITION BY HASH (id);
		CREATE TABLE child_0 PARTITION OF child FOR VALUES WITH (MODULUS 2, REMAINDER 0);
		CREATE TABLE child_1 PARTITION OF child FOR VALUES WITH (MODULUS 2, REMAINDER 1);
		CREATE TABLE "a grandchild" (c int REFERENCES child, p int REFERENCES "z Parent", n int CHECK (n < 1000)); CREATE TABLE alone (id int)`
	const rows = `INSERT INTO "z Parent" SELECT g, 1 FROM generate_series(%s) AS g; INSERT INTO child SELECT id, id FROM "z Parent";
		INSERT INTO "a grandchild" SELECT id, id, id FROM "z Parent"; INSERT INTO alone SELECT id FROM "z Parent"`
	clustertest.Exec(t, source, tables, strings.Replace(rows, "%s", "1, 500", 1))
	clustertest.Exec(t, target, tables, strings.Replace(rows, "%s", "1, 20", 1))
	return source, target
}

var familyTables = []string{`TABLE "z Parent"`, "TABLE child", `TABLE "a grandchild"`, "TABLE alone"}

// TestTruncateTogether: targets that foreign keys tie together are emptied and filled in one transaction.
func TestTruncateTogether(t *testing.T) {
	t.Parallel()
	for name, wish := range map[string]planner.Wish{
		"relay": {Method: planner.Relay}, "insert": {Method: planner.Insert, Connections: 3, RangeBytes: 8192},
		"merge": {OnConflict: planner.DoUpdate, ConflictColumns: []string{"id"}},
	} {
		t.Run(name, func(t *testing.T) {
			source, target := family(t)
			wish.Fill = planner.Truncate
			if wish.OnConflict != planner.NoConflictAction {
				for _, uri := range []string{source, target} {
					clustertest.Exec(t, uri, `ALTER TABLE alone ADD PRIMARY KEY (id)`, `ALTER TABLE "a grandchild" RENAME p TO id`, `ALTER TABLE "a grandchild" ADD PRIMARY KEY (id)`)
				}
			}
			q := Request{Source: source, Target: target, Patterns: []string{"public.*"}, Wish: wish}
			if wish.OnConflict == planner.NoConflictAction {
				q.Verify = VerifyHash
			}
			report := moves(t, q)
			for _, table := range familyTables {
				sameContents(t, source, table, target, table)
			}
			truncates := 0
			for _, one := range report.Tables {
				for _, step := range one.Plan.Before {
					if step.SQL == `TRUNCATE TABLE ONLY public."a grandchild", public.child, ONLY public."z Parent"` {
						truncates++
					} else if one.Plan.Target.Relation != "public.alone" {
						t.Error(step.SQL)
					}
				}
				if one.Rows != 500 || one.Kept != "" {
					t.Errorf("%s: %d rows, kept %q", one.Plan.Target.Relation, one.Rows, one.Kept)
				}
			}
			if truncates != 1 {
				t.Errorf("%d statements TRUNCATE", truncates)
			}
			clean(t, target)
		})
	}
}

// TestTruncateTogetherFails: when one of them cannot be copied all have their old rows, and each says why.
func TestTruncateTogetherFails(t *testing.T) {
	t.Parallel()
	source, target := family(t)
	clustertest.Exec(t, target, `ALTER TABLE "a grandchild" ADD CONSTRAINT few CHECK (n < 400)`)
	before := make([]string, len(familyTables))
	for i, table := range familyTables {
		before[i] = contents(t, target, table)
	}
	report := refused(t, Request{Source: source, Target: target, Patterns: []string{"public.*"}, Wish: planner.Wish{Fill: planner.Truncate}}, "few")
	for i, table := range familyTables[:3] {
		if contents(t, target, table) != before[i] {
			t.Errorf("%s has changed", table)
		}
	}
	sameContents(t, source, "TABLE alone", target, "TABLE alone")
	for _, one := range report.Tables {
		relation := one.Plan.Target.Relation
		switch told := spelled(one.Err); {
		case relation == "public.alone":
			if one.Err != nil {
				t.Error(told)
			}
		case one.Kept != keptNothing || one.Rows != 0:
			t.Errorf("%s: %d rows, kept %s", relation, one.Rows, one.Kept)
		case relation != `public."a grandchild"` && !strings.Contains(told, `in one transaction with public."a grandchild", which could not be copied`):
			t.Errorf("%s: %s", relation, told)
		}
	}
	sessionsGone(t, target)
}

// What one transaction cannot do stays refused, with what can be done.
func TestTruncateTogetherRefused(t *testing.T) {
	t.Parallel()
	source, target := family(t)
	q := Request{Source: source, Target: target, Patterns: []string{"child", `"z Parent"`}, Wish: planner.Wish{Fill: planner.Truncate}}
	refused(t, q, "--truncate cannot be used for public.child", `Foreign keys of public."a grandchild" refer to it.`, "Copy those tables in the same command")
	q.Patterns, q.Wish.Commit = []string{"public.*"}, planner.CommitRange
	refused(t, q, "--truncate cannot be used for", "Foreign keys tie it to", "Leave --commit range out")
}

// Inside one server the group reads what the source's snapshot shows.
func TestTruncateTogetherInside(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE SCHEMA s; CREATE TABLE s.p AS SELECT generate_series(1, 100) AS id; CREATE TABLE s.c AS SELECT id AS p FROM s.p",
		"CREATE TABLE p (id int PRIMARY KEY); CREATE TABLE c (p int REFERENCES p); INSERT INTO p VALUES (-1); INSERT INTO c VALUES (-1)")
	for _, method := range []planner.Method{planner.Relay, planner.InsertSelect} {
		moves(t, Request{Source: uri, Target: uri, Tables: []TablePair{{Source: "s.c", Target: "c"}, {Source: "s.p", Target: "p"}},
			Wish: planner.Wish{Fill: planner.Truncate, Method: method}, Verify: VerifyCount})
		sameContents(t, uri, "TABLE s.p", uri, "TABLE p")
		sameContents(t, uri, "TABLE s.c", uri, "TABLE c")
	}
}
