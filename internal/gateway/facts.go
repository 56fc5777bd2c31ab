package gateway

import (
	"encoding/json"

	"github.com/pghaul/pghaul/internal/wire"
)

const (
	// ownName is the name of the prepared statement, portal and savepoint that the gateway makes for a moment.
	ownName = "pghaul_gateway"

	// checkName is the name of the prepared statement that stays: by it is seen whether a table is still as it was.
	checkName = "pghaul_check"
)

// factsQuery gives facts as JSON in one row, whatever there is. $1 is the table's name, quoted, $2 the name of a prepared
// statement or empty. In a snapshot that may be older than the table's lock, a row of the catalogs that has an xmax may have a
// newer version: that the table has no triggers, rules, policies and so on cannot be told then. Built-in functions have no
// entries in pg_depend.
const factsQuery = `WITH t AS (
 SELECT c.oid, c.relname, c.relnamespace, c.relkind, c.relhasrules, c.relrowsecurity, c.relhastriggers, c.relnatts, c.xmax::text <> '0' AS old
   FROM pg_catalog.pg_class c WHERE c.oid = pg_catalog.to_regclass($1)::oid
), tree AS (
 SELECT t.oid FROM t
 UNION SELECT p.relid::oid FROM t, LATERAL pg_catalog.pg_partition_tree(t.oid) p WHERE t.relkind = 'p'
), att AS (
 SELECT a.attnum, a.attname, a.atttypid, a.atttypmod, a.attidentity, a.attgenerated, a.xmax::text <> '0' AS old, d.adbin::text AS expr
   FROM t JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
   LEFT JOIN pg_catalog.pg_attrdef d ON a.atthasdef AND d.adrelid = a.attrelid AND d.adnum = a.attnum
), con AS (
 SELECT n.oid FROM pg_catalog.pg_constraint n WHERE n.conrelid IN (SELECT oid FROM tree) AND n.contype = 'c'
 UNION ALL SELECT n.oid FROM pg_catalog.pg_constraint n WHERE n.contypid IN (SELECT atttypid FROM att) AND n.contypid <> 0
), trg AS (
 SELECT g.tgisinternal, g.tgconstraint FROM t, pg_catalog.pg_trigger g
  WHERE t.relhastriggers AND g.tgrelid IN (SELECT oid FROM tree) AND g.tgtype & 4 <> 0 AND g.tgenabled <> 'D'
 UNION ALL
 SELECT g.tgisinternal, g.tgconstraint FROM t, pg_catalog.pg_trigger g
  WHERE t.relkind = 'p' AND NOT t.relhastriggers AND g.tgrelid IN (SELECT oid FROM tree) AND g.tgtype & 4 <> 0 AND g.tgenabled <> 'D'
)
SELECT pg_catalog.json_build_object(
 'process', pg_catalog.pg_backend_pid(), 'version', pg_catalog.version(),
 'number', pg_catalog.current_setting('server_version_num')::int,
 'isolation', pg_catalog.current_setting('transaction_isolation'),
 'mode', coalesce(pg_catalog.current_setting('pghaul.mode', true), ''),
 'timeout', pg_catalog.current_setting('statement_timeout') <> '0',
 'found', EXISTS (SELECT FROM t), 'oid', (SELECT oid::int8 FROM t),
 'schema', (SELECT n.nspname FROM t JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace),
 'name', (SELECT relname FROM t), 'kind', (SELECT relkind FROM t), 'system', (SELECT oid < 16384 FROM t),
 'rules', (SELECT relhasrules FROM t), 'security', (SELECT relrowsecurity FROM t), 'hasany', (SELECT relhastriggers FROM t),
 'foreign', EXISTS (SELECT FROM t, tree JOIN pg_catalog.pg_class c ON c.oid = tree.oid WHERE t.relkind = 'p' AND c.relkind NOT IN ('r', 'p')),
 'stale', pg_catalog.current_setting('transaction_isolation') <> 'read committed'
    AND ((SELECT old FROM t) OR EXISTS (SELECT FROM att WHERE old)),
 'triggers', EXISTS (SELECT FROM trg WHERE NOT tgisinternal),
 'selfkey', EXISTS (SELECT FROM trg JOIN pg_catalog.pg_constraint n ON n.oid = trg.tgconstraint
    WHERE n.contype = 'f' AND n.confrelid IN (SELECT oid FROM tree)),
 'functions', EXISTS (SELECT FROM con JOIN pg_catalog.pg_depend d
    ON d.classid = 'pg_catalog.pg_constraint'::pg_catalog.regclass AND d.objid = con.oid
    LEFT JOIN pg_catalog.pg_proc p ON d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND p.oid = d.refobjid
    WHERE p.provolatile <> 'i' OR d.refclassid = 'pg_catalog.pg_operator'::pg_catalog.regclass),
 'heavy', (SELECT relkind = 'p' FROM t) OR EXISTS (SELECT FROM con)
    OR EXISTS (SELECT FROM att WHERE expr ~ ':[a-z]*funcid (1[6-9][0-9]{3}|[2-9][0-9]{4}|[0-9]{6})'),
 'prepared', coalesce((SELECT s.statement FROM pg_catalog.pg_prepared_statements s WHERE $2 <> '' AND s.name = $2), ''),
 'columns', coalesce((SELECT pg_catalog.json_agg(pg_catalog.json_build_object(
    'name', attname, 'type', atttypid::int8, 'modifier', atttypmod, 'typename', pg_catalog.format_type(atttypid, NULL),
    'sqltype', pg_catalog.format_type(atttypid, -1),
    'isarray', (SELECT y.typelem <> 0 OR y.typarray = 0 FROM pg_catalog.pg_type y WHERE y.oid = atttypid),
    'class', (SELECT y.typtype FROM pg_catalog.pg_type y WHERE y.oid = atttypid),
    'identity', attidentity, 'generated', attgenerated,
    'default', CASE WHEN expr IS NULL THEN '' WHEN expr ~ 'SUBLINK|NEXTVALUEEXPR' THEN 'u'
       WHEN EXISTS (SELECT FROM pg_catalog.regexp_matches(expr, ':[a-z]*funcid ([0-9]+)', 'g') m
          LEFT JOIN pg_catalog.pg_proc p ON p.oid = (m[1])::oid
          WHERE m[1] <> '0' AND p.provolatile IS DISTINCT FROM 'i' AND m[1] NOT IN ('1574', '1299', '2647')) THEN 'u' ELSE 's' END)
    ORDER BY attnum) FROM att), '[]'::json))::text AS facts`

