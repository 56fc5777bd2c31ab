package move

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// numbers makes a source of n rows (i, x).
func numbers(t testing.TB, n int) (uri string) {
	t.Helper()
	uri = clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE src (i int, x text)",
		fmt.Sprintf("INSERT INTO src SELECT i, 'value ' || i FROM generate_series(1, %d) i", n))
	return uri
}

// insertTarget is a target that takes rows in its own way.
type insertTarget struct {
	name  string
	setup []string
	plan  func(*planner.Plan)
	rows  int64  // by the server's count
	check string // a query
	want  string
}

func insertTargets() []insertTarget {
	const likeSrc = "CREATE TABLE dst (i int, x text)"
	return []insertTarget{
		{
			name:  "identity always",
			setup: []string{"CREATE TABLE dst (i int GENERATED ALWAYS AS IDENTITY, x text)"},
			plan:  func(p *planner.Plan) { p.Columns[0].Target.Identity = 'a' },
			rows:  2500, check: "SELECT count(*), sum(i) FROM dst", want: "2500|3126250",
		},
		{
			name: "trigger drops rows",
			setup: []string{likeSrc, "CREATE FUNCTION odd() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF NEW.i % 2 = 0 THEN RETURN NULL; END IF; RETURN NEW; END'",
				"CREATE TRIGGER odd BEFORE INSERT ON dst FOR EACH ROW EXECUTE FUNCTION odd()"},
			rows: 1250, check: "SELECT count(*), min(i % 2) FROM dst", want: "1250|1",
		},
		{
			name: "notices",
			setup: []string{likeSrc, "CREATE FUNCTION say() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE WARNING '%', repeat('x', 2000); RETURN NEW; END$$",
				"CREATE TRIGGER say BEFORE INSERT ON dst FOR EACH ROW EXECUTE FUNCTION say()"},
			rows: 2500, check: "SELECT count(*) FROM dst", want: "2500",
		},
		{
			name:  "view",
			setup: []string{"CREATE TABLE base (i int, x text)", "CREATE VIEW dst AS SELECT * FROM base WHERE i > 0 WITH CHECK OPTION"},
			rows:  2500, check: "SELECT count(*) FROM base", want: "2500",
		},
		{
			name: "view with a trigger",
			setup: []string{"CREATE TABLE base (i int, x text)", "CREATE VIEW dst AS SELECT i + 0 AS i, x FROM base",
				"CREATE FUNCTION put() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.base VALUES (NEW.i, NEW.x); RETURN NEW; END'",
				"CREATE TRIGGER put INSTEAD OF INSERT ON dst FOR EACH ROW EXECUTE FUNCTION put()"},
			rows: 2500, check: "SELECT count(*) FROM base", want: "2500",
		},
		{
			name: "rule",
			setup: []string{likeSrc, "CREATE TABLE copy (i int)", "CREATE RULE also AS ON INSERT TO dst DO ALSO INSERT INTO copy VALUES (NEW.i)",
				"CREATE RULE two AS ON INSERT TO dst WHERE NEW.i = 2 DO INSTEAD NOTHING"},
			rows: 2499, check: "SELECT (SELECT count(*) FROM dst), (SELECT count(*) FROM copy)", want: "2499|2500",
		},
		{
			name: "partitions",
			setup: []string{"CREATE TABLE dst (i int, x text) PARTITION BY RANGE (i)", "CREATE TABLE d1 PARTITION OF dst FOR VALUES FROM (0) TO (1000)",
				"CREATE TABLE d2 PARTITION OF dst DEFAULT"},
			rows: 2500, check: "SELECT (SELECT count(*) FROM d1), (SELECT count(*) FROM d2)", want: "999|1501",
		},
		{
			name:  "returning",
			setup: []string{likeSrc},
			plan:  func(p *planner.Plan) { p.Batch.Returning = "repeat(x, 100), i"; p.Batch.CopyThreshold = 1 },
			rows:  2500, check: "SELECT count(*) FROM dst", want: "2500",
		},
		{
			name:  "on conflict",
			setup: []string{"CREATE TABLE dst (i int PRIMARY KEY, x text)", "INSERT INTO dst SELECT i, 'old' FROM generate_series(1, 10) i"},
			plan: func(p *planner.Plan) {
				p.Batch.Conflict, p.Batch.NoCopy, p.Batch.CopyThreshold = "ON CONFLICT (i) DO NOTHING", "COPY has no ON CONFLICT", planner.CopyAuto
			},
			rows: 2490, check: "SELECT count(*), count(*) FILTER (WHERE x = 'old') FROM dst", want: "2500|10",
		},
		{
			name:  "copy",
			setup: []string{likeSrc},
			plan:  func(p *planner.Plan) { p.Batch.CopyThreshold = 1000 },
			rows:  2500, check: "SELECT count(*), sum(i) FROM dst", want: "2500|3126250",
		},
		{
			name:  "auto",
			setup: []string{likeSrc},
			plan:  func(p *planner.Plan) { p.Batch.CopyThreshold = planner.CopyAuto },
			rows:  2500, check: "SELECT count(*), sum(i) FROM dst", want: "2500|3126250",
		},
	}
}

