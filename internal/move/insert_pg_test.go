package move

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/time/rate"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// insertPlan is a plan of method insert from one table into another over all of the source's columns, written by hand: what the
// planner would choose is not what is tested here.
func insertPlan(t testing.TB, uri, source, target string, change func(*planner.Plan)) *planner.Plan {
	t.Helper()
	p := &planner.Plan{
		Method:      planner.Insert,
		Format:      planner.Binary,
		Target:      planner.Place{Relation: "public." + target},
		Parts:       []planner.Part{{Source: "public." + source, Target: "public." + target, Rows: -1}},
		Ranges:      []planner.Range{{}},
		Connections: 1,
		Batch:       &planner.BatchPlan{Size: 1000, CopyThreshold: planner.CopyNever, Unnest: true, UnnestFrom: 2},
	}
	rows := clustertest.Query(t, uri, `SELECT a.attname, n.nspname, y.typname, y.oid, a.attidentity
 FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid JOIN pg_namespace n ON n.oid = y.typnamespace
 WHERE a.attrelid = '`+source+`'::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`)
	for line := range strings.Lines(rows) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "|")
		oid, err := strconv.ParseUint(f[3], 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		c := planner.Column{Name: f[0], Type: planner.Type{Schema: f[1], Name: f[2], OID: uint32(oid)}}
		if f[4] != "" {
			c.Identity = f[4][0]
		}
		p.Columns = append(p.Columns, planner.Pair{Source: c, Target: c, Exact: true})
	}
	if change != nil {
		change(p)
	}
	return p
}

