package planner

import "github.com/pghaul/pghaul/internal/sqltext"

// sequences carries over the state of the sequences that feed moved columns on both sides.
func (s *situation) sequences(p *Plan) []SequenceCopy {
	if p.Method == CreateAs {
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
		all = append(all, SequenceCopy{Read: "SELECT last_value, is_called FROM " + sqltext.QuoteQualified(from.Schema, from.Name), Write: write})
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

// setSequence is the statement that sets the target column's sequence, empty when it has none or shares the source's.
func (s *situation) setSequence(from OwnedSequence, pair *Pair) string {
	if s.created {
		// setval is strict: where the new column has no sequence of its own nothing happens.
		return "SELECT pg_catalog.setval(" + serialOf(s.targetName, pair.Target.RealName()) + "::pg_catalog.regclass, $1::pg_catalog.int8, $2::pg_catalog.bool)"
	}
	for _, to := range s.target.Sequences {
		if to.Column != pair.Target.Name || s.facts.SameDatabase && to.Schema == from.Schema && to.Name == from.Name {
			continue
		}
		name := sqltext.QuoteQualified(to.Schema, to.Name)
		class := sqltext.QuoteLiteral(name) + "::pg_catalog.regclass"
		set := "SELECT pg_catalog.setval(" + class + ", $1::pg_catalog.int8, $2::pg_catalog.bool)"
		if s.fill() != Append {
			return set
		}
		// Rows that were there have used up values too: the state that is further on is kept, in the sequence's own direction.
		return set + " FROM " + name + " AS s, pg_catalog.pg_sequence AS q WHERE q.seqrelid = " + class +
			" AND (q.seqincrement > 0 AND $1 > s.last_value OR q.seqincrement < 0 AND $1 < s.last_value OR $1 = s.last_value AND $2 AND NOT s.is_called)"
	}
	return ""
}

// serialOf is an expression for the name of the sequence that feeds a column.
func serialOf(table, column string) string {
	return "pg_catalog.pg_get_serial_sequence(" + sqltext.QuoteLiteral(table) + ", " + sqltext.QuoteLiteral(column) + ")"
}
