package gateway

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/cluster"
	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/internal/wire"
	"github.com/pghaul/pghaul/planner"
)

// pair is a self-signed certificate in files.
type pair struct{ cert, key string }

func newPair(t testing.TB, host string) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p := pair{filepath.Join(dir, "server.crt"), filepath.Join(dir, "server.key")}
	for file, block := range map[string]*pem.Block{p.cert: {Type: "CERTIFICATE", Bytes: der}, p.key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// sslServer is a server with TLS, where role u logs in by SCRAM and TCP only.
func sslServer(t testing.TB, p pair) (s *cluster.Server, tcp string) {
	t.Helper()
	s = clustertest.Private(t, &cluster.Options{TCP: true})
	uri := s.URI("postgres")
	port := clustertest.Query(t, uri, "SHOW port")
	clustertest.Exec(t, uri, "SET password_encryption = 'scram-sha-256'; CREATE ROLE u LOGIN PASSWORD 'secret'")
	for from, name := range map[string]string{p.cert: "server.crt", p.key: "server.key"} {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(s.Dir(), name)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		own(t, s, file)
	}
	hba := filepath.Join(s.Dir(), "pg_hba.conf")
	text, err := os.ReadFile(hba)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hba, append([]byte("host all u 127.0.0.1/32 scram-sha-256\nlocal all u scram-sha-256\n"), text...), 0o600); err != nil {
		t.Fatal(err)
	}
	clustertest.Exec(t, uri, "ALTER SYSTEM SET ssl = on", "SELECT pg_reload_conf()")
	eventually(t, "TLS", func() bool { return clustertest.Query(t, uri, "SHOW ssl") == "on" })
	return s, "127.0.0.1:" + port
}

// own gives a file to the user that runs the server.
func own(t testing.TB, s *cluster.Server, file string) {
	t.Helper()
	out, err := exec.Command("chown", "--reference", s.Dir(), file).CombinedOutput()
	if err != nil {
		t.Fatalf("chown: %v: %s", err, out)
	}
}

// psql logs in as u by libpq and returns what it says.
func psql(t testing.TB, g *Gateway, words ...string) (string, error) {
	t.Helper()
	a, err := parseAddress(addressOf(g))
	if err != nil {
		t.Fatal(err)
	}
	conninfo := fmt.Sprintf("host=%s port=%s user=u password=secret dbname=postgres %s", a.host, a.port, strings.Join(words, " "))
	cmd := exec.Command("psql", "-XAtc", "SELECT count(*) FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl", conninfo)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// TestChannelBindingMatrix is the table of what can log in by SCRAM, with libpq.
func TestChannelBindingMatrix(t *testing.T) {
	servers, other := newPair(t, "127.0.0.1"), newPair(t, "127.0.0.1")
	s, tcp := sslServer(t, servers)
	const fails = "fails"
	tests := []struct {
		name     string
		config   Config
		clients  string // sslmode
		outcomes [3]string
	}{
		// What psql prints is whether the server's own connection has TLS. Outcomes: default, disable, require.
		{"TLS with another certificate, TLS", Config{TLSCert: other.cert, TLSKey: other.key, Upstream: tcp, UpstreamSSLMode: "require",
			ChannelBinding: "disable"}, "require", [3]string{fails, "1", fails}},
		{"plain, TLS", Config{Upstream: tcp, UpstreamSSLMode: "require"}, "disable", [3]string{"1", "1", fails}},
		{"plain, TLS by default", Config{Upstream: tcp}, "prefer", [3]string{"1", "1", fails}},
		{"TLS, plain", Config{TLSCert: other.cert, TLSKey: other.key, Upstream: tcp, UpstreamSSLMode: "disable"}, "require",
			[3]string{"0", "0", fails}},
		{"TLS, Unix socket", Config{TLSCert: other.cert, TLSKey: other.key, Upstream: socketOf(t, s), UpstreamSSLMode: "require"}, "require",
			[3]string{"0", "0", fails}},
		{"TLS with the server's certificate, TLS", Config{TLSCert: servers.cert, TLSKey: servers.key, Upstream: tcp,
			UpstreamSSLMode: "verify-full", UpstreamRootCert: servers.cert}, "require", [3]string{"1", "1", "1"}},
		{"plain, plain", Config{Upstream: tcp, UpstreamSSLMode: "allow"}, "prefer", [3]string{"0", "0", fails}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := start(t, &tt.config)
			for i, binding := range []string{"prefer", "disable", "require"} {
				said, err := psql(t, g, "sslmode="+tt.clients, "channel_binding="+binding)
				if want := tt.outcomes[i]; (want == fails) != (err != nil) || err == nil && said != want {
					t.Errorf("channel_binding=%s: got %q, %v, want %s", binding, said, err, want)
				}
			}
		})
	}
}

