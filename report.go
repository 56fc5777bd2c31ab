package pghaul

import (
	"errors"
	"slices"
	"time"

	"github.com/pghaul/pghaul/internal/move"
	"github.com/pghaul/pghaul/planner"
)

// Report is what a copy did.
type Report struct {
	// Tables has one entry for each table, in the order of the call, those that patterns found last.
	Tables []TableReport

	// Duration is the whole time, from the first statement that could change something to the last commit.
	Duration time.Duration

	// Settled are sentences about what an earlier, killed copy left on the target, prepared transactions or hidden tables,
	// and what became of it now.
	Settled []string
}

// Rows is the number of rows that the targets took, over all tables.
func (r *Report) Rows() int64 {
	var n int64
	for i := range r.Tables {
		n += r.Tables[i].Rows
	}
	return n
}

// Bytes is the payload moved, over all tables, in bytes. Rows that never left the server count 0.
func (r *Report) Bytes() int64 {
	var n int64
	for i := range r.Tables {
		n += r.Tables[i].Bytes
	}
	return n
}

// failures joins the errors of all tables with that of the run, which is one of them or has to do with no single table.
func (r *Report) failures(run error) error {
	if r == nil || run == nil {
		return run
	}
	var all []error
	for i := range r.Tables {
		if err := r.Tables[i].Err; err != nil {
			all = append(all, err)
		}
	}
	if len(all) == 0 {
		return run
	}
	if !slices.ContainsFunc(all, func(err error) bool { return errors.Is(run, err) }) {
		all = append([]error{run}, all...)
	}
	if len(all) == 1 {
		return all[0]
	}
	return errors.Join(all...)
}

// TableReport is what became of one table.
type TableReport struct {
	// Plan is what was carried out; its Actual field holds what it took.
	Plan *planner.Plan

	// Rows is the number of rows written, by the target's own count.
	Rows int64

	// Bytes is the payload moved, in bytes.
	Bytes int64

	// Duration is the time that this table took.
	Duration time.Duration

	// Verified is the comparison that CopyOptions.Verify asked for, nil when there was none.
	Verified *Comparison

	// Damage is what CopyOptions.SkipDamaged has left out, nil for nothing.
	Damage *Damage

	// Kept says, when the table was not moved whole, what of it stands in the target. Empty otherwise.
	Kept string

	// Err is why the table was not moved; nil when it was.
	Err error
}

func newReport(done *move.Report) *Report {
	if done == nil {
		return nil
	}
	r := &Report{Duration: done.Duration, Settled: done.Settled, Tables: make([]TableReport, len(done.Tables))}
	for i, t := range done.Tables {
		r.Tables[i] = TableReport{
			Plan: t.Plan, Rows: t.Rows, Bytes: t.Bytes, Duration: t.Duration,
			Verified: newComparison(t.Verified), Damage: newDamage(t.Damage), Kept: t.Kept, Err: t.Err,
		}
	}
	return r
}
