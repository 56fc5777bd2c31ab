package move

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pghaul/pghaul/internal/clustertest"
)

// comparedShapes are tables a and b of one database and what a comparison tells of them.
var comparedShapes = []struct{ name, sql, want string }{
	{"rows twice", `CREATE TABLE a (x int, t text); INSERT INTO a VALUES (1, 'one'), (1, 'one'), (2, NULL); CREATE TABLE b AS SELECT DISTINCT * FROM a`,
		"rows whose hash bucket is # of 64: 2, 1\n  row (1, one): 2 in the source, 1 in the target\n"},
	{"two rows twice in exchange", `CREATE TABLE a (x int); INSERT INTO a VALUES (1), (1), (2), (2); CREATE TABLE b AS VALUES (1), (1), (1), (2); ALTER TABLE b RENAME column1 TO x`,
		"rows whose hash bucket is # of 64: 2, 3\n  row (1): 2 in the source, 3 in the target\nrows whose hash bucket is # of 64: 2, 1\n  row (2): 2 in the source, 1 in the target\n"},
	{"values exchanged between rows", `CREATE TABLE a (id int PRIMARY KEY, x int, y text); INSERT INTO a VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c');
		CREATE TABLE b AS TABLE a; UPDATE b SET x = 30 - x WHERE id < 3`,
		"all rows: 3, 3\n  id=1: different in x\n  id=2: different in x\n"},
	{"values exchanged between columns", `CREATE TABLE a (id int PRIMARY KEY, x int, y int, z text, w text); INSERT INTO a VALUES (1, 10, 20, 'a', 'b');
		CREATE TABLE b AS SELECT id, y AS x, x AS y, w AS z, z AS w FROM a`,
		"all rows: 1, 1\n  id=1: different in x, y, z, w\n"},
	{"nulls exchanged between columns", `CREATE TABLE a (id int PRIMARY KEY, x text, y text); INSERT INTO a VALUES (1, NULL, 'a'), (2, NULL, NULL);
		CREATE TABLE b AS SELECT id, y AS x, x AS y FROM a`,
		"all rows: 2, 2\n  id=1: different in x, y\n"},
	{"empty target", `CREATE TABLE a (id int PRIMARY KEY); INSERT INTO a SELECT generate_series(1, 7); CREATE TABLE b (id int)`,
		"all rows: 7, 0\n  id=1: missing in the target\n  id=2: missing in the target\n  id=3: missing in the target\n  id=4: missing in the target\n  id=5: missing in the target\n"},
	{"empty source", `CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int); INSERT INTO b VALUES (1)`, "all rows: 0, 1\n  id=1: only in the target\n"},
	{"both empty", `CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int)`, ""},
	{"no columns", `CREATE TABLE a (); INSERT INTO a DEFAULT VALUES; CREATE TABLE b ()`, "rows whose hash bucket is # of 64: 1, 0\n"},
	{"key of two columns", `CREATE TABLE a (x int, "Y" text, v int, PRIMARY KEY (x, "Y")); INSERT INTO a VALUES (1, 'a', 1), (1, 'b', 2); CREATE TABLE b AS TABLE a; UPDATE b SET v = 3 WHERE "Y" = 'b'`,
		"rows whose hash bucket is # of 64: 1, 1\n  (x, \"Y\")=(1, b): different in v\n"},
	{"key of text", `CREATE TABLE a (code text COLLATE "en_US" PRIMARY KEY, v int); INSERT INTO a VALUES ('é''\', 1), ('B', 2), ('a', 3); CREATE TABLE b AS TABLE a; UPDATE b SET v = 3 WHERE code = 'B'`,
		"all rows: 3, 3\n  code=B: different in v\n"},
	{"key in the target only", `CREATE TABLE b (id uuid PRIMARY KEY, v int); INSERT INTO b VALUES ('00000000-0000-0000-0000-000000000001', 1); CREATE TABLE a AS TABLE b; UPDATE b SET v = 3`,
		"all rows: 1, 1\n  id=00000000-0000-0000-0000-000000000001: different in v\n"},
	{"keys that are null", `CREATE TABLE a (id int UNIQUE, v int); INSERT INTO a VALUES (NULL, 1), (NULL, 2), (3, 3); CREATE TABLE b AS TABLE a; DELETE FROM b WHERE v = 2`,
		"id IS NULL: 2, 1\n  id=NULL: 2 in the source, 1 in the target\n"},
	{"dates as key", `CREATE TABLE a (d date PRIMARY KEY, v int); INSERT INTO a SELECT '2000-01-01'::date + g, g FROM generate_series(1, 50000) g;
		CREATE TABLE b AS TABLE a; UPDATE b SET v = 0 WHERE v = 1; DELETE FROM b WHERE v = 50000`,
		"d < '2068-06-12': 24999, 24999\n  d=2000-01-02: different in v\nd >= '2068-06-12': 25001, 25000\n  d=2136-11-23: missing in the target\n"},
	{"partitions", `CREATE TABLE a (id int PRIMARY KEY, v int) PARTITION BY RANGE (id); CREATE TABLE a1 PARTITION OF a FOR VALUES FROM (0) TO (100) PARTITION BY LIST (id);
		CREATE TABLE a11 (v int, id int NOT NULL); ALTER TABLE a1 ATTACH PARTITION a11 DEFAULT; CREATE TABLE a2 PARTITION OF a DEFAULT;
		INSERT INTO a SELECT g, g FROM generate_series(0, 199) g; CREATE TABLE b AS TABLE a; UPDATE b SET v = 0 WHERE v IN (7, 150)`,
		"all rows: 200, 200\n  id=7: different in v\n  id=150: different in v\n"},
	{"inheritance children are others", `CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE child () INHERITS (a); INSERT INTO child VALUES (1); INSERT INTO a VALUES (2); CREATE TABLE b AS SELECT 2 AS id`, ""},
	{"view", `CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'x'), (2, 'y'); CREATE VIEW a AS TABLE t; CREATE MATERIALIZED VIEW b AS TABLE t; UPDATE t SET v = 'z' WHERE id = 2`,
		"rows whose hash bucket is # of 64: 1, 0\n  row (2, z): missing in the target\nrows whose hash bucket is # of 64: 0, 1\n  row (2, y): only in the target\n"},
	{"generated and identity", `CREATE TABLE a (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v int, w int GENERATED ALWAYS AS (v * 2) STORED); INSERT INTO a (v) VALUES (4); CREATE TABLE b AS TABLE a; UPDATE b SET w = 9`,
		"all rows: 1, 1\n  id=1: different in w\n"},
	{"odd names", `CREATE TABLE a ("select" int PRIMARY KEY, "a ""b"".c; %s 😀" text); INSERT INTO a VALUES (1, 'x'); CREATE TABLE b AS SELECT "select", 'y'::text AS "a ""b"".c; %s 😀" FROM a`,
		"all rows: 1, 1\n  \"select\"=1: different in \"a \"\"b\"\".c; %s 😀\"\n"},
}

