package main

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

func TestYieldToServersChangesThePolicyAndRestoresIt(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	policy := func() uint32 {
		t.Helper()
		attr, err := unix.SchedGetAttr(unix.Gettid(), 0)
		if err != nil {
			t.Fatal(err)
		}
		return attr.Policy
	}
	before := policy()
	restore := yieldToServers()
	during := policy()
	restore()
	want := before
	if before == unix.SCHED_NORMAL {
		want = unix.SCHED_BATCH
	}
	if during != want || policy() != before {
		t.Errorf("the policy was %d, then %d (want %d), then %d", before, during, want, policy())
	}
}
