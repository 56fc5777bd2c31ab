//go:build unix

package move

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/cluster"
	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// standby makes a streaming standby of a server and returns the address of a database on it. It ends with the test.
func standby(t *testing.T, primary *cluster.Server, uri string) string {
	t.Helper()
	owner, err := os.Stat(primary.Dir())
	if err != nil {
		t.Fatal(err)
	}
	id, ok := owner.Sys().(*syscall.Stat_t)
	if !ok {
		t.Fatal("the data directory has no owner")
	}
	base, err := os.MkdirTemp("", "standby") //nolint:usetesting // the account of the server must be able to enter it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(base); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chown(base, int(id.Uid), int(id.Gid)); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) {
		cmd := exec.Command(filepath.Join(primary.Binaries().Dir, name), args...)
		cmd.Dir = base
		if os.Getuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id.Uid, Gid: id.Gid}}
		}
		// The standby inherits the output: through a pipe its end would be waited for.
		out, err := os.Create(filepath.Join(base, name+".out"))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Run(); err != nil {
			said, _ := os.ReadFile(out.Name())
			t.Fatalf("%s: %v: %s", name, err, said)
		}
	}
	data := filepath.Join(base, "data")
	port := strconv.Itoa(primary.Port())
	// A copy of the stopped server's files, since not every build of PostgreSQL comes with pg_basebackup.
	if err := primary.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", primary.Dir(), data).CombinedOutput(); err != nil {
		t.Fatalf("copy the data directory: %v: %s", err, out)
	}
	if err := primary.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	settings, err := os.OpenFile(filepath.Join(data, "postgresql.auto.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(settings, "primary_conninfo = 'host=%s port=%s user=%s'\n", primary.SocketDir(), port, cluster.Superuser)
	if err := errors.Join(err, settings.Close(), os.WriteFile(filepath.Join(data, "standby.signal"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop") })
	run("pg_ctl", "-D", data, "-w", "-l", filepath.Join(base, "log"), "-o", fmt.Sprintf("-p %s -k %s -c listen_addresses= -c max_prepared_transactions=64", port, base), "start")
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("host", base)
	u.RawQuery = q.Encode()
	return u.String()
}

func TestStandby(t *testing.T) {
	t.Parallel()
	primary := clustertest.Private(t, nil)
	live := clustertest.DatabaseOn(t, primary)
	clustertest.Exec(t, live, arenaTable, "INSERT INTO t SELECT i, md5(i::text), repeat('w', 50) FROM generate_series(1, 5000) AS i", "ANALYZE t",
		"CREATE UNLOGGED TABLE fleeting (id int)")
	copied := standby(t, primary, live)
	until(t, "the standby has the rows", 30*time.Second, func() bool {
		return clustertest.Query(t, copied, "SELECT (SELECT count(*) FROM pg_class WHERE relname = 'fleeting')") == "1"
	})
	target := clustertest.Database(t)
	for _, w := range []planner.Wish{{Connections: 1}, {Connections: 3, RangeBytes: 16 * oneRange}, {Connections: 3, RangeBytes: 16 * oneRange, Commit: planner.CommitRange}} {
		t.Run(fmt.Sprintf("by %d, %d", w.Connections, w.Commit), func(t *testing.T) {
			clustertest.Exec(t, target, "DROP TABLE IF EXISTS t", arenaTable)
			q := onePair(copied, target, "t", "t", w)
			q.Verify = VerifyHash
			moves(t, q)
			sameContents(t, live, "TABLE t", target, "TABLE t")
		})
	}
	refused(t, onePair(live, copied, "t", "t", planner.Wish{}), "is a standby", "Connect to its primary")
	clustertest.Exec(t, target, "CREATE TABLE fleeting (id int)")
	refused(t, onePair(copied, target, "fleeting", "fleeting", planner.Wish{}), "unlogged")
}
