package planner

import "strings"

// CountSQL returns a statement on the source with one row of two numbers: the rows of a range, and those of them that meet a condition. It
// serves an interrupted move, which goes on only when the ranges that it has moved are still what they were.
func (p *Plan) CountSQL(r Range, condition string) string {
	sql := "SELECT pg_catalog.count(*), pg_catalog.count(*) FILTER (WHERE " + condition + ") FROM " + p.Parts[r.Part].Source
	if conditions := p.conditions(r); len(conditions) > 0 {
		sql += " WHERE " + strings.Join(conditions, " AND ")
	}
	return sql
}
