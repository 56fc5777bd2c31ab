package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul"
	"github.com/pghaul/pghaul/planner"
)

const copyLong = `Copies tables: inside one database, between databases, between servers, and
through postgres_fdw foreign tables to the servers behind them.

The way to move the rows is chosen from what both servers tell about a table.
--explain shows it with the SQL that would be sent, and why; nothing is changed.

A table arrives whole or not at all. The target must exist and be empty unless
a flag says otherwise. A name without a schema is looked up along the role's
search_path; a name with upper case or odd letters needs double quotes, and the
shell needs single quotes around those: '"My Table"'.

A missing --source is what the PG* environment variables say, a missing --target
is the source. Passwords belong in ~/.pgpass or PGPASSWORD, not on a command line.

The source may be a data directory on which no server runs, such as that of one
that no longer starts: pgdata:DIR?dbname=NAME. A missing --target is then what
the PG* environment variables say.`

const copyExamples = `  Clone a table inside a database, indexes and constraints included:
    pghaul copy --source postgres:///shop --create orders:orders_copy

  Copy two tables and everything in a schema to another server:
    pghaul copy --source postgres://db1/shop --target postgres://db2/shop \
        orders customers:archive.customers -t 'sales.*'

  Replace yesterday's rows by today's, checked row by row before the commit:
    pghaul copy --source postgres://db1/shop --target postgres://db2/shop \
        --replace --verify hash orders

  The result of a query:
    pghaul copy --source postgres://db1/shop --target postgres://db2/stats \
        --query "SELECT day, sum(amount) AS amount FROM public.orders GROUP BY 1" --into daily

  Update the rows that are there, add the others:
    pghaul copy --source postgres://db1/shop --target postgres://db2/shop \
        --on-conflict update customers

  A long copy that can be interrupted and goes on when it is started again:
    pghaul copy --source postgres://db1/shop --target postgres://db2/shop \
        --commit range --jobs 4 --max-rate 200MB events

  Rows of a server that no longer starts, without those on damaged pages:
    pghaul copy --source 'pgdata:/var/lib/postgresql/15/main?dbname=shop' \
        --target postgres://db2/shop --create --skip-damaged orders`

// copyFlags are the flags of copy.
type copyFlags struct {
	source, target string
	options        pghaul.CopyOptions

	appendRows, truncate, replace bool

	printing
}

func newCopy() *cobra.Command {
	f := &copyFlags{}
	cmd := &cobra.Command{
		Use:     "copy [flags] TABLE[:TARGET]...",
		Short:   "Copy tables inside a database, between databases and between servers",
		Long:    copyLong,
		Example: copyExamples,
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.settle(cmd, args); err != nil {
				return err
			}
			tables := pghaul.Tables(args...)
			if f.explain {
				return f.runExplain(cmd.Context(), cmd.OutOrStdout(), tables)
			}
			return f.runCopy(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), tables)
		},
	}
	addGroups(cmd, f.whatGroup(), f.targetGroup(), f.howGroup(), f.careGroup(), f.group("copy"))
	return cmd
}

func (f *copyFlags) whatGroup() flagGroup {
	g, o := newGroup("What to copy"), &f.options
	connectionFlags(g, &f.source, &f.target)
	g.flags.Lookup("source").Usage = "connection `URI` or keyword string of the source, or pgdata:DIR?dbname=NAME (default from PG* variables)"
	g.flags.StringArrayVarP(&o.Patterns, "table", "t", nil, "also copy the tables that this psql `PATTERN` matches; repeatable")
	g.flags.Var(textFlag(&o.Query, "TEXT"), "query", "copy the rows of this `SELECT` on the source instead of tables; name its tables with their schemas")
	g.flags.Var(textFlag(&o.Into, "TEXT"), "into", "the target `TABLE` for the rows of --query")
	g.flags.Var(columnsFlag(&o.Columns), "columns", "only these columns; the others get their defaults")
	g.flags.Var(textFlag(&o.Where, "TEXT"), "where", "only rows for which this SQL `CONDITION` on the source is true")
	return g
}

func connectionFlags(g flagGroup, source, target *string) {
	g.flags.Var(textFlag(source, "URI"), "source", "connection `URI` or keyword string of the source (default from PG* variables)")
	g.flags.Var(textFlag(target, "URI"), "target", "connection `URI` or keyword string of the target (default is the source)")
}

func (f *copyFlags) targetGroup() flagGroup {
	g, o := newGroup("What may be in the target"), &f.options
	g.flags.BoolVar(&f.appendRows, "append", false, "add to the rows that are there")
	g.flags.BoolVar(&f.truncate, "truncate", false, "empty the target first, in the same transaction")
	g.flags.BoolVar(&f.replace, "replace", false, "fill a new table beside the target and swap the two")
	g.flags.BoolVar(&o.Create, "create", false, "make a missing target like its source, with indexes and constraints")
	g.flags.Var(choiceFlag(&o.OnConflict, "ACTION", "",
		[]string{"nothing", "update"}, []planner.OnConflict{planner.DoNothing, planner.DoUpdate}),
		"on-conflict", "what to do with a row whose key exists: nothing or update")
	g.flags.Var(columnsFlag(&o.ConflictColumns), "conflict-columns", "the unique key of --on-conflict (default is the primary key)")
	return g
}

