package planner

import (
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// deferring reports whether indexes are dropped before the rows and built behind them.
func (s *loading) deferring() bool {
	return s.asked.DeferIndexes && !s.created && len(s.deferrable()) > 0
}

// deferBlock refuses to drop indexes where that cannot be taken back, or is not the user's to do.
func (s *loading) deferBlock(w *loadWay) *Error {
	if !s.asked.DeferIndexes || s.created || w.method == Pages {
		return nil
	}
	why := ""
	switch {
	case s.target.Kind != Table:
		why = "it is a " + kindName(s.target.Kind)
	case s.target.Rebuild == nil:
		why = "the definitions of its indexes are not known"
	case !s.target.IsOwner:
		why = "role " + quoted(s.facts.TargetServer.User) + " does not own it"
	}
	if why == "" {
		return nil
	}
	return refusal("--defer-indexes cannot be used for "+s.targetName, sentence(why), "Leave --defer-indexes out.")
}

// deferrable are the indexes that can be dropped.
func (s *loading) deferrable() []IndexDef {
	if s.target.Rebuild == nil {
		return nil
	}
	var all []IndexDef
	for _, x := range s.target.Rebuild.Indexes {
		if s.keptBecause(x) == "" {
			all = append(all, x)
		}
	}
	return all
}

// keptBecause says why an index must stay while rows are loaded.
func (s *loading) keptBecause(x IndexDef) string {
	refers := func(key string) bool { return strings.Contains(key, "REFERENCES "+s.targetName+"(") }
	switch {
	case x.ReplicaIdent:
		return "it is the table's replica identity"
	case (x.Unique || excludes(x)) && s.asked.OnError == SetRowsAside:
		return "rows that it refuses are to be set aside"
	case (x.Unique || excludes(x)) && s.asked.OnDuplicate != DuplicateError:
		return "it tells which rows are there already"
	case x.Unique && len(s.target.Rebuild.ReferencedBy) > 0:
		return "foreign keys refer to the table"
	case x.Unique && anyOf(s.target.Rebuild.ForeignKeys, refers):
		return "the table's own foreign key may refer to it"
	case strings.Contains(x.Name+x.ConstraintName, "%"):
		return "its comment could not be told from others"
	}
	return ""
}

func anyOf(list []string, is func(string) bool) bool {
	for _, s := range list {
		if is(s) {
			return true
		}
	}
	return false
}

// dropIndex drops an index, or the constraint that it belongs to.
func (s *loading) dropIndex(x IndexDef) string {
	if x.ConstraintName != "" {
		return "ALTER TABLE " + s.targetName + " DROP CONSTRAINT " + sqltext.QuoteIdent(x.ConstraintName)
	}
	return "DROP INDEX " + sqltext.QuoteQualified(s.target.Schema, x.Name)
}

// buildIndex are the statements that make an index again as it was, in order.
func (s *loading) buildIndex(x IndexDef) []string {
	var all []string
	table, name, constraint := "ALTER TABLE "+s.targetName, sqltext.QuoteIdent(x.Name), sqltext.QuoteIdent(x.ConstraintName)
	if excludes(x) {
		all = append(all, table+" ADD CONSTRAINT "+constraint+" "+x.Constraint)
	} else {
		unique := ""
		if x.Unique {
			unique = "UNIQUE "
		}
		all = append(all, "CREATE "+unique+"INDEX "+name+" ON "+s.targetName+" "+x.Method)
		if x.Constraint != "" {
			kind, deferral := splitConstraint(x.Constraint)
			all = append(all, table+" ADD CONSTRAINT "+constraint+" "+kind+" USING INDEX "+name+deferral)
		}
	}
	if x.Comment != "" {
		all = append(all, "COMMENT ON INDEX "+sqltext.QuoteQualified(s.target.Schema, x.Name)+" IS "+sqltext.QuoteLiteral(x.Comment))
	}
	if x.Clustered {
		all = append(all, table+" CLUSTER ON "+name)
	}
	for _, sql := range s.target.Rebuild.After {
		if x.ConstraintName != "" && strings.HasPrefix(sql, "COMMENT ON CONSTRAINT "+constraint+" ON ") {
			all = append(all, strings.ReplaceAll(trimQuery(sql), "%s", s.targetName))
		}
	}
	return all
}

// makeDeferred makes the table in which dropped indexes are recorded.
const makeDeferred = `DO $pghaul$ BEGIN
IF pg_catalog.to_regclass('pghaul.deferred_index') IS NULL THEN
CREATE SCHEMA IF NOT EXISTS pghaul;
CREATE TABLE pghaul.deferred_index (target pg_catalog.text, name pg_catalog.text, definition pg_catalog.text, dropped pg_catalog.timestamptz, ` +
	`PRIMARY KEY (target, name));
END IF; END $pghaul$`

// deferIndexes drops indexes before the rows and builds them behind. In one transaction that takes itself back. Where the load commits on the way,
// each index is recorded in the transaction that drops it, and stays so until the one that has built it: whoever finds a record builds.
func (s *loading) deferIndexes(p *Plan) {
	if s.asked.DeferIndexes && !s.created {
		s.noteKept(p)
	}
	var build []Step
	if s.deferring() {
		if p.Atomic != PerRange {
			s.deferInside(p)
		} else {
			p.Before = append(p.Before, Step{SQL: makeDeferred, Own: true})
			for _, x := range s.deferrable() {
				definition := strings.Join(s.buildIndex(x), ";\n")
				again := Step{SQL: s.buildRecorded(x.Name, definition), Own: true}
				p.Before = append(p.Before, Step{SQL: together([]string{s.recordIndex(x.Name, definition), s.dropIndex(x)}), Own: true, Undo: again.SQL})
				build = append(build, again)
			}
		}
	}
	for _, x := range s.given.Deferred {
		build = append(build, Step{SQL: s.buildRecorded(x.Name, x.Definition), Own: true})
	}
	if n := len(s.given.Deferred); n > 0 {
		p.Notes = append(p.Notes, "an interrupted load has left "+indexCount(n)+" of the target dropped: built again behind the rows")
	}
	p.After = append(p.After, build...)
}

// noteKept tells which indexes are not dropped, and what it takes to drop the others.
func (s *loading) noteKept(p *Plan) {
	if s.target.Rebuild == nil {
		return
	}
	for _, x := range s.target.Rebuild.Indexes {
		if why := s.keptBecause(x); why != "" {
			p.Notes = append(p.Notes, "index "+sqltext.QuoteIdent(x.Name)+" stays: "+why)
		}
	}
	if s.deferring() && p.Atomic != PerRange {
		p.Notes = append(p.Notes, "nobody reads the target while its indexes are gone, up to the end of the load")
	}
}

// deferInside drops and builds in the transaction of the rows.
func (s *loading) deferInside(p *Plan) {
	var build []Step
	for _, x := range s.deferrable() {
		p.before(s.dropIndex(x))
		for _, sql := range s.buildIndex(x) {
			build = append(build, Step{SQL: sql})
		}
	}
	p.After = append(build, p.After...)
}

func (s *loading) recordIndex(name, definition string) string {
	return "INSERT INTO pghaul.deferred_index (target, name, definition, dropped) VALUES (" + sqltext.QuoteLiteral(s.targetName) + ", " + sqltext.QuoteLiteral(name) + ", " +
		sqltext.QuoteLiteral(definition) + ", pg_catalog.now())"
}

// buildRecorded builds an index unless somebody has done so, which the record tells.
func (s *loading) buildRecorded(name, definition string) string {
	where := " FROM pghaul.deferred_index WHERE target = " + sqltext.QuoteLiteral(s.targetName) + " AND name = " + sqltext.QuoteLiteral(name)
	return do("BEGIN IF EXISTS (SELECT" + where + ") THEN " + definition + "; DELETE" + where + "; END IF; END")
}

func indexCount(n int) string {
	if n == 1 {
		return "1 index"
	}
	return fmt.Sprintf("%d indexes", n)
}
