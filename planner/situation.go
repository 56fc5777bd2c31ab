package planner

// situation is all that is known before the methods are compared.
type situation struct {
	facts  *Facts
	wish   *Wish
	source *Relation
	target *Relation
	// The real relations, quoted and qualified.
	sourceName, targetName string

	created bool // the target is missing and the move makes it
	pairs   []Pair
	inexact []Pair // those whose binary form may differ
	format  Format

	rows  int64 // -1 unknown
	bytes int64
	notes []string
}

// survey makes the checks that hold for all methods and pairs the columns.
func survey(facts *Facts, wish *Wish) (*situation, *Error) {
	s := &situation{facts: facts, wish: wish, source: &facts.Source, target: &facts.Target}
	s.sourceName, s.targetName = relationName(s.source), relationName(s.target)
	s.rows, s.bytes = size(s.source)
	for _, check := range []func() *Error{
		s.checkServers, s.checkDirectory, s.checkSource, s.checkSame, s.checkMissing, s.checkTarget, s.checkRecord, s.checkFill,
		s.pairColumns, s.checkPrivileges, s.chooseFormat,
	} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	s.noteSource()
	s.noteTarget()
	return s, nil
}

// size is the number of rows and stored bytes of a relation, over its leaves.
func size(r *Relation) (rows, bytes int64) {
	if len(r.Leaves) == 0 {
		return max(r.Rows, -1), max(r.HeapBytes, 0) + max(r.ToastBytes, 0)
	}
	for i := range r.Leaves {
		leaf := &r.Leaves[i]
		bytes += max(leaf.HeapBytes, 0) + max(leaf.ToastBytes, 0)
		if leaf.Rows < 0 || rows < 0 {
			rows = -1
			continue
		}
		rows += leaf.Rows
	}
	return rows, bytes
}

func (s *situation) note(phrase string) { s.notes = append(s.notes, phrase) }

// fill is Wish.Fill as it is meant: rows with a known key may come to a target that holds some.
func (s *situation) fill() Fill {
	if s.wish.OnConflict != NoConflictAction && s.wish.Fill == RequireEmpty {
		return Append
	}
	return s.wish.Fill
}

// recorded is the record of the interrupted move that this one goes on with, or nil.
func (s *situation) recorded() *Recorded {
	if s.wish.Commit != CommitRange || s.facts.Recorded == nil || len(s.facts.Recorded.Ranges) == 0 {
		return nil
	}
	return s.facts.Recorded
}

// columns are the pairs as the method moves them.
func (s *situation) columns(m Method) []Pair {
	if m == CreateAs {
		return s.allPairs()
	}
	return s.pairs
}
