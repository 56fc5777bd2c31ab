package pghaul

import (
	"log/slog"
	"time"

	"github.com/pghaul/pghaul/internal/move"
	"github.com/pghaul/pghaul/planner"
)

// LoadOptions says how to load. The zero value and nil mean all defaults: one transaction, into an empty table, up to the first row that is
// refused.
type LoadOptions struct {
	// Input says how the files are written. Defaults to what they show. It means nothing for rows that a program hands over.
	Input Input

	// Columns are the target's columns that the fields go to, in the fields' order, exact and without quotes; an empty name drops the field.
	// Defaults to the columns that the header names, or where there is none to the target's columns in their order.
	Columns []string

	// Set gives columns the values of SQL expressions over the fields. The rows go through a staging table then. Expressions are sent as they
	// are, so they must come from someone who may run SQL on the target. Defaults to none.
	Set []planner.SetColumn

	// Method is planner.Auto, planner.Relay (rows are parsed here and sent by COPY), planner.Merge, planner.Insert or planner.Pages. Defaults
	// to planner.Auto, which never chooses planner.Pages.
	Method planner.Method

	// Format is the form in which rows are sent. Defaults to binary where each column has an exact encoder, else text.
	Format planner.Format

	// Connections is how many connections write at the same time. Defaults to 1, which keeps the rows in their order.
	Connections int

	// Ordered keeps the rows of several compressed files, which are read side by side otherwise, in the order of the files. Defaults to false.
	Ordered bool

	// Fill says what may be in the target before, as CopyOptions.Fill does. Defaults to planner.RequireEmpty.
	Fill planner.Fill

	// Create makes a missing target with column types inferred from the rows; the plan shows them. Defaults to false.
	Create bool

	// Freeze is as CopyOptions.Freeze. Defaults to planner.Decide.
	Freeze planner.Tristate

	// OnError is planner.StopOnError or planner.SetRowsAside, which loads all rows but the refused ones. Defaults to the first: a refused row
	// ends the load with nothing kept.
	OnError planner.OnError

	// MaxErrors is how many refused rows are borne: one more ends the load, and nothing is kept. Defaults to no limit.
	MaxErrors *int64

	// MaxPercent is the same in per cent of the rows read, looked at from the thousandth row on and at the end. Defaults to no limit.
	MaxPercent float64

	// Reject and Reasons are files that refused rows go to: as they stand in the input, and as NDJSON with file, line, byte offset, column,
	// SQLSTATE and message. They are made when the first row is refused. Defaults to none.
	Reject, Reasons string

	// OnDuplicate says what happens to a row whose key is there already. Defaults to an error, as OnError says.
	OnDuplicate planner.OnDuplicate

	// ConflictColumns are the columns of the unique key that OnDuplicate speaks of, exact and without quotes. Defaults to the primary key.
	ConflictColumns []string

	// CommitEvery commits whenever so many rows have been read, with a record in the schema pghaul of the target, so that the same call goes
	// on where an interrupted one stopped. Defaults to one commit at the end.
	CommitEvery int64

	// DeferIndexes builds the indexes anew behind the rows of a table that has some. Defaults to false.
	DeferIndexes bool

	// Analyze runs ANALYZE when the rows are in. Defaults to planner.Decide: for a table that is made or replaced, while any other is left to
	// autovacuum as after COPY.
	Analyze planner.Tristate

	// Triggers at planner.No keeps triggers and foreign keys from firing, which takes a superuser. Defaults to firing them.
	Triggers planner.Tristate

	// NotLogged and AcceptMissing are as in CopyOptions, for planner.Pages.
	NotLogged, AcceptMissing bool

	// MaxRate limits the bytes of the input that are read per second. Defaults to no limit.
	MaxRate int64

	// StallTimeout ends the load when it makes no progress for so long, as in CopyOptions. Defaults to 5 minutes.
	StallTimeout time.Duration

	// OnProgress is called with the progress, as in CopyOptions. Defaults to none.
	OnProgress func(Progress)

	// ProgressInterval is the time between two calls of OnProgress. Defaults to 200 milliseconds.
	ProgressInterval time.Duration

	// Logger takes what happens on the way. Defaults to silence.
	Logger *slog.Logger
}

func (o *LoadOptions) wish() planner.LoadWish {
	w := planner.LoadWish{
		Method: o.Method, Format: o.Format, Connections: o.Connections, Ordered: o.Ordered, Fill: o.Fill, Create: o.Create, Freeze: o.Freeze,
		Columns: o.Columns, Set: o.Set, OnError: o.OnError, MaxErrors: -1, MaxPercent: o.MaxPercent,
		OnDuplicate: o.OnDuplicate, ConflictColumns: o.ConflictColumns, CommitEvery: o.CommitEvery, DeferIndexes: o.DeferIndexes,
		Analyze: o.Analyze, Triggers: o.Triggers, NotLogged: o.NotLogged, AcceptMissing: o.AcceptMissing,
	}
	if o.MaxErrors != nil {
		w.MaxErrors = *o.MaxErrors
	}
	return w
}

// request checks the options and turns them into what the engine takes, but for the rows.
func (o *LoadOptions) request(target, into string, c *complaints) move.LoadRequest {
	c.name(into)
	c.negative("the rate limit", o.MaxRate)
	c.negative("the stall timeout", int64(o.StallTimeout))
	c.negative("the progress interval", int64(o.ProgressInterval))
	c.negative("the number of rows of a commit", o.CommitEvery)
	return move.LoadRequest{
		Target: target, Into: into, Wish: o.wish(), Reject: move.RejectFiles{Rows: o.Reject, Reasons: o.Reasons},
		StallTimeout: o.StallTimeout, MaxRate: o.MaxRate, Logger: o.Logger,
	}
}
