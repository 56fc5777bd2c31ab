package planner

import "fmt"

// layout is how one method would spread its work and commit it.
type layout struct {
	parts       []Part
	ranges      []Range
	connections int
	atomic      Atomic
	frozen      bool
	hidden      string // quoted, qualified name of the new table that Swap fills
	reasons     []string
	notes       []string
}

// arrange spreads the work of one method over ranges and connections and settles how they are committed.
func (s *situation) arrange(w way) (*layout, *Error) {
	l := &layout{parts: s.parts(s.targetName, s.columns(w.method))}
	if err := s.connect(w, l); err != nil {
		return nil, err
	}
	s.commit(w, l)
	if err := s.divide(l); err != nil {
		return nil, err
	}
	if l.atomic == Swap {
		l.hidden = hiddenName(s.target.Schema, s.target.Name)
		l.parts = s.parts(l.hidden, s.columns(w.method))
	}
	return l, s.freeze(w, l)
}

// connect settles the number of connections, as far as it does not depend on how they commit.
func (s *situation) connect(w way, l *layout) *Error {
	if w.method == Pages { // One connection on each side; how many goroutines rewrite pages is another matter.
		l.connections = 1
		return nil
	}
	l.connections = s.wish.Connections
	if w.single && l.connections != 1 {
		if l.connections > 1 {
			l.notes = append(l.notes, "method "+string(w.method)+" works on one connection")
		}
		l.connections = 1
	}
	if l.connections > 1 && s.facts.SourceServer.Pooled {
		return refusal(fmt.Sprintf("%d connections cannot read %s together", l.connections, s.sourceName),
			"A connection pooler stands in front of "+s.facts.SourceServer.Address+", and a snapshot cannot be shared through one.",
			"Connect to the server itself, or use --jobs 1.")
	}
	if l.connections == 0 {
		l.connections = s.defaultConnections(l)
	}
	l.connections = max(l.connections, 1)
	if free := s.freeConnections(); l.connections > free {
		l.notes = append(l.notes, fmt.Sprintf("%d of the %d connections asked for: the servers have no more to spare", free, l.connections))
		l.connections = free
	}
	if most := s.mostConnections(l, l.connections); l.connections > most {
		l.notes = append(l.notes, fmt.Sprintf("%d of the %d connections asked for: the source has no more ranges", most, l.connections))
		l.connections = most
	}
	return nil
}

// defaultConnections takes half of the processors, since each pair of connections keeps a source and a target process busy, up to 4: no
// more than one for each 64 MB, and one where a pooler keeps snapshots from being shared.
func (s *situation) defaultConnections(l *layout) int {
	if s.facts.SourceServer.Pooled {
		return 1
	}
	n := min(max(s.facts.Processors/2, 1), 4)
	n = max(min(n, int(min(s.bytes/usualRange, 4)), s.freeConnections()), 1)
	return s.mostConnections(l, n)
}

// freeConnections is how many pairs the servers have room for, two connections being kept for questions. An unknown number is no limit.
func (s *situation) freeConnections() int {
	source, target := s.facts.SourceServer.FreeConnections, s.facts.TargetServer.FreeConnections
	switch {
	case s.facts.SameServer && source > 0:
		return max((source-2)/2, 1)
	case source > 0 && target > 0:
		return max(min(source, target)-1, 1)
	}
	return max(source, target, 1<<16)
}

// mostConnections is how many of that many connections would find a range.
func (s *situation) mostConnections(l *layout, connections int) int {
	if r := s.recorded(); r != nil {
		return min(len(r.Ranges), connections)
	}
	return min(countRanges(l.parts, rangeSize(s.bytes, connections, s.wish.RangeBytes)), connections)
}

// divide cuts the parts. One connection reads each part whole, unless ranges are wanted for their own sake.
func (s *situation) divide(l *layout) *Error {
	if r := s.recorded(); r != nil {
		if !wellFormed(r.Ranges, l.parts) {
			return failed("the record of the interrupted copy into "+s.targetName+" does not fit the source", "The source has other partitions now.",
				"Use --truncate to start again.")
		}
		l.ranges = r.Ranges
		l.connections = min(l.connections, len(l.ranges))
		return nil
	}
	size := int64(0)
	if l.connections > 1 || l.atomic == PerRange || s.wish.RangeBytes > 0 {
		size = rangeSize(s.bytes, l.connections, s.wish.RangeBytes)
	}
	l.ranges = cut(l.parts, size)
	l.connections = min(l.connections, len(l.ranges))
	return nil
}

// freeze settles whether rows are frozen on arrival.
func (s *situation) freeze(w way, l *layout) *Error {
	block := s.freezeBlock(w, l)
	if s.wish.Freeze == Yes && block != "" {
		return refusal("--freeze cannot be used with method "+string(w.method)+" into "+s.targetName, sentence(block),
			"Use --truncate or --create with one connection.")
	}
	l.frozen = s.wish.Freeze != No && block == ""
	return nil
}

// freezeBlock says why COPY would refuse FREEZE (manual, "COPY"; copyfrom.c).
func (s *situation) freezeBlock(w way, l *layout) string {
	switch {
	case w.method != Relay:
		return "method " + string(w.method) + " does not write the table by COPY"
	case l.atomic != OneTransaction:
		return "the rows do not arrive in the transaction that makes or truncates the table"
	case s.created && s.source.Kind == Partitioned, s.target.Kind == Partitioned:
		return "the target is partitioned"
	case s.target.Kind == ForeignTable:
		return "the target is a foreign table"
	case !s.created && s.fill() != Truncate:
		return "the table is neither made nor truncated in the same transaction"
	}
	return ""
}
