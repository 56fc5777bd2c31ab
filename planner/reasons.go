package planner

import (
	"fmt"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// reasons says why this method, this format and this commit.
func (s *situation) reasons(c candidate) []string {
	var all []string
	switch {
	case s.wish.Method != Auto:
		all = append(all, "method "+string(c.method)+" was asked for")
	case s.target.Kind == View:
		all = append(all, "only INSERT can write to a view")
	case s.wish.OnConflict != NoConflictAction && c.method == Merge:
		all = append(all, "rows with a known key are merged at the speed of COPY")
	default:
		all = append(all, "method "+string(c.method)+" is estimated to take the least time")
	}
	if streams(c.method) {
		all = append(all, s.formatReason())
	}
	all = append(all, c.layout.reasons...)
	if c.layout.frozen {
		all = append(all, "rows are frozen on arrival: the table is "+s.freshness()+" in the same transaction")
	}
	return all
}

func (s *situation) freshness() string {
	if s.created {
		return "made"
	}
	return "truncated"
}

func (s *situation) formatReason() string {
	switch {
	case s.fromDirectory():
		return "text format, as the rows are decoded from the files of a data directory"
	case len(s.inexact) > 0:
		p := s.inexact[0]
		more := ""
		if n := len(s.inexact) - 1; n > 0 {
			more = fmt.Sprintf(" (and %d more)", n)
		}
		return "text format, as column " + sqltext.QuoteIdent(p.Source.Name) + " " + p.Why + more
	case s.wish.Format == Text:
		return "text format was asked for"
	}
	return "binary format, as every column's type is the same on both sides"
}
