package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pghaul/pghaul"
	"github.com/pghaul/pghaul/planner"
)

func tableOf(rows, bytes int64, seconds float64, limitedBy string) pghaul.TableReport {
	return pghaul.TableReport{
		Rows: rows, Bytes: bytes, Duration: time.Duration(seconds * float64(time.Second)),
		Plan: &planner.Plan{Target: planner.Place{Relation: "public.t"}, Actual: &planner.Actual{LimitedBy: limitedBy}},
	}
}

func TestSummary(t *testing.T) {
	tests := []struct {
		seconds float64
		maxRate int64
		tables  []pghaul.TableReport
		want    string
	}{
		{7.8, 0, []pghaul.TableReport{tableOf(20_000_000, 1149<<20, 7.8, "the target")},
			"copied 20,000,000 rows, 1.1 GB, in 7.8 s (147 MB/s, 2.6 M rows/s); limited by the target"},
		{2, 0, []pghaul.TableReport{tableOf(1, 0, 2, "")}, "copied 1 row in 2.0 s (0 rows/s)"},
		{0.1, 0, []pghaul.TableReport{tableOf(0, 0, 0.1, "the client")}, "copied 0 rows in 0.10 s; limited by the client"},
		{10, 0, []pghaul.TableReport{tableOf(10, 100, 1, "the source"), tableOf(20, 200, 9, "the target")},
			"copied 2 tables, 30 rows, 300 bytes, in 10 s (30 bytes/s, 3 rows/s); limited by the target"},
		{10, 1 << 20, []pghaul.TableReport{tableOf(10, 9<<20, 10, "the source")},
			"copied 10 rows, 9.0 MB, in 10 s (922 kB/s, 1 rows/s); limited by --max-rate"},
		{10, 2 << 20, []pghaul.TableReport{tableOf(10, 9<<20, 10, "the source")},
			"copied 10 rows, 9.0 MB, in 10 s (922 kB/s, 1 rows/s); limited by the source"},
	}
	for _, tt := range tests {
		report := &pghaul.Report{Tables: tt.tables, Duration: time.Duration(tt.seconds * float64(time.Second))}
		if got := summary(report, tt.maxRate); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

func TestPrintKept(t *testing.T) {
	kept := tableOf(0, 0, 1, "")
	kept.Kept, kept.Err = "nothing was kept: the target is as it was", errors.New("x")
	var b strings.Builder
	printKept(&b, &pghaul.Report{Settled: []string{"prepared transaction x was committed"}, Tables: []pghaul.TableReport{tableOf(1500, 1, 1, ""), tableOf(1, 1, 1, ""), kept, tableOf(0, 0, 1, "")}})
	want := "NOTICE:  prepared transaction x was committed\n" +
		"NOTICE:  public.t: 1,500 rows are copied and committed\n" +
		"NOTICE:  public.t: 1 row is copied and committed\n" +
		"NOTICE:  public.t: nothing was kept: the target is as it was\n"
	if b.String() != want {
		t.Errorf("got %q", b.String())
	}
}
