package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul"
	"github.com/pghaul/pghaul/planner"
)

const verifyLong = `Compares tables of two servers, range by range and in parallel, and names the
ranges and the keys that differ. Nothing is written on either server.

Level count compares the number of rows of each range. Level hash also compares
what is in them, by a hash that does not depend on the order of the rows and is
the same on all supported versions of PostgreSQL.

The exit code is 0 when all tables are equal and 1 when one is not.`

const verifyExamples = `  pghaul verify --source postgres://db1/shop --target postgres://db2/shop orders
  pghaul verify --source postgres://db1/shop --target postgres://db2/shop -t 'sales.*' --level count
  pghaul verify --source postgres:///shop orders:orders_copy`

// verifyFlags are the flags of verify.
type verifyFlags struct {
	source, target string
	options        pghaul.VerifyOptions
	output         string
	quiet, verbose bool
}

func newVerify() *cobra.Command {
	f := &verifyFlags{}
	cmd := &cobra.Command{
		Use:     "verify [flags] TABLE[:TARGET]...",
		Short:   "Compare tables of two servers, row by row",
		Long:    verifyLong,
		Example: verifyExamples,
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && len(f.options.Patterns) == 0 {
				return usageError(cmd, "name the tables to compare, or give --table")
			}
			return f.run(cmd, args)
		},
	}
	o := &f.options
	what := newGroup("What to compare")
	connectionFlags(what, &f.source, &f.target)
	what.flags.StringArrayVarP(&o.Patterns, "table", "t", nil, "also compare the tables that this psql `PATTERN` matches; repeatable")
	what.flags.Var(columnsFlag(&o.Columns), "columns", "only these columns")
	what.flags.Var(textFlag(&o.Where, "TEXT"), "where", "only rows for which this SQL `CONDITION` is true")
	how := newGroup("How")
	how.flags.Var(choiceFlag(&o.Level, "LEVEL", "hash",
		[]string{"count", "hash"}, []pghaul.VerifyLevel{pghaul.VerifyCount, pghaul.VerifyHash}),
		"level", "count or hash")
	how.flags.VarP(countFlag(&o.Connections, "N"), "jobs", "j", "`N` connections to each server (default by processors)")
	out := newGroup("Output")
	outputFlag(out, &f.output)
	out.flags.BoolVarP(&f.quiet, "quiet", "q", false, "only the exit code and errors")
	out.flags.BoolVarP(&f.verbose, "verbose", "v", false, "log what happens to standard error")
	addGroups(cmd, what, how, out)
	return cmd
}

func (f *verifyFlags) run(cmd *cobra.Command, args []string) error {
	if f.verbose {
		f.options.Logger = newLogger(cmd.ErrOrStderr())
	}
	found, err := pghaul.Verify(cmd.Context(), f.source, f.target, pghaul.Tables(args...), &f.options)
	if !f.quiet || f.output == "json" {
		if printed := f.print(cmd.OutOrStdout(), found); err == nil {
			err = printed
		}
	}
	if err != nil {
		return err
	}
	different := 0
	for _, c := range found {
		if !c.Equal() {
			different++
		}
	}
	if different > 0 {
		differ := "differ"
		if different == 1 {
			differ = "differs"
		}
		return &planner.Error{Message: fmt.Sprintf("%d of %s %s", different, plural(int64(len(found)), "table"), differ)}
	}
	return nil
}

func (f *verifyFlags) print(w io.Writer, found []*pghaul.Comparison) error {
	if f.output == "json" {
		type verdict struct {
			Equal bool `json:"equal"`
			*pghaul.Comparison
			Seconds float64 `json:"seconds"`
		}
		list := []verdict{}
		for _, c := range found {
			list = append(list, verdict{c.Equal(), c, c.Duration.Seconds()})
		}
		return printJSON(w, list)
	}
	for _, c := range found {
		fmt.Fprintln(w, comparisonLine(c))
		for _, note := range c.Notes {
			fmt.Fprintf(w, "  note: %s\n", note)
		}
		for _, d := range c.Different {
			fmt.Fprintf(w, "  %s: %s in the source, %s in the target\n", d.Range, plural(d.SourceRows, "row"), plural(d.TargetRows, "row"))
			for _, key := range d.Keys {
				fmt.Fprintf(w, "    %s\n", key)
			}
		}
	}
	return nil
}

// comparisonLine is the outcome of one comparison in a line.
func comparisonLine(c *pghaul.Comparison) string {
	names := c.Source
	if c.Target != c.Source {
		names += " and " + c.Target
	}
	how := "by hash"
	if c.Level == pghaul.VerifyCount {
		how = "by count"
	}
	if c.Equal() {
		return fmt.Sprintf("%s: equal %s, %s, %s in %s", names, how, plural(c.SourceRows, "row"),
			plural(int64(c.Ranges), "range"), showTime(c.Duration))
	}
	return fmt.Sprintf("%s: not equal %s, %s in the source and %s in the target, %d of %s differ", names, how,
		plural(c.SourceRows, "row"), plural(c.TargetRows, "row"), len(c.Different), plural(int64(c.Ranges), "range"))
}