func TestWhatCannotLogInIsRefusedAtStart(t *testing.T) {
	servers, other := newPair(t, "127.0.0.1"), newPair(t, "127.0.0.1")
	_, tcp := sslServer(t, servers)
	for _, mode := range []string{"require", "prefer"} {
		g, err := New(&Config{Listen: []string{"127.0.0.1:0"}, TLSCert: other.cert, TLSKey: other.key, Upstream: tcp, UpstreamSSLMode: mode, Logger: silent})
		if err != nil {
			t.Fatal(err)
		}
		err = g.Run(t.Context())
		var refused *planner.Error
		if !errors.As(err, &refused) || refused.Kind != planner.Refused || refused.Hint == "" {
			t.Errorf("%s: got %v", mode, err)
		}
	}
}

func TestUpstreamIsVerified(t *testing.T) {
	servers, other := newPair(t, "127.0.0.1"), newPair(t, "127.0.0.1")
	misnamed := newPair(t, "elsewhere.example")
	_, tcp := sslServer(t, servers)
	_, wrongName := sslServer(t, misnamed)
	tests := []struct {
		name, upstream, mode, roots string
		ok                          bool
	}{
		{"verify-full", tcp, "verify-full", servers.cert, true},
		{"verify-full, other root", tcp, "verify-full", other.cert, false},
		{"verify-full, other name", wrongName, "verify-full", misnamed.cert, false},
		{"verify-ca, other name", wrongName, "verify-ca", misnamed.cert, true},
		{"verify-ca, other root", wrongName, "verify-ca", other.cert, false},
		{"require with a root", wrongName, "require", misnamed.cert, true},
		{"require with another root", wrongName, "require", other.cert, false},
		{"require", tcp, "require", "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := start(t, &Config{Upstream: tt.upstream, UpstreamSSLMode: tt.mode, UpstreamRootCert: tt.roots})
			if said, err := psql(t, g, "sslmode=disable"); (err == nil) != tt.ok || tt.ok && said != "1" {
				t.Errorf("got %q, %v", said, err)
			}
		})
	}
}

// overTLS connects a raw client to a gateway, by SSLRequest unless direct.
func overTLS(t testing.TB, g *Gateway, direct bool, protocols ...string) (*end, error) {
	t.Helper()
	c := client(t, g)
	if !direct {
		c.send(sslRequest)
		c.expect([]byte{'S'})
	}
	secured := tls.Client(c.Conn, &tls.Config{InsecureSkipVerify: true, NextProtos: protocols})
	if err := secured.Handshake(); err != nil {
		return nil, err
	}
	return &end{Conn: secured, t: t}, nil
}

