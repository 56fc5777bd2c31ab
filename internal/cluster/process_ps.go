//go:build unix && !linux

package cluster

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// ps asks for one property of a process; the empty answer means that it has ended.
func ps(property string, pid int) string {
	out, err := exec.Command("ps", "-o", property+"=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// processStarted is the start time of a process as ps prints it.
func processStarted(pid int) (string, error) {
	if started := ps("lstart", pid); started != "" {
		return started, nil
	}
	return "", fmt.Errorf("no process %d", pid)
}

// processSpace is what process ids are relative to; the start time, a date here, already tells boots apart.
func processSpace() string { return "host" }

func alive(pid int) bool {
	state := ps("state", pid)
	return state != "" && !strings.HasPrefix(state, "Z")
}

// isPostmasterOf tells whether the command line of pid names the data directory, as Start's does.
func isPostmasterOf(pid int, data string) bool {
	return alive(pid) && strings.Contains(ps("command", pid), data)
}

func childrenOf(parent int) []int {
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		return nil
	}
	var children []int
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) != 2 || fields[1] != strconv.Itoa(parent) {
			continue
		}
		if pid, err := strconv.Atoi(fields[0]); err == nil {
			children = append(children, pid)
		}
	}
	return children
}
