//go:build unix

package cluster

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// stopOrphan ends the postmaster of a data directory whose owner is gone.
func stopOrphan(data string) error {
	defer releaseSharedMemory(data)
	lines := pidFileLines(data)
	if len(lines) == 0 {
		return nil
	}
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil || pid <= 1 || !isPostmasterOf(pid, data) {
		return nil // a stale or unfinished file: nothing runs on this directory
	}
	if err := syscall.Kill(pid, syscall.SIGQUIT); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop abandoned server %d: %w", pid, err)
	}
	if !awaitGone(pid, 10*time.Second) {
		killFamily(pid)
	}
	return nil
}

// killFamily ends a process and its children by SIGKILL and waits until they are gone. Children of a killed postmaster would
// end by themselves, but a new one refuses to start while they use the shared memory. The parent is stopped first so that
// it starts no more of them.
func killFamily(pid int) {
	// Signals fail only on processes that have ended.
	_ = syscall.Kill(pid, syscall.SIGSTOP)
	family := append(childrenOf(pid), pid)
	for _, p := range family {
		_ = syscall.Kill(p, syscall.SIGKILL)
	}
	for _, p := range family {
		awaitGone(p, 10*time.Second)
	}
}

// awaitGone waits for the end of a process that need not be a child of this one.
func awaitGone(pid int, limit time.Duration) bool {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for end := time.Now().Add(limit); alive(pid); <-tick.C {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// releaseSharedMemory removes the System V segment that a killed postmaster leaves until the next reboot.
func releaseSharedMemory(data string) {
	lines := pidFileLines(data)
	if len(lines) < 7 {
		return
	}
	fields := strings.Fields(lines[6])
	if len(fields) != 2 {
		return
	}
	id, err := strconv.Atoi(fields[1])
	if err != nil {
		return
	}
	var segment unix.SysvShmDesc
	if _, err := unix.SysvShmCtl(id, unix.IPC_STAT, &segment); err != nil || segment.Nattch > 0 {
		return // gone already, or its number belongs to a living server by now
	}
	// It can fail only when it is gone by now, which is what is wanted.
	_, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
}

// sameBoot compares the first words of two process spaces.
func sameBoot(a, b string) bool {
	a, _, _ = strings.Cut(a, " ")
	b, _, _ = strings.Cut(b, " ")
	return a == b
}
