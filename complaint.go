package pghaul

import (
	"errors"
	"fmt"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// complaints gathers all that is wrong with the arguments of a call, so that a user need not find out one by one.
type complaints []error

// err is nil, the only complaint, or all of them joined.
func (c *complaints) err() error {
	if len(*c) == 1 {
		return (*c)[0]
	}
	return errors.Join(*c...)
}

func (c *complaints) add(message, detail, hint string) {
	*c = append(*c, &planner.Error{Kind: planner.Usage, Message: message, Detail: detail, Hint: hint})
}

// name complains about a table name that cannot be read.
func (c *complaints) name(typed string) {
	_, after, err := sqltext.SplitPair(typed)
	if err == nil && after != "" {
		err = &sqltext.NameError{Text: typed, Problem: "a colon outside double quotes"}
	}
	if err == nil {
		_, _, err = sqltext.ParseQualified(typed)
	}
	c.unreadable(err)
}

// pattern complains about a pattern of table names that cannot be read.
func (c *complaints) pattern(typed string) {
	_, _, err := sqltext.Pattern(typed)
	c.unreadable(err)
}

func (c *complaints) unreadable(err error) {
	if err == nil {
		return
	}
	var name *sqltext.NameError
	if !errors.As(err, &name) {
		c.add(err.Error(), "", "")
		return
	}
	c.add(name.Error(), "", name.Hint)
}

// negative complains about an amount below zero.
func (c *complaints) negative(what string, n int64) {
	if n < 0 {
		c.add(fmt.Sprintf("%s is negative (%d)", what, n), "", "")
	}
}

// level complains about a way to compare that does not exist.
func (c *complaints) level(l VerifyLevel) {
	switch l {
	case NoVerify, VerifyCount, VerifyHash:
	default:
		c.add(fmt.Sprintf("no such verify level: %q", string(l)), "", `The levels are "count" and "hash".`)
	}
}

// selection complains about arguments that name no table, or in two ways that exclude each other.
func (c *complaints) selection(tables []Table, patterns []string, query, into string) {
	for _, p := range patterns {
		c.pattern(p)
	}
	if into != "" {
		c.name(into)
	}
	named := len(tables) > 0 || len(patterns) > 0
	switch {
	case query == "" && into != "":
		c.add("a table for the rows of a query, but no query", "", "")
	case query == "" && !named:
		c.add("no table is named", "", "Name tables, or give patterns of table names.")
	case query != "" && into == "":
		c.add("a query, but no table for its rows", "", "")
	case query != "" && named:
		c.add("both a query and tables", "A query is copied by itself.", "")
	}
}
