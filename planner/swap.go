package planner

import (
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// swap fills a new table beside the target and puts it in the target's place. Its indexes are built before the swap, which then only
// renames, so that the target is locked for a moment; foreign keys are checked within it.
func (s *situation) swap(p *Plan, l *layout) {
	w := swapping{s: s, hidden: l.hidden, base: hiddenBase(s.target.Schema, s.target.Name)}
	drop := "DROP TABLE IF EXISTS " + w.hidden
	p.Before = append(p.Before, Step{SQL: drop, Own: true}, Step{SQL: w.create(), Own: true, Undo: drop})
	w.build(p)
	p.after("LOCK TABLE " + s.targetName + " IN ACCESS EXCLUSIVE MODE")
	if s.fill() == RequireEmpty {
		p.after(w.guard())
	}
	w.takeSequences(p)
	p.after("DROP TABLE " + s.targetName)
	p.after("ALTER TABLE " + w.hidden + " RENAME TO " + sqltext.QuoteIdent(s.target.Name))
	w.nameIndexes(p)
	w.nameSequences(p)
	for _, key := range s.target.Rebuild.ForeignKeys {
		p.after("ALTER TABLE " + s.targetName + " ADD " + key)
	}
	w.dress(p)
}

// swapping is one exchange of tables.
type swapping struct {
	s      *situation
	hidden string // quoted, qualified
	base   string // unquoted name, which the names of its indexes start with
}

func (w swapping) create() string {
	t := w.s.target
	sql := "CREATE TABLE "
	if t.Unlogged {
		sql = "CREATE UNLOGGED TABLE "
	}
	sql += w.hidden + " (LIKE " + w.s.targetName + " INCLUDING ALL EXCLUDING INDEXES)"
	if t.AccessMethod != "" && t.AccessMethod != "heap" {
		sql += " USING " + sqltext.QuoteIdent(t.AccessMethod)
	}
	statements := []string{sql}
	for _, early := range t.Rebuild.After {
		if settles(early) {
			statements = append(statements, w.fitted(early, w.hidden))
		}
	}
	return together(statements)
}

// settles tells the statements that decide where and how rows are stored (fillfactor, tablespace), and so must come before them. The others,
// triggers and publications among them, must come after.
func settles(statement string) bool { return strings.HasPrefix(statement, "ALTER TABLE %s SET ") }

// fitted puts the table's name where the statement has %s.
func (w swapping) fitted(statement, table string) string {
	return strings.ReplaceAll(trimQuery(statement), "%s", table)
}

func (w swapping) indexName(i int) string { return fmt.Sprintf("%s_%d", w.base, i+1) }

// build makes the indexes under names of their own, as the old ones still stand.
func (w swapping) build(p *Plan) {
	for i, x := range w.s.target.Rebuild.Indexes {
		if excludes(x) {
			continue
		}
		unique := ""
		if x.Unique {
			unique = "UNIQUE "
		}
		p.After = append(p.After, Step{SQL: "CREATE " + unique + "INDEX " + w.indexName(i) + " ON " + w.hidden + " " + x.Method, Own: true, Parallel: true})
	}
	for i, x := range w.s.target.Rebuild.Indexes {
		if excludes(x) {
			p.After = append(p.After, Step{SQL: "ALTER TABLE " + w.hidden + " ADD CONSTRAINT " + w.indexName(i) + " " + x.Constraint, Own: true})
		}
	}
}

func excludes(x IndexDef) bool { return strings.HasPrefix(x.Constraint, "EXCLUDE") }

// guard fails when somebody has filled the old table meanwhile. 55000 is object_not_in_prerequisite_state.
func (w swapping) guard() string {
	message := "target table " + w.s.targetName + " is not empty any more"
	return do("BEGIN IF EXISTS (SELECT FROM ONLY " + w.s.targetName + ") THEN RAISE EXCEPTION USING ERRCODE = '55000', MESSAGE = " +
		sqltext.QuoteLiteral(message) + "; END IF; END")
}

// do wraps a block of PL/pgSQL. A name inside may contain anything, the tag of a dollar quote too.
func do(block string) string {
	const tag = "$pghaul$"
	if strings.Contains(block, tag) {
		return "DO " + sqltext.QuoteLiteral(block)
	}
	return "DO " + tag + " " + block + " " + tag
}

// takeSequences keeps DROP TABLE from taking the sequences of serial columns along, and carries on those of identity columns, which LIKE
// has made anew.
func (w swapping) takeSequences(p *Plan) {
	t := w.s.target
	if t.Owner != "" && t.Owner != w.s.facts.TargetServer.User {
		// A sequence and its table must have one owner.
		p.after("ALTER TABLE " + w.hidden + " OWNER TO " + sqltext.QuoteIdent(t.Owner))
	}
	for _, q := range t.Sequences {
		if q.Used { // It belongs to no column, and stays where it is.
			continue
		}
		name := sqltext.QuoteQualified(q.Schema, q.Name)
		if w.identity(q) {
			p.after("SELECT pg_catalog.setval(" + serialOf(w.hidden, w.feeds(q)) + "::pg_catalog.regclass, last_value, is_called) FROM " + name)
			continue
		}
		p.after("ALTER SEQUENCE " + name + " OWNED BY " + w.hidden + "." + sqltext.QuoteIdent(w.feeds(q)))
	}
}

func (w swapping) identity(q OwnedSequence) bool {
	c := column(w.s.target.Columns, q.Column)
	return c != nil && c.Identity != 0
}

// feeds is the real name of the column that the sequence feeds.
func (w swapping) feeds(q OwnedSequence) string { return w.s.realNames([]string{q.Column})[0] }

// nameSequences gives the identity columns' sequences the old ones' names. Which name LIKE chose is not known before.
func (w swapping) nameSequences(p *Plan) {
	for _, q := range w.s.target.Sequences {
		if w.identity(q) {
			p.after(do("BEGIN EXECUTE 'ALTER SEQUENCE ' || " + serialOf(w.s.targetName, w.feeds(q)) + " || ' RENAME TO ' || pg_catalog.quote_ident(" +
				sqltext.QuoteLiteral(q.Name) + "); END"))
		}
	}
}

// nameIndexes turns indexes into constraints, which renames them too, and gives the others their old names.
func (w swapping) nameIndexes(p *Plan) {
	table := "ALTER TABLE " + w.s.targetName
	for i, x := range w.s.target.Rebuild.Indexes {
		built, name := w.indexName(i), sqltext.QuoteIdent(x.Name)
		constraint := name
		if x.ConstraintName != "" {
			constraint = sqltext.QuoteIdent(x.ConstraintName)
		}
		switch {
		case x.Constraint == "":
			p.after("ALTER INDEX " + sqltext.QuoteQualified(w.s.target.Schema, built) + " RENAME TO " + name)
		case excludes(x):
			p.after(table + " RENAME CONSTRAINT " + built + " TO " + constraint)
		default:
			kind, deferral := splitConstraint(x.Constraint)
			p.after(table + " ADD CONSTRAINT " + constraint + " " + kind + " USING INDEX " + built + deferral)
		}
	}
}

// splitConstraint parts "UNIQUE DEFERRABLE" where USING INDEX goes.
func splitConstraint(definition string) (kind, deferral string) {
	for _, kind := range []string{"PRIMARY KEY", "UNIQUE"} {
		if rest, ok := strings.CutPrefix(definition, kind); ok {
			return kind, rest
		}
	}
	return definition, ""
}

// dress carries over what depends on the indexes' names, then everything that LIKE leaves out.
func (w swapping) dress(p *Plan) {
	table := "ALTER TABLE " + w.s.targetName
	for _, x := range w.s.target.Rebuild.Indexes {
		name := sqltext.QuoteIdent(x.Name)
		if x.Comment != "" {
			p.after("COMMENT ON INDEX " + sqltext.QuoteQualified(w.s.target.Schema, x.Name) + " IS " + sqltext.QuoteLiteral(x.Comment))
		}
		if x.Clustered {
			p.after(table + " CLUSTER ON " + name)
		}
		if x.ReplicaIdent {
			p.after(table + " REPLICA IDENTITY USING INDEX " + name)
		}
	}
	for _, sql := range w.s.target.Rebuild.After {
		if !settles(sql) {
			p.after(w.fitted(sql, w.s.targetName))
		}
	}
}
