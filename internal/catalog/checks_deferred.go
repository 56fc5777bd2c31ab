package catalog

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/planner"
)

// Deferred returns the indexes of a target, by its quoted and qualified name, that an interrupted load has dropped and not built again. Errors are
// *planner.Error; a server without such records is none.
func Deferred(ctx context.Context, c *pgx.Conn, target string) ([]planner.DeferredIndex, error) {
	const doing = "look for indexes that an interrupted load has dropped"
	var there bool
	// The schema may be there and closed to the role, which has then dropped nothing.
	err := ask(ctx, c, question{
		sql: `SELECT EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		       WHERE n.nspname = 'pghaul' AND c.relname = 'deferred_index' AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
		         AND pg_catalog.has_table_privilege(c.oid, 'SELECT'))`,
		row: func(r pgx.Rows) error { return r.Scan(&there) },
	})
	if err != nil || !there {
		return nil, failed(doing, err)
	}
	var all []planner.DeferredIndex
	err = ask(ctx, c, question{
		sql: "SELECT name, definition FROM pghaul.deferred_index WHERE target = $1 ORDER BY dropped, name", args: []any{target},
		row: func(r pgx.Rows) error {
			var x planner.DeferredIndex
			err := r.Scan(&x.Name, &x.Definition)
			all = append(all, x)
			return err
		},
	})
	return all, failed(doing, err)
}
