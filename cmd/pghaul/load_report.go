package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/pghaul/pghaul"
	"github.com/pghaul/pghaul/planner"
)

// loadResult is the JSON form of a load's report.
type loadResult struct {
	Target     string                `json:"target"`
	Method     planner.Method        `json:"method"`
	Rows       int64                 `json:"rows"`
	Read       int64                 `json:"read"`
	Refused    int64                 `json:"refused"`
	Duplicates int64                 `json:"duplicates"`
	Earlier    int64                 `json:"earlier,omitempty"`
	Bytes      int64                 `json:"bytes"`
	Seconds    float64               `json:"seconds"`
	LimitedBy  string                `json:"limited_by,omitempty"`
	Reasons    []pghaul.RefusalCount `json:"reasons,omitempty"`
	Reject     string                `json:"reject,omitempty"`
	ReasonFile string                `json:"reject_reasons,omitempty"`
	Kept       string                `json:"kept,omitempty"`
	Settled    []string              `json:"settled,omitempty"`
	Errors     []message             `json:"errors,omitempty"`
	Plan       json.RawMessage       `json:"plan,omitempty"`
}

func printLoadResult(w io.Writer, r *pghaul.LoadReport, failure error, withPlan bool) error {
	out := loadResult{
		Target: r.Plan.Target.Relation, Method: r.Plan.Method, Rows: r.Rows, Read: r.Read, Refused: r.Refused, Duplicates: r.Duplicates,
		Earlier: r.Earlier, Bytes: r.Bytes, Seconds: r.Duration.Seconds(), Reasons: r.Reasons, Reject: r.Reject, ReasonFile: r.ReasonsFile,
		Kept: r.Kept, Settled: r.Settled, Errors: messages(failure),
	}
	if r.Plan.Actual != nil {
		out.LimitedBy = r.Plan.Actual.LimitedBy
	}
	if withPlan {
		text, err := r.Plan.JSON()
		if err != nil {
			return fmt.Errorf("print plan: %w", err)
		}
		out.Plan = text
	}
	return printJSON(w, out)
}

// printLoadKept tells what stands in the table after a load that did not succeed.
func printLoadKept(w io.Writer, r *pghaul.LoadReport) {
	for _, s := range r.Settled {
		fmt.Fprintf(w, "NOTICE:  %s\n", s)
	}
	if r.Kept != "" {
		fmt.Fprintf(w, "NOTICE:  %s: %s\n", r.Plan.Target.Relation, r.Kept)
	}
}

// printLoadNotices tells what a user of a successful load should know besides its numbers.
func printLoadNotices(w io.Writer, r *pghaul.LoadReport) {
	for _, s := range r.Settled {
		fmt.Fprintf(w, "NOTICE:  %s\n", s)
	}
	for _, note := range r.Plan.Notes {
		fmt.Fprintf(w, "NOTICE:  %s\n", note)
	}
	switch {
	case r.Finished:
		fmt.Fprintf(w, "NOTICE:  these files were loaded to their ends before, %s in all; nothing was done\n", plural(r.Earlier, "row"))
	case r.Earlier > 0:
		fmt.Fprintf(w, "NOTICE:  went on behind %s that an interrupted load had committed\n", plural(r.Earlier, "row"))
	}
	if r.Duplicates > 0 {
		fmt.Fprintf(w, "NOTICE:  %s gave way to rows with the same key\n", plural(r.Duplicates, "row"))
	}
}

// loadSummary is the last line of a successful load.
func loadSummary(r *pghaul.LoadReport) string {
	var b strings.Builder
	fmt.Fprintf(&b, "loaded %s", plural(r.Rows, "row"))
	seconds := r.Duration.Seconds()
	if r.Bytes > 0 {
		fmt.Fprintf(&b, ", %s,", showBytes(float64(r.Bytes)))
	}
	fmt.Fprintf(&b, " in %s", showTime(r.Duration))
	if seconds > 0 && r.Rows > 0 {
		fmt.Fprintf(&b, " (%s rows/s)", showRate(float64(r.Rows)/seconds))
	}
	if r.Plan.Actual != nil && r.Plan.Actual.LimitedBy != "" {
		b.WriteString("; limited by " + r.Plan.Actual.LimitedBy)
	}
	return b.String()
}

// refusedRows is the error that a load with refused rows ends with; nil when there were none.
func refusedRows(r *pghaul.LoadReport) error {
	if r.Refused == 0 {
		return nil
	}
	var detail []string
	for _, reason := range r.Reasons {
		detail = append(detail, fmt.Sprintf("%s: SQLSTATE %s, first: %s.", plural(reason.Rows, "row"), reason.State, reason.Message))
	}
	hint := "Use --reject FILE to keep such rows, and --reject-reasons FILE for where they stand and why they were refused."
	switch {
	case r.Reject != "" && r.ReasonsFile != "":
		hint = "They are in " + r.Reject + ", the reasons in " + r.ReasonsFile + ". Mend them and load that file."
	case r.Reject != "":
		hint = "They are in " + r.Reject + ". Mend them and load that file."
	case r.ReasonsFile != "":
		hint = "The reasons are in " + r.ReasonsFile + "."
	}
	return &planner.Error{Kind: planner.SetAside, Message: fmt.Sprintf("%s of %s refused and set aside", showCount(r.Refused), plural(r.Read, "row")),
		Detail: strings.Join(detail, "\n"), Hint: hint}
}
