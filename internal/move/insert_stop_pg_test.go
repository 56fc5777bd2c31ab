package move

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

var errStopped = errors.New("stopped by the test")

// blocked has a function public.hold(int) that waits for a lock, which a third session holds, when it is given 1500.
type blocked struct {
	uri    string
	holder *session
}

func newBlocked(t *testing.T) *blocked {
	t.Helper()
	uri := numbers(t, 5000)
	clustertest.Exec(t, uri, "CREATE TABLE dst (i int, x text)",
		"CREATE FUNCTION hold(i int) RETURNS int LANGUAGE plpgsql AS 'BEGIN IF i = 1500 THEN PERFORM pg_advisory_lock(1); END IF; RETURN i; END'",
		"CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.i := public.hold(NEW.i); RETURN NEW; END'",
		"CREATE VIEW slow AS SELECT public.hold(i) AS i, x FROM src")
	b := &blocked{uri: uri, holder: newSession(t, uri)}
	if _, err := b.holder.exec(context.Background(), "SELECT pg_advisory_lock(1)"); err != nil {
		t.Fatal(err)
	}
	return b
}

// waits returns once a session waits for the lock.
func (b *blocked) waits(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		n, err := b.holder.value(ctx, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
		if err != nil {
			t.Error(err)
			return
		}
		if n == "1" {
			return
		}
	}
}

// stops are the places in which a move can stand.
var stops = []struct {
	name      string
	setup     string
	source    string
	threshold int
}{
	{"target by insert", "CREATE TRIGGER held BEFORE INSERT ON dst FOR EACH ROW EXECUTE FUNCTION held()", "src", planner.CopyNever},
	{"target by copy", "CREATE TRIGGER held BEFORE INSERT ON dst FOR EACH ROW EXECUTE FUNCTION held()", "src", 1},
	{"target by auto", "CREATE TRIGGER held BEFORE INSERT ON dst FOR EACH ROW EXECUTE FUNCTION held()", "src", planner.CopyAuto},
	{"source by insert", "SELECT", "slow", planner.CopyNever},
	{"source by auto", "SELECT", "slow", planner.CopyAuto},
}

// readsSlow makes the plan read the view by a query, which is how views are read.
func readsSlow(p *planner.Plan) {
	if p.Parts[0].Source == "public.slow" {
		p.Parts[0].Plain = false
	}
}

func TestInsertCancel(t *testing.T) {
	for _, stop := range stops {
		t.Run(stop.name, func(t *testing.T) {
			b := newBlocked(t)
			clustertest.Exec(t, b.uri, stop.setup)
			w := newWorker(t, b.uri, b.uri, insertPlan(t, b.uri, stop.source, "dst", func(p *planner.Plan) {
				readsSlow(p)
				p.Batch.CopyThreshold = stop.threshold
			}))
			ctx, cancel := context.WithCancelCause(context.Background())
			done := make(chan error, 1)
			go func() {
				_, err := carryInsert(ctx, w, planner.Range{})
				done <- err
			}()
			b.waits(t)
			cancel(errStopped)
			if err := <-done; !errors.Is(err, errStopped) {
				t.Errorf("got %v", err)
			}
			for _, s := range []*session{w.src, w.dst} {
				if _, err := s.exec(context.Background(), "ROLLBACK"); err != nil {
					t.Errorf("the session cannot be used: %v", err)
				}
			}
			if n := clustertest.Query(t, b.uri, "SELECT count(*) FROM dst"); n != "0" {
				t.Errorf("%s rows stay", n)
			}
		})
	}
}

func TestInsertTerminated(t *testing.T) {
	for _, stop := range stops {
		t.Run(stop.name, func(t *testing.T) {
			b := newBlocked(t)
			clustertest.Exec(t, b.uri, stop.setup)
			w := newWorker(t, b.uri, b.uri, insertPlan(t, b.uri, stop.source, "dst", func(p *planner.Plan) {
				readsSlow(p)
				p.Batch.CopyThreshold = stop.threshold
			}))
			pid := w.dst.pid()
			if stop.source == "slow" {
				pid = w.src.pid()
			}
			done := make(chan error, 1)
			go func() {
				_, err := carryInsert(context.Background(), w, planner.Range{})
				done <- err
			}()
			b.waits(t)
			if _, err := b.holder.exec(context.Background(), fmt.Sprintf("SELECT pg_terminate_backend(%d)", pid)); err != nil {
				t.Fatal(err)
			}
			err := <-done
			var side *sideError
			if !errors.As(err, &side) || !hasState(err, "57P01") {
				t.Fatalf("got %v", err)
			}
			want := "target"
			if stop.source == "slow" {
				want = "source"
			}
			if side.side != want {
				t.Errorf("it says that the %s failed", side.side)
			}
		})
	}
}
