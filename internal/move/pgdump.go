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

// run dumps one section of the given relations and returns its text. The connection's parameters go by the environment: everybody on the
// machine can read a command line, and not everybody the environment.
func (d *pgDump) run(ctx context.Context, config *pgx.ConnConfig, section string, relations []tableKey) (string, error) {
	args := []string{"--no-password", "--encoding=UTF8", "--section=" + section, "--strict-names", "--no-owner", "--no-privileges",
		"--no-publications", "--no-security-labels", "--no-tablespaces"}
	for _, key := range relations {
		args = append(args, tableArgument(key))
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

// tableArgument is the option for one relation.
func tableArgument(key tableKey) string {
	return "--table=" + exactPattern(key.schema) + "." + exactPattern(key.name)
}

// exactPattern is a name as a pattern of pg_dump that matches nothing else: inside quotes every sign stands for itself.
func exactPattern(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func firstLine(out []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(out), []byte{'\n'})
	return string(line[:min(len(line), 200)])
}
