package planner

import (
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// PagesPlan is how method pages writes.
type PagesPlan struct {
	Logged bool // the rows reach the WAL, through Vacuum; else they are in the target's files alone
	// Lock and Checkpoint are sent to the source's server: they keep the table still and its pages on disk. Empty where no server runs.
	Lock       string
	Checkpoint string
	// Empty gives the new table, in the transaction that fills it, a file that nothing knows yet.
	Empty  string
	Vacuum string // of the new table, once it is committed; empty when not Logged
	// Columns has for each column of the new table the index of the source's attribute, dropped ones counted; nil where all are the same.
	Columns []int
	Jobs    int    // goroutines that rewrite pages; 0 means one for each processor
	Blocks  int64  // of the source's main fork when it was planned
	File    string // the source's first segment then, below its data directory
	// Checks are queries over the new table that return a row where it breaks a constraint which its source has not.
	Checks []PageCheck
}

// PageCheck is one constraint that the new table's rows are looked through for.
type PageCheck struct {
	Name string // what is broken, in words
	SQL  string
}

// PageFacts is what method pages must know of both sides beside what all methods do.
type PageFacts struct {
	// Blocked are whole phrases that say why the files cannot be read or written from here. Empty when they can.
	Blocked        []string
	Source, Target PageSide
	// Unseen are those who would not get rows that are in no WAL, as phrases: "2 standbys are connected".
	Unseen []string
	// FullPageWrites is the target's setting.
	FullPageWrites bool
}

// PageSide is one side's files.
type PageSide struct {
	BlockSize     int             // bytes
	SegmentBlocks int             // blocks of a full segment file
	File          string          // of the table's first segment, below the data directory; empty of one that is to be made
	Attributes    []PageAttribute // of the table, by number, dropped ones included; nil of a table that is to be made
	Checks        []PageConstraint
}

// PageAttribute is a column as its values lie on the page (pg_attribute).
type PageAttribute struct {
	Name      string
	Dropped   bool
	Len       int16
	Align     byte
	NotNull   bool
	Unproven  bool   // NotNull as NOT VALID (from 18 on): older rows may hold NULL
	Generated string // the expression; empty for none
	Virtual   bool   // generated when it is read
	Calls     bool   // Generated calls functions or operators that are not PostgreSQL's own
}

// PageConstraint is a CHECK constraint.
type PageConstraint struct {
	Name       string
	Definition string // as pg_get_constraintdef prints it
	Expression string
	Valid      bool
	Unenforced bool // NOT ENFORCED (from 18 on)
	Calls      bool // it calls functions or operators that are not PostgreSQL's own
}

// pagesWay writes the files of a new table with the pages of the source's. It is taken only when it is asked for by name.
func pagesWay() way {
	return way{
		method: Pages,
		refuse: (*situation).pagesBlock,
		cost: func(s *situation, _ *layout) cost {
			_, bytes := s.amount()
			if s.wish.NotLogged {
				return cost{seconds: start + bytes/pagesUnlogged}
			}
			return cost{seconds: start + bytes/pagesLogged, wal: bytes}
		},
		finish: (*situation).finishPages,
		why:    "taken only when it is asked for by name",
	}
}

// pagesBlock says why pages cannot be copied; the first reason of many.
func (s *situation) pagesBlock() string {
	if s.wish.Method != Pages {
		return "it is taken only when it is asked for by name"
	}
	for _, block := range []func() string{s.pagesWishBlock, s.pagesSourceBlock, s.pagesTargetBlock, s.pagesServerBlock, s.pagesLoggingBlock, s.pagesLayoutBlock} {
		if why := block(); why != "" {
			return why
		}
	}
	return ""
}

func (s *situation) pagesWishBlock() string {
	w := s.wish
	switch {
	case w.Where != "" || w.Columns != nil || s.source.Kind == Query:
		return "pages are copied whole, with all their rows and columns"
	case w.OnConflict != NoConflictAction || w.Returning != "":
		return "no INSERT is sent, so there is no ON CONFLICT and no RETURNING"
	case w.Commit == CommitRange:
		return "--commit range is for rows that arrive in several transactions"
	case w.Fill == Append:
		return "a new file takes the place of the old one, so rows cannot be added"
	case s.fill() == Truncate && len(s.facts.TruncatedWith) > 0:
		return "foreign keys tie the target to other tables that are truncated with it"
	}
	return ""
}

func (s *situation) pagesSourceBlock() string {
	r := s.source
	switch {
	case r.Kind == Partitioned:
		return "a partitioned table has no pages of its own; name its partitions"
	case r.Kind == MatView && !s.fromDirectory():
		return "a materialized view cannot be locked against its refresh"
	case r.Kind != Table && r.Kind != MatView:
		return "a " + kindName(r.Kind) + " has no pages"
	case r.AccessMethod != "heap":
		return fmt.Sprintf("the source's access method is %q, and only heap pages are known", r.AccessMethod)
	case r.Temporary:
		return "a temporary table's newest pages are in the memory of one session"
	case r.Unlogged && !s.fromDirectory():
		return "a checkpoint does not write the pages of an unlogged table"
	case len(r.Path) > 0:
		return "the source is reached through a foreign table"
	}
	return ""
}

func (s *situation) pagesTargetBlock() string {
	r := s.target
	switch {
	case s.created:
		return ""
	case len(r.Path) > 0:
		return "the target is reached through a foreign table"
	case r.AccessMethod != "heap" && r.Kind == Table:
		return fmt.Sprintf("the target's access method is %q, and only heap pages are known", r.AccessMethod)
	case r.Unlogged:
		return "the target is unlogged: after a crash the server would empty it"
	case r.Rules:
		return "rules of the target would not be asked"
	case r.RowSecurity:
		return "row-level security of the target would not be asked"
	case len(r.Triggers) > 0 && s.fill() != Replace:
		return "the target's triggers would not fire"
	}
	return strings.Join(s.swapBlocks(), "; ")
}

func (s *situation) pagesServerBlock() string {
	from, to := &s.facts.SourceServer, &s.facts.TargetServer
	f := s.facts.Pages
	switch {
	case from.Standby:
		return "the source is a standby, where a table cannot be locked against changes"
	case from.Pooled || to.Pooled:
		return "a connection pooler stands in front of a server"
	case from.Encoding != to.Encoding:
		return "the source's encoding is " + from.Encoding + " and the target's " + to.Encoding
	case f == nil:
		return "what is needed of the servers' files is not known"
	case len(f.Blocked) > 0:
		return strings.Join(f.Blocked, "; ")
	case f.Source.BlockSize != f.Target.BlockSize:
		return fmt.Sprintf("the source's blocks have %d bytes and the target's %d", f.Source.BlockSize, f.Target.BlockSize)
	}
	return ""
}

func (s *situation) pagesLoggingBlock() string {
	f := s.facts.Pages
	switch {
	case !s.wish.NotLogged && !f.FullPageWrites:
		return "the target has full_page_writes off, so VACUUM would not put the pages into the WAL"
	case s.wish.NotLogged && len(f.Unseen) > 0 && !s.wish.AcceptMissing:
		return "the rows would be in no WAL, and " + strings.Join(f.Unseen, ", and ") +
			"; --accept-missing-on-standbys takes that, and without --not-logged they get the rows"
	}
	return ""
}

// finishPages fills in what is sent beside the steps of the new table.
func (s *situation) finishPages(p *Plan) {
	hidden := p.Parts[0].Target
	g := &PagesPlan{Logged: !s.wish.NotLogged, Columns: s.pageColumns(), Jobs: s.wish.Connections, Empty: "TRUNCATE TABLE ONLY " + hidden, Blocks: s.source.Pages,
		File: s.facts.Pages.Source.File, Checks: s.pageChecks(hidden)}
	if !s.fromDirectory() {
		g.Lock, g.Checkpoint = "LOCK TABLE ONLY "+s.sourceName+" IN SHARE MODE", "CHECKPOINT"
	}
	if g.Logged {
		g.Vacuum = "VACUUM (FREEZE, DISABLE_PAGE_SKIPPING, INDEX_CLEANUP off, TRUNCATE false"
		if s.facts.TargetServer.Version >= bufferUsageLimit {
			g.Vacuum += ", BUFFER_USAGE_LIMIT 0"
		}
		g.Vacuum += ") " + hidden
	} else {
		p.Notes = append(p.Notes, "the rows are in no WAL: standbys, archives and base backups taken before the end of this copy do not get them")
	}
	if !s.fromDirectory() {
		p.Notes = append(p.Notes, "writers of the source wait until its pages have been read")
	}
	if g.Columns != nil {
		p.Notes = append(p.Notes, "tuples are formed anew, as the columns of source and target stand in different places on the page")
	}
	p.Pages = g
}

// bufferUsageLimit is the first server_version_num whose VACUUM has BUFFER_USAGE_LIMIT. Without it the small ring of buffers makes VACUUM
// wait for the WAL again and again.
const bufferUsageLimit = 160000

// pageChecks are the constraints of the target that its source does not vouch for.
func (s *situation) pageChecks(hidden string) []PageCheck {
	checks := s.domainChecks(hidden)
	from, to := &s.facts.Pages.Source, &s.facts.Pages.Target
	if to.Attributes == nil { // A new table takes its source's constraints, and holds them all to be valid.
		for _, c := range from.Checks {
			if !c.Valid && !c.Unenforced {
				checks = append(checks, c.check(hidden))
			}
		}
		for _, a := range from.Attributes {
			if a.NotNull && a.Unproven && !a.Dropped {
				checks = append(checks, a.check(hidden))
			}
		}
		return checks
	}
	for _, a := range to.Attributes {
		if i := attributeNamed(from.Attributes, a.Name); i >= 0 && a.NotNull && !a.Dropped && (!from.Attributes[i].NotNull || from.Attributes[i].Unproven) {
			checks = append(checks, a.check(hidden))
		}
	}
	for _, c := range to.Checks {
		if c.Valid && !s.vouched(from.Checks, c) {
			checks = append(checks, c.check(hidden))
		}
	}
	return checks
}

// check looks for a NULL.
func (a *PageAttribute) check(table string) PageCheck {
	column := sqltext.QuoteIdent(a.Name)
	return PageCheck{Name: "column " + column + " holds NULL, which the target does not take",
		// IS NULL would not be looked at: from 17 on the server holds it to be false for such a column.
		SQL: "SELECT FROM ONLY " + table + " WHERE pg_catalog.num_nulls(" + column + ") > 0 LIMIT 1"}
}

// check looks for a row that breaks the constraint.
func (c *PageConstraint) check(table string) PageCheck {
	return PageCheck{Name: "a row breaks the target's constraint " + sqltext.QuoteIdent(c.Name),
		SQL: "SELECT FROM ONLY " + table + " WHERE NOT (" + c.Expression + ") LIMIT 1"}
}

// bornWithPages makes a missing target under the hidden name, where it gets its rows. All that follows is one transaction, so that the table
// appears with its indexes or not at all.
func (s *situation) bornWithPages(p *Plan, l *layout) {
	s.bornHidden(p, l)
	for i := range p.After {
		p.After[i] = Step{SQL: p.After[i].SQL}
	}
}

// vouched reports whether a valid constraint of the source says the same. A function of the same name may be another one in another database.
func (s *situation) vouched(constraints []PageConstraint, c PageConstraint) bool {
	for _, have := range constraints {
		if have.Valid && have.Definition == c.Definition && (s.facts.SameDatabase || !c.Calls && !have.Calls) {
			return true
		}
	}
	return false
}

// statements are what is sent and done for the pages, in order.
func (g *PagesPlan) statements() []Statement {
	var all []Statement
	add := func(label, sql string) {
		if sql != "" {
			all = append(all, Statement{Label: label, SQL: sql})
		}
	}
	add("Source SQL", g.Lock)
	add("Source SQL", g.Checkpoint)
	add("Target SQL", g.Empty)
	form := "the first tuple of each page is left for VACUUM to freeze, which so logs the page"
	if !g.Logged {
		form = "all frozen, with a visibility map, and in no WAL"
	}
	from := count(int(g.Blocks), "block")
	if g.File != "" {
		from = g.File + " (" + from + ")"
	}
	add("Pages", fmt.Sprintf("write the live tuples of %s into new pages, and those of the TOAST table, whose index is then built; %s", from, form))
	for _, c := range g.Checks {
		add("Check", c.SQL)
	}
	add("Target SQL", g.Vacuum)
	return all
}
