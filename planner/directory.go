package planner

import "fmt"

// fromDirectory reports whether the rows are decoded from the files of a data directory, where no server answers.
func (s *situation) fromDirectory() bool { return s.facts.SourceServer.Directory != "" }

// checkDirectory refuses what only a server could do with its rows, and relations whose rows are not in files of the directory.
func (s *situation) checkDirectory() *Error {
	if !s.fromDirectory() {
		return nil
	}
	if err := s.checkDirectoryWish(); err != nil {
		return err
	}
	r, name := s.source, s.sourceName
	if err := inDirectory(r); err != nil {
		return err
	}
	for i := range r.Leaves {
		if err := inDirectory(&r.Leaves[i].Relation); err != nil {
			err.Detail += " It is a partition of " + name + "."
			return err
		}
	}
	return nil
}

func (s *situation) checkDirectoryWish() *Error {
	refused := func(option, detail, hint string) *Error {
		return refusal(option+" cannot be used on a data directory", detail, hint)
	}
	switch {
	case s.wish.Where != "":
		return refused("--where", "Only a server evaluates conditions, and none runs on "+s.facts.SourceServer.Directory+".",
			"Copy all rows, and select from them on the target.")
	case s.wish.Format == Binary:
		return refused("--format binary", "The rows are decoded to text.", "Leave --format out.")
	case s.wish.Commit == CommitRange:
		return refused("--commit range", "What is recorded of a range to tell whether it has changed is known to servers only.",
			"Leave --commit out: the table is copied whole or not at all.")
	}
	return nil
}

// inDirectory refuses a relation whose rows cannot be decoded from files.
func inDirectory(r *Relation) *Error {
	refused := func(detail, hint string) *Error {
		return failed("cannot copy "+kindName(r.Kind)+" "+relationName(r)+" from a data directory", detail, hint)
	}
	switch r.Kind {
	case View:
		return refused("A view is a query, which only a server runs.", "Name the tables that it reads.")
	case ForeignTable:
		return refused("Its rows are on another server.", "Copy them from there.")
	case Query:
		return refused("Only a server runs queries.", "Name the tables that it reads.")
	case Table, MatView:
	default: // Any other kind is told apart by what follows; a partitioned table has its rows in its leaves.
		return nil
	}
	switch {
	case r.Temporary:
		return refused("It is a temporary table, whose rows were one session's own and ended with it.", "")
	case r.AccessMethod != "heap":
		return refused(fmt.Sprintf("Its access method is %q, and only heap files can be decoded.", r.AccessMethod), "Start a server on the directory.")
	}
	return nil
}

// noteDirectory tells what does not come along from a data directory.
func (s *situation) noteDirectory() {
	if s.created {
		s.note("the new table gets the columns, their types and NOT NULL: defaults, constraints, indexes and privileges are not read from a data directory")
	}
	unlogged := s.source.Unlogged
	for i := range s.source.Leaves {
		unlogged = unlogged || s.source.Leaves[i].Unlogged
	}
	if unlogged {
		s.note(s.sourceName + " is unlogged: a server that was not shut down would start with it empty")
	}
}

// reading tells how one range is read from a file of a data directory.
func (p *Plan) reading(r Range) string {
	part := &p.Parts[r.Part]
	switch {
	case r.FromPage == 0 && r.ToPage == 0:
		return fmt.Sprintf("%s (%s), decoded here", part.File, count(int(part.Pages), "block"))
	case r.ToPage == 0:
		return fmt.Sprintf("%s from block %d on, decoded here", part.File, r.FromPage)
	}
	return fmt.Sprintf("%s, blocks %d to %d, decoded here", part.File, r.FromPage, r.ToPage-1)
}
