package planner

import (
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// steps fills in what the target is told before and after the rows.
func (s *situation) steps(p *Plan, l *layout) {
	switch l.atomic {
	case PerRange:
		s.rangeSteps(p)
	case Swap:
		switch {
		case s.created && p.Method == Pages:
			s.bornWithPages(p, l)
		case s.created:
			s.bornHidden(p, l)
		default:
			s.swap(p, l)
		}
	case OneTransaction, TwoPhase:
		s.innerSteps(p)
	}
	s.forget(p)
	s.late(p)
}

// late adds what a new table has to say of others.
func (s *situation) late(p *Plan) {
	if s.facts.Definition == nil || p.Method == CreateAs {
		return
	}
	for _, sql := range s.facts.Definition.ForeignKeys {
		p.After = append(p.After, Step{SQL: trimQuery(sql), Own: true, Late: true})
	}
}

// innerSteps are those of the transaction that writes the rows.
func (s *situation) innerSteps(p *Plan) {
	if p.Method == Insert && s.target.RowSecurity {
		// Sessions have row_security off, so that a policy is an error and no silent filter. Here the policies are to be obeyed.
		p.before("SET LOCAL row_security = on")
	}
	if !s.created {
		if by := s.facts.TruncatedBy; s.fill() == Truncate && (by == "" || by == s.targetName) {
			p.before(s.truncateSQL())
		}
		return
	}
	if p.Method == CreateAs {
		return
	}
	if s.facts.Definition == nil {
		p.before("CREATE UNLOGGED TABLE " + s.targetName + " (LIKE " + s.sourceName + " INCLUDING ALL EXCLUDING INDEXES)")
		p.after("ALTER TABLE " + s.targetName + " SET LOGGED")
		return
	}
	for _, sql := range s.makeTable(s.target.Name) {
		p.before(sql)
	}
	if p.Method == Unlogged {
		// Cheap, as the table is empty. Its own sequences change with it from PostgreSQL 15 on.
		p.before("ALTER TABLE " + s.targetName + " SET UNLOGGED")
		p.after("ALTER TABLE " + s.targetName + " SET LOGGED")
	}
	for _, sql := range append(append([]string(nil), s.facts.Definition.Indexes...), s.facts.Definition.After...) {
		p.after(trimQuery(sql))
	}
}

func (p *Plan) before(sql string) { p.Before = append(p.Before, Step{SQL: sql}) }

func (p *Plan) after(sql string) { p.After = append(p.After, Step{SQL: sql}) }

// truncateSQL empties the target, and those that are truncated with it, and not the tables that inherit from them. A list binds one by one.
func (s *situation) truncateSQL() string {
	targets := []string{onlyTable(Place{Relation: s.targetName, Kind: s.target.Kind})}
	for _, p := range s.facts.TruncatedWith {
		targets = append(targets, onlyTable(p))
	}
	return "TRUNCATE TABLE " + strings.Join(targets, ", ")
}

func onlyTable(p Place) string {
	if p.Kind == Table {
		return "ONLY " + p.Relation
	}
	return p.Relation
}

// makeTable makes the target from its definition, under the given name in the target's schema.
func (s *situation) makeTable(name string) []string {
	d := s.facts.Definition
	var all []string
	for _, u := range d.Uses {
		if u.SQL != "" {
			all = append(all, trimQuery(u.SQL))
		}
	}
	for _, sql := range d.Before {
		all = append(all, trimQuery(sql))
	}
	schema, has := d.Schema, d.Name
	if schema == "" {
		schema = s.target.Schema
	}
	if has == "" {
		has = s.target.Name
	}
	if has != name {
		all = append(all, "ALTER TABLE "+sqltext.QuoteQualified(schema, has)+" RENAME TO "+sqltext.QuoteIdent(name))
	}
	if schema != s.target.Schema {
		all = append(all, "ALTER TABLE "+sqltext.QuoteQualified(schema, name)+" SET SCHEMA "+sqltext.QuoteIdent(s.target.Schema))
	}
	return all
}

// together joins statements into one text, which the server runs as one transaction.
func together(statements []string) string { return strings.Join(statements, ";\n") }

// bornHidden makes a missing target under the hidden name, where several connections fill it, and names it when they are done. Only then
// are its indexes built, side by side, as their statements name the table that they belong to. A failure among them takes the table back:
// the last step is the transaction that decides.
func (s *situation) bornHidden(p *Plan, l *layout) {
	drop := "DROP TABLE IF EXISTS " + l.hidden
	p.Before = append(p.Before, Step{SQL: drop, Own: true})
	for _, u := range s.facts.Definition.Uses {
		if u.SQL != "" {
			p.Before = append(p.Before, Step{SQL: trimQuery(u.SQL), Own: true, Undo: dropUnused(u.Target)})
		}
	}
	p.Before = append(p.Before, Step{SQL: together(s.makeTable(hiddenBase(s.target.Schema, s.target.Name))), Own: true, Undo: drop})
	p.After = append(p.After, Step{SQL: "ALTER TABLE " + l.hidden + " RENAME TO " + sqltext.QuoteIdent(s.target.Name), Own: true,
		Undo: "DROP TABLE IF EXISTS " + s.targetName})
	for _, sql := range s.facts.Definition.Indexes {
		p.After = append(p.After, Step{SQL: trimQuery(sql), Own: true, Parallel: true})
	}
	for _, sql := range s.facts.Definition.After {
		p.after(trimQuery(sql))
	}
	if last := &p.After[len(p.After)-1]; last.Own {
		*last = Step{SQL: last.SQL}
	}
}

// dropUnused drops a sequence unless another table has come to use it.
func dropUnused(sequence string) string {
	return do("BEGIN DROP SEQUENCE IF EXISTS " + sequence + "; EXCEPTION WHEN dependent_objects_still_exist THEN NULL; END")
}

// forget drops the records of interrupted moves whose rows this one removes. Else one of them would go on as if its rows were there.
func (s *situation) forget(p *Plan) {
	if s.fill() != Truncate && s.fill() != Replace || s.wish.Commit == CommitRange {
		return
	}
	for _, sql := range s.forgetSQL() {
		p.after(sql)
	}
}

func (s *situation) forgetSQL() []string {
	var keys, all []string
	if r := s.facts.Recorded; r != nil && r.Key != "" {
		keys = append(keys, r.Key)
	}
	for _, u := range s.facts.Unfinished {
		keys = append(keys, u.Key)
	}
	for _, key := range keys {
		key = sqltext.QuoteLiteral(key)
		all = append(all, "DELETE FROM pghaul.done_range WHERE key = "+key, "DELETE FROM pghaul.move WHERE key = "+key)
	}
	return all
}
