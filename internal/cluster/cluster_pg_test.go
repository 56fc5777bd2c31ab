package cluster_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/pghaul/pghaul/internal/cluster"
	"github.com/pghaul/pghaul/internal/clustertest"
)

// roleVariable makes the test binary a parent that starts a server and then waits to be killed, or keeps it and ends.
const roleVariable = "PGHAUL_CLUSTER_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		clustertest.Main(m)
	}
	if err := playParent(role); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func playParent(role string) error {
	parent, err := os.MkdirTemp("/tmp", "pghaul_parent_")
	if err != nil {
		return err
	}
	if err := os.Chmod(parent, 0o755); err != nil {
		return err
	}
	s, err := cluster.Start(context.Background(), &cluster.Options{Parent: parent})
	if err != nil {
		return err
	}
	remove := ""
	if role == "keeps" {
		if remove, err = s.Keep(); err != nil {
			return err
		}
	}
	fmt.Printf("%d\n%s\n%s\n%s\n%s\n", s.PID(), s.Dir(), filepath.Dir(s.SocketDir()), s.URI("postgres"), remove)
	if role == "keeps" {
		return nil
	}
	_, err = os.Stdin.Read(make([]byte, 1))
	return err
}

// child is a parent process started by startParent, and its server.
type child struct {
	cmd                           *exec.Cmd
	postmaster                    int
	data, base, uri, removeByHand string
}

func startParent(t *testing.T, role string) child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for in := bufio.NewScanner(out); len(lines) < 5 && in.Scan(); {
		lines = append(lines, in.Text())
	}
	if len(lines) < 5 {
		t.Fatalf("the parent process ended early: %v", cmd.Wait())
	}
	pid, err := strconv.Atoi(lines[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // ended already, unless the test failed
		_ = cmd.Wait()
		if err := cluster.Reap(); err != nil {
			t.Error(err)
		}
		os.RemoveAll(filepath.Dir(lines[1]))
	})
	return child{cmd: cmd, postmaster: pid, data: lines[1], base: lines[2], uri: lines[3], removeByHand: lines[4]}
}

func start(t *testing.T, o *cluster.Options) *cluster.Server {
	t.Helper()
	return clustertest.Private(t, o)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestKilledParentsServerIsReaped(t *testing.T) {
	c := startParent(t, "waits")
	living := start(t, nil)
	if err := cluster.Reap(); err != nil {
		t.Fatal(err)
	}
	if !cluster.Alive(c.postmaster) || !exists(c.data) {
		t.Fatal("the server was reaped while its parent lives")
	}
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.cmd.Wait() // "signal: killed"
	if !cluster.Alive(c.postmaster) {
		t.Fatal("the server ended with its parent: the test shows nothing")
	}
	if err := cluster.Reap(); err != nil {
		t.Fatal(err)
	}
	if cluster.Alive(c.postmaster) {
		t.Error("the postmaster still runs")
	}
	for _, dir := range []string{c.data, c.base} {
		if exists(dir) {
			t.Errorf("%s is still there", dir)
		}
	}
	if got := clustertest.Query(t, living.URI("postgres"), "SELECT 1"); got != "1" {
		t.Errorf("the living server answered %q", got)
	}
}

func TestKeptServerSurvives(t *testing.T) {
	c := startParent(t, "keeps")
	if err := c.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Reap(); err != nil {
		t.Fatal(err)
	}
	if got := clustertest.Query(t, c.uri, "SELECT 1"); got != "1" {
		t.Errorf("the kept server answered %q", got)
	}
	if out, err := exec.Command("sh", "-c", c.removeByHand).CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", c.removeByHand, err, out)
	}
	if exists(c.base) || exists(c.data) {
		t.Error("the printed command left a directory behind")
	}
}

func TestEachVersionStarts(t *testing.T) {
	found, err := cluster.Find()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range found {
		t.Run(strconv.Itoa(b.Version), func(t *testing.T) {
			t.Parallel() // side by side
			s := start(t, &cluster.Options{Major: b.Version})
			got := clustertest.Query(t, s.URI("postgres"), "SELECT current_setting('server_version_num')::int / 10000")
			if got != strconv.Itoa(b.Version) {
				t.Errorf("version %s", got)
			}
		})
	}
}