func TestInsertTargets(t *testing.T) {
	for _, test := range insertTargets() {
		t.Run(test.name, func(t *testing.T) {
			uri := numbers(t, 2500)
			clustertest.Exec(t, uri, test.setup...)
			everyWay(t, func(t *testing.T, change func(*planner.Plan)) {
				w := newWorker(t, uri, uri, insertPlan(t, uri, "src", "dst", func(p *planner.Plan) {
					change(p)
					if test.plan != nil {
						test.plan(p)
					}
				}))
				ctx := context.Background()
				rows, err := carryInsert(ctx, w, w.plan.Ranges[0])
				if err != nil {
					t.Fatal(err)
				}
				if rows != test.rows {
					t.Errorf("%d rows, not %d", rows, test.rows)
				}
				got, err := w.dst.table(ctx, "SET LOCAL search_path = public; "+test.check)
				if err != nil || strings.Join(got[0], "|") != test.want {
					t.Errorf("check gives %v %v, not %s", got, err, test.want)
				}
				if w.plan.Batch.Returning != "" && w.batches.returned != test.rows {
					t.Errorf("%d rows returned", w.batches.returned)
				}
				if _, err := w.dst.exec(ctx, "ROLLBACK"); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

func TestInsertForeignTable(t *testing.T) {
	uri := numbers(t, 2500)
	far := clustertest.DatabaseOn(t, clustertest.Second(t))
	config, err := pgconn.ParseConfig(far)
	if err != nil {
		t.Fatal(err)
	}
	clustertest.Exec(t, far, "CREATE TABLE dst (i int, x text)")
	clustertest.Exec(t, uri, "CREATE EXTENSION postgres_fdw",
		fmt.Sprintf("CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '%s', port '%d', dbname '%s')", config.Host, config.Port, config.Database),
		"CREATE USER MAPPING FOR CURRENT_USER SERVER far OPTIONS (user 'postgres')",
		"CREATE FOREIGN TABLE dst (i int, x text) SERVER far OPTIONS (batch_size '100')")
	everyWay(t, func(t *testing.T, change func(*planner.Plan)) {
		clustertest.Exec(t, far, "TRUNCATE dst")
		if rows := carryPlan(t, newWorker(t, uri, uri, insertPlan(t, uri, "src", "dst", change))); rows != 2500 {
			t.Errorf("%d rows", rows)
		}
		if got := clustertest.Query(t, far, "SELECT count(*), sum(i) FROM dst"); got != "2500|3126250" {
			t.Errorf("got %s", got)
		}
	})
}

func TestInsertRowSecurity(t *testing.T) {
	uri := numbers(t, 2500)
	role := "pghaul_" + strings.ToLower(t.Name())
	clustertest.Exec(t, uri, "CREATE TABLE dst (i int, x text)", "ALTER TABLE dst ENABLE ROW LEVEL SECURITY", "CREATE ROLE "+role,
		"GRANT ALL ON dst TO "+role, "CREATE POLICY p ON dst WITH CHECK (i <> 1500)")
	t.Cleanup(func() { clustertest.Exec(t, uri, "DROP OWNED BY "+role, "DROP ROLE "+role) })
	w := newWorker(t, uri, uri, insertPlan(t, uri, "src", "dst", func(p *planner.Plan) { p.Batch.NoCopy = "row security applies" }))
	ctx := context.Background()
	if _, err := w.dst.exec(ctx, "SET LOCAL ROLE "+role); err != nil {
		t.Fatal(err)
	}
	_, err := carryInsert(ctx, w, planner.Range{})
	var row *rowError
	if !hasState(err, "42501") || !errors.As(err, &row) || row.first != 1001 || row.last != 2000 {
		t.Errorf("got %v", err)
	}
}

func TestInsertConstraintBroken(t *testing.T) {
	uri := numbers(t, 2500)
	clustertest.Exec(t, uri, "CREATE TABLE dst (i int, x text NOT NULL)", "ALTER TABLE src RENAME TO old",
		"CREATE TABLE src AS SELECT i, CASE WHEN i <> 1234 THEN x END AS x FROM old ORDER BY i")
	for _, test := range []struct {
		size        int
		first, last int64
	}{{1, 1234, 1234}, {100, 1201, 1300}, {1000, 1001, 2000}, {2000, 1, 2000}} {
		everyWay(t, func(t *testing.T, change func(*planner.Plan)) {
			w := newWorker(t, uri, uri, insertPlan(t, uri, "src", "dst", func(p *planner.Plan) { change(p); p.Batch.Size = test.size }))
			ctx := context.Background()
			_, err := carryInsert(ctx, w, planner.Range{})
			var row *rowError
			var server *pgconn.PgError
			var side *sideError
			switch {
			case !errors.As(err, &row) || !errors.As(err, &server) || !errors.As(err, &side):
				t.Fatalf("size %d: got %v", test.size, err)
			case row.first != test.first || row.last != test.last:
				t.Errorf("size %d: rows %d to %d", test.size, row.first, row.last)
			case server.Code != "23502" || server.ColumnName != "x" || !strings.Contains(server.Detail, "(1234, null)"):
				t.Errorf("size %d: %+v", test.size, server)
			case side.side != "target":
				t.Errorf("size %d: side %s", test.size, side.side)
			}
			// Both sessions are in order afterwards.
			if _, err := w.dst.exec(ctx, "ROLLBACK"); err != nil {
				t.Error(err)
			}
			if n, err := w.src.value(ctx, "SELECT count(*) FROM public.src"); n != "2500" || err != nil {
				t.Errorf("%s rows, %v", n, err)
			}
		})
	}
}
