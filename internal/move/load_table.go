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

// targetFacts reads what only loads want to know of a table that is there.
func (o *opening) targetFacts(ctx context.Context, to *found, f *planner.LoadFacts, checks bool) error {
	return o.askTarget(ctx, to, func(c *pgx.Conn) (err error) {
		if checks {
			if f.Checks, err = catalog.Checks(ctx, c, to.relation.OID); err != nil {
				return err
			}
		}
		f.Deferred, err = catalog.Deferred(ctx, c, sqltext.QuoteQualified(to.relation.Schema, to.relation.Name))
		return err
	})
}
