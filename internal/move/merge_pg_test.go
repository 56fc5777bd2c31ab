package move

import (
	"context"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

func TestMergeStaged(t *testing.T) {
	tests := []struct {
		name   string
		merge  string
		merged int64
		want   string
	}{
		{
			name: "nothing",
			merge: `INSERT INTO public.dst (i, x) SELECT DISTINCT ON (i) i, x FROM pg_temp.staging ORDER BY i, ctid
 ON CONFLICT (i) DO NOTHING`,
			merged: 990,
			want:   "1000|10|old 5|1 first",
		},
		{
			name: "update",
			merge: `INSERT INTO public.dst (i, x) SELECT DISTINCT ON (i) i, x FROM pg_temp.staging ORDER BY i, ctid DESC
 ON CONFLICT (i) DO UPDATE SET x = EXCLUDED.x`,
			merged: 1000,
			want:   "1000|0|5 first|1 last",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			uri := clustertest.Database(t)
			clustertest.Exec(t, uri, "CREATE TABLE src (i int, x text)", "INSERT INTO src SELECT i, i || ' first' FROM generate_series(1, 1000) i",
				"INSERT INTO src SELECT 11 + i * 0, '1 last' FROM generate_series(1, 2) i",
				"CREATE TABLE dst (i int PRIMARY KEY, x text)", "INSERT INTO dst SELECT i, 'old ' || i FROM generate_series(1, 10) i")
			p := insertPlan(t, uri, "src", "dst", func(p *planner.Plan) {
				p.Method = planner.Merge
				p.Parts[0].Pages = 2
				p.Ranges = []planner.Range{{ToPage: 2}, {FromPage: 2}}
				p.Merge = &planner.MergePlan{
					Staging: "pg_temp.staging",
					Create:  "CREATE TEMPORARY TABLE staging (i int, x text) ON COMMIT DROP",
					Write:   "COPY pg_temp.staging (i, x) FROM STDIN WITH (FORMAT binary, FREEZE)",
					Count: `SELECT COALESCE(pg_catalog.sum(n), 0)
 FROM (SELECT pg_catalog.count(*) AS n FROM pg_temp.staging GROUP BY i HAVING pg_catalog.count(*) > 1) AS k`,
					Merge: test.merge,
				}
			})
			w := newWorker(t, uri, uri, p)
			ctx := context.Background()
			var staged int64
			for _, r := range p.Ranges {
				n, err := carryMerge(ctx, w, r)
				if err != nil {
					t.Fatal(err)
				}
				staged += n
			}
			merged, duplicates, err := mergeStaged(ctx, w, staged)
			if err != nil {
				t.Fatal(err)
			}
			if staged != 1002 || merged != test.merged || duplicates != 3 {
				t.Errorf("staged %d, merged %d, duplicates %d", staged, merged, duplicates)
			}
			if _, err := w.dst.exec(ctx, "COMMIT"); err != nil {
				t.Fatal(err)
			}
			if got := clustertest.Query(t, uri, `SELECT count(*), count(*) FILTER (WHERE x LIKE 'old%'), max(x) FILTER (WHERE i = 5),
 max(replace(x, '11 f', '1 f')) FILTER (WHERE i = 11) FROM dst`); got != test.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

// TestMergeWithoutRows: a source without rows makes the staging table all the same.
func TestMergeWithoutRows(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE src (i int)", "CREATE TABLE dst (i int PRIMARY KEY)")
	p := insertPlan(t, uri, "src", "dst", func(p *planner.Plan) {
		p.Method, p.Ranges = planner.Merge, nil
		p.Merge = &planner.MergePlan{
			Create: "CREATE TEMPORARY TABLE staging (i int) ON COMMIT DROP",
			Count:  "SELECT 0 WHERE false",
			Merge:  "INSERT INTO public.dst SELECT i FROM pg_temp.staging ON CONFLICT DO NOTHING",
		}
	})
	w := newWorker(t, uri, uri, p)
	merged, duplicates, err := mergeStaged(context.Background(), w, 0)
	if merged != 0 || duplicates != 0 || err != nil {
		t.Errorf("merged %d, duplicates %d, %v", merged, duplicates, err)
	}
}

// TestMergeCountsShared compares what a merge reports of equal keys with what is in the source, whichever way it finds out.
func TestMergeCountsShared(t *testing.T) {
	t.Parallel()
	const dst = "CREATE TABLE dst (k text PRIMARY KEY, x int); INSERT INTO dst VALUES ('b', 0)"
	const insensitive = "CREATE COLLATION fold (provider = icu, locale = 'und-u-ks-level2', deterministic = false); "
	const caps = "CREATE FUNCTION caps() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN new.k := new.k || new.x; RETURN new; END'; "
	for _, c := range []struct {
		name, sql               string
		nothing, update, shared int64 // rows that DO NOTHING and DO UPDATE take, rows that share a key
		counts                  bool  // it is not known before that none does
	}{
		{"unique source", "CREATE TABLE src (k text PRIMARY KEY, x int); INSERT INTO src VALUES ('a', 1), ('b', 1); " + dst, 1, 2, 0, false},
		{"no key, none shared", "CREATE TABLE src (k text, x int); INSERT INTO src VALUES ('a', 1), ('c', 1); " + dst, 2, 2, 0, true},
		{"no key, one there", "CREATE TABLE src (k text, x int); INSERT INTO src VALUES ('a', 1), ('b', 1); " + dst, 1, 2, 0, true},
		{"no key, shared", "CREATE TABLE src (k text, x int); INSERT INTO src VALUES ('a', 1), ('b', 1), ('a', 2), ('a', 3); " + dst, 1, 2, 3, true},
		{"equal in the target only", insensitive + "CREATE TABLE src (k text PRIMARY KEY, x int); INSERT INTO src VALUES ('a', 1), ('A', 2); " +
			"CREATE TABLE dst (k text COLLATE fold PRIMARY KEY, x int)", 1, 1, 2, true},
		{"trigger gives keys", caps + "CREATE TABLE src (k text, x int); INSERT INTO src VALUES ('a', 1), ('a', 2); " + dst +
			"; CREATE TRIGGER t BEFORE INSERT ON dst FOR EACH ROW EXECUTE FUNCTION caps()", 2, 1, 2, true},
	} {
		for action, rows := range map[planner.OnConflict]int64{planner.DoNothing: c.nothing, planner.DoUpdate: c.update} {
			uri := clustertest.Database(t)
			clustertest.Exec(t, uri, c.sql)
			report := moves(t, onePair(uri, uri, "src", "dst", planner.Wish{Method: planner.Merge, OnConflict: action}))
			plan := report.Tables[0].Plan
			if plan.Actual.Duplicates != c.shared || report.Rows() != rows || c.counts != (plan.Merge.Count != "") {
				t.Errorf("%s, %d: %d shared, want %d; %d rows, want %d; count %q", c.name, action, plan.Actual.Duplicates, c.shared, report.Rows(), rows, plan.Merge.Count)
			}
		}
	}
}
