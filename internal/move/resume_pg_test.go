package move

import (
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// interrupted leaves a copy by ranges with all but its last ranges done: a constraint of the target stops it. Before it begins, each
// statement of open is run in a transaction of its own that stays open; the function commits them all.
func interrupted(t *testing.T, open ...string) (a *arena, commit func()) {
	t.Helper()
	p := protocols[len(protocols)-1]
	p.wish.Connections = 1
	a = newArena(t, p, 0)
	// Room in each page, so that an update may leave a row in its range.
	clustertest.Exec(t, a.source, "ALTER TABLE t SET (fillfactor = 60)",
		"INSERT INTO t SELECT i, md5(i::text), repeat('w', 50) FROM generate_series(1, 500) AS i", "VACUUM ANALYZE t")
	clustertest.Exec(t, a.target, "ALTER TABLE t ADD CONSTRAINT nearly CHECK (id < 450)")
	var commits []func()
	for _, sql := range open {
		commits = append(commits, lockedBy(t, a.source, sql))
		clustertest.Exec(t, a.source, "SELECT pg_current_xact_id()") // Only a later transaction that has ended brings sql's into the snapshot's span.
	}
	report := refused(t, a.request, "nearly")
	if kept := report.Tables[0].Kept; !strings.Contains(kept, "ranges are in the target") {
		t.Fatalf("kept: %s", kept)
	}
	if found := a.outcome(t); found != "some ranges" {
		t.Fatalf("interrupted: %s", found)
	}
	clustertest.Exec(t, a.target, "ALTER TABLE t DROP CONSTRAINT nearly")
	return a, func() {
		for _, commit := range commits {
			commit()
		}
	}
}

func TestResumeAfterSourceChanged(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		open   []string // what is not committed yet when the first run reads
		change []string
		words  string // of the refusal; empty for a change that does no harm
	}{
		{name: "nothing"},
		{name: "row of a finished range updated in its page", change: []string{"UPDATE t SET v = 'new' WHERE id = 1"}, words: "new or changed rows"},
		{name: "row of a finished range moved away", change: []string{"UPDATE t SET v = repeat(md5('long'), 200) WHERE id = 1"}, words: "source has changed"},
		{name: "row of a finished range deleted", change: []string{"DELETE FROM t WHERE id = 2"}, words: "source has changed"},
		{name: "row inserted into a finished range", change: []string{"DELETE FROM t WHERE id = 3", "VACUUM t", "INSERT INTO t VALUES (1003, 'new', 'new')"},
			words: "source has changed"},
		{name: "rewritten", change: []string{"VACUUM FULL t"}, words: "rewritten"},
		{name: "emptied and filled", change: []string{"TRUNCATE t", "INSERT INTO t SELECT i, 'other', '' FROM generate_series(1, 500) AS i"}, words: "source has changed"},
		{name: "row of an unfinished range updated", change: []string{"UPDATE t SET v = 'new' WHERE id = 499"}},
		{name: "row of an unfinished range deleted", change: []string{"DELETE FROM t WHERE id = 499"}},
		{name: "row of a finished range updated by a transaction on the way", open: []string{"UPDATE public.t SET v = 'new' WHERE id = 1"},
			words: "new or changed rows"},
		{name: "row of a finished range updated by a subtransaction on the way",
			open: []string{"INSERT INTO public.t VALUES (-1, 'x', 'x'); SAVEPOINT s; UPDATE public.t SET v = 'new' WHERE id = 1"}, words: "source has changed"},
		{name: "frozen", change: []string{"VACUUM FREEZE t"}},
		{name: "updated and rolled back", change: []string{"BEGIN; UPDATE t SET v = 'new' WHERE id = 1; DELETE FROM t WHERE id = 2; ROLLBACK"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, commit := interrupted(t, tt.open...)
			commit()
			clustertest.Exec(t, a.source, tt.change...)
			before := contents(t, a.target, "TABLE t")
			if tt.words != "" {
				refused(t, a.request, "cannot go on with the interrupted copy", tt.words, "HINT: Start anew")
				if after := contents(t, a.target, "TABLE t"); after != before {
					t.Error("the refused run changed the target")
				}
				return
			}
			report := moves(t, a.request)
			sameContents(t, a.source, "TABLE t", a.target, "TABLE t")
			if !report.Tables[0].Plan.Resumes || report.Rows() >= 500 {
				t.Errorf("it began anew: %d rows", report.Rows())
			}
		})
	}
}

// Two runs that go on with the same copy share its ranges: none is moved twice.
func TestResumeTwiceAtOnce(t *testing.T) {
	t.Parallel()
	a, _ := interrupted(t)
	// Without it a row that comes twice would stop the run that brings it.
	clustertest.Exec(t, a.target, "ALTER TABLE t DROP CONSTRAINT t_pkey")
	first, second := opens(t, a.request), opens(t, a.request)
	one, two := begins(t, first), begins(t, second)
	errs := []error{one.ended(t, attemptLimit), two.ended(t, attemptLimit)}
	if errs[0] != nil && errs[1] != nil {
		t.Errorf("both failed: %s; %s", spelled(errs[0]), spelled(errs[1]))
	}
	sameContents(t, a.source, "TABLE t", a.target, "TABLE t")
}

// A copy with other conditions than the interrupted one tells of it. Once it has removed that one's rows, nothing goes on with them.
func TestResumeWithOtherConditions(t *testing.T) {
	t.Parallel()
	a, _ := interrupted(t)
	other := a.request
	other.Wish.Where, other.Wish.Columns = "id < 400 -- it's", []string{"id", "v"}
	refused(t, other, "is not empty", "An unfinished copy from ", "public.t with no --where and no --columns is recorded",
		"This one has --where 'id < 400 -- it''s' and --columns id,v.", "HINT: Use --commit range with that source")
	other.Wish.Commit = planner.CommitAll
	refused(t, other, "An unfinished copy from ")
	for _, commit := range []planner.Commit{planner.CommitAll, planner.CommitRange} {
		a, _ := interrupted(t)
		other.Source, other.Target = a.request.Source, a.request.Target
		other.Wish.Commit, other.Wish.Fill = commit, planner.Truncate
		moves(t, other)
		sameContents(t, a.source, "SELECT id, v FROM t WHERE id < 400", a.target, "SELECT id, v FROM t")
		refused(t, a.request, "is not empty", "Use --append")
	}
}
