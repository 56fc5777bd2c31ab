package pghaul

import (
	"context"
	"log/slog"
	"time"

	"github.com/pghaul/pghaul/internal/move"
)

// VerifyLevel is how closely a source and a target are compared.
type VerifyLevel string

// The levels.
const (
	// NoVerify compares nothing.
	NoVerify VerifyLevel = ""

	// VerifyCount compares the number of rows of every range.
	VerifyCount VerifyLevel = "count"

	// VerifyHash compares the number and the contents of the rows of every range, by a hash that does not depend on their
	// order and is the same on all supported versions of PostgreSQL. A doubled row is noticed.
	VerifyHash VerifyLevel = "hash"
)

// VerifyOptions says how to compare. The zero value and nil mean all defaults.
type VerifyOptions struct {
	// Patterns are psql patterns of source tables, added to the tables of the call; each is compared with the table of the
	// same schema and name. Defaults to none.
	Patterns []string

	// Level is how closely to compare. Defaults to VerifyHash.
	Level VerifyLevel

	// Connections is how many connections read each server at the same time. Defaults to a number chosen from the processors.
	Connections int

	// Where is a condition in SQL that both sides are restricted to. Defaults to all rows.
	Where string

	// Columns are the names of the columns to compare, exact and without quotes. Defaults to all of the source but those that the target generates.
	Columns []string

	// Logger takes what happens on the way. Defaults to silence.
	Logger *slog.Logger
}

// Comparison is the outcome of comparing one table's source and target.
type Comparison struct {
	// Level is how closely they were compared.
	Level VerifyLevel `json:"level"`

	// Source and Target are the quoted, qualified names.
	Source string `json:"source"`
	Target string `json:"target"`

	// SourceRows and TargetRows are the numbers of rows found.
	SourceRows int64 `json:"source_rows"`
	TargetRows int64 `json:"target_rows"`

	// Ranges is in how many parts the tables were compared.
	Ranges int `json:"ranges"`

	// Different are the parts that are not the same. Empty when the tables are equal.
	Different []Difference `json:"different,omitempty"`

	// Notes are remarks, for instance on columns that were compared as text because their types differ.
	Notes []string `json:"notes,omitempty"`

	// Duration is the time that it took.
	Duration time.Duration `json:"-"`
}

// Equal tells whether no difference was found.
func (c *Comparison) Equal() bool {
	return len(c.Different) == 0 && c.SourceRows == c.TargetRows
}

// Difference is one range that is not the same on both sides.
type Difference struct {
	// Range says which rows, for instance "id >= 1000 AND id < 2000".
	Range string `json:"range"`

	// SourceRows and TargetRows are the numbers of rows of this range.
	SourceRows int64 `json:"source_rows"`
	TargetRows int64 `json:"target_rows"`

	// Keys name up to five rows that differ and how, for instance "id=1001: missing in the target". Empty where the tables
	// have no key to name rows by.
	Keys []string `json:"keys,omitempty"`
}

// Verify compares tables of two servers, range by range and in parallel, each server in one snapshot. An empty source means
// what the PG* environment says, an empty target the source. Tables that differ are no error: each Comparison tells whether
// it found its tables equal. Nothing is written on either server.
func Verify(ctx context.Context, source, target string, tables []Table, opts *VerifyOptions) ([]*Comparison, error) {
	if opts == nil {
		opts = &VerifyOptions{}
	}
	var c complaints
	c.selection(tables, opts.Patterns, "", "")
	named := pairs(tables, &c)
	c.level(opts.Level)
	c.negative("the number of connections", int64(opts.Connections))
	if err := c.err(); err != nil {
		return nil, err
	}
	level := opts.Level
	if level == NoVerify {
		level = VerifyHash
	}
	found, err := move.Verify(ctx, move.VerifyRequest{
		Source: source, Target: target,
		Tables: named, Patterns: opts.Patterns,
		Level: move.VerifyLevel(level), Connections: opts.Connections,
		Where: opts.Where, Columns: opts.Columns,
		Logger: opts.Logger,
	})
	comparisons := make([]*Comparison, len(found))
	for i := range found {
		comparisons[i] = newComparison(found[i])
	}
	return comparisons, err
}

func newComparison(found *move.Comparison) *Comparison {
	if found == nil {
		return nil
	}
	c := &Comparison{
		Level: VerifyLevel(found.Level), Source: found.Source, Target: found.Target,
		SourceRows: found.SourceRows, TargetRows: found.TargetRows,
		Ranges: found.Ranges, Notes: found.Notes, Duration: found.Duration,
	}
	for _, d := range found.Different {
		c.Different = append(c.Different, Difference(d))
	}
	return c
}
