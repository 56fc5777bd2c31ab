package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// match finds the target's column for each field and looks at the columns that get none.
func (s *loading) match() *Error {
	if s.created && len(s.target.Columns) == 0 {
		s.inventColumns()
	}
	for _, step := range []func() *Error{s.matchSets, s.matchFields} {
		if err := step(); err != nil {
			return err
		}
	}
	for _, f := range s.fields {
		if f.column != nil {
			s.pairs = append(s.pairs, Pair{Source: readable(*f.column), Target: *f.column})
		}
	}
	for _, set := range s.sets {
		s.pairs = append(s.pairs, Pair{Source: readable(*set.column), Target: *set.column})
	}
	if len(s.pairs) == 0 {
		return failed("no column of "+s.targetName+" gets a value", "No field of the rows goes to one.", "--columns names the columns that the fields go to, in their order.")
	}
	s.columns = s.loadColumns()
	return s.checkUnfilled()
}

func readable(c Column) Column {
	c.CanRead = true
	return c
}

// inventColumns names the columns of a table that is made of unknown types.
func (s *loading) inventColumns() {
	names := s.given.Fields
	for i := len(names); i < s.given.Width; i++ {
		names = append(names, fmt.Sprintf("column%d", i+1))
	}
	for _, name := range names {
		s.target.Columns = append(s.target.Columns, Column{Name: name, CanWrite: true})
	}
}

// matchSets finds the columns that --set fills.
func (s *loading) matchSets() *Error {
	for _, set := range s.asked.Set {
		c, err := s.writable(set.Column, "--set", "")
		if err != nil {
			return err
		}
		s.sets = append(s.sets, setColumn{column: c, expression: trimQuery(set.Expression)})
	}
	return nil
}

// writable returns the column of that name, which option has named.
func (s *loading) writable(name, option, leaveOut string) (*Column, *Error) {
	c := column(s.target.Columns, name)
	switch {
	case c == nil:
		hint := ""
		if near := s.nearest(name); near != "" {
			hint = "Perhaps you meant " + sqltext.QuoteIdent(near) + "."
		}
		return nil, failed("target "+kindName(s.target.Kind)+" "+s.targetName+" has no "+columnWord([]string{name}), option+" names it.", hint)
	case c.Generated:
		return nil, s.generated(c, leaveOut)
	}
	return c, nil
}

func (s *loading) generated(c *Column, hint string) *Error {
	return failed(columnWord([]string{c.Name})+" of target table "+s.targetName+" is generated", "The server computes its values and takes none.", hint)
}

// matchFields goes by --columns, by the names of the fields, or by the order of the columns.
func (s *loading) matchFields() *Error {
	switch {
	case s.asked.Columns != nil:
		return s.matchListed()
	case s.given.Fields != nil:
		return s.matchNamed()
	}
	return s.matchOrder()
}

func (s *loading) matchListed() *Error {
	have := max(s.given.Width, len(s.given.Fields))
	if have > 0 && have != len(s.asked.Columns) {
		hint := "Give a name for each field, in their order, and - for a field that is not loaded."
		if s.given.Fields != nil {
			hint = "The fields are " + list(s.given.Fields) + ". " + hint
		}
		return failed(fmt.Sprintf("--columns has %s, and the rows of %s have %s", count(len(s.asked.Columns), "name"), s.given.Input, count(have, "field")), "", hint)
	}
	for i, name := range s.asked.Columns {
		f := loadField{}
		if i < len(s.given.Fields) {
			f.name = s.given.Fields[i]
		}
		if name != "" {
			c, err := s.writable(name, "--columns", "Put - in its place: --columns "+withoutColumn(s.asked.Columns, i))
			if err != nil {
				return err
			}
			if f.column = c; s.isSet(c) { // The expression takes the field's place, and can use it.
				f.column, f.name = nil, name
			}
		}
		s.fields = append(s.fields, f)
	}
	return nil
}

// withoutColumn is an argument of --columns without its i-th name.
func withoutColumn(names []string, i int) string {
	names = slices.Clone(names)
	names[i] = ""
	return columnsArgument(names)
}

// columnsArgument writes an argument of --columns as it is typed.
func columnsArgument(names []string) string {
	typed := make([]string, len(names))
	for i, name := range names {
		if typed[i] = "-"; name != "" {
			typed[i] = sqltext.QuoteIdent(name)
		}
	}
	return strings.Join(typed, ",")
}

func (s *loading) isSet(c *Column) bool {
	return slices.ContainsFunc(s.sets, func(set setColumn) bool { return set.column == c })
}

// matchNamed goes by the fields' names: exactly, or else in whatever case they are written where that leaves no doubt.
func (s *loading) matchNamed() *Error {
	if twice := repeated(s.given.Fields); len(twice) > 0 {
		return failed("the rows of "+s.given.Input+" have "+fieldWord(twice)+" more than once", "Fields go to columns by their names.",
			"Use --columns to name the columns in the fields' order, with - for a field that is not loaded.")
	}
	var unknown []int
	taken := map[*Column]string{}
	for i, name := range s.given.Fields {
		f := loadField{name: name}
		switch c := s.columnFor(name); {
		case c == nil:
			unknown = append(unknown, i)
		case c.Generated:
			return s.generated(c, "Leave the field out: --columns "+withoutColumn(s.given.Fields, i))
		case s.isSet(c): // The expression takes the field's place, and can use it.
		case taken[c] != "":
			return failed("fields "+list([]string{taken[c], name})+" both go to "+columnWord([]string{c.Name})+" of "+s.targetName, "",
				"Use --columns to name the columns in the fields' order, with - for a field that is not loaded.")
		default:
			f.column, taken[c] = c, name
		}
		s.fields = append(s.fields, f)
	}
	if len(unknown) > 0 && len(s.sets) == 0 {
		return s.unknownFields(unknown)
	}
	if len(unknown) > 0 {
		s.note("for the expressions alone: " + fieldWord(s.fieldNames(unknown)))
	}
	return nil
}

