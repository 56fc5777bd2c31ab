package pghaul

import (
	"log/slog"
	"time"

	"github.com/pghaul/pghaul/internal/move"
	"github.com/pghaul/pghaul/planner"
)

// CopyOptions says how to copy. The zero value and nil mean all defaults: the fastest safe method, into empty targets, each
// table all or nothing.
type CopyOptions struct {
	// Patterns are psql patterns of table names, such as sales.* or public.order?, added to the tables of the call. Each
	// table found goes to the same schema and name in the target. A pattern that matches nothing is an error. Defaults to none.
	Patterns []string

	// Query is a SELECT, VALUES or TABLE statement on the source whose rows are copied into the table Into. Names
	// without a schema are looked up along the role's own search_path. It excludes tables and patterns.
	// Defaults to none.
	Query string

	// Into is the target of Query, a table name written as Table.Target is. It is required with Query and an error without.
	Into string

	// Method is the way to move rows. A method that cannot be used on the tables is an error of kind planner.Refused.
	// Defaults to planner.Auto, the method that is estimated to take the least time of those that are safe here.
	Method planner.Method

	// Format is the form of the rows on the wire. planner.Binary is faster and is refused where a column's binary form is not
	// provably the same on both sides. Defaults to planner.AnyFormat: binary where it is exact for every column, else text.
	Format planner.Format

	// Connections is how many pairs of connections may work on one table at the same time. More than one needs two-phase
	// commit or a new table to keep the copy all or nothing; the plan says which. Defaults to a number chosen from the
	// processors, the size of the table and the connections that the servers have left.
	Connections int

	// Fill says what may be in the target before. planner.Append adds rows, planner.Truncate removes the old rows in the same
	// transaction, planner.Replace fills a new table beside the old one and swaps the two. Defaults to planner.RequireEmpty,
	// which makes a target that holds rows an error.
	Fill planner.Fill

	// Create makes a missing target with the definition, indexes and constraints of its source: by LIKE inside one database,
	// by pg_dump between databases; from a data directory with the columns, types and NOT NULL alone. Defaults to false: a missing
	// target is an error.
	Create bool

	// Commit says what is committed together. planner.CommitRange commits each range together with a record of it in the
	// schema pghaul of the target, so that the same call goes on where an interrupted one stopped. Defaults to
	// planner.CommitAll: the whole table or nothing.
	Commit planner.Commit

	// Freeze asks for rows that are frozen on arrival (COPY ... FREEZE), which saves a later VACUUM from rewriting them.
	// planner.Yes is refused where the server would refuse it. Defaults to planner.Decide: frozen wherever the table is
	// created or truncated in the same transaction.
	Freeze planner.Tristate

	// NotLogged is for planner.Pages: the pages reach the target's files and no WAL, which is faster. It is refused where standbys, slots, an
	// archive or a running base backup would miss the rows. Defaults to false: they are logged.
	NotLogged bool

	// AcceptMissing lets NotLogged leave standbys and archives without the rows. Defaults to false.
	AcceptMissing bool

	// Where is a condition in SQL over the source's columns; only rows for which it is true are copied. It is sent as it is, so
	// it must come from someone who may run SQL on the source. Names are looked up as in Query. Defaults to all rows.
	Where string

	// Columns are the names of the columns to copy, exact and without quotes; the others get their defaults. Defaults to all
	// columns of the source but those that the target generates.
	Columns []string

	// BatchSize is the number of rows of one INSERT of method planner.Insert. Defaults to 1000.
	BatchSize int

	// CopyThreshold is the number of rows from which on batches of method planner.Insert go by COPY instead of INSERT.
	// planner.CopyNever never uses COPY. Defaults to planner.CopyAuto, which measures both on the first batches and keeps the
	// faster one.
	CopyThreshold int

	// Returning is a list of columns or expressions for the RETURNING clause of method planner.Insert, for targets whose
	// triggers or rules need it. The values are received and dropped. It keeps COPY from being used. Defaults to none.
	Returning string

	// OnConflict says what happens to a row whose key the target already has: planner.DoNothing drops it, planner.DoUpdate
	// replaces the values of the old one. It chooses method planner.Merge, unless Method is planner.Insert, and makes
	// planner.Append the default of Fill. Defaults to an error that ends the copy.
	OnConflict planner.OnConflict

	// ConflictColumns are the columns of the unique key that OnConflict speaks of, exact and without quotes. Defaults to the
	// primary key.
	ConflictColumns []string

	// RangeBytes is the wanted size of one range in bytes of heap and TOAST together. Small ranges spread better over
	// connections and lose less of an interrupted copy with planner.CommitRange. Defaults to a size chosen from that of the
	// table and the number of connections.
	RangeBytes int64

	// MaxRate limits the bytes per second that are read from the source, over all connections together. Defaults to no limit.
	MaxRate int64

	// StallTimeout ends the copy with an error when it makes no progress for so long. Waiting for a lock does not count, it
	// is reported by OnProgress instead. Defaults to 5 minutes.
	StallTimeout time.Duration

	// Verify compares source and target when the rows have arrived: by count, or by count and hash of every row. A
	// difference is an error; where possible the comparison is made before the commit, and then nothing is kept. Defaults to
	// NoVerify.
	Verify VerifyLevel

	// SkipDamaged leaves out the blocks and rows of a data directory that cannot be read; TableReport.Damage counts them. It is an
	// error for a source that is a server. Defaults to false: the first damage ends the copy, and nothing is kept.
	SkipDamaged bool

	// PgDump is the path of the pg_dump program that Create uses between databases; it must be at least as new as the source
	// server. Defaults to the one in PATH, or a newer one in the usual places.
	PgDump string

	// OnProgress, when set, is called every ProgressInterval and once more at the end, always from one goroutine, neither
	// before the arguments are found good nor after Copy has returned. A slow function delays the next call but not the copy.
	OnProgress func(Progress)

	// ProgressInterval is the time between two calls of OnProgress. Defaults to 200 milliseconds.
	ProgressInterval time.Duration

	// Logger takes what happens on the way: connections, statements, retries. Defaults to silence.
	Logger *slog.Logger
}

