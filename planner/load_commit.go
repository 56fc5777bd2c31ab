package planner

import (
	"fmt"
	"strings"
)

// arrange settles how many connections share the input and how their rows come to be visible together.
func (s *loading) arrange(w *loadWay) (*layout, *Error) {
	l := &layout{}
	s.connect(w, l)
	s.commit(w, l)
	into := s.targetName
	if l.atomic == Swap {
		l.hidden = hiddenName(s.target.Schema, s.target.Name)
		into = l.hidden
	}
	l.parts = []Part{{Source: s.given.Input, Target: into, Bytes: s.bytes, Rows: -1}}
	for range l.connections {
		l.ranges = append(l.ranges, Range{Bytes: s.bytes / int64(l.connections)})
	}
	if err := s.deferBlock(w); err != nil {
		return nil, err
	}
	return l, s.freeze(w, l)
}

// connect settles the number of connections, as far as it does not depend on how they commit.
func (s *loading) connect(w *loadWay, l *layout) {
	alone := w.single
	switch {
	case alone != "":
	case s.asked.Ordered:
		alone = "--ordered keeps the order of the rows"
	case s.asked.CommitEvery > 0:
		alone = "--commit-every records one place in the input"
	case s.deferring():
		alone = "the indexes are dropped in its transaction"
	}
	l.connections = s.asked.Connections
	if l.connections == 0 { // Half of the processors: the others parse. One for each 64 MB.
		l.connections = max(min(s.facts.Processors/2, 4, int(s.bytes/usualRange)), 1)
	}
	if alone != "" && l.connections > 1 {
		if s.asked.Connections > 1 {
			l.notes = append(l.notes, fmt.Sprintf("one connection instead of %d: %s", l.connections, alone))
		}
		l.connections = 1
	}
	if free := s.freeConnections(); l.connections > free {
		l.notes = append(l.notes, fmt.Sprintf("%d of the %d connections asked for: the server has no more to spare", free, l.connections))
		l.connections = free
	}
}

// commit settles how the rows of all connections come to be visible together. Where they cannot, one connection is left.
func (s *loading) commit(w *loadWay, l *layout) {
	switch {
	case s.asked.CommitEvery > 0:
		l.atomic, l.connections = PerRange, 1
	case w.method == Pages:
		l.atomic = Swap
		l.reasons = append(l.reasons, "the pages fill a new table, which is then put in the target's place")
	case !s.created && s.fill() == Replace:
		l.atomic = Swap
		l.reasons = append(l.reasons, "--replace fills a new table and swaps the two")
		if why := s.asideBlock(); why != "" && l.connections > 1 {
			l.connections = 1
			l.notes = append(l.notes, "one connection: "+why)
		}
	case l.connections == 1:
		l.atomic = OneTransaction
	case w.method == Insert && s.target.RowSecurity:
		l.notes = append(l.notes, "one connection: row-level security is switched on in its transaction")
		l.atomic, l.connections = OneTransaction, 1
	default:
		s.commitTogether(l)
	}
}

// commitTogether settles it for several connections.
func (s *loading) commitTogether(l *layout) {
	prepare, swap := s.prepareBlock(l.connections), s.shareBlock()
	switch {
	case prepare != "":
	case s.hasKeys():
		// The one that came first is not going to end before the other.
		prepare = "connections that write the same key would wait for each other"
	case s.asked.OnError == SetRowsAside && s.checked():
		prepare = "a transaction with a temporary table, in which refused rows are found, cannot be prepared"
	}
	if swap == "" {
		swap = s.asideBlock()
	}
	switch {
	case prepare == "":
		l.atomic = TwoPhase
		l.reasons = append(l.reasons, fmt.Sprintf("two-phase commit makes the rows of %d connections visible together", l.connections))
	case swap == "":
		l.atomic = Swap
		l.reasons = append(l.reasons, "a new table makes the rows of all connections visible together: no two-phase commit, as "+prepare)
	default:
		if s.asked.Connections > 1 {
			l.notes = append(l.notes, fmt.Sprintf("one connection instead of %d: no two-phase commit, as %s; no new table, as %s", l.connections, prepare, swap))
		}
		l.atomic, l.connections = OneTransaction, 1
	}
}

// asideBlock says why rows that keys refuse could not be set aside where several connections fill a new table: its keys come behind its rows.
func (s *loading) asideBlock() string {
	keyed := s.hasKeys() || !s.created && s.target.Rebuild != nil && len(s.target.Rebuild.ForeignKeys) > 0
	if s.asked.OnError == SetRowsAside && keyed {
		return "rows that its keys refuse are to be set aside"
	}
	return ""
}

// freeze settles whether rows are frozen on arrival.
func (s *loading) freeze(w *loadWay, l *layout) *Error {
	if s.savepoints(w.method) {
		if s.asked.Freeze == Yes {
			return refusal("--freeze cannot be used with --on-error set-aside", "Batches stand in subtransactions, and COPY freezes only in the one that made or truncated the table.",
				"Leave one of them out.")
		}
		return nil
	}
	err := s.situation.freeze(way{method: w.method}, l)
	if err != nil {
		err.Message = strings.Replace(err.Message, "cannot be used with method "+string(w.method)+" into", "cannot be used for", 1)
	}
	return err
}
