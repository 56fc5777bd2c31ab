package move

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// newTable is how to make a table for rows of these columns.
func newTable(schema, name string, columns []NewColumn) *planner.Definition {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = sqltext.QuoteIdent(c.Name) + " " + c.Type
	}
	return &planner.Definition{From: "the rows", Schema: schema, Name: name,
		Before: []string{"CREATE TABLE " + sqltext.QuoteQualified(schema, name) + " (" + strings.Join(list, ", ") + ")"}}
}

// askTarget asks the server that holds the target, which is another one than the user named where a foreign table was followed.
func (o *opening) askTarget(ctx context.Context, to *found, ask func(*pgx.Conn) error) error {
	if o.target.server.Address == to.server.Address {
		return ask(o.target.conn)
	}
	c, err := catalog.ConnectConfig(ctx, to.config, endEncoding)
	if err != nil {
		return err
	}
	return errors.Join(ask(c), c.Close(context.WithoutCancel(ctx)))
}

// newColumns describes the columns of a table that is to be made as the server knows their types.
func (o *opening) newColumns(ctx context.Context, made []NewColumn) ([]planner.Column, error) {
	items := make([]string, len(made))
	for i, c := range made {
		items[i] = "NULL::" + c.Type + " AS " + sqltext.QuoteIdent(c.Name)
	}
	row, err := catalog.ReadQuery(ctx, o.target.conn, "SELECT "+strings.Join(items, ", "))
	for i := range row.Columns {
		row.Columns[i].CanWrite = true
	}
	return row.Columns, err
}

// targetFacts reads what only loads want to know of the target.
func (o *opening) targetFacts(ctx context.Context, to *found, l *load, f *planner.LoadFacts) error {
	return o.askTarget(ctx, to, func(c *pgx.Conn) error {
		how, err := textRulesOf(ctx, c)
		if err != nil {
			return err
		}
		l.settings, f.Session = how.settings(to.server.Version), how.statements()
		for i := range f.Target.Columns {
			column := &f.Target.Columns[i]
			if why := how.noEncoder(column, to.server.Version); why != "" {
				f.NoEncoder[column.Name] = why
			}
		}
		if to.relation.Kind == planner.Missing {
			return nil
		}
		if l.setAside() || l.wish.OnDuplicate != planner.DuplicateError || l.wish.Method == planner.Pages {
			if f.Checks, err = catalog.Checks(ctx, c, to.relation.OID); err != nil {
				return err
			}
		}
		f.Deferred, err = catalog.Deferred(ctx, c, sqltext.QuoteQualified(to.relation.Schema, to.relation.Name))
		return err
	})
}
