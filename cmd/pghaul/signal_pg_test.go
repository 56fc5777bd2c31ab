package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/clustertest"
)

const makeNumbers = "CREATE TABLE numbers (i int, t text)"

const fillNumbers = "INSERT INTO numbers SELECT i, md5(i::text) FROM generate_series(1, 200000) AS i"

// started is a pghaul that runs, whose progress is read line by line.
type started struct {
	t       *testing.T
	lines   *bufio.Reader
	signal  func(os.Signal)
	wait    func() int
	printed strings.Builder
}

func start(t *testing.T, args ...string) *started {
	t.Helper()
	cmd := command(nil, args...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &started{t: t, lines: bufio.NewReader(stderr)}
	s.signal = func(sig os.Signal) {
		if err := cmd.Process.Signal(sig); err != nil {
			t.Error(err)
		}
	}
	s.wait = func() int {
		rest, err := io.ReadAll(s.lines)
		if err != nil {
			t.Error(err)
		}
		s.printed.Write(rest)
		// The exit code tells.
		_ = cmd.Wait()
		return cmd.ProcessState.ExitCode()
	}
	return s
}

// until reads progress until it fulfils a condition.
func (s *started) until(fulfilled func(map[string]any) bool) {
	s.t.Helper()
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			s.t.Fatalf("the progress ended: %v: %s", err, s.printed.String())
		}
		s.printed.WriteString(line)
		var progress map[string]any
		if json.Unmarshal([]byte(line), &progress) == nil && fulfilled(progress) {
			return
		}
	}
}

func TestInterrupt(t *testing.T) {
	source, target := pair(t)
	clustertest.Exec(t, source, makeNumbers, fillNumbers)
	clustertest.Exec(t, target, makeNumbers)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		s := start(t, "copy", "--source", source, "--target", target, "numbers", "--max-rate", "300kB", "--progress", "json")
		s.until(func(p map[string]any) bool { return p["bytes"].(float64) > 0 })
		s.signal(sig)
		code := s.wait()
		for _, want := range []string{"NOTICE:  cancelling", "ERROR:  cancelled", "nothing was kept"} {
			if !strings.Contains(s.printed.String(), want) {
				t.Errorf("%q is missing:\n%s", want, s.printed.String())
			}
		}
		if code != 130 {
			t.Errorf("exit code %d", code)
		}
		const busy = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'pghaul%' AND state <> 'idle'"
		sameRows(t, source, "SELECT 0", source, busy)
		sameRows(t, source, "SELECT 0", target, busy)
	}
	sameRows(t, source, "SELECT 0", target, "SELECT count(*) FROM numbers")
}

func TestWaitForALockIsShown(t *testing.T) {
	source, target := pair(t)
	clustertest.Exec(t, source, makeNumbers, "INSERT INTO numbers VALUES (1, 'x')")
	clustertest.Exec(t, target, makeNumbers)
	conn, err := pgx.Connect(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "BEGIN; LOCK TABLE numbers IN SHARE MODE"); err != nil {
		t.Fatal(err)
	}
	s := start(t, "copy", "--source", source, "--target", target, "numbers", "--append", "--progress", "json", "--stall-timeout", "1s")
	s.until(func(p map[string]any) bool {
		waiting, _ := p["waiting"].(string)
		return strings.Contains(waiting, "lock")
	})
	if _, err := conn.Exec(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if code := s.wait(); code != 0 {
		t.Errorf("exit code %d: %s", code, s.printed.String())
	}
	sameRows(t, source, "TABLE numbers", target, "TABLE numbers")
}
