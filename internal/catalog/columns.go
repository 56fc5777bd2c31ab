package catalog

import (
	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/planner"
)

const columnSQL = `
SELECT a.attrelid, a.attname::text, a.atttypid, a.atttypmod, pg_catalog.format_type(a.atttypid, a.atttypmod),
       a.attnotnull, a.atthasdef AND a.attgenerated = '', a.attgenerated::text, a.attidentity::text,
       pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT'),
       pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'INSERT')
  FROM pg_catalog.pg_attribute a
 WHERE a.attrelid = ANY ($1::oid[]) AND a.attnum > 0 AND NOT a.attisdropped
 ORDER BY a.attrelid, a.attnum`

func (r *reader) columnQuestion(set string) question {
	return question{sql: columnSQL, args: []any{set}, row: func(rows pgx.Rows) error {
		var oid uint32
		var generated, identity string
		var col planner.Column
		var use typeUse
		err := rows.Scan(&oid, &col.Name, &use.oid, &use.mod, &use.sql, &col.NotNull, &col.HasDefault, &generated, &identity,
			&col.CanRead, &col.CanWrite)
		if err != nil {
			return err
		}
		col.Generated = generated != ""
		if identity != "" {
			col.Identity = identity[0]
		}
		f := r.relations[oid]
		f.Columns = append(f.Columns, col)
		f.columnTypes = append(f.columnTypes, use)
		return nil
	}}
}

// allTypes lists each type that a column has, once.
func (r *reader) allTypes() []uint32 {
	seen := map[uint32]bool{}
	var oids []uint32
	for _, f := range r.relations {
		for _, use := range f.columnTypes {
			if !seen[use.oid] {
				seen[use.oid] = true
				oids = append(oids, use.oid)
			}
		}
	}
	return oids
}

// Keys that a conflict clause can name: manual, "INSERT", on inference. A WITHOUT OVERLAPS key is an exclusion constraint.
const keySQL = `
SELECT i.indrelid, c.relname::text, i.indisprimary,
       (SELECT pg_catalog.array_agg(a.attname::text ORDER BY k.ord)
          FROM pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY k(attnum, ord)
          JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
         WHERE k.ord <= i.indnkeyatts),
       NOT EXISTS (SELECT FROM pg_catalog.pg_collation l WHERE l.oid = ANY (i.indcollation::oid[]) AND NOT l.collisdeterministic)
  FROM pg_catalog.pg_index i
  JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
 WHERE i.indrelid = ANY ($1::oid[]) AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indisready
   AND NOT i.indisexclusion AND i.indpred IS NULL AND i.indexprs IS NULL
 ORDER BY i.indrelid, i.indisprimary DESC, c.relname`

func (r *reader) keyQuestion(set string) question {
	return question{sql: keySQL, args: []any{set}, row: func(rows pgx.Rows) error {
		var oid uint32
		var key planner.Key
		if err := rows.Scan(&oid, &key.Name, &key.Primary, &key.Columns, &key.Deterministic); err != nil {
			return err
		}
		f := r.relations[oid]
		f.Keys = append(f.Keys, key)
		return nil
	}}
}

// Bits of tgtype: catalog/pg_trigger.h, TRIGGER_TYPE_ROW 1, BEFORE 2, INSERT 4, INSTEAD 64.
const triggerSQL = `
SELECT t.tgrelid, t.tgname::text, t.tgtype & 1 <> 0, t.tgtype & 66 <> 0
  FROM pg_catalog.pg_trigger t
 WHERE t.tgrelid = ANY ($1::oid[]) AND NOT t.tgisinternal AND t.tgenabled IN ('O', 'A') AND t.tgtype & 4 <> 0
 ORDER BY t.tgrelid, t.tgname`

func (r *reader) triggerQuestion(set string) question {
	return question{sql: triggerSQL, args: []any{set}, row: func(rows pgx.Rows) error {
		var oid uint32
		var t planner.Trigger
		if err := rows.Scan(&oid, &t.Name, &t.Row, &t.Before); err != nil {
			return err
		}
		f := r.relations[oid]
		f.Triggers = append(f.Triggers, t)
		return nil
	}}
}

// A serial column's sequence depends on it automatically, an identity column's internally. A default depends on what it calls nextval for,
// unless that is named by a text and not by a regclass.
const sequenceSQL = `
SELECT q.relation, a.attname::text, n.nspname::text, s.relname::text, q.used,
       q.used AND NOT (pg_catalog.has_sequence_privilege(s.oid, 'SELECT') AND (NOT $2::boolean OR pg_catalog.has_sequence_privilege(s.oid, 'UPDATE')))
  FROM (SELECT d.refobjid AS relation, d.refobjsubid AS number, d.objid AS sequence, false AS used
          FROM pg_catalog.pg_depend d
         WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.refclassid = 'pg_catalog.pg_class'::regclass
           AND d.refobjid = ANY ($1::oid[]) AND d.refobjsubid > 0 AND d.deptype IN ('a', 'i')
         UNION
        SELECT f.adrelid, f.adnum, d.refobjid, true
          FROM pg_catalog.pg_attrdef f
          JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_attrdef'::regclass AND d.objid = f.oid
               AND d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid <> f.adrelid
         WHERE f.adrelid = ANY ($1::oid[])
           AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend o
                            WHERE o.classid = 'pg_catalog.pg_class'::regclass AND o.objid = d.refobjid AND o.deptype IN ('a', 'i')
                              AND o.refclassid = 'pg_catalog.pg_class'::regclass AND o.refobjid = f.adrelid)) q
  JOIN pg_catalog.pg_class s ON s.oid = q.sequence AND s.relkind = 'S'
  JOIN pg_catalog.pg_namespace n ON n.oid = s.relnamespace
  JOIN pg_catalog.pg_attribute a ON a.attrelid = q.relation AND a.attnum = q.number
 ORDER BY q.relation, a.attnum, n.nspname, s.relname`

func (r *reader) sequenceQuestion(set string) question {
	return question{sql: sequenceSQL, args: []any{set, r.role == Target}, row: func(rows pgx.Rows) error {
		var oid uint32
		var s planner.OwnedSequence
		if err := rows.Scan(&oid, &s.Column, &s.Schema, &s.Name, &s.Used, &s.Denied); err != nil {
			return err
		}
		f := r.relations[oid]
		f.Sequences = append(f.Sequences, s)
		return nil
	}}
}
