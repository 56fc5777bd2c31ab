package planner

import "strings"

// checkWish finds what makes no sense whatever the servers hold.
func checkWish(w *Wish) *Error {
	var c complaints
	c.values(w)
	c.numbers(w)
	c.lists(w)
	c.combinations(w)
	if len(c) == 0 {
		return nil
	}
	if len(c) == 1 {
		return &Error{Kind: Usage, Message: c[0]}
	}
	return &Error{Kind: Usage, Message: "invalid options", Detail: sentence(strings.Join(c, "; "))}
}

type complaints []string

func (c *complaints) add(when bool, text string) {
	if when {
		*c = append(*c, text)
	}
}

func (c *complaints) values(w *Wish) {
	c.add(!knownMethod(w.Method), "unknown method "+quoted(string(w.Method)))
	c.add(w.Format != AnyFormat && w.Format != Binary && w.Format != Text, "unknown format "+quoted(string(w.Format)))
	c.add(w.Fill < RequireEmpty || w.Fill > Replace, "unknown way to fill the target")
	c.add(w.Commit != CommitAll && w.Commit != CommitRange, "unknown unit of commit")
	c.add(w.OnConflict < NoConflictAction || w.OnConflict > DoUpdate, "unknown conflict action")
}

func knownMethod(m Method) bool {
	if m == Auto {
		return true
	}
	for _, known := range Methods() {
		if m == known {
			return true
		}
	}
	return false
}

func quoted(s string) string { return `"` + s + `"` }

func (c *complaints) numbers(w *Wish) {
	c.add(w.Connections < 0, "the number of connections cannot be negative")
	c.add(w.BatchSize < 0, "the batch size cannot be negative")
	c.add(w.CopyThreshold < CopyNever, "the COPY threshold cannot be negative")
	c.add(w.RangeBytes < 0, "the size of a range cannot be negative")
}

func (c *complaints) lists(w *Wish) {
	c.add(w.Columns != nil && len(w.Columns) == 0, "--columns names no column")
	for _, name := range repeated(w.Columns) {
		c.add(true, "--columns names "+quoted(name)+" twice")
	}
	for _, name := range repeated(w.ConflictColumns) {
		c.add(true, "--conflict-columns names "+quoted(name)+" twice")
	}
	c.add(w.Where != "" && strings.TrimSpace(w.Where) == "", "--where is blank")
}

func repeated(names []string) []string {
	var twice []string
	times := map[string]int{}
	for _, n := range names {
		if times[n]++; times[n] == 2 {
			twice = append(twice, n)
		}
	}
	return twice
}

func (c *complaints) combinations(w *Wish) {
	conflict := w.OnConflict != NoConflictAction
	inServer := w.Method == InsertSelect || w.Method == CreateAs || w.Method == Unlogged || w.Method == Pages
	c.add(w.Method == Merge && !conflict, "--method merge needs --on-conflict")
	c.add(len(w.ConflictColumns) > 0 && !conflict, "--conflict-columns needs --on-conflict")
	c.add(conflict && w.Method != Auto && w.Method != Merge && w.Method != Insert,
		"--on-conflict cannot be used with --method "+string(w.Method))
	c.add(w.Returning != "" && w.Method != Auto && w.Method != Insert, "--returning cannot be used with --method "+string(w.Method))
	c.add(inServer && w.Format != AnyFormat, "--format cannot be used with --method "+string(w.Method)+", whose rows never leave the server")
	c.add((w.NotLogged || w.AcceptMissing) && w.Method != Pages, "--not-logged and --accept-missing-on-standbys go with --method pages")
	c.add(w.AcceptMissing && !w.NotLogged, "--accept-missing-on-standbys goes with --not-logged: otherwise nothing is missing")
	c.add(conflict && w.Fill == Replace, "--on-conflict cannot be used with --replace, which starts from an empty table")
	if w.Commit != CommitRange {
		return
	}
	c.add(w.Fill == Replace, "--commit range cannot be used with --replace, which shows all rows at once")
	c.add(w.Method == CreateAs || w.Method == Unlogged || w.Method == Merge || w.Method == Pages,
		"--commit range cannot be used with --method "+string(w.Method)+", which is one transaction")
	c.add(conflict && w.Method == Auto, "--commit range and --on-conflict go together with --method insert only")
	c.add(w.Freeze == Yes, "--commit range cannot be used with --freeze, which needs the table to be made or truncated in the same transaction")
}
