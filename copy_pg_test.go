package pghaul_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul"
	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

func TestCopyExplainVerify(t *testing.T) {
	source, target := clustertest.Database(t), clustertest.DatabaseOn(t, clustertest.Second(t))
	clustertest.Exec(t, source, "CREATE TABLE a AS SELECT i, i::text AS t FROM generate_series(1, 5000) AS i", "CREATE TABLE b (x int)")
	clustertest.Exec(t, target, "CREATE TABLE a (t text, i int)", "CREATE TABLE c (x int, y int DEFAULT 7)")
	tables := pghaul.Tables("a", "b:c")

	plans, err := pghaul.Explain(t.Context(), source, target, tables, nil)
	if err != nil || len(plans) != 2 || plans[0].Source.Relation != "public.a" || plans[1].Target.Relation != "public.c" || plans[0].Actual != nil {
		t.Fatalf("Explain: %v, %v", plans, err)
	}
	var last pghaul.Progress
	calls := 0
	report, err := pghaul.Copy(t.Context(), source, target, tables, &pghaul.CopyOptions{
		Verify: pghaul.VerifyCount, OnProgress: func(p pghaul.Progress) { last = p; calls++ }, ProgressInterval: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if report.Rows() != 5000 || report.Bytes() == 0 || report.Duration <= 0 || len(report.Tables) != 2 {
		t.Errorf("report: %+v", report)
	}
	for _, r := range report.Tables {
		if r.Plan.Actual == nil || r.Err != nil || r.Kept != "" || r.Verified == nil || !r.Verified.Equal() || r.Verified.Level != pghaul.VerifyCount {
			t.Errorf("table: %+v", r)
		}
	}
	if calls == 0 || last.Rows != 5000 {
		t.Errorf("%d calls of OnProgress, the last: %+v", calls, last)
	}
	clustertest.Exec(t, target, "UPDATE a SET t = 'x' WHERE i = 3")
	found, err := pghaul.Verify(t.Context(), source, target, pghaul.Tables("a"), nil)
	if err != nil || len(found) != 1 || found[0].Equal() || len(found[0].Different) == 0 || found[0].Level != pghaul.VerifyHash {
		t.Errorf("Verify: %+v, %v", found[0], err)
	}
}

func TestCopyKeepsTheServersError(t *testing.T) {
	source := clustertest.Database(t)
	clustertest.Exec(t, source, "CREATE TABLE a AS SELECT 1 AS i UNION ALL SELECT 1", "CREATE TABLE b (i int PRIMARY KEY)")
	report, err := pghaul.Copy(t.Context(), source, "", pghaul.Tables("a:b"), nil)
	var server *pgconn.PgError
	if !errors.As(err, &server) || server.Code != "23505" || server.ConstraintName != "b_pkey" {
		t.Fatalf("got %v", err)
	}
	if report == nil || len(report.Tables) != 1 || report.Tables[0].Err == nil || !strings.Contains(report.Tables[0].Kept, "nothing") || report.Rows() != 0 {
		t.Errorf("report: %+v", report)
	}
}

func TestCopyRefuses(t *testing.T) {
	source := clustertest.Database(t)
	clustertest.Exec(t, source, "CREATE TABLE a (i int)", "CREATE TABLE b (i int)", "INSERT INTO b VALUES (1)")
	for _, tt := range []struct {
		tables []pghaul.Table
		opts   *pghaul.CopyOptions
		kind   planner.ErrorKind
	}{
		{pghaul.Tables("a:b"), nil, planner.Failed},
		{pghaul.Tables("a:b"), &pghaul.CopyOptions{Method: planner.CreateAs}, planner.Failed},
		{pghaul.Tables("a:b"), &pghaul.CopyOptions{Fill: planner.Append, Freeze: planner.Yes}, planner.Refused},
		{pghaul.Tables("a:b"), &pghaul.CopyOptions{Connections: -1}, planner.Usage},
	} {
		report, err := pghaul.Copy(t.Context(), source, "", tt.tables, tt.opts)
		var own *planner.Error
		if !errors.As(err, &own) || own.Kind != tt.kind || report != nil {
			t.Errorf("%+v: %v, kind %+v", tt.opts, err, own)
		}
	}
}

func TestCopyEndsWithItsContext(t *testing.T) {
	source := clustertest.Database(t)
	clustertest.Exec(t, source, "CREATE TABLE a AS SELECT i, md5(i::text) AS t FROM generate_series(1, 100000) AS i", "CREATE TABLE b (LIKE a)")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	report, err := pghaul.Copy(ctx, source, "", pghaul.Tables("a:b"), &pghaul.CopyOptions{
		MaxRate: 300 << 10, ProgressInterval: time.Millisecond,
		OnProgress: func(p pghaul.Progress) {
			if p.Bytes > 0 {
				cancel()
			}
		},
	})
	if !errors.Is(err, context.Canceled) || report == nil || report.Tables[0].Kept == "" {
		t.Errorf("got %+v, %v", report, err)
	}
	if n := clustertest.Query(t, source, "SELECT count(*) FROM b"); n != "0" {
		t.Errorf("%s rows were kept", n)
	}
}
