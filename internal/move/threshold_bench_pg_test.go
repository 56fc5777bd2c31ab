package move

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// BenchmarkInsertBatch moves 100 000 rows (int, text) in batches of each size, by INSERT, by COPY and by whichever auto prefers, in turn,
// and reports the rows per second of the best run of each. auto/best is how the time of auto compares to the better of the two.
func BenchmarkInsertBatch(b *testing.B) {
	const rows = 100_000
	uri := numbers(b, rows)
	clustertest.Exec(b, uri, "CREATE TABLE dst (i int, x text)", "VACUUM ANALYZE src")
	for _, unnest := range []bool{true, false} {
		for _, size := range []int{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000} {
			b.Run(fmt.Sprintf("unnest=%v/%d", unnest, size), func(b *testing.B) {
				best := map[int]time.Duration{}
				for b.Loop() {
					for _, threshold := range []int{planner.CopyNever, 1, planner.CopyAuto} {
						w := newWorker(b, uri, uri, insertPlan(b, uri, "src", "dst", func(p *planner.Plan) {
							p.Batch.Size, p.Batch.CopyThreshold, p.Batch.Unnest, p.Batch.UnnestFrom = size, threshold, unnest, 100
						}))
						if took := timed(b, w); best[threshold] == 0 || took < best[threshold] {
							best[threshold] = took
						}
						clustertest.Exec(b, uri, "TRUNCATE dst")
						w.src.close()
						w.dst.close()
					}
				}
				for threshold, name := range map[int]string{planner.CopyNever: "insert", 1: "copy", planner.CopyAuto: "auto"} {
					b.ReportMetric(rows/best[threshold].Seconds(), name+"-rows/s")
				}
				b.ReportMetric(best[planner.CopyAuto].Seconds()/min(best[planner.CopyNever], best[1]).Seconds(), "auto/best")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// timed moves the plan's one range and returns how long that took without the commit.
func timed(b *testing.B, w *worker) time.Duration {
	began := time.Now()
	if _, err := carryInsert(context.Background(), w, planner.Range{}); err != nil {
		b.Fatal(err)
	}
	took := time.Since(began)
	if _, err := w.dst.exec(context.Background(), "COMMIT"); err != nil {
		b.Fatal(err)
	}
	return took
}
