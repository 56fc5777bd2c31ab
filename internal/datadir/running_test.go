package datadir

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

func TestProcessStat(t *testing.T) {
	const line = "4711 (a (odd) name) S 1 4711 4711 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 1000 200\n"
	program, began, ok := parseProcessStat([]byte(line))
	if program != "a (odd) name" || began != 1234 || !ok {
		t.Errorf("got %q, %d, %t", program, began, ok)
	}
	for _, bad := range []string{"", "4711", "4711 (x) S 1 2", ")("} {
		if _, _, ok := parseProcessStat([]byte(bad)); ok {
			t.Errorf("took %q", bad)
		}
	}
}

func TestLockFiles(t *testing.T) {
	dir := t.TempDir()
	d := &Directory{path: dir}
	own, parent := strconv.Itoa(os.Getpid()), time.Now().Unix()
	tests := []struct {
		name, text string
		want       bool
	}{
		{"a living process of unknown start", own + "\n/data\n", true},
		{"a single-user server", "-" + own + "\n", true},
		{"a living process of that time", own + "\n/data\n" + strconv.FormatInt(parent, 10) + "\n5432\n", true},
		{"garbage", "x\ny\nz\n", false},
		{"nothing", "", false},
		{"no such process", "4194303\n/data\n1\n", false},
	}
	for _, tt := range tests {
		if err := os.WriteFile(filepath.Join(dir, "postmaster.pid"), []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if pid, running := d.Running(); running != tt.want {
			t.Errorf("%s: got %d, %t", tt.name, pid, running)
		}
	}
}
