package move

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// pgDump is an installed pg_dump.
type pgDump struct {
	path    string
	version string // "15.20"
	major   int
}

// pgDumpPlaces are where packages of single versions put theirs, besides PATH.
var pgDumpPlaces = []string{"/usr/lib/postgresql/*/bin/pg_dump", "/usr/pgsql-*/bin/pg_dump", "/opt/homebrew/opt/postgresql@*/bin/pg_dump"}

// definition asks pg_dump how to make schema.name after a table of the source, its partitions included. dumpPath is the program, or empty to
// look for one that is new enough for the server. What belongs to the table and stands in its schema (partitions, sequences, indexes) goes to
// the new schema under its old name. What is no table is made as one with the same columns.
//
// Owners, privileges, security labels, tablespaces and memberships in publications are left out, because the target server may not know the
// roles and names in them; so are types, functions and extensions that the table uses. Statements after the rows that build an index stand
// in Indexes, so that they can run side by side.
func definition(ctx context.Context, dumpPath string, config *pgx.ConnConfig, server planner.Server, source planner.Relation,
	schema, name string) (*planner.Definition, error) {
	if !dumpable(source) {
		return columnsDefinition(source, schema, name), nil
	}
	dump, err := findPgDump(ctx, dumpPath, server)
	if err != nil {
		return nil, err
	}
	from := tableKey{source.Schema, source.Name}
	tables, renamed, err := dumpedTables(ctx, config, from, tableKey{schema, name})
	if err != nil {
		return nil, err
	}
	kin, err := findKin(ctx, config, from, tableKey{schema, name}, renamed)
	if err != nil {
		return nil, err
	}
	var before, after string
	both, bctx := errgroup.WithContext(ctx)
	both.Go(func() (err error) { before, err = dump.run(bctx, config, "pre-data", tables); return err })
	both.Go(func() (err error) { after, err = dump.run(bctx, config, "post-data", tables); return err })
	if err := both.Wait(); err != nil {
		return nil, err
	}
	d := &planner.Definition{From: "pg_dump " + dump.version, Schema: schema, Name: name, Inherits: kin.parents}
	sortDump(d, tables, before, after)
	for _, statements := range [][]string{d.Before, d.Indexes, d.After, d.ForeignKeys} {
		for i := range statements {
			statements[i] = renamed.apply(statements[i])
		}
	}
	d.After = append(d.After, kin.statistics...)
	return d, nil
}

// findPgDump returns the asked program, or the first of PATH and the usual places that can read the server; pg_dump refuses servers of a
// newer major version than its own.
func findPgDump(ctx context.Context, asked string, server planner.Server) (*pgDump, error) {
	if asked != "" {
		dump, err := pgDumpAt(ctx, asked)
		if err != nil {
			return nil, &planner.Error{Message: fmt.Sprintf("could not run pg_dump at %s", asked), Cause: err,
				Hint: "Give the path of the program pg_dump, or none to have it looked up in PATH."}
		}
		if dump.major < server.Version/10000 {
			return nil, tooOld([]*pgDump{dump}, server)
		}
		return dump, nil
	}
	var old []*pgDump
	for _, path := range pgDumpPaths() {
		dump, err := pgDumpAt(ctx, path)
		if err != nil {
			continue
		}
		if dump.major >= server.Version/10000 {
			return dump, nil
		}
		old = append(old, dump)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if len(old) > 0 {
		return nil, tooOld(old, server)
	}
	return nil, &planner.Error{Message: "pg_dump was not found",
		Detail: "Making the target like the source needs it, and it is not in PATH.",
		Hint: fmt.Sprintf("Install the package postgresql-client-%d (Debian) or postgresql%d (RPM), or create the target table yourself.",
			server.Version/10000, server.Version/10000)}
}

func tooOld(dumps []*pgDump, server planner.Server) error {
	var have []string
	for _, d := range dumps {
		have = append(have, fmt.Sprintf("%s is version %s", d.path, d.version))
	}
	return &planner.Error{Message: fmt.Sprintf("pg_dump is too old for the source server, which is version %s", server.VersionText),
		Detail: strings.Join(have, "; ") + ".",
		Hint:   fmt.Sprintf("Install pg_dump of version %d or newer, or create the target table yourself.", server.Version/10000)}
}

func pgDumpPaths() []string {
	var paths, wrappers []string
	if path, err := exec.LookPath("pg_dump"); err == nil {
		// Debian's is a Perl script that looks for the real one, which takes longer than a small dump: 70 ms against 5 ms to tell a version.
		if program, err := filepath.EvalSymlinks(path); err == nil && filepath.Base(program) != "pg_dump" {
			wrappers = append(wrappers, path)
		} else {
			paths = append(paths, path)
		}
	}
	for _, pattern := range pgDumpPlaces {
		// The patterns are constant and well-formed.
		found, _ := filepath.Glob(pattern)
		slices.Reverse(found) // newest first
		paths = append(paths, found...)
	}
	return append(paths, wrappers...)
}

var pgDumpVersion = regexp.MustCompile(`\(PostgreSQL\) ((\d+)\S*)`)

func pgDumpAt(ctx context.Context, path string) (*pgDump, error) {
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return nil, err
	}
	m := pgDumpVersion.FindSubmatch(out)
	if m == nil {
		return nil, fmt.Errorf("it says %q instead of its version", firstLine(out))
	}
	major, err := strconv.Atoi(string(m[2]))
	if err != nil {
		return nil, err
	}
	return &pgDump{path: path, version: string(m[1]), major: major}, nil
}

