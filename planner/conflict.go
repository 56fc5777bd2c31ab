package planner

import (
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// conflictKey returns the columns by which rows are known again, by the names that the user knows, or why there are none.
func (s *situation) conflictKey() (columns []string, why string) {
	if len(s.wish.ConflictColumns) == 0 {
		for _, k := range s.target.Keys {
			if k.Primary {
				return s.movedKey(k.Columns)
			}
		}
		return nil, "target " + s.targetName + " has no primary key, and --conflict-columns names no other key"
	}
	for _, name := range s.wish.ConflictColumns {
		if column(s.target.Columns, name) == nil {
			return nil, "target " + s.targetName + " has no " + columnWord([]string{name}) + " that --conflict-columns names"
		}
		columns = append(columns, name)
	}
	// What a view's or foreign table's keys are is the server's to say.
	if s.target.Kind != View && s.target.Kind != ForeignTable && !slices.ContainsFunc(s.target.Keys, func(k Key) bool { return sameSet(k.Columns, columns) }) {
		return nil, "target " + s.targetName + " has no unique key on " + list(s.wish.ConflictColumns)
	}
	return s.movedKey(columns)
}

// movedKey refuses a key with a column that gets no value from the source.
func (s *situation) movedKey(columns []string) ([]string, string) {
	for _, name := range columns {
		if !slices.ContainsFunc(s.pairs, func(p Pair) bool { return p.Target.Name == name }) {
			return nil, "key " + columnWord([]string{name}) + " of the target is not copied"
		}
	}
	return columns, ""
}

// realNames are what the relation that is written calls these columns.
func (s *situation) realNames(columns []string) []string {
	names := make([]string, len(columns))
	for i, name := range columns {
		names[i] = name
		if c := column(s.target.Columns, name); c != nil {
			names[i] = c.RealName()
		}
	}
	return names
}

func sameSet(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for _, name := range a {
		if !slices.Contains(b, name) {
			return false
		}
	}
	return true
}

// conflictClause is ON CONFLICT with its action, empty when none is wished.
func (s *situation) conflictClause() string {
	if s.wish.OnConflict == NoConflictAction {
		return ""
	}
	key, why := s.conflictKey()
	if why != "" {
		// Without a key rows can still be dropped, whichever of the target's keys they break.
		return "ON CONFLICT DO NOTHING"
	}
	target := "ON CONFLICT (" + sqltext.QuoteIdents(s.realNames(key)) + ") "
	if s.wish.OnConflict == DoNothing {
		return target + "DO NOTHING"
	}
	var sets []string
	for _, p := range s.pairs {
		if name := p.Target.RealName(); !slices.Contains(key, p.Target.Name) {
			sets = append(sets, sqltext.QuoteIdent(name)+" = EXCLUDED."+sqltext.QuoteIdent(name))
		}
	}
	if len(sets) == 0 {
		return target + "DO NOTHING"
	}
	return target + "DO UPDATE SET " + strings.Join(sets, ", ")
}
