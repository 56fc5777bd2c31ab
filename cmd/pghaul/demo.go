package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul"
	"github.com/pghaul/pghaul/internal/cluster"
	"github.com/pghaul/pghaul/planner"
)

const demoLong = `Starts two throwaway PostgreSQL servers, makes a table, and copies it by every
method of pghaul and by what people use today: INSERT ... SELECT, CREATE TABLE
AS, psql pipes and postgres_fdw. It prints one plan with what it really took, and
tables of times; it compares every copy with the source by the hash of each row,
and removes everything.

The servers run with PostgreSQL's durability (fsync on). The time of a way is the
median of --runs runs. All ways are run once before any is run again, so that a
change in the machine's speed meets all alike.`

// demoFlags are the flags of demo.
type demoFlags struct {
	rows  int64
	runs  int
	major int
	keep  bool
}

func newDemo() *cobra.Command {
	f := &demoFlags{}
	cmd := &cobra.Command{
		Use:   "demo [flags]",
		Short: "Copy a table every way on two throwaway servers, and compare the times",
		Long:  demoLong,
		Example: `  pghaul demo
  pghaul demo --rows 20000000 --runs 1
  pghaul demo --rows 10000 --keep`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 0:
				return usageError(cmd, "demo takes no arguments")
			case f.rows < 1 || f.runs < 1:
				return usageError(cmd, "--rows and --runs must be at least 1")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	g := newGroup("Flags")
	g.flags.Int64Var(&f.rows, "rows", 1_000_000, "rows of the table")
	g.flags.IntVar(&f.runs, "runs", 3, "runs of each way, of which the median counts")
	g.flags.IntVar(&f.major, "pg", 0, "major version of PostgreSQL (default is the newest found)")
	g.flags.BoolVar(&f.keep, "keep", false, "leave the servers running and print how to connect")
	addGroups(cmd, g)
	return cmd
}

// demoDatabase is the database of both servers that the demo works in.
const demoDatabase = "demo"

// demo is a run of the demo: two servers and the table on the first.
type demo struct {
	out           io.Writer
	terminal      io.Writer // takes the passing line that says what is being run; nil when nobody looks
	rows          int64
	here, there   *cluster.Server
	foreignTables bool // postgres_fdw is installed on the first server
}

func (f *demoFlags) run(ctx context.Context, out, stderr io.Writer) (err error) {
	d := &demo{out: out, rows: f.rows}
	if isTerminal(stderr) {
		d.terminal = stderr
	}
	fmt.Fprintln(out, "Starting two throwaway PostgreSQL servers ...")
	if d.here, err = cluster.Start(ctx, d.serverOptions(f.major)); err != nil {
		return noServer(err)
	}
	defer func() { err = errors.Join(err, d.leave(d.here, "source", f.keep)) }()
	if d.there, err = cluster.Start(ctx, d.serverOptions(d.here.Binaries().Version)); err != nil {
		return noServer(err)
	}
	defer func() { err = errors.Join(err, d.leave(d.there, "target", f.keep)) }()
	if err := d.prepare(ctx); err != nil {
		return err
	}
	if err := d.showPlan(ctx); err != nil {
		return err
	}
	var failed []error
	for _, s := range d.sections() {
		if err := s.measure(ctx, d, f.runs); err != nil {
			failed = append(failed, err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return errors.Join(failed...)
}

func noServer(err error) error {
	failure := &planner.Error{Message: "cannot start a throwaway server", Cause: err}
	if errors.Is(err, cluster.ErrNoBinaries) {
		failure.Hint = "make demo installs PostgreSQL on Debian and Ubuntu; elsewhere install its server package, or name its directory of programs in PGHAUL_PG_BIN."
	}
	return failure
}

// serverOptions are PostgreSQL's defaults but for room in memory and WAL, so that no checkpoint falls into one way and not
// into the other.
func (d *demo) serverOptions(major int) *cluster.Options {
	return &cluster.Options{Major: major, Settings: map[string]string{
		"fsync":                     "on",
		"shared_buffers":            "512MB",
		"max_wal_size":              "16GB",
		"checkpoint_timeout":        "1h",
		"autovacuum":                "off",
		"max_prepared_transactions": "16",
	}}
}

// prepare makes the table of the seeds on the first server, and databases and a foreign server to copy it to.
func (d *demo) prepare(ctx context.Context) error {
	for _, s := range []*cluster.Server{d.here, d.there} {
		_, err := s.Psql(ctx, "postgres", "CREATE DATABASE "+demoDatabase)
		if errors.Is(err, cluster.ErrNoPsql) {
			return &planner.Error{Message: err.Error(), Hint: "The demo compares with psql. Install PostgreSQL's client programs."}
		}
		if err != nil {
			return err
		}
	}
	version, err := d.here.Psql(ctx, demoDatabase, "SHOW server_version")
	if err != nil {
		return err
	}
	fmt.Fprintf(d.out, "PostgreSQL %s, %s, fsync on, autovacuum off, shared_buffers 512 MB, max_wal_size 16 GB\n",
		version, plural(int64(runtime.NumCPU()), "processor"))
	size, err := d.here.Psql(ctx, demoDatabase,
		"CREATE TABLE origin_table (i bigint, d date, j int, t varchar(10))",
		fmt.Sprintf("INSERT INTO origin_table SELECT i, '2024-02-15', i / 10, md5(i::text)::varchar(10) FROM generate_series(1, %d) AS i", d.rows),
		"VACUUM (ANALYZE) origin_table", "CHECKPOINT",
		"SELECT pg_table_size('origin_table')")
	if err != nil {
		return err
	}
	var bytes float64
	if _, err := fmt.Sscan(size, &bytes); err != nil {
		return fmt.Errorf("read the table's size: %w", err)
	}
	fmt.Fprintf(d.out, "origin_table (i bigint, d date, j int, t varchar(10)): %s, %s\n\n", plural(d.rows, "row"), showBytes(bytes))
	return d.prepareForeign(ctx)
}

// prepareForeign makes the second server a postgres_fdw server of the first, where that extension is installed.
func (d *demo) prepareForeign(ctx context.Context) error {
	found, err := d.here.Psql(ctx, demoDatabase, "SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'")
	if err != nil || found == "0" {
		return err
	}
	d.foreignTables = true
	_, err = d.here.Psql(ctx, demoDatabase,
		"CREATE EXTENSION postgres_fdw",
		fmt.Sprintf("CREATE SERVER there FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '%s', port '%d', dbname '%s')",
			d.there.SocketDir(), d.there.Port(), demoDatabase),
		fmt.Sprintf("CREATE USER MAPPING FOR CURRENT_USER SERVER there OPTIONS (user '%s')", cluster.Superuser),
		"CREATE FOREIGN TABLE demo_foreign "+originColumns+" SERVER there OPTIONS (schema_name 'public', table_name 'demo_target', batch_size '100')")
	return err
}

// showPlan copies the table to the other server once and prints the plan with what it took.
func (d *demo) showPlan(ctx context.Context) error {
	const target = "explained"
	if _, err := d.there.Psql(ctx, demoDatabase, "CREATE TABLE "+target+originColumns); err != nil {
		return err
	}
	fmt.Fprintf(d.out, "pghaul copy --analyze --source %q --target %q origin_table:%s\n\n",
		d.here.URI(demoDatabase), d.there.URI(demoDatabase), target)
	report, err := pghaul.Copy(ctx, d.here.URI(demoDatabase), d.there.URI(demoDatabase),
		[]pghaul.Table{{Source: originTable, Target: "public." + target}}, nil)
	if err != nil {
		return err
	}
	for _, t := range report.Tables {
		for line := range strings.Lines(strings.TrimRight(t.Plan.Text(), "\n")) {
			fmt.Fprint(d.out, "  ", line)
		}
	}
	fmt.Fprint(d.out, "\n\n")
	_, err = d.there.Psql(ctx, demoDatabase, "DROP TABLE "+target)
	return err
}

// status replaces the passing line on the terminal; an empty text takes it away.
func (d *demo) status(format string, args ...any) {
	if d.terminal != nil {
		fmt.Fprintf(d.terminal, "\r\x1b[K"+format, args...)
	}
}

// leave removes a server, or with keep tells how to reach and remove it.
func (d *demo) leave(s *cluster.Server, role string, keep bool) error {
	if !keep {
		if err := s.Remove(); err != nil {
			return fmt.Errorf("remove the %s server: %w", role, err)
		}
		return nil
	}
	remove, err := s.Keep()
	if err != nil {
		return fmt.Errorf("keep the %s server: %w", role, err)
	}
	fmt.Fprintf(d.out, "The %s server runs on. To connect:\n  psql '%s'\nTo remove it:\n  %s\n", role, s.URI(demoDatabase), remove)
	return nil
}
