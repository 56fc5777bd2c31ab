package planner

import (
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// staging is the temporary table of method merge; temporary tables have a schema of their own for each connection.
const staging = "pghaul_staging"

// mergeWay copies into a temporary table, and from there by one INSERT ... ON CONFLICT.
func mergeWay() way {
	return way{
		method: Merge,
		refuse: func(s *situation) string {
			switch {
			case s.wish.OnConflict == NoConflictAction:
				return "it needs --on-conflict"
			case s.wish.Returning != "":
				return "--returning is for the method insert"
			case s.wish.Commit == CommitRange:
				return "--commit range is for rows that arrive in several transactions"
			case s.created:
				return "the target does not exist, so it has no key yet"
			case s.target.Kind != Table && s.target.Kind != Partitioned:
				return "it writes to tables only"
			case s.target.Rules:
				return "ON CONFLICT cannot be used on a table with rules"
			case s.target.RowSecurity:
				return "only method insert writes to a table with row-level security"
			}
			_, why := s.conflictKey()
			return why
		},
		cost: func(s *situation, l *layout) cost {
			stage, into := s.relayRate(), s.streamCost(mergeFromStage, l)
			rows, bytes := s.amount()
			into.seconds += bytes/stage.bytes + rows*stage.row
			return into
		},
		finish: func(s *situation, p *Plan) { p.Merge = s.merge(p) },
		why:    "rows are written twice: to the staging table and to the target",
		single: true,
	}
}

// merge writes the statements. The staging table is made from a SELECT, so that it has the columns' types and collations but no constraint or
// default that would refuse or fill a row before its time.
func (s *situation) merge(p *Plan) *MergePlan {
	columns := p.targetColumns()
	key, _ := s.conflictKey()
	m := &MergePlan{
		Staging: staging,
		Create:  "CREATE TEMPORARY TABLE " + staging + " ON COMMIT DROP AS SELECT " + columns + " FROM " + s.targetName + " WITH NO DATA",
	}
	frozen := *p
	frozen.Frozen = true
	m.Write = frozen.copyFrom(staging)
	plain := p.insertHead(s.targetName) + " SELECT " + columns + " FROM " + staging + " " + s.conflictClause()
	unique := s.uniqueSource(key)
	switch {
	case unique != "":
		m.Merge = plain
	case s.wish.OnConflict == DoNothing:
		m.Merge, m.Count, m.CountAfter = plain, countShared(s.realNames(key)), !changesRows(s.target)
	default:
		m.Merge, m.Count, m.Plain = p.insertHead(s.targetName)+" SELECT "+s.deduplicated(columns, key)+" "+s.conflictClause(), countShared(s.realNames(key)), plain
	}
	p.Notes = append(p.Notes, s.mergeNote(unique))
	if len(s.facts.TruncatedWith) > 0 { // The next table's rows come in the same transaction.
		p.after("DROP TABLE " + staging)
	}
	return m
}

// changesRows reports whether a trigger may change or drop a row on its way in, so that the number of rows that the table took does not tell
// whether they shared keys.
func changesRows(r *Relation) bool {
	triggers := r.Triggers
	for i := range r.Leaves {
		triggers = slices.Concat(triggers, r.Leaves[i].Triggers)
	}
	return slices.ContainsFunc(triggers, func(t Trigger) bool { return t.Row && t.Before })
}

// countShared counts rows; a key with a NULL in it is equal to none.
func countShared(key []string) string {
	present := make([]string, len(key))
	for i, name := range key {
		present[i] = sqltext.QuoteIdent(name) + " IS NOT NULL"
	}
	return "SELECT COALESCE(pg_catalog.sum(n), 0)::pg_catalog.int8 FROM (SELECT pg_catalog.count(*) AS n FROM " + staging + " WHERE " +
		strings.Join(present, " AND ") + " GROUP BY " + sqltext.QuoteIdents(key) + " HAVING pg_catalog.count(*) > 1) AS shared"
}

// deduplicated is the SELECT list and all behind it. DO UPDATE may not meet a row twice, so of rows with one key the last that arrived is
// taken; rows lie in the staging table in the order of their arrival. DO NOTHING keeps the first by itself.
func (s *situation) deduplicated(columns string, key []string) string {
	by := sqltext.QuoteIdents(s.realNames(key))
	if nulls := s.nullable(key); len(nulls) > 0 {
		// DISTINCT holds NULLs to be equal and a unique key does not: such rows are told apart by their place.
		by += ", CASE WHEN " + strings.Join(nulls, " OR ") + " THEN ctid END"
	}
	return "DISTINCT ON (" + by + ") " + columns + " FROM " + staging + " ORDER BY " + by + ", ctid DESC"
}

func (s *situation) nullable(key []string) []string {
	var tests []string
	for _, name := range key {
		if c := column(s.target.Columns, name); c != nil && !c.NotNull {
			tests = append(tests, sqltext.QuoteIdent(c.RealName())+" IS NULL")
		}
	}
	return tests
}

func (s *situation) mergeNote(unique string) string {
	kept := "last"
	switch {
	case unique != "":
		return "no source rows have the same key, as the source's key " + sqltext.QuoteIdent(unique) + " holds: they are not counted"
	case s.wish.OnConflict == DoNothing:
		kept = "first"
	}
	return "of source rows with the same key the " + kept + " is kept; they are counted"
}
