package planner

import (
	"fmt"
	"slices"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// pairColumns matches the columns by name, in the source's order so that reading needs no projection.
func (s *situation) pairColumns() *Error {
	if err := s.checkNames(); err != nil {
		return err
	}
	if s.created {
		s.pairs = s.createdPairs()
		return s.checkPairs()
	}
	var lacking []string
	for _, from := range s.source.Columns {
		if !s.wanted(from.Name) {
			continue
		}
		to := column(s.target.Columns, from.Name)
		switch {
		case to == nil:
			lacking = append(lacking, from.Name)
		case to.Generated && s.wish.Columns != nil:
			return failed("column "+sqltext.QuoteIdent(to.Name)+" of target table "+s.targetName+" is generated",
				"The server computes its values and takes none.", "Leave it out of --columns.")
		case to.Generated:
			s.note("generated column " + sqltext.QuoteIdent(to.Name) + " is computed by the target")
		default:
			s.pairs = append(s.pairs, Pair{Source: from, Target: *to})
		}
	}
	if len(lacking) > 0 {
		return failed("target "+kindName(s.target.Kind)+" "+s.targetName+" lacks "+columnWord(lacking)+" of the source", "",
			"Use --columns to copy the others, or add what is missing to the target.")
	}
	if err := s.checkUnfilled(); err != nil {
		return err
	}
	return s.checkPairs()
}

func column(columns []Column, name string) *Column {
	for i := range columns {
		if columns[i].Name == name {
			return &columns[i]
		}
	}
	return nil
}

func (s *situation) wanted(name string) bool {
	return s.wish.Columns == nil || slices.Contains(s.wish.Columns, name)
}

// checkNames looks for column names that the wish has and the source has not, and for those that a query has twice.
func (s *situation) checkNames() *Error {
	names := make([]string, len(s.source.Columns))
	for i, c := range s.source.Columns {
		names[i] = c.Name
	}
	if twice := repeated(names); len(twice) > 0 {
		return failed("source "+kindName(s.source.Kind)+" returns "+columnWord(twice)+" more than once", "Columns are matched by name.",
			"Give each column of the query a name of its own with AS.")
	}
	var unknown []string
	for _, name := range s.wish.Columns {
		if !slices.Contains(names, name) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		return failed("source "+kindName(s.source.Kind)+" "+s.sourceName+" has no "+columnWord(unknown), "--columns names columns of the source.", "")
	}
	return nil
}

// checkUnfilled looks at target columns that get no value from the source.
func (s *situation) checkUnfilled() *Error {
	var filled, broken []string
	for _, to := range s.target.Columns {
		if to.Generated || slices.ContainsFunc(s.pairs, func(p Pair) bool { return p.Target.Name == to.Name }) {
			continue
		}
		filled = append(filled, to.Name)
		// A domain may have a default of its own.
		if to.NotNull && !to.HasDefault && to.Identity == 0 && to.Type.Class != Domain {
			broken = append(broken, to.Name)
		}
	}
	if len(broken) > 0 && !s.beforeRow() {
		return failed("no value for not-null "+columnWord(broken)+" of target table "+s.targetName,
			"The source has no column of that name and the target has no default for it.", "Give it a default, or make it nullable.")
	}
	if len(filled) > 0 {
		s.note("the target's default is used for " + columnWord(filled))
	}
	return nil
}

// beforeRow reports whether a trigger may fill in what rows lack.
func (s *situation) beforeRow() bool {
	return slices.ContainsFunc(s.target.Triggers, func(t Trigger) bool { return t.Row && t.Before })
}

// checkPairs refuses a move with no column, which is only possible when both tables have none at all.
func (s *situation) checkPairs() *Error {
	if len(s.pairs) > 0 {
		return nil
	}
	switch {
	case len(s.source.Columns) == 0 && (s.created || len(s.target.Columns) == 0):
		return nil
	case len(s.source.Columns) == 0:
		return failed("source "+s.sourceName+" has no columns to copy", "The target has some, and COPY cannot write a row without a value.", "")
	}
	return failed("no column of "+s.targetName+" can be written", "Every column of the source is a generated column of the target.", "")
}

// createdPairs are the columns of a table that is made after the source's likeness.
func (s *situation) createdPairs() []Pair {
	var pairs []Pair
	for _, from := range s.source.Columns {
		if from.Generated || !s.wanted(from.Name) {
			continue
		}
		// Behind a foreign table the definition is made of the names that the foreign table gives to the columns.
		to := from
		to.Remote, to.CanRead, to.CanWrite = "", true, true
		if !s.facts.SameDatabase {
			to.Type = elsewhere(from.Type)
		}
		pairs = append(pairs, Pair{Source: from, Target: to})
	}
	return pairs
}

// allPairs are the columns of a table made by CREATE TABLE AS, where generated columns become plain ones.
func (s *situation) allPairs() []Pair {
	var pairs []Pair
	for _, from := range s.source.Columns {
		if !s.wanted(from.Name) {
			continue
		}
		to := from
		to.Remote, to.CanRead, to.CanWrite = "", true, true
		to.NotNull, to.HasDefault, to.Generated, to.Identity = false, false, false, 0
		pairs = append(pairs, Pair{Source: from, Target: to, Exact: true})
	}
	return pairs
}

// elsewhere is a type as far as it is known in a database that nobody looked into for it: identifiers, labels and extension versions
// of types that are not PostgreSQL's own may differ there.
func elsewhere(t Type) Type {
	if !t.BuiltIn() {
		t.OID, t.ExtensionVersion, t.Labels = 0, "", nil
	}
	for _, inner := range []**Type{&t.Elem, &t.Base, &t.Sub} {
		if *inner != nil {
			moved := elsewhere(**inner)
			*inner = &moved
		}
	}
	fields := make([]Field, len(t.Fields))
	for i, f := range t.Fields {
		fields[i] = Field{Name: f.Name, Type: elsewhere(f.Type)}
	}
	t.Fields = fields
	return t
}

// checkPrivileges names what the roles may not do.
func (s *situation) checkPrivileges() *Error {
	var unreadable, unwritable []string
	for _, p := range s.pairs {
		if !p.Source.CanRead {
			unreadable = append(unreadable, p.Source.Name)
		}
		if !p.Target.CanWrite {
			unwritable = append(unwritable, p.Target.Name)
		}
	}
	if s.source.Kind != Query && (len(unreadable) > 0 || len(s.pairs) == 0 && !s.source.CanSelect) {
		return denied("SELECT", "source", s.source, &s.facts.SourceServer, unreadable, len(s.pairs))
	}
	if !s.created && (len(unwritable) > 0 || len(s.pairs) == 0 && !s.target.CanInsert) {
		return denied("INSERT", "target", s.target, &s.facts.TargetServer, unwritable, len(s.pairs))
	}
	return nil
}

func denied(privilege, role string, r *Relation, server *Server, columns []string, of int) *Error {
	e := failed("permission denied for "+role+" "+kindName(r.Kind)+" "+relationName(r),
		fmt.Sprintf("Role %q has no %s privilege on it on %s.", server.User, privilege, server.Address),
		"GRANT "+privilege+" ON "+relationName(r)+" TO "+sqltext.QuoteIdent(server.User)+".")
	if len(columns) < of {
		e.Detail = fmt.Sprintf("Role %q has no %s privilege on %s on %s.", server.User, privilege, columnWord(columns), server.Address)
		e.Hint = "Use --columns to copy the others, or GRANT " + privilege + "."
	}
	return e
}
