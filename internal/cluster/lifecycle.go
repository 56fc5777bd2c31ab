//go:build unix

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// pollInterval is how often files and processes that give no notice are looked at.
const pollInterval = 5 * time.Millisecond

// launch starts the postmaster and waits until it accepts connections.
func (s *Server) launch(ctx context.Context) error {
	log, err := os.OpenFile(s.LogFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the server's log: %w", err)
	}
	defer log.Close()
	listen := ""
	if s.options.TCP {
		listen = "127.0.0.1"
	}
	cmd := exec.Command(filepath.Join(s.binaries.Dir, "postgres"), "-D", s.data,
		"-c", "port="+strconv.Itoa(s.port),
		"-c", "listen_addresses="+listen,
		"-c", "unix_socket_directories="+s.SocketDir(),
		"-c", "logging_collector=off")
	s.account.apply(cmd)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	s.process = cmd
	exited := make(chan struct{})
	s.exited = exited
	go func() {
		// How it ended stands in its log, which the error of a failed start carries.
		_ = cmd.Wait()
		close(exited)
	}()
	if err := s.awaitReady(ctx); err != nil {
		s.killProcess()
		return fmt.Errorf("start PostgreSQL %d: %w\n%s", s.binaries.Version, err, s.logTail())
	}
	return nil
}

// awaitReady waits until the last line of postmaster.pid says so, which is how pg_ctl does it (pg_ctl.c).
func (s *Server) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		if s.readyLine() == "ready" {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.exited:
			return errors.New("the server ended at once")
		case <-tick.C:
		}
	}
}

// readyLine is the status in postmaster.pid when this postmaster wrote it.
func (s *Server) readyLine() string {
	lines := pidFileLines(s.data)
	if len(lines) < 8 || lines[0] != strconv.Itoa(s.process.Process.Pid) {
		return ""
	}
	return strings.TrimSpace(lines[7])
}

// pidFileLines reads postmaster.pid: pid, data directory, start time, port, socket directory, address, shared memory key
// and id, status (miscadmin.h).
func pidFileLines(data string) []string {
	text, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

func (s *Server) logTail() string {
	log, err := os.ReadFile(s.LogFile())
	if err != nil {
		return err.Error()
	}
	return tail(log)
}

// Stop shuts the server down, ending its sessions (pg_ctl's fast mode), and waits for its end. When ctx ends first, or after
// half a minute, it is killed, which is an error. The data directory stays. Stopping a stopped server does nothing.
func (s *Server) Stop(ctx context.Context) error {
	if !s.Running() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	if err := s.process.Process.Signal(syscall.SIGINT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop the server: %w", err)
	}
	select {
	case <-s.exited:
		return nil
	case <-ctx.Done():
		s.killProcess()
		return fmt.Errorf("stop the server: %w\n%s", ctx.Err(), s.logTail())
	}
}

// Kill ends the postmaster and all its processes by SIGKILL, as a crash of the machine would end them, and waits for their
// end. Restart brings the server back by crash recovery.
func (s *Server) Kill() error {
	if !s.Running() {
		return errors.New("kill the server: it is not running")
	}
	s.killProcess()
	return nil
}

func (s *Server) killProcess() {
	killFamily(s.process.Process.Pid)
	<-s.exited
}

// Restart stops the server when it runs and starts it again on the same data directory, socket and port.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.Stop(ctx); err != nil {
		return err
	}
	return s.launch(ctx)
}

// Remove stops the server at once and deletes its directories. Afterwards the Server is of no use. Removing twice is no error.
func (s *Server) Remove() error {
	if s.Running() {
		if err := s.process.Process.Signal(syscall.SIGQUIT); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("stop the server: %w", err)
		}
		timer := time.NewTimer(stopLimit)
		defer timer.Stop()
		select {
		case <-s.exited:
		case <-timer.C:
			s.killProcess()
		}
	}
	releaseSharedMemory(s.data)
	if err := removeTrees(s.base, s.data); err != nil {
		return fmt.Errorf("remove the server's directories: %w", err)
	}
	return nil
}

// Keep makes the server outlive this process and Reap. It returns the shell command that removes it.
func (s *Server) Keep() (string, error) {
	m, err := ownMarker(s.data)
	if err != nil {
		return "", err
	}
	m.Kept = true
	if err := m.write(s.base); err != nil {
		return "", err
	}
	pidFile := "'" + filepath.Join(s.data, "postmaster.pid") + "'"
	remove := "kill -QUIT $(head -1 " + pidFile + ") && while test -e " + pidFile + "; do sleep 1; done; rm -r '" + s.base + "'"
	if filepath.Dir(s.data) != s.base {
		remove += " '" + s.data + "'"
	}
	return remove, nil
}
