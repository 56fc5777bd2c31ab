package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul"
	"github.com/pghaul/pghaul/planner"
)

const loadLong = `Loads files into a table: CSV, tab-separated, COPY text and binary, fixed width,
NDJSON and Parquet, compressed or not. Files are parsed on all processors and sent
as binary COPY, each value exactly as the server would have read it.

Format, delimiter, header and compression are found by looking at the files;
--explain shows what was found, the columns, and the SQL that would be sent.

Everything is loaded in one transaction, or nothing is. The table must be empty
unless a flag says otherwise. With --on-error set-aside refused rows go into a
file, exactly as they stand in the input, and the rest is loaded: exit code 3.

A missing --target is what the PG* environment variables say. - is standard input.`

const loadExamples = `  Load a CSV file with a header; see first what would be done:
    pghaul load --explain --target postgres:///shop --into orders orders.csv
    pghaul load --target postgres:///shop --into orders orders.csv

  All files of a directory, into a new table made for them:
    pghaul load --target postgres:///shop --into events --create 'events/*.csv.gz'

  Set bad rows aside, with the reasons, and go on:
    pghaul load --target postgres:///shop --into orders --append \
        --on-error set-aside --max-errors 1% --reject bad.csv --reject-reasons bad.json orders.csv

  Update the rows that are there, add the others:
    pghaul load --target postgres:///shop --into customers --on-duplicate update customers.ndjson

  A large load that goes on where it was interrupted:
    pghaul load --target postgres:///shop --into events --commit-every 1000000 events.csv.zst

  Compute a column, from the text of a field, and name the fields of a file without a header:
    pghaul load --target postgres:///shop --into orders --columns id,day,amount \
        --set "amount = replace(amount, ',', '.')::numeric" --delimiter ';' orders.txt

  The rows of a function, those that are refused set aside:
    pghaul load --source postgres:///legacy --query "SELECT * FROM export()" \
        --target postgres:///shop --into orders --on-error set-aside --reject bad.txt

  From a program's output:
    zcat orders.gz | pghaul load --target postgres:///shop --into orders --format csv -`

// loadFlags are the flags of load.
type loadFlags struct {
	target, into  string
	source, query string
	options       pghaul.LoadOptions
	limits        errorLimit

	appendRows, truncate, replace bool

	printing
}

func newLoad() *cobra.Command {
	f := &loadFlags{}
	cmd := &cobra.Command{
		Use:     "load [flags] --into TABLE FILE...",
		Short:   "Load files into a table",
		Long:    loadLong,
		Example: loadExamples,
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.settle(cmd, args); err != nil {
				return err
			}
			f.options.Input.Stdin = os.Stdin
			if f.explain {
				return f.runExplain(cmd.Context(), cmd.OutOrStdout(), args)
			}
			return f.runLoad(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), args)
		},
	}
	addGroups(cmd, f.whatGroup(), f.inputGroup(), f.targetGroup(), f.refusedGroup(), f.howGroup(), f.group("load"))
	return cmd
}

// settle checks what only the command line can get wrong, and finishes the options.
func (f *loadFlags) settle(cmd *cobra.Command, args []string) error {
	var wrong []string
	fill, asked := chosenFill(f.appendRows, f.truncate, f.replace)
	f.options.Fill = fill
	if asked > 1 {
		wrong = append(wrong, "--append, --truncate and --replace exclude each other")
	}
	if f.into == "" {
		wrong = append(wrong, "--into names the table to load")
	}
	switch {
	case f.query != "" && len(args) > 0:
		wrong = append(wrong, "--query excludes files")
	case f.query == "" && f.source != "":
		wrong = append(wrong, "--source is for --query")
	case f.query == "" && len(args) == 0:
		wrong = append(wrong, "name the files to load, or - for standard input")
	}
	f.explain = f.explain || f.dryRun
	if f.explain && f.analyze {
		wrong = append(wrong, "--explain and --analyze exclude each other: one changes nothing, the other loads")
	}
	if f.options.Reject != "" && f.options.OnError == planner.StopOnError && f.options.OnDuplicate != planner.DuplicateKeepOld {
		wrong = append(wrong, "--reject needs --on-error set-aside")
	}
	if f.options.Reasons != "" && f.options.OnError == planner.StopOnError {
		wrong = append(wrong, "--reject-reasons needs --on-error set-aside")
	}
	if f.limits.given && f.options.OnError == planner.StopOnError {
		wrong = append(wrong, "--max-errors needs --on-error set-aside")
	}
	f.options.MaxErrors, f.options.MaxPercent = f.limits.rows, f.limits.percent
	return usageError(cmd, wrong...)
}

func (f *loadFlags) runExplain(ctx context.Context, stdout io.Writer, files []string) error {
	var plan *planner.Plan
	var err error
	if f.query != "" {
		plan, err = pghaul.ExplainLoadQuery(ctx, f.source, f.query, f.target, f.into, &f.options)
	} else {
		plan, err = pghaul.ExplainLoadFiles(ctx, f.target, f.into, files, &f.options)
	}
	if err != nil {
		return err
	}
	return printPlans(stdout, []*planner.Plan{plan}, f.output)
}

func (f *loadFlags) runLoad(ctx context.Context, stdout, stderr io.Writer, files []string) error {
	show := f.display(stderr)
	f.options.OnProgress, f.options.ProgressInterval = show.update, show.interval
	if f.verbose {
		f.options.Logger = newLogger(show)
	}
	var report *pghaul.LoadReport
	var err error
	if f.query != "" {
		report, err = pghaul.LoadQuery(ctx, f.source, f.query, f.target, f.into, &f.options)
	} else {
		report, err = pghaul.LoadFiles(ctx, f.target, f.into, files, &f.options)
	}
	show.close()
	if report == nil {
		return err
	}
	printed := f.printReport(stdout, report, err)
	switch {
	case err != nil:
		printLoadKept(stderr, report)
	case !f.quiet:
		printLoadNotices(stderr, report)
		fmt.Fprintln(stderr, loadSummary(report))
	}
	if err == nil {
		err = refusedRows(report)
	}
	return errors.Join(err, printed)
}

// printReport prints what was asked for on stdout.
func (f *loadFlags) printReport(stdout io.Writer, report *pghaul.LoadReport, failure error) error {
	switch {
	case f.output == "json":
		return printLoadResult(stdout, report, failure, f.analyze)
	case f.analyze:
		return printPlans(stdout, []*planner.Plan{report.Plan}, f.output)
	default:
		return nil
	}
}
