package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul"
	"github.com/pghaul/pghaul/planner"
)

const heapCheckLong = `Looks for damage in the pages of tables and of their TOAST tables: checksums, page
headers, line pointers, tuples that overlap or whose columns do not fit, unknown
transactions, long values with missing parts. Names the block and the line.

All tables of the database are checked, its system catalogs too, unless some are
named. The exit code is 1 when something is wrong.`

// heapCheckFlags are the flags of heap check.
type heapCheckFlags struct {
	options pghaul.HeapCheckOptions
	output  string
}

// heapChecked is what heap check prints as JSON.
type heapChecked struct {
	pghaul.HeapCheck
	Damage []pghaul.HeapDamage `json:"damage"` // the first of them
}

func newHeapCheck() *cobra.Command {
	f := &heapCheckFlags{}
	o := &f.options
	cmd := &cobra.Command{
		Use:   "check [flags] DIR [TABLE]... | check [flags] --column-types TYPES FILE",
		Short: "Look for damage in the files of tables",
		Long:  heapCheckLong,
		Example: `  pghaul heap check /var/lib/postgresql/15/main --database shop
  pghaul heap check /var/lib/postgresql/15/main --database shop orders customers
  pghaul heap check --column-types 'int8, date, int4, varchar(10)' base/16384/16400`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	g := newGroup("Flags")
	g.flags.VarP(textFlag(&o.Database, "NAME"), "database", "d", "the database of the tables (default is the only one)")
	g.flags.Var(textFlag(&o.ColumnTypes, "TYPES"), "column-types", "the columns of a single file, such as 'id int8, v varchar(10)'")
	g.flags.Var(textFlag(&o.Toast, "FILE"), "toast", "the file of its TOAST table")
	g.flags.VarP(countFlag(&o.Jobs, "N"), "jobs", "j", "read on `N` processors (default is all)")
	outputFlag(g, &f.output)
	addGroups(cmd, g)
	return cmd
}

func (f *heapCheckFlags) run(cmd *cobra.Command, args []string) error {
	o := &f.options
	switch {
	case len(args) == 0:
		return usageError(cmd, "name a data directory, or a file with --column-types")
	case o.ColumnTypes != "" && len(args) > 1:
		return usageError(cmd, "with --column-types name one file and no table")
	case o.ColumnTypes == "" && o.Toast != "":
		return usageError(cmd, "--toast goes with --column-types")
	}
	o.Tables = args[1:]
	show := &damagePrinter{w: cmd.ErrOrStderr()}
	found := heapChecked{Damage: []pghaul.HeapDamage{}}
	o.OnNote, o.OnFault = show.note, show.damage
	if f.output == "json" {
		o.OnFault = func(d pghaul.HeapDamage) {
			if len(found.Damage) < mostDamage {
				found.Damage = append(found.Damage, d)
			}
		}
	}
	var err error
	if found.HeapCheck, err = pghaul.CheckHeap(cmd.Context(), args[0], o); err != nil {
		return err
	}
	if f.output == "json" {
		err = printJSON(cmd.OutOrStdout(), found)
	} else {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "checked %s: %s, %s\n", plural(int64(found.Tables), "table"), plural(found.Blocks, "block"), plural(found.Rows, "row"))
	}
	if err != nil || found.Faults == 0 {
		return err
	}
	return &planner.Error{Message: fmt.Sprintf("%d faults were found", found.Faults),
		Hint: "pghaul heap dump, and pghaul copy --source pgdata:DIR with --skip-damaged, save what is whole."}
}
