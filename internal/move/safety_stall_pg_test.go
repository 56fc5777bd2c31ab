package move

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// stallTimeout is that of the tests.
const stallTimeout = 2 * time.Second

// silent is a move over a line that goes silent at a share of the conversation.
type silent struct {
	*arena
	name string
	run  *running
}

// A line that goes silent must end the move, wherever that happens. How long it takes is bounded by what a server gets to answer a cancel
// (stopGrace), and to be asked what became of a commit (three times that). All of them wait at the same time.
func TestSilentNetworkIsNoHang(t *testing.T) {
	t.Parallel()
	var all []silent
	for _, side := range []string{"source", "target"} {
		for _, share := range []int64{2, 50, 98} {
			all = append(all, goesSilent(t, side, share))
		}
	}
	for _, s := range all {
		err := s.run.ended(t, 50*time.Second)
		if err == nil || !strings.Contains(spelled(err), "no progress for 2s") {
			t.Errorf("%s: error: %s", s.name, spelled(err))
		}
	}
	for _, s := range all {
		s.sourceLine.cutAll()
		s.destLine.cutAll()
		s.sourceLine.arm(fault{})
		s.destLine.arm(fault{})
		// Only now the server sees that the client has gone.
		sessionsGone(t, s.target)
		s.judge(t, s.run.report, s.run.err)
	}
}

func goesSilent(t *testing.T, side string, share int64) silent {
	t.Helper()
	a := newArena(t, protocols[0], 5000)
	a.request.StallTimeout = stallTimeout
	a.reset(t)
	if _, err := a.disturbed(t.Context(), t, fault{}, fault{}); err != nil {
		t.Fatalf("undisturbed: %s", spelled(err))
	}
	source, target := fault{stallAt: a.sourceLine.count() * share / 100}, fault{}
	if side == "target" {
		source, target = fault{}, fault{stallAt: a.destLine.count() * share / 100}
	}
	a.reset(t)
	m := opens(t, a.request)
	a.sourceLine.arm(source)
	a.destLine.arm(target)
	return silent{arena: a, name: fmt.Sprintf("%s at %d percent", side, share), run: begins(t, m)}
}

// lock holds a table locked in a transaction until the function that it returns is called.
func lock(t *testing.T, uri, table string) (release func()) {
	t.Helper()
	r := sessionOn(t, uri)
	if _, err := r.exec(t.Context(), "BEGIN; LOCK TABLE "+table+" IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := r.exec(context.Background(), "ROLLBACK"); err != nil {
			t.Error(err)
		}
		r.close()
	}
}

