package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
)

// roleVariable makes the test binary behave as pghaul itself, so that what runs has the race detector too.
const roleVariable = "PGHAUL_TEST_RUN"

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) != "" {
		main()
	}
	clustertest.Main(m)
}

// outcome is what a run of pghaul left.
type outcome struct {
	code        int
	out, errors string
}

// command prepares a run of pghaul with further environment variables.
func command(env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(append(os.Environ(), roleVariable+"=1"), env...)
	return cmd
}

// haul runs pghaul and returns how it ended.
func haul(t *testing.T, args ...string) outcome {
	t.Helper()
	return finish(t, command(nil, args...))
}

func finish(t *testing.T, cmd *exec.Cmd) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// is fails the test when the exit code is another one, or standard error lacks one of the texts.
func (o outcome) is(t *testing.T, code int, wants ...string) {
	t.Helper()
	if o.code != code {
		t.Errorf("exit code %d, want %d; standard error:\n%s", o.code, code, o.errors)
	}
	for _, want := range wants {
		if !strings.Contains(o.errors, want) {
			t.Errorf("%q is missing in standard error:\n%s", want, o.errors)
		}
	}
}

// pair makes a database on each of two servers.
func pair(t *testing.T) (source, target string) {
	t.Helper()
	return clustertest.Database(t), clustertest.DatabaseOn(t, clustertest.Second(t))
}

// sameRows fails the test when two queries give different rows.
func sameRows(t *testing.T, source, sourceSQL, target, targetSQL string) {
	t.Helper()
	want, got := clustertest.Query(t, source, sourceSQL), clustertest.Query(t, target, targetSQL)
	if want != got {
		t.Errorf("%s gives\n%s\nand %s gives\n%s", sourceSQL, want, targetSQL, got)
	}
}
