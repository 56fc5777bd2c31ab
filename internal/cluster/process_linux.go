package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// processStat reads the fields of /proc/PID/stat from the state on. The name before it can hold anything, also brackets.
func processStat(pid int) ([]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 {
		return nil, errors.New("short /proc stat line")
	}
	return fields, nil
}

// processStarted is the start time of a process in clock ticks since boot.
func processStarted(pid int) (string, error) {
	fields, err := processStat(pid)
	if err != nil {
		return "", err
	}
	return fields[19], nil
}

// processSpace is what process ids are relative to: the boot and the pid namespace.
func processSpace() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		boot = []byte("unknown")
	}
	// Without permission for the link all processes of this boot count as one space.
	namespace, _ := os.Readlink("/proc/self/ns/pid")
	return strings.TrimSpace(string(boot)) + " " + namespace
}

// alive is false for zombies too: in a container whose first process reaps none they stay for ever.
func alive(pid int) bool {
	fields, err := processStat(pid)
	return err == nil && fields[0] != "Z" && fields[0] != "X"
}

// isPostmasterOf tells whether pid works in the data directory, as each postmaster does.
func isPostmasterOf(pid int, data string) bool {
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil || !alive(pid) {
		return false
	}
	resolved, err := filepath.EvalSymlinks(data)
	return err == nil && cwd == resolved
}

func childrenOf(parent int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var children []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if fields, err := processStat(pid); err == nil && fields[1] == strconv.Itoa(parent) {
			children = append(children, pid)
		}
	}
	return children
}
