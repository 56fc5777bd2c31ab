package move

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// protocol is one way to commit, with what a failed run may leave.
type protocol struct {
	name   string
	wish   planner.Wish
	atomic planner.Atomic
	old    bool // the target holds rows that stay until the new ones are complete
	// partial: what is complete of a failed run stays.
	partial bool
}

// oneRange is smaller than a page of rows, so that each page is a range.
const oneRange = 8192

var protocols = []protocol{
	{name: "one transaction", atomic: planner.OneTransaction, wish: planner.Wish{Method: planner.Relay, Connections: 1}},
	{name: "truncate", atomic: planner.OneTransaction, old: true, wish: planner.Wish{Method: planner.Relay, Connections: 1, Fill: planner.Truncate}},
	{name: "two-phase", atomic: planner.TwoPhase, wish: planner.Wish{Method: planner.Relay, Connections: 3, RangeBytes: oneRange}},
	{name: "two-phase insert", atomic: planner.TwoPhase, wish: planner.Wish{Method: planner.Insert, Connections: 2, RangeBytes: oneRange,
		BatchSize: 20, CopyThreshold: planner.CopyNever}},
	{name: "swap", atomic: planner.Swap, old: true, wish: planner.Wish{Method: planner.Relay, Connections: 3, RangeBytes: oneRange, Fill: planner.Replace}},
	{name: "range", atomic: planner.PerRange, partial: true, wish: planner.Wish{Method: planner.Relay, Connections: 2, RangeBytes: oneRange,
		Commit: planner.CommitRange}},
}

// arena is a source and a target on two servers, with a proxy before each.
type arena struct {
	protocol
	source, target       string // direct addresses
	sourceLine, destLine *proxy
	request              Request
}

const arenaTable = "CREATE TABLE t (id int PRIMARY KEY, v text, w text)"

func newArena(t *testing.T, p protocol, rows int) *arena {
	t.Helper()
	a := &arena{protocol: p, source: clustertest.Database(t), target: clustertest.DatabaseOn(t, clustertest.Second(t))}
	a.sourceLine, a.destLine = newProxy(t, clustertest.Server(t)), newProxy(t, clustertest.Second(t))
	clustertest.Exec(t, a.source, arenaTable, fmt.Sprintf("INSERT INTO t SELECT i, md5(i::text), repeat('w', 50) FROM generate_series(1, %d) AS i", rows),
		"ANALYZE t")
	clustertest.Exec(t, a.target, arenaTable)
	a.request = onePair(a.sourceLine.uri(t, a.source), a.destLine.uri(t, a.target), "t", "t", p.wish)
	return a
}

// reset brings the target back to where it was before any run.
func (a *arena) reset(t *testing.T) {
	t.Helper()
	a.sourceLine.arm(fault{})
	a.destLine.arm(fault{})
	clustertest.Exec(t, a.target, "TRUNCATE t", "DO $$ BEGIN IF to_regclass('pghaul.move') IS NOT NULL THEN TRUNCATE pghaul.move, pghaul.done_range; END IF; END $$")
	if a.old {
		clustertest.Exec(t, a.target, "INSERT INTO t VALUES (-1, 'old', 'old'), (-2, 'old', 'old')")
	}
}

// outcome names what stands in the target: "as before", "complete", "some ranges", or what is wrong.
func (a *arena) outcome(t *testing.T) string {
	t.Helper()
	want := contents(t, a.source, "TABLE t")
	switch got := contents(t, a.target, "TABLE t"); {
	case got == want:
		return "complete"
	case !a.old && strings.HasPrefix(got, "0|"), a.old && clustertest.Query(t, a.target, "SELECT array_agg(id ORDER BY id) FROM t") == "{-2,-1}":
		return "as before"
	case !a.partial:
		return "neither the old nor the new rows: " + got
	}
	recorded := clustertest.Query(t, a.target, "SELECT sum(rows) FROM pghaul.done_range")
	have := clustertest.Query(t, a.target, "SELECT count(*) FROM t")
	if recorded != have {
		return fmt.Sprintf("%s rows, of which %s are recorded", have, recorded)
	}
	ids := clustertest.Query(t, a.target, "SELECT string_agg(id::text, ',') FROM t")
	if contents(t, a.source, "SELECT * FROM t WHERE id IN ("+ids+")") != contents(t, a.target, "TABLE t") {
		return "rows that are not the source's"
	}
	return "some ranges"
}

// judge looks at the target after a run that was disturbed, and repeats the run undisturbed until the target is complete.
func (a *arena) judge(t *testing.T, report *Report, err error) string {
	t.Helper()
	a.sourceLine.arm(fault{})
	a.destLine.arm(fault{})
	found := a.outcome(t)
	switch {
	case err == nil && found != "complete":
		t.Errorf("the run succeeded and left %s", found)
	case found == "some ranges", found == "as before", found == "complete":
	default:
		t.Errorf("the run left %s; its error: %s", found, spelled(err))
	}
	if err != nil && report != nil && report.Tables[0].Kept == keptNothing && found == "complete" {
		t.Errorf("the run says %q and all is there: %s", report.Tables[0].Kept, spelled(err))
	}
	ctx, cancel := context.WithTimeout(context.Background(), attemptLimit)
	defer cancel()
	_, again := attempt(ctx, a.request)
	if err != nil && strings.Contains(err.Error(), "the rows are safe") || found == "complete" && !a.old && !a.partial {
		if again == nil || !strings.Contains(again.Error(), "not empty") {
			t.Errorf("a run into the complete target: %v", again)
		}
	} else if again != nil && !(found == "complete" && a.partial && strings.Contains(again.Error(), "not empty")) {
		t.Errorf("the next run, after %q: %s", found, spelled(again))
	}
	if end := a.outcome(t); end != "complete" {
		t.Errorf("the next run left %s", end)
	}
	clean(t, a.target)
	return found
}

