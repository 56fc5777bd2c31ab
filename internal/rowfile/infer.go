package rowfile

import (
	"context"
	"fmt"
	"strconv"

	"github.com/pghaul/pghaul/planner"
)

// inferRows is how many rows Infer looks at by default.
const inferRows = 10_000

// Inferred is a column as the rows would have it. No column is NOT NULL: what the next row has is not known.
type Inferred struct {
	Name string
	// Type is one of boolean, smallint, integer, bigint, numeric, real, double precision, date, time, timestamp or timestamptz in their full names,
	// interval, uuid, jsonb, bytea, text; of Parquet also numeric with a precision, and arrays.
	Type string
}

// Infer finds the columns and their types from the first rows, 10 000 when rows is 0. A type is one that holds all of their values without changing
// them: "007" is text. A column without values is text. Names are those of the header as they stand, or column1, column2 and so on.
func (in *Input) Infer(ctx context.Context, rows int) ([]Inferred, error) {
	switch in.layout.Format {
	case Parquet:
		return in.inferParquet()
	case Binary:
		return nil, &planner.Error{
			Kind: planner.Refused, Message: "rows of COPY binary do not say what types their columns have",
			Hint: "Create the table first.",
		}
	}
	if rows <= 0 {
		rows = inferRows
	}
	parser := in.Parser()
	kinds := func(int) byte { return 0 }
	if p, ok := parser.(*ndjsonParser); ok {
		kinds = func(i int) byte { return p.kinds[i] }
	}
	var guesses []guess
	err := in.sampleRows(ctx, rows, parser, func(r *Row) {
		for len(guesses) < max(in.width, len(r.Fields)) {
			guesses = append(guesses, guess{})
		}
		for i, f := range r.Fields {
			if f != nil {
				guesses[i].see(f, kinds(i))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for len(guesses) < in.width { // No row was good.
		guesses = append(guesses, guess{})
	}
	columns := make([]Inferred, len(guesses))
	for i := range columns {
		columns[i] = Inferred{Name: "column" + strconv.Itoa(i+1), Type: guesses[i].pgType()}
		if in.names != nil && i < len(in.names) {
			columns[i].Name = in.names[i]
		}
	}
	if len(columns) == 0 {
		return nil, &planner.Error{Message: "there are no rows and no header to find columns in", Hint: "Create the table first."}
	}
	return columns, unique(columns)
}

// unique refuses names that one table cannot have: the server cuts names at 63 bytes.
func unique(columns []Inferred) error {
	const most = 63
	seen := map[string]string{}
	for _, c := range columns {
		cut := c.Name[:min(len(c.Name), most)]
		if other, twice := seen[cut]; twice {
			return &planner.Error{
				Message: fmt.Sprintf("columns %q and %q would have the same name", other, c.Name),
				Detail:  "Names of columns have 63 bytes at most.", Hint: "Create the table first, and say which field goes where with --columns.",
			}
		}
		seen[cut] = c.Name
	}
	return nil
}

// inferParquet takes the types from the schema of the first file that has one.
func (in *Input) inferParquet() ([]Inferred, error) {
	for _, p := range in.parquet {
		if p == nil {
			continue
		}
		open, err := p.use()
		if err != nil {
			return nil, err
		}
		defer p.release() //nolint:revive // the loop ends here
		columns := make([]Inferred, len(open.columns))
		for i, c := range open.columns {
			columns[i] = Inferred{Name: c.name, Type: c.kind.pgType}
			if c.list {
				columns[i].Type += "[]"
			}
		}
		return columns, unique(columns)
	}
	return nil, &planner.Error{Message: "no file has a Parquet schema: all are empty", Hint: "Create the table first."}
}

// guess is what type a column's values so far may have.
type guess struct {
	excluded uint16
	seen     bool
}

// guessed are the types in the order in which they are tried: each holds fewer values, or says more of them, than those behind it.
var guessed = []struct {
	pgType string
	holds  func([]byte) bool
	string bool // a JSON string may be of this type
}{
	{"boolean", isBoolean, false},
	{"integer", func(f []byte) bool { return isWhole(f, 32) }, false},
	{"bigint", func(f []byte) bool { return isWhole(f, 64) }, false},
	{"numeric", isNumeric, false},
	{"double precision", isDouble, false},
	{"date", isDate, true},
	{"timestamp without time zone", func(f []byte) bool { return isDate(f) || isTimestamp(f, false) }, true},
	{"timestamp with time zone", func(f []byte) bool { return isTimestamp(f, true) }, true},
	{"uuid", isUUID, true},
	{"jsonb", isDocument, false},
}

// see takes a value into account. kind is '"' for a JSON string, 0 for what is not of JSON.
func (g *guess) see(field []byte, kind byte) {
	g.seen = true
	for i := range guessed {
		if bit := uint16(1) << i; g.excluded&bit == 0 {
			if kind == '"' && !guessed[i].string || !guessed[i].holds(field) {
				g.excluded |= bit
			}
		}
	}
}

func (g *guess) pgType() string {
	for i := range guessed {
		if g.seen && g.excluded&(1<<i) == 0 {
			return guessed[i].pgType
		}
	}
	return "text"
}