func sessionOn(t *testing.T, uri string) *session {
	t.Helper()
	config, err := catalog.Config(uri)
	if err != nil {
		t.Fatal(err)
	}
	s, err := openSession(t.Context(), config, "UTF8", uri)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLockWaitIsReported(t *testing.T) {
	t.Parallel()
	for _, side := range []string{"source", "target"} {
		for _, end := range []string{"released", "cancelled"} {
			t.Run(side+" "+end, func(t *testing.T) {
				t.Parallel()
				a := newArena(t, protocols[0], 500)
				a.request.StallTimeout = stallTimeout
				m := opens(t, a.request)
				locked := a.target
				if side == "source" {
					locked = a.source
				}
				release := lock(t, locked, "public.t")
				began := time.Now()
				r := begins(t, m)
				until(t, "the wait is reported", 10*time.Second, func() bool { return strings.Contains(m.Progress().Waiting, "waits for a lock held by process") })
				until(t, "the wait outlasts the stall timeout", 20*time.Second, func() bool { return time.Since(began) > 3*stallTimeout })
				if end == "cancelled" {
					began = time.Now()
					r.cancel()
					if err := r.ended(t, 5*time.Second); !errors.Is(err, context.Canceled) {
						t.Errorf("error: %s", spelled(err))
					}
					release()
					sessionsGone(t, a.source)
					sessionsGone(t, a.target)
					return
				}
				release()
				if err := r.ended(t, 20*time.Second); err != nil {
					t.Fatalf("after the lock was released: %s", spelled(err))
				}
				sameContents(t, a.source, "TABLE t", a.target, "TABLE t")
			})
		}
	}
}

// A TRUNCATE that was under way when the move began must not make it copy an empty table.
func TestLockComesBeforeSnapshot(t *testing.T) {
	t.Parallel()
	a := newArena(t, protocols[0], 500)
	m := opens(t, a.request)
	s := sessionOn(t, a.source)
	if _, err := s.exec(t.Context(), "BEGIN; TRUNCATE public.t; INSERT INTO public.t VALUES (7, 'after', 'truncate')"); err != nil {
		t.Fatal(err)
	}
	r := begins(t, m)
	until(t, "the move waits for the lock", 10*time.Second, func() bool {
		return clustertest.Query(t, a.source, "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = (SELECT oid FROM pg_class WHERE relname = 't')") == "1"
	})
	if _, err := s.exec(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	s.close()
	if err := r.ended(t, 20*time.Second); err != nil {
		t.Fatal(spelled(err))
	}
	if got := clustertest.Query(t, a.target, "TABLE t"); got != "7|after|truncate" {
		t.Errorf("copied: %q", got)
	}
}

// TestCancelStopsServers cancels while a server is busy with something long.
func TestCancelStopsServers(t *testing.T) {
	t.Parallel()
	slow := []string{`CREATE FUNCTION public.slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1); RETURN NEW; END $$`,
		"CREATE TRIGGER slow BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION public.slow()"}
	tests := []struct {
		name   string
		source []string
		from   string
		target []string
		busy   string // what its server shows of the statement that is to be cancelled
		wish   planner.Wish
	}{
		{name: "source sleeps", source: []string{"CREATE VIEW v AS SELECT t.* FROM t, pg_sleep(100)"}, from: "v", busy: "PgSleep"},
		{name: "source computes", source: []string{"CREATE VIEW v AS SELECT * FROM t ORDER BY (SELECT sum(i) FROM generate_series(1, 100000000) AS i WHERE i % 500 <> t.id)"},
			from: "v"},
		{name: "target is slow", from: "t", target: slow, busy: "PgSleep"},
		{name: "target is slow at inserts", from: "t", target: slow, busy: "PgSleep",
			wish: planner.Wish{Method: planner.Insert, CopyThreshold: planner.CopyNever, Connections: 2, RangeBytes: oneRange}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := protocols[0]
			if tt.wish.Method != planner.Auto {
				p.wish = tt.wish
			}
			a := newArena(t, p, 500)
			clustertest.Exec(t, a.source, tt.source...)
			clustertest.Exec(t, a.target, tt.target...)
			a.request.Tables = []TablePair{{Source: tt.from, Target: "t"}}
			r := starts(t, a.request)
			until(t, "a server is at work", 20*time.Second, func() bool {
				const sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active' " +
					"AND query ~ '^(COPY|INSERT)' AND (wait_event = '%[1]s' OR '%[1]s' = '')"
				return clustertest.Query(t, a.source, fmt.Sprintf(sql, tt.busy))+clustertest.Query(t, a.target, fmt.Sprintf(sql, tt.busy)) != "00"
			})
			began := time.Now()
			r.cancel()
			err := r.ended(t, 8*time.Second)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error: %s", spelled(err))
			}
			if kept := r.report.Tables[0].Kept; kept != keptNothing {
				t.Errorf("kept: %s", kept)
			}
			t.Logf("stopped within %s", time.Since(began))
			sessionsGone(t, a.source)
			sessionsGone(t, a.target)
			clean(t, a.target)
			if rows := clustertest.Query(t, a.target, "SELECT count(*) FROM t"); rows != "0" {
				t.Errorf("%s rows stayed", rows)
			}
		})
	}
}
