package planner

import (
	"fmt"
	"slices"
	"strings"
)

// loadWay is one method of a load as the planner sees it.
type loadWay struct {
	method Method
	// refuse returns a whole phrase that says why the method cannot be used, empty when it can.
	refuse func(*loading) string
	rate   rate
	// single says why one connection writes whatever is asked for; empty when several can.
	single string
	why    string
}

// loadWays are the methods of a load in the order in which a plan lists them.
func loadWays() []loadWay {
	return []loadWay{
		{method: Relay, refuse: (*loading).relayBlock, rate: relayBinary, why: "the rows are parsed here and sent by COPY"},
		{method: Insert, refuse: (*loading).insertBlock, rate: insertBatch, why: "the rows are parsed here and sent as parameters of INSERT"},
		{method: Merge, refuse: (*loading).mergeBlock, rate: mergeFromStage, single: "a temporary table belongs to one connection", why: "rows are written twice: to a temporary table and to the target"},
		{method: Pages, refuse: (*loading).pagesBlock, rate: rate{bytes: pagesLogged}, single: "one connection makes the table whose files are written", why: "taken only when it is asked for by name"},
	}
}

// loadCandidate is a method with what came of looking at it.
type loadCandidate struct {
	loadWay
	reason string // why it is refused
	err    *Error // the same for a user who asked for it by name
	option bool   // it is an option that stands in its way
	layout *layout
	cost   cost
}

func (s *loading) choose() (*Plan, *Error) {
	var all []loadCandidate
	for _, w := range loadWays() {
		all = append(all, s.consider(w))
	}
	best, err := s.pick(all)
	if err != nil {
		return nil, err
	}
	p := s.plan(&all[best])
	p.Others = s.others(all, best)
	return p, nil
}

func (s *loading) consider(w loadWay) loadCandidate {
	c := loadCandidate{loadWay: w, reason: w.refuse(s)}
	if c.reason != "" {
		hint := "Leave --method out to have the fastest safe method chosen."
		if s.target.Kind == View {
			hint = "Use --method insert."
		}
		c.err = refusal("method "+string(w.method)+" cannot load into "+s.targetName, sentence(c.reason), hint)
		return c
	}
	if c.layout, c.err = s.arrange(&w); c.err != nil {
		c.reason, c.option = lowerFirst(c.err.Message), true
		return c
	}
	if w.method == Relay && s.format == Text {
		w.rate = relayText
	}
	c.cost = s.streamCost(w.rate, c.layout)
	rows, bytes := s.amount()
	switch w.method {
	case Merge:
		c.cost.seconds += bytes/relayBinary.bytes + rows*relayBinary.row
	case Insert:
		c.cost.seconds += rows * batchOverhead / float64(s.insertSize()) / s.speedUp(c.layout.connections)
	}
	return c
}

// pick returns the index of the method that was asked for, or of the first that can be used and is not for those alone who name it.
func (s *loading) pick(all []loadCandidate) (int, *Error) {
	if s.asked.Method != Auto {
		i := slices.IndexFunc(all, func(c loadCandidate) bool { return c.method == s.asked.Method })
		return i, all[i].err
	}
	for _, m := range []Method{Relay, Merge, Insert} {
		if i := slices.IndexFunc(all, func(c loadCandidate) bool { return c.method == m && c.reason == "" }); i >= 0 {
			return i, nil
		}
	}
	if i := slices.IndexFunc(all, func(c loadCandidate) bool { return c.option }); i >= 0 {
		return i, all[i].err
	}
	var detail []string
	for _, c := range all {
		if c.method != Pages {
			detail = append(detail, sentence(string(c.method)+": "+c.reason))
		}
	}
	return -1, refusal("no method can load "+s.given.Input+" into "+s.targetName, strings.Join(detail, " "), "")
}

func (s *loading) others(all []loadCandidate, best int) []Alternative {
	var others []Alternative
	for i, c := range all {
		switch {
		case i == best:
		case c.reason != "":
			others = append(others, Alternative{Method: c.method, Refused: c.reason})
		default:
			others = append(others, Alternative{Method: c.method, Factor: c.cost.seconds / all[best].cost.seconds, Why: c.why})
		}
	}
	return others
}

func (s *loading) relayBlock() string {
	switch {
	case s.asked.OnDuplicate != DuplicateError:
		return "COPY has no ON CONFLICT"
	case len(s.asked.Set) > 0:
		return "COPY computes no expressions"
	}
	return s.copyBlock()
}

func (s *loading) insertBlock() string {
	switch {
	case s.asked.Freeze == Yes:
		return "INSERT cannot freeze rows"
	case s.wish.Format == Binary:
		return "values are sent as text"
	case s.asked.OnDuplicate == DuplicateKeepOld:
		return "--on-duplicate keep-old takes a temporary table to find the rows that are dropped"
	case s.asked.OnDuplicate != DuplicateError && s.target.Rules && s.target.Kind != View:
		return "ON CONFLICT cannot be used on a table with rules"
	case s.asked.OnDuplicate != DuplicateError && s.created:
		return "the target does not exist, so it has no key yet"
	}
	_, why := s.duplicateKey()
	return why
}

func (s *loading) mergeBlock() string {
	switch {
	case s.asked.OnDuplicate == DuplicateError && len(s.asked.Set) == 0:
		return "it needs --on-duplicate or --set"
	case s.asked.Freeze == Yes:
		return "INSERT cannot freeze rows"
	case s.created && s.asked.OnDuplicate != DuplicateError:
		return "the target does not exist, so it has no key yet"
	case !s.created && s.target.Kind != Table && s.target.Kind != Partitioned:
		return "it writes to tables only"
	case s.target.Rules:
		return "rules of the target would be applied to the whole input at once"
	case s.target.RowSecurity:
		return "only method insert writes to a table with row-level security"
	}
	_, why := s.duplicateKey()
	return why
}

