package gateway

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/wire"
)

// startupPacket makes a packet of a version with names and values.
func startupPacket(version uint32, params ...string) []byte {
	body := binary.BigEndian.AppendUint32(nil, version)
	for _, p := range params {
		body = append(append(body, p...), 0)
	}
	body = append(body, 0)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+4)), body...)
}

// consoleGateway has a console for the role admin, and no server behind it.
func consoleGateway(t *testing.T) *Gateway {
	t.Helper()
	return start(t, &Config{Upstream: "127.0.0.1:1", AdminUsers: []string{"admin"}, Version: "1.2"})
}

// script sends bytes, and returns what came up to the close by the gateway, or up to the end of the script's own.
func script(t *testing.T, g *Gateway, messages ...[]byte) string {
	t.Helper()
	conn, err := net.Dial("tcp", addressOf(g))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := conn.Write(bytes.Join(messages, nil)); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	return replies(t, conn)
}

// replies tells messages in short: the type, of an error severity, SQLSTATE and message, of a tag the tag.
func replies(t *testing.T, r io.Reader) string {
	t.Helper()
	in := bufio.NewReader(r)
	var all []string
	for {
		var header [wire.HeaderSize]byte
		if _, err := io.ReadFull(in, header[:]); err == io.EOF {
			return strings.Join(all, " ")
		} else if err != nil {
			t.Fatalf("after %v: %v", all, err)
		}
		body := make([]byte, binary.BigEndian.Uint32(header[1:])-4)
		if _, err := io.ReadFull(in, body); err != nil {
			t.Fatal(err)
		}
		all = append(all, told(t, header[0], body))
	}
}

func told(t *testing.T, kind byte, body []byte) string {
	t.Helper()
	switch kind {
	case wire.TypeError:
		r, err := wire.ParseReport(body)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("E(%s %s)", r.SeverityPlain, r.Code)
	case wire.TypeCommandComplete:
		return fmt.Sprintf("C(%s)", body[:len(body)-1])
	case wire.TypeReadyForQuery:
		return "Z" + string(body)
	case typeNegotiation:
		return fmt.Sprintf("v(%d.%d %q)", body[1], body[3], body[8:])
	}
	return string(kind)
}

const greeted = "R S S S S S S S S S ZI"

