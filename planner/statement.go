package planner

import (
	"fmt"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// Statement is one text that a plan sends for its ranges.
type Statement struct {
	// Label says what it is: Source SQL, Read for a file of a data directory, Target SQL, or Remote SQL for a foreign table that was followed, with the server's address.
	Label string
	SQL   string
}

// Statements returns what is sent for the first range in the order of sending, each text once. Those of other ranges differ in their ctid
// bounds and partitions.
func (p *Plan) Statements() []Statement {
	if p.Load != nil {
		return p.loadStatements()
	}
	if len(p.Ranges) == 0 {
		return nil
	}
	if p.Pages != nil {
		return p.Pages.statements()
	}
	r := p.example()
	if !streams(p.Method) {
		return []Statement{{Label: p.Target.label("SQL"), SQL: p.WriteSQL(r)}}
	}
	all := []Statement{{Label: p.Source.label("Source SQL"), SQL: p.ReadSQL(r)}}
	if p.Parts[r.Part].File != "" {
		all[0] = Statement{Label: "Read", SQL: p.reading(r)}
	}
	to := p.Target.label("Target SQL")
	switch p.Method {
	case Insert:
		return append(all, p.batchStatements(r, to)...)
	case Merge:
		return append(all, p.Merge.statements(to)...)
	}
	return append(all, Statement{Label: to, SQL: p.WriteSQL(r)})
}

// statements are what is sent, in order.
func (m *MergePlan) statements(to string) []Statement {
	all := []Statement{{Label: to, SQL: m.Create}, {Label: to, SQL: m.Write}}
	merge := Statement{Label: to, SQL: m.Merge}
	count := Statement{Label: to, SQL: m.Count}
	switch {
	case m.Count == "":
		return append(all, merge)
	case m.CountAfter:
		count.Label += " if that took fewer rows"
		return append(all, merge, count)
	case m.Plain == "":
		return append(all, count, merge)
	}
	merge.Label += " if not"
	return append(all, count, Statement{Label: to + " if that is 0", SQL: m.Plain}, merge)
}

// example is a range whose statement shows both bounds, when there is one.
func (p *Plan) example() Range {
	for _, r := range p.Ranges {
		if r.FromPage > 0 && r.ToPage > 0 {
			return r
		}
	}
	return p.Ranges[0]
}

// batchStatements are the texts that method insert has for its sizes of batch.
func (p *Plan) batchStatements(r Range, label string) []Statement {
	b := p.Batch
	all := []Statement{{Label: fmt.Sprintf("%s for a batch of %s", label, count(b.Size, "row")), SQL: p.InsertSQL(r, b.Size)}}
	if b.Size > 1 {
		all = append(all, Statement{Label: label + " for a batch of 1 row", SQL: p.InsertSQL(r, 1)})
	}
	if b.NoCopy == "" && b.CopyThreshold != CopyNever {
		all = append(all, Statement{Label: label + " for a batch by COPY", SQL: p.WriteSQL(r)})
	}
	return all
}

// label names a place's statement as postgres_fdw's EXPLAIN does when it is sent to a foreign table's server.
func (p *Place) label(local string) string {
	if len(p.Path) > 0 {
		return "Remote SQL on " + p.Server
	}
	return local
}

func (h *Hop) relation() string { return sqltext.QuoteQualified(h.Schema, h.Name) }