// progress is where progress is told, and how often.
func (o *CopyOptions) progress() (func(Progress), time.Duration) {
	if o == nil {
		return nil, 0
	}
	return o.OnProgress, o.ProgressInterval
}

// request checks the options and turns them into what the engine takes.
func (o *CopyOptions) request(source, target string, tables []Table) (move.Request, error) {
	if o == nil {
		o = &CopyOptions{}
	}
	var c complaints
	c.selection(tables, o.Patterns, o.Query, o.Into)
	named := pairs(tables, &c)
	c.level(o.Verify)
	c.negative("the rate limit", o.MaxRate)
	c.negative("the stall timeout", int64(o.StallTimeout))
	c.negative("the progress interval", int64(o.ProgressInterval))
	return move.Request{
		Source: source, Target: target,
		Tables: named, Patterns: o.Patterns,
		Query: o.Query, QueryInto: o.Into,
		Wish:         o.wish(),
		StallTimeout: o.StallTimeout,
		MaxRate:      o.MaxRate,
		Verify:       move.VerifyLevel(o.Verify),
		SkipDamaged:  o.SkipDamaged,
		PgDump:       o.PgDump,
		Logger:       o.Logger,
	}, c.err()
}

func (o *CopyOptions) wish() planner.Wish {
	return planner.Wish{
		Method: o.Method, Format: o.Format, Connections: o.Connections,
		Fill: o.Fill, Create: o.Create, Commit: o.Commit, Freeze: o.Freeze,
		Where: o.Where, Columns: o.Columns,
		BatchSize: o.BatchSize, CopyThreshold: o.CopyThreshold, Returning: o.Returning,
		OnConflict: o.OnConflict, ConflictColumns: o.ConflictColumns,
		RangeBytes: o.RangeBytes, NotLogged: o.NotLogged, AcceptMissing: o.AcceptMissing,
	}
}
