package move

import (
	"time"

	"github.com/pghaul/pghaul/planner"
)

// Report is what a move did.
type Report struct {
	Tables   []TableReport
	Duration time.Duration
	// Settled are prepared transactions that an earlier, killed run left and that this one committed or rolled back, as sentences.
	Settled []string
}

// Rows returns the rows of all tables.
func (r *Report) Rows() int64 {
	var n int64
	for i := range r.Tables {
		n += r.Tables[i].Rows
	}
	return n
}

// TableReport is what became of one table.
type TableReport struct {
	Plan     *planner.Plan // with Actual filled
	Rows     int64         // rows written, by the target's own count
	Bytes    int64         // payload moved
	Duration time.Duration
	Verified *Comparison // nil when not asked for
	Damage   *Damage     // what Request.SkipDamaged has left out; nil for nothing
	Load     *LoadReport // of a load; nil for a copy
	// Kept says what of an unsuccessful move stands in the target, as a sentence.
	Kept string
	// Err is why this table was not moved; nil when it was.
	Err error
}

// Progress is a look at a running move.
type Progress struct {
	Table    string // the table worked on, or "3 tables"
	Rows     int64  // so far
	Bytes    int64
	Total    int64  // expected bytes, 0 when unknown
	TotalRow int64  // expected rows, -1 when unknown
	Stage    string // "rows", "merge", "logging", "indexes", "verify", "commit"
	// Waiting is set while a server waits for a lock, for instance "target waits for a lock held by process 123 (psql)".
	Waiting string
}
