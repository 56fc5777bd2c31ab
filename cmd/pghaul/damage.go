package main

import (
	"errors"
	"strings"

	"github.com/pghaul/pghaul"
	"github.com/pghaul/pghaul/planner"
)

// leftOut warns of the damage that a copy has passed by, table by table; nil when there was none.
func leftOut(report *pghaul.Report) error {
	var all []error
	for _, t := range report.Tables {
		if t.Damage == nil || t.Err != nil {
			continue
		}
		detail := strings.Join(t.Damage.First, "\n")
		if int64(len(t.Damage.First)) < t.Damage.Blocks+t.Damage.Rows {
			detail += "\nOnly these places are listed."
		}
		name := tableName(t)
		if t.Plan != nil {
			name = t.Plan.Source.Relation
		}
		all = append(all, &planner.Error{Kind: planner.SetAside, Message: t.Damage.String() + " of " + name + " left out", Detail: detail})
	}
	return errors.Join(all...)
}
