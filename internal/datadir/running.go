package datadir

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// startSlack is how many seconds a postmaster's process may seem younger than its lock file, before the process must be another one
// that got the same number. The clock of the start is counted from the boot time, which moves when the system's clock is set.
const startSlack = 60

// Running tells whether a server uses the directory: whether the process that postmaster.pid names is alive. A process that may
// not be signalled counts as alive. Where the system tells (Linux), a process that was started after the file was written, and whose
// program is not postgres, has merely got the number of a dead server.
func (d *Directory) Running() (pid int, running bool) {
	text, err := os.ReadFile(filepath.Join(d.path, "postmaster.pid"))
	if err != nil {
		return 0, false
	}
	pid, started := parsePIDFile(text)
	if pid == 0 || !alive(pid) {
		return pid, false
	}
	return pid, !reused(pid, started)
}

// parsePIDFile returns the first and third line: process number and start time in seconds since 1970, 0 where unknown. A
// single-user server writes its number with a minus sign (CreateLockFile of miscinit.c).
func parsePIDFile(text []byte) (pid int, started int64) {
	lines := strings.Split(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil {
		return 0, 0
	}
	if len(lines) > 2 {
		if n, err := strconv.ParseInt(strings.TrimSpace(lines[2]), 10, 64); err == nil {
			started = n
		}
	}
	return max(pid, -pid), started
}

func alive(pid int) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	err = process.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, syscall.EPERM)
}

// reused reports whether a living process is certainly not the server that wrote the lock file.
func reused(pid int, started int64) bool {
	if started == 0 {
		return false
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return false
	}
	program, began, ok := parseProcessStat(stat)
	boot, bootKnown := bootTime()
	if !ok || !bootKnown || strings.HasPrefix(program, "postgres") || strings.HasPrefix(program, "postmaster") {
		return false
	}
	return boot+began > started+startSlack
}

// parseProcessStat takes the program's name and the start in seconds after the boot from /proc/PID/stat (proc(5)). The name is in
// parentheses and may hold any byte. Its clock ticks 100 times a second on every architecture of Linux that PostgreSQL supports.
func parseProcessStat(stat []byte) (program string, began int64, ok bool) {
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return "", 0, false
	}
	const startField, firstField, ticks = 22, 3, 100
	fields := bytes.Fields(stat[end+1:])
	if len(fields) <= startField-firstField {
		return "", 0, false
	}
	n, err := strconv.ParseInt(string(fields[startField-firstField]), 10, 64)
	return string(stat[open+1 : end]), n / ticks, err == nil
}

func bootTime() (seconds int64, ok bool) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(text) {
		if value, found := bytes.CutPrefix(line, []byte("btime ")); found {
			n, err := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
