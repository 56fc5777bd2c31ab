package move

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Debian's pg_dump in PATH is a script that finds the real one; asked for each table it takes longer than the dump.
func TestWrapperOfPgDumpIsLast(t *testing.T) {
	dir := t.TempDir()
	wrapper, link := filepath.Join(dir, "pg_wrapper"), filepath.Join(dir, "pg_dump")
	if err := os.WriteFile(wrapper, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(wrapper, link); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	if paths := pgDumpPaths(); slices.Index(paths, link) != len(paths)-1 {
		t.Errorf("%q", paths)
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(wrapper, link); err != nil {
		t.Fatal(err)
	}
	if paths := pgDumpPaths(); slices.Index(paths, link) != 0 {
		t.Errorf("%q", paths)
	}
}
