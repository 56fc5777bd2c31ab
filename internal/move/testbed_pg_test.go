package move

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// attemptLimit bounds one move of a test. None takes a tenth of it, unless it hangs.
const attemptLimit = 2 * time.Minute

// attempt plans and runs a move as the root package does.
func attempt(ctx context.Context, q Request) (*Report, error) {
	m, err := Open(ctx, q)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	return m.Run(ctx)
}

// moves runs a move that must succeed.
func moves(t *testing.T, q Request) *Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), attemptLimit)
	defer cancel()
	report, err := attempt(ctx, q)
	if err != nil {
		t.Fatalf("move: %s", spelled(err))
	}
	return report
}

// refused runs a move that must fail, before or after its start, with all the given words in its message, detail and hint.
func refused(t *testing.T, q Request, words ...string) *Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), attemptLimit)
	defer cancel()
	report, err := attempt(ctx, q)
	if err == nil {
		t.Fatal("the move succeeded")
	}
	for _, w := range words {
		if !strings.Contains(spelled(err), w) {
			t.Errorf("%q is not in: %s", w, spelled(err))
		}
	}
	return report
}

// spelled is an error with the parts that a user sees.
func spelled(err error) string {
	var e *planner.Error
	if errors.As(err, &e) {
		return fmt.Sprintf("%v\nMESSAGE: %s\nDETAIL: %s\nHINT: %s", err, e.Message, e.Detail, e.Hint)
	}
	return fmt.Sprint(err)
}

// contents is a digest that the server makes of a query's rows as text, in no order: the judge that owes nothing to this package.
func contents(t testing.TB, uri, query string) string {
	t.Helper()
	return clustertest.Query(t, uri, `SELECT count(*), md5(string_agg(r, E'\n' ORDER BY r COLLATE "C")) FROM (SELECT q::text AS r FROM (`+
		query+`) AS q) AS rows`)
}

// sameContents compares two queries, on one server or two.
func sameContents(t *testing.T, uriA, queryA, uriB, queryB string) {
	t.Helper()
	if a, b := contents(t, uriA, queryA), contents(t, uriB, queryB); a != b {
		t.Errorf("%s has %s, but %s has %s", queryA, a, queryB, b)
	}
}

// leftovers lists what a run must not leave in a database once it is over: prepared transactions, hidden tables, sessions.
func leftovers(t testing.TB, uri string) string {
	t.Helper()
	return clustertest.Query(t, uri, `SELECT 'prepared ' || gid FROM pg_prepared_xacts WHERE database = current_database()
		UNION ALL SELECT 'table ' || oid::regclass FROM pg_class WHERE relkind = 'r' AND relname ~ '^pghaul_[0-9a-f]{16}$'`)
}

// clean fails the test when a database holds leftovers.
func clean(t *testing.T, uri string) {
	t.Helper()
	if left := leftovers(t, uri); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

// sessionsOf lists the other client sessions of a database, as pg_stat_activity shows them.
func sessionsOf(t testing.TB, uri string) string {
	t.Helper()
	return clustertest.Query(t, uri, `SELECT pid, state, left(query, 60) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`)
}

// until waits for something that another process brings about.
func until(t testing.TB, what string, limit time.Duration, done func() bool) {
	t.Helper()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("%s: not within %s", what, limit)
		}
	}
}

// sessionsGone waits for the end of all sessions of a database: closed connections take their server process a moment.
func sessionsGone(t testing.TB, uri string) {
	t.Helper()
	until(t, "the sessions of the move end", 5*time.Second, func() bool { return sessionsOf(t, uri) == "" })
}

// running is a move that goes on in the background.
type running struct {
	move   *Move
	cancel context.CancelFunc
	done   chan struct{}
	report *Report
	err    error
}

// opens plans a move, which must succeed.
func opens(t *testing.T, q Request) *Move {
	t.Helper()
	m, err := Open(t.Context(), q)
	if err != nil {
		t.Fatalf("open: %s", spelled(err))
	}
	return m
}

// starts begins a move whose planning must succeed.
func starts(t *testing.T, q Request) *running {
	t.Helper()
	return begins(t, opens(t, q))
}

// begins runs a planned move in the background.
func begins(t *testing.T, m *Move) *running {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), attemptLimit)
	r := &running{move: m, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		defer m.Close()
		r.report, r.err = m.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-r.done })
	return r
}

// ended waits for the end of the move and returns its error.
func (r *running) ended(t *testing.T, limit time.Duration) error {
	t.Helper()
	select {
	case <-r.done:
		return r.err
	case <-time.After(limit):
		t.Fatalf("the move still runs after %s", limit)
		return nil
	}
}

// onePair is a request for one table.
func onePair(source, target, from, to string, wish planner.Wish) Request {
	return Request{Source: source, Target: target, Tables: []TablePair{{Source: from, Target: to}}, Wish: wish}
}
