package rowfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/planner"
)

// maxFiles is how many files one load takes: each is looked at before the first row is read.
const maxFiles = 100_000

// named is a file as it was found.
type named struct {
	name string // as messages call it
	path string // empty for standard input
	info fs.FileInfo
}

// expand finds the files that paths stand for, in their order: files, directories, patterns that no shell has expanded, "-".
func expand(paths []string) ([]named, error) {
	if len(paths) == 0 {
		return nil, usage("no file is given", `Name files, directories or patterns, or "-" for standard input.`)
	}
	var all []named
	for _, path := range paths {
		found, err := expandOne(path)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
		if len(all) > maxFiles {
			return nil, usage(fmt.Sprintf("there are more than %d files", maxFiles), "Load them in several runs, or concatenate them.")
		}
	}
	return all, differ(all)
}

func expandOne(path string) ([]named, error) {
	if path == "-" {
		return []named{{name: stdinName}}, nil
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return filesIn(path)
	case err == nil:
		return []named{{name: path, path: path, info: info}}, nil
	case path == "":
		return nil, usage("a file's name is empty", "")
	case !errors.Is(err, fs.ErrNotExist) || !strings.ContainsAny(path, "*?["):
		return nil, openError(path, err)
	}
	return matches(path)
}

// filesIn lists the files of a directory, but not of those in it. Hidden ones are left out, and the two that Spark writes beside Parquet files,
// which have their schema and no rows.
func filesIn(dir string) ([]named, error) {
	entries, err := os.ReadDir(dir) // sorted
	if err != nil {
		return nil, openError(dir, err)
	}
	var all []named
	for _, entry := range entries {
		base := entry.Name()
		if strings.HasPrefix(base, ".") || base == "_metadata" || base == "_common_metadata" {
			continue
		}
		path := filepath.Join(dir, base)
		info, err := os.Stat(path)
		if err != nil {
			return nil, openError(path, err)
		}
		if info.Mode().IsRegular() {
			all = append(all, named{name: path, path: path, info: info})
		}
	}
	if all == nil {
		return nil, &planner.Error{
			Message: fmt.Sprintf("directory %q has no files", dir),
			Hint:    "Hidden files and those of directories in it are not read; give them by name or pattern.",
		}
	}
	return all, nil
}

// matches expands a pattern as a shell would: sorted, hidden files only where the pattern's own name begins with a dot.
func matches(pattern string) ([]named, error) {
	found, err := filepath.Glob(pattern)
	if err != nil {
		return nil, usage(fmt.Sprintf("pattern %q is malformed", pattern), "A bracket that is no part of a pattern is written [[].")
	}
	if !strings.HasPrefix(filepath.Base(pattern), ".") {
		found = slices.DeleteFunc(found, func(path string) bool { return strings.HasPrefix(filepath.Base(path), ".") })
	}
	var all []named
	for _, path := range found {
		one, err := expandOne(path)
		if err != nil {
			return nil, err
		}
		all = append(all, one...)
	}
	if all == nil {
		return nil, &planner.Error{
			Message: fmt.Sprintf("no file matches %q", pattern),
			Hint:    "Patterns have *, ? and [...], which do not reach into directories.",
		}
	}
	return all, nil
}

// differ refuses a file that is given twice, which would double its rows.
func differ(all []named) error {
	type key struct{ device, inode uint64 }
	seen := map[key]string{}
	for _, n := range all {
		var k key
		if n.info != nil {
			if !n.info.Mode().IsRegular() {
				continue
			}
			if k.device, k.inode = place(n.info); k.inode == 0 {
				continue
			}
		}
		if other, twice := seen[k]; twice {
			return usage(fmt.Sprintf("one file is given twice, as %q and %q", other, n.name), "Its rows would be loaded twice. Make a copy if that is meant.")
		}
		seen[k] = n.name
	}
	return nil
}
