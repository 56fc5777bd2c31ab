//go:build unix

// Package cluster starts throwaway PostgreSQL servers and removes them again.
//
// A server lives in a private directory made for it: its socket, its log, its data directory and a marker that names the
// process that made it. Several servers, also of several major versions, run side by side. A process that ends in good order
// removes its servers; what a killed one left behind is stopped and removed by the next Start of any process of the same
// user (Reap). PostgreSQL refuses to run as root, so a process of root starts its servers as user postgres, else nobody.
//
// Limits: Unix only. Authentication is "trust" on a socket whose directory other users cannot enter, and, with Options.TCP,
// on 127.0.0.1, where every local user can connect. The settings favour speed over durability: these servers hold nothing
// that must survive a crash of the machine.
package cluster

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

const (
	// Superuser is the role that initdb makes and that URI names.
	Superuser = "postgres"

	// socketPort only names the socket file: each server has a directory of its own, so all can use the same number.
	socketPort = 5432

	// startLimit is far above the 0.2 s of a normal start: a loaded machine with two cores has been seen to need 10 s.
	startLimit = 60 * time.Second
	stopLimit  = 30 * time.Second
)

// Options says what kind of server Start makes. Nil and the zero value both mean all defaults.
type Options struct {
	// Major is the major version, for example 15. Defaults to the newest that Find finds.
	Major int

	// Settings are written into postgresql.conf, as name and value without quotes. They win over those of Start, which are
	// fsync=off, dynamic_shared_memory_type=mmap and lc_messages=C, but not over the addresses, which Start chooses.
	Settings map[string]string

	// Locale is initdb's --locale. Defaults to C.UTF-8, or C where the system lacks it.
	Locale string

	// Encoding is initdb's --encoding. Defaults to UTF8.
	Encoding string

	// TCP makes the server listen on a free port of 127.0.0.1 as well. Defaults to the socket alone.
	TCP bool

	// Parent is the directory in which the data directory is made; the user that runs the server must be able to enter it.
	// Defaults to the system's directory for temporary files.
	Parent string
}

// Server is a PostgreSQL server that Start made. Its methods may be called from one goroutine at a time.
type Server struct {
	binaries Binaries
	options  Options
	account  *account
	base     string // private directory: marker, socket, log
	data     string // data directory, in base unless Options.Parent says otherwise
	port     int

	process *exec.Cmd
	exited  chan struct{} // closed when process has been waited for
}

// Start makes a database cluster with initdb and starts a server on it. The server accepts connections when Start returns.
// It outlives ctx, which bounds only the start. When Start fails nothing is left behind; the error carries the end of what
// initdb or the server logged. Start first removes what killed processes left behind, as Reap does.
func Start(ctx context.Context, o *Options) (*Server, error) {
	if o == nil {
		o = &Options{}
	}
	// What cannot be removed now stays for the next time: it is no reason not to start.
	_ = Reap()
	s, err := prepare(o)
	if err != nil {
		return nil, err
	}
	if err := s.initialize(ctx); err != nil {
		return nil, s.abandon(err)
	}
	if err := s.launchOnFreePort(ctx); err != nil {
		return nil, s.abandon(err)
	}
	return s, nil
}

// prepare finds binaries and makes the directories.
func prepare(o *Options) (*Server, error) {
	binaries, err := chosenBinaries(o.Major)
	if err != nil {
		return nil, err
	}
	who, err := serverAccount()
	if err != nil {
		return nil, err
	}
	if err := who.canEnter(binaries.Dir); err != nil {
		return nil, fmt.Errorf("use the PostgreSQL programs of %s: %w", binaries.Dir, err)
	}
	s := &Server{binaries: binaries, options: *o, account: who, port: socketPort}
	if s.base, s.data, err = makePrivate(who, o.Parent); err != nil {
		return nil, err
	}
	return s, nil
}

func chosenBinaries(major int) (Binaries, error) {
	if major != 0 {
		return FindMajor(major)
	}
	found, err := Find()
	if err != nil {
		return Binaries{}, err
	}
	return found[len(found)-1], nil
}

// abandon removes what a failed Start has made and returns the cause of the failure.
func (s *Server) abandon(cause error) error {
	if err := s.Remove(); err != nil {
		return fmt.Errorf("%w (and its directory stays: %w)", cause, err)
	}
	return cause
}

// launchOnFreePort starts the server, again with another port when something else took the free one in between.
func (s *Server) launchOnFreePort(ctx context.Context) error {
	if !s.options.TCP {
		return s.launch(ctx)
	}
	var err error
	for range 5 {
		if s.port, err = freePort(); err != nil {
			return err
		}
		if err = s.launch(ctx); err == nil || portIsFree(s.port) {
			return err
		}
	}
	return err
}

func freePort() (int, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func portIsFree(port int) bool {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// URI is the address of a database for the superuser, by the socket. It is understood by libpq and by pgx.
func (s *Server) URI(db string) string {
	q := url.Values{"host": {s.SocketDir()}, "port": {strconv.Itoa(s.port)}}
	return "postgres://" + Superuser + "@/" + url.PathEscape(db) + "?" + q.Encode()
}

// Addr is the TCP address as HOST:PORT, empty for a server without Options.TCP.
func (s *Server) Addr() string {
	if !s.options.TCP {
		return ""
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))
}

// TCPURI is the address of a database for the superuser, by TCP; empty for a server without Options.TCP.
func (s *Server) TCPURI(db string) string {
	if !s.options.TCP {
		return ""
	}
	return "postgres://" + Superuser + "@" + s.Addr() + "/" + url.PathEscape(db) + "?sslmode=disable"
}

// Binaries are the programs that the server was started from.
func (s *Server) Binaries() Binaries { return s.binaries }

// Dir is the data directory.
func (s *Server) Dir() string { return s.data }

// SocketDir is the directory of the server's Unix socket, as libpq's host.
func (s *Server) SocketDir() string { return filepath.Join(s.base, "s") }

// Port is the port number, which also names the socket file.
func (s *Server) Port() int { return s.port }

// LogFile is the file that takes everything the server logs.
func (s *Server) LogFile() string { return filepath.Join(s.base, "log") }

// PID is the process id of the postmaster, 0 while the server is stopped.
func (s *Server) PID() int {
	if !s.Running() {
		return 0
	}
	return s.process.Process.Pid
}

// Running tells whether the postmaster is alive.
func (s *Server) Running() bool {
	if s.process == nil {
		return false
	}
	select {
	case <-s.exited:
		return false
	default:
		return true
	}
}