func TestKillAndRestart(t *testing.T) {
	s := start(t, nil)
	uri := s.URI("postgres")
	clustertest.Exec(t, uri, "CREATE TABLE t AS SELECT 42 AS a")
	for range 3 {
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
		if s.Running() || s.PID() != 0 {
			t.Error("a killed server calls itself running")
		}
		if err := s.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := clustertest.Query(t, uri, "TABLE t"); got != "42" {
			t.Errorf("after crash recovery: %q", got)
		}
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Kill(); err == nil {
		t.Error("killing a stopped server is no error")
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestRemoveLeavesNothing(t *testing.T) {
	ends := map[string]func(*cluster.Server) error{
		"running": func(*cluster.Server) error { return nil },
		"stopped": func(s *cluster.Server) error { return s.Stop(t.Context()) },
		"killed":  func(s *cluster.Server) error { return s.Kill() },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			s := start(t, nil)
			segment := sharedMemoryID(t, s.Dir())
			if err := end(s); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := s.Remove(); err != nil {
					t.Fatal(err)
				}
			}
			if exists(s.Dir()) || exists(s.SocketDir()) {
				t.Error("directories stay")
			}
			if list, err := os.ReadFile("/proc/sysvipc/shm"); err == nil && strings.Contains(string(list), " "+segment+" ") {
				t.Errorf("shared memory segment %s stays", segment)
			}
		})
	}
}

func sharedMemoryID(t *testing.T, data string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(strings.Split(string(text), "\n")[6])[1]
}

func TestOptions(t *testing.T) {
	s := start(t, &cluster.Options{
		TCP: true, Locale: "C", Encoding: "LATIN1",
		Settings: map[string]string{"fsync": "on", "application_name": `it's \ here`},
	})
	if s.Addr() == "" {
		t.Fatal("no TCP address")
	}
	for name, want := range map[string]string{
		"fsync": "on", "application_name": `it's \ here`, "server_encoding": "LATIN1", "listen_addresses": "127.0.0.1",
	} {
		if got := clustertest.Query(t, s.TCPURI("postgres"), "SHOW "+name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if socketOnly := start(t, nil); socketOnly.Addr() != "" || socketOnly.TCPURI("postgres") != "" {
		t.Error("a server without TCP has a TCP address")
	}
}

func TestFailedStartSaysWhyAndLeavesNothing(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name    string
		ctx     context.Context
		options cluster.Options
		want    string
	}{
		{"bad setting", t.Context(), cluster.Options{Settings: map[string]string{"max_connections": "-1"}},
			`-1 is outside the valid range for parameter "max_connections"`},
		{"bad locale", t.Context(), cluster.Options{Locale: "xx_XX"}, "invalid locale name"},
		{"bad encoding", t.Context(), cluster.Options{Encoding: "KLINGON"}, "KLINGON"},
		{"missing version", t.Context(), cluster.Options{Major: 9}, "no PostgreSQL server programs found for major version 9"},
		{"missing parent", t.Context(), cluster.Options{Parent: "/nonexistent/place"}, "/nonexistent"},
		{"cancelled", cancelled, cluster.Options{}, "context canceled"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := cluster.Start(tt.ctx, &tt.options)
			if err == nil {
				s.Remove()
				t.Fatal("started")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q lacks %q", err, tt.want)
			}
			if bases := ownBases(t); len(bases) > 0 {
				t.Errorf("left behind: %v", bases)
			}
		})
	}
}

// ownBases lists the private directories of this process. The tests that call it share the process with no other server.
func ownBases(t *testing.T) []string {
	t.Helper()
	markers, err := filepath.Glob(filepath.Join(os.TempDir(), "pghaul-*", "owner.json"))
	if err != nil {
		t.Fatal(err)
	}
	var own []string
	for _, m := range markers {
		text, err := os.ReadFile(m)
		if errors.Is(err, os.ErrNotExist) {
			continue // another process has just removed its own
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), fmt.Sprintf(`"pid":%d,`, os.Getpid())) {
			own = append(own, filepath.Dir(m))
		}
	}
	return own
}

func TestParentThatTheServersUserCannotEnter(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "inner")
	if err := os.Mkdir(parent, 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := cluster.Start(t.Context(), &cluster.Options{Parent: parent})
	if err == nil {
		defer s.Remove()
	}
	if syscall.Geteuid() != 0 {
		if err != nil {
			t.Errorf("the user's own directory was refused: %v", err)
		}
		return
	}
	if err == nil || !strings.Contains(err.Error(), "cannot enter directory") {
		t.Errorf("got %v", err)
	}
}

func TestTemporaryDirectoryTooLongForASocket(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 100))
	if err := os.Mkdir(long, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	s := start(t, nil)
	if got := clustertest.Query(t, s.URI("postgres"), "SELECT 1"); got != "1" {
		t.Errorf("got %q", got)
	}
}