// markQuery gives a short text that changes with the facts, in a tenth of the time. Each row of the catalogs has the number of
// the transaction that wrote it. It does not see into partitions, into functions that defaults and checks call, and into
// domains: tables that have any are heavy, and their facts are asked anew.
const markQuery = `SELECT pg_catalog.concat_ws('/', c.oid, c.xmin, c.relnamespace,
  pg_catalog.current_setting('transaction_isolation'), pg_catalog.current_setting('statement_timeout'), coalesce(pg_catalog.current_setting('pghaul.mode', true), ''),
  (SELECT pg_catalog.string_agg(a.xmin::text, ',' ORDER BY a.attnum) FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0),
  CASE WHEN pg_catalog.current_setting('transaction_isolation') <> 'read committed' THEN (SELECT pg_catalog.concat_ws(',', c.xmax,
    pg_catalog.string_agg(a.xmax::text, ',' ORDER BY a.attnum)) FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0) END,
  CASE WHEN c.relhastriggers THEN
    (SELECT pg_catalog.string_agg(g.xmin::text, ',' ORDER BY g.oid) FROM pg_catalog.pg_trigger g WHERE g.tgrelid = c.oid) END,
  CASE WHEN $2 <> '' THEN
    (SELECT pg_catalog.md5(s.statement) FROM pg_catalog.pg_prepared_statements s WHERE s.name = $2) END) AS mark
  FROM pg_catalog.pg_class c WHERE c.oid = pg_catalog.to_regclass($1)::oid`

// factsSQL gives fingerprint, mark and facts.
const factsSQL = `SELECT pg_catalog.md5(f.facts), f.facts, (` + markQuery + `) FROM (` + factsQuery + `) f`

// factsCheckSQL fails with a division by zero when the fingerprint is no longer $3.
const factsCheckSQL = `SELECT 1 / (pg_catalog.md5(f.facts) = $3)::int FROM (` + factsQuery + `) f`

// checkSQL gives the mark, and fails with a division by zero when it is no longer $3, unless that is empty.
const checkSQL = `SELECT m.mark, 1 / ($3 = '' OR coalesce(m.mark = $3, false))::int FROM (SELECT (` + markQuery + `) AS mark) m`

