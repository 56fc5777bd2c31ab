package planner

import (
	"slices"
	"strings"
)

// checkLoadWish finds what makes no sense whatever the server holds.
func checkLoadWish(w *LoadWish) *Error {
	var c complaints
	c.loadValues(w)
	c.loadNumbers(w)
	c.loadLists(w)
	c.loadCombinations(w)
	switch len(c) {
	case 0:
		return nil
	case 1:
		return &Error{Kind: Usage, Message: c[0]}
	}
	return &Error{Kind: Usage, Message: "invalid options", Detail: sentence(strings.Join(c, "; "))}
}

// loadMethods are the methods that can load.
var loadMethods = []Method{Relay, Insert, Merge, Pages}

func (c *complaints) loadValues(w *LoadWish) {
	switch {
	case w.Method == Auto || slices.Contains(loadMethods, w.Method):
	case knownMethod(w.Method):
		c.add(true, "--method "+string(w.Method)+" copies inside one database: the methods of a load are relay, insert, merge and pages")
	default:
		c.add(true, "unknown method "+quoted(string(w.Method)))
	}
	c.add(w.Format != AnyFormat && w.Format != Binary && w.Format != Text, "unknown format "+quoted(string(w.Format)))
	c.add(w.Fill < RequireEmpty || w.Fill > Replace, "unknown way to fill the target")
	c.add(w.OnError != StopOnError && w.OnError != SetRowsAside, "unknown way to treat refused rows "+quoted(string(w.OnError)))
	known := []OnDuplicate{DuplicateError, DuplicateSkip, DuplicateUpdate, DuplicateKeepNew, DuplicateKeepOld}
	c.add(!slices.Contains(known, w.OnDuplicate), "unknown way to treat duplicates "+quoted(string(w.OnDuplicate)))
}

func (c *complaints) loadNumbers(w *LoadWish) {
	c.add(w.Connections < 0, "the number of connections cannot be negative")
	c.add(w.BatchSize < 0, "the batch size cannot be negative")
	c.add(w.CommitEvery < 0, "--commit-every cannot be negative")
	c.add(w.MaxErrors < -1, "--max-errors cannot be negative")
	c.add(w.MaxPercent < 0 || w.MaxPercent > 100, "--max-errors takes 0 to 100 per cent")
}

func (c *complaints) loadLists(w *LoadWish) {
	named := slices.DeleteFunc(slices.Clone(w.Columns), func(name string) bool { return name == "" })
	c.add(w.Columns != nil && len(named) == 0, "--columns names no column")
	for _, name := range repeated(named) {
		c.add(true, "--columns names "+quoted(name)+" twice")
	}
	for _, name := range repeated(w.ConflictColumns) {
		c.add(true, "--conflict-columns names "+quoted(name)+" twice")
	}
	var set []string
	for _, s := range w.Set {
		set = append(set, s.Column)
		c.add(s.Column == "", "--set names no column")
		c.add(strings.TrimSpace(s.Expression) == "", "--set gives "+quoted(s.Column)+" no expression")
	}
	for _, name := range repeated(set) {
		c.add(true, "--set names "+quoted(name)+" twice")
	}
}

func (c *complaints) loadCombinations(w *LoadWish) {
	duplicates := w.OnDuplicate != DuplicateError
	c.add(w.Method == Merge && !duplicates && len(w.Set) == 0, "--method merge needs --on-duplicate or --set")
	c.add(len(w.ConflictColumns) > 0 && !duplicates, "--conflict-columns needs --on-duplicate")
	c.add(w.Method == Relay && duplicates, "--on-duplicate cannot be used with --method relay: COPY has no ON CONFLICT")
	c.add(w.Method == Relay && len(w.Set) > 0, "--set cannot be used with --method relay: COPY computes no expressions")
	c.add(duplicates && w.Fill == Replace && w.Method != Pages, "--on-duplicate cannot be used with --replace, whose new table has no keys while it is filled: use --truncate")
	c.add((w.NotLogged || w.AcceptMissing) && w.Method != Pages, "--not-logged and --accept-missing-on-standbys go with --method pages")
	c.add(w.AcceptMissing && !w.NotLogged, "--accept-missing-on-standbys goes with --not-logged: otherwise nothing is missing")
	c.add(w.Method == Insert && w.Format == Binary, "--format binary cannot be used with --method insert, which sends values as text")
	c.add(w.Ordered && w.Connections > 1, "--ordered keeps to one connection")
	c.add(w.DeferIndexes && w.Fill == Replace, "--defer-indexes cannot be used with --replace, which builds the indexes of the new table behind its rows anyway")
	if w.Method == Pages {
		c.add(len(w.Set) > 0, "--set cannot be used with --method pages: no statement is sent that could compute it")
		c.add(w.DeferIndexes, "--defer-indexes cannot be used with --method pages, which builds the indexes behind the rows anyway")
		c.add(w.OnDuplicate == DuplicateUpdate || w.OnDuplicate == DuplicateKeepNew && w.Fill == Append,
			"--on-duplicate "+string(w.OnDuplicate)+" cannot be used with --method pages")
	}
	if w.CommitEvery == 0 {
		return
	}
	c.add(w.Fill == Replace, "--commit-every cannot be used with --replace, which shows all rows at once")
	c.add(w.Method == Pages, "--commit-every cannot be used with --method pages, which shows all rows at once")
	c.add(w.Freeze == Yes, "--commit-every cannot be used with --freeze, which needs the table to be made or truncated in the same transaction")
	c.add(w.Connections > 1, "--commit-every works on one connection")
}