func (f *copyFlags) howGroup() flagGroup {
	g, o := newGroup("How to move the rows"), &f.options
	words, methods := []string{"auto"}, []planner.Method{planner.Auto}
	for _, m := range planner.Methods() {
		words, methods = append(words, string(m)), append(methods, m)
	}
	g.flags.Var(choiceFlag(&o.Method, "METHOD", "auto", words, methods),
		"method", "auto, relay, insert-select, create-as, unlogged, insert, merge or pages")
	g.flags.Var(choiceFlag(&o.Format, "FORMAT", "auto",
		[]string{"auto", "binary", "text"}, []planner.Format{planner.AnyFormat, planner.Binary, planner.Text}),
		"format", "of the rows on the wire: auto, binary or text")
	g.flags.VarP(countFlag(&o.Connections, "N"), "jobs", "j", "at most `N` pairs of connections at a time (default by size and processors)")
	g.flags.Var(sizeFlag(&o.RangeBytes), "range-size", "wanted size of one range, for instance 64MB (default by size and jobs)")
	g.flags.Var(choiceFlag(&o.Freeze, "auto|yes|no", "auto",
		[]string{"auto", "yes", "no"}, []planner.Tristate{planner.Decide, planner.Yes, planner.No}),
		"freeze", "write rows already frozen, which saves VACUUM the work; yes when no value is given")
	g.flags.BoolVar(&o.NotLogged, "not-logged", false, "method pages: write no WAL; refused where standbys or archives would miss the rows")
	g.flags.BoolVar(&o.AcceptMissing, "accept-missing-on-standbys", false, "with --not-logged: standbys and archives may miss the rows")
	g.flags.Var(countFlag(&o.BatchSize, "ROWS"), "batch-size", "`ROWS` of one INSERT of method insert (default 1000)")
	g.flags.Var(thresholdFlag(&o.CopyThreshold), "copy-threshold", "method insert sends batches of so many rows by COPY; auto measures both")
	g.flags.StringVar(&o.Returning, "returning", "", "`LIST` for INSERT ... RETURNING of method insert; the values are dropped")
	return g
}

func (f *copyFlags) careGroup() flagGroup {
	g, o := newGroup("Safety and limits"), &f.options
	g.flags.Var(choiceFlag(&o.Commit, "UNIT", "table",
		[]string{"table", "range"}, []planner.Commit{planner.CommitAll, planner.CommitRange}),
		"commit", "commit the whole table, or each range with a record so that a new run goes on")
	g.flags.Var(choiceFlag(&o.Verify, "LEVEL", "",
		[]string{"count", "hash"}, []pghaul.VerifyLevel{pghaul.VerifyCount, pghaul.VerifyHash}),
		"verify", "compare source and target by count, or by the hash of every row, meant when no value is given")
	g.flags.Var(sizeFlag(&o.MaxRate), "max-rate", "read at most so much a second, for instance 100MB")
	g.flags.Var(periodFlag(&o.StallTimeout, "5min"), "stall-timeout", "fail when nothing moves for so long; lock waits do not count")
	g.flags.BoolVar(&o.SkipDamaged, "skip-damaged", false, "leave out what cannot be read of a data directory, count and report it; exit code 3")
	g.flags.StringVar(&o.PgDump, "pg-dump", "", "`PATH` of the pg_dump that --create uses between databases")
	return g
}

func outputFlag(g flagGroup, to *string) {
	*to = "text"
	words := []string{"text", "json"}
	g.flags.Var(choiceFlag(to, "FORM", "text", words, words), "output", "of results and plans on standard output: text or json")
}

// settle checks what only the command line can get wrong, and finishes the options.
func (f *copyFlags) settle(cmd *cobra.Command, args []string) error {
	var wrong []string
	complain := func(message string) { wrong = append(wrong, message) }
	fill, asked := chosenFill(f.appendRows, f.truncate, f.replace)
	f.options.Fill = fill
	if asked > 1 {
		complain("--append, --truncate and --replace exclude each other")
	}
	if len(args) == 0 && len(f.options.Patterns) == 0 && f.options.Query == "" {
		complain("name the tables to copy, or give --table or --query")
	}
	if f.options.Query != "" && f.options.Into == "" {
		complain("--query needs --into")
	}
	if f.options.Into != "" && f.options.Query == "" {
		complain("--into needs --query")
	}
	if f.options.Query != "" && (len(args) > 0 || len(f.options.Patterns) > 0) {
		complain("--query excludes tables and --table")
	}
	f.explain = f.explain || f.dryRun
	if f.explain && f.analyze {
		complain("--explain and --analyze exclude each other: one changes nothing, the other copies")
	}
	return usageError(cmd, wrong...)
}

func (f *copyFlags) runExplain(ctx context.Context, stdout io.Writer, tables []pghaul.Table) error {
	plans, err := pghaul.Explain(ctx, f.source, f.target, tables, &f.options)
	if err != nil {
		return err
	}
	return printPlans(stdout, plans, f.output)
}

func (f *copyFlags) runCopy(ctx context.Context, stdout, stderr io.Writer, tables []pghaul.Table) error {
	show := f.display(stderr)
	f.options.OnProgress, f.options.ProgressInterval = show.update, show.interval
	if f.verbose {
		f.options.Logger = newLogger(show)
	}
	restore := yieldToServers()
	report, err := pghaul.Copy(ctx, f.source, f.target, tables, &f.options)
	restore()
	show.close()
	if report == nil {
		return err
	}
	printed := f.printReport(stdout, report, err)
	switch {
	case err != nil:
		printKept(stderr, report)
	case !f.quiet:
		printNotices(stderr, report)
		fmt.Fprintln(stderr, summary(report, f.options.MaxRate))
	}
	return errors.Join(err, leftOut(report), printed)
}

// printReport prints what was asked for on stdout.
func (f *copyFlags) printReport(stdout io.Writer, report *pghaul.Report, failure error) error {
	switch {
	case f.output == "json":
		return printResult(stdout, report, failure, f.analyze)
	case f.analyze:
		var plans []*planner.Plan
		for _, t := range report.Tables {
			plans = append(plans, t.Plan)
		}
		return printPlans(stdout, plans, f.output)
	default:
		return nil
	}
}