// columnFor is the column that a field of that name goes to, or nil.
func (s *loading) columnFor(name string) *Column {
	if c := column(s.target.Columns, name); c != nil {
		return c
	}
	var found *Column
	for i := range s.target.Columns {
		if c := &s.target.Columns[i]; strings.EqualFold(c.Name, name) && column(s.target.Columns, c.Name) == c {
			if found != nil || slices.Contains(s.given.Fields, c.Name) {
				return nil
			}
			found = c
		}
	}
	return found
}

func (s *loading) fieldNames(fields []int) []string {
	var names []string
	for _, i := range fields {
		names = append(names, s.given.Fields[i])
	}
	return names
}

func (s *loading) unknownFields(unknown []int) *Error {
	names := s.fieldNames(unknown)
	e := failed("target "+kindName(s.target.Kind)+" "+s.targetName+" has no column for "+fieldWord(names)+" of the rows", "", "")
	e.Detail = "Its columns are " + list(s.writableNames()) + "."
	like, guessed := make([]string, len(s.fields)), false
	for i, f := range s.fields {
		if f.column != nil {
			like[i] = f.column.Name
		}
	}
	for _, i := range unknown {
		if near := s.nearest(s.given.Fields[i]); !slices.Contains(like, near) {
			like[i], guessed = near, true
		}
	}
	switch {
	case guessed:
		e.Hint = "Perhaps you meant --columns " + columnsArgument(like)
	case len(unknown) == len(like):
		e.Hint = "Perhaps the first line is no header. --columns names the columns that the fields go to, in their order."
	default:
		e.Hint = "To leave out what has no column: --columns " + columnsArgument(like)
	}
	return e
}

func (s *loading) writableNames() []string {
	var names []string
	for i := range s.target.Columns {
		if c := &s.target.Columns[i]; !c.Generated {
			names = append(names, c.Name)
		}
	}
	return names
}

// matchOrder gives the fields to the target's columns one after the other. Columns that --set fills are passed over, unless there is a field
// for each column.
func (s *loading) matchOrder() *Error {
	var all, others []*Column
	for i := range s.target.Columns {
		c := &s.target.Columns[i]
		if c.Generated {
			continue
		}
		all = append(all, c)
		if !s.isSet(c) {
			others = append(others, c)
		}
	}
	if s.given.Width != len(all) {
		all = others
	}
	if s.given.Width > 0 && s.given.Width != len(all) {
		detail := "Its columns are " + list(s.writableNames()) + "."
		if len(others) < len(s.writableNames()) {
			detail += " --set fills " + fmt.Sprint(len(s.sets)) + " of them."
		}
		return failed(fmt.Sprintf("the rows of %s have %s, and target %s %s takes %s", s.given.Input, count(s.given.Width, "field"), kindName(s.target.Kind), s.targetName,
			count(len(all), "value")), detail, "--columns names the columns that the fields go to, in their order.")
	}
	for _, c := range all {
		f := loadField{column: c}
		if s.isSet(c) {
			f.column, f.name = nil, c.Name
		}
		s.fields = append(s.fields, f)
	}
	return nil
}

// checkUnfilled looks at target columns that get no value.
func (s *loading) checkUnfilled() *Error {
	err := s.situation.checkUnfilled()
	if err != nil {
		err.Detail = "No field of the rows goes to it, and it has no default."
		err.Hint = "Name it in --columns, fill it with --set, give it a default, or make it nullable."
	}
	for _, p := range s.pairs {
		if p.Target.Identity == 'a' {
			s.note("the values of the rows are taken for identity column " + sqltext.QuoteIdent(p.Target.Name) + ", as COPY does; its sequence stays where it is")
		}
	}
	return err
}

// fieldWord returns "field a" or "fields a and b".
func fieldWord(names []string) string {
	if len(names) == 1 {
		return "field " + list(names)
	}
	return "fields " + list(names)
}

// loadColumns are what COPY sends to the target itself.
func (s *loading) loadColumns() []LoadColumn {
	var all []LoadColumn
	for i, f := range s.fields {
		if f.column != nil {
			all = append(all, s.loadColumn(i, f.name, f.column))
		}
	}
	return all
}

func (s *loading) loadColumn(field int, name string, c *Column) LoadColumn {
	l := LoadColumn{Name: c.RealName(), Field: field, From: name, Type: c.Type, NotNull: c.NotNull && s.refusesNull(), NoBinary: s.given.NoEncoder[c.Name]}
	if c.Type.OID == 0 {
		l.NoBinary = "its type is known when the table is made"
	}
	return l
}

// refusesNull reports whether a NULL in a NOT NULL column is refused whatever happens to the row on its way.
func (s *loading) refusesNull() bool {
	return (s.created || s.target.Kind == Table || s.target.Kind == Partitioned) && !s.target.Rules && !changesRows(s.target)
}
