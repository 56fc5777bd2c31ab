package planner

import "slices"

// Choose returns the plan for moving facts.Source to facts.Target as wished. An error is an *Error: of kind Usage when the wish
// contradicts itself, with all complaints at once; Refused when the method or an option that was asked for cannot be used on these
// tables; Failed when no method could move the rows.
func Choose(facts Facts, wish Wish) (*Plan, error) {
	if err := checkWish(&wish); err != nil {
		return nil, err
	}
	s, err := survey(&facts, &wish)
	if err != nil {
		return nil, err
	}
	p, err := s.choose()
	if err != nil {
		return nil, err
	}
	return p, nil
}

// way is one method as the planner sees it.
type way struct {
	method Method
	// refuse returns a whole phrase that says why the method cannot be used, empty when it can.
	refuse func(*situation) string
	cost   func(*situation, *layout) cost
	// finish fills in what only this method has in a plan. May be nil.
	finish func(*situation, *Plan)
	// why says in a phrase what its time goes into.
	why string
	// single: one connection writes whatever is asked for.
	single bool
}

func ways() []way {
	return []way{relayWay(), insertSelectWay(), createAsWay(), unloggedWay(), insertWay(), mergeWay(), pagesWay()}
}

// candidate is a method with what came of looking at it.
type candidate struct {
	way
	reason string // why it is refused
	err    *Error // the same for a user who asked for it by name
	option bool   // it is an option that stands in its way
	layout *layout
	cost   cost
}

func (s *situation) choose() (*Plan, *Error) {
	var all []candidate
	for _, w := range ways() {
		all = append(all, s.consider(w))
	}
	best, err := s.pick(all)
	if err != nil {
		return nil, err
	}
	p := s.plan(all[best])
	p.Others = s.others(all, best)
	return p, nil
}

func (s *situation) consider(w way) candidate {
	c := candidate{way: w, reason: w.refuse(s)}
	if c.reason != "" {
		c.err = s.refusedMethod(w.method, c.reason)
		return c
	}
	if c.layout, c.err = s.arrange(w); c.err != nil {
		c.reason, c.option = lowerFirst(c.err.Message), true
		return c
	}
	c.cost = w.cost(s, c.layout)
	return c
}

// pick returns the index of the method that was asked for, or of the one that takes the least time.
func (s *situation) pick(all []candidate) (int, *Error) {
	if s.wish.Method != Auto {
		i := slices.IndexFunc(all, func(c candidate) bool { return c.method == s.wish.Method })
		return i, all[i].err
	}
	best := -1
	for i, c := range all {
		switch {
		case c.reason != "" || c.method == CreateAs || c.method == Pages:
		case best >= 0 && c.method == Merge && all[best].method == Insert:
			// Whatever it costs: INSERT batches end with an error where the source has a key twice.
			best = i
		case best < 0 || c.cost.seconds < all[best].cost.seconds:
			best = i
		}
	}
	if best >= 0 {
		return best, nil
	}
	for _, c := range all {
		if c.option {
			return -1, c.err
		}
	}
	return -1, s.noMethod(all)
}

func (s *situation) refusedMethod(m Method, reason string) *Error {
	hint := "Leave --method out to have the fastest safe method chosen."
	if s.target.Kind == View && m != Insert {
		hint = "Use --method insert."
	}
	return refusal("method "+string(m)+" cannot copy "+s.sourceName+" to "+s.targetName, sentence(reason), hint)
}

// noMethod explains why nothing is left.
func (s *situation) noMethod(all []candidate) *Error {
	var detail string
	for _, c := range all {
		if c.method == CreateAs && c.reason == "" || c.method == Pages {
			continue
		}
		if detail != "" {
			detail += " "
		}
		detail += sentence(string(c.method) + ": " + c.reason)
	}
	return refusal("no method can copy "+s.sourceName+" to "+s.targetName, detail, "")
}

// plan builds the chosen plan.
func (s *situation) plan(c candidate) *Plan {
	l := c.layout
	p := &Plan{
		Method: c.method, Format: NoFormat,
		Source: place(&s.facts.SourceServer, s.source, s.sourceName), Target: place(&s.facts.TargetServer, s.target, s.targetName),
		Columns: s.columns(c.method), Where: s.wish.Where, Atomic: l.atomic, Frozen: l.frozen, Commit: s.wish.Commit,
		Parts: l.parts, Ranges: l.ranges, Connections: l.connections,
	}
	if streams(c.method) {
		p.Format = s.format
	}
	if r := s.recorded(); r != nil {
		p.Resumes = true
	}
	s.steps(p, l)
	p.Sequences = s.sequences(p)
	p.Reasons = s.reasons(c)
	p.Notes = append(append([]string(nil), s.notes...), l.notes...)
	p.Estimate = Estimate{Rows: s.rows, Bytes: s.bytes, Seconds: c.cost.seconds, WALBytes: int64(c.cost.wal)}
	if c.finish != nil {
		c.finish(s, p)
	}
	return p
}

func (s *situation) others(all []candidate, best int) []Alternative {
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

// streams reports whether the method's rows pass through the client.
func streams(m Method) bool { return m == Relay || m == Insert || m == Merge }

func place(server *Server, r *Relation, name string) Place {
	return Place{Server: server.Address, Version: server.VersionText, Relation: name, Kind: r.Kind, Path: r.Path}
}
