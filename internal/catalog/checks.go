package catalog

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/planner"
)

// Checks returns what a table or partitioned table holds every row to, as far as statements can test it for many rows together: partition bounds,
// NOT NULL, CHECK, foreign keys and unique keys, in this order, which is nearly that in which the server tests them.
//
// Left out, for the server to say of each row: what is not enforced; checks of system columns or whole rows; keys over expressions, with a
// condition, deferrable, or whose equality is not that of the type; foreign keys whose other table the role may not read, or only through row
// security, and those whose columns have different collations; bounds over expressions, or of more than mostBounds partitions.
//
// Errors are *planner.Error.
func Checks(ctx context.Context, c *pgx.Conn, oid uint32) ([]planner.Check, error) {
	var all []planner.Check
	add := func(kind planner.CheckKind, scan func(pgx.Rows, *planner.Check) error) func(pgx.Rows) error {
		return func(rows pgx.Rows) error {
			check := planner.Check{Kind: kind}
			err := scan(rows, &check)
			all = append(all, check)
			return err
		}
	}
	err := ask(ctx, c,
		question{sql: boundsSQL, args: []any{oid, mostBounds}, row: add(planner.CheckBounds, func(r pgx.Rows, k *planner.Check) error {
			return r.Scan(&k.Expression, &k.Columns)
		})},
		question{sql: notNullSQL, args: []any{oid}, row: add(planner.CheckNotNull, func(r pgx.Rows, k *planner.Check) error {
			return r.Scan(&k.Name, &k.Columns)
		})},
		question{sql: checkSQL, args: []any{oid}, row: add(planner.CheckExpression, func(r pgx.Rows, k *planner.Check) error {
			return r.Scan(&k.Name, &k.Expression, &k.Columns)
		})},
		question{sql: referSQL, args: []any{oid}, row: add(planner.CheckForeign, func(r pgx.Rows, k *planner.Check) error {
			return r.Scan(&k.Name, &k.Columns, &k.References, &k.Referenced, &k.Operators, &k.MatchFull)
		})},
		question{sql: uniqueSQL, args: []any{oid}, row: add(planner.CheckUnique, func(r pgx.Rows, k *planner.Check) error {
			return r.Scan(&k.Name, &k.Columns, &k.Operators, &k.NullsEqual)
		})})
	return all, failed("read the constraints", err)
}

// mostBounds is the number of partitions up to which their bounds are tested together: each row is held against all of them.
const mostBounds = 500

// A default partition's condition is that no other one takes the row, so that together they take all. The one without siblings has none at all.
const boundsSQL = `
WITH tree AS (SELECT t.relid, t.isleaf FROM pg_catalog.pg_partition_tree($1::oid) t),
     leaves AS (SELECT pg_catalog.count(*) AS n,
                       pg_catalog.bool_and(pg_catalog.pg_get_partition_constraintdef(relid) IS NOT NULL) AS bound,
                       pg_catalog.string_agg('(' || pg_catalog.pg_get_partition_constraintdef(relid) || ')', ' OR ' ORDER BY relid) AS expression
                  FROM tree WHERE isleaf),
     parents AS (SELECT p.partrelid, p.partattrs FROM pg_catalog.pg_partitioned_table p
                  WHERE p.partrelid IN (SELECT relid FROM tree UNION SELECT a.relid FROM pg_catalog.pg_partition_ancestors($1::oid) a))
SELECT coalesce(l.expression, 'false'),
       (SELECT pg_catalog.array_agg(DISTINCT a.attname::text) FROM parents p, pg_catalog.unnest(p.partattrs::int2[]) n(attnum)
          JOIN pg_catalog.pg_attribute a ON true WHERE a.attrelid = p.partrelid AND a.attnum = n.attnum)
  FROM leaves l, pg_catalog.pg_class c
 WHERE c.oid = $1 AND (c.relkind = 'p' OR c.relispartition) AND l.n <= $2 AND coalesce(l.bound, true)
   AND NOT EXISTS (SELECT FROM parents p WHERE 0 = ANY (p.partattrs::int2[]))`

// From 18 on a NOT NULL has a name. The server says which column it is, not which constraint.
const notNullSQL = `
SELECT '', ARRAY[a.attname::text]
  FROM pg_catalog.pg_attribute a
 WHERE a.attrelid = $1 AND a.attnotnull AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
 ORDER BY a.attnum`

// enforced is false for NOT ENFORCED, which is there from 18 on. NOT VALID ones hold for new rows.
const enforced = `coalesce((pg_catalog.to_jsonb(k) ->> 'conenforced')::bool, true)`