// run dumps one section of the given tables and returns its text. The connection's parameters go by the environment: everybody on the
// machine can read a command line, and not everybody the environment.
func (d *pgDump) run(ctx context.Context, config *pgx.ConnConfig, section string, tables []dumpedTable) (string, error) {
	args := []string{"--no-password", "--encoding=UTF8", "--section=" + section, "--strict-names", "--no-owner", "--no-privileges",
		"--no-publications", "--no-security-labels", "--no-tablespaces"}
	for _, t := range tables {
		args = append(args, "--table="+exactPattern(t.schema)+"."+exactPattern(t.name))
	}
	environment, err := libpqEnvironment(config)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, d.path, args...)
	cmd.Env = append(append(cmd.Environ(), environment...), "PGAPPNAME=pghaul", "LC_MESSAGES=C")
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	err = cmd.Run()
	if cause := context.Cause(ctx); cause != nil {
		return "", cause
	}
	if err != nil {
		return "", &planner.Error{Message: "pg_dump failed", Cause: err, Detail: strings.TrimSpace(messages.String()),
			Hint: "Create the target table yourself, and copy without asking for it to be made."}
	}
	return out.String(), nil
}

// exactPattern is a name as a pattern of pg_dump that matches nothing else: inside quotes every sign stands for itself.
func exactPattern(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func firstLine(out []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(out), []byte{'\n'})
	return string(line[:min(len(line), 200)])
}

// dumpedTable is a table that pg_dump is asked for.
type dumpedTable struct {
	tableKey
	partitioned bool // it has partitions
	partition   bool // it is one
}

// dumpedTables lists the table and its partitions of all levels, which pg_dump takes along only since version 16 and by another option; and
// how everything that belongs to them is renamed.
func dumpedTables(ctx context.Context, config *pgx.ConnConfig, from, to tableKey) ([]dumpedTable, renaming, error) {
	s, err := openSession(ctx, config, "UTF8", config.Host)
	if err != nil {
		return nil, nil, err
	}
	defer s.close()
	qualified := sqltext.QuoteQualified(from.schema, from.name)
	rows, err := s.table(ctx, fmt.Sprintf(`WITH root AS (SELECT to_regclass(%s)::oid AS oid),
tree AS (SELECT oid FROM root WHERE oid IS NOT NULL UNION SELECT relid FROM root, pg_partition_tree(root.oid)),
part AS (SELECT indexrelid AS oid FROM tree JOIN pg_index ON indrelid = tree.oid
UNION SELECT objid FROM tree JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = tree.oid AND classid = 'pg_class'::regclass AND deptype IN ('a', 'i'))
SELECT n.nspname, c.relname, c.relkind, c.relispartition, c.oid IN (TABLE tree) FROM root, pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.oid IN (TABLE tree UNION TABLE part) ORDER BY c.oid = root.oid DESC, c.oid`, quoted(qualified)))
	if err != nil {
		return nil, nil, fmt.Errorf("look up the partitions of %s: %w", qualified, err)
	}
	if len(rows) == 0 {
		return nil, nil, &planner.Error{Message: fmt.Sprintf("relation %s does not exist", qualified)}
	}
	var tables []dumpedTable
	renamed := renaming{}
	for _, r := range rows {
		key := tableKey{r[0], r[1]}
		if r[4] == "t" {
			tables = append(tables, dumpedTable{tableKey: key, partitioned: r[2] == "p", partition: r[3] == "t"})
		}
		switch {
		case key == from && from != to:
			renamed[key] = to
		case key.schema == from.schema && from.schema != to.schema:
			renamed[key] = tableKey{to.schema, key.name}
		}
	}
	return tables, renamed, nil
}
