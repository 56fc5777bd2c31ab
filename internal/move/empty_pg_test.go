package move

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// A run that was killed in its COMMIT has rows on the way that nobody can see: here a transaction plays its part.
func TestFillWaitsForCommitOnTheWay(t *testing.T) {
	for _, method := range []planner.Method{planner.Relay, planner.InsertSelect} {
		t.Run(string(method), func(t *testing.T) {
			uri := clustertest.Database(t)
			clustertest.Exec(t, uri, "CREATE TABLE src (i int)", "CREATE TABLE dst (i int)", "INSERT INTO src VALUES (1)")
			m, err := Open(context.Background(), onePair(uri, "", "src", "dst", planner.Wish{Method: method}))
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			commit := lockedBy(t, uri, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d); INSERT INTO public.dst VALUES (1)",
				fillLock(m.tables[0].facts.Target.OID)))
			ended := make(chan error)
			go func() {
				_, err := m.Run(context.Background())
				ended <- err
			}()
			until(t, "the run waits", attemptLimit, func() bool { return m.Progress().Waiting != "" })
			commit()
			if err := <-ended; err == nil || !strings.Contains(err.Error(), "is not empty") {
				t.Errorf("got %v", err)
			}
			if n := clustertest.Query(t, uri, "SELECT count(*) FROM dst"); n != "1" {
				t.Errorf("%s rows", n)
			}
		})
	}
}
