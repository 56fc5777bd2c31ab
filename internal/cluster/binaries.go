//go:build unix

package cluster

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// ErrNoBinaries means that no PostgreSQL server programs were found, or none of the asked version.
var ErrNoBinaries = errors.New("no PostgreSQL server programs found")

// Binaries are the server programs of one PostgreSQL version.
type Binaries struct {
	// Dir holds postgres, initdb and the other programs.
	Dir string

	// Version is the major version, for example 15.
	Version int
}

// Find lists the PostgreSQL versions of this machine, one entry for each major version, the newest last. At least one entry
// or an error that is ErrNoBinaries.
//
// It reads three environment variables. When PGHAUL_PG_BIN is set, a list of directories separated as PATH is, only those
// are searched. Otherwise PATH, the answer of "pg_config --bindir", the places of the Debian, RPM and Homebrew packages, and
// the cache of downloaded versions (pghaul/postgres below XDG_CACHE_HOME, ~/.cache and /var/cache) are searched in this
// order; of two installations of one major version the first wins.
func Find() ([]Binaries, error) {
	return findIn(searched(os.Getenv))
}

// FindMajor is the entry of Find with this major version.
func FindMajor(major int) (Binaries, error) {
	found, err := Find()
	if err != nil {
		return Binaries{}, err
	}
	var have []string
	for _, b := range found {
		if b.Version == major {
			return b, nil
		}
		have = append(have, strconv.Itoa(b.Version))
	}
	return Binaries{}, fmt.Errorf("%w for major version %d: this machine has %s", ErrNoBinaries, major, strings.Join(have, ", "))
}

// searched lists the directories to look into, the preferred first.
func searched(getenv func(string) string) []string {
	if list := getenv("PGHAUL_PG_BIN"); list != "" {
		return filepath.SplitList(list)
	}
	dirs := filepath.SplitList(getenv("PATH"))
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	patterns := []string{
		"/usr/lib/postgresql/*/bin",
		"/usr/pgsql-*/bin",
		"/opt/homebrew/opt/postgresql@*/bin",
		"/usr/local/opt/postgresql@*/bin",
		"/usr/local/pgsql/bin",
	}
	for _, cache := range []string{getenv("XDG_CACHE_HOME"), filepath.Join(getenv("HOME"), ".cache"), "/var/cache"} {
		if filepath.IsAbs(cache) {
			patterns = append(patterns, filepath.Join(cache, "pghaul", "postgres", "*", "bin"))
		}
	}
	for _, pattern := range patterns {
		// The patterns are constant but for a cache directory; one that breaks the syntax names no usable place.
		matches, _ := filepath.Glob(pattern)
		dirs = append(dirs, matches...)
	}
	return dirs
}

func findIn(dirs []string) ([]Binaries, error) {
	var found []Binaries
	seen := map[string]bool{}
	for _, dir := range dirs {
		postgres, err := filepath.EvalSymlinks(filepath.Join(dir, "postgres"))
		if err != nil || seen[postgres] {
			continue
		}
		seen[postgres] = true
		// Debian links some programs into /usr/bin; the directory of the real file has them all.
		b, ok := inspect(filepath.Dir(postgres))
		if ok && !slices.ContainsFunc(found, func(f Binaries) bool { return f.Version == b.Version }) {
			found = append(found, b)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: install the PostgreSQL server package or set PGHAUL_PG_BIN to the directory of initdb and postgres",
			ErrNoBinaries)
	}
	slices.SortFunc(found, func(a, b Binaries) int { return cmp.Compare(a.Version, b.Version) })
	return found, nil
}

// inspect asks the postgres program of dir for its version.
func inspect(dir string) (Binaries, bool) {
	if _, err := exec.LookPath(filepath.Join(dir, "initdb")); err != nil {
		return Binaries{}, false
	}
	out, err := exec.Command(filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return Binaries{}, false
	}
	version, ok := majorOf(out)
	return Binaries{Dir: dir, Version: version}, ok
}

// majorOf reads "postgres (PostgreSQL) 15.20 (Debian 15.20-1)", also "19devel" and "19beta1".
func majorOf(version []byte) (int, bool) {
	_, rest, ok := bytes.Cut(version, []byte("(PostgreSQL) "))
	if !ok {
		return 0, false
	}
	digits := bytes.IndexFunc(rest, func(r rune) bool { return !unicode.IsDigit(r) })
	if digits < 0 {
		digits = len(rest)
	}
	major, err := strconv.Atoi(string(rest[:digits]))
	return major, err == nil
}
