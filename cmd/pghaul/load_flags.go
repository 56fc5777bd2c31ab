package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

func (f *loadFlags) whatGroup() flagGroup {
	g, o := newGroup("What to load"), &f.options
	g.flags.StringVar(&f.target, "target", "", "connection `URI` or keyword string of the server (default from PG* variables)")
	g.flags.StringVar(&f.into, "into", "", "`TABLE` to load into")
	g.flags.StringVar(&f.query, "query", "", "load the rows of this `SELECT` instead of files")
	g.flags.StringVar(&f.source, "source", "", "connection `URI` or keyword string of the server that runs --query (default from PG* variables)")
	g.flags.Var(fieldsFlag(&o.Columns), "columns", "columns that the fields go to, in order; - drops a field (default by header, else the table's)")
	g.flags.Var(setFlag(&o.Set), "set", `"COLUMN = expression" over the fields; repeatable`)
	return g
}

func (f *loadFlags) inputGroup() flagGroup {
	g, in := newGroup("How the files are written"), &f.options.Input
	formats := []string{"auto", "csv", "tsv", "text", "binary", "fixed", "ndjson", "parquet"}
	values := append([]string{""}, formats[1:]...)
	g.flags.Var(choiceFlag(&in.Format, "FORMAT", "auto", formats, values), "format", "auto, csv, tsv, text, binary, fixed, ndjson or parquet")
	g.flags.Var(characterFlag(&in.Delimiter), "delimiter", "`CHARACTER` between fields, such as ';' or \\t (default: what the file shows)")
	g.flags.Var(characterFlag(&in.Quote), "quote", "quote `CHARACTER` of CSV (default \")")
	g.flags.Var(characterFlag(&in.Escape), "escape", "escape `CHARACTER` of CSV (default the quote)")
	g.flags.Var(anyTextFlag(&in.Null), "null", "`TEXT` of NULL (default the unquoted empty field in CSV, \\N in text)")
	g.flags.Var(fieldsFlag(&in.ForceNull), "force-null", "columns in which a quoted NULL text is NULL too; * for all")
	g.flags.Var(fieldsFlag(&in.ForceNotNull), "force-not-null", "columns in which no text is NULL; * for all")
	modes := []string{"auto", "yes", "no", "match"}
	g.flags.Var(choiceFlag(&in.Header, "MODE", "auto", modes, modes), "header", "first line names the fields: auto, yes, no, or match the table's columns")
	g.flags.StringVar(&in.Encoding, "encoding", "", "`ENCODING` of the files, as PostgreSQL names it (default UTF8)")
	g.flags.Int64Var(&in.Skip, "skip", 0, "drop so many `LINES` at the start of each file")
	g.flags.Int64Var(&in.Limit, "limit", 0, "read at most so many `ROWS` of each file")
	g.flags.StringArrayVar(&in.Fixed, "fixed", nil, "a `FIELD` of --format fixed, such as INTEGER(4) or CHAR(10); repeatable, in order")
	g.flags.IntVar(&in.FixedStride, "fixed-stride", 0, "`BYTES` of a record of --format fixed (default: to the end of the last field)")
	g.flags.BoolVar(&in.FixedLines, "fixed-lines", false, "records of --format fixed are lines, and their fields text")
	return g
}

func (f *loadFlags) targetGroup() flagGroup {
	g, o := newGroup("What may be in the table"), &f.options
	g.flags.BoolVar(&f.appendRows, "append", false, "add to the rows that are there")
	g.flags.BoolVar(&f.truncate, "truncate", false, "empty the table first, in the same transaction")
	g.flags.BoolVar(&f.replace, "replace", false, "fill a new table beside it and swap the two")
	g.flags.BoolVar(&o.Create, "create", false, "make a missing table with types inferred from the rows; see them with --explain")
	return g
}

func (f *loadFlags) refusedGroup() flagGroup {
	g, o := newGroup("Rows that cannot be loaded"), &f.options
	g.flags.Var(choiceFlag(&o.OnError, "ACTION", "stop", []string{"stop", "set-aside"}, []planner.OnError{planner.StopOnError, planner.SetRowsAside}),
		"on-error", "stop and keep nothing, or set-aside the row and go on")
	g.flags.Var(limitFlag(&f.limits), "max-errors", "with set-aside: fail when more `ROWS|P%` are refused")
	g.flags.StringVar(&o.Reject, "reject", "", "`FILE` for refused rows, as they stand in the input")
	g.flags.StringVar(&o.Reasons, "reject-reasons", "", "`FILE` for the reasons: file, line, offset, column, SQLSTATE, message as NDJSON")
	g.flags.Var(choiceFlag(&o.OnDuplicate, "ACTION", "error", []string{"error", "skip", "update", "keep-new", "keep-old"},
		[]planner.OnDuplicate{planner.DuplicateError, planner.DuplicateSkip, planner.DuplicateUpdate, planner.DuplicateKeepNew, planner.DuplicateKeepOld}),
		"on-duplicate", "a row whose key exists: error, skip, update, keep-new or keep-old")
	g.flags.Var(columnsFlag(&o.ConflictColumns), "conflict-columns", "the unique key of --on-duplicate (default is the primary key)")
	return g
}