func TestCompareShapes(t *testing.T) {
	t.Parallel()
	for _, c := range comparedShapes {
		t.Run(c.name, func(t *testing.T) {
			uri := clustertest.Database(t)
			clustertest.Exec(t, uri, strings.ReplaceAll(c.sql, `COLLATE "en_US"`, `COLLATE "und-x-icu"`))
			got := told(compareNamed(t, uri, "a", "b", VerifyHash))
			if !matchesHashes(c.want, got) {
				t.Errorf("%s", cmp.Diff(c.want, got))
			}
			for _, other := range []VerifyLevel{VerifyCount, VerifyHash} {
				if c := compareNamed(t, uri, "a", "a", other); !c.Equal() || c.SourceRows != c.TargetRows {
					t.Errorf("%s of a table with itself: %s", other, told(c))
				}
			}
		})
	}
}

// matchesHashes compares texts; # in the wanted one stands for a digit or several.
func matchesHashes(want, got string) bool {
	for want != "" && got != "" {
		switch {
		case want[0] == '#':
			n := 0
			for n < len(got) && got[n] >= '0' && got[n] <= '9' {
				n++
			}
			if n == 0 {
				return false
			}
			want, got = want[1:], got[n:]
		case want[0] != got[0]:
			return false
		default:
			want, got = want[1:], got[1:]
		}
	}
	return want == got
}

