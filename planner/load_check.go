package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// checkTable holds the rows of a batch while its refused ones are looked for.
const checkTable = "pghaul_check"

const inCheck = "pg_temp." + checkTable

// planCheck finds the refused rows of a batch at once.
func (s *loading) planCheck(p *Plan) {
	if p.Method != Relay && p.Method != Merge {
		return
	}
	queries := s.checkQueries(p.Parts[0].Target, p.Load.Relation)
	if len(queries) == 0 {
		return
	}
	columns := slices.Clone(p.Load.Columns)
	for i := range columns {
		// The checks know columns by the target's names.
		if c := s.fields[columns[i].Field].column; c != nil {
			columns[i].Name = c.RealName()
		} else {
			columns[i].Name = fmt.Sprintf("pghaul.field%d", i+1)
		}
	}
	c := &CheckPlan{Create: s.temporary(checkTable, columns), Queries: queries, Reset: "TRUNCATE TABLE " + inCheck}
	c.CopyText, c.CopyBinary = s.copyInto(inCheck, columns, true, false)
	p.Load.Check = c
}

// checked reports whether refused rows are looked for in a temporary table.
func (s *loading) checked() bool { return len(s.checkQueries(s.targetName, s.target.Name)) > 0 }

// checkQueries are the checks in the order in which the server makes them, but for foreign keys, which come before unique keys: a row that refers
// to nothing is not there for the next one to have the same key. Triggers that change rows could mend what the checks refuse.
func (s *loading) checkQueries(into, relation string) []CheckQuery {
	if s.asked.OnError != SetRowsAside || s.created || s.target.Kind != Table && s.target.Kind != Partitioned || changesRows(s.target) {
		return nil
	}
	var all []CheckQuery
	for _, kind := range []CheckKind{CheckBounds, CheckNotNull, CheckExpression, CheckForeign} {
		for i := range s.given.Checks {
			if c := &s.given.Checks[i]; c.Kind == kind && s.testable(c) {
				all = append(all, s.checkQuery(c, relation))
			}
		}
	}
	return append(all, s.uniqueQueries(into)...)
}

// testable reports whether the rows of a batch alone decide: all columns that a check speaks of come from fields.
func (s *loading) testable(c *Check) bool {
	for _, name := range c.Columns {
		if !slices.ContainsFunc(s.columns, func(l LoadColumn) bool { return l.Name == name }) {
			return false
		}
	}
	switch c.Kind {
	case CheckNotNull:
		// Most are refused before they are sent.
		return slices.ContainsFunc(s.columns, func(l LoadColumn) bool { return l.Name == c.Columns[0] && !l.NotNull })
	case CheckForeign:
		// A row may refer to another one that comes with it.
		return s.asked.Triggers != No && strings.TrimPrefix(c.References, "ONLY ") != s.targetName
	}
	return len(c.Columns) > 0
}

// checkQuery looks for rows that break one check that is not a unique key. Messages are those of execMain.c, execPartition.c and ri_triggers.c.
func (s *loading) checkQuery(c *Check, relation string) CheckQuery {
	q := CheckQuery{Constraint: c.Name, State: "23514"}
	where := "NOT (" + c.Expression + ")"
	switch c.Kind {
	case CheckBounds:
		q.Message = `new row for relation "` + relation + `" violates partition constraint`
		if s.target.Kind == Partitioned {
			q.Message = `no partition of relation "` + relation + `" found for row`
		}
	case CheckNotNull:
		q.State, q.Column, q.Message = "23502", c.Columns[0], `null value in column "`+c.Columns[0]+`" of relation "`+relation+`" violates not-null constraint`
		where = sqltext.QuoteIdent(c.Columns[0]) + " IS NULL"
	case CheckForeign:
		q.State, q.Message = "23503", `insert or update on table "`+relation+`" violates foreign key constraint "`+c.Name+`"`
		return s.foreignQuery(c, q)
	default:
		q.Message = `new row for relation "` + relation + `" violates check constraint "` + c.Name + `"`
	}
	q.SQL = "DELETE FROM " + inCheck + " WHERE " + where + " RETURNING " + rowNumber
	return q
}

