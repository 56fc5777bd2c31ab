package pghaul

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pghaul/pghaul/internal/move"
	"github.com/pghaul/pghaul/planner"
)

func TestTables(t *testing.T) {
	got := Tables("a", "s.b:c", `"x:y":"z"`, "a:b:c", "a:")
	want := []Table{{Source: "a"}, {"s.b", "c"}, {`"x:y"`, `"z"`}, {Source: "a:b:c"}, {Source: "a:"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRequestPassesEverythingOn(t *testing.T) {
	o := &CopyOptions{
		Patterns: []string{"s.*"}, Method: planner.Insert, Format: planner.Text, Connections: 3, Fill: planner.Append, Create: true,
		Commit: planner.CommitRange, Freeze: planner.No, Where: "x > 1", Columns: []string{"a"}, BatchSize: 7, CopyThreshold: 9,
		Returning: "id", OnConflict: planner.DoUpdate, ConflictColumns: []string{"k"}, RangeBytes: 11, MaxRate: 13,
		StallTimeout: 17 * time.Second, Verify: VerifyCount, PgDump: "/pg_dump",
	}
	got, err := o.request("src", "dst", []Table{{"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	want := move.Request{
		Source: "src", Target: "dst", Tables: []move.TablePair{{Source: "a", Target: "b"}}, Patterns: []string{"s.*"},
		Wish: planner.Wish{
			Method: planner.Insert, Format: planner.Text, Connections: 3, Fill: planner.Append, Create: true,
			Commit: planner.CommitRange, Freeze: planner.No, Where: "x > 1", Columns: []string{"a"}, BatchSize: 7, CopyThreshold: 9,
			Returning: "id", OnConflict: planner.DoUpdate, ConflictColumns: []string{"k"}, RangeBytes: 11,
		},
		MaxRate: 13, StallTimeout: 17 * time.Second, Verify: move.VerifyCount, PgDump: "/pg_dump",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got, err = (&CopyOptions{Query: "SELECT 1", Into: "t"}).request("", "", nil)
	if err != nil || got.Query != "SELECT 1" || got.QueryInto != "t" {
		t.Errorf("query: %+v, %v", got, err)
	}
}

// All complaints come at once, each of kind Usage, before a server is asked: these connection strings lead nowhere.
func TestUsageComplaints(t *testing.T) {
	tests := []struct {
		name   string
		tables []Table
		opts   *CopyOptions
		wants  []string
	}{
		{"nothing", nil, nil, []string{"no table is named"}},
		{"everything", Tables(`"a`, "a:b:c", "x.y.z"), &CopyOptions{Patterns: []string{"*.*.*"}, Query: "SELECT 1", Verify: "smell", MaxRate: -1, StallTimeout: -1},
			[]string{"a double quote is not closed", "more than one colon", "too many dotted parts", "in the pattern", "a query, but no table", "no such verify level", "rate limit", "stall timeout"}},
		{"query and tables", Tables("a"), &CopyOptions{Query: "SELECT 1", Into: "t"}, []string{"both a query and tables"}},
		{"into alone", Tables("a"), &CopyOptions{Into: "t"}, []string{"but no query"}},
		{"colon in a name", []Table{{Source: "a:b"}}, nil, []string{"a colon outside double quotes"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Copy(t.Context(), "host=/nowhere", "host=/nowhere", tt.tables, tt.opts)
			_, explained := Explain(t.Context(), "host=/nowhere", "host=/nowhere", tt.tables, tt.opts)
			if err == nil || explained == nil || err.Error() != explained.Error() {
				t.Fatalf("Copy: %v; Explain: %v", err, explained)
			}
			for _, want := range tt.wants {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is missing in: %v", want, err)
				}
			}
			var own *planner.Error
			if !errors.As(err, &own) || own.Kind != planner.Usage {
				t.Errorf("not a usage error: %#v", err)
			}
		})
	}
	if _, err := Verify(t.Context(), "host=/nowhere", "", Tables("a:b:c"), &VerifyOptions{Level: "smell", Connections: -1}); err == nil ||
		!strings.Contains(err.Error(), "more than one colon") || !strings.Contains(err.Error(), "no such verify level") || !strings.Contains(err.Error(), "negative") {
		t.Errorf("Verify: %v", err)
	}
}

func TestWatchShowsTheEndAndStops(t *testing.T) {
	var seen []Progress
	w := newWatch(func(p Progress) { seen = append(seen, p) }, time.Hour)
	w.running(func() move.Progress {
		return move.Progress{Table: "t", Stage: "rows", Rows: 40, TotalRow: 5, Total: 6, Bytes: 7, Waiting: "w"}
	})
	w.finished(42)
	w.stop()
	if len(seen) != 1 {
		t.Fatalf("called %d times, want once at the end", len(seen))
	}
	seen[0].Elapsed = 0
	want := Progress{Table: "t", Stage: "rows", Rows: 42, TotalRows: 5, Bytes: 7, TotalBytes: 6, Waiting: "w"}
	if diff := cmp.Diff(want, seen[0]); diff != "" {
		t.Error(diff)
	}
	newWatch(nil, 0).stop()
}

func TestWatchTicksWhilePlanning(t *testing.T) {
	called := make(chan Progress)
	w := newWatch(func(p Progress) { called <- p }, time.Millisecond)
	for range 3 {
		if p := <-called; p.Stage != "plan" || p.TotalRows != -1 {
			t.Errorf("got %+v", p)
		}
	}
	go func() {
		for range called {
		}
	}()
	w.stop()
	close(called)
}

func TestFailures(t *testing.T) {
	one, two, other := errors.New("one"), errors.New("two"), errors.New("other")
	report := func(errs ...error) *Report {
		r := &Report{}
		for _, err := range errs {
			r.Tables = append(r.Tables, TableReport{Err: err})
		}
		return r
	}
	tests := []struct {
		report *Report
		run    error
		want   string
	}{
		{nil, other, "other"}, {report(nil, nil), other, "other"}, {report(one, nil), one, "one"},
		{report(nil, one, two), one, "one\ntwo"}, {report(one), other, "other\none"},
	}
	for i, tt := range tests {
		if got := tt.report.failures(tt.run); got.Error() != tt.want || !errors.Is(got, tt.run) {
			t.Errorf("%d: got %q, want %q", i, got, tt.want)
		}
	}
	if err := report(nil).failures(nil); err != nil {
		t.Error(err)
	}
}