func TestTLSOfClients(t *testing.T) {
	p := newPair(t, "127.0.0.1")
	g := start(t, &Config{Upstream: echoing(t), UpstreamSSLMode: "disable", TLSCert: p.cert, TLSKey: p.key})
	plain := opening(version30, "user", "u")
	tests := []struct {
		name      string
		direct    bool
		protocols []string
		ok        bool
	}{
		{"SSLRequest", false, nil, true},
		{"SSLRequest with ALPN", false, []string{"postgresql"}, true},
		{"direct", true, []string{"h2", "postgresql"}, true},
		{"direct without ALPN", true, nil, false},
		{"direct with another protocol", true, []string{"http/1.1"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := overTLS(t, g, tt.direct, tt.protocols...)
			if err == nil {
				_, err = c.Write(plain)
			}
			if !tt.ok {
				if err == nil {
					_, err = io.ReadFull(c, make([]byte, 1))
				}
				if err == nil {
					t.Error("went through")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			c.echoed(plain)
		})
	}
	t.Run("GSS, then TLS, then neither again", func(t *testing.T) {
		c := client(t, g)
		c.send(gssRequest)
		c.expect([]byte{'N'})
		c.send(sslRequest)
		c.expect([]byte{'S'})
		secured := &end{Conn: tls.Client(c.Conn, &tls.Config{InsecureSkipVerify: true}), t: t}
		secured.send(gssRequest)
		secured.expect(fatalError(featureNotSupported, "unsupported frontend protocol 1234.5680"))
	})
	t.Run("plain text behind SSLRequest is never taken for the session's", func(t *testing.T) {
		c := client(t, g)
		c.send(sslRequest, plain)
		c.expect([]byte{'S'})
		if b, _ := io.ReadAll(c); bytes.Contains(b, []byte("user")) {
			t.Errorf("the packet went through: %q", b)
		}
	})
	t.Run("cancel", func(t *testing.T) {
		before := g.Traffic().Cancels
		c, err := overTLS(t, g, false)
		if err != nil {
			t.Fatal(err)
		}
		c.send(asPacket(cancelCode, "\x00\x00\x30\x39abcd"))
		if g.Traffic().Cancels == before {
			_, _ = c.Read(make([]byte, 1))
		}
		if n := g.Traffic().Cancels; n != before+1 {
			t.Errorf("%d cancels, want %d", n, before+1)
		}
	})
}

func TestReloadOfCertificates(t *testing.T) {
	p, next := newPair(t, "127.0.0.1"), newPair(t, "127.0.0.1")
	g := start(t, &Config{Upstream: echoing(t), UpstreamSSLMode: "disable", TLSCert: p.cert, TLSKey: p.key})
	seen := func() string {
		c, err := overTLS(t, g, false)
		if err != nil {
			t.Fatal(err)
		}
		return c.Conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	before := seen()
	replace := func(from pair) {
		for a, b := range map[string]string{from.cert: p.cert, from.key: p.key} {
			text, err := os.ReadFile(a)
			if err == nil {
				err = os.WriteFile(b, text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(p.key, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := g.Reload(); err == nil {
		t.Error("a damaged key was taken")
	}
	if after := seen(); after != before {
		t.Error("a failed reload changed the certificate")
	}
	replace(next)
	if err := g.Reload(); err != nil {
		t.Fatal(err)
	}
	if after := seen(); after == before {
		t.Error("the old certificate is still used")
	}
}

// countedRecords measures the application records that a peer sends.
type countedRecords struct {
	net.Conn
	longest int
	head    []byte
	left    int
}

func (r *countedRecords) Read(b []byte) (int, error) {
	n, err := r.Conn.Read(b)
	for _, c := range b[:n] {
		if r.left > 0 {
			r.left--
			continue
		}
		if r.head = append(r.head, c); len(r.head) == 5 {
			r.left = int(r.head[3])<<8 | int(r.head[4])
			r.longest = max(r.longest, r.left)
			r.head = r.head[:0]
		}
	}
	return n, err
}

func TestLargeRowsOverTLS(t *testing.T) {
	// Echoed, so that both directions carry it.
	blob := message(wire.TypeCopyData, strings.Repeat("0123456789abcdef", 4<<20/16*4))
	upstream := scripted(t, func(e *end) {
		e.packet()
		e.send(loggedIn)
		echo(e)
	})
	p := newPair(t, "127.0.0.1")
	g := start(t, &Config{Upstream: upstream, UpstreamSSLMode: "disable", TLSCert: p.cert, TLSKey: p.key})
	raw := client(t, g)
	raw.send(sslRequest)
	raw.expect([]byte{'S'})
	counted := &countedRecords{Conn: raw.Conn}
	c := &end{Conn: tls.Client(counted, &tls.Config{InsecureSkipVerify: true}), t: t}
	c.send(opening(version30, "user", "u"))
	c.expect(loggedIn)
	go func() { _, _ = c.Write(blob) }()
	c.expect(blob)
	// A record's overhead is at most 22 bytes in TLS 1.3.
	if counted.longest > recordSize+256 {
		t.Errorf("a record of %d bytes, above libpq's buffer of %d", counted.longest, recordSize)
	}
}

func TestAlertWithoutCloseEndsTheSession(t *testing.T) {
	gone := make(chan struct{})
	upstream := scripted(t, func(e *end) {
		e.packet()
		e.send(loggedIn)
		_, _ = io.Copy(io.Discard, e)
		close(gone)
	})
	p := newPair(t, "127.0.0.1")
	g := start(t, &Config{Upstream: upstream, UpstreamSSLMode: "disable", TLSCert: p.cert, TLSKey: p.key})
	raw := client(t, g)
	raw.send(sslRequest)
	raw.expect([]byte{'S'})
	secured := tls.Client(raw.Conn, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12})
	c := &end{Conn: secured, t: t}
	c.send(opening(version30, "user", "u"))
	c.expect(loggedIn)
	// An alert in the clear is as good as any that the gateway cannot decipher.
	raw.send([]byte{21, 3, 3, 0, 2, 2, 80})
	<-gone
}