func (f *loadFlags) howGroup() flagGroup {
	g, o := newGroup("How to load"), &f.options
	words, methods := []string{"auto", "relay", "merge", "insert", "pages"}, []planner.Method{planner.Auto, planner.Relay, planner.Merge, planner.Insert, planner.Pages}
	g.flags.Var(choiceFlag(&o.Method, "METHOD", "auto", words, methods), "method", "auto, relay, merge, insert or pages")
	g.flags.Var(choiceFlag(&o.Format, "FORMAT", "auto",
		[]string{"auto", "binary", "text"}, []planner.Format{planner.AnyFormat, planner.Binary, planner.Text}), "send", "form of the rows on the wire: auto, binary or text")
	g.flags.VarP(countFlag(&o.Connections, "N"), "jobs", "j", "`N` connections at a time (default 1)")
	g.flags.BoolVar(&o.Ordered, "ordered", false, "keep the order of rows over compressed files too")
	g.flags.Int64Var(&o.CommitEvery, "commit-every", 0, "commit each `ROWS` rows with a record, so that a new run goes on")
	g.flags.BoolVar(&o.DeferIndexes, "defer-indexes", false, "drop the indexes and build them anew behind the rows")
	tristates := []planner.Tristate{planner.Decide, planner.Yes, planner.No}
	g.flags.Var(choiceFlag(&o.Freeze, "auto|yes|no", "auto", []string{"auto", "yes", "no"}, tristates), "freeze", "write rows already frozen; yes when no value is given")
	g.flags.Var(choiceFlag(&o.Analyze, "auto|yes|no", "auto", []string{"auto", "yes", "no"}, tristates), "analyze-table", "run ANALYZE behind the rows; auto does for a table that is made or replaced")
	g.flags.Var(choiceFlag(&o.Triggers, "yes|no", "yes", []string{"yes", "no"}, []planner.Tristate{planner.Decide, planner.No}), "triggers", "fire triggers and check foreign keys; no needs a superuser")
	g.flags.BoolVar(&o.NotLogged, "not-logged", false, "method pages: write no WAL; refused where standbys or archives would miss the rows")
	g.flags.BoolVar(&o.AcceptMissing, "accept-missing-on-standbys", false, "with --not-logged: standbys and archives may miss the rows")
	g.flags.Var(sizeFlag(&o.MaxRate), "max-rate", "read at most so much a second, for instance 100MB")
	g.flags.Var(periodFlag(&o.StallTimeout, "5min"), "stall-timeout", "fail when nothing moves for so long; lock waits do not count")
	return g
}

// chosenFill is the Fill of the flags, and how many of them were given.
func chosenFill(appendRows, truncate, replace bool) (fill planner.Fill, asked int) {
	for _, f := range []struct {
		set  bool
		fill planner.Fill
	}{{appendRows, planner.Append}, {truncate, planner.Truncate}, {replace, planner.Replace}} {
		if f.set {
			fill = f.fill
			asked++
		}
	}
	return fill, asked
}

// errorLimit is the value of --max-errors.
type errorLimit struct {
	given   bool
	rows    *int64
	percent float64
}

func limitFlag(to *errorLimit) *value {
	return &value{kind: "ROWS|P%", text: "no limit", read: func(s string) error {
		to.given = true
		if share, percent := strings.CutSuffix(s, "%"); percent {
			p, err := strconv.ParseFloat(share, 64)
			if err != nil || !(p > 0 && p <= 100) {
				return fmt.Errorf("give a number of rows, or a percentage above 0 and up to 100%%")
			}
			to.percent = p
			return nil
		}
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("give a number of rows, or a percentage above 0 and up to 100%%")
		}
		to.rows = &n
		return nil
	}}
}

// characterFlag takes one ASCII character, or \t for a tab.
func characterFlag(to *byte) *value {
	return &value{kind: "CHARACTER", read: func(s string) error {
		if s == `\t` || s == "tab" {
			s = "\t"
		}
		if len(s) != 1 || s[0] >= 0x80 || s[0] == 0 {
			return fmt.Errorf("give one ASCII character, or \\t for a tab")
		}
		*to = s[0]
		return nil
	}}
}

// anyTextFlag takes any text, the empty one too.
func anyTextFlag(to **string) *value {
	return &value{kind: "TEXT", read: func(s string) error {
		*to = &s
		return nil
	}}
}

// fieldsFlag is columnsFlag with - for a field that goes nowhere and * for all.
func fieldsFlag(to *[]string) *value {
	return &value{kind: "COLUMN,...", read: func(s string) error {
		for _, typed := range splitList(s) {
			switch typed = strings.TrimSpace(typed); typed {
			case "-":
				*to = append(*to, "")
				continue
			case "*":
				*to = append(*to, "*")
				continue
			}
			if err := columnsFlag(to).read(typed); err != nil {
				return err
			}
		}
		return nil
	}}
}

// setFlag takes COLUMN = expression.
func setFlag(to *[]planner.SetColumn) *value {
	return &value{kind: "ASSIGNMENT", read: func(s string) error {
		at := assignment(s)
		if at < 0 || strings.TrimSpace(s[at+1:]) == "" {
			return fmt.Errorf(`write it as "column = expression"`)
		}
		schema, name, err := sqltext.ParseQualified(strings.TrimSpace(s[:at]))
		if err == nil && schema != "" {
			err = fmt.Errorf("a column's name has no dot outside double quotes")
		}
		if err != nil {
			return err
		}
		*to = append(*to, planner.SetColumn{Column: name, Expression: strings.TrimSpace(s[at+1:])})
		return nil
	}}
}

// assignment finds the equals sign behind the column's name.
func assignment(s string) int {
	quoted := false
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == '=' && !quoted:
			return i
		}
	}
	return -1
}
