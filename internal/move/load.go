package move

import (
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/pghaul/pghaul/internal/encode"
	"github.com/pghaul/pghaul/internal/rowfile"
	"github.com/pghaul/pghaul/planner"
)

// load is rows that no server holds as the source of a move.
type load struct {
	rows     rowfile.Rows
	files    []rowfile.File
	wish     planner.LoadWish
	reject   RejectFiles
	plan     *planner.LoadPlan
	target   string // quoted and qualified
	relation string // as the server's messages call it
	settings encode.Settings
	from     []rowfile.Position   // of each file, where this run begins
	whole    []bool               // files that an earlier run has read to their ends
	feed     atomic.Pointer[feed] // of the running move
	stage    *stage
	at       *site         // the target
	heard    func(Refusal) // hears of refused rows; may be nil
	refusals *refusals
	pages    *rowPages    // of method pages, once its rows are written
	read     atomic.Int64 // rows read, refused ones included
	// duplicates are rows that were dropped because of their key.
	duplicates atomic.Int64
	// before is what an interrupted run has done.
	before   planner.RecordedLoad
	recorded loadState
	// finished: a record says that these files were loaded to their ends.
	finished bool
}

// RejectFiles names the files that refused rows go to. An empty name writes none.
type RejectFiles struct {
	Rows    string // the rows as they stand in the input
	Reasons string // why, as NDJSON
}

// Refusal is a row that was not loaded, and why.
type Refusal struct {
	// Place says where the row stands, such as "line 17 of orders.csv".
	Place string
	// Row is the row as it stands in the input; of a program's rows its values as COPY text.
	Row []byte
	// Column is the name of the column at fault, empty when none in particular is. State is the SQLSTATE.
	Column, State, Message, Detail string
}

// LoadReport is what a load did besides what a TableReport tells.
type LoadReport struct {
	// Read is the number of rows of the input, Refused that of those set aside, Duplicates of those dropped because of their keys.
	Read, Refused, Duplicates int64
	// Reasons count the refused rows by SQLSTATE and what the server says to it, the most frequent first.
	Reasons []RefusalCount
	// Earlier are the rows that an interrupted run of the same load had loaded before.
	Earlier int64
	// Reject and ReasonsFile are the files that were written, empty for none.
	Reject, ReasonsFile string
	// Finished: the same files were loaded before, and nothing was done.
	Finished bool
}

// RefusalCount is how often rows were refused for one reason.
type RefusalCount struct {
	State   string // SQLSTATE
	Message string // of the first one
	Rows    int64
}

// setAside reports whether refused rows are put aside rather than ending the load.
func (l *load) setAside() bool { return l.wish.OnError == planner.SetRowsAside }

// encoders makes the encoders of the columns. One is for one goroutine.
func (l *load) encoders() []encode.Encoder {
	all := make([]encode.Encoder, len(l.plan.Columns))
	for i := range l.plan.Columns {
		if t := encodedType(&l.plan.Columns[i].Type); t != nil {
			all[i] = encode.For(t, l.settings)
		}
	}
	return all
}

// name is how messages call the input.
func (l *load) name() string {
	if len(l.files) == 1 {
		return l.files[0].Name
	}
	return strconv.Itoa(len(l.files)) + " files"
}

// begin is the start of a transaction that writes rows.
func (l *load) begin(sql string) string {
	return strings.Join(append([]string{sql}, l.plan.Begin...), "; ")
}

// report tells what came of the load so far.
func (l *load) report() *LoadReport {
	r := &LoadReport{Read: l.read.Load(), Duplicates: l.duplicates.Load(), Earlier: l.before.Rows, Finished: l.finished}
	if l.refusals != nil {
		r.Refused, r.Reasons = l.refusals.count, l.refusals.reasons()
		r.Reject, r.ReasonsFile = l.refusals.written()
	}
	return r
}