func newSession(t testing.TB, uri string) *session {
	t.Helper()
	config, err := catalog.Config(uri)
	if err != nil {
		t.Fatal(err)
	}
	s, err := openSession(context.Background(), config, "UTF8", "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

// newWorker opens the two sessions of a worker; the target's stands in a transaction.
func newWorker(t testing.TB, from, to string, p *planner.Plan) *worker {
	t.Helper()
	ctx := context.Background()
	w := &worker{plan: p, gauge: newGauge(rate.NewLimiter(rate.Inf, blockSize))}
	w.src, w.dst = newSession(t, from), newSession(t, to)
	if _, err := w.dst.exec(ctx, "BEGIN"); err != nil {
		t.Fatal(err)
	}
	return w
}

// carryPlan moves all ranges and commits.
func carryPlan(t testing.TB, w *worker) int64 {
	t.Helper()
	ctx := context.Background()
	var total int64
	for _, r := range w.plan.Ranges {
		rows, err := carryInsert(ctx, w, r)
		if err != nil {
			t.Fatalf("range %+v: %v", r, err)
		}
		total += rows
	}
	if _, err := w.dst.exec(ctx, "COMMIT"); err != nil {
		t.Fatal(err)
	}
	return total
}

// differences counts the rows that only one of two tables has.
func differences(t testing.TB, uri, a, b string) string {
	t.Helper()
	return clustertest.Query(t, uri, fmt.Sprintf(`WITH a AS (SELECT x::text FROM %s x), b AS (SELECT x::text FROM %s x)
 SELECT (SELECT count(*) FROM (SELECT * FROM a EXCEPT ALL SELECT * FROM b) l), (SELECT count(*) FROM (SELECT * FROM b EXCEPT ALL SELECT * FROM a) r)`, a, b))
}

// everyWay calls f with each combination of format and batch shape.
func everyWay(t *testing.T, f func(t *testing.T, change func(*planner.Plan))) {
	for _, format := range []planner.Format{planner.Binary, planner.Text} {
		for _, unnest := range []bool{true, false} {
			name := string(format) + "/values"
			if unnest {
				name = string(format) + "/unnest"
			}
			t.Run(name, func(t *testing.T) {
				f(t, func(p *planner.Plan) {
					p.Format = format
					p.Batch.Unnest = unnest
				})
			})
		}
	}
}

const nasty = `E'a\tb\nc\rd\\e"f''g,{h}\\.\\N\x01 ünï ' || repeat('x', i % 5)`

func TestInsertBatchSizes(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri,
		"CREATE TABLE src (i int, n int, x text)",
		"INSERT INTO src SELECT i, nullif(i % 3, 0), CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE "+nasty+" END FROM generate_series(1, 3001) i")
	everyWay(t, func(t *testing.T, change func(*planner.Plan)) {
		for _, size := range []int{1, 2, 999, 1000, 1001, 5000} {
			clustertest.Exec(t, uri, "DROP TABLE IF EXISTS dst", "CREATE TABLE dst (LIKE src)")
			w := newWorker(t, uri, uri, insertPlan(t, uri, "src", "dst", func(p *planner.Plan) {
				change(p)
				p.Batch.Size = size
			}))
			if rows := carryPlan(t, w); rows != 3001 {
				t.Errorf("size %d: %d rows", size, rows)
			}
			if d := differences(t, uri, "src", "dst"); d != "0|0" {
				t.Errorf("size %d: differences %s", size, d)
			}
			var sent int64
			for _, s := range w.batches.sent() {
				sent += int64(s.Rows) * s.Times
				if !strings.HasPrefix(s.SQL, "INSERT INTO public.dst (i, n, x) ") || s.Rows > size {
					t.Errorf("size %d: sent %d rows by %.60s", size, s.Rows, s.SQL)
				}
			}
			if sent != 3001 {
				t.Errorf("size %d: %d rows recorded", size, sent)
			}
		}
	})
}

func TestInsertUnnestFrom(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE src (i int, x text)", "INSERT INTO src SELECT i, nullif("+nasty+", 'x') FROM generate_series(1, 1030) i",
		"UPDATE src SET x = NULL WHERE i % 7 = 0")
	for _, format := range []planner.Format{planner.Binary, planner.Text} {
		clustertest.Exec(t, uri, "DROP TABLE IF EXISTS dst", "CREATE TABLE dst (LIKE src)")
		w := newWorker(t, uri, uri, insertPlan(t, uri, "src", "dst", func(p *planner.Plan) {
			p.Format = format
			p.Batch.Size, p.Batch.UnnestFrom = 100, 50
		}))
		carryPlan(t, w)
		if d := differences(t, uri, "src", "dst"); d != "0|0" {
			t.Errorf("%s: differences %s", format, d)
		}
		sent := w.batches.sent()
		if len(sent) != 2 || sent[0].Rows != 100 || sent[0].Times != 10 || !strings.Contains(sent[0].SQL, "unnest") ||
			sent[1].Rows != 30 || sent[1].Times != 1 || strings.Contains(sent[1].SQL, "unnest") {
			t.Errorf("%s: sent %+v", format, sent)
		}
	}
}

// insertTypes has a column of each class of type that unnest can carry.
const insertTypes = `b bool, i2 int2, i4 int4, i8 int8, o oid, f4 float4, f8 float8, n numeric, n2 numeric(10,2), m money, t text, v varchar(10),
 c char(5), c1 "char", na name, by bytea, d date, ti time, tz timetz, ts timestamp, tsz timestamptz, iv interval, u uuid, j json, jb jsonb,
 x xml, bi bit(5), vb varbit, ine inet, ci cidr, ma macaddr, m8 macaddr8, p point, l line, ls lseg, bo box, pa path, po polygon, ck circle,
 tv tsvector, tq tsquery, r int4range, mr nummultirange, ls2 pg_lsn, mood mood, em email, jp jsonpath`

const insertValues = `(true, -32768, 2147483647, -9223372036854775808, 4294967295, 'NaN', '-infinity', '1e-500', 12345678.91, '-12.34',
 E'q"\\''{}', E'tab\t"x', 'ab', 'z', 'pg"\n', '\x00ff5c22', 'infinity', '24:00', '12:00:00.000001+15:59', '4713-01-01 BC', '-infinity',
 '-1 year 2 days -3.000001 sec', '00000000-0000-0000-0000-0000000000ff', '{"a": "\u00e4\\"}', '{"b": [null, 1e400]}', '<a b="c">&amp;</a>',
 '10101', '', '::1/128', '10.0.0.0/8', '08:00:2b:01:02:03', '08:00:2b:01:02:03:04:05', '(1,2)', '{1,2,3}', '((1,2),(3,4))', '((1,2),(3,4))',
 '[(1,2),(3,4)]', '((1,2),(3,4),(5,6))', '<(1,2),3>', '''a b'':1A c', '''a'' & !b', '[1,)', '{[1,2),(3,]}', '16/B374D848', 'so "so"', 'a@b',
 '$."a"[*]')`

func TestInsertEveryType(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, `CREATE TYPE mood AS ENUM ('so "so"', 'ok')`, "CREATE DOMAIN email AS text CHECK (VALUE LIKE '%@%')",
		"CREATE TABLE src ("+insertTypes+")", "INSERT INTO src VALUES "+insertValues, "INSERT INTO src SELECT FROM generate_series(1, 3)",
		"INSERT INTO src VALUES "+insertValues)
	everyWay(t, func(t *testing.T, change func(*planner.Plan)) {
		clustertest.Exec(t, uri, "DROP TABLE IF EXISTS dst", "CREATE TABLE dst (LIKE src)")
		w := newWorker(t, uri, uri, insertPlan(t, uri, "src", "dst", func(p *planner.Plan) {
			change(p)
			p.Batch.Size = 3
		}))
		if rows := carryPlan(t, w); rows != 5 {
			t.Errorf("%d rows", rows)
		}
		if d := differences(t, uri, "src", "dst"); d != "0|0" {
			t.Errorf("differences %s", d)
		}
	})
}

func TestInsertArraysAndRows(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, `CREATE TYPE pair AS (a int, "B" text)`, "CREATE DOMAIN ints AS int[]",
		"CREATE TABLE src (a int[], b text[][], c pair, d pair[], e ints, f box[], g int2vector, h tsrange[])",
		`INSERT INTO src VALUES ('{1,NULL}', '{{"a,\"","b\\"},{NULL,"NULL"}}', '(1,"x""y")', '{"(1,\"a,b\")",NULL}', '{}', '{((1,2),(3,4));((5,6),(7,8))}', '1 2', '{}'),
 ('[5:6]={1,2}', '{}', '(,)', '{}', NULL, NULL, '3', '{"[2020-01-01,)"}'), (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`)
	for _, format := range []planner.Format{planner.Binary, planner.Text} {
		clustertest.Exec(t, uri, "DROP TABLE IF EXISTS dst", "CREATE TABLE dst (LIKE src)")
		w := newWorker(t, uri, uri, insertPlan(t, uri, "src", "dst", func(p *planner.Plan) { p.Format, p.Batch.Unnest = format, false }))
		carryPlan(t, w)
		if d := differences(t, uri, "src", "dst"); d != "0|0" {
			t.Errorf("%s: differences %s", format, d)
		}
	}
}

func TestInsertManyColumns(t *testing.T) {
	uri := clustertest.Database(t)
	var cols, values []string
	for i := range 1600 {
		cols = append(cols, fmt.Sprintf("c%d int2", i))
		values = append(values, fmt.Sprintf("nullif(i %% %d, 0)", i+1))
	}
	clustertest.Exec(t, uri, "CREATE TABLE src ("+strings.Join(cols, ", ")+")",
		"INSERT INTO src SELECT "+strings.Join(values, ", ")+" FROM generate_series(1, 101) i")
	everyWay(t, func(t *testing.T, change func(*planner.Plan)) {
		clustertest.Exec(t, uri, "DROP TABLE IF EXISTS dst", "CREATE TABLE dst (LIKE src)")
		w := newWorker(t, uri, uri, insertPlan(t, uri, "src", "dst", func(p *planner.Plan) { change(p); p.Batch.UnnestFrom = 200 }))
		if rows := carryPlan(t, w); rows != 101 {
			t.Errorf("%d rows", rows)
		}
		if d := differences(t, uri, "src", "dst"); d != "0|0" {
			t.Errorf("differences %s", d)
		}
	})
}
