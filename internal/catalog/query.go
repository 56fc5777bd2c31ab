package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// ReadQuery returns a relation of kind planner.Query with the columns of a query, which must be a single SELECT, WITH, VALUES
// or TABLE that can stand as a sub-select: nothing that writes, nothing with parameters. Rows is the server's estimate. The
// Query of the result has its final semicolon taken off and may be put into parentheses.
//
// Names in the query mean what they mean to the role: the search_path is that of its own sessions. Columns of a domain type
// appear as the type underneath, as they do on the wire. Inside a transaction of the caller's an error ends that transaction, and
// the search_path is empty afterwards. Errors are *planner.Error.
func ReadQuery(ctx context.Context, c *pgx.Conn, query string) (planner.Relation, error) {
	if c.PgConn().TxStatus() != 'I' {
		return describeQuery(ctx, c, query)
	}
	// One transaction, so that behind a pooler the names mean here what they will mean when the rows are read.
	if _, err := c.Exec(ctx, "BEGIN READ ONLY"); err != nil {
		return planner.Relation{}, failed("read the query", err)
	}
	relation, err := describeQuery(ctx, c, query)
	if _, ended := c.Exec(ctx, "ROLLBACK"); err == nil {
		err = failed("read the query", ended)
	}
	return relation, err
}

func describeQuery(ctx context.Context, c *pgx.Conn, query string) (planner.Relation, error) {
	relation := planner.Relation{Kind: planner.Query, Rows: -1, CanSelect: true, SchemaFound: true}
	relation.Query = asSubselect(query)
	if err := ask(ctx, c); err != nil {
		return relation, failed("read the query", err)
	}
	if _, err := c.Exec(ctx, OwnPath); err != nil {
		return relation, failed("read the query", err)
	}
	described, err := c.PgConn().Prepare(ctx, "", query, nil)
	if err != nil {
		return relation, queryError(err)
	}
	if len(described.ParamOIDs) > 0 {
		return relation, usage("the query has parameters", "Write the values into the query.")
	}
	// EXPLAIN, SHOW and INSERT ... RETURNING have columns as well, but cannot stand in parentheses.
	if _, err = c.PgConn().Prepare(ctx, "", "SELECT * FROM ("+relation.Query+") AS pghaul_query", nil); err != nil {
		return relation, notOneSelect(err)
	}
	if err := addQueryColumns(ctx, c, &relation, described.Fields); err != nil {
		return relation, err
	}
	if relation.Rows, err = estimatedRows(ctx, c, relation.Query); err != nil {
		return relation, err
	}
	return relation, failed("read the query", ask(ctx, c))
}

// asSubselect takes the final semicolons off. A comment at the end would swallow the parenthesis, were there no line after it.
func asSubselect(query string) string {
	query = strings.TrimRight(query, "; \t\r\n\f\v")
	if strings.Contains(query, "--") {
		query += "\n"
	}
	return query
}

func queryError(err error) error {
	err = failed("understand the query", err)
	var own *planner.Error
	if errors.As(err, &own) && sqlState(err) == "42P01" && own.Hint == "" { // undefined_table
		own.Hint = "Names are looked up along the role's search_path: write SCHEMA.TABLE for others."
	}
	return err
}

func notOneSelect(err error) error {
	if sqlState(err) == "" {
		return failed("understand the query", err)
	}
	return &planner.Error{Kind: planner.Usage, Message: "the query is not one SELECT, WITH, VALUES or TABLE that can be read from",
		Hint: "Leave out what writes or only tells.", Cause: err}
}

func addQueryColumns(ctx context.Context, c *pgx.Conn, relation *planner.Relation, fields []pgconn.FieldDescription) error {
	seen := map[string]bool{}
	types := newTypeReader(c)
	uses := make([]typeUse, len(fields))
	oids := make([]uint32, len(fields))
	mods := make([]int32, len(fields))
	for i, f := range fields {
		if seen[f.Name] {
			return usage("column "+sqltext.QuoteIdent(f.Name)+" appears twice in the query",
				"Columns are matched by name: give each one of its own with AS.")
		}
		seen[f.Name] = true
		uses[i] = typeUse{oid: f.DataTypeOID, mod: f.TypeModifier}
		oids[i], mods[i] = f.DataTypeOID, f.TypeModifier
	}
	err := ask(ctx, c, question{
		sql: `SELECT u.ord - 1, pg_catalog.format_type(u.type, u.mod)
		        FROM ROWS FROM (pg_catalog.unnest($1::oid[]), pg_catalog.unnest($2::int[])) WITH ORDINALITY u(type, mod, ord)`,
		args: []any{oidArray(oids), mods},
		row: func(r pgx.Rows) error {
			var i int
			var sql string
			err := r.Scan(&i, &sql)
			uses[i].sql = sql
			return err
		},
	})
	if err == nil {
		err = types.load(ctx, oids)
	}
	if err != nil {
		return failed("read the types of the query", err)
	}
	for i, f := range fields {
		relation.Columns = append(relation.Columns, planner.Column{Name: f.Name, Type: types.build(uses[i]), CanRead: true})
	}
	return nil
}

// estimatedRows asks the server's planner, which reads no row for it.
func estimatedRows(ctx context.Context, c *pgx.Conn, query string) (int64, error) {
	// What was asked in between has emptied the path again.
	if _, err := c.Exec(ctx, OwnPath); err != nil {
		return -1, failed("estimate the rows of the query", err)
	}
	var text string
	err := c.QueryRow(ctx, "EXPLAIN (FORMAT JSON) "+query).Scan(&text)
	if err != nil {
		return -1, failed("estimate the rows of the query", err)
	}
	var plans []struct {
		Plan struct {
			Rows float64 `json:"Plan Rows"`
		}
	}
	if err := json.Unmarshal([]byte(text), &plans); err != nil {
		return -1, failed("read the estimate of the query's rows", err)
	}
	if len(plans) == 0 {
		return -1, nil
	}
	return int64(plans[0].Plan.Rows), nil
}
