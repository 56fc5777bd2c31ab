package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
)

// firstSocket is the descriptor at which handed-over sockets begin (sd_listen_fds(3)).
const firstSocket = 3

// handedOver takes the listening sockets that systemd has opened for this process, and removes the variables that tell of
// them, so that no child takes them for its own.
func handedOver(pid int) ([]net.Listener, error) {
	owner, number := os.Getenv("LISTEN_PID"), os.Getenv("LISTEN_FDS")
	// Those for another process are not touched: this one inherited the variables and not the sockets.
	if number == "" || owner != strconv.Itoa(pid) {
		return nil, nil
	}
	for _, name := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		if err := os.Unsetenv(name); err != nil {
			return nil, err
		}
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n > 1024 {
		return nil, fmt.Errorf("LISTEN_FDS is %q, not a number of sockets", number)
	}
	var listeners []net.Listener
	for fd := firstSocket; fd < firstSocket+n; fd++ {
		l, err := listenerOf(fd)
		if err != nil {
			for _, open := range listeners {
				err = errors.Join(err, open.Close())
			}
			return nil, err
		}
		listeners = append(listeners, l)
	}
	return listeners, nil
}

func listenerOf(fd int) (net.Listener, error) {
	f := os.NewFile(uintptr(fd), "LISTEN_FD_"+strconv.Itoa(fd))
	if f == nil {
		return nil, fmt.Errorf("descriptor %d of LISTEN_FDS is none", fd)
	}
	l, err := net.FileListener(f)
	// The listener has a descriptor of its own.
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, fmt.Errorf("take over descriptor %d as a listening socket: %w", fd, err)
	}
	return l, nil
}
