package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul"
	"github.com/pghaul/pghaul/planner"
)

const heapLong = `Reads the data directory of a PostgreSQL server, or a single file of it, without
the server: also of one that is stopped, has crashed, or no longer starts. Nothing
is ever written there.

Names and types come from the directory's own catalogs. What a crashed server had
only in its WAL is not read, and of a running one what it has not yet written is
missing: run CHECKPOINT first. Run it as root or as the server's user.`

func newHeap() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "heap ls|dump|check",
		Short: "Read data files without a server: list, dump and check tables",
		Long:  heapLong,
		Example: `  pghaul heap ls /var/lib/postgresql/15/main
  pghaul heap ls /var/lib/postgresql/15/main --database shop
  pghaul heap dump /var/lib/postgresql/15/main --database shop orders > orders.txt
  pghaul heap check /var/lib/postgresql/15/main --database shop`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError(cmd, "no such verb of heap: "+args[0]+"; there are ls, dump and check")
			}
			return cmd.Help()
		},
	}
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		w := cmd.OutOrStdout()
		fmt.Fprintf(w, "Usage:\n  pghaul heap VERB [flags] ...\n\nVerbs:\n")
		for _, c := range cmd.Commands() {
			fmt.Fprintf(w, "  %-6s %s\n", c.Name(), c.Short)
		}
		fmt.Fprintf(w, "\nExamples:\n%s\n\npghaul heap VERB --help explains a verb.\n", cmd.Example)
		return nil
	})
	cmd.AddCommand(newHeapLs(), newHeapDump(), newHeapCheck())
	return cmd
}

// heapLsFlags are the flags of heap ls.
type heapLsFlags struct {
	database string
	options  pghaul.HeapListOptions
	output   string
}

func newHeapLs() *cobra.Command {
	f := &heapLsFlags{}
	cmd := &cobra.Command{
		Use:   "ls [flags] DIR",
		Short: "List the databases of a data directory, or the tables of one",
		Long: `Lists the databases of a data directory; with --database, or DIR?dbname=NAME, the
tables of that one with their files, sizes and rows. Rows are the server's last
estimate, or with --count as many as can be read. What cannot be read is named on
standard error and never stops the rest: the exit code is then 3.`,
		Example: `  pghaul heap ls /var/lib/postgresql/15/main
  pghaul heap ls /var/lib/postgresql/15/main --database shop --count`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError(cmd, "name one data directory")
			}
			return f.run(cmd, args[0])
		},
	}
	g := newGroup("Flags")
	g.flags.VarP(textFlag(&f.database, "NAME"), "database", "d", "list the tables of this database")
	g.flags.BoolVar(&f.options.Count, "count", false, "count the rows, which reads every table")
	g.flags.BoolVar(&f.options.System, "system", false, "list system catalogs too")
	outputFlag(g, &f.output)
	addGroups(cmd, g)
	return cmd
}

func (f *heapLsFlags) run(cmd *cobra.Command, dir string) error {
	out := cmd.OutOrStdout()
	if f.database == "" && !strings.Contains(dir, "?dbname=") {
		if f.options.Count || f.options.System {
			return usageError(cmd, "--count and --system are for the tables of one --database")
		}
		list, err := pghaul.ListHeap(dir)
		if err != nil {
			return err
		}
		return f.databases(cmd, list)
	}
	show := &damagePrinter{w: cmd.ErrOrStderr()}
	f.options.OnDamage = show.damage
	list, err := pghaul.ListHeapTables(cmd.Context(), dir, f.database, &f.options)
	if err != nil {
		return err
	}
	if f.output == "json" {
		err = printJSON(out, list)
	} else {
		err = printHeapTables(out, list)
	}
	if err != nil {
		return err
	}
	return setAside(int64(show.met), checkHint)
}

func printHeapTables(out io.Writer, list []pghaul.HeapTable) error {
	return printTable(out, []string{"schema", "table", "kind", "file", "size", "TOAST", "rows"}, len(list), func(i int) []string {
		t := list[i]
		rows := "unknown"
		if t.Rows >= 0 {
			rows = strconv.FormatInt(t.Rows, 10)
		}
		if t.Damage > 0 {
			rows += ", damaged"
		}
		return []string{t.Schema, t.Name, t.Kind, t.File, showBytes(float64(t.Bytes)), showBytes(float64(t.ToastBytes)), rows}
	})
}

// databases prints those of a directory.
func (f *heapLsFlags) databases(cmd *cobra.Command, list []pghaul.HeapDatabase) error {
	broken := 0
	for _, d := range list {
		if d.Problem != "" {
			broken++
			message{Message: "database " + d.Name + ": " + d.Problem}.print(cmd.ErrOrStderr(), "WARNING")
		}
	}
	var err error
	if out := cmd.OutOrStdout(); f.output == "json" {
		err = printJSON(out, list)
	} else {
		err = printTable(out, []string{"database", "oid", "tables", "size"}, len(list), func(i int) []string {
			d := list[i]
			size := showBytes(float64(d.Bytes))
			if d.Problem != "" {
				size += ", damaged"
			}
			return []string{d.Name, strconv.FormatUint(uint64(d.OID), 10), strconv.Itoa(d.Tables), size}
		})
	}
	if err != nil || broken == 0 {
		return err
	}
	return &planner.Error{Kind: planner.SetAside, Message: plural(int64(broken), "database") + " could not be read whole",
		Hint: "A single file is read without catalogs: pghaul heap dump --column-types TYPES FILE."}
}

// printTable prints rows in columns.
func printTable(w io.Writer, titles []string, rows int, row func(i int) []string) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(titles, "\t"))
	for i := range rows {
		cells := row(i)
		for j, c := range cells { // A name may hold anything.
			cells[j] = strings.NewReplacer("\t", `\t`, "\n", `\n`, "\v", `\v`, "\f", `\f`).Replace(c)
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	return t.Flush()
}

// mostDamage is how many places of damage are printed one by one.
const mostDamage = 100

// damagePrinter prints places of damage as they are met.
type damagePrinter struct {
	w   io.Writer
	met int
}

func (p *damagePrinter) note(note string) { message{Message: note}.print(p.w, "NOTICE") }

func (p *damagePrinter) damage(d pghaul.HeapDamage) {
	p.met++
	switch {
	case p.met > mostDamage+1:
	case p.met == mostDamage+1:
		message{Message: "more damage follows, which is counted and not listed"}.print(p.w, "NOTICE")
	default:
		message{Message: d.Table + ", " + place(d) + ": " + d.Reason}.print(p.w, "WARNING")
	}
}

// place names a block, and a line where it is known.
func place(d pghaul.HeapDamage) string {
	if d.Line == 0 {
		return fmt.Sprintf("block %d", d.Block)
	}
	return fmt.Sprintf("block %d, line %d", d.Block, d.Line)
}

// setAside is the end of what left something out.
func setAside(n int64, hint string) error {
	if n == 0 {
		return nil
	}
	return &planner.Error{Kind: planner.SetAside, Message: fmt.Sprintf("%d blocks or rows could not be read and were left out", n),
		Hint: hint}
}

const checkHint = "pghaul heap check tells more of what is wrong."
