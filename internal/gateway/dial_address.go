package gateway

import (
	"fmt"
	"net"
	"path"
	"strconv"
	"strings"
)

const (
	defaultPort  = "5432"
	socketPrefix = ".s.PGSQL."

	// maxSocketPath is what fits into sockaddr_un of Linux with its closing NUL; other systems have 104.
	maxSocketPath = 107
)

// address is where a socket listens.
type address struct {
	network string // "tcp" or "unix"
	host    string // without port; for a Unix socket its file
	port    string
}

// parseAddress reads "host:port", "host", ":port", "[v6]:port", or for a Unix socket its directory, "directory:port" or file.
func parseAddress(s string) (address, error) {
	if strings.HasPrefix(s, "/") {
		return parseSocket(s)
	}
	if s == "" {
		return address{}, fmt.Errorf("it is empty")
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		// A name or an IP address without port.
		if strings.ContainsAny(s, "[]") || strings.Contains(s, ":") && net.ParseIP(s) == nil {
			return address{}, err
		}
		host, port = s, defaultPort
	}
	if !validPort(port) {
		return address{}, fmt.Errorf("port %q is not a number from 0 to 65535", port)
	}
	return address{network: "tcp", host: host, port: port}, nil
}

func parseSocket(s string) (address, error) {
	file := s
	if !strings.HasPrefix(path.Base(s), socketPrefix) {
		dir, port := s, defaultPort
		if i := strings.LastIndexByte(s, ':'); i >= 0 {
			dir, port = s[:i], s[i+1:]
		}
		if !validPort(port) {
			return address{}, fmt.Errorf("port %q is not a number from 0 to 65535", port)
		}
		file = path.Join(dir, socketPrefix+port)
	}
	if len(file) > maxSocketPath {
		return address{}, fmt.Errorf("the socket's path has %d bytes, at most %d are possible", len(file), maxSocketPath)
	}
	return address{network: "unix", host: file}, nil
}

func validPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && strconv.FormatUint(n, 10) == s
}

// String is the form that net.Dial and net.Listen take.
func (a address) String() string {
	if a.network == "unix" {
		return a.host
	}
	return net.JoinHostPort(a.host, a.port)
}

// is tells whether s names the same socket in the same words. Port 0 is another one each time.
func (a address) is(s string) bool {
	b, err := parseAddress(s)
	return err == nil && a == b && a.port != "0"
}