func TestConsoleScripts(t *testing.T) {
	g := consoleGateway(t)
	admin := startupPacket(protocol30, "user", "admin", "database", "pghaul")
	query := func(sql string) []byte { return wire.AppendQuery(nil, sql) }
	frame := func(kind byte, body string) []byte {
		return append(wire.AppendHeader(nil, kind, len(body)), body...)
	}
	extended := slices.Concat(wire.AppendParse(nil, "", "SHOW STATS", nil), wire.AppendBind(nil, &wire.Bind{}),
		wire.AppendDescribe(nil, wire.Portal, ""), wire.AppendExecute(nil, "", 0))
	tests := []struct {
		name     string
		startup  []byte
		messages [][]byte
		want     string
	}{
		{"one command", admin, [][]byte{query("SHOW VERSION")}, greeted + " T D C(SHOW) ZI"},
		{"any case, comments, semicolons", admin, [][]byte{query("-- x;\n show/* ; */version ;; ")}, greeted + " T D C(SHOW) ZI"},
		{"several commands", admin, [][]byte{query("show version; show version")}, greeted + " T D C(SHOW) T D C(SHOW) ZI"},
		{"an error ends the query", admin, [][]byte{query("show version; select 1; show version")}, greeted + " T D C(SHOW) E(ERROR 42601) ZI"},
		{"pipelined queries", admin, [][]byte{query("show version"), query("x"), query("show version")}, greeted + " T D C(SHOW) ZI E(ERROR 42601) ZI T D C(SHOW) ZI"},
		{"no command", admin, [][]byte{query(" ;; -- nothing")}, greeted + " I ZI"},
		{"extended", admin, [][]byte{extended, wire.AppendSync(nil), query("show version")}, greeted + " E(ERROR 0A000) ZI T D C(SHOW) ZI"},
		{"flush answers nothing", admin, [][]byte{extended, wire.AppendFlush(nil)}, greeted + " E(ERROR 0A000)"},
		{"function call", admin, [][]byte{frame(typeFunction, "\x00\x00\x00\x01")}, greeted + " E(ERROR 0A000) ZI"},
		{"copy data out of place", admin, [][]byte{wire.AppendCopyData(nil, []byte("x")), wire.AppendCopyDone(nil), query("show version")}, greeted + " T D C(SHOW) ZI"},
		{"terminate", admin, [][]byte{wire.AppendTerminate(nil), query("show version")}, greeted},
		{"unknown type", admin, [][]byte{frame('y', "x"), query("show version")}, greeted + " E(FATAL 08P01)"},
		{"too long", admin, [][]byte{wire.AppendHeader(nil, wire.TypeQuery, 1<<20)}, greeted + " E(FATAL 08P01)"},
		{"too short", admin, [][]byte{{'Q', 0, 0, 0, 3}}, greeted + " E(FATAL 08P01)"},
		{"cut off", admin, [][]byte{query("show version")[:9]}, greeted},
		{"no string", admin, [][]byte{frame(wire.TypeQuery, ""), frame(wire.TypeQuery, "help"), frame(wire.TypeQuery, "help\x00help\x00")},
			greeted + " E(ERROR 08P01) ZI E(ERROR 08P01) ZI E(ERROR 08P01) ZI"},
		{"another role", startupPacket(protocol30, "user", "app", "database", "pghaul"), [][]byte{query("show version")}, "E(FATAL 28000)"},
		{"no role", startupPacket(protocol30, "database", "pghaul"), nil, "E(FATAL 28000)"},
		{"another database", startupPacket(protocol30, "user", "admin", "database", "Pghaul"), nil, "E(FATAL 08001)"},
		{"protocol 3.2", startupPacket(3<<16|2, "user", "admin", "database", "pghaul"), nil, `v(3.0 "") ` + greeted},
		{"protocol 3.9999 and an option", startupPacket(3<<16|9999, "user", "admin", "database", "pghaul", "_pq_.test_protocol_negotiation", ""), nil,
			`v(3.0 "_pq_.test_protocol_negotiation\x00") ` + greeted},
		{"an option", startupPacket(protocol30, "user", "admin", "database", "pghaul", "_pq_.x", "1"), nil, `v(3.0 "_pq_.x\x00") ` + greeted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := script(t, g, append([][]byte{tt.startup}, tt.messages...)...); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestConsoleIsOffWithoutAdminUsers(t *testing.T) {
	g := start(t, &Config{Upstream: "127.0.0.1:1"})
	if got := script(t, g, startupPacket(protocol30, "user", "", "database", "pghaul")); got != "E(FATAL 08001)" {
		t.Errorf("got %s, want the server's absence", got)
	}
}

func TestConsoleAuthorisesEachCommand(t *testing.T) {
	g := consoleGateway(t)
	client, server := net.Pipe()
	defer client.Close()
	defer server.Close()
	// A pipe comes from nowhere.
	for _, user := range []string{"admin", "app"} {
		for _, command := range consoleList() {
			c := &console{gateway: g, conn: server, user: user}
			c.query(append([]byte(command.words), 0))
			if got := replies(t, bytes.NewReader(c.out)); got != "E(ERROR 28000)" {
				t.Errorf("%s as %s: %s", command.words, user, got)
			}
		}
	}
}

func TestFromThisMachine(t *testing.T) {
	tcp := func(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 5000} }
	tests := []struct {
		from net.Addr
		want bool
	}{
		{tcp("127.0.0.1"), true}, {tcp("127.8.9.1"), true}, {tcp("::1"), true}, {tcp("::ffff:127.0.0.1"), true},
		{&net.UnixAddr{Name: "", Net: "unix"}, true},
		{tcp("10.0.0.1"), false}, {tcp("::ffff:10.0.0.1"), false}, {tcp("fe80::1"), false}, {tcp("0.0.0.0"), false}, {tcp("::"), false},
		{&net.TCPAddr{}, false}, {nil, false}, {&net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}, false},
	}
	for _, tt := range tests {
		if got := fromThisMachine(tt.from); got != tt.want {
			t.Errorf("%v: got %v", tt.from, got)
		}
	}
}

func TestConsoleCommands(t *testing.T) {
	tests := []struct{ sql, want string }{
		{"", ""}, {"  ;\n; ", ""}, {"SHOW STATS", "SHOW STATS"}, {"show\tstats;help", "show stats|help"},
		{"/* a /* b */ help", "help"}, {"help -- ; x", "help"}, {"help /* open", "help"}, {"--\nhelp", "help"}, {"-- /*\nhelp */", "help */"},
	}
	for _, tt := range tests {
		var got []string
		for _, words := range consoleCommands(tt.sql) {
			got = append(got, strings.Join(words, " "))
		}
		if strings.Join(got, "|") != tt.want {
			t.Errorf("%q: got %q, want %q", tt.sql, got, tt.want)
		}
	}
}

func TestConsoleEndsWithTheGateway(t *testing.T) {
	g := consoleGateway(t)
	conn, err := net.Dial("tcp", addressOf(g))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := conn.Write(startupPacket(protocol30, "user", "admin", "database", "pghaul")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 9)); err != nil {
		t.Fatal(err)
	}
	// start's cleanup waits for Run, and fails when a connection is left.
}

func FuzzConsole(f *testing.F) {
	f.Add([]byte("Q\x00\x00\x00\x09help\x00"))
	f.Add([]byte("P\x00\x00\x00\x08\x00\x00\x00\x00S\x00\x00\x00\x04"))
	f.Add([]byte("X\x00\x00\x00\x04"))
	g := &Gateway{config: (&Config{AdminUsers: []string{"admin"}}).withDefaults(), stats: newStats(), members: map[member]struct{}{}}
	f.Fuzz(func(t *testing.T, sent []byte) {
		conn := &recorded{in: bytes.NewReader(sent)}
		c := &console{gateway: g, conn: conn, in: bufio.NewReader(conn), user: "admin"}
		if err := c.serve(); err == nil && !bytes.Contains(sent, []byte{'X'}) {
			t.Error("ended without the end of the input")
		}
		replies(t, &conn.out)
	})
}

// recorded is a connection from this machine that gives one input and keeps what is written.
type recorded struct {
	net.Conn
	in  *bytes.Reader
	out bytes.Buffer
}

func (r *recorded) Read(b []byte) (int, error)       { return r.in.Read(b) }
func (r *recorded) Write(b []byte) (int, error)      { return r.out.Write(b) }
func (r *recorded) Close() error                     { return nil }
func (r *recorded) SetWriteDeadline(time.Time) error { return nil }
func (r *recorded) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }
