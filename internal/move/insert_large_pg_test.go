package move

import (
	"context"
	"errors"
	"fmt"
	"runtime/metrics"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// allocated is how many bytes the process has taken from the heap so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestInsertLargeRows has rows that go by themselves between rows that go in batches.
func TestInsertLargeRows(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE src (i int, x text, y bytea)",
		"INSERT INTO src SELECT i, CASE WHEN i IN (3, 4) THEN repeat(E'a\\tb\\nc\\\\d\"e{ü,}', 200000) WHEN i <> 7 THEN "+nasty+` END,
  CASE i WHEN 4 THEN NULL WHEN 9 THEN decode(repeat('00225c0a', 500000), 'hex') ELSE '\x5c'::bytea END FROM generate_series(1, 11) i`)
	everyWay(t, func(t *testing.T, change func(*planner.Plan)) {
		for _, test := range []struct {
			name              string
			threshold, arrays int
		}{{"arrays", planner.CopyNever, 1}, {"values", planner.CopyNever, 2}, {"copy", 100, 2}, {"auto", planner.CopyAuto, 2}} {
			if p := insertPlan(t, uri, "src", "src", change); !p.Batch.Unnest && test.name != "values" {
				continue // Only small rows tell the difference, and the server takes seconds for the large ones.
			}
			clustertest.Exec(t, uri, "DROP TABLE IF EXISTS dst", "CREATE TABLE dst (LIKE src)")
			w := newWorker(t, uri, uri, insertPlan(t, uri, "src", "dst", func(p *planner.Plan) {
				change(p)
				p.Batch.Size, p.Batch.CopyThreshold, p.Batch.UnnestFrom = 4, test.threshold, test.arrays
			}))
			rows := carryPlan(t, w)
			if rows != 11 {
				t.Errorf("%s: %d rows", test.name, rows)
			}
			if d := clustertest.Query(t, uri, `SELECT count(*), count(*) FILTER (WHERE d.x IS NOT DISTINCT FROM s.x AND d.y IS NOT DISTINCT FROM s.y)
 FROM src s JOIN dst d USING (i)`); d != "11|11" {
				t.Errorf("%s: equal rows %s", test.name, d)
			}
		}
	})
}

// TestInsertHugeRow has a row far larger than what may be in memory. What is allocated in the whole move bounds what can have been in
// memory at any time.
func TestInsertHugeRow(t *testing.T) {
	for _, test := range []struct {
		name              string
		format            planner.Format
		threshold, arrays int
		megabytes         int
	}{
		{"values", planner.Binary, planner.CopyNever, 2, 100},
		{"text values", planner.Text, planner.CopyNever, 2, 30},
		{"arrays", planner.Binary, planner.CopyNever, 1, 30},
		{"text arrays", planner.Text, planner.CopyNever, 1, 30},
		{"copy", planner.Binary, 100_000, 2, 100},
		{"text copy", planner.Text, 100_000, 2, 30},
	} {
		t.Run(test.name, func(t *testing.T) {
			uri := clustertest.Database(t)
			clustertest.Exec(t, uri, "CREATE TABLE src (x text)", "CREATE TABLE dst (LIKE src)",
				fmt.Sprintf("INSERT INTO src VALUES (repeat('012345678\"', %d))", test.megabytes*100_000))
			w := newWorker(t, uri, uri, insertPlan(t, uri, "src", "dst", func(p *planner.Plan) {
				p.Format, p.Batch.CopyThreshold, p.Batch.UnnestFrom = test.format, test.threshold, test.arrays
			}))
			before := allocated()
			carryPlan(t, w)
			if used := allocated() - before; used > 10<<20 {
				t.Errorf("%d bytes allocated", used)
			}
			if got := clustertest.Query(t, uri, "SELECT count(*) FROM src JOIN dst USING (x)"); got != "1" {
				t.Errorf("%s equal rows", got)
			}
		})
	}
}

// TestInsertRowTooLarge: a Bind message that would be over 1 GB is not begun.
func TestInsertRowTooLarge(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE src (x text)", "INSERT INTO src VALUES (repeat('0123456789', 200000))", "CREATE TABLE dst (LIKE src)")
	w := newWorker(t, uri, uri, insertPlan(t, uri, "src", "dst", nil))
	ctx, stop := context.WithCancelCause(context.Background())
	p, err := openPipe(ctx, w.dst, w.gauge, stop)
	if err != nil {
		t.Fatal(err)
	}
	err = p.putSpool(&spool{size: maxMessage}, "none", 7)
	var report *planner.Error
	if !errors.As(err, &report) || report.Detail == "" || report.Hint == "" {
		t.Errorf("got %v", err)
	}
	if _, err := p.close(err); !errors.As(err, &report) {
		t.Errorf("close gives %v", err)
	}
	if v, err := w.dst.value(context.Background(), "SELECT 1"); v != "1" || err != nil {
		t.Errorf("afterwards %q %v", v, err)
	}
}

// TestInsertLargeRowRefused: the server's refusal of a row that went by itself names that row.
func TestInsertLargeRowRefused(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE src (i int, x text)",
		"INSERT INTO src SELECT i, CASE i WHEN 12 THEN repeat('0123456789', 200000) ELSE 'short' END FROM generate_series(1, 20) i",
		"CREATE TABLE dst (i int, x text CHECK (length(x) < 100))")
	for _, threshold := range []int{planner.CopyNever, 100000, planner.CopyAuto} {
		everyWay(t, func(t *testing.T, change func(*planner.Plan)) {
			w := newWorker(t, uri, uri, insertPlan(t, uri, "src", "dst", func(p *planner.Plan) { change(p); p.Batch.CopyThreshold = threshold }))
			ctx := context.Background()
			_, err := carryInsert(ctx, w, planner.Range{})
			var row *rowError
			if !hasState(err, "23514") || !errors.As(err, &row) || row.first != 12 || row.last != 12 {
				t.Errorf("threshold %d: got %v", threshold, err)
			}
			for _, s := range []*session{w.src, w.dst} {
				if _, err := s.exec(ctx, "ROLLBACK"); err != nil {
					t.Errorf("threshold %d: %v", threshold, err)
				}
			}
		})
	}
}

// TestInsertLongRows: batches end at a number of bytes, and rows of changing length make few statements.
func TestInsertLongRows(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE src (i int, x text)",
		"INSERT INTO src SELECT i, repeat(chr(64 + i % 50), (i * 7919) % 50000) FROM generate_series(1, 1500) i")
	everyWay(t, func(t *testing.T, change func(*planner.Plan)) {
		clustertest.Exec(t, uri, "DROP TABLE IF EXISTS dst", "CREATE TABLE dst (LIKE src)")
		w := newWorker(t, uri, uri, insertPlan(t, uri, "src", "dst", change))
		carryPlan(t, w)
		if d := differences(t, uri, "src", "dst"); d != "0|0" {
			t.Errorf("differences %s", d)
		}
		sent := w.batches.sent()
		if len(sent) > 6 {
			t.Errorf("%d statements", len(sent))
		}
		for _, s := range sent {
			if s.Rows > 200 {
				t.Errorf("a batch of %d rows: %s", s.Rows, fmt.Sprintf("%.60s", s.SQL))
			}
		}
	})
}
