package move

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// nameLimit is the number of bytes of a name that the server keeps (NAMEDATALEN - 1).
const nameLimit = 63

// likeDefinition makes schema.name after a table of the same database, without pg_dump. Its indexes and constraints get names of their own.
// Foreign keys, triggers, rules, policies and privileges are left out, as LIKE leaves them out; a serial column takes its values from the
// source's sequence, an identity column from a new one.
func likeDefinition(source planner.Relation, schema, name string) *planner.Definition {
	if !dumpable(source) {
		return columnsDefinition(source, schema, name)
	}
	target := sqltext.QuoteQualified(schema, name)
	d := &planner.Definition{From: "LIKE", Schema: schema, Name: name, Before: []string{
		"CREATE TABLE " + target + " (LIKE " + sqltext.QuoteQualified(source.Schema, source.Name) + " INCLUDING ALL EXCLUDING INDEXES)"}}
	if source.Rebuild == nil {
		return d
	}
	taken := map[string]bool{}
	for _, x := range source.Rebuild.Indexes {
		own := ident(ownName(x.Name, source.Name, name, taken))
		if x.Constraint != "" && !x.Unique {
			d.Indexes = append(d.Indexes, "ALTER TABLE "+target+" ADD CONSTRAINT "+own+" "+x.Constraint) // EXCLUDE
		} else {
			unique := ""
			if x.Unique {
				unique = "UNIQUE "
			}
			d.Indexes = append(d.Indexes, "CREATE "+unique+"INDEX "+own+" ON "+target+" "+x.Method)
		}
		if x.Constraint != "" && x.Unique {
			kind, deferral := splitConstraint(x.Constraint)
			d.After = append(d.After, "ALTER TABLE "+target+" ADD CONSTRAINT "+own+" "+kind+" USING INDEX "+own+deferral)
		}
		if x.Comment != "" {
			d.After = append(d.After, "COMMENT ON INDEX "+sqltext.QuoteIdent(schema)+"."+own+" IS "+quoted(x.Comment))
		}
		if x.Clustered {
			d.After = append(d.After, "ALTER TABLE "+target+" CLUSTER ON "+own)
		}
		if x.ReplicaIdent {
			d.After = append(d.After, "ALTER TABLE "+target+" REPLICA IDENTITY USING INDEX "+own)
		}
	}
	return d
}

// dumpable reports whether the relation is a table as the user named it. One that a foreign table led to has other columns, or others names
// for them.
func dumpable(r planner.Relation) bool {
	return (r.Kind == planner.Table || r.Kind == planner.Partitioned) && len(r.Path) == 0
}

// columnsDefinition makes a plain table with the columns of a relation that is no table of its own: a view, a query, or a table behind a
// foreign one.
func columnsDefinition(source planner.Relation, schema, name string) *planner.Definition {
	var columns []string
	for _, c := range source.Columns {
		column := ident(c.Name) + " " + c.Type.SQL
		if c.NotNull {
			column += " NOT NULL"
		}
		columns = append(columns, column)
	}
	return &planner.Definition{From: "the source's columns", Schema: schema, Name: name,
		Before: []string{"CREATE TABLE " + sqltext.QuoteQualified(schema, name) + " (" + strings.Join(columns, ", ") + ")"}}
}

// splitConstraint cuts "UNIQUE DEFERRABLE" where USING INDEX goes.
func splitConstraint(constraint string) (kind, deferral string) {
	for _, k := range []string{"PRIMARY KEY", "UNIQUE"} {
		if rest, ok := strings.CutPrefix(constraint, k); ok {
			return k, rest
		}
	}
	return constraint, ""
}

// ownName is the name of a new table's index: that of the old one with the table's name in front exchanged or added. Indexes that are built
// side by side would be given equal names by the server.
func ownName(index, source, target string, taken map[string]bool) string {
	rest, ok := strings.CutPrefix(index, source+"_")
	if !ok {
		rest = index
	}
	name := target + "_" + rest
	for n := 0; len(name) > nameLimit || taken[name]; n++ {
		h := fnv.New32a()
		_, _ = fmt.Fprintf(h, "%s %s %d", target, index, n)
		suffix := fmt.Sprintf("_%08x", h.Sum32())
		name = cutBytes(target+"_"+rest, nameLimit-len(suffix)) + suffix
	}
	taken[name] = true
	return name
}

// cutBytes cuts a text to at most n bytes, between characters.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