// foreignQuery looks for rows that refer to none. With MATCH FULL a key is NULL as a whole or not at all.
func (s *loading) foreignQuery(c *Check, q CheckQuery) CheckQuery {
	var given, absent, equal []string
	for i, name := range c.Columns {
		column := "c." + sqltext.QuoteIdent(name)
		given, absent = append(given, column+" IS NOT NULL"), append(absent, column+" IS NULL")
		equal = append(equal, sameValue("r."+sqltext.QuoteIdent(c.Referenced[i]), c.Operators[i], column, false))
	}
	where := strings.Join(given, " AND ") + " AND NOT EXISTS (SELECT FROM " + c.References + " AS r WHERE " + strings.Join(equal, " AND ") + ")"
	if c.MatchFull && len(c.Columns) > 1 {
		where += " OR (" + strings.Join(given, " OR ") + ") AND (" + strings.Join(absent, " OR ") + ")"
	}
	q.SQL = "DELETE FROM " + inCheck + " AS c WHERE " + where + " RETURNING c." + rowNumber
	return q
}

// uniqueQueries look for rows whose keys the table has, then for those that share a key with an earlier row of the batch.
func (s *loading) uniqueQueries(into string) []CheckQuery {
	if s.asked.OnDuplicate != DuplicateError {
		return nil
	}
	var keys []*Check
	for i := range s.given.Checks {
		if c := &s.given.Checks[i]; c.Kind == CheckUnique && s.testable(c) {
			keys = append(keys, c)
		}
	}
	var there, shared []CheckQuery
	for at, c := range keys {
		q := CheckQuery{State: "23505", Constraint: c.Name, Message: `duplicate key value violates unique constraint "` + c.Name + `"`}
		var equal []string
		for i, name := range c.Columns {
			quoted := sqltext.QuoteIdent(name)
			equal = append(equal, sameValue("t."+quoted, c.Operators[i], "c."+quoted, c.NullsEqual))
		}
		q.SQL = "DELETE FROM " + inCheck + " AS c WHERE EXISTS (SELECT FROM " + s.whole(into) + " AS t WHERE " + strings.Join(equal, " AND ") + ") RETURNING c." + rowNumber
		there = append(there, q)
		q.Doubtful = true
		q.SQL = "DELETE FROM " + inCheck + " WHERE " + rowNumber + " IN (" + sharedKey(keys, at) + ") RETURNING " + rowNumber
		shared = append(shared, q)
	}
	return append(there, shared...)
}

// sharedKey lists the rows that come behind one with the same key which is sure to be taken: with one key that is the first of them. With
// several, a row that shares another key with an earlier row may be refused itself, so it keeps nobody out; the server decides about those behind it.
func sharedKey(keys []*Check, at int) string {
	if len(keys) == 1 {
		return "SELECT " + rowNumber + " FROM (SELECT " + rowNumber + ", " + nth(keys[0]) + " AS n FROM " + inCheck + ") AS s WHERE n > 1"
	}
	var places, first []string
	for i, c := range keys {
		n := fmt.Sprintf("n%d", i+1)
		places, first = append(places, nth(c)+" AS "+n), append(first, n+" = 1")
	}
	columns := sqltext.QuoteIdents(keys[at].Columns)
	return "SELECT " + rowNumber + " FROM (SELECT " + rowNumber + fmt.Sprintf(", n%d", at+1) + ", pg_catalog.first_value(" + strings.Join(first, " AND ") + ") OVER (PARTITION BY " +
		columns + " ORDER BY " + rowNumber + ") AS sure FROM (SELECT *, " + strings.Join(places, ", ") + " FROM " + inCheck + ") AS p) AS s WHERE sure AND " +
		fmt.Sprintf("n%d > 1", at+1)
}

// nth is the place of a row among those with the same key; 1 for a key with a NULL in it, unless NULLs are equal.
func nth(c *Check) string {
	n := "pg_catalog.row_number() OVER (PARTITION BY " + sqltext.QuoteIdents(c.Columns) + " ORDER BY " + rowNumber + ")"
	if c.NullsEqual {
		return n
	}
	var nulls []string
	for _, name := range c.Columns {
		nulls = append(nulls, sqltext.QuoteIdent(name)+" IS NULL")
	}
	return "CASE WHEN " + strings.Join(nulls, " OR ") + " THEN 1 ELSE " + n + " END"
}
