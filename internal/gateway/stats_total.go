package gateway

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// total is a number about the whole gateway.
type total struct {
	name  string
	value int64
}

// totals are the numbers of SHOW STATS and the head of the status page.
func (g *Gateway) totals() []total {
	t, s := g.Traffic(), g.Stats()
	var replayed, units int64
	for i := range s.Tables {
		replayed += s.Tables[i].Replayed
		units += s.Tables[i].UnitsTotal()
	}
	return []total{
		{"uptime_seconds", int64(time.Since(s.Started).Seconds())},
		{"connections_accepted", t.Accepted}, {"connections_refused", t.Refused}, {"connections_open", t.Open},
		{"sessions", t.Sessions}, {"sessions_lost", t.Lost}, {"cancel_requests", t.Cancels},
		{"bytes_from_clients", s.Total.Received}, {"bytes_to_clients", s.Total.Sent},
		{"inserts", s.Total.Inserts}, {"inserts_taken", s.Total.Taken}, {"inserts_passed", s.Total.Inserts - s.Total.Taken},
		{"rows_taken", s.Total.Rows}, {"statements_sent", units}, {"inserts_replayed", replayed},
	}
}

// UnitsTotal is the number of statements that went to the server in place of INSERTs.
func (t *TableView) UnitsTotal() int64 {
	var n int64
	for _, f := range t.Forms {
		n += f.Units
	}
	return n
}

// Reasons lists why INSERTs went as they came, the most frequent first: "RETURNING 12, ON CONFLICT 3".
func (t *TableView) Reasons() string {
	reasons := slices.Sorted(maps.Keys(t.Passed))
	slices.SortStableFunc(reasons, func(a, b string) int { return int(t.Passed[b] - t.Passed[a]) })
	parts := make([]string, len(reasons))
	for i, r := range reasons {
		parts[i] = fmt.Sprintf("%s %d", r, t.Passed[r])
	}
	return strings.Join(parts, ", ")
}
