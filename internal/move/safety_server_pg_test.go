package move

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/cluster"
	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// TestServerCrash kills all processes of one server in mid-run. After its recovery the target is as promised, and the next run completes it.
func TestServerCrash(t *testing.T) {
	t.Parallel()
	for _, side := range []string{"source", "target"} {
		t.Run(side, func(t *testing.T) {
			t.Parallel()
			private := clustertest.Private(t, nil)
			for _, p := range protocols {
				t.Run(p.name, func(t *testing.T) {
					a := privateArena(t, private, side, p)
					a.crash(t, private, side, 30)
					if side == "target" {
						a.crash(t, private, side, 99)
					}
				})
			}
		})
	}
}

// privateArena is an arena one side of which is on a server of the test's own.
func privateArena(t *testing.T, private *cluster.Server, side string, p protocol) *arena {
	t.Helper()
	a := newArena(t, p, 500)
	if side == "source" {
		a.source, a.sourceLine = clustertest.DatabaseOn(t, private), newProxy(t, private)
		clustertest.Exec(t, a.source, arenaTable, "INSERT INTO t SELECT i, md5(i::text), repeat('w', 50) FROM generate_series(1, 500) AS i", "ANALYZE t")
	} else {
		a.target, a.destLine = clustertest.DatabaseOn(t, private), newProxy(t, private)
		clustertest.Exec(t, a.target, arenaTable)
	}
	a.request = onePair(a.sourceLine.uri(t, a.source), a.destLine.uri(t, a.target), "t", "t", p.wish)
	return a
}

// crash kills the server when the given share of an undisturbed conversation with it has passed.
func (a *arena) crash(t *testing.T, private *cluster.Server, side string, share int64) {
	t.Helper()
	line := a.destLine
	if side == "source" {
		line = a.sourceLine
	}
	a.reset(t)
	if _, err := a.disturbed(t.Context(), t, fault{}, fault{}); err != nil {
		t.Fatalf("undisturbed: %s", spelled(err))
	}
	at := line.count() * share / 100
	a.reset(t)
	m := opens(t, a.request)
	killed := make(chan error, 1)
	// The line is silent from there on, lest the run be over before the server is.
	line.arm(fault{stallAt: at, callAt: at, call: func() { go func() { killed <- private.Kill() }() }})
	r := begins(t, m)
	if err := <-killed; err != nil {
		t.Fatal(err)
	}
	line.arm(fault{})
	line.cutAll()
	// Before the run is over: it may want to ask the server what became of its commit.
	if err := private.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := r.ended(t, attemptLimit)
	if err != nil && !strings.Contains(spelled(err), "HINT: ") {
		t.Errorf("an error without a hint: %s", spelled(err))
	}
	if found := a.judge(t, r.report, err); share < 50 && found == "complete" {
		t.Errorf("the kill came too late: %v", err)
	}
}

// A server's notices must be read while rows are sent, or both ends wait for each other.
func TestNoticeStorm(t *testing.T) {
	t.Parallel()
	for _, w := range []planner.Wish{
		{Method: planner.Relay}, {Method: planner.Insert, CopyThreshold: planner.CopyNever, BatchSize: 10000}, {Method: planner.Insert, CopyThreshold: 1},
	} {
		t.Run(fmt.Sprint(w.Method, w.CopyThreshold), func(t *testing.T) {
			t.Parallel()
			p := protocols[0]
			p.wish = w
			a := newArena(t, p, 10000)
			clustertest.Exec(t, a.target, `CREATE FUNCTION public.shout() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				RAISE WARNING '%', repeat('notice ', 200); RETURN NEW; END $$`,
				"CREATE TRIGGER shout BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION public.shout()")
			moves(t, a.request)
			sameContents(t, a.source, "TABLE t", a.target, "TABLE t")
		})
	}
}

// TestSourceFailsInMidCopy has the source fail behind rows that the target has taken already.
func TestSourceFailsInMidCopy(t *testing.T) {
	t.Parallel()
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.wish.Connections = 1
			a := newArena(t, p, 5000)
			a.reset(t)
			clustertest.Exec(t, a.source, "CREATE VIEW w AS SELECT id, v, (1000 / (id - 4990))::text AS w FROM t")
			a.request.Tables = []TablePair{{Source: "w", Target: "t"}}
			report := refused(t, a.request, "division by zero", "n the source", "HINT: The source cannot compute this value")
			if found := a.outcome(t); found != "as before" {
				t.Errorf("the run left %s; it says: %s", found, report.Tables[0].Kept)
			}
			clean(t, a.target)
			sessionsGone(t, a.source)
			sessionsGone(t, a.target)
		})
	}
}

// The server's error for a full disk, raised by a trigger at a row in the middle.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	p := protocols[0]
	a := newArena(t, p, 20000)
	clustertest.Exec(t, a.target, "CREATE FUNCTION public.full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.id = 15000 THEN "+
		"RAISE EXCEPTION USING ERRCODE = '53100', MESSAGE = 'could not extend file: No space left on device'; END IF; RETURN NEW; END $$",
		"CREATE TRIGGER filled BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION public.full()")
	report := refused(t, a.request, "No space left", "The disk of the server is full")
	if found := a.outcome(t); found != "as before" || report.Tables[0].Kept != keptNothing {
		t.Errorf("it left %s and says: %s", found, report.Tables[0].Kept)
	}
}
