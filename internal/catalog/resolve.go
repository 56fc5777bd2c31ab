package catalog

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// OwnPath restores, for the rest of a batch, the search_path that the role and database have: reset_val is what the session
// started with, whatever was set since.
const OwnPath = `SELECT pg_catalog.set_config('search_path', s.reset_val, true) FROM pg_catalog.pg_settings s WHERE s.name = 'search_path'`

// typed is a name as it came from the user's terminal, in UTF-8. The session may speak another encoding, so the bytes are sent
// as such and turned into the database's text there.
const typed = "pg_catalog.convert_from($1::bytea, 'UTF8')"

// All kinds of relation share their names, and what is no table is told from what is not there.
const resolveSQL = `
SELECT n.nspname::text, c.relname::text
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relname = ` + typed + ` AND pg_catalog.pg_table_is_visible(c.oid)`

// Resolve reads a name as typed. With a schema it is returned as it is; whether the relation exists is for Read to say. With
// none it is looked up along the role's own search_path. Errors are *planner.Error: of kind Usage for a name that cannot be
// read, else for one that was not found, with similar names in the hint.
func Resolve(ctx context.Context, c *pgx.Conn, name string) (schema, relation string, err error) {
	schema, relation, found, err := lookUp(ctx, c, name)
	if err != nil || found {
		return schema, relation, err
	}
	e := &planner.Error{Message: "relation " + sqltext.QuoteIdent(relation) + " does not exist in the search_path of " + Address(c),
		Hint: "Write SCHEMA.TABLE for one outside of the search_path."}
	near, err := Near(ctx, c, "", relation)
	if err != nil {
		return "", "", err
	}
	if len(near) > 0 {
		e.Hint = "Perhaps you meant " + joinOr(near) + "."
	}
	return "", "", e
}

// ResolveNew is Resolve for a table that may have to be made: a name that is not found gets the schema where CREATE TABLE would
// put it.
func ResolveNew(ctx context.Context, c *pgx.Conn, name string) (schema, relation string, err error) {
	schema, relation, found, err := lookUp(ctx, c, name)
	if err != nil || found {
		return schema, relation, err
	}
	err = ask(ctx, c, question{sql: OwnPath, row: ignore}, question{
		sql: "SELECT coalesce(pg_catalog.current_schema()::text, '')",
		row: func(r pgx.Rows) error { return r.Scan(&schema) },
	}, question{sql: quiet, row: ignore})
	if err == nil && schema == "" {
		err = &planner.Error{Message: "no schema has been selected to create " + sqltext.QuoteIdent(relation) + " in",
			Hint: "Write SCHEMA.TABLE."}
	}
	return schema, relation, failed("find a schema for "+sqltext.QuoteIdent(relation), err)
}

func ignore(pgx.Rows) error { return nil }

// lookUp reads the name, and looks for it when it has no schema.
func lookUp(ctx context.Context, c *pgx.Conn, name string) (schema, relation string, found bool, err error) {
	schema, relation, err = sqltext.ParseQualified(name)
	if err != nil {
		return "", "", false, nameError(err)
	}
	if schema != "" {
		schema, relation, err = toSession(ctx, c, schema, relation)
		return schema, relation, err == nil, err
	}
	if !utf8.ValidString(relation) {
		return "", "", false, usage("name "+name+" is not valid UTF-8", "")
	}
	err = ask(ctx, c, question{sql: OwnPath, row: ignore}, question{
		sql: resolveSQL, args: []any{[]byte(relation)},
		row: func(r pgx.Rows) error {
			found = true
			return r.Scan(&schema, &relation)
		},
	}, question{sql: quiet, row: ignore})
	return schema, relation, found, failed("look for relation "+sqltext.QuoteIdent(relation), err)
}

// toSession turns typed names into the encoding that the session speaks. ASCII is the same in all.
func toSession(ctx context.Context, c *pgx.Conn, schema, relation string) (string, string, error) {
	if isASCII(schema + relation) {
		return schema, relation, nil
	}
	err := ask(ctx, c, question{
		sql: "SELECT " + typed + ", " + strings.Replace(typed, "$1", "$2", 1), args: []any{[]byte(schema), []byte(relation)},
		row: func(r pgx.Rows) error { return r.Scan(&schema, &relation) },
	})
	return schema, relation, failed("read the name "+sqltext.QuoteQualified(schema, relation), err)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func nameError(err error) error {
	var name *sqltext.NameError
	if errors.As(err, &name) {
		return &planner.Error{Kind: planner.Usage, Message: name.Error(), Hint: name.Hint}
	}
	return err
}

func joinOr(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// nearLimit bounds what is compared: with more relations than that a guess would take longer than it is worth.
const nearLimit = 20000

const nearSQL = `
SELECT n.nspname::text, c.relname::text
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
   AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND ($1::text = '' OR n.nspname = $1::text)
 LIMIT $2::int`

// Near returns at most three relations, quoted and qualified, whose names are like the given one: equal in another schema or
// but for case, or a few letters apart. With a schema only that one is searched first, and the others when it has none.
func Near(ctx context.Context, c *pgx.Conn, schema, name string) ([]string, error) {
	type candidate struct {
		text     string
		distance int
	}
	var near []candidate
	err := ask(ctx, c, question{sql: nearSQL, args: []any{schema, nearLimit}, row: func(r pgx.Rows) error {
		var n Name
		if err := r.Scan(&n.Schema, &n.Name); err != nil {
			return err
		}
		distance := editDistance(strings.ToLower(n.Name), strings.ToLower(name))
		if distance <= min(2, (utf8.RuneCountInString(name)+1)/3) {
			near = append(near, candidate{n.String(), distance})
		}
		return nil
	}})
	if err != nil {
		return nil, failed("look for names like "+sqltext.QuoteIdent(name), err)
	}
	if len(near) == 0 && schema != "" {
		return Near(ctx, c, "", name)
	}
	slices.SortFunc(near, func(a, b candidate) int {
		if a.distance != b.distance {
			return a.distance - b.distance
		}
		return strings.Compare(a.text, b.text)
	})
	texts := make([]string, 0, 3)
	for _, n := range near[:min(3, len(near))] {
		texts = append(texts, n.text)
	}
	return texts, nil
}

// editDistance counts the letters to add, drop or change (Levenshtein).
func editDistance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range to {
			cost := 1
			if x == y {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(to)]
}
