package gateway

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/wire"
)

// echoing is a server that reports the start-up packet it got, as an ErrorResponse of its own making.
func echoing(t testing.TB) string {
	return scripted(t, func(e *end) {
		p := e.packet()
		e.send(wire.AppendHeader(nil, wire.TypeNotice, len(p)), p)
		e.closed()
	})
}

// echoed expects that the server has got the packet, byte for byte.
func (e *end) echoed(want []byte) {
	e.t.Helper()
	e.expect(append(wire.AppendHeader(nil, wire.TypeNotice, len(want)), want...))
}

func TestStartupPacketArrivesAsItWas(t *testing.T) {
	g := start(t, &Config{Upstream: echoing(t), UpstreamSSLMode: "disable"})
	tests := []struct {
		name   string
		packet []byte
	}{
		{"plain", opening(version30, "user", "u")},
		{"unknown parameters", opening(version30, "user", "u", "extra_float_digits", "3", "ssl_renegotiation_limit", "0", "x", "")},
		{"options", opening(version30, "options", `-c a=b\ c +-c+d=e --x=y --z=`, "user", "u", "options", "")},
		{"duplicates keep their order", opening(version30, "user", "a", "b", "1", "user", "c", "b", "2")},
		{"3.2", opening(version30+2, "user", "u")},
		{"grease", opening(version30+9999, "user", "u", "_pq_.test_protocol_negotiation", "")},
		{"2.0", asPacket(2<<16, strings.Repeat("\x00", 288))},
		{"4.0", opening(4<<16, "user", "u")},
		{"no terminator", asPacket(version30, "user\x00u")},
		{"nothing but a version", asPacket(version30)},
		{"9.9 kB", opening(version30, "user", "u", "options", strings.Repeat("x", 9900-30))},
		{"the largest", opening(version30, "user", strings.Repeat("u", maxStartup-8-len("user")-3))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := client(t, g)
			c.send(tt.packet)
			c.echoed(tt.packet)
			c.Close()
			if len(tt.packet) < 1000 {
				c = client(t, g)
				c.trickle(tt.packet)
				c.echoed(tt.packet)
			}
		})
	}
}

func TestRequestsForEncryption(t *testing.T) {
	g := start(t, &Config{Upstream: echoing(t), UpstreamSSLMode: "disable"})
	plain := opening(version30, "user", "u")
	unsupported := func(minor string) string { return "unsupported frontend protocol 1234." + minor }
	tests := []struct {
		name    string
		packets [][]byte // each but the last is answered by N
		refused string
	}{
		{"SSL, plain", [][]byte{sslRequest, plain}, ""},
		{"GSS, plain", [][]byte{gssRequest, plain}, ""},
		{"GSS, SSL, plain", [][]byte{gssRequest, sslRequest, plain}, ""},
		{"SSL, GSS, plain", [][]byte{sslRequest, gssRequest, plain}, ""},
		{"SSL twice", [][]byte{sslRequest, sslRequest}, unsupported("5679")},
		{"GSS twice", [][]byte{gssRequest, gssRequest}, unsupported("5680")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			last := len(tt.packets) - 1
			check := func(c *end) {
				t.Helper()
				if tt.refused == "" {
					c.echoed(plain)
					return
				}
				c.expect(fatalError(featureNotSupported, tt.refused))
				c.closed()
			}
			c := client(t, g)
			for _, p := range tt.packets[:last] {
				c.trickle(p)
				c.expect([]byte{'N'})
			}
			c.send(tt.packets[last])
			check(c)

			// A client that does not wait for the answers.
			c = client(t, g)
			c.send(tt.packets...)
			c.expect(bytes.Repeat([]byte{'N'}, last))
			check(c)
		})
	}
}

func TestBadStartIsClosedInSilence(t *testing.T) {
	g := start(t, &Config{Upstream: echoing(t), UpstreamSSLMode: "disable"})
	for name, bytes := range map[string][]byte{
		"too long":              {0, 0, 0x27, 0x11, 0, 3, 0, 0},
		"too short":             {0, 0, 0, 7, 0, 3, 0},
		"negative":              {0xff, 0xff, 0xff, 0xff, 0, 3, 0, 0},
		"HTTP":                  []byte("GET / HTTP/1.1\r\n\r\n"),
		"TLS without a gateway": {tlsRecord, 3, 1, 0, 5, 1, 0, 0, 1, 0},
	} {
		c := client(t, g)
		c.send(bytes)
		if got, err := io.ReadAll(c); len(got) > 0 {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	// A client that goes before its packet is complete, and one that says nothing.
	for _, n := range []int{0, 1, 4, 9} {
		c := client(t, g)
		c.send(opening(version30, "user", "u")[:n])
		if err := closeWrite(c.Conn); err != nil {
			t.Fatal(err)
		}
		c.closed()
	}
	eventually(t, "8 refused connections", func() bool { return g.Traffic().Refused == 8 })
}

func TestServerWithoutKeyData(t *testing.T) {
	upstream := scripted(t, func(e *end) {
		e.packet()
		e.send(loggedIn)
		e.expect(wire.AppendTerminate(nil))
		e.closed()
	})
	g := start(t, &Config{Upstream: upstream, UpstreamSSLMode: "disable"})
	c := client(t, g)
	c.send(opening(version30, "user", "u"))
	c.expect(loggedIn)
	c.send(wire.AppendTerminate(nil))
	if err := closeWrite(c.Conn); err != nil {
		t.Fatal(err)
	}
	c.closed()
}

func TestUpstreamIsUnreachable(t *testing.T) {
	l := scripted(t, func(*end) {})
	g := start(t, &Config{Upstream: l, UpstreamSSLMode: "disable"})
	g.upstream.port = "1" // nobody listens on tcpmux
	c := client(t, g)
	c.send(opening(version30, "user", "u"))
	c.expect(fatalError(cannotConnect, "could not connect to the upstream server"))
	c.closed()
	if n := g.Traffic(); n.Sessions != 0 || n.Refused != 1 {
		t.Errorf("counters: %+v", n)
	}
}

func TestFallbacksOfSSLMode(t *testing.T) {
	refusal := fatalError("28000", "no pg_hba.conf entry")
	// A server without TLS that refuses the first plain attempt and takes the second.
	tests := []struct {
		mode  string
		wants []byte
	}{
		{"disable", refusal},
		{"allow", refusal},  // the TLS attempt fails: the refusal is what counts
		{"prefer", refusal}, // no TLS, so the plain attempt is the only one
		{"require", fatalError(cannotConnect, "could not connect to the upstream server")},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			upstream := scripted(t, func(e *end) {
				p := e.packet()
				if p != nil && p.code() == sslCode {
					e.send([]byte{'N'})
					if p, err := readPacket(e, nil); err != nil || p.code() != version30 {
						return
					}
				}
				e.send(refusal)
			})
			g := start(t, &Config{Upstream: upstream, UpstreamSSLMode: tt.mode})
			c := client(t, g)
			c.send(opening(version30, "user", "u"))
			c.expect(tt.wants)
			c.closed()
		})
	}
}

func TestServerErrorToSSLRequestIsNotShown(t *testing.T) {
	upstream := scripted(t, func(e *end) {
		e.packet()
		e.send(fatalError("XX000", "secret or untrue"))
	})
	for _, mode := range []string{"prefer", "require"} {
		g := start(t, &Config{Upstream: upstream, UpstreamSSLMode: mode})
		c := client(t, g)
		c.send(opening(version30, "user", "u"))
		c.expect(fatalError(cannotConnect, "could not connect to the upstream server"))
		c.closed()
	}
}
