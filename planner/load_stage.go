package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// stageTable holds rows on their way to the target; temporary tables have a schema of their own for each connection.
const stageTable = "pghaul_stage"

// planStage sends the rows through a temporary table.
func (s *loading) planStage(p *Plan) {
	l, table := p.Load, "pg_temp."+stageTable
	l.Columns = s.stageColumns()
	// Rows that are dropped are written to the reject file batch by batch.
	whole := !l.Savepoints && l.CommitEvery == 0 && l.OnDuplicate != DuplicateKeepOld
	l.CopyText, l.CopyBinary = s.copyInto(table, l.Columns, true, whole)
	l.Stage = &StagePlan{
		Create: s.temporary(stageTable, l.Columns), Merge: s.mergeSQL(p.Parts[0].Target, table), Duplicates: s.duplicatesSQL(p.Parts[0].Target, table),
		Reset: "TRUNCATE TABLE " + table, Whole: whole,
	}
	if len(s.sets) > 0 {
		p.Notes = append(p.Notes, "expressions see the fields as "+columnList(l.Columns)+"; those that go to no column are text")
	}
}

// temporary makes a table for numbered rows. It is made from a SELECT, so that it has the columns' types and collations but no constraint or
// default that would refuse or fill a row before its time.
func (s *loading) temporary(name string, columns []LoadColumn) string {
	items := []string{"0::pg_catalog.int8 AS " + rowNumber}
	for i := range columns {
		c := &columns[i]
		item := "NULL::pg_catalog.text"
		if f := s.fields[c.Field].column; f != nil {
			item = sqltext.QuoteIdent(f.RealName())
		}
		if as := sqltext.QuoteIdent(c.Name); item != as {
			item += " AS " + as
		}
		items = append(items, item)
	}
	return "CREATE TEMPORARY TABLE " + name + " ON COMMIT DROP AS SELECT " + strings.Join(items, ", ") + " FROM " + s.targetName + " WITH NO DATA"
}

// stageColumns are the columns of the temporary table. Expressions know the fields by their own names; those that go to no column are text.
func (s *loading) stageColumns() []LoadColumn {
	if len(s.sets) == 0 {
		return s.columns
	}
	var all []LoadColumn
	taken := map[string]bool{}
	for i, f := range s.fields {
		c := LoadColumn{Field: i, From: f.name, Type: textColumn}
		if f.column != nil {
			c = s.loadColumn(i, f.name, f.column)
		}
		if c.Name = s.stageName(i); taken[c.Name] {
			c.Name = fmt.Sprintf("field%d", i+1)
		}
		taken[c.Name] = true
		all = append(all, c)
	}
	return all
}

// textColumn is the type of a field that goes to no column.
var textColumn = Type{OID: textOID, Schema: "pg_catalog", Name: "text", SQL: "text", Mod: -1, Class: BaseType, Send: "pg_catalog.textsend", Receive: "pg_catalog.textrecv"}

// stageName is what an expression calls a field: its own name, or else that of the column, or its number.
func (s *loading) stageName(i int) string {
	switch f := s.fields[i]; {
	case f.name != "":
		return f.name
	case f.column != nil:
		return f.column.RealName()
	}
	return fmt.Sprintf("field%d", i+1)
}

// selected are the values of all columns that get one, over the temporary table.
func (s *loading) selected() []string {
	var all []string
	for _, p := range s.pairs {
		all = append(all, s.value(p.Target.Name))
	}
	return all
}

// value is the expression over the temporary table that gives a column of the target its value.
func (s *loading) value(name string) string {
	for _, set := range s.sets {
		if set.column.Name == name {
			return "(" + guarded(set.expression) + ")"
		}
	}
	stage := s.stageColumns()
	for i := range stage {
		if f := s.fields[stage[i].Field].column; f != nil && f.Name == name {
			return sqltext.QuoteIdent(stage[i].Name)
		}
	}
	return "NULL"
}

