package planner

import "fmt"

// oldestVersion is the oldest server_version_num that is supported: the first with TID range scans, which ranges need.
const oldestVersion = 140000

func (s *situation) checkServers() *Error {
	for _, server := range []*Server{&s.facts.SourceServer, &s.facts.TargetServer} {
		if server.Version < oldestVersion {
			return failed("server "+server.Address+" is too old",
				fmt.Sprintf("It is PostgreSQL %s, and 14 is the oldest that is supported.", server.VersionText), "")
		}
	}
	if s.facts.TargetServer.Standby {
		return failed("target server "+s.facts.TargetServer.Address+" is a standby", "A standby takes no rows but those of its primary.",
			"Connect to its primary.")
	}
	return nil
}

func (s *situation) checkSource() *Error {
	r, at := s.source, " on "+s.facts.SourceServer.Address
	switch r.Kind {
	case Missing:
		return s.missing(r, "source", &s.facts.SourceServer, "")
	case Table, Partitioned, View, MatView, ForeignTable, Query:
	default:
		return noTable("cannot copy from ", r, s.sourceName)
	}
	if r.RowSecurity {
		return failed("source "+kindName(r.Kind)+" "+s.sourceName+at+" would be filtered by row-level security",
			fmt.Sprintf("Its policies hide rows from role %q, so the copy would not be whole.", s.facts.SourceServer.User),
			"Connect as the table's owner, a superuser or a role with BYPASSRLS.")
	}
	if r.Unlogged && s.facts.SourceServer.Standby {
		return failed("source table "+s.sourceName+at+" is unlogged, and the server is a standby", "A standby has no rows of unlogged tables.",
			"Connect to its primary.")
	}
	return nil
}

// missing is the error for a relation that does not exist.
func (s *situation) missing(r *Relation, role string, server *Server, hint string) *Error {
	e := failed(role+" table "+relationName(r)+" does not exist", "", hint)
	e.Detail = "There is no such relation on " + server.Address + "."
	if !r.SchemaFound {
		e.Detail = fmt.Sprintf("Schema %q does not exist on %s.", r.Schema, server.Address)
	}
	return e
}

// checkSame refuses a table as its own source, and a partition together with its root.
func (s *situation) checkSame() *Error {
	if !s.facts.SameDatabase || s.source.OID == 0 || s.target.OID == 0 {
		return nil
	}
	if s.source.OID == s.target.OID {
		hint := ""
		if len(s.source.Path)+len(s.target.Path) > 0 {
			hint = "A foreign table was followed to the same table."
		}
		return failed("source and target are the same table: "+s.sourceName, hint, "")
	}
	for _, pair := range [][2]*Relation{{s.source, s.target}, {s.target, s.source}} {
		for i := range pair[0].Leaves {
			if pair[0].Leaves[i].OID == pair[1].OID {
				return failed("source and target overlap", relationName(pair[1])+" is a partition of "+relationName(pair[0])+".", "")
			}
		}
	}
	return nil
}

// noteSource tells what a reader of the plan may not expect of the source.
func (s *situation) noteSource() {
	if s.fromDirectory() {
		s.noteDirectory()
	}
	if s.source.Children > 0 && len(s.source.Path) == 0 && s.source.Kind == Table {
		heirs := "tables that inherit from %s are not copied; name those tables too"
		if s.source.Children == 1 {
			heirs = "table that inherits from %s are not copied; name that table too"
		}
		s.note(fmt.Sprintf("the rows of the %d "+heirs, s.source.Children, s.sourceName))
	}
	if why := s.leafBlock(); why != "" {
		s.note("the partitions of " + s.sourceName + " are read as one: " + why)
	}
	if s.source.Kind == ForeignTable && s.source.NotFollowed != "" {
		s.note("source " + s.sourceName + " is read through its foreign-data wrapper: " + s.source.NotFollowed)
	}
	if s.source.Kind == MatView {
		s.note("a materialized view holds the rows of its last refresh")
	}
}
