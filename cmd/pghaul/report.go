package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/pghaul/pghaul"
	"github.com/pghaul/pghaul/planner"
)

// printPlans prints plans one after the other, or as one JSON array.
func printPlans(w io.Writer, plans []*planner.Plan, output string) error {
	if output == "json" {
		list := make([]json.RawMessage, len(plans))
		for i, p := range plans {
			text, err := p.JSON()
			if err != nil {
				return fmt.Errorf("print plan: %w", err)
			}
			list[i] = text
		}
		return printJSON(w, list)
	}
	for i, p := range plans {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, strings.TrimRight(p.Text(), "\n"))
	}
	return nil
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// result is the JSON form of a copy's report.
type result struct {
	Tables  []tableResult `json:"tables"`
	Rows    int64         `json:"rows"`
	Bytes   int64         `json:"bytes"`
	Seconds float64       `json:"seconds"`
	Settled []string      `json:"settled,omitempty"`
	Errors  []message     `json:"errors,omitempty"`
}

type tableResult struct {
	Source     string             `json:"source"`
	Target     string             `json:"target"`
	Method     planner.Method     `json:"method"`
	Format     planner.Format     `json:"format,omitempty"`
	Commit     planner.Atomic     `json:"commit"`
	Rows       int64              `json:"rows"`
	Bytes      int64              `json:"bytes"`
	Seconds    float64            `json:"seconds"`
	LimitedBy  string             `json:"limited_by,omitempty"`
	Duplicates int64              `json:"duplicates,omitempty"`
	Verified   *pghaul.Comparison `json:"verified,omitempty"`
	Damage     *pghaul.Damage     `json:"damage,omitempty"`
	Kept       string             `json:"kept,omitempty"`
	Errors     []message          `json:"errors,omitempty"`
	Plan       json.RawMessage    `json:"plan,omitempty"`
}

func printResult(w io.Writer, report *pghaul.Report, failure error, withPlans bool) error {
	r := result{
		Tables: []tableResult{}, Rows: report.Rows(), Bytes: report.Bytes(),
		Seconds: report.Duration.Seconds(), Settled: report.Settled, Errors: messages(failure),
	}
	for _, t := range report.Tables {
		one := tableResult{
			Rows: t.Rows, Bytes: t.Bytes, Seconds: t.Duration.Seconds(),
			Verified: t.Verified, Damage: t.Damage, Kept: t.Kept, Errors: messages(t.Err),
		}
		if p := t.Plan; p != nil {
			one.Source, one.Target = p.Source.Relation, p.Target.Relation
			one.Method, one.Format, one.Commit = p.Method, p.Format, p.Atomic
			if p.Actual != nil {
				one.LimitedBy, one.Duplicates = p.Actual.LimitedBy, p.Actual.Duplicates
			}
			if withPlans {
				text, err := p.JSON()
				if err != nil {
					return fmt.Errorf("print plan: %w", err)
				}
				one.Plan = text
			}
		}
		r.Tables = append(r.Tables, one)
	}
	return printJSON(w, r)
}

func messages(err error) []message {
	if err == nil {
		return nil
	}
	var list []message
	for _, part := range split(err) {
		list = append(list, newMessage(part))
	}
	return list
}

// printKept tells what stands in the targets after a copy that did not succeed.
func printKept(w io.Writer, report *pghaul.Report) {
	for _, s := range report.Settled {
		fmt.Fprintf(w, "NOTICE:  %s\n", s)
	}
	for _, t := range report.Tables {
		switch {
		case t.Kept != "":
			fmt.Fprintf(w, "NOTICE:  %s: %s\n", tableName(t), t.Kept)
		case t.Err == nil && t.Rows > 0:
			rows := "rows are"
			if t.Rows == 1 {
				rows = "row is"
			}
			fmt.Fprintf(w, "NOTICE:  %s: %s %s copied and committed\n", tableName(t), showCount(t.Rows), rows)
		}
	}
}

// printNotices tells what a user of a successful copy should know besides its numbers.
func printNotices(w io.Writer, report *pghaul.Report) {
	for _, s := range report.Settled {
		fmt.Fprintf(w, "NOTICE:  %s\n", s)
	}
	for _, t := range report.Tables {
		if t.Plan == nil {
			continue
		}
		for _, note := range t.Plan.Notes {
			fmt.Fprintf(w, "NOTICE:  %s: %s\n", tableName(t), note)
		}
		if t.Plan.Actual != nil && t.Plan.Actual.Duplicates > 0 {
			fmt.Fprintf(w, "NOTICE:  %s: %s rows of the source shared their key with another row of it\n",
				tableName(t), showCount(t.Plan.Actual.Duplicates))
		}
		if t.Verified != nil {
			fmt.Fprintf(w, "NOTICE:  %s\n", comparisonLine(t.Verified))
		}
	}
}

func tableName(t pghaul.TableReport) string {
	if t.Plan == nil {
		return "a table"
	}
	return t.Plan.Target.Relation
}

// summary is the last line of a successful copy.
func summary(report *pghaul.Report, maxRate int64) string {
	var b strings.Builder
	b.WriteString("copied ")
	if n := len(report.Tables); n != 1 {
		fmt.Fprintf(&b, "%d tables, ", n)
	}
	rows, bytes, seconds := report.Rows(), report.Bytes(), report.Duration.Seconds()
	b.WriteString(plural(rows, "row"))
	if bytes > 0 {
		fmt.Fprintf(&b, ", %s,", showBytes(float64(bytes)))
	}
	fmt.Fprintf(&b, " in %s", showTime(report.Duration))
	if seconds > 0 && rows > 0 {
		b.WriteString(" (")
		if bytes > 0 {
			fmt.Fprintf(&b, "%s/s, ", showBytes(float64(bytes)/seconds))
		}
		fmt.Fprintf(&b, "%s rows/s)", showRate(float64(rows)/seconds))
	}
	by := limitedBy(report)
	if maxRate > 0 && float64(bytes) > 0.8*seconds*float64(maxRate) {
		by = "--max-rate"
	}
	if by != "" {
		b.WriteString("; limited by " + by)
	}
	return b.String()
}

// limitedBy is what limited the table that took longest.
func limitedBy(report *pghaul.Report) string {
	var by string
	var longest int64 = -1
	for _, t := range report.Tables {
		if t.Plan != nil && t.Plan.Actual != nil && int64(t.Duration) > longest {
			longest, by = int64(t.Duration), t.Plan.Actual.LimitedBy
		}
	}
	return by
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return showCount(n) + " " + noun + "s"
}
