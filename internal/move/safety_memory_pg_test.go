//go:build linux

package move

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
)

// memoryLimit is the promised one, in kilobytes as the kernel counts the largest resident size.
const memoryLimit = 64 << 10

// TestMemoryOfLargeRows copies rows of 200 MB, or of 1 GB when PGHAUL_TEST_HUGE=1, in a process of its own. It is the real program: this one
// may run under the race detector, which takes several times the memory.
func TestMemoryOfLargeRows(t *testing.T) {
	t.Parallel()
	size := 200_000_000
	if os.Getenv("PGHAUL_TEST_HUGE") == "1" {
		size = 1_000_000_000
	}
	program := filepath.Join(t.TempDir(), "pghaul")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/pghaul").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	n := strconv.Itoa(size / 10)
	source, target := clustertest.Database(t), clustertest.DatabaseOn(t, clustertest.Second(t))
	const table = "CREATE TABLE large (id int PRIMARY KEY, t text, b bytea)"
	clustertest.Exec(t, source, table, "INSERT INTO large SELECT 1, repeat('0123456789', "+n+"), NULL",
		"INSERT INTO large SELECT 2, NULL, convert_to(repeat('9876543210', "+n+"), 'UTF8')", "INSERT INTO large SELECT 3, repeat('abcdefghij', "+n+"), NULL")
	clustertest.Exec(t, target, table)
	for _, method := range []string{"relay", "insert"} {
		clustertest.Exec(t, target, "TRUNCATE large")
		cmd := exec.Command(program, "copy", "--source", source, "--target", target, "--method", method, "large")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", method, err, out)
		}
		usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		if !ok {
			t.Fatal("the system does not count memory")
		}
		t.Logf("%s: %d kB", method, usage.Maxrss)
		if usage.Maxrss > memoryLimit {
			t.Errorf("%s: %d kB resident, more than %d", method, usage.Maxrss, memoryLimit)
		}
		const digest = "SELECT id, md5(t), md5(b) FROM large ORDER BY id"
		if a, b := clustertest.Query(t, source, digest), clustertest.Query(t, target, digest); a != b {
			t.Errorf("%s: the source has\n%s\nthe target\n%s", method, a, b)
		}
	}
}
