package planner

import (
	"fmt"
	"strings"
)

// ChooseLoad returns the plan for loading rows into facts.Target as wished. Errors are as Choose has them.
func ChooseLoad(facts LoadFacts, wish LoadWish) (*Plan, error) {
	if err := checkLoadWish(&wish); err != nil {
		return nil, err
	}
	s, err := surveyLoad(&facts, &wish)
	if err != nil {
		return nil, err
	}
	p, err := s.choose()
	if err != nil {
		return nil, err
	}
	return p, nil
}

// loading is a load before its method is chosen: the situation of a copy whose source is the input, with the columns that it fills.
type loading struct {
	*situation
	given *LoadFacts
	asked *LoadWish

	fields  []loadField // of the input, in order
	sets    []setColumn
	columns []LoadColumn // as the target gets them from the fields
}

// loadField is one field of the input.
type loadField struct {
	name   string  // empty when the input has no names
	column *Column // where it goes; nil when it goes nowhere by itself
}

// setColumn is a column that an expression fills.
type setColumn struct {
	column     *Column
	expression string
}

// surveyLoad makes the checks that hold for all methods and matches the columns.
func surveyLoad(given *LoadFacts, asked *LoadWish) (*loading, *Error) {
	facts := &Facts{
		SourceServer: Server{Version: given.TargetServer.Version, FreeConnections: 1 << 16}, TargetServer: given.TargetServer,
		Source: Relation{Kind: Table, Rows: -1, HeapBytes: max(given.Bytes, 0)}, Target: given.Target,
		Processors: given.Processors, Definition: given.Definition, Pages: given.Pages,
	}
	wish := &Wish{
		Method: asked.Method, Format: asked.Format, Connections: asked.Connections, Fill: asked.Fill, Create: asked.Create, Freeze: asked.Freeze,
		ConflictColumns: asked.ConflictColumns, NotLogged: asked.NotLogged, AcceptMissing: asked.AcceptMissing,
	}
	if asked.CommitEvery > 0 {
		wish.Commit = CommitRange
	}
	switch asked.OnDuplicate {
	case DuplicateError:
	case DuplicateUpdate, DuplicateKeepNew:
		wish.OnConflict = DoUpdate
	default:
		wish.OnConflict = DoNothing
	}
	s := &loading{
		situation: &situation{facts: facts, wish: wish, source: &facts.Source, target: &facts.Target, sourceName: given.Input, format: Binary},
		given:     given, asked: asked,
	}
	s.targetName = relationName(s.target)
	s.rows, s.bytes = size(s.source)
	for _, check := range []func() *Error{
		s.checkServers, s.checkMissing, s.checkTarget, s.checkRecord, s.checkFill, s.match, s.checkPrivileges, s.chooseFormat, s.checkTriggers,
	} {
		if err := check(); err != nil {
			return nil, s.aboutLoad(err)
		}
	}
	s.noteTarget()
	return s, nil
}

// aboutLoad puts what is said of a copy in the words of a load.
func (s *loading) aboutLoad(err *Error) *Error {
	err.Message = strings.Replace(err.Message, "cannot copy into", "cannot load into", 1)
	err.Hint = strings.Replace(err.Hint, "Use --columns to copy the others", "Use --columns with an empty name in its place", 1)
	switch {
	case s.target.Kind == Missing && s.target.SchemaFound && !s.wish.Create:
		err.Hint = "Use --create to make it for these rows."
	case s.wish.Fill == Truncate && len(s.referrers()) > 0 && err.Kind == Refused:
		err.Hint = "Truncate those tables and this one together, and use --append."
	}
	return err
}

// checkRecord looks at what an interrupted load of the same files has left.
func (s *loading) checkRecord() *Error {
	r := s.going()
	if r == nil {
		return nil
	}
	if r.Rows > 0 && s.target.Empty && s.target.Kind != View {
		return failed("target "+kindName(s.target.Kind)+" "+s.targetName+" has lost the rows of the interrupted load",
			fmt.Sprintf("The record says that %d rows were loaded, but the target is empty.", r.Rows),
			"Use --truncate without --commit-every once, or delete the record from pghaul.load, and load again.")
	}
	s.note(fmt.Sprintf("goes on where an interrupted load stopped: %d rows are loaded, and %d were refused", r.Rows, r.Refused))
	return nil
}

// going is the record of the interrupted load that this one goes on with, or nil.
func (s *loading) going() *RecordedLoad {
	if s.asked.CommitEvery <= 0 {
		return nil
	}
	return s.given.Recorded
}

// checkFill compares what the target holds with what it may hold.
func (s *loading) checkFill() *Error {
	if s.going() != nil {
		return nil
	}
	err := s.situation.checkFill()
	if err == nil || s.fill() != RequireEmpty {
		return err
	}
	if s.given.Recorded != nil {
		err.Detail = fmt.Sprintf("It holds %d rows of an interrupted load of the same files.", s.given.Recorded.Rows)
		err.Hint = "Use --commit-every to go on where that stopped, or --truncate to start again."
		return err
	}
	for _, u := range s.given.Unfinished {
		if u.Rows > 0 {
			err.Detail = fmt.Sprintf("It holds rows: among them %d that a recorded load of %s has put there.", u.Rows, u.Source)
		}
	}
	return err
}

// chooseFormat finds the columns whose values have no exact binary form here.
func (s *loading) chooseFormat() *Error {
	var names []string
	for i := range s.columns {
		c := &s.columns[i]
		if c.NoBinary != "" {
			names = append(names, columnWord([]string{c.Name})+": "+c.NoBinary)
		}
	}
	if s.wish.Format == Binary && len(names) > 0 {
		return refusal("--format binary cannot be used for "+s.targetName, sentence(strings.Join(names, "; ")),
			"Leave --format out: such values are sent as text.")
	}
	if s.noBinary() != "" {
		s.format = Text
	}
	return nil
}

// noBinary says why batches are text, empty when they are binary.
func (s *loading) noBinary() string {
	if s.wish.Format == Text {
		return "text format was asked for"
	}
	why, more := "", 0
	for i := range s.columns {
		switch c := &s.columns[i]; {
		case c.NoBinary == "":
		case why == "":
			why = columnWord([]string{c.Name}) + ": " + c.NoBinary
		default:
			more++
		}
	}
	if more > 0 {
		why += fmt.Sprintf(" (and %d more)", more)
	}
	return why
}

// checkTriggers refuses to switch triggers off without the privilege for it (manual, "session_replication_role"). Who is no superuser may have
// been granted it from 15 on, which the server says when it is tried.
func (s *loading) checkTriggers() *Error {
	server := &s.facts.TargetServer
	if s.asked.Triggers == No && !server.Superuser && server.Version < grantableSettings {
		return refusal("triggers of "+s.targetName+" cannot be switched off", fmt.Sprintf("Only a superuser may set session_replication_role, and role %q is none.", server.User),
			"Connect as a superuser, or leave the triggers on.")
	}
	return nil
}

// grantableSettings is the first server_version_num with GRANT SET ON PARAMETER.
const grantableSettings = 150000

// noteTarget tells what a reader of the plan may not expect.
func (s *loading) noteTarget() {
	if s.asked.Triggers == No && !s.created {
		s.note("triggers do not fire and foreign keys are not checked: session_replication_role is replica")
		if s.target.Rules {
			s.note("rules of the target decide what becomes of the rows")
		}
		return
	}
	s.situation.noteTarget()
}
