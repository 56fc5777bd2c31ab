package catalog

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// The patterns go over as bytes for the reason that typed gives. A pattern that can mean many tables leaves out what is copied
// with something else: partitions with their root, the tables of an extension with the extension, views and materialized views
// with what they show.
const listSQL = `
SELECT n.nspname::text, c.relname::text
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relname OPERATOR(pg_catalog.~) ` + typed + ` COLLATE pg_catalog.default
   AND CASE WHEN $2::text = '' THEN pg_catalog.pg_table_is_visible(c.oid)
       ELSE n.nspname OPERATOR(pg_catalog.~) pg_catalog.convert_from($3::bytea, 'UTF8') COLLATE pg_catalog.default END
   AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
   AND CASE WHEN $4::boolean THEN c.relkind IN ('r', 'p', 'f') AND NOT c.relispartition
                 AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d
                                  WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
       ELSE c.relkind IN ('r', 'p', 'f', 'm', 'v') END`

// List returns the relations that match at least one of the patterns, which are psql's (manual of psql, "Patterns"), sorted by
// schema and name. A pattern with * or ? takes tables, partitioned tables (their roots only) and foreign tables; one without
// takes views and materialized views too. System schemas are left out. Errors are *planner.Error: a pattern that cannot be
// read, and one that matches nothing.
func List(ctx context.Context, c *pgx.Conn, patterns []string) ([]Name, error) {
	seen := map[Name]bool{}
	questions := []question{{sql: OwnPath, row: ignore}}
	matches := make([]int, len(patterns))
	for i, pattern := range patterns {
		schema, name, err := sqltext.Pattern(pattern)
		if err != nil {
			return nil, nameError(err)
		}
		questions = append(questions, question{
			sql: listSQL, args: []any{[]byte(name), schema, []byte(schema), isMany(pattern)},
			row: func(r pgx.Rows) error {
				var n Name
				matches[i]++
				err := r.Scan(&n.Schema, &n.Name)
				seen[n] = true
				return err
			},
		})
	}
	questions = append(questions, question{sql: quiet, row: ignore})
	err := ask(ctx, c, questions...)
	if sqlState(err) == "2201B" { // invalid_regular_expression
		return nil, &planner.Error{Kind: planner.Usage, Message: "could not read the pattern", Cause: err,
			Hint: "Put double quotes around a name with signs of regular expressions."}
	}
	if err != nil {
		return nil, failed("list the tables that match "+strings.Join(patterns, ", "), err)
	}
	for i, n := range matches {
		if n == 0 {
			return nil, &planner.Error{Message: "no table matches pattern " + patterns[i],
				Detail: "It was looked for on " + Address(c) + ".",
				Hint:   "A pattern without a dot means tables in the search_path; write SCHEMA.PATTERN for others."}
		}
	}
	names := make([]Name, 0, len(seen))
	for n := range seen {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b Name) int {
		if order := strings.Compare(a.Schema, b.Schema); order != 0 {
			return order
		}
		return strings.Compare(a.Name, b.Name)
	})
	return names, nil
}

// isMany: other regular expression signs count as well, since t.(a|b) means two tables.
func isMany(pattern string) bool {
	if sqltext.IsPattern(pattern) {
		return true
	}
	quoted := false
	for _, r := range pattern {
		if r == '"' {
			quoted = !quoted
		} else if !quoted && strings.ContainsRune("|+()[]{}^\\", r) {
			return true
		}
	}
	return false
}
