package planner

import (
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// ReadSQL returns the statement that reads one range from the source: COPY ... TO STDOUT for the methods that move rows through the
// client, the SELECT for the others.
func (p *Plan) ReadSQL(r Range) string {
	part := &p.Parts[r.Part]
	if !streams(p.Method) {
		return p.selectSQL(r)
	}
	if part.Plain && r.FromPage == 0 && r.ToPage == 0 && len(p.Columns) > 0 {
		// COPY of the table itself goes around the executor, and keeps out children without ONLY.
		return "COPY " + strings.TrimPrefix(part.Source, "ONLY ") + " (" + p.sourceColumns(part) + ") TO STDOUT" + p.copyOptions(false)
	}
	return "COPY (" + p.selectSQL(r) + ") TO STDOUT" + p.copyOptions(false)
}

// selectSQL reads one range by SELECT.
func (p *Plan) selectSQL(r Range) string {
	part := &p.Parts[r.Part]
	sql := "SELECT"
	if len(p.Columns) > 0 {
		sql += " " + p.sourceColumns(part)
	}
	sql += " FROM " + part.Source
	if conditions := p.conditions(r); len(conditions) > 0 {
		sql += " WHERE " + strings.Join(conditions, " AND ")
	}
	return sql
}

// conditions are those of the range, then the user's.
func (p *Plan) conditions(r Range) []string {
	var all []string
	if r.FromPage > 0 {
		all = append(all, fmt.Sprintf("ctid >= '(%d,0)'::pg_catalog.tid", r.FromPage))
	}
	if r.ToPage > 0 {
		all = append(all, fmt.Sprintf("ctid < '(%d,0)'::pg_catalog.tid", r.ToPage))
	}
	if p.Where != "" {
		all = append(all, "("+guarded(p.Where)+")")
	}
	return all
}

func (p *Plan) sourceColumns(part *Part) string {
	names := make([]string, len(p.Columns))
	for i, c := range p.Columns {
		name := c.Source.RealName()
		if part.Renamed {
			name = c.Source.Name
		}
		names[i] = sqltext.QuoteIdent(name)
		if p.Method == CreateAs && name != c.Target.Name {
			names[i] += " AS " + sqltext.QuoteIdent(c.Target.Name)
		}
	}
	return strings.Join(names, ", ")
}

// copyOptions are the options of a COPY, with FREEZE for the one that writes.
func (p *Plan) copyOptions(write bool) string {
	var options []string
	if p.Format == Binary {
		options = append(options, "FORMAT binary")
	}
	if write && p.Frozen {
		options = append(options, "FREEZE")
	}
	if len(options) == 0 {
		return ""
	}
	return " WITH (" + strings.Join(options, ", ") + ")"
}
