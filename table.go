package pghaul

import (
	"github.com/pghaul/pghaul/internal/move"
	"github.com/pghaul/pghaul/internal/sqltext"
)

// Table names a table to copy or compare, and the one it goes to or is compared with.
//
// Names are written as in SQL: orders, sales.orders, "My Schema"."Odd.Name". Parts without double quotes are folded to lower
// case. A name without a schema is looked up along the connected role's own search_path.
type Table struct {
	// Source is the table that is read. It may also be a view, a materialized view, a partitioned table or a foreign table.
	Source string

	// Target is the table that is written. Defaults to the schema and name of the source.
	Target string
}

// Tables makes a list from texts of the form TABLE or TABLE:TARGET, as the command line takes them. A colon inside double
// quotes belongs to the name. A text that cannot be read is reported by the call that the list is given to, together with
// all else that is wrong with its arguments.
func Tables(names ...string) []Table {
	tables := make([]Table, len(names))
	for i, name := range names {
		source, target, err := sqltext.SplitPair(name)
		if err != nil {
			// Kept as typed, for validation to say what is wrong with it.
			source, target = name, ""
		}
		tables[i] = Table{Source: source, Target: target}
	}
	return tables
}

// pairs checks the names of tables and hands them on.
func pairs(tables []Table, c *complaints) []move.TablePair {
	out := make([]move.TablePair, len(tables))
	for i, t := range tables {
		c.name(t.Source)
		if t.Target != "" {
			c.name(t.Target)
		}
		out[i] = move.TablePair{Source: t.Source, Target: t.Target}
	}
	return out
}
