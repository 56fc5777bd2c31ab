package catalog

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/planner"
)

// typeUse is a type as one column uses it.
type typeUse struct {
	oid uint32
	mod int32
	sql string
}

// typeRow is what the catalogs hold about a type whatever its modifier.
type typeRow struct {
	planner.Type
	elem, base, sub uint32
	baseUse         typeUse
	fields          []typeField
}

type typeField struct {
	name string
	use  typeUse
}

// typeReader knows the types that were loaded with it.
type typeReader struct {
	c    *pgx.Conn
	rows map[uint32]*typeRow
}

func newTypeReader(c *pgx.Conn) *typeReader { return &typeReader{c: c, rows: map[uint32]*typeRow{}} }

// Everything that the given types are made of. An array type proper is one that array_in reads: int2vector and oidvector have
// elements too, but a binary form of their own.
const typeSQL = `
WITH RECURSIVE made_of(oid) AS (
    SELECT pg_catalog.unnest($1::oid[])
    UNION
    SELECT e.oid
      FROM made_of m
      JOIN pg_catalog.pg_type t ON t.oid = m.oid
     CROSS JOIN LATERAL (
           SELECT t.typelem WHERE t.typinput = 'pg_catalog.array_in'::regproc
           UNION ALL SELECT t.typbasetype WHERE t.typtype = 'd'
           UNION ALL SELECT r.rngsubtype FROM pg_catalog.pg_range r WHERE t.oid IN (r.rngtypid, r.rngmultitypid)
           UNION ALL SELECT a.atttypid FROM pg_catalog.pg_attribute a
                      WHERE a.attrelid = t.typrelid AND t.typtype = 'c' AND a.attnum > 0 AND NOT a.attisdropped) e(oid)
)
SELECT t.oid, n.nspname::text, t.typname::text, pg_catalog.format_type(t.oid, NULL),
       CASE WHEN t.typinput = 'pg_catalog.array_in'::regproc THEN 'a' ELSE t.typtype::text END,
       coalesce((SELECT pg_catalog.format('%I.%I', pn.nspname, p.proname) FROM pg_catalog.pg_proc p
                   JOIN pg_catalog.pg_namespace pn ON pn.oid = p.pronamespace WHERE p.oid = t.typsend), ''),
       coalesce((SELECT pg_catalog.format('%I.%I', pn.nspname, p.proname) FROM pg_catalog.pg_proc p
                   JOIN pg_catalog.pg_namespace pn ON pn.oid = p.pronamespace WHERE p.oid = t.typreceive), ''),
       coalesce(x.extname::text, ''), coalesce(x.extversion, ''),
       CASE WHEN t.typinput = 'pg_catalog.array_in'::regproc THEN t.typelem ELSE 0::oid END,
       CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE 0::oid END, t.typtypmod,
       coalesce(pg_catalog.format_type(nullif(t.typbasetype, 0), t.typtypmod), ''),
       coalesce((SELECT r.rngsubtype FROM pg_catalog.pg_range r WHERE t.oid IN (r.rngtypid, r.rngmultitypid)), 0::oid),
       (SELECT pg_catalog.array_agg(e.enumlabel::text ORDER BY e.enumsortorder)
          FROM pg_catalog.pg_enum e WHERE e.enumtypid = t.oid)
  FROM made_of m
  JOIN pg_catalog.pg_type t ON t.oid = m.oid
  JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
  LEFT JOIN (pg_catalog.pg_depend d JOIN pg_catalog.pg_extension x ON x.oid = d.refobjid)
       ON d.classid = 'pg_catalog.pg_type'::regclass AND d.objid = t.oid AND d.objsubid = 0
      AND d.refclassid = 'pg_catalog.pg_extension'::regclass AND d.deptype = 'e'`

const fieldSQL = `
SELECT t.oid, a.attname::text, a.atttypid, a.atttypmod, pg_catalog.format_type(a.atttypid, a.atttypmod)
  FROM pg_catalog.pg_type t
  JOIN pg_catalog.pg_attribute a ON a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
 WHERE t.oid = ANY ($1::oid[]) AND t.typtype = 'c'
 ORDER BY t.oid, a.attnum`

// load reads the types and all that they are made of.
func (t *typeReader) load(ctx context.Context, oids []uint32) error {
	if len(oids) == 0 {
		return nil
	}
	var composites []uint32
	err := ask(ctx, t.c, question{sql: typeSQL, args: []any{oidArray(oids)}, row: func(rows pgx.Rows) error {
		var row typeRow
		var class string
		err := rows.Scan(&row.OID, &row.Schema, &row.Name, &row.SQL, &class, &row.Send, &row.Receive,
			&row.Extension, &row.ExtensionVersion, &row.elem, &row.base, &row.baseUse.mod, &row.baseUse.sql, &row.sub, &row.Labels)
		if err != nil {
			return err
		}
		row.Class = planner.TypeClass(class[0])
		row.baseUse.oid = row.base
		t.rows[row.OID] = &row
		if row.Class == planner.Composite {
			composites = append(composites, row.OID)
		}
		return nil
	}})
	if err != nil || len(composites) == 0 {
		return err
	}
	return ask(ctx, t.c, question{sql: fieldSQL, args: []any{oidArray(composites)}, row: func(rows pgx.Rows) error {
		var oid uint32
		var f typeField
		if err := rows.Scan(&oid, &f.name, &f.use.oid, &f.use.mod, &f.use.sql); err != nil {
			return err
		}
		row := t.rows[oid]
		row.fields = append(row.fields, f)
		return nil
	}})
}

// build makes the type as it is used. The server lets no type contain itself, so this ends.
func (t *typeReader) build(use typeUse) planner.Type {
	row := t.rows[use.oid]
	if row == nil { // dropped between two questions
		return planner.Type{OID: use.oid, SQL: use.sql, Mod: use.mod, Class: planner.Pseudo}
	}
	made := row.Type
	made.Mod = use.mod
	if use.sql != "" {
		made.SQL = use.sql
	}
	switch {
	case row.elem != 0:
		// An array's modifier is its elements', and format_type writes it before the brackets.
		elem := t.build(typeUse{oid: row.elem, mod: use.mod, sql: strings.TrimSuffix(made.SQL, "[]")})
		made.Elem = &elem
		if made.Extension == "" {
			// The catalogs mark the element as the extension's, and not always its array.
			made.Extension, made.ExtensionVersion = elem.Extension, elem.ExtensionVersion
		}
	case row.base != 0:
		base := t.build(row.baseUse)
		made.Base = &base
	case row.sub != 0:
		sub := t.build(typeUse{oid: row.sub, mod: -1})
		made.Sub = &sub
	}
	for _, f := range row.fields {
		made.Fields = append(made.Fields, planner.Field{Name: f.name, Type: t.build(f.use)})
	}
	return made
}
