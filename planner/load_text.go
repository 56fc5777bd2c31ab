package planner

import (
	"fmt"
	"strings"
)

// load prints the plan of a load.
func (w *writer) load(p *Plan) {
	w.heading("Load "+p.Load.shown()+" -> "+p.Target.shown(), p)
	w.line("Input", p.Load.Input)
	w.files(p.Load.Files)
	w.place("Target", &p.Target, "made by this load")
	w.columns(p.Load)
	w.line("Commit", p.unit())
	w.line("Refused rows", p.Load.refused())
	if p.Load.OnDuplicate != DuplicateError {
		w.line("Duplicates", p.Load.duplicates())
	}
	if p.Actual != nil && p.Actual.Duplicates > 0 {
		w.line("Duplicates", fmt.Sprintf("%d rows gave way to others with their keys", p.Actual.Duplicates))
	}
	for _, reason := range p.Reasons {
		w.line("Reason", reason)
	}
	for _, note := range p.Notes {
		w.line("Note", note)
	}
	w.line("Connections", fmt.Sprint(max(p.Connections, 1)))
	w.steps("Before", p.Before)
	for _, s := range p.Statements() {
		w.line(s.Label, s.SQL)
	}
	w.steps("After", p.After)
	w.others(p)
}

// shown is what the title calls the input.
func (l *LoadPlan) shown() string {
	switch len(l.Files) {
	case 0:
		return l.Input
	case 1:
		return l.Files[0]
	}
	return count(len(l.Files), "file")
}

// files lists the first files; one alone stands in the title.
func (w *writer) files(files []string) {
	const shown = 5
	if len(files) < 2 {
		return
	}
	for i, f := range files {
		if i == shown {
			w.line("  Files", fmt.Sprintf("and %d more", len(files)-shown))
			return
		}
		w.line("  File", f)
	}
}

// columns tells where each field goes, and how.
func (w *writer) columns(l *LoadPlan) {
	for i := range l.Columns {
		c := &l.Columns[i]
		text := fmt.Sprintf("field %d", c.Field+1)
		if c.From != "" && c.From != c.Name {
			text += " " + list([]string{c.From})
		}
		text += " -> " + list([]string{c.Name})
		if c.Type.SQL != "" {
			text += " " + c.Type.SQL
		}
		switch {
		case l.Batch != nil:
		case c.NoBinary != "":
			text += ", text: " + c.NoBinary
		case l.NoBinary == "":
			text += ", binary"
		default:
			text += ", text"
		}
		w.line("  Column", text)
	}
}

// unit is what is committed together.
func (p *Plan) unit() string {
	commit := string(p.Atomic)
	if p.Atomic == PerRange {
		commit = fmt.Sprintf("every %s, with a record of how far the load has come", count(int(p.Load.CommitEvery), "row"))
		if p.Load.CommitEvery == 1 {
			commit = "every row, with a record of how far the load has come"
		}
	}
	if p.Resumes {
		commit += ", going on where an interrupted load stopped"
	}
	return commit
}

// refused tells what becomes of a row that is refused.
func (l *LoadPlan) refused() string {
	switch {
	case l.OnError == StopOnError:
		return "the first one ends the load"
	case l.Check != nil:
		return "set aside: each batch is a subtransaction, and where more than a few of its rows are refused the checks find all of them at once"
	}
	return "set aside: each batch is a subtransaction"
}

// duplicates tells what becomes of rows whose key is known.
func (l *LoadPlan) duplicates() string {
	switch l.OnDuplicate {
	case DuplicateSkip:
		return "skip: of rows with the same key the first stays"
	case DuplicateKeepOld:
		return "keep-old: of rows with the same key the first stays, and the others are written to the reject file"
	case DuplicateUpdate:
		return "update: the loaded columns of the old row are set, by the last row with its key"
	}
	return "keep-new: the last row with a key takes the place of the others, columns that are not loaded get their defaults"
}

// loadStatements are what is sent for the rows, each text once, in the order of sending.
func (p *Plan) loadStatements() []Statement {
	l, to := p.Load, p.Target.label("Target SQL")
	var all []Statement
	add := func(label, sql string) {
		if sql != "" {
			all = append(all, Statement{Label: label, SQL: sql})
		}
	}
	for _, sql := range l.Begin {
		add(to+" in each transaction", sql)
	}
	if p.Pages != nil {
		return append(all, p.Pages.loadPages(to, l.Columns)...)
	}
	if l.Stage != nil {
		add(to, l.Stage.Create)
	}
	if l.Batch != nil {
		label := to + " for a batch of " + count(l.Batch.Size, "row")
		add(label, l.Batch.example(len(l.Columns)))
	}
	if l.NoBinary == "" {
		add(to, l.CopyBinary)
		add(to+" for values that only the server can read", l.CopyText)
	} else {
		add(to, l.CopyText)
	}
	if l.Stage != nil {
		if l.Stage.Duplicates != "" {
			add(to+" for the rows that are dropped", l.Stage.Duplicates)
		}
		add(to, l.Stage.Merge)
		if !l.Stage.Whole {
			add(to+" for the next batch", l.Stage.Reset)
		}
	}
	if l.Check != nil {
		label := p.Target.label("Check SQL")
		add(label, l.Check.Create)
		if l.NoBinary == "" {
			add(label, l.Check.CopyBinary)
		} else {
			add(label, l.Check.CopyText)
		}
		for _, q := range l.Check.Queries {
			add(label+" for "+q.what(), q.SQL)
		}
	}
	add(p.Target.label("Record SQL"), l.Record)
	return all
}

// what names the check.
func (q *CheckQuery) what() string {
	switch {
	case q.Constraint != "":
		return q.Constraint
	case q.Column != "":
		return "NULL in " + q.Column
	}
	return "partition bounds"
}

// example is an INSERT of two rows at most.
func (b *LoadBatch) example(columns int) string {
	var values strings.Builder
	writeValues(&values, min(b.Size, 2), columns)
	rows := strings.TrimPrefix(values.String(), " VALUES ")
	if b.Size > 2 {
		rows += ", ..."
	}
	return b.Head + rows + b.Tail
}
