package planner

import (
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// pagesBlock says why rows cannot be written as pages; the first reason of many.
func (s *loading) pagesBlock() string {
	if s.asked.Method != Pages {
		return "it is taken only when it is asked for by name"
	}
	for _, block := range []func() string{s.pagesWishBlock, s.pagesTargetBlock, s.pagesKeysBlock, s.pagesColumnsBlock, s.pagesServerBlock, s.pagesLoggingBlock} {
		if why := block(); why != "" {
			return why
		}
	}
	return ""
}

func (s *loading) pagesWishBlock() string {
	switch {
	case s.fill() == Append && s.asked.Fill == Append, s.asked.OnDuplicate != DuplicateError && s.asked.Fill == RequireEmpty && !s.created && !s.target.Empty:
		return "a new file takes the place of the old one, so rows cannot be added"
	case s.format == Text:
		return "pages are made of binary values: " + s.noBinary()
	}
	return ""
}

// pagesKeysBlock refuses foreign keys: they are checked of all rows together, when it is too late to tell which one is refused.
func (s *loading) pagesKeysBlock() string {
	if s.created || s.target.Rebuild == nil || len(s.target.Rebuild.ForeignKeys) == 0 {
		return ""
	}
	return "the target has foreign keys"
}

// pagesColumnsBlock names a column whose value only the server computes.
func (s *loading) pagesColumnsBlock() string {
	for i := range s.target.Columns {
		c := &s.target.Columns[i]
		filled := slices.ContainsFunc(s.pairs, func(p Pair) bool { return p.Target.Name == c.Name })
		switch {
		case c.Generated:
			return columnWord([]string{c.Name}) + " is generated, and the server would not compute it"
		case !filled && (c.HasDefault || c.Identity != 0 || c.Type.Class == Domain):
			return columnWord([]string{c.Name}) + " gets no value from the rows, and the server would not compute its default"
		}
	}
	return ""
}

func (s *loading) pagesServerBlock() string {
	f := s.facts.Pages
	switch {
	case s.facts.TargetServer.Pooled:
		return "a connection pooler stands in front of the server"
	case f == nil:
		return "what is needed of the server's files is not known"
	case len(f.Blocked) > 0:
		return strings.Join(f.Blocked, "; ")
	case f.Target.BlockSize != usualBlock:
		return "the server's blocks do not have 8192 bytes"
	}
	return ""
}

// usualBlock is BLCKSZ as nearly every server has it, in bytes.
const usualBlock = 8192

// planPages fills in what is sent beside the steps of the new table.
func (s *loading) planPages(p *Plan) {
	hidden := p.Parts[0].Target
	g := &PagesPlan{Logged: !s.wish.NotLogged, Jobs: s.wish.Connections, Empty: "TRUNCATE TABLE ONLY " + hidden}
	if g.Logged {
		g.Vacuum = "VACUUM (FREEZE, DISABLE_PAGE_SKIPPING, INDEX_CLEANUP off, TRUNCATE false"
		if s.facts.TargetServer.Version >= bufferUsageLimit {
			g.Vacuum += ", BUFFER_USAGE_LIMIT 0"
		}
		g.Vacuum += ") " + hidden
	} else {
		p.Notes = append(p.Notes, "the rows are in no WAL: standbys, archives and base backups taken before the end of this load do not get them")
	}
	for i := range s.given.Checks {
		if c := &s.given.Checks[i]; c.Kind == CheckExpression {
			check := PageConstraint{Name: c.Name, Expression: c.Expression}
			g.Checks = append(g.Checks, check.check(hidden))
		}
	}
	p.Pages = g
}

// loadPages are what is sent and done for pages that are made of rows, in order.
func (g *PagesPlan) loadPages(to string, columns []LoadColumn) []Statement {
	form := "the first tuple of each page is left for VACUUM to freeze, which so logs the page"
	if !g.Logged {
		form = "all frozen, with a visibility map, and in no WAL"
	}
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = columns[i].Name
	}
	all := []Statement{{Label: to, SQL: g.Empty}, {Label: "Pages", SQL: "form tuples (" + sqltext.QuoteIdents(names) + ") of the rows and write them into the files of the new table; " + form}}
	for _, c := range g.Checks {
		all = append(all, Statement{Label: "Check", SQL: c.SQL})
	}
	if g.Vacuum != "" {
		all = append(all, Statement{Label: to, SQL: g.Vacuum})
	}
	return all
}