// mergeSQL moves the staged rows into the target. Rows lie in the temporary table nearly in the order of their arrival: a short one can find room
// in front of a long one. Where the first row of a key is to stay they are sorted, which costs little for rows that are sorted nearly.
func (s *loading) mergeSQL(into, table string) string {
	head, list := s.insertHead(into)+" SELECT ", strings.Join(s.selected(), ", ")
	switch s.asked.OnDuplicate {
	case DuplicateError:
		return head + list + " FROM " + table
	case DuplicateSkip, DuplicateKeepOld:
		return head + list + " FROM " + table + " ORDER BY " + rowNumber + " " + s.onConflict()
	}
	by := s.sameKey()
	return head + "DISTINCT ON (" + by + ") " + list + " FROM " + table + " ORDER BY " + by + ", " + rowNumber + " DESC " + s.onConflict()
}

// sameKey are the expressions that are the same for rows with the same key. A key with a NULL in it is equal to none unless the key says so, while
// DISTINCT and PARTITION hold NULLs to be equal: such rows are told apart by their numbers.
func (s *loading) sameKey() string {
	key, _ := s.duplicateKey()
	var values, nulls []string
	for _, name := range key {
		values = append(values, s.value(name))
		if c := column(s.target.Columns, name); c != nil && !c.NotNull {
			nulls = append(nulls, s.value(name)+" IS NULL")
		}
	}
	by := strings.Join(values, ", ")
	if len(nulls) > 0 && !s.keyCheck(key).NullsEqual {
		by += ", CASE WHEN " + strings.Join(nulls, " OR ") + " THEN " + rowNumber + " END"
	}
	return by
}

// keyCheck is what is known of a key, with the operators that every type of PostgreSQL has when nothing is.
func (s *loading) keyCheck(key []string) *Check {
	for i := range s.given.Checks {
		if c := &s.given.Checks[i]; c.Kind == CheckUnique && sameSet(c.Columns, key) {
			return c
		}
	}
	c := &Check{Kind: CheckUnique, Columns: key}
	for range key {
		c.Operators = append(c.Operators, "pg_catalog.=")
	}
	return c
}

// duplicatesSQL lists the rows that the merge does not take, where their numbers are asked for or their count cannot be told from its answer.
func (s *loading) duplicatesSQL(into, table string) string {
	key, _ := s.duplicateKey()
	number := "pg_catalog.row_number() OVER (PARTITION BY " + s.sameKey() + " ORDER BY " + rowNumber
	switch s.asked.OnDuplicate {
	case DuplicateKeepOld:
	case DuplicateSkip:
		if !changesRows(s.target) || len(key) == 0 {
			return ""
		}
	case DuplicateUpdate, DuplicateKeepNew:
		if !changesRows(s.target) {
			return ""
		}
		return "SELECT " + rowNumber + ", 'input' FROM (SELECT " + rowNumber + ", " + number + " DESC) AS n FROM " + table + ") AS d WHERE n > 1"
	default:
		return ""
	}
	check := s.keyCheck(key)
	// The key's values are computed by themselves, lest their names be taken for those of the target.
	var values, equal []string
	for i, name := range check.Columns {
		as := fmt.Sprintf("k%d", i+1)
		values = append(values, s.value(name)+" AS "+as)
		equal = append(equal, sameValue("t."+sqltext.QuoteIdent(s.realNames([]string{name})[0]), check.Operators[i], "d."+as, check.NullsEqual))
	}
	return "SELECT d." + rowNumber + ", CASE WHEN d.n > 1 THEN 'input' ELSE 'table' END FROM (SELECT " + rowNumber + ", " + number + ") AS n, " + strings.Join(values, ", ") +
		" FROM " + table + ") AS d WHERE d.n > 1 OR EXISTS (SELECT FROM " + s.whole(into) + " AS t WHERE " + strings.Join(equal, " AND ") + ")"
}

// whole names the target so that the rows of tables that inherit from it do not count: no key spans them.
func (s *loading) whole(table string) string {
	if s.target.Kind == Table {
		return "ONLY " + table
	}
	return table
}

