package catalog

import (
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// Clones of a partitioned table's triggers have a parent and stand on partitions, which are never replaced.
const triggerDefSQL = `
SELECT t.tgrelid, t.tgname::text, t.tgenabled::text, pg_catalog.pg_get_triggerdef(t.oid),
       pg_catalog.format(' ON %I.%I ', n.nspname, c.relname), coalesce(pg_catalog.obj_description(t.oid, 'pg_trigger'), '')
  FROM pg_catalog.pg_trigger t
  JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid AND c.relkind = 'r'
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE t.tgrelid = ANY ($1::oid[]) AND NOT t.tgisinternal
 ORDER BY t.tgrelid, t.tgname`

func (r *reader) triggerDefQuestion(set string) question {
	return question{sql: triggerDefSQL, args: []any{set}, row: func(rows pgx.Rows) error {
		var oid uint32
		var name, enabled, definition, on, comment string
		if err := rows.Scan(&oid, &name, &enabled, &definition, &on, &comment); err != nil {
			return err
		}
		r.relations[oid].carryTrigger(name, enabled, definition, on, comment)
		return nil
	}}
}

func (f *facts) carryTrigger(name, enabled, definition, on, comment string) {
	at := outsideQuotes(definition, on)
	if at < 0 {
		f.block("the definition of trigger ", sqltext.QuoteIdent(name), " is not understood")
		return
	}
	f.after(definition[:at], " ON ", place, " ", definition[at+len(on):])
	switch enabled {
	case "D":
		f.after("ALTER TABLE ", place, " DISABLE TRIGGER ", ident(name))
	case "R":
		f.after("ALTER TABLE ", place, " ENABLE REPLICA TRIGGER ", ident(name))
	case "A":
		f.after("ALTER TABLE ", place, " ENABLE ALWAYS TRIGGER ", ident(name))
	}
	if comment != "" {
		f.after("COMMENT ON TRIGGER ", ident(name), " ON ", place, " IS ", literal(comment))
	}
}

// policyRow is a row security policy.
type policyRow struct {
	name, command, using, check, comment string
	permissive                           bool
	roles                                []string
}

// A sub-select inside a policy names the table's own columns by the table's name, so the statements are for the time when the
// new table has that name.
const policySQL = `
SELECT p.polrelid, p.polname::text, p.polpermissive,
       CASE p.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' ELSE 'ALL' END,
       ARRAY(SELECT CASE WHEN o = 0 THEN '' ELSE pg_catalog.pg_get_userbyid(o)::text END
               FROM pg_catalog.unnest(p.polroles) o ORDER BY 1),
       coalesce(pg_catalog.pg_get_expr(p.polqual, p.polrelid), ''), coalesce(pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid), ''),
       coalesce(pg_catalog.obj_description(p.oid, 'pg_policy'), '')
  FROM pg_catalog.pg_policy p
 WHERE p.polrelid = ANY ($1::oid[])
 ORDER BY p.polrelid, p.polname`

func (r *reader) policyQuestion(set string) question {
	return question{sql: policySQL, args: []any{set}, row: func(rows pgx.Rows) error {
		var oid uint32
		var p policyRow
		err := rows.Scan(&oid, &p.name, &p.permissive, &p.command, &p.roles, &p.using, &p.check, &p.comment)
		if err != nil {
			return err
		}
		r.relations[oid].carryPolicy(p)
		return nil
	}}
}

func (f *facts) carryPolicy(p policyRow) {
	kind := "PERMISSIVE"
	if !p.permissive {
		kind = "RESTRICTIVE"
	}
	roles := make([]string, len(p.roles))
	for i, role := range p.roles {
		roles[i] = roleName(role)
	}
	clauses := []string{"CREATE POLICY", ident(p.name), "ON", place, "AS", kind, "FOR", p.command, "TO", strings.Join(roles, ", ")}
	if p.using != "" {
		clauses = append(clauses, "USING ("+p.using+")")
	}
	if p.check != "" {
		clauses = append(clauses, "WITH CHECK ("+p.check+")")
	}
	f.after(strings.Join(clauses, " "))
	if p.comment != "" {
		f.after("COMMENT ON POLICY ", ident(p.name), " ON ", place, " IS ", literal(p.comment))
	}
}

// Whatever depends on the table or its row type and is not a part of the table itself. Foreign keys are told by referenceSQL,
// inheritance by tableSQL. An object that is dropped meanwhile has no description.
const dependentSQL = `
SELECT DISTINCT t.oid,
       CASE WHEN w.ev_class = t.oid THEN 'it has rule ' || pg_catalog.quote_ident(w.rulename)
            WHEN w.oid IS NOT NULL
            THEN coalesce(pg_catalog.pg_describe_object('pg_catalog.pg_class'::regclass, w.ev_class, 0), 'a view') || ' reads it'
            ELSE coalesce(pg_catalog.pg_describe_object(d.classid, d.objid, d.objsubid), 'an object') || ' depends on it' END
  FROM pg_catalog.pg_class t
 CROSS JOIN LATERAL (VALUES
       ('pg_catalog.pg_class'::regclass::oid, t.oid), ('pg_catalog.pg_type'::regclass::oid, t.reltype),
       ('pg_catalog.pg_type'::regclass::oid, (SELECT y.typarray FROM pg_catalog.pg_type y WHERE y.oid = t.reltype))) ref(class, obj)
  JOIN pg_catalog.pg_depend d ON d.refclassid = ref.class AND d.refobjid = ref.obj
  LEFT JOIN pg_catalog.pg_rewrite w ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND w.oid = d.objid
 WHERE t.oid = ANY ($1::oid[]) AND t.relkind = 'r'
   AND NOT CASE d.classid
       WHEN 'pg_catalog.pg_class'::regclass THEN d.objid = t.oid OR d.objid = t.reltoastrelid
            OR EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indexrelid = d.objid AND i.indrelid = t.oid)
            OR EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhrelid = d.objid AND i.inhparent = t.oid)
            OR d.deptype IN ('a', 'i') AND EXISTS (SELECT FROM pg_catalog.pg_class s WHERE s.oid = d.objid AND s.relkind = 'S')
       WHEN 'pg_catalog.pg_type'::regclass THEN d.objid = t.reltype
            OR EXISTS (SELECT FROM pg_catalog.pg_type y WHERE y.oid = d.objid AND y.typelem = t.reltype)
       WHEN 'pg_catalog.pg_constraint'::regclass
            THEN EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.oid = d.objid AND (k.conrelid = t.oid OR k.contype = 'f'))
       WHEN 'pg_catalog.pg_trigger'::regclass
            THEN EXISTS (SELECT FROM pg_catalog.pg_trigger g WHERE g.oid = d.objid AND (g.tgrelid = t.oid OR g.tgisinternal))
       WHEN 'pg_catalog.pg_attrdef'::regclass
            THEN EXISTS (SELECT FROM pg_catalog.pg_attrdef a WHERE a.oid = d.objid AND a.adrelid = t.oid)
       WHEN 'pg_catalog.pg_policy'::regclass
            THEN EXISTS (SELECT FROM pg_catalog.pg_policy p WHERE p.oid = d.objid AND p.polrelid = t.oid)
       WHEN 'pg_catalog.pg_statistic_ext'::regclass
            THEN EXISTS (SELECT FROM pg_catalog.pg_statistic_ext x WHERE x.oid = d.objid AND x.stxrelid = t.oid)
       WHEN 'pg_catalog.pg_publication_rel'::regclass THEN true
       ELSE false END`

func (r *reader) dependentQuestion(set string) question {
	return question{sql: dependentSQL, args: []any{set}, row: func(rows pgx.Rows) error {
		var oid uint32
		var phrase string
		if err := rows.Scan(&oid, &phrase); err != nil {
			return err
		}
		r.relations[oid].block(phrase)
		return nil
	}}
}
