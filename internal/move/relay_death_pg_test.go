package move

import (
	"strings"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/cluster"
	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// A target that dies while the pace holds rows back is told as what it is, in one line.
func TestTargetDiesBetweenFrames(t *testing.T) {
	private := clustertest.Private(t, &cluster.Options{})
	source, target := clustertest.Database(t), private.URI("postgres")
	clustertest.Exec(t, source, "CREATE TABLE s (id int, pad text)", "INSERT INTO s SELECT g, repeat('x', 1000) FROM generate_series(1, 5000) g")
	clustertest.Exec(t, target, "CREATE TABLE s (id int, pad text)")
	q := onePair(source, target, "s", "s", planner.Wish{Method: planner.Relay})
	q.MaxRate = 200 << 10
	r := starts(t, q)
	until(t, "the copy runs", 30*time.Second, func() bool {
		return clustertest.Query(t, target, "SELECT count(*) FROM pg_stat_progress_copy WHERE tuples_processed > 0") == "1"
	})
	if err := private.Kill(); err != nil {
		t.Fatal(err)
	}
	err := r.ended(t, 30*time.Second)
	if err == nil {
		t.Fatal("the move succeeded")
	}
	text := spelled(err)
	if strings.Contains(text, "takes no more rows") || strings.Contains(text, "give back") || !strings.Contains(text, "went away") || !strings.Contains(text, "n the target") {
		t.Error(text)
	}
}