// sameValue compares two values as a key does.
func sameValue(left, operator, right string, nullsEqual bool) string {
	equal := left + " OPERATOR(" + operator + ") " + right
	if nullsEqual {
		equal = "(" + equal + " OR " + left + " IS NULL AND " + right + " IS NULL)"
	}
	return equal
}

// duplicateKey returns the columns by which rows are known again, or why there are none. To skip rows whichever key they break takes no columns.
func (s *loading) duplicateKey() (key []string, why string) {
	switch s.asked.OnDuplicate {
	case DuplicateError:
		return nil, ""
	case DuplicateSkip:
		if len(s.asked.ConflictColumns) > 0 {
			break
		}
		if s.target.Kind != View && s.target.Kind != ForeignTable && !s.hasKeys() {
			return nil, "target " + s.targetName + " has no unique key"
		}
		return nil, ""
	}
	if len(s.wish.ConflictColumns) == 0 && len(s.target.Keys) == 1 {
		return s.movedKey(s.target.Keys[0].Columns)
	}
	key, why = s.conflictKey()
	if why == "" {
		return key, s.unchangeable(key)
	}
	return nil, strings.Replace(why, " is not copied", " is not loaded", 1)
}

// movedKey refuses a key with a column that gets no value.
func (s *loading) movedKey(key []string) ([]string, string) {
	for _, name := range key {
		if !slices.ContainsFunc(s.pairs, func(p Pair) bool { return p.Target.Name == name }) {
			return nil, "key " + columnWord([]string{name}) + " of the target is not loaded"
		}
	}
	return key, s.unchangeable(key)
}

// unchangeable names a loaded column that no UPDATE can set.
func (s *loading) unchangeable(key []string) string {
	if s.asked.OnDuplicate != DuplicateUpdate && s.asked.OnDuplicate != DuplicateKeepNew {
		return ""
	}
	for _, p := range s.pairs {
		if p.Target.Identity == 'a' && !slices.Contains(key, p.Target.Name) {
			return columnWord([]string{p.Target.Name}) + " is GENERATED ALWAYS AS IDENTITY, which the row that is there keeps"
		}
	}
	return ""
}

// onConflict is ON CONFLICT with its action, empty when rows with a known key are errors. EXCLUDED is the whole new row, with the defaults of
// the columns that are not loaded: to set all columns to it is to put it in the old one's place, without the deletion that foreign keys
// would pass on.
func (s *loading) onConflict() string {
	if s.asked.OnDuplicate == DuplicateError {
		return ""
	}
	key, _ := s.duplicateKey()
	if len(key) == 0 {
		return "ON CONFLICT DO NOTHING"
	}
	target := "ON CONFLICT (" + sqltext.QuoteIdents(s.realNames(key)) + ") "
	if s.wish.OnConflict == DoNothing {
		return target + "DO NOTHING"
	}
	var sets []string
	set := func(c *Column, value string) { sets = append(sets, sqltext.QuoteIdent(c.RealName())+" = "+value) }
	for i := range s.target.Columns {
		c := &s.target.Columns[i]
		loaded := slices.ContainsFunc(s.pairs, func(p Pair) bool { return p.Target.Name == c.Name })
		anew := s.asked.OnDuplicate == DuplicateKeepNew
		switch {
		case c.Generated:
		case c.Identity == 'a' && (loaded || !anew): // The key, which is the same, or nothing to be changed.
		case c.Identity == 'a':
			set(c, "DEFAULT")
		case anew, loaded && !slices.Contains(key, c.Name): // Equal keys can differ in their text, and the new row's is the one to be kept.
			set(c, "EXCLUDED."+sqltext.QuoteIdent(c.RealName()))
		}
	}
	if len(sets) == 0 {
		return target + "DO NOTHING"
	}
	return target + "DO UPDATE SET " + strings.Join(sets, ", ")
}
