//go:build linux

package move

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

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
		peak, err := peakMemory(cmd)
		if err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		t.Logf("%s: %d kB", method, peak)
		if peak > memoryLimit || peak == 0 {
			t.Errorf("%s: %d kB resident, more than %d", method, peak, memoryLimit)
		}
		const digest = "SELECT id, md5(t), md5(b) FROM large ORDER BY id"
		if a, b := clustertest.Query(t, source, digest), clustertest.Query(t, target, digest); a != b {
			t.Errorf("%s: the source has\n%s\nthe target\n%s", method, a, b)
		}
	}
}

// peakMemory runs a program and returns the largest resident size that was seen, in kilobytes. The kernel's own figure at a program's end
// cannot be used: it counts what the parent had at the fork.
func peakMemory(cmd *exec.Cmd) (int, error) {
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	peak := 0
	for {
		select {
		case err := <-ended:
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out.String())
			}
			return peak, err
		case <-look.C:
			peak = max(peak, residentPeak(cmd.Process.Pid))
		}
	}
}

// residentPeak is VmHWM of a process (manual page proc(5)), 0 when it is not there any more.
func residentPeak(pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kilobytes, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	n, _ := strconv.Atoi(kilobytes)
	return n
}
