package catalog

import (
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// indexRow is an index as the catalogs tell it.
type indexRow struct {
	planner.IndexDef
	oid                                     uint32
	definition, prefix, predicate           string
	tablespace, constraintType              string
	constraintDefinition, constraintComment string
	deferrable, deferred, overlaps          bool
	statisticsTarget                        bool
}

// conperiod came with 18; the JSON of a row has the columns that a version has.
const indexSQL = `
SELECT i.indrelid, c.relname::text, i.indisunique, i.indisclustered, i.indisreplident,
       pg_catalog.pg_get_indexdef(i.indexrelid),
       pg_catalog.format('CREATE %sINDEX %I ON %I.%I ', CASE WHEN i.indisunique THEN 'UNIQUE ' END, c.relname, n.nspname, t.relname),
       coalesce(pg_catalog.pg_get_expr(i.indpred, i.indrelid), ''),
       coalesce((SELECT s.spcname::text FROM pg_catalog.pg_tablespace s WHERE s.oid = c.reltablespace), ''),
       coalesce(k.conname::text, ''), coalesce(k.contype::text, ''), coalesce(pg_catalog.pg_get_constraintdef(k.oid), ''),
       coalesce(k.condeferrable, false), coalesce(k.condeferred, false),
       coalesce((pg_catalog.to_jsonb(k) ->> 'conperiod')::boolean, false),
       coalesce(pg_catalog.obj_description(i.indexrelid, 'pg_class'), ''),
       coalesce(pg_catalog.obj_description(k.oid, 'pg_constraint'), ''),
       EXISTS (SELECT FROM pg_catalog.pg_attribute a WHERE a.attrelid = i.indexrelid AND coalesce(a.attstattarget, -1) >= 0)
  FROM pg_catalog.pg_index i
  JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
  JOIN pg_catalog.pg_class t ON t.oid = i.indrelid AND t.relkind = 'r'
  JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
  LEFT JOIN pg_catalog.pg_constraint k ON k.conindid = i.indexrelid AND k.conrelid = i.indrelid AND k.contype IN ('p', 'u', 'x')
 WHERE i.indrelid = ANY ($1::oid[]) AND i.indisvalid AND i.indisready AND i.indislive
 ORDER BY i.indrelid, i.indisprimary DESC, c.relname`

func (r *reader) indexQuestion(set string) question {
	return question{sql: indexSQL, args: []any{set}, row: func(rows pgx.Rows) error {
		var x indexRow
		err := rows.Scan(&x.oid, &x.Name, &x.Unique, &x.Clustered, &x.ReplicaIdent, &x.definition, &x.prefix, &x.predicate,
			&x.tablespace, &x.ConstraintName, &x.constraintType, &x.constraintDefinition, &x.deferrable, &x.deferred, &x.overlaps,
			&x.Comment, &x.constraintComment, &x.statisticsTarget)
		if err != nil {
			return err
		}
		r.relations[x.oid].carryIndex(x)
		return nil
	}}
}

// carryIndex splits the definition where the table's name stands, or says why the index cannot be made again.
func (f *facts) carryIndex(x indexRow) {
	name := sqltext.QuoteIdent(x.Name)
	method, ok := strings.CutPrefix(x.definition, x.prefix)
	if !ok {
		f.block("the definition of index ", name, " is not understood")
	}
	if x.statisticsTarget {
		f.block("index ", name, " has statistics targets")
	}
	if x.constraintComment != "" {
		f.after("COMMENT ON CONSTRAINT ", ident(x.ConstraintName), " ON ", place, " IS ", literal(x.constraintComment))
	}
	if x.overlaps {
		f.block("constraint ", sqltext.QuoteIdent(x.ConstraintName), " is WITHOUT OVERLAPS")
	}
	x.Method = method
	if x.tablespace != "" {
		if x.Method, ok = inTablespace(method, x.predicate, x.tablespace); !ok || x.constraintType == "x" {
			f.block("index ", name, " is in a tablespace of its own")
		}
	}
	switch x.constraintType {
	case "p":
		x.Constraint = "PRIMARY KEY" + deferral(x)
	case "u":
		x.Constraint = "UNIQUE" + deferral(x)
	case "x":
		x.Constraint = x.constraintDefinition
	}
	f.rebuild.Indexes = append(f.rebuild.Indexes, x.IndexDef)
}

func deferral(x indexRow) string {
	switch {
	case x.deferred:
		return " DEFERRABLE INITIALLY DEFERRED"
	case x.deferrable:
		return " DEFERRABLE"
	}
	return ""
}

// inTablespace adds the tablespace, which pg_get_indexdef leaves out, before the condition.
func inTablespace(method, predicate, tablespace string) (string, bool) {
	clause := " TABLESPACE " + sqltext.QuoteIdent(tablespace)
	if predicate == "" {
		return method + clause, true
	}
	before, ok := strings.CutSuffix(method, " WHERE "+predicate)
	return before + clause + " WHERE " + predicate, ok
}

// Clones of foreign keys on partitions have a parent.
const foreignKeySQL = `
SELECT k.conrelid, k.conname::text, pg_catalog.pg_get_constraintdef(k.oid),
       coalesce(pg_catalog.obj_description(k.oid, 'pg_constraint'), ''),
       EXISTS (SELECT FROM pg_catalog.pg_trigger g WHERE g.tgconstraint = k.oid AND g.tgenabled <> 'O')
  FROM pg_catalog.pg_constraint k
 WHERE k.conrelid = ANY ($1::oid[]) AND k.contype = 'f' AND k.conparentid = 0
 ORDER BY k.conrelid, k.conname`

func (r *reader) foreignKeyQuestion(set string) question {
	return question{sql: foreignKeySQL, args: []any{set}, row: func(rows pgx.Rows) error {
		var oid uint32
		var name, definition, comment string
		var disabled bool
		if err := rows.Scan(&oid, &name, &definition, &comment, &disabled); err != nil {
			return err
		}
		f := r.relations[oid]
		if disabled {
			f.block("foreign key ", sqltext.QuoteIdent(name), " has disabled triggers")
		}
		f.rebuild.ForeignKeys = append(f.rebuild.ForeignKeys, "CONSTRAINT "+sqltext.QuoteIdent(name)+" "+definition)
		if comment != "" {
			f.after("COMMENT ON CONSTRAINT ", ident(name), " ON ", place, " IS ", literal(comment))
		}
		return nil
	}}
}

// A partitioned table's key has a clone for each partition that refers to the same table: only its first is listed.
const referenceSQL = `
SELECT DISTINCT k.confrelid, pg_catalog.format('%I.%I', n.nspname, c.relname)
  FROM pg_catalog.pg_constraint k
  JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE k.contype = 'f' AND k.confrelid = ANY ($1::oid[]) AND k.conrelid <> k.confrelid
   AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint p WHERE p.oid = k.conparentid AND p.confrelid = k.confrelid)
 ORDER BY 1, 2`

func (r *reader) referenceQuestion(set string) question {
	return question{sql: referenceSQL, args: []any{set}, row: func(rows pgx.Rows) error {
		var oid uint32
		var table string
		if err := rows.Scan(&oid, &table); err != nil {
			return err
		}
		f := r.relations[oid]
		f.rebuild.ReferencedBy = append(f.rebuild.ReferencedBy, table)
		f.block("a foreign key of ", table, " refers to it")
		return nil
	}}
}
