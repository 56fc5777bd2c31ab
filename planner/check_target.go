package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// checkMissing decides what a missing target means.
func (s *situation) checkMissing() *Error {
	if s.target.Kind != Missing {
		return nil
	}
	server := &s.facts.TargetServer
	implied := s.wish.Method == CreateAs || s.wish.Method == Unlogged
	hint := "Use --create to make it after the source's likeness."
	if !s.wish.Create && !implied {
		return s.missing(s.target, "target", server, hint)
	}
	if !s.target.SchemaFound {
		return s.missing(s.target, "target", server, fmt.Sprintf("Run CREATE SCHEMA %s first.", sqltext.QuoteIdent(s.target.Schema)))
	}
	if !s.target.CanCreate {
		return failed("permission denied to make table "+s.targetName,
			fmt.Sprintf("Role %q may not create tables in schema %q on %s.", server.User, s.target.Schema, server.Address),
			"GRANT CREATE ON SCHEMA to the role, or make the table as another role first.")
	}
	if s.facts.Definition == nil && !implied {
		return failed("cannot make target table "+s.targetName, "The definition of "+s.sourceName+" is not known.", "Create the table first.")
	}
	if s.wish.Commit == CommitRange && s.facts.Definition == nil {
		return failed("cannot make target table "+s.targetName+" before its rows", "", "Create the table first.")
	}
	s.created = true
	return nil
}

func (s *situation) checkTarget() *Error {
	r := s.target
	if s.created {
		return nil
	}
	article := "cannot copy into " + kindName(r.Kind) + " " + s.targetName
	switch r.Kind {
	case Table, Partitioned, ForeignTable:
	case View:
		if !insertable(r) {
			return failed(article, "It is neither updatable nor has it an INSTEAD OF INSERT trigger for each row.", "Name the table underneath.")
		}
	case MatView:
		return failed(article, "Only REFRESH MATERIALIZED VIEW writes to one.", "")
	default:
		return noTable("cannot copy into ", r, s.targetName)
	}
	if r.Kind == Table && (r.Schema == "pg_catalog" || r.Schema == "information_schema") {
		return failed("cannot copy into system table "+s.targetName, "Only the server itself writes to its catalogs.", "Name a table of your own.")
	}
	if s.wish.Create {
		s.note("target " + s.targetName + " exists, so --create has nothing to make")
	}
	return nil
}

// noTable is the error for a relation of a kind that is never copied.
func noTable(cannot string, r *Relation, name string) *Error {
	kind := kindName(r.Kind)
	article := "a "
	if r.Kind == Index || r.Kind == PartitionedIndex {
		article = "an "
	}
	e := failed(cannot+kind+" "+name, "It is "+article+kind+" and not a table.", "Name a table, a view or a materialized view.")
	if r.Of != "" {
		e.Detail = "It is " + article + kind + " of table " + r.Of + "."
		e.Hint = "Name the table: what belongs to it comes with it."
	}
	if r.Kind == Sequence {
		e.Hint = "The sequences that feed a table's columns are copied with the table."
	}
	return e
}

// insertable reports whether a view takes INSERT: by itself, by a rule, or through a row trigger that stands in for it.
func insertable(view *Relation) bool {
	if !view.Rules || view.CanInsert {
		return true
	}
	for _, t := range view.Triggers {
		if t.Row && t.Before {
			return true
		}
	}
	return false
}

// checkRecord looks at what an interrupted move left.
func (s *situation) checkRecord() *Error {
	r := s.recorded()
	if r == nil {
		return nil
	}
	if len(r.Done) != len(r.Ranges) {
		return failed("the record of the interrupted copy into "+s.targetName+" is damaged",
			fmt.Sprintf("It has %d ranges and the state of %d.", len(r.Ranges), len(r.Done)),
			"Empty the target, delete its rows of pghaul.move and pghaul.done_range, and copy again.")
	}
	done := 0
	for _, d := range r.Done {
		if d {
			done++
		}
	}
	if r.Rows > 0 && s.target.Empty {
		return failed("target table "+s.targetName+" has lost the rows of the interrupted copy",
			fmt.Sprintf("The record says that %d rows in %d ranges are done, but the target is empty.", r.Rows, done),
			"Delete the record from pghaul.move and pghaul.done_range, and copy again.")
	}
	s.note(fmt.Sprintf("goes on where an interrupted copy stopped: %d of %d ranges are done", done, len(r.Ranges)))
	return nil
}

