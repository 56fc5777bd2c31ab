package planner

import "github.com/pghaul/pghaul/internal/sqltext"

// sequences carries over the state of the sequences that feed moved columns on both sides.
func (s *situation) sequences(p *Plan) []SequenceCopy {
	if p.Method == CreateAs || s.created && s.fromDirectory() { // There a new table has no sequences.
		return nil
	}
	var all []SequenceCopy
	for _, from := range s.source.Sequences {
		pair := s.pairOf(from.Column)
		if pair == nil {
			continue
		}
		write := s.setSequence(from, pair)
		if write == "" {
			continue
		}
		read := "SELECT last_value, is_called FROM " + sqltext.QuoteQualified(from.Schema, from.Name)
		if from.File != "" {
			read = from.File
		}
		all = append(all, SequenceCopy{Read: read, Write: write})
	}
	return all
}

func (s *situation) pairOf(sourceColumn string) *Pair {
	for i := range s.pairs {
		if s.pairs[i].Source.Name == sourceColumn {
			return &s.pairs[i]
		}
	}
	return nil
}

// setSequence is the statement that sets the target column's sequence, empty when it has none or shares the source's. One that a default
// only uses may serve other tables of the target, so its state never goes back.
func (s *situation) setSequence(from OwnedSequence, pair *Pair) string {
	if s.created && !from.Used {
		// setval is strict: where the new column has no sequence of its own nothing happens.
		return "SELECT pg_catalog.setval(" + serialOf(s.targetName, pair.Target.RealName()) + "::pg_catalog.regclass, $1::pg_catalog.int8, $2::pg_catalog.bool)"
	}
	if s.created {
		if name := s.usedName(from); name != "" && s.settable(from, pair) {
			return setFurther(name)
		}
		return ""
	}
	to := s.feeds(from, pair)
	if to == nil || !s.settable(from, pair) || !s.settable(*to, pair) {
		return ""
	}
	name := sqltext.QuoteQualified(to.Schema, to.Name)
	if s.fill() == Append || from.Used || to.Used {
		return setFurther(name)
	}
	return "SELECT pg_catalog.setval(" + classOf(name) + ", $1::pg_catalog.int8, $2::pg_catalog.bool)"
}

// feeds is the sequence of the target's column that goes on where the source's does, nil when there is none but the source's own. A default
// may use several, and a column own another one than its default uses.
func (s *situation) feeds(from OwnedSequence, pair *Pair) *OwnedSequence {
	var best *OwnedSequence
	likeness := -1
	for i := range s.target.Sequences {
		to := &s.target.Sequences[i]
		if to.Column != pair.Target.Name || s.facts.SameDatabase && to.Schema == from.Schema && to.Name == from.Name {
			continue
		}
		n := 0
		if to.Name == from.Name {
			n += 2
		}
		if to.Used == from.Used {
			n++
		}
		if n > likeness {
			best, likeness = to, n
		}
	}
	return best
}

// settable tells when a sequence stays as it is for want of a privilege.
func (s *situation) settable(q OwnedSequence, pair *Pair) bool {
	if q.Denied {
		s.note("sequence " + sqltext.QuoteQualified(q.Schema, q.Name) + ", which the default of column " + sqltext.QuoteIdent(pair.Target.Name) +
			" uses, may not be read or set: the state is not carried over")
	}
	return !q.Denied
}

// usedName is what the target calls a sequence that the new table's default uses, empty when it is the source's own.
func (s *situation) usedName(from OwnedSequence) string {
	if d := s.facts.Definition; d != nil {
		for _, u := range d.Uses {
			if u.Schema == from.Schema && u.Name == from.Name {
				return u.Target
			}
		}
	}
	return ""
}

func classOf(name string) string { return sqltext.QuoteLiteral(name) + "::pg_catalog.regclass" }

// setFurther keeps the state that is further on, in the sequence's own direction: rows that were there have used up values too.
func setFurther(name string) string {
	class := classOf(name)
	return "SELECT pg_catalog.setval(" + class + ", $1::pg_catalog.int8, $2::pg_catalog.bool) FROM " + name +
		" AS s, pg_catalog.pg_sequence AS q WHERE q.seqrelid = " + class +
		" AND (q.seqincrement > 0 AND $1 > s.last_value OR q.seqincrement < 0 AND $1 < s.last_value OR $1 = s.last_value AND $2 AND NOT s.is_called)"
}

// serialOf is an expression for the name of the sequence that feeds a column.
func serialOf(table, column string) string {
	return "pg_catalog.pg_get_serial_sequence(" + sqltext.QuoteLiteral(table) + ", " + sqltext.QuoteLiteral(column) + ")"
}
