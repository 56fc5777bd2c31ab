package gateway

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestConfigIsValidatedAsAWhole(t *testing.T) {
	ok := Config{Listen: []string{":6432"}, Upstream: "db:5432"}
	tests := []struct {
		name   string
		change func(*Config)
		want   []string // parts of the error's text; none: valid
	}{
		{"smallest", func(*Config) {}, nil},
		{"no listener", func(c *Config) { c.Listen = nil }, []string{"no address to listen on"}},
		{"no upstream", func(c *Config) { c.Upstream = "" }, []string{"no usable upstream server"}},
		{"itself", func(c *Config) { c.Upstream = ":6432" }, []string{"the gateway itself"}},
		{"many at once", func(c *Config) {
			*c = Config{ReceiveBuffer: 1, SendBuffer: 1 << 30, TLSCert: "x", UpstreamSSLMode: "no"}
		},
			[]string{"no address", "no usable upstream", "receive buffer has 1 bytes", "send buffer has 1073741824 bytes", "go together", `sslmode for the upstream server: "no"`}},
		{"bad addresses", func(c *Config) { c.Listen = []string{"a:b:c", "host:99999", "/" + strings.Repeat("x", 200)} },
			[]string{`"a:b:c"`, `"host:99999"`, "cannot listen on \"/xxx"}},
		{"verify without a root", func(c *Config) { c.UpstreamSSLMode = "verify-full" }, []string{"needs a root certificate"}},
		{"system roots for any name", func(c *Config) { c.UpstreamSSLMode, c.UpstreamRootCert = "verify-ca", "system" }, []string{"need sslmode verify-full"}},
		{"unknown mode", func(c *Config) { c.Mode = 7 }, []string{"no such gateway mode"}},
		{"unknown binding", func(c *Config) { c.ChannelBinding = "x" }, []string{"no such channel binding"}},
		{"negative idle time", func(c *Config) { c.StreamIdle = -time.Second }, []string{"negative"}},
		{"no such certificate", func(c *Config) { c.TLSCert, c.TLSKey = "/none.crt", "/none.key" }, []string{"/none.crt"}},
		{"no such root", func(c *Config) { c.UpstreamSSLMode, c.UpstreamRootCert = "verify-ca", "/none" }, []string{"root certificate"}},
	}
	for _, tt := range tests {
		c := ok
		tt.change(&c)
		_, err := New(&c)
		if len(tt.want) == 0 && err != nil || len(tt.want) > 0 && err == nil {
			t.Errorf("%s: got %v", tt.name, err)
			continue
		}
		for _, part := range tt.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q is not in: %v", tt.name, part, err)
			}
		}
	}
}

func TestParseAddress(t *testing.T) {
	tests := []struct{ in, network, address string }{
		{"db:5433", "tcp", "db:5433"},
		{"db", "tcp", "db:5432"},
		{":1", "tcp", ":1"},
		{"::1", "tcp", "[::1]:5432"},
		{"[::1]:7", "tcp", "[::1]:7"},
		{"10.0.0.1", "tcp", "10.0.0.1:5432"},
		{"/run/pg", "unix", "/run/pg/.s.PGSQL.5432"},
		{"/run/pg:5433", "unix", "/run/pg/.s.PGSQL.5433"},
		{"/run/pg/.s.PGSQL.1", "unix", "/run/pg/.s.PGSQL.1"},
		{"", "", ""}, {"a:b", "", ""}, {"a:70000", "", ""}, {"a:007", "", ""}, {"[::1", "", ""}, {"a:b:1", "", ""}, {"/x:y", "", ""},
	}
	for _, tt := range tests {
		a, err := parseAddress(tt.in)
		if (err != nil) != (tt.network == "") || err == nil && (a.network != tt.network || a.String() != tt.address) {
			t.Errorf("%q: got %s %s, %v", tt.in, a.network, a, err)
		}
	}
}

func TestParseMode(t *testing.T) {
	for _, m := range []Mode{Strict, Off, Stream} {
		if got, err := ParseMode(strings.ToUpper(m.String())); got != m || err != nil {
			t.Errorf("%v: got %v, %v", m, got, err)
		}
	}
	if _, err := ParseMode("fast"); err == nil {
		t.Error("took a mode that does not exist")
	}
}

func TestListensOnUnixSocketsAndGivenListeners(t *testing.T) {
	dir := t.TempDir()
	// What a killed process leaves behind.
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, ".s.PGSQL.5432")})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	stale.Close()
	given, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	upstream := echoing(t)
	g := start(t, &Config{Listen: []string{dir}, Listeners: []net.Listener{given}, Upstream: upstream, UpstreamSSLMode: "disable"})
	if len(g.addresses) != 2 {
		t.Fatalf("listens on %v", g.addresses)
	}
	for _, a := range g.addresses {
		c := dialled(t, a.Network(), a.String())
		p := opening(version30, "user", "u")
		c.send(p)
		c.echoed(p)
	}
	second, err := New(&Config{Listen: []string{dir}, Upstream: upstream, Logger: silent})
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second gateway on the same socket: %v", err)
	}
	file := filepath.Join(dir, "sub", ".s.PGSQL.1")
	if err := os.MkdirAll(file, 0o700); err != nil {
		t.Fatal(err)
	}
	third, err := New(&Config{Listen: []string{file}, Upstream: upstream, Logger: silent})
	if err != nil {
		t.Fatal(err)
	}
	if err := third.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "no socket") {
		t.Errorf("a directory in the socket's place: %v", err)
	}
}