// checkFill compares what the target holds with what it may hold.
func (s *situation) checkFill() *Error {
	if s.created || s.recorded() != nil {
		return nil
	}
	switch s.fill() {
	case RequireEmpty:
		if s.target.Empty {
			return nil
		}
		e := failed("target "+kindName(s.target.Kind)+" "+s.targetName+" is not empty", "It holds rows on "+s.facts.TargetServer.Address+".",
			"Use --append to add to them, --truncate to remove them in the same transaction, or --replace to swap in a new table.")
		if s.target.RowSecurity || !s.target.CanSelect { // Looked at from outside: a file without pages holds no rows.
			e.Detail = fmt.Sprintf("Its file on %s is not empty, and role %q may not see what is in it.", s.facts.TargetServer.Address, s.facts.TargetServer.User)
		}
		if s.facts.Recorded != nil && s.wish.Commit != CommitRange {
			e.Detail = "It holds rows of an interrupted copy on " + s.facts.TargetServer.Address + "."
			e.Hint = "Use --commit range to go on where that stopped, or --truncate to start again."
		} else if u := s.unfinished(); u != nil {
			e.Detail = "An unfinished copy from " + u.Source + " with " + u.conditions() + " is recorded, and has put " +
				fmt.Sprintf("%d rows into it. This one has %s.", u.Rows, Unfinished{Where: s.wish.Where, Columns: s.wish.Columns}.conditions())
			e.Hint = "Use --commit range with that source, --where and --columns to go on where it stopped, or --truncate to start again."
		}
		return e
	case Truncate:
		return s.checkTruncate()
	case Replace:
		if why := s.swapBlocks(); len(why) > 0 {
			hint := "Use --truncate."
			if other := s.checkTruncate(); other != nil { // It would be refused as well.
				hint = other.Hint
			}
			return refusal("--replace cannot be used for "+s.targetName, sentence(strings.Join(why, "; ")), hint)
		}
	case Append:
	}
	return nil
}

// unfinished is another move, interrupted, whose rows the target holds; nil when there is none.
func (s *situation) unfinished() *Unfinished {
	for i := range s.facts.Unfinished {
		if s.facts.Unfinished[i].Rows > 0 {
			return &s.facts.Unfinished[i]
		}
	}
	return nil
}

// conditions are the options that decide which rows and columns are moved.
func (u Unfinished) conditions() string {
	var options []string
	if u.Where != "" {
		options = append(options, "--where "+sqltext.QuoteLiteral(u.Where))
	}
	if len(u.Columns) > 0 {
		options = append(options, "--columns "+strings.Join(u.Columns, ","))
	}
	if len(options) == 0 {
		return "no --where and no --columns"
	}
	return strings.Join(options, " and ")
}

func (s *situation) checkTruncate() *Error {
	refused := func(detail, hint string) *Error {
		return refusal("--truncate cannot be used for "+s.targetName, detail, hint)
	}
	switch {
	case s.target.Kind == View:
		return refused("A view cannot be truncated.", "Empty the table underneath and use --append.")
	case len(s.referrers()) > 0:
		return refused("Foreign keys of "+enumerate(s.referrers())+" refer to it.",
			"Copy those tables in the same command, or truncate them together and use --append.")
	case len(s.facts.TruncatedWith) > 0 && s.wish.Commit == CommitRange:
		return refused("Foreign keys tie it to "+enumerate(places(s.facts.TruncatedWith))+", and all are emptied in one transaction.",
			"Leave --commit range out, or truncate those tables together and use --append.")
	case !s.target.CanTruncate:
		return refused(fmt.Sprintf("Role %q has no TRUNCATE privilege.", s.facts.TargetServer.User), "GRANT TRUNCATE ON the table to the role.")
	}
	return nil
}

// referrers are the tables whose foreign keys keep the target from being truncated.
func (s *situation) referrers() []string {
	if s.target.Rebuild == nil {
		return nil
	}
	together := places(s.facts.TruncatedWith)
	return slices.DeleteFunc(slices.Clone(s.target.Rebuild.ReferencedBy), func(name string) bool { return slices.Contains(together, name) })
}

func places(all []Place) []string {
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.Relation
	}
	return names
}

// noteTarget tells what a reader of the plan may not expect of the target.
func (s *situation) noteTarget() {
	var names []string
	for _, t := range s.target.Triggers {
		names = append(names, t.Name)
	}
	if len(names) > 0 && s.fill() == Replace {
		s.note("triggers do not fire while the new table is filled: " + list(names))
	} else if len(names) > 0 {
		s.note("triggers fire on the target: " + list(names))
	}
	if s.target.Rules && s.fill() != Replace {
		s.note("rules of the target decide what becomes of the rows")
	}
	if s.target.Kind == ForeignTable {
		why := s.target.NotFollowed
		if why == "" {
			why = "it was not followed"
		}
		s.note("target " + s.targetName + " is written through its foreign-data wrapper: " + why)
	}
}
