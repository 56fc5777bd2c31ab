// Package clustertest gives each test a fresh database on a throwaway PostgreSQL server.
//
// One server serves all tests of a test process; it starts when the first test asks for it. The environment variable
// PGHAUL_TEST_MAJOR picks its major version; unset it is 15, or the newest one found where there is no 15. A missing
// PostgreSQL fails the test. When a test fails, its database stays, and its address is logged; the server ends with the test
// process nevertheless, unless PGHAUL_KEEP=1 is set.
//
// Each package with server tests hands its TestMain to Main.
package clustertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/pghaul/pghaul/internal/cluster"
)

const defaultMajor = 15

// slot holds a server that the tests of this process share.
type slot struct {
	once   sync.Once
	server *cluster.Server
	err    error
}

var (
	mainRuns      atomic.Bool
	first, second slot
)

// Main is the body of TestMain: it runs the tests, removes the shared servers and ends the process. An interrupt removes the
// servers too.
func Main(m *testing.M) {
	mainRuns.Store(true)
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	finished := make(chan int, 1)
	go func() { finished <- m.Run() }()
	code := 130
	select {
	case code = <-finished:
	case <-interrupted:
	}
	if err := errors.Join(first.end(code), second.end(code)); err != nil {
		fmt.Fprintln(os.Stderr, "remove the test servers:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// Server is the server that all tests of this process share, with fsync off, wal_level=logical and
// max_prepared_transactions=64.
func Server(t testing.TB) *cluster.Server {
	t.Helper()
	return first.use(t)
}

// Second is a second shared server, of the same version, that starts when first asked for.
func Second(t testing.TB) *cluster.Server {
	t.Helper()
	return second.use(t)
}

// Private is a server of the test's own, removed at its end unless the test failed and PGHAUL_KEEP=1 is set. Options.Major
// defaults to the version of Server; the settings of Server apply where o has none of that name.
func Private(t testing.TB, o *cluster.Options) *cluster.Server {
	t.Helper()
	s, err := start(o)
	if err != nil {
		t.Fatalf("start a private server: %v", err)
	}
	t.Cleanup(func() {
		if t.Failed() && keeping() {
			remove, err := s.Keep()
			if err != nil {
				t.Errorf("keep a private server: %v", err)
			}
			t.Logf("kept the private server: %s; remove it by: %s", s.URI("postgres"), remove)
			return
		}
		if err := s.Remove(); err != nil {
			t.Errorf("remove a private server: %v", err)
		}
	})
	return s
}

func start(o *cluster.Options) (*cluster.Server, error) {
	var options cluster.Options
	if o != nil {
		options = *o
	}
	if options.Major == 0 {
		major, err := testMajor(os.Getenv("PGHAUL_TEST_MAJOR"))
		if err != nil {
			return nil, err
		}
		options.Major = major
	}
	settings := map[string]string{"wal_level": "logical", "max_prepared_transactions": "64"}
	for name, value := range options.Settings {
		settings[name] = value
	}
	options.Settings = settings
	return cluster.Start(context.Background(), &options)
}

// testMajor turns the variable's value into a major version; 0 is the newest one found.
func testMajor(value string) (int, error) {
	if value == "" {
		if _, err := cluster.FindMajor(defaultMajor); err != nil {
			return 0, nil //nolint:nilerr // any supported version serves a contributor who did not ask for one
		}
		return defaultMajor, nil
	}
	major, err := strconv.Atoi(value)
	if err != nil {
		return 0, fmt.Errorf("read PGHAUL_TEST_MAJOR: %w", err)
	}
	return major, nil
}

func (s *slot) use(t testing.TB) *cluster.Server {
	t.Helper()
	if !mainRuns.Load() {
		t.Fatal("the package needs: func TestMain(m *testing.M) { clustertest.Main(m) }")
	}
	s.once.Do(func() { s.server, s.err = start(nil) })
	if s.err != nil {
		t.Fatalf("start the test server: %v", s.err)
	}
	return s.server
}

// end removes the server. After failures it is kept when PGHAUL_KEEP=1 asks for that.
func (s *slot) end(code int) error {
	// Once.Do waits for a start in progress, and bars one to come.
	s.once.Do(func() { s.err = errors.New("the test process is ending") })
	if s.server == nil {
		return nil
	}
	if code == 0 || !keeping() {
		return s.server.Remove()
	}
	remove, err := s.server.Keep()
	if err == nil {
		fmt.Fprintf(os.Stderr, "kept the test server: psql '%s'\nremove it by: %s\n", s.server.URI("postgres"), remove)
	}
	return err
}

func keeping() bool { return os.Getenv("PGHAUL_KEEP") == "1" }
