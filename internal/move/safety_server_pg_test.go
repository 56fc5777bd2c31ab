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
			private := clustertest.Private(t, &cluster.Options{Settings: map[string]string{"fsync": "on"}})
			for _, p := range protocols {
				for _, share := range []int64{30, 99} {
					t.Run(fmt.Sprintf("%s at %d percent", p.name, share), func(t *testing.T) { crash(t, private, side, p, share) })
				}
			}
		})
	}
}

func crash(t *testing.T, private *cluster.Server, side string, p protocol, share int64) {
	a := newArena(t, p, 2000)
	line := a.destLine
	if side == "source" {
		a.source, a.sourceLine = clustertest.DatabaseOn(t, private), newProxy(t, private)
		clustertest.Exec(t, a.source, arenaTable, "INSERT INTO t SELECT i, md5(i::text), repeat('w', 50) FROM generate_series(1, 2000) AS i", "ANALYZE t")
		line = a.sourceLine
	} else {
		a.target, a.destLine = clustertest.DatabaseOn(t, private), newProxy(t, private)
		clustertest.Exec(t, a.target, arenaTable)
		line = a.destLine
	}
	a.request = onePair(a.sourceLine.uri(t, a.source), a.destLine.uri(t, a.target), "t", "t", p.wish)
	a.reset(t)
	if _, err := a.disturbed(t, fault{}, fault{}, t.Context()); err != nil {
		t.Fatalf("undisturbed: %s", spelled(err))
	}
	killed := make(chan error, 1)
	f := fault{callAt: line.count() * share / 100, call: func() { go func() { killed <- private.Kill() }() }}
	a.reset(t)
	source, target := f, fault{}
	if side == "target" {
		source, target = target, source
	}
	m := opens(t, a.request)
	a.sourceLine.arm(source)
	a.destLine.arm(target)
	r := begins(t, m)
	if err := <-killed; err != nil {
		t.Fatal(err)
	}
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
			report := refused(t, a.request, "division by zero", "on the source")
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
