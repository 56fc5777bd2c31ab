package catalog

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// Row security: rowsecurity.c, check_enable_rls. Rows: plancat.c, estimate_rel_size, without its guess from the width of a
// row where nothing was ever counted. 8 is 1 << CMD_INSERT in the bits of pg_relation_is_updatable.
const classSQL = `
SELECT c.oid, n.nspname::text, c.relname::text, c.relkind::text, c.relpersistence::text, coalesce(am.amname::text, ''),
       pg_catalog.pg_get_userbyid(c.relowner)::text,
       s.main, s.main / pg_catalog.current_setting('block_size')::bigint, s.toast,
       CASE WHEN c.relkind IN ('r', 'm') AND s.main = 0 THEN 0
            WHEN c.relkind NOT IN ('r', 'm', 'f') OR c.reltuples < 0 THEN -1
            WHEN c.relkind = 'f' THEN c.reltuples::bigint
            WHEN c.relpages = 0 THEN -1
            ELSE (c.reltuples / c.relpages * (s.main / pg_catalog.current_setting('block_size')::bigint))::bigint END,
       (SELECT count(*) FROM pg_catalog.pg_inherits i WHERE i.inhparent = c.oid AND c.relkind IN ('r', 'f')),
       (SELECT count(*) FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND i.indislive),
       EXISTS (SELECT FROM pg_catalog.pg_rewrite w WHERE w.ev_class = c.oid AND w.ev_type = '3' AND w.ev_enabled IN ('O', 'A')),
       c.relkind <> 'v' OR pg_catalog.pg_relation_is_updatable(c.oid, false) & 8 = 8,
       c.relkind <> 'v' OR pg_catalog.pg_relation_is_updatable(c.oid, true) & 8 = 8,
       c.relrowsecurity AND NOT me.rolsuper AND NOT me.rolbypassrls
           AND NOT (pg_catalog.pg_has_role(c.relowner, 'USAGE') AND NOT c.relforcerowsecurity),
       pg_catalog.has_any_column_privilege(c.oid, 'SELECT'),
       NOT pg_catalog.has_table_privilege(c.oid, 'SELECT'),
       pg_catalog.has_any_column_privilege(c.oid, 'INSERT'),
       pg_catalog.has_table_privilege(c.oid, 'TRUNCATE'),
       pg_catalog.pg_has_role(c.relowner, 'USAGE'),
       pg_catalog.has_schema_privilege(n.oid, 'CREATE'),
       coalesce((SELECT pg_catalog.format('%I.%I', tn.nspname, t.relname)
                   FROM pg_catalog.pg_class t JOIN pg_catalog.pg_namespace tn ON tn.oid = t.relnamespace
                  WHERE t.oid = CASE
                        WHEN c.relkind IN ('i', 'I') THEN (SELECT i.indrelid FROM pg_catalog.pg_index i WHERE i.indexrelid = c.oid)
                        WHEN c.relkind = 't' THEN (SELECT o.oid FROM pg_catalog.pg_class o WHERE o.reltoastrelid = c.oid)
                        WHEN c.relkind = 'S' THEN (SELECT d.refobjid FROM pg_catalog.pg_depend d
                             WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('a', 'i')
                               AND d.refclassid = 'pg_catalog.pg_class'::regclass) END), '')
  FROM pg_catalog.unnest($1::oid[]) u(oid)
  JOIN pg_catalog.pg_class c ON c.oid = u.oid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_catalog.pg_roles me ON me.rolname = current_user
  LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
 CROSS JOIN LATERAL (
       SELECT CASE WHEN c.relkind IN ('r', 'm') THEN coalesce(pg_catalog.pg_relation_size(c.oid), 0) ELSE 0 END AS main,
              CASE WHEN c.reltoastrelid <> 0 THEN coalesce(pg_catalog.pg_relation_size(c.reltoastrelid)
                   + pg_catalog.pg_indexes_size(c.reltoastrelid), 0) ELSE 0 END AS toast) s`

func (r *reader) classQuestion(set string) question {
	return question{sql: classSQL, args: []any{set}, row: func(rows pgx.Rows) error {
		var oid uint32
		var kind, persistence string
		var insertable, insertableAtAll bool
		var f planner.Relation
		err := rows.Scan(&oid, &f.Schema, &f.Name, &kind, &persistence, &f.AccessMethod, &f.Owner,
			&f.HeapBytes, &f.Pages, &f.ToastBytes, &f.Rows, &f.Children, &f.Indexes,
			&f.Rules, &insertable, &insertableAtAll, &f.RowSecurity,
			&f.CanSelect, &f.ColumnsOnly, &f.CanInsert, &f.CanTruncate, &f.IsOwner, &f.CanCreate, &f.Of)
		if err != nil {
			return err
		}
		f.OID = oid
		f.Kind = planner.Kind(kind[0])
		f.Unlogged = persistence == "u"
		f.Temporary = persistence == "t"
		f.SchemaFound = true
		f.Rules = f.Rules || !insertable
		f.CanInsert = f.CanInsert && insertableAtAll
		r.relations[oid].Relation = f
		return nil
	}}
}

// lookForRows finds out which targets are empty. Where the user may not read, or would see a part only, no page means no row.
func (r *reader) lookForRows(ctx context.Context) error {
	var questions []question
	for _, oid := range r.oids {
		f := r.relations[oid]
		f.Empty = f.Pages == 0
		if !canLook(f.Relation) {
			continue
		}
		questions = append(questions, question{sql: emptySQL(f.Relation), row: func(rows pgx.Rows) error {
			return rows.Scan(&f.Empty)
		}})
	}
	if len(questions) == 0 {
		return nil
	}
	return ask(ctx, r.c, questions...)
}

// canLook: a foreign table is left to Follow, which looks where the rows are.
func canLook(f planner.Relation) bool {
	switch f.Kind {
	case planner.Table, planner.Partitioned, planner.View, planner.MatView:
		return f.CanSelect && !f.RowSecurity
	}
	return false
}

func emptySQL(f planner.Relation) string {
	only := ""
	if f.Kind == planner.Table {
		only = "ONLY "
	}
	return strings.Join([]string{"SELECT NOT EXISTS (SELECT FROM ", only, sqltext.QuoteQualified(f.Schema, f.Name), ")"}, "")
}
