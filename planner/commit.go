package planner

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// commit settles how the rows of all connections come to be visible together. Where they cannot, one connection is left.
func (s *situation) commit(w way, l *layout) {
	switch {
	case s.wish.Commit == CommitRange:
		l.atomic = PerRange
	case w.method == Pages:
		l.atomic = Swap
		l.reasons = append(l.reasons, "the pages fill a new table, which is then put in the target's place")
	case !s.created && s.fill() == Replace:
		l.atomic = Swap
		l.reasons = append(l.reasons, "--replace fills a new table and swaps the two")
	case s.fill() == Truncate && len(s.facts.TruncatedWith) > 0:
		l.reasons = append(l.reasons, "foreign keys tie it to "+enumerate(places(s.facts.TruncatedWith))+": one transaction empties and fills all of them")
		l.atomic, l.connections = OneTransaction, 1
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
func (s *situation) commitTogether(l *layout) {
	prepare, swap := s.prepareBlock(l.connections), s.shareBlock()
	switch {
	case prepare == "":
		l.atomic = TwoPhase
		l.reasons = append(l.reasons, fmt.Sprintf("two-phase commit makes the rows of %d connections visible together", l.connections))
	case swap == "":
		l.atomic = Swap
		l.reasons = append(l.reasons, "a new table makes the rows of all connections visible together: no two-phase commit, as "+prepare)
	default:
		if s.wish.Connections > 1 {
			l.notes = append(l.notes, "one connection instead of "+fmt.Sprint(s.wish.Connections)+": no two-phase commit, as "+prepare+"; no new table, as "+swap)
		}
		l.atomic, l.connections = OneTransaction, 1
	}
}

// prepareBlock says why that many connections cannot commit by PREPARE TRANSACTION.
func (s *situation) prepareBlock(connections int) string {
	server := &s.facts.TargetServer
	switch {
	case s.created:
		return "other connections cannot see a table that is not committed"
	case s.fill() == Truncate:
		return "TRUNCATE keeps other connections out"
	case s.target.Temporary:
		return "a temporary table belongs to one connection"
	case server.Pooled:
		return "a connection pooler stands in front of the target"
	case server.FreePrepared < connections:
		return fmt.Sprintf("the target has room for %d prepared transactions (max_prepared_transactions)", max(server.FreePrepared, 0))
	}
	return ""
}

// shareBlock says why a new table cannot take the target's place without the user having asked for a replacement.
func (s *situation) shareBlock() string {
	switch {
	case s.created:
		return ""
	case s.fill() == Append:
		return "rows are added to those that are there"
	case len(s.target.Triggers) > 0:
		return "the target's triggers would not fire"
	}
	return strings.Join(s.swapBlocks(), "; ")
}

// swapBlocks says why a new table cannot take the target's place.
func (s *situation) swapBlocks() []string {
	r := s.target
	var blocks []string
	add := func(when bool, phrase string) {
		if when {
			blocks = append(blocks, phrase)
		}
	}
	add(r.Kind != Table, "it is a "+kindName(r.Kind))
	add(r.Temporary, "it is a temporary table")
	if len(blocks) > 0 {
		return blocks
	}
	add(!r.IsOwner, fmt.Sprintf("role %q does not own it", s.facts.TargetServer.User))
	add(!r.CanCreate, fmt.Sprintf("role %q may not create tables in schema %q", s.facts.TargetServer.User, r.Schema))
	if r.Rebuild == nil {
		return append(blocks, "its definition is not known")
	}
	blocks = append(blocks, r.Rebuild.Blockers...)
	// The blockers name the foreign keys of plain tables already.
	if len(r.Rebuild.ReferencedBy) > 0 && !slices.ContainsFunc(r.Rebuild.Blockers, func(b string) bool { return strings.Contains(b, "foreign key of ") }) {
		blocks = append(blocks, "foreign keys of "+enumerate(r.Rebuild.ReferencedBy)+" refer to it")
	}
	return blocks
}

// hiddenBase is the unquoted name of the new table that takes the place of schema.name. It depends on nothing else, so that a later move
// finds what a killed one left and drops it.
func hiddenBase(schema, name string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(schema + "\x00" + name)) // a hash takes any bytes
	return fmt.Sprintf("pghaul_%016x", h.Sum64())
}

func hiddenName(schema, name string) string {
	return sqltext.QuoteQualified(schema, hiddenBase(schema, name))
}
