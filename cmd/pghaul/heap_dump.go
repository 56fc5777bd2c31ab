package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul"
)

const heapDumpLong = `Prints the rows of a table from its files: as COPY text (the default), CSV or
NDJSON, with the names and types that the directory's catalogs give. Long values
are fetched from the TOAST table.

What cannot be read, such as a torn page, is left out, named on standard error and
counted, and never stops the rest: the exit code is then 3.

--deleted also prints rows that were deleted, updated or rolled back and are still
there; the last column, pghaul_state, then says live, deleted or aborted.

A single file without its catalogs needs --column-types: every column of the table
in order, dropped ones too. An enum is stored like an oid, a domain like its base
type.`

// heapDumpFlags are the flags of heap dump.
type heapDumpFlags struct {
	options pghaul.HeapDumpOptions
	blocks  string
	output  string
}

func newHeapDump() *cobra.Command {
	f := &heapDumpFlags{}
	o := &f.options
	cmd := &cobra.Command{
		Use:   "dump [flags] DIR TABLE | dump [flags] --column-types TYPES FILE",
		Short: "Print the rows of a table from its files",
		Long:  heapDumpLong,
		Example: `  pghaul heap dump /var/lib/postgresql/15/main --database shop orders > orders.txt
  pghaul heap dump '/var/lib/postgresql/15/main?dbname=shop' orders --format csv --header -o orders.csv
  pghaul heap dump /var/lib/postgresql/15/main --database shop orders --deleted
  pghaul heap dump --column-types 'id int8, d date, n int4, v varchar(10)' base/16384/16400
  pghaul heap dump /var/lib/postgresql/15/main -d shop orders | psql shop2 -c 'COPY orders FROM STDIN'`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	what := newGroup("What to print")
	what.flags.VarP(textFlag(&o.Database, "NAME"), "database", "d", "the database of the table (default is the only one)")
	what.flags.Var(columnsFlag(&o.Columns), "columns", "only these columns, in this order")
	what.flags.BoolVar(&o.Deleted, "deleted", false, "also rows that are deleted or rolled back and still there")
	what.flags.StringVar(&f.blocks, "ranges", "", "only these blocks: `FROM-TO`, counted from 0, both included; either may be left out")
	what.flags.BoolVar(&o.IgnoreChecksums, "ignore-checksums", false, "read pages whose checksum is wrong as they are")
	lone := newGroup("A single file")
	lone.flags.Var(textFlag(&o.ColumnTypes, "TYPES"), "column-types", "the file's columns, such as 'id int8, v varchar(10)'; names may be left out")
	lone.flags.Var(textFlag(&o.Toast, "FILE"), "toast", "the file of its TOAST table")
	out := newGroup("Output")
	out.flags.Var(choiceFlag(&o.Format, "FORMAT", "text", []string{"text", "csv", "ndjson"},
		[]pghaul.HeapFormat{pghaul.HeapText, pghaul.HeapCSV, pghaul.HeapNDJSON}), "format", "text and csv as COPY prints them, or ndjson")
	out.flags.BoolVar(&o.Header, "header", false, "begin with a line of the columns' names")
	out.flags.VarP(textFlag(&f.output, "FILE"), "output", "o", "write to this new file (default is standard output)")
	out.flags.VarP(countFlag(&o.Jobs, "N"), "jobs", "j", "read and print on `N` processors (default is all)")
	addGroups(cmd, what, lone, out)
	return cmd
}

func (f *heapDumpFlags) run(cmd *cobra.Command, args []string) (err error) {
	o := &f.options
	want := 2
	if o.ColumnTypes != "" {
		want = 1
	}
	switch {
	case len(args) != want && want == 2:
		return usageError(cmd, "name a data directory and one table; or a file with --column-types")
	case len(args) != want:
		return usageError(cmd, "with --column-types name one file and no table")
	case o.Toast != "" && want == 2:
		return usageError(cmd, "--toast goes with --column-types")
	}
	if o.From, o.To, err = parseBlocks(f.blocks); err != nil {
		return usageError(cmd, err.Error())
	}
	if o.Format == "" {
		o.Format = pghaul.HeapText
	}
	table := ""
	if want == 2 {
		table = args[1]
	}
	show := &damagePrinter{w: cmd.ErrOrStderr()}
	o.OnNote, o.OnDamage = show.note, show.damage
	w := cmd.OutOrStdout()
	if f.output != "" {
		file, err := os.OpenFile(f.output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return fmt.Errorf("make the output file: %w", err)
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		w = file
	}
	done, err := pghaul.DumpHeap(cmd.Context(), args[0], table, w, o)
	if err != nil {
		return err
	}
	if done.Zeros > 0 {
		show.note(fmt.Sprintf("%d blocks hold zeros only: they were never used, or are lost", done.Zeros))
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "dumped %s\n", plural(done.Rows, "row"))
	if o.ColumnTypes != "" && done.Damage > done.Rows {
		hint := "Do --column-types name every column of the table in order, those too that were dropped?"
		if o.Toast == "" {
			hint += " Values in a TOAST table need --toast."
		}
		return setAside(done.Damage, hint)
	}
	return setAside(done.Damage, checkHint)
}

// parseBlocks reads FROM-TO, both included, as the first block and the one behind the last.
func parseBlocks(text string) (from, to uint32, err error) {
	if text == "" {
		return 0, 0, nil
	}
	wrong := fmt.Errorf("--ranges wants blocks such as 0-99, not %q", text)
	first, last, _ := strings.Cut(text, "-")
	if !strings.Contains(text, "-") {
		last = first
	}
	if first != "" {
		n, err := strconv.ParseUint(first, 10, 32)
		if err != nil {
			return 0, 0, wrong
		}
		from = uint32(n)
	}
	if last != "" {
		n, err := strconv.ParseUint(last, 10, 32)
		if err != nil || n >= 1<<32-2 || uint32(n) < from {
			return 0, 0, wrong
		}
		to = uint32(n) + 1
	}
	return from, to, nil
}
