package move

import (
	"context"

	"github.com/pghaul/pghaul/planner"
)

// heldBack says who keeps VACUUM from freezing the pages of a table that stands at logging, empty when nobody does. pg_class has the new
// table's row from the transaction that wrote the pages (VACUUM changes it in place), so whoever has an older xmin is the one. Sessions and
// prepared transactions of other databases do not count (ComputeXidHorizons of procarray.c).
func (w *watchdog) heldBack(ctx context.Context, t *table, stage int32) string {
	if stage != stageLog || t.plan.Method != planner.Pages {
		return ""
	}
	own := pidList(append(t.target.open(), 0))
	rows, err := w.ask(ctx, t.target, `SELECT h.name FROM (
SELECT 'process ' || pid || ' (' || coalesce(nullif(application_name, ''), backend_type) || ')', greatest(pg_catalog.age(backend_xmin), pg_catalog.age(backend_xid)) FROM pg_catalog.pg_stat_activity
WHERE pid NOT IN (`+own+`, pg_catalog.pg_backend_pid()) AND (datname = pg_catalog.current_database() OR backend_type = 'walsender')
UNION ALL SELECT 'prepared transaction ' || pg_catalog.quote_literal(gid), pg_catalog.age(transaction) FROM pg_catalog.pg_prepared_xacts WHERE database = pg_catalog.current_database()
UNION ALL SELECT 'replication slot ' || slot_name, pg_catalog.age(xmin) FROM pg_catalog.pg_replication_slots) h (name, age), pg_catalog.pg_class c
WHERE c.oid = `+quoted(t.plan.Parts[0].Target)+`::pg_catalog.regclass AND h.age >= pg_catalog.age(c.xmin) ORDER BY h.age DESC LIMIT 1`)
	if err != nil || len(rows) == 0 {
		return ""
	}
	return "VACUUM on " + t.target.server.Address + " cannot freeze the rows before the end of " + rows[0][0]
}