func TestCompareManyColumns(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	var columns, values []string
	for i := range 1599 {
		columns = append(columns, fmt.Sprintf("c%d %s", i, []string{"int", "text", "timestamptz"}[i%3]))
		values = append(values, []string{"-1", "'x'", "NULL"}[i%3])
	}
	clustertest.Exec(t, uri, "CREATE TABLE a (id int PRIMARY KEY, "+strings.Join(columns, ", ")+")",
		"INSERT INTO a VALUES (1, "+strings.Join(values, ", ")+")", "CREATE TABLE b AS TABLE a", "UPDATE b SET c1597 = 'y'")
	if got := told(compareNamed(t, uri, "a", "b", VerifyHash)); got != "all rows: 1, 1\n  id=1: different in c1597\n" {
		t.Error(got)
	}
}

// TestCompareCutByPages reads one side by several sessions in many pieces.
func TestCompareCutByPages(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE a (id int PRIMARY KEY, t text)", "ALTER TABLE a ALTER t SET STORAGE PLAIN",
		"INSERT INTO a SELECT g, repeat('x', 4000) FROM generate_series(1, 15000) g", "CREATE TABLE b AS TABLE a",
		"UPDATE b SET t = 'y' WHERE id = 14999", "VACUUM b")
	from, to := comparedSide(t, uri, "a", 3), comparedSide(t, uri, "b", 2)
	found, err := survey(t.Context(), &from)
	if err != nil {
		t.Fatal(err)
	}
	if units := found.units(); len(units) < 4 {
		t.Errorf("%d units", len(units))
	}
	c, err := compareSides(t.Context(), from, to, VerifyHash)
	if err != nil {
		t.Fatal(err)
	}
	if got := told(c); got != "all rows: 15000, 15000\n  id=14999: different in t\n" {
		t.Error(got)
	}
}

func TestCompareStopsWhenCancelled(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE a (id int PRIMARY KEY)", "CREATE TABLE b (id int)", "INSERT INTO b VALUES (1)")
	from, to := comparedSide(t, uri, "a", 1), comparedSide(t, uri, "b", 1)
	to.where = "pg_sleep(600) IS NOT NULL"
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		waitForAnswer(t, uri, "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()")
	}()
	started := time.Now()
	_, err := compareSides(ctx, from, to, VerifyHash)
	if !errors.Is(err, context.Canceled) || time.Since(started) > time.Minute {
		t.Errorf("%v after %v", err, time.Since(started))
	}
}

// waitForAnswer asks until the answer is t.
func waitForAnswer(t *testing.T, uri, question string) {
	for range 2000 {
		if clustertest.Query(t, uri, question) == "t" {
			return
		}
	}
	t.Error("it never came: " + question)
}

func TestCompareTellsErrors(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE a (id int PRIMARY KEY, v text)", "INSERT INTO a VALUES (1, 'x')", "CREATE TABLE b (id int, v int)")
	from, to := comparedSide(t, uri, "a", 1), comparedSide(t, uri, "b", 1)
	_, err := compareSides(t.Context(), from, to, VerifyHash)
	if !hasState(err, "22P02") || !strings.Contains(err.Error(), "cannot compare public.a with public.b") {
		t.Errorf("%v", err)
	}
	gone := comparedSide(t, uri, "b", 1)
	gone.relation.Name = "gone"
	if _, err := compareSides(t.Context(), gone, to, VerifyHash); err == nil || !strings.Contains(err.Error(), "public.gone does not exist") {
		t.Errorf("%v", err)
	}
}
