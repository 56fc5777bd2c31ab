package pghaul_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul"
	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// newWriter opens a Writer on t that flushes by size alone, unless the options say otherwise.
func newWriter(t *testing.T, uri string, opts *pghaul.WriterOptions) *pghaul.Writer {
	t.Helper()
	if opts.FlushInterval == 0 {
		opts.FlushInterval = -1
	}
	w, err := pghaul.NewWriter(t.Context(), uri, "t", opts)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func count(t *testing.T, uri string) string {
	t.Helper()
	return clustertest.Query(t, uri, "SELECT count(*) FROM t")
}

func TestWriterFlushesBySize(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE t (id int, v text)")
	w := newWriter(t, uri, &pghaul.WriterOptions{FlushBytes: 10000})
	for i := range 1000 {
		if err := w.Write(t.Context(), i, "some text of a row"); err != nil {
			t.Fatal(err)
		}
	}
	if got := count(t, uri); got == "0" || got == "1000" || fmt.Sprint(w.Rows()) != got {
		t.Errorf("%s rows before the flush; the Writer says %d", got, w.Rows())
	}
	if err := w.Flush(t.Context()); err != nil || count(t, uri) != "1000" || w.Rows() != 1000 {
		t.Errorf("%v: %s rows", err, count(t, uri))
	}
	if err := w.WriteRow(t.Context(), func(b *pghaul.RowBuilder) { b.Int64(7); b.Null() }); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(t.Context()); err != nil || count(t, uri) != "1001" {
		t.Errorf("%v: %s rows after Close", err, count(t, uri))
	}
	for name, err := range map[string]error{"Close": w.Close(t.Context()), "Write": w.Write(t.Context(), 1, "x"), "Flush": w.Flush(t.Context())} {
		if err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("%s of a closed Writer: %v", name, err)
		}
	}
}

