package move

import (
	"context"
	"fmt"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// BenchmarkRelay copies a million narrow rows inside one database and reports rows and bytes per second, beside INSERT ... SELECT and
// CREATE TABLE AS of the same rows.
func BenchmarkRelay(b *testing.B) {
	const rows = 1_000_000
	uri := clustertest.Database(b)
	clustertest.Exec(b, uri, "CREATE TABLE src (i bigint, d date, j int, t varchar(10))", fmt.Sprintf(
		"INSERT INTO src SELECT i, '2024-02-15', i / 10, md5(i::text)::varchar(10) FROM generate_series(1, %d) i", rows), "VACUUM ANALYZE src")
	for _, format := range []planner.Format{planner.Binary, planner.Text} {
		b.Run(string(format), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				clustertest.Exec(b, uri, "DROP TABLE IF EXISTS dst", "CREATE TABLE dst (LIKE src)")
				b.StartTimer()
				report, err := attempt(context.Background(), Request{
					Source: uri, Tables: []TablePair{{Source: "src", Target: "dst"}}, Wish: planner.Wish{Method: planner.Relay, Format: format, Connections: 1},
				})
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(report.Tables[0].Bytes)
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
	for name, sql := range map[string]string{"insert-select": "INSERT INTO dst SELECT * FROM src", "create-as": "DROP TABLE dst; CREATE TABLE dst AS SELECT * FROM src"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				clustertest.Exec(b, uri, "DROP TABLE IF EXISTS dst", "CREATE TABLE dst (LIKE src)")
				b.StartTimer()
				clustertest.Exec(b, uri, sql)
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