// plan builds the chosen plan.
func (s *loading) plan(c *loadCandidate) *Plan {
	l := c.layout
	p := &Plan{
		Method: c.method, Format: s.format, Source: Place{Relation: s.given.Input, Kind: Query}, Target: place(&s.facts.TargetServer, s.target, s.targetName),
		Atomic: l.atomic, Frozen: l.frozen, Commit: s.wish.Commit, Parts: l.parts, Ranges: l.ranges, Connections: l.connections, Resumes: s.going() != nil,
	}
	p.Load = &LoadPlan{
		Input: s.given.Input, Files: s.given.Files, Relation: s.target.Name, Begin: s.begin(c.method), Columns: s.columns, NoBinary: s.noBinary(),
		OnError: s.asked.OnError, OnDuplicate: s.asked.OnDuplicate, CommitEvery: s.asked.CommitEvery, Savepoints: s.savepoints(c.method),
	}
	if l.hidden != "" {
		p.Load.Relation = hiddenBase(s.target.Schema, s.target.Name)
	}
	switch c.method {
	case Insert:
		s.planInsert(p)
	case Merge:
		s.planStage(p)
	case Pages:
		s.planPages(p)
	default:
		p.Load.CopyText, p.Load.CopyBinary = s.copyInto(p.Parts[0].Target, s.columns, false, p.Frozen)
	}
	s.steps(p, l)
	s.planCheck(p)
	p.Reasons = s.reasons(c)
	p.Notes = append(append(append([]string(nil), s.notes...), l.notes...), p.Notes...)
	p.Estimate = Estimate{Rows: s.rows, Bytes: s.bytes, Seconds: c.cost.seconds, WALBytes: int64(c.cost.wal)}
	if s.given.Bytes < 0 {
		p.Estimate = Estimate{Rows: -1, WALBytes: -1}
	}
	return p
}

// reasons says why this method, this format and this commit.
func (s *loading) reasons(c *loadCandidate) []string {
	var all []string
	switch {
	case s.asked.Method != Auto:
		all = append(all, "method "+string(c.method)+" was asked for")
	case c.method == Relay:
		all = append(all, "rows are parsed here and sent by COPY")
	case c.method == Merge && s.asked.OnDuplicate != DuplicateError:
		all = append(all, "rows with a known key are merged at the speed of COPY")
	case c.method == Merge:
		all = append(all, "--set is computed by the server, of rows that COPY has put into a temporary table")
	default:
		all = append(all, s.copyBlock())
	}
	switch why := s.noBinary(); {
	case c.method == Insert:
	case why != "":
		all = append(all, "text format, as "+why)
	default:
		all = append(all, "binary format, as the values of every column have an exact binary form here")
	}
	all = append(all, c.layout.reasons...)
	if c.layout.frozen {
		all = append(all, "rows are frozen on arrival: the table is "+s.freshness()+" in the same transaction")
	}
	return all
}

// savepoints reports whether batches stand in subtransactions.
func (s *loading) savepoints(m Method) bool { return s.asked.OnError == SetRowsAside && m != Pages }

// begin are the statements at the start of each transaction that writes rows.
func (s *loading) begin(m Method) []string {
	all := slices.Clone(s.given.Session)
	if len(s.sets) > 0 { // What the user wrote means what it means in the role's own sessions.
		all = append(all, ownPath)
	}
	if s.asked.Triggers == No && !s.created {
		all = append(all, "SET LOCAL session_replication_role = replica")
	}
	if m == Insert && s.target.RowSecurity && s.asked.CommitEvery > 0 { // Else it is a step before the rows.
		all = append(all, "SET LOCAL row_security = on")
	}
	return all
}

// ownPath restores the role's own search_path.
const ownPath = "SELECT pg_catalog.set_config('search_path', s.reset_val, true) FROM pg_catalog.pg_settings AS s WHERE s.name = 'search_path'"

// hasKeys reports whether the target has an index that refuses rows.
func (s *loading) hasKeys() bool {
	if s.created {
		return false
	}
	if len(s.target.Keys) > 0 || s.target.Rebuild == nil && s.target.Indexes > 0 {
		return true
	}
	for i := range s.target.Leaves {
		if len(s.target.Leaves[i].Keys) > 0 {
			return true
		}
	}
	return s.target.Rebuild != nil && slices.ContainsFunc(s.target.Rebuild.Indexes, func(x IndexDef) bool { return x.Unique || excludes(x) })
}

// insertSize is the number of rows of one INSERT. One that changes rows which are there cannot meet a row twice.
func (s *loading) insertSize() int {
	switch {
	case s.wish.OnConflict == DoUpdate:
		return 1
	case s.asked.BatchSize > 0:
		return min(s.asked.BatchSize, mostParameters/len(s.insertColumns()))
	}
	return min(usualBatch, mostParameters/len(s.insertColumns()))
}

func (s *loading) planInsert(p *Plan) {
	size := s.insertSize()
	switch {
	case s.wish.OnConflict == DoUpdate:
		p.Notes = append(p.Notes, "each row is a statement of its own, since one INSERT cannot change a row twice")
	case size < s.asked.BatchSize:
		p.Notes = append(p.Notes, fmt.Sprintf("a batch has %s: a statement takes 65535 parameters, one for each value", count(size, "row")))
	}
	p.Format, p.Load.NoBinary = Text, "parameters of INSERT are sent as text"
	p.Load.Batch, p.Load.Columns = s.insertBatch(p.Parts[0].Target, size), s.insertColumns()
}
