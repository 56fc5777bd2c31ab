package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pghaul/pghaul"
	"github.com/pghaul/pghaul/planner"
)

func TestJoinOptional(t *testing.T) {
	tests := []struct{ in, want string }{
		{"copy --verify t", "copy --verify=hash t"},
		{"copy --verify count t", "copy --verify=count t"},
		{"copy --verify=count t", "copy --verify=count t"},
		{"copy t --verify", "copy t --verify=hash"},
		{"copy --freeze no t", "copy --freeze=no t"},
		{"copy --freeze -- --verify", "copy --freeze=yes -- --verify"},
		{"copy --where --verify", "copy --where --verify=hash"},
	}
	for _, tt := range tests {
		got := strings.Join(joinOptional(strings.Fields(tt.in)), " ")
		if got != tt.want {
			t.Errorf("joinOptional(%s) = %s, want %s", tt.in, got, tt.want)
		}
	}
}

// parseCopy parses a command line of copy without running it.
func parseCopy(t *testing.T, args ...string) (*copyFlags, error) {
	t.Helper()
	f := &copyFlags{}
	cmd := newCopy()
	cmd.ResetFlags()
	addGroups(cmd, f.whatGroup(), f.targetGroup(), f.howGroup(), f.careGroup(), f.group("copy"))
	if err := cmd.ParseFlags(joinOptional(args)); err != nil {
		return nil, err
	}
	err := f.settle(cmd, cmd.Flags().Args())
	return f, err
}

func TestCopyFlags(t *testing.T) {
	tests := []struct {
		args string
		want pghaul.CopyOptions
	}{
		{"t", pghaul.CopyOptions{}},
		{"-t s.* -t u? --jobs 3 --append t", pghaul.CopyOptions{Patterns: []string{"s.*", "u?"}, Connections: 3, Fill: planner.Append}},
		{"--method insert --batch-size 50 --copy-threshold off --returning id,x t",
			pghaul.CopyOptions{Method: planner.Insert, BatchSize: 50, CopyThreshold: planner.CopyNever, Returning: "id,x"}},
		{"--copy-threshold 500 t", pghaul.CopyOptions{CopyThreshold: 500}},
		{"--columns a,B,\"C,d\" --conflict-columns \"X\"\"y\" --on-conflict update t",
			pghaul.CopyOptions{Columns: []string{"a", "b", "C,d"}, ConflictColumns: []string{`X"y`}, OnConflict: planner.DoUpdate}},
		{"--replace --create --freeze --verify t", pghaul.CopyOptions{Fill: planner.Replace, Create: true, Freeze: planner.Yes, Verify: pghaul.VerifyHash}},
		{"--truncate --freeze=no --verify count --commit range t",
			pghaul.CopyOptions{Fill: planner.Truncate, Freeze: planner.No, Verify: pghaul.VerifyCount, Commit: planner.CommitRange}},
		{"--range-size 64MB --max-rate 100MB/s --stall-timeout 90s --pg-dump /x/pg_dump t",
			pghaul.CopyOptions{RangeBytes: 64 << 20, MaxRate: 100 << 20, StallTimeout: 90 * time.Second, PgDump: "/x/pg_dump"}},
		{"--query TABLE/**/x --into y --format text", pghaul.CopyOptions{Query: "TABLE/**/x", Into: "y", Format: planner.Text}},
	}
	for _, tt := range tests {
		f, err := parseCopy(t, strings.Fields(tt.args)...)
		if err != nil {
			t.Errorf("%s: %v", tt.args, err)
			continue
		}
		if diff := cmp.Diff(tt.want, f.options); diff != "" {
			t.Errorf("%s: %s", tt.args, diff)
		}
	}
}

func TestCopyUsageErrors(t *testing.T) {
	tests := []struct {
		args  string
		wants []string
	}{
		{"", []string{"name the tables"}},
		{"--append --replace --query q", []string{"exclude each other", "--query needs --into"}},
		{"--into x t", []string{"--into needs --query"}},
		{"--explain --analyze t", []string{"--explain and --analyze"}},
		{"--method teleport t", []string{"choose one of auto, relay"}},
		{"--target= t", []string{"it is empty"}},
		{"--where= t", []string{"it is empty"}},
		{"--jobs x t", []string{"a whole number"}},
		{"-j -1 t", []string{"1 or more"}},
		{"--batch-size 0 t", []string{"1 or more"}},
		{"--range-size 0 t", []string{"a size of 0"}},
		{"--max-rate fast t", []string{"not a size"}},
		{"--stall-timeout 0 t", []string{"a time of 0"}},
		{"--copy-threshold 0 t", []string{"a number of rows, auto or off"}},
		{"--columns a,,b t", []string{"empty"}},
		{"--columns a.b t", []string{"no dot"}},
		{"--unknown t", []string{"unknown flag"}},
	}
	for _, tt := range tests {
		_, err := parseCopy(t, strings.Fields(tt.args)...)
		if err == nil {
			t.Errorf("%s: no error", tt.args)
			continue
		}
		for _, want := range tt.wants {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q in it", tt.args, err, want)
			}
		}
	}
}

// Commands must not keep values between two runs in one process, and the exit code of a wrong command line is 2.
func TestRunUsage(t *testing.T) {
	for _, args := range []string{"copy", "copy --bad", "verify", "verify --level x t", "demo x", "demo --rows 0", "version x", "fly", "--bad", "copy a:b:c"} {
		var out, errs strings.Builder
		if code := run(strings.Fields(args), &out, &errs); code != exitUsage {
			t.Errorf("%s: exit code %d, want 2: %s", args, code, errs.String())
		}
		if !strings.HasPrefix(errs.String(), "ERROR:  ") || out.Len() > 0 {
			t.Errorf("%s: stdout %q, stderr %q", args, out.String(), errs.String())
		}
	}
	for _, args := range []string{"", "help", "copy --help", "help verify", "version", "--version", "-V", "demo -h"} {
		var out, errs strings.Builder
		if code := run(strings.Fields(args), &out, &errs); code != exitDone || out.Len() == 0 || errs.Len() > 0 {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q", args, code, out.String(), errs.String())
		}
	}
}
