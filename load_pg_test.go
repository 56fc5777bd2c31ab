package pghaul_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul"
	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// write makes a file of the test's own.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadFiles(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE orders (id int PRIMARY KEY, day date NOT NULL, price numeric(8,2))")
	path := write(t, "orders.csv", "day,id,price\n2024-01-01,1,9.50\n2024-02-30,2,1\n2024-01-03,3,\n2024-01-04,1,4\n")
	plan, err := pghaul.ExplainLoadFiles(t.Context(), uri, "orders", []string{path}, nil)
	if err != nil || plan.Load == nil || plan.Method != planner.Relay || plan.Load.NoBinary != "" {
		t.Fatalf("%v, %+v", err, plan)
	}
	var refused *pgconn.PgError
	report, err := pghaul.LoadFiles(t.Context(), uri, "orders", []string{path}, nil)
	if !errors.As(err, &refused) || refused.Code != "22008" || report.Kept == "" || report.Rows != 0 {
		t.Fatalf("%v, %+v", err, report)
	}
	reject := filepath.Join(t.TempDir(), "bad.csv")
	var last pghaul.Progress
	report, err = pghaul.LoadFiles(t.Context(), uri, "orders", []string{path}, &pghaul.LoadOptions{
		OnError: planner.SetRowsAside, Reject: reject, OnProgress: func(p pghaul.Progress) { last = p }, ProgressInterval: time.Millisecond,
	})
	if err != nil || report.Rows != 2 || report.Read != 4 || report.Refused != 2 || report.Reject != reject || len(report.Reasons) != 2 || report.Plan.Actual == nil || last.Rows != 2 {
		t.Fatalf("%v, %+v, %+v", err, report, last)
	}
	if got, err := os.ReadFile(reject); err != nil || string(got) != "day,id,price\n2024-02-30,2,1\n2024-01-04,1,4\n" {
		t.Errorf("%v: %q", err, got)
	}
	// The file of refused rows can be mended and loaded again.
	mended := write(t, "mended.csv", "day,id,price\n2024-02-29,2,1\n2024-01-04,4,4\n")
	if _, err := pghaul.LoadFiles(t.Context(), uri, "orders", []string{mended}, &pghaul.LoadOptions{Fill: planner.Append}); err != nil {
		t.Fatal(err)
	}
	if got := clustertest.Query(t, uri, "SELECT * FROM orders ORDER BY id"); got != "1|2024-01-01|9.50\n2|2024-02-29|1.00\n3|2024-01-03|\n4|2024-01-04|4.00" {
		t.Error(got)
	}
}

func TestLoadManyFiles(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	dir := t.TempDir()
	for i := range 5 {
		var content bytes.Buffer
		packed := gzip.NewWriter(&content)
		_, _ = fmt.Fprintf(packed, "id,v\n%d,first of %[1]d\n%d,second\n", 10*i, 10*i+1)
		if err := errors.Join(packed.Close(), os.WriteFile(filepath.Join(dir, fmt.Sprint("part-", i, ".csv.gz")), content.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	report, err := pghaul.LoadFiles(t.Context(), uri, "made", []string{filepath.Join(dir, "part-*.gz")}, &pghaul.LoadOptions{Create: true, Ordered: true, Set: []planner.SetColumn{{Column: "v", Expression: "upper(v)"}}})
	if err != nil || report.Rows != 10 {
		t.Fatalf("%v, %+v", err, report)
	}
	if got := clustertest.Query(t, uri, "SELECT count(*), min(v), max(id), pg_typeof(max(id)) FROM made"); got != "10|FIRST OF 0|41|bigint" && got != "10|FIRST OF 0|41|integer" {
		t.Error(got)
	}
	report, err = pghaul.LoadFiles(t.Context(), uri, "made", []string{"-"}, &pghaul.LoadOptions{Fill: planner.Replace, Input: pghaul.Input{Stdin: strings.NewReader("7,x\n")}})
	if err != nil || report.Rows != 1 || clustertest.Query(t, uri, "SELECT * FROM made") != "7|x" {
		t.Errorf("%v, %+v", err, report)
	}
}

func TestLoadQuery(t *testing.T) {
	t.Parallel()
	source, target := clustertest.Database(t), clustertest.DatabaseOn(t, clustertest.Second(t))
	clustertest.Exec(t, target, "CREATE TABLE t (id int, v text, CHECK (id <> 5))")
	report, err := pghaul.LoadQuery(t.Context(), source, `SELECT 'v' || i || E'\t\\' AS v, i AS id FROM generate_series(1, 1000) i`, target, "t", &pghaul.LoadOptions{OnError: planner.SetRowsAside})
	if err != nil || report.Rows != 999 || report.Refused != 1 {
		t.Fatalf("%v, %+v", err, report)
	}
	if got := clustertest.Query(t, target, `SELECT count(DISTINCT id), count(*) FROM t WHERE v = 'v' || id || E'\t\\'`); got != "999|999" {
		t.Error(got)
	}
	if _, err := pghaul.LoadQuery(t.Context(), source, "SELECT 1 / (i - 900) AS id FROM generate_series(1, 1000) i", target, "t", &pghaul.LoadOptions{Fill: planner.Append}); err == nil || !strings.Contains(err.Error(), "division by zero") {
		t.Errorf("a query that fails: %v", err)
	}
}

// typed yields rows by both interfaces; the unboxed one is taken.
type typed struct{ n int }

func (r *typed) Next() bool             { panic("the boxed rows are asked for") }
func (r *typed) Values() ([]any, error) { return nil, nil }
func (r *typed) Err() error             { return nil }

func (r *typed) NextRow(b *pghaul.RowBuilder) (bool, error) {
	r.n++
	b.Int64(int64(r.n))
	b.Text("2024-01-01")
	return r.n <= 100, nil
}

func TestLoadRows(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE t (id int PRIMARY KEY, day date)")
	report, err := pghaul.Load(t.Context(), uri, "t", pgx.CopyFromRows([][]any{{1, time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}, {2, nil}}), &pghaul.LoadOptions{Columns: []string{"id", "day"}})
	if err != nil || report.Rows != 2 {
		t.Fatalf("%v, %+v", err, report)
	}
	report, err = pghaul.Load(t.Context(), uri, "t", &typed{}, &pghaul.LoadOptions{Columns: []string{"id", "day"}, OnDuplicate: planner.DuplicateSkip})
	if err != nil || report.Rows != 98 || report.Duplicates != 2 {
		t.Fatalf("%v, %+v", err, report)
	}
	most := int64(0)
	_, err = pghaul.Load(t.Context(), uri, "t", &typed{}, &pghaul.LoadOptions{Columns: []string{"id", "day"}, Fill: planner.Append, OnError: planner.SetRowsAside, MaxErrors: &most})
	if err == nil || !strings.Contains(err.Error(), "too many rows") {
		t.Errorf("--max-errors 0: %v", err)
	}
	if _, err := pghaul.Load(t.Context(), uri, "t", &typed{}, &pghaul.LoadOptions{CommitEvery: -1}); err == nil || !strings.Contains(fmt.Sprint(err), "not named") || !strings.Contains(fmt.Sprint(err), "commit") {
		t.Errorf("two complaints at once: %v", err)
	}
}
