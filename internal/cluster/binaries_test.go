package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestMajorOf(t *testing.T) {
	tests := []struct {
		text  string
		major int
		ok    bool
	}{
		{"postgres (PostgreSQL) 15.20 (Debian 15.20-0+deb12u1)\n", 15, true},
		{"postgres (PostgreSQL) 19devel\n", 19, true},
		{"postgres (PostgreSQL) 18beta2\n", 18, true},
		{"postgres (PostgreSQL) 17", 17, true},
		{"postgres (PostgreSQL) x", 0, false},
		{"postgres (Other) 15.1", 0, false},
		{"", 0, false},
	}
	for _, tt := range tests {
		if major, ok := majorOf([]byte(tt.text)); major != tt.major || ok != tt.ok {
			t.Errorf("%q: got %d %v", tt.text, major, ok)
		}
	}
}

func TestSearched(t *testing.T) {
	cache := t.TempDir()
	cached := filepath.Join(cache, "pghaul", "postgres", "16", "bin")
	if err := os.MkdirAll(cached, 0o755); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"PATH": "/a:/b", "XDG_CACHE_HOME": cache}
	dirs := searched(func(name string) string { return env[name] })
	if !slices.Equal(dirs[:2], []string{"/a", "/b"}) || !slices.Contains(dirs, cached) {
		t.Errorf("got %v", dirs)
	}
	env["PGHAUL_PG_BIN"] = "/c:/d"
	if dirs := searched(func(name string) string { return env[name] }); !slices.Equal(dirs, []string{"/c", "/d"}) {
		t.Errorf("with PGHAUL_PG_BIN: got %v", dirs)
	}
}

// program writes a program that answers --version, and initdb beside it.
func program(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"postgres", "initdb"} {
		script := "#!/bin/sh\necho '" + name + " (PostgreSQL) " + version + "'\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFindIn(t *testing.T) {
	new18, old14, other18 := program(t, "18.1"), program(t, "14.3"), program(t, "18.0")
	linked := t.TempDir()
	if err := os.Symlink(filepath.Join(old14, "postgres"), filepath.Join(linked, "postgres")); err != nil {
		t.Fatal(err)
	}
	broken := program(t, "16.1")
	if err := os.Remove(filepath.Join(broken, "initdb")); err != nil {
		t.Fatal(err)
	}
	found, err := findIn([]string{"/nonexistent", broken, new18, linked, other18, old14})
	if err != nil {
		t.Fatal(err)
	}
	if want := []Binaries{{old14, 14}, {new18, 18}}; !slices.Equal(found, want) {
		t.Errorf("got %v, want %v", found, want)
	}
	if _, err := findIn([]string{broken}); !errors.Is(err, ErrNoBinaries) {
		t.Errorf("got %v", err)
	}
}
