package move

import (
	"context"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

func TestOpenTellsLockWait(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE src (i int)", "CREATE TABLE dst (i int)", "INSERT INTO src VALUES (1)")
	holder := lockedBy(t, uri, "LOCK TABLE public.dst IN ACCESS EXCLUSIVE MODE")
	var told []string
	q := Request{Source: uri, Tables: []TablePair{{Source: "src", Target: "dst"}}, OnWait: func(lock string) {
		if told = append(told, lock); lock != "" {
			holder()
		}
	}}
	moves(t, q)
	if len(told) == 0 || !strings.Contains(told[0], "waits for a lock held by process") {
		t.Errorf("told %q", told)
	}
	if n := clustertest.Query(t, uri, "SELECT count(*) FROM dst"); n != "1" {
		t.Errorf("%s rows", n)
	}
}

// lockedBy runs sql in a transaction that stays open until the function that it returns is called, once.
func lockedBy(t *testing.T, uri, sql string) (release func()) {
	t.Helper()
	s := newSession(t, uri)
	if _, err := s.exec(context.Background(), "BEGIN; "+sql); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := s.exec(context.Background(), "COMMIT"); err != nil {
			t.Error(err)
		}
	}
}

func TestVerifyIsRefusedWhereRowsAreAdded(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE src (i int)", "CREATE TABLE dst (i int)", "INSERT INTO src VALUES (1)")
	q := onePair(uri, "", "src", "dst", planner.Wish{Fill: planner.Append})
	q.Verify = VerifyHash
	moves(t, q) // The target is empty: there is nothing that the comparison could mistake.
	refused(t, q, "--verify cannot be used")
	if n := clustertest.Query(t, uri, "SELECT count(*) FROM dst"); n != "1" {
		t.Errorf("%s rows", n)
	}
}
