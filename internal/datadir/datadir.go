// Package datadir reads a PostgreSQL data directory without a server: the control file, the databases and their catalogs, what
// became of transactions, and the rows of tables with their TOAST values. It never writes.
//
// A Directory is opened once and gives its Databases; a Database gives its Tables by reading pg_class, pg_attribute and pg_type from
// their heap files, whose own layout is known for PostgreSQL 14 to 18; Scan then walks through a table's blocks and Printers turns
// its rows into text. Everything may be used by several goroutines but Printers and Toaster, of which each needs its own.
//
// What is read is what lies on disk. A running server has newer pages and transaction states in its memory, and what a crashed one
// had only in its write-ahead log is not there: the log is not replayed. Memory does not depend on the size of a table, and of a
// database with many relations a few bytes are kept for each.
//
// Nothing on disk is trusted. A page or tuple that does not hold together is handed to ScanOptions.Damaged and left out, and reading
// goes on.
package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/internal/heap"
	"github.com/pghaul/pghaul/planner"
)

// Directory is a data directory of one of the known major versions.
type Directory struct {
	path    string
	release *release
	control Control
}

// Open reads PG_VERSION and global/pg_control and checks both. It takes directories of running, stopped and crashed servers alike:
// see Running and Control.State. The errors are *planner.Error.
func Open(path string) (*Directory, error) {
	if err := mustBeDirectory(path); err != nil {
		return nil, err
	}
	r, err := readVersion(path)
	if err != nil {
		return nil, err
	}
	control, err := readControl(path, r)
	if err != nil {
		return nil, err
	}
	return &Directory{path: path, release: r, control: control}, nil
}

// readControl reads the control file, a few times where it does not hold together: a running server may be writing it.
func readControl(path string, r *release) (control Control, err error) {
	name := filepath.Join(path, "global", "pg_control")
	for range tornRetries {
		bytes, readErr := os.ReadFile(name)
		if readErr != nil {
			return control, unreadable(name, readErr, "Is "+path+" a whole data directory?")
		}
		if control, err = parseControl(bytes, r); err == nil {
			return control, nil
		}
	}
	return control, &planner.Error{
		Message: "cannot use the data directory " + path, Detail: sentence("In global/pg_control, " + err.Error()),
		Hint: "Its files can only be read on the architecture they were written on, by a version that knows them.",
	}
}

// Path is the directory as it was given to Open.
func (d *Directory) Path() string { return d.path }

// Version is the major version, for example 15.
func (d *Directory) Version() int { return d.release.major }

// Control is what the control file says.
func (d *Directory) Control() Control { return d.control }

// Transactions makes a reader of the directory's pg_xact, pg_subtrans and pg_multixact. It keeps the pages that it has read, about
// 1 MB at most, so what a running server writes later is not seen. Any number of goroutines may use it.
func (d *Directory) Transactions() heap.Transactions { return newTransactions(d.path, &d.control) }

func mustBeDirectory(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return unreadable(path, err, "")
	}
	if !info.IsDir() {
		return &planner.Error{
			Message: path + " is not a directory",
			Hint:    "Give the data directory of a PostgreSQL server: the one that holds PG_VERSION.",
		}
	}
	return nil
}

func readVersion(path string) (*release, error) {
	name := filepath.Join(path, "PG_VERSION")
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &planner.Error{
			Message: path + " is not a PostgreSQL data directory", Detail: "It has no file PG_VERSION.",
			Hint:  "SHOW data_directory tells where a server's directory is; Debian keeps it in /var/lib/postgresql/VERSION/NAME.",
			Cause: err,
		}
	}
	if err != nil {
		return nil, unreadable(name, err, "")
	}
	version := strings.TrimSpace(string(text))
	if major, err := strconv.Atoi(version); err == nil {
		if r := findRelease(major); r != nil {
			return r, nil
		}
	}
	return nil, &planner.Error{
		Message: fmt.Sprintf("the data directory %s is of PostgreSQL %.20q", path, version),
		Detail:  fmt.Sprintf("Versions %d to %d are known.", releases[0].major, releases[len(releases)-1].major),
		Hint:    "Start a server of that version on a copy of the directory, and copy from the server.",
	}
}

// unreadable is the error of a file that cannot be read, with the hint that fits its reason.
func unreadable(name string, err error, hint string) error {
	if errors.Is(err, fs.ErrPermission) {
		hint = "Run pghaul as root or as the user that the server runs as."
	}
	return &planner.Error{Message: "cannot read " + name, Hint: hint, Cause: reason(err)}
}

// reason is the error without the operation and the path, which the message names.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// sentence makes a phrase one: an upper-case letter first, a period last.
func sentence(phrase string) string {
	if phrase == "" {
		return ""
	}
	return strings.ToUpper(phrase[:1]) + phrase[1:] + "."
}