// appendRun adds the messages that carry out one statement by the extended protocol, without a Sync, and leave nothing
// behind. Each statement and portal that could be left from a failed run is closed before.
func appendRun(dst []byte, sql string, params ...[]byte) []byte {
	dst = wire.AppendClose(dst, wire.Statement, ownName)
	dst = wire.AppendParse(dst, ownName, sql, nil)
	dst = appendExecution(dst, ownName, params...)
	return wire.AppendClose(dst, wire.Statement, ownName)
}

func appendExecution(dst []byte, statement string, params ...[]byte) []byte {
	dst = wire.AppendClose(dst, wire.Portal, ownName)
	dst = wire.AppendBind(dst, &wire.Bind{Portal: ownName, Statement: statement, Params: params})
	dst = wire.AppendExecute(dst, ownName, 0)
	return wire.AppendClose(dst, wire.Portal, ownName)
}

// ask gets the facts of a table, and with them the types of the statement's parameters. In a transaction block a savepoint
// keeps a failure away from the client's work.
func (a *accel) ask(st *statement, block bool) (*facts, string) {
	var m []byte
	if block {
		m = appendRun(m, "SAVEPOINT "+ownName)
	}
	m = appendRun(m, factsSQL, []byte(quotedTable(st.insert)), []byte(st.name))
	if !st.typed {
		m = wire.AppendParse(m, ownName, string(st.sql), st.oids)
		m = wire.AppendDescribe(m, wire.Statement, ownName)
		m = wire.AppendClose(m, wire.Statement, ownName)
	}
	if block {
		m = appendRun(m, "RELEASE SAVEPOINT "+ownName)
	}
	e := newErrand()
	e.keep = true // what it has to say concerns nobody
	if err := a.run(e, wire.AppendSync(m)); err != nil {
		return nil, "session ended"
	}
	if e.failure != nil {
		if block {
			a.undo()
		}
		return nil, "facts refused"
	}
	f := readFacts(e.replies, st)
	if f == nil {
		return nil, "facts unreadable"
	}
	f.refused = f.judge(a.process())
	a.setMode(modeOr(f.Mode, a.start))
	return f, ""
}

// still tells whether facts that were known before are true in this transaction block.
func (a *accel) still(st *statement, f *facts) bool {
	m := appendRun(nil, "SAVEPOINT "+ownName)
	m = a.appendCheckName(m)
	m = appendExecution(m, checkName, []byte(quotedTable(st.insert)), []byte(st.name), []byte{})
	m = appendRun(m, "RELEASE SAVEPOINT "+ownName)
	e := newErrand()
	e.keep = true
	if err := a.run(e, wire.AppendSync(m)); err != nil {
		a.broken = err
		return false
	}
	if e.failure != nil {
		a.checking = false
		a.undo()
		return false
	}
	a.checking = true
	for _, r := range e.replies {
		if r.kind == wire.TypeDataRow {
			fields, ok := rowFields(r.body)
			return ok && len(fields) == 2 && string(fields[0]) == f.mark && f.mark != ""
		}
	}
	return false
}

// appendCheckName prepares checkName when it is not yet.
func (a *accel) appendCheckName(m []byte) []byte {
	if a.checking {
		return m
	}
	m = wire.AppendClose(m, wire.Statement, checkName)
	return wire.AppendParse(m, checkName, checkSQL, nil)
}

// undo goes back to before the gateway's own savepoint.
func (a *accel) undo() {
	m := appendRun(nil, "ROLLBACK TO SAVEPOINT "+ownName)
	m = appendRun(m, "RELEASE SAVEPOINT "+ownName)
	e := newErrand()
	e.keep = true
	if err := a.run(e, wire.AppendSync(m)); err != nil {
		a.broken = err
	}
}

// readFacts reads the row of factsSQL and the description of the statement's parameters.
func readFacts(replies []reply, st *statement) *facts {
	var f *facts
	for _, r := range replies {
		switch r.kind {
		case wire.TypeDataRow:
			fields, ok := rowFields(r.body)
			if !ok || len(fields) != 3 {
				return nil
			}
			f = &facts{fingerprint: string(fields[0]), mark: string(fields[2])}
			if json.Unmarshal(fields[1], f) != nil {
				return nil
			}
		case wire.TypeParamDesc:
			types, ok := parameterTypes(r.body)
			if !ok {
				return nil
			}
			st.types, st.typed = types, true
		}
	}
	if f == nil {
		return nil
	}
	f.byName = map[string]int{}
	for at := range f.Columns {
		f.byName[f.Columns[at].Name] = at
	}
	f.prepared = map[string]*statement{}
	if st.name != "" && f.Prepared == string(st.sql) {
		f.prepared[st.name] = st
	}
	return f
}