// disturbed opens a move and runs it with faults on the two lines.
func (a *arena) disturbed(ctx context.Context, t *testing.T, source, target fault) (*Report, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, attemptLimit)
	defer cancel()
	m, err := Open(ctx, a.request)
	if err != nil {
		t.Fatalf("open: %s", spelled(err))
	}
	defer m.Close()
	if plan := m.Plans()[0]; plan.Atomic != a.atomic || plan.Connections != max(1, a.wish.Connections) {
		t.Fatalf("planned %s by %d connections", plan.Atomic, plan.Connections)
	}
	a.sourceLine.arm(source)
	a.destLine.arm(target)
	report, err := m.Run(ctx)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Errorf("the run did not end: %v", err)
	}
	return report, err
}

// positions spreads n byte positions over a conversation: its start and its end, where the short messages are that decide, and the middle.
func positions(random *rand.Rand, total int64, n int) []int64 {
	var at []int64
	edge := min(total/3, 4000)
	for i := range n {
		share := int64(n / 3)
		k := int64(i) / 3
		switch i % 3 {
		case 0:
			at = append(at, 1+edge*k/share)
		case 1:
			at = append(at, total-edge*k/share)
		default:
			at = append(at, 1+random.Int64N(total))
		}
	}
	return at
}

func TestNetworkCut(t *testing.T) {
	t.Parallel()
	for _, p := range protocols {
		for _, side := range []string{"source", "target"} {
			t.Run(p.name+"/"+side, func(t *testing.T) {
				t.Parallel()
				a := newArena(t, p, 500)
				a.reset(t)
				if _, err := a.disturbed(t.Context(), t, fault{}, fault{}); err != nil {
					t.Fatalf("undisturbed: %s", spelled(err))
				}
				line, cuts := a.sourceLine, 6
				if side == "target" {
					line, cuts = a.destLine, 12
				}
				seen := map[string]int{}
				for _, at := range positions(rand.New(rand.NewPCG(1, 2)), line.count(), cuts) {
					a.reset(t)
					source, target := fault{cutAt: at}, fault{}
					if side == "target" {
						source, target = target, source
					}
					report, err := a.disturbed(t.Context(), t, source, target)
					seen[a.judge(t, report, err)]++
					if t.Failed() {
						t.Fatalf("cut at byte %d of %s: %v", at, side, err)
					}
				}
				if seen["as before"]+seen["some ranges"] == 0 {
					t.Errorf("no cut had an effect: %v", seen)
				}
			})
		}
	}
}

// A commit whose answer is lost is no failure: another connection asks what became of it. The answer is 18 bytes long and stands among the
// last few hundred.
func TestLostAnswerOfCommit(t *testing.T) {
	t.Parallel()
	a := newArena(t, protocols[0], 50)
	a.reset(t)
	if _, err := a.disturbed(t.Context(), t, fault{}, fault{}); err != nil {
		t.Fatalf("undisturbed: %s", spelled(err))
	}
	total := a.destLine.count()
	seen := map[string]int{}
	for at := total - 400; at < total; at += 11 {
		a.reset(t)
		report, err := a.disturbed(t.Context(), t, fault{}, fault{cutAt: at})
		found := a.outcome(t)
		if (err == nil) != (found == "complete") {
			t.Fatalf("cut at byte %d of %d: the target is %s, the run says %q: %v", at, total, found, report.Tables[0].Kept, err)
		}
		seen[found]++
	}
	if seen["complete"] == 0 || seen["as before"] == 0 {
		t.Errorf("the cuts were not around the commit: %v", seen)
	}
}

func TestCancelAtEachStep(t *testing.T) {
	t.Parallel()
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			a := newArena(t, p, 500)
			a.reset(t)
			if _, err := a.disturbed(t.Context(), t, fault{}, fault{}); err != nil {
				t.Fatalf("undisturbed: %s", spelled(err))
			}
			seen := map[string]int{}
			for _, at := range positions(rand.New(rand.NewPCG(3, 4)), a.destLine.count(), 9) {
				a.reset(t)
				ctx, cancel := context.WithCancel(t.Context())
				began := time.Now()
				report, err := a.disturbed(ctx, t, fault{}, fault{callAt: at, call: cancel})
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("it took %s", took)
				}
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("not the cancel's error: %s", spelled(err))
				}
				cancel()
				sessionsGone(t, a.source)
				sessionsGone(t, a.target)
				seen[a.judge(t, report, err)]++
				if t.Failed() {
					t.Fatalf("cancelled at byte %d: %v", at, err)
				}
			}
			if seen["as before"]+seen["some ranges"] == 0 {
				t.Errorf("no cancel had an effect: %v", seen)
			}
		})
	}
}

func TestConstraintBrokenInLastRange(t *testing.T) {
	t.Parallel()
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			a := newArena(t, p, 500)
			a.reset(t)
			clustertest.Exec(t, a.target, "ALTER TABLE t ADD CONSTRAINT nearly CHECK (id < 500)")
			report, err := a.disturbed(t.Context(), t, fault{}, fault{})
			if err == nil || !strings.Contains(spelled(err), "nearly") || !strings.Contains(spelled(err), "HINT: The row named above breaks") {
				t.Fatalf("error: %s", spelled(err))
			}
			found, want := a.outcome(t), "as before"
			if p.partial {
				want = "some ranges"
			}
			if found != want {
				t.Errorf("the run left %s; it says: %s", found, report.Tables[0].Kept)
			}
			clean(t, a.target)
			clustertest.Exec(t, a.target, "ALTER TABLE t DROP CONSTRAINT nearly")
			a.judge(t, report, err)
		})
	}
}
