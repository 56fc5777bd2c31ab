package move

import (
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// sortDump puts one table's statements of both sections where they belong. The first of tables is the one that was asked for; when it is itself a
// partition, its parent and the parent's indexes are not made with it.
func sortDump(d *planner.Definition, tables []dumpedTable, before, after []dumpStatement) {
	for _, s := range before {
		if s.kind == "TABLE ATTACH" && tables[0].partition && attached(s.sql) == tables[0].tableKey {
			continue
		}
		d.Before = append(d.Before, s.sql)
	}
	made, foreign := map[string]bool{}, map[string]bool{}
	var constraints, rest []string
	for _, s := range after {
		switch {
		case s.kind == "INDEX" && s.first:
			made[s.name] = true
			d.Indexes = append(d.Indexes, s.sql)
		case s.kind == "CONSTRAINT" && s.first:
			made[constraintName(s.sql)] = true
			index, constraint := constraintIndex(s.sql, tables)
			d.Indexes = append(d.Indexes, index)
			if constraint != "" {
				constraints = append(constraints, constraint)
			}
		case s.kind == "FK CONSTRAINT":
			foreign[constraintName(s.sql)] = true
			d.ForeignKeys = append(d.ForeignKeys, s.sql)
		case s.kind == "COMMENT" && foreign[commentedConstraint(s.sql)]:
			d.ForeignKeys = append(d.ForeignKeys, s.sql)
		case s.kind == "INDEX ATTACH" && tables[0].partition && !made[parentIndex(s.sql)]:
		default:
			rest = append(rest, s.sql)
		}
	}
	d.After = slices.Concat(constraints, rest)
}

// attached is the key of the table that ALTER TABLE ... ATTACH PARTITION names as the partition.
func attached(sql string) tableKey {
	_, child, _ := strings.Cut(sql, " ATTACH PARTITION ")
	key, _ := leadingName(child)
	return key
}

// parentIndex is the name of the index that another is attached to.
func parentIndex(sql string) string {
	key, _ := leadingName(strings.TrimPrefix(sql, "ALTER INDEX "))
	return key.name
}

// constraintName is the name of an added constraint and of its index.
func constraintName(sql string) string {
	_, rest, _ := cutName(sql, "ALTER TABLE ONLY ")
	key, _, _ := cutName(rest, "ADD CONSTRAINT ")
	return key.name
}

// commentedConstraint is the name of the constraint that a COMMENT is on.
func commentedConstraint(sql string) string {
	key, _, _ := cutName(sql, "COMMENT ON CONSTRAINT ")
	return key.name
}

// tableKey names a relation.
type tableKey struct{ schema, name string }

// leadingName reads the name, qualified or not, that text begins with. The key is empty when it does not begin with one.
func leadingName(text string) (key tableKey, rest string) {
	end := unquoted(text, func(c byte, _ int) bool { return strings.IndexByte(" \t\n(", c) >= 0 })
	schema, name, err := sqltext.ParseQualified(text[:end])
	if err != nil {
		return tableKey{}, text
	}
	return tableKey{schema, name}, text[end:]
}

// constraintIndex turns the ADD CONSTRAINT of a primary or unique key into the CREATE INDEX of the same name and a constraint that takes that
// index over. Building the index so takes a lock that lets other indexes of the table be built at the same time, while ADD CONSTRAINT locks
// all others out. What has no such form (exclusion, deferrable keys with options, partitioned tables) is returned as it is.
func constraintIndex(sql string, tables []dumpedTable) (index, constraint string) {
	table, rest, found := cutName(sql, "ALTER TABLE ONLY ")
	if !found || !ordinary(tables, table) {
		return sql, ""
	}
	name, rest, found := cutName(rest, "ADD CONSTRAINT ")
	if !found {
		return sql, ""
	}
	kind := ""
	for _, k := range []string{"PRIMARY KEY", "UNIQUE"} {
		if strings.HasPrefix(rest, k+" ") {
			kind, rest = k, strings.TrimSpace(rest[len(k):])
		}
	}
	nulls := ""
	if after, ok := strings.CutPrefix(rest, "NULLS NOT DISTINCT "); ok {
		nulls, rest = " NULLS NOT DISTINCT", after
	}
	columns, rest := parenthesized(rest)
	if kind == "" || columns == "" || strings.Contains(columns, "WITHOUT OVERLAPS") {
		return sql, ""
	}
	if after, ok := strings.CutPrefix(rest, "INCLUDE "); ok {
		var included string
		if included, rest = parenthesized(after); included != "" {
			columns += " INCLUDE " + included
		}
	}
	deferrable := ""
	if strings.HasPrefix(rest, "DEFERRABLE") {
		deferrable, rest = " "+rest, ""
	}
	if rest != "" {
		return sql, ""
	}
	qualified := sqltext.QuoteQualified(table.schema, table.name)
	index = "CREATE UNIQUE INDEX " + ident(name.name) + " ON " + qualified + " USING btree " + columns + nulls
	constraint = "ALTER TABLE ONLY " + qualified + " ADD CONSTRAINT " + ident(name.name) + " " + kind + " USING INDEX " + ident(name.name) + deferrable
	return index, constraint
}

// cutName reads a word or several and the name behind them.
func cutName(text, words string) (key tableKey, rest string, found bool) {
	text, found = strings.CutPrefix(strings.TrimSpace(text), words)
	if !found {
		return tableKey{}, text, false
	}
	key, rest = leadingName(text)
	return key, strings.TrimSpace(rest), key.name != ""
}

// parenthesized returns the text in parentheses, with them, that text begins with; empty when it begins with none.
func parenthesized(text string) (inside, rest string) {
	if !strings.HasPrefix(text, "(") {
		return "", text
	}
	if n := unquoted(text, func(c byte, depth int) bool { return c == ')' && depth == 0 }); n < len(text) {
		return text[:n+1], strings.TrimSpace(text[n+1:])
	}
	return "", text
}

// ordinary reports whether the table was asked for and is no partitioned one, whose constraints cannot take an index over.
func ordinary(tables []dumpedTable, key tableKey) bool {
	for _, t := range tables {
		if t.tableKey == key {
			return !t.partitioned
		}
	}
	return false
}
