package planner

import (
	"fmt"
	"strings"
)

// Text prints the plan in the manner of EXPLAIN, ending with a newline. Statements stand as they are sent; those that are alike for
// each range or leaf are printed once for the first.
func (p *Plan) Text() string {
	w := &writer{}
	if p.Load != nil {
		w.load(p)
		return w.String()
	}
	w.title(p)
	w.places(p)
	w.choice(p)
	w.ranges(p)
	w.steps("Before", p.Before)
	w.statements(p)
	w.steps("After", p.After)
	w.sequences(p)
	w.others(p)
	return w.String()
}

// writer prints lines below the title.
type writer struct{ strings.Builder }

// line prints one property. Further lines of its text are indented below it.
func (w *writer) line(label, text string) {
	w.WriteString("  " + label + ": " + strings.ReplaceAll(text, "\n", "\n      ") + "\n")
}

func (w *writer) title(p *Plan) {
	w.heading("Copy "+p.Source.shown()+" -> "+p.Target.shown(), p)
}

// heading prints the first line, with what is estimated and what was measured.
func (w *writer) heading(what string, p *Plan) {
	e := &p.Estimate
	parts := []string{"method=" + string(p.Method)}
	if p.Format != NoFormat {
		parts = append(parts, "format="+string(p.Format))
	}
	parts = append(parts, "rows="+prettyRows(e.Rows))
	if e.Rows >= 0 || e.Bytes > 0 {
		parts = append(parts, "bytes="+prettyBytes(e.Bytes), "time="+prettySeconds(e.Seconds), "wal="+prettyBytes(e.WALBytes))
	}
	w.WriteString(what + "  (" + strings.Join(parts, " ") + ")")
	if a := p.Actual; a != nil {
		w.WriteString(" (actual rows=" + prettyRows(a.Rows) + " bytes=" + prettyBytes(a.Bytes) + " time=" + prettySeconds(a.Seconds) +
			" wal=" + prettyBytes(a.WALBytes))
		if a.LimitedBy != "" {
			w.WriteString(" limited by=" + a.LimitedBy)
		}
		w.WriteString(")")
	}
	w.WriteString("\n")
}

// shown is the name that the user gave.
func (p *Place) shown() string {
	if len(p.Path) > 0 {
		return p.Path[0].relation()
	}
	return p.Relation
}

func (w *writer) places(p *Plan) {
	for _, side := range []struct {
		label string
		place *Place
	}{{"Source", &p.Source}, {"Target", &p.Target}} {
		w.place(side.label, side.place, "made by this copy")
	}
}

// place prints one side. made is what is said of one that does not exist yet.
func (w *writer) place(label string, p *Place, made string) {
	text := p.Relation + " on " + p.Server + " (PostgreSQL " + p.Version + ")"
	if p.Kind == Missing {
		text += ", " + made
	}
	w.line(label, text)
	for _, hop := range p.Path {
		w.line("  Followed", "foreign table "+hop.relation()+" on "+hop.Server+" (server "+hop.Foreign+", "+hop.Wrapper+")")
	}
}

func (w *writer) choice(p *Plan) {
	commit := string(p.Atomic)
	if p.Resumes {
		commit += ", going on where an interrupted copy stopped"
	}
	w.line("Commit", commit)
	for _, reason := range p.Reasons {
		w.line("Reason", reason)
	}
	for _, note := range p.Notes {
		w.line("Note", note)
	}
	if p.Actual != nil && p.Actual.Duplicates > 0 {
		w.line("Duplicates", fmt.Sprintf("%d rows of the source shared their key with another", p.Actual.Duplicates))
	}
}

func (w *writer) ranges(p *Plan) {
	if len(p.Ranges) == 0 {
		return
	}
	var total int64
	for _, r := range p.Ranges {
		total += r.Bytes
	}
	text := count(len(p.Ranges), "range")
	if total > 0 && len(p.Ranges) > 1 {
		text += " of about " + prettyBytes(total/int64(len(p.Ranges)))
	}
	if len(p.Parts) > 1 {
		text += " over " + count(len(p.Parts), "partition")
	}
	w.line("Ranges", text+" on "+count(max(p.Connections, 1), "connection"))
	if len(p.Parts) > 1 {
		for i := range p.Parts {
			w.line("  Partition", p.Parts[i].Source+" -> "+p.Parts[i].Target)
		}
	}
}

func (w *writer) steps(label string, steps []Step) {
	for _, s := range steps {
		how := ""
		switch {
		case s.Late:
			how = " (when all tables are in place)"
		case s.Parallel:
			how = " (side by side)"
		case s.Own:
			how = " (committed by itself)"
		}
		w.line(label+how, s.SQL)
	}
}

// statements prints what is sent for each range: the read and the write, and the other texts of the methods that have more than one.
func (w *writer) statements(p *Plan) {
	if len(p.Ranges) == 0 {
		return
	}
	for _, s := range p.Statements() {
		w.line(s.Label, s.SQL)
	}
	if p.Record != "" {
		w.line(p.Target.label("Record SQL"), p.Record)
	}
	if p.Batch != nil {
		w.batch(p.Batch)
	}
	if p.Actual != nil {
		for _, s := range p.Actual.Statements {
			how := count(s.Rows, "row") + " each"
			if s.Rows == 0 {
				how = "all rows in one stream"
			}
			w.line(fmt.Sprintf("Sent %s, %s", times(s.Times), how), s.SQL)
		}
	}
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func (w *writer) batch(b *BatchPlan) {
	switch {
	case b.NoCopy != "":
		w.line("Batches", "never by COPY: "+b.NoCopy)
	case b.CopyThreshold == CopyNever:
		w.line("Batches", "never by COPY, as asked for")
	case b.CopyThreshold == CopyAuto:
		w.line("Batches", "by INSERT or by COPY, whichever the first ones show to be faster")
	default:
		w.line("Batches", fmt.Sprintf("by COPY from %s on", count(b.CopyThreshold, "row")))
	}
	if b.NoUnnest != "" {
		w.line("Parameters", "one for each value: "+b.NoUnnest)
	}
}

func (w *writer) sequences(p *Plan) {
	for _, q := range p.Sequences {
		w.line("Sequence", q.Read+"\n"+q.Write)
	}
}

func (w *writer) others(p *Plan) {
	if len(p.Others) == 0 {
		return
	}
	w.WriteString("  Other methods:\n")
	for _, o := range p.Others {
		w.WriteString("    " + string(o.Method) + ": " + o.text() + "\n")
	}
}

func (o *Alternative) text() string {
	if o.Refused != "" {
		return "refused: " + o.Refused
	}
	return "costs " + prettyFactor(o.Factor) + ": " + o.Why
}
