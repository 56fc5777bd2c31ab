package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestAbandoned(t *testing.T) {
	self, err := ownMarker("")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		change func(*marker)
		want   bool
	}{
		{"alive", func(*marker) {}, false},
		{"id taken by a later process", func(m *marker) { m.Started += "1" }, true},
		{"no such process", func(m *marker) { m.PID = 1 << 30 }, true},
		{"before the last boot", func(m *marker) { m.Space = "earlier" }, true},
		{"another container", func(m *marker) { m.Space += "x"; m.PID = 1 << 30 }, !strings.Contains(self.Space, " ")},
		{"kept", func(m *marker) { m.Kept = true; m.PID = 1 << 30 }, false},
		{"kept before the last boot", func(m *marker) { m.Kept = true; m.Space = "earlier" }, false},
	}
	for _, tt := range tests {
		m := self
		tt.change(&m)
		if got := m.abandoned(); got != tt.want {
			t.Errorf("%s: got %v", tt.name, got)
		}
	}
}

func TestReapOfUnmarkedDirectories(t *testing.T) {
	fresh, old := filepath.Join(t.TempDir(), "fresh"), filepath.Join(t.TempDir(), "old")
	for _, dir := range []string{fresh, old} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-2 * unmarkedAge)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{fresh, old} {
		if err := reapOne(dir); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Error("a directory that its maker is about to mark was removed")
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("an old directory without marker stays")
	}
}

func TestReapTrustsNoForeignDataDirectory(t *testing.T) {
	base, bystander := t.TempDir(), t.TempDir()
	m := marker{PID: 1 << 30, Space: processSpace(), Data: bystander}
	if err := m.write(base); err != nil {
		t.Fatal(err)
	}
	// The last parts of both paths are "001" and "002": a marker must not name another server's directory.
	if err := reapOne(base); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(bystander); err != nil {
		t.Error("a marker made Reap delete a directory that is not the server's")
	}
	if _, err := os.Stat(base); err == nil {
		t.Error("the private directory stays")
	}
}

func TestQuoteSetting(t *testing.T) {
	for value, want := range map[string]string{"": "''", "a b": "'a b'", `it's`: `'it''s'`, `\n`: `'\\n'`} {
		if got := quoteSetting(value); got != want {
			t.Errorf("%q: got %s", value, got)
		}
	}
}

func TestTail(t *testing.T) {
	lines := strings.Repeat("line\n", 30) + "last\n"
	if got, want := tail([]byte(lines)), strings.Repeat("line\n", 19)+"last"; got != want {
		t.Errorf("got %q", got)
	}
	for _, short := range []string{"", "one", "one\ntwo"} {
		if got := tail([]byte(short + "\n")); got != short {
			t.Errorf("%q: got %q", short, got)
		}
	}
}

func TestMayPassJudgesForAnotherUser(t *testing.T) {
	dir := t.TempDir()
	uid, gid := os.Geteuid(), os.Getegid()
	tests := []struct {
		mode os.FileMode
		who  account
		want bool
	}{
		{0o700, account{uid: uid, gid: gid}, true},
		{0o070, account{uid: uid, gid: gid}, false},
		{0o710, account{uid: uid + 1, gid: gid}, true},
		{0o701, account{uid: uid + 1, gid: gid}, false},
		{0o701, account{uid: uid + 1, gid: gid + 1}, true},
		{0o770, account{uid: uid + 1, gid: gid + 1}, false},
	}
	for _, tt := range tests {
		if err := os.Chmod(dir, tt.mode); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := tt.who.mayPass(info); got != tt.want {
			t.Errorf("mode %v, uid %d, gid %d: got %v", tt.mode, tt.who.uid, tt.who.gid, got)
		}
	}
}