func TestWriterFlushesByTime(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE t (id int PRIMARY KEY)")
	w := newWriter(t, uri, &pghaul.WriterOptions{FlushInterval: 20 * time.Millisecond})
	rows := func(n string) {
		t.Helper()
		deadline := time.Now().Add(10 * time.Second)
		for tick := time.NewTicker(10 * time.Millisecond); count(t, uri) != n; <-tick.C {
			if time.Now().After(deadline) {
				t.Fatalf("%s rows after a while, not %s", count(t, uri), n)
			}
		}
	}
	if err := w.Write(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	rows("1")
	// The error of a flush that time has called for comes with the next call.
	if err := w.Write(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	var err error
	deadline := time.Now().Add(10 * time.Second)
	for tick := time.NewTicker(10 * time.Millisecond); err == nil && time.Now().Before(deadline); <-tick.C {
		err = w.Flush(t.Context())
	}
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "23505" {
		t.Fatalf("not the duplicate: %v", err)
	}
	if n := w.Discard(); n != 1 {
		t.Errorf("%d rows discarded", n)
	}
	if err := w.Write(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	rows("2")
	if err := w.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestWriterErrors(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE t (id int PRIMARY KEY, v int CHECK (v > 0))")
	w := newWriter(t, uri, &pghaul.WriterOptions{FlushBytes: 1})
	write := func(values ...any) error { return w.Write(t.Context(), values...) }
	for what, err := range map[string]error{"too few": write(1), "too many": write(1, 2, 3), "a wrong type": write(1, "x"), "out of range": write(int64(1)<<40, 1), "a value of no type": write(1, make(chan int))} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if err := write(1, 5); err != nil {
		t.Fatal(err)
	}
	// Each write flushes the row before it. The bad one stays, and no other joins it.
	if err := write(2, -5); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		var refused *pgconn.PgError
		if err := write(3, 5); !errors.As(err, &refused) || refused.Code != "23514" || refused.ConstraintName != "t_v_check" {
			t.Fatalf("not the check: %v", err)
		}
	}
	if n := w.Discard(); n != 1 {
		t.Errorf("%d rows in the buffer", n)
	}
	if err := errors.Join(write(3, 6), w.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	if got := clustertest.Query(t, uri, "SELECT * FROM t ORDER BY id"); got != "1|5\n3|6" {
		t.Error(got)
	}
}

func TestWriterSetsRefusedRowsAside(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL CHECK (v > 0))")
	var heard []pghaul.Refusal
	w := newWriter(t, uri, &pghaul.WriterOptions{OnRefused: func(r pghaul.Refusal) { heard = append(heard, r) }})
	for _, row := range [][]any{{1, 1}, {2, -1}, {1, 3}, {3, nil}, {4, 4}} {
		if err := w.Write(t.Context(), row...); err != nil {
			t.Fatal(err)
		}
	}
	// A trigger makes the first commit fail: what was refused is heard once all the same.
	clustertest.Exec(t, uri, "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'full' USING ERRCODE = '53100'; END$$",
		"CREATE TRIGGER no AFTER INSERT ON t EXECUTE FUNCTION no()")
	if err := w.Flush(t.Context()); err == nil || len(heard) > 0 {
		t.Fatalf("%v, %v", err, heard)
	}
	clustertest.Exec(t, uri, "DROP TRIGGER no ON t")
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var states []string
	for _, r := range heard {
		states = append(states, r.State+" "+r.Column+" "+r.Place)
	}
	if got := strings.Join(states, ", "); got != "23514  row 2 of the given rows, 23505  row 3 of the given rows, 23502 v row 4 of the given rows" {
		t.Error(got)
	}
	if got := clustertest.Query(t, uri, "SELECT * FROM t ORDER BY id"); got != "1|1\n4|4" || w.Rows() != 2 {
		t.Errorf("%s; %d rows", got, w.Rows())
	}
}

func TestWriterUpdates(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE t (id int PRIMARY KEY, v int, other int DEFAULT 9)", "INSERT INTO t VALUES (1, 1, 1)")
	w := newWriter(t, uri, &pghaul.WriterOptions{Columns: []string{"v", "id"}, OnDuplicate: planner.DuplicateUpdate})
	for i := range 3 {
		if err := errors.Join(w.Write(t.Context(), 10+i, 1), w.Write(t.Context(), 20+i, 2), w.Write(t.Context(), 30+i, 2), w.Flush(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := clustertest.Query(t, uri, "SELECT * FROM t ORDER BY id"); got != "1|12|1\n2|32|9" {
		t.Error(got)
	}
}

func TestWriterOutlivesConnections(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE t (id int)")
	w := newWriter(t, uri, &pghaul.WriterOptions{})
	for i := range 4 {
		if err := errors.Join(w.Write(t.Context(), i), w.Flush(t.Context())); err != nil {
			t.Fatalf("flush %d: %v", i, err)
		}
		clustertest.Query(t, uri, "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	}
	// A context that has ended flushes nothing, and loses nothing.
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Write(t.Context(), 4); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("flush under a context that has ended: %v", err)
	}
	if err := w.Close(t.Context()); err != nil || count(t, uri) != "5" {
		t.Errorf("%v: %s rows", err, count(t, uri))
	}
}

func TestWriterOfManyGoroutines(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE t (id int PRIMARY KEY)")
	w := newWriter(t, uri, &pghaul.WriterOptions{FlushBytes: 500, FlushInterval: time.Millisecond})
	var group sync.WaitGroup
	for g := range 5 {
		group.Go(func() {
			for i := range 300 {
				if err := w.WriteRow(t.Context(), func(b *pghaul.RowBuilder) { b.Int64(int64(1000*g + i)) }); err != nil {
					t.Error(err)
				}
				if i%100 == 50 {
					if err := w.Flush(t.Context()); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	group.Wait()
	if err := w.Close(t.Context()); err != nil || count(t, uri) != "1500" || w.Rows() != 1500 {
		t.Errorf("%v: %s rows", err, count(t, uri))
	}
}
