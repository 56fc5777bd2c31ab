package catalog

import (
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// tableTraits are properties of a table as a whole.
type tableTraits struct {
	owner, tablespace, comment, replica string
	options, toastOptions               []string
	security, forced                    bool
}

const tableSQL = `
SELECT c.oid, pg_catalog.pg_get_userbyid(c.relowner)::text,
       coalesce((SELECT s.spcname::text FROM pg_catalog.pg_tablespace s WHERE s.oid = c.reltablespace), ''),
       coalesce(pg_catalog.obj_description(c.oid, 'pg_class'), ''), c.relreplident::text,
       c.reloptions, t.reloptions, c.relrowsecurity, c.relforcerowsecurity,
       pg_catalog.array_remove(ARRAY[
           CASE WHEN c.relkind = 'p' THEN 'it is partitioned' END,
           CASE WHEN c.relispartition THEN 'it is a partition' END,
           CASE WHEN NOT c.relispartition AND EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhrelid = c.oid)
                THEN 'it inherits from another table' END,
           CASE WHEN c.relkind = 'r' AND EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhparent = c.oid)
                THEN 'other tables inherit from it' END,
           CASE WHEN c.reloftype <> 0 THEN 'it is a table of type ' || pg_catalog.format_type(c.reloftype, NULL) END,
           CASE WHEN c.relpersistence = 't' THEN 'it is temporary' END,
           CASE WHEN c.oid < 16384 THEN 'it is a system table' END,
           CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_seclabel l
                              WHERE l.classoid = 'pg_catalog.pg_class'::regclass AND l.objoid = c.oid)
                THEN 'it has a security label' END,
           CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_subscription_rel s WHERE s.srrelid = c.oid)
                THEN 'a subscription writes into it' END,
           (SELECT 'it belongs to extension ' || pg_catalog.quote_ident(x.extname)
              FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension x ON x.oid = d.refobjid
             WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid
               AND d.refclassid = 'pg_catalog.pg_extension'::regclass AND d.deptype = 'e')], NULL)
  FROM pg_catalog.pg_class c
  LEFT JOIN pg_catalog.pg_class t ON t.oid = c.reltoastrelid
 WHERE c.oid = ANY ($1::oid[]) AND c.relkind IN ('r', 'p')`

func (r *reader) tableQuestion(set string) question {
	return question{sql: tableSQL, args: []any{set}, row: func(rows pgx.Rows) error {
		var oid uint32
		var t tableTraits
		var blockers []string
		err := rows.Scan(&oid, &t.owner, &t.tablespace, &t.comment, &t.replica, &t.options, &t.toastOptions,
			&t.security, &t.forced, &blockers)
		if err != nil {
			return err
		}
		f := r.relations[oid]
		f.rebuild.Blockers = append(f.rebuild.Blockers, blockers...)
		f.carryTable(t)
		return nil
	}}
}

// carryTable writes the statements for what LIKE does not copy. Storage options come first, so that a caller who runs the
// statements before the rows fills the pages as wanted. The owner comes before the grants, which are his.
func (f *facts) carryTable(t tableTraits) {
	options := append(optionList("", t.options), optionList("toast.", t.toastOptions)...)
	if len(options) > 0 {
		f.after("ALTER TABLE ", place, " SET (", strings.Join(options, ", "), ")")
	}
	if t.tablespace != "" {
		f.after("ALTER TABLE ", place, " SET TABLESPACE ", ident(t.tablespace))
	}
	switch t.replica {
	case "n":
		f.after("ALTER TABLE ", place, " REPLICA IDENTITY NOTHING")
	case "f":
		f.after("ALTER TABLE ", place, " REPLICA IDENTITY FULL")
	}
	if t.comment != "" {
		f.after("COMMENT ON TABLE ", place, " IS ", literal(t.comment))
	}
	if t.security {
		f.after("ALTER TABLE ", place, " ENABLE ROW LEVEL SECURITY")
	}
	if t.forced {
		f.after("ALTER TABLE ", place, " FORCE ROW LEVEL SECURITY")
	}
	f.after("ALTER TABLE ", place, " OWNER TO ", ident(t.owner))
}

// optionList turns name=value texts into a list for SET (...).
func optionList(prefix string, options []string) []string {
	list := make([]string, 0, len(options))
	for _, o := range options {
		name, value, _ := strings.Cut(o, "=")
		list = append(list, prefix+ident(name)+" = "+literal(value))
	}
	return list
}

// PostgreSQL 15.20 keeps a number of its own, pg_attver, among the options of every column, which is not the user's to set.
const columnOptionSQL = `
SELECT a.attrelid, a.attname::text, coalesce(a.attstattarget, -1)::int, o.options
  FROM pg_catalog.pg_attribute a
 CROSS JOIN LATERAL (SELECT ARRAY(SELECT x FROM pg_catalog.unnest(a.attoptions) x WHERE x NOT LIKE 'pg\_%')) o(options)
 WHERE a.attrelid = ANY ($1::oid[]) AND a.attnum > 0 AND NOT a.attisdropped
   AND (coalesce(a.attstattarget, -1) >= 0 OR o.options <> '{}')
 ORDER BY a.attrelid, a.attnum`

func (r *reader) columnOptionQuestion(set string) question {
	return question{sql: columnOptionSQL, args: []any{set}, row: func(rows pgx.Rows) error {
		var oid uint32
		var name string
		var target int
		var options []string
		if err := rows.Scan(&oid, &name, &target, &options); err != nil {
			return err
		}
		f := r.relations[oid]
		if target >= 0 {
			f.after("ALTER TABLE ", place, " ALTER COLUMN ", ident(name), " SET STATISTICS ", strconv.Itoa(target))
		}
		if len(options) > 0 {
			f.after("ALTER TABLE ", place, " ALTER COLUMN ", ident(name), " SET (",
				strings.Join(optionList("", options), ", "), ")")
		}
		return nil
	}}
}

// Privileges that a new table gets by ALTER DEFAULT PRIVILEGES of who makes it.
const defaultGrantSQL = `
SELECT DISTINCT c.oid, CASE WHEN x.grantee = 0 THEN '' ELSE pg_catalog.pg_get_userbyid(x.grantee)::text END
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_default_acl d ON d.defaclobjtype = 'r' AND d.defaclnamespace IN (0, c.relnamespace)
  JOIN pg_catalog.pg_roles me ON me.oid = d.defaclrole AND me.rolname = current_user
 CROSS JOIN LATERAL pg_catalog.aclexplode(d.defaclacl) x
 WHERE c.oid = ANY ($1::oid[]) AND c.relkind = 'r' AND x.grantee <> c.relowner
 ORDER BY 1, 2`

func (r *reader) defaultGrantQuestion(set string) question {
	return question{sql: defaultGrantSQL, args: []any{set}, row: func(rows pgx.Rows) error {
		var oid uint32
		var grantee string
		if err := rows.Scan(&oid, &grantee); err != nil {
			return err
		}
		r.relations[oid].after("REVOKE ALL ON TABLE ", place, " FROM ", roleName(grantee))
		return nil
	}}
}

// An access list that is set replaces even the owner's own privileges, so it starts with taking those away.
const grantSQL = `
SELECT g.oid, '' AS col, pg_catalog.pg_get_userbyid(g.relowner)::text, '{}'::text[], false, 0 AS ord
  FROM pg_catalog.pg_class g
 WHERE g.oid = ANY ($1::oid[]) AND g.relkind = 'r' AND g.relacl IS NOT NULL
UNION ALL
SELECT c.oid, c.col, CASE WHEN x.grantee = 0 THEN '' ELSE pg_catalog.pg_get_userbyid(x.grantee)::text END,
       pg_catalog.array_agg(DISTINCT x.privilege_type), x.is_grantable, 1
  FROM (SELECT g.oid, '' AS col, g.relacl AS acl
          FROM pg_catalog.pg_class g WHERE g.oid = ANY ($1::oid[]) AND g.relkind = 'r'
        UNION ALL
        SELECT a.attrelid, a.attname::text, a.attacl
          FROM pg_catalog.pg_attribute a
         WHERE a.attrelid = ANY ($1::oid[]) AND a.attnum > 0 AND NOT a.attisdropped AND a.attacl IS NOT NULL) c
 CROSS JOIN LATERAL pg_catalog.aclexplode(c.acl) x
 GROUP BY c.oid, c.col, x.grantee, x.is_grantable
 ORDER BY 1, 6, 2, 3, 5`

func (r *reader) grantQuestion(set string) question {
	return question{sql: grantSQL, args: []any{set}, row: func(rows pgx.Rows) error {
		var oid uint32
		var column, grantee string
		var privileges []string
		var grantable bool
		var order int
		if err := rows.Scan(&oid, &column, &grantee, &privileges, &grantable, &order); err != nil {
			return err
		}
		f := r.relations[oid]
		if order == 0 {
			f.after("REVOKE ALL ON TABLE ", place, " FROM ", roleName(grantee))
			return nil
		}
		if column != "" {
			for i := range privileges {
				privileges[i] += " (" + ident(column) + ")"
			}
		}
		option := ""
		if grantable {
			option = " WITH GRANT OPTION"
		}
		f.after("GRANT ", strings.Join(privileges, ", "), " ON TABLE ", place, " TO ", roleName(grantee), option)
		return nil
	}}
}

// roleName quotes a role; the empty name is everybody.
func roleName(name string) string {
	if name == "" {
		return "PUBLIC"
	}
	return ident(name)
}