// The server tests them in the order of their names.
const checkSQL = `
SELECT k.conname::text, pg_catalog.pg_get_expr(k.conbin, k.conrelid),
       coalesce((SELECT pg_catalog.array_agg(a.attname::text ORDER BY a.attnum) FROM pg_catalog.pg_attribute a
                  WHERE a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)), '{}')
  FROM pg_catalog.pg_constraint k
 WHERE k.conrelid = $1 AND k.contype = 'c' AND NOT coalesce(0 >= ANY (k.conkey), false) AND ` + enforced + `
 ORDER BY k.conname COLLATE "C"`

// operators are the names of the operators that an array of their object identifiers has, as OPERATOR() takes them.
const operators = `(SELECT pg_catalog.array_agg(pg_catalog.quote_ident(n.nspname) || '.' || o.oprname ORDER BY u.ord)
          FROM pg_catalog.unnest(k.conpfeqop) WITH ORDINALITY u(oid, ord)
          JOIN pg_catalog.pg_operator o ON o.oid = u.oid JOIN pg_catalog.pg_namespace n ON n.oid = o.oprnamespace)`

// A key that refers to a partitioned table has a clone for each of its partitions. The server looks for the row with the rights of the other
// table's owner; a statement does so with the role's own.
const referSQL = `
SELECT k.conname::text,
       (SELECT pg_catalog.array_agg(a.attname::text ORDER BY u.ord) FROM pg_catalog.unnest(k.conkey) WITH ORDINALITY u(attnum, ord)
          JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.attnum),
       CASE WHEN c.relkind = 'r' THEN 'ONLY ' ELSE '' END || pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname),
       (SELECT pg_catalog.array_agg(a.attname::text ORDER BY u.ord) FROM pg_catalog.unnest(k.confkey) WITH ORDINALITY u(attnum, ord)
          JOIN pg_catalog.pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = u.attnum),
       ` + operators + `, k.confmatchtype = 'f'
  FROM pg_catalog.pg_constraint k
  JOIN pg_catalog.pg_class c ON c.oid = k.confrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE k.conrelid = $1 AND k.contype = 'f' AND ` + enforced + ` AND NOT coalesce((pg_catalog.to_jsonb(k) ->> 'conperiod')::bool, false)
   AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint p WHERE p.oid = k.conparentid AND p.conrelid = k.conrelid)
   AND NOT EXISTS (SELECT FROM pg_catalog.pg_trigger g WHERE g.tgconstraint = k.oid AND g.tgrelid = k.conrelid AND g.tgenabled NOT IN ('O', 'A'))
   AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_table_privilege(c.oid, 'SELECT') AND NOT pg_catalog.row_security_active(c.oid)
   AND NOT EXISTS (SELECT FROM ROWS FROM (pg_catalog.unnest(k.conkey), pg_catalog.unnest(k.confkey)) u(here, there)
          JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.here
          JOIN pg_catalog.pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = u.there
         WHERE a.attcollation <> b.attcollation)
 ORDER BY k.conname`

// Strategy 3 of a btree operator class is equality (manual, "Index Method Strategies"). PARTITION BY and the like go by the type's own class.
const uniqueSQL = `
SELECT * FROM (
SELECT c.relname::text AS name,
       (SELECT pg_catalog.array_agg(a.attname::text ORDER BY u.ord)
          FROM pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY u(attnum, ord)
          JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = u.attnum WHERE u.ord <= i.indnkeyatts) AS columns,
       (SELECT pg_catalog.array_agg(pg_catalog.quote_ident(n.nspname) || '.' || o.oprname ORDER BY u.ord)
          FROM ROWS FROM (pg_catalog.unnest(i.indkey::int2[]), pg_catalog.unnest(i.indclass::oid[]), pg_catalog.unnest(i.indcollation::oid[]))
               WITH ORDINALITY u(attnum, opclass, coll, ord)
          JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = u.attnum AND a.attcollation = u.coll
          JOIN pg_catalog.pg_opclass l ON l.oid = u.opclass AND l.opcdefault
          JOIN pg_catalog.pg_amop m ON m.amopfamily = l.opcfamily AND m.amoplefttype = l.opcintype AND m.amoprighttype = l.opcintype AND m.amopstrategy = 3
          JOIN pg_catalog.pg_operator o ON o.oid = m.amopopr JOIN pg_catalog.pg_namespace n ON n.oid = o.oprnamespace
         WHERE u.ord <= i.indnkeyatts) AS operators,
       coalesce((pg_catalog.to_jsonb(i) ->> 'indnullsnotdistinct')::bool, false)
  FROM pg_catalog.pg_index i
  JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
 WHERE i.indrelid = $1 AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indisready AND NOT i.indisexclusion
   AND i.indpred IS NULL AND i.indexprs IS NULL
 ORDER BY i.indexrelid) q
 WHERE pg_catalog.cardinality(q.columns) = pg_catalog.cardinality(q.operators)`
