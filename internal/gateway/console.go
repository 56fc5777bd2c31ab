package gateway

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/pghaul/pghaul/internal/wire"
)

const (
	// consoleDatabase is the virtual database that the gateway answers for.
	consoleDatabase = "pghaul"

	// consoleMessage bounds a message of a console client, in bytes. No command has a hundred.
	consoleMessage = 16 << 10

	// consoleVersion is the server_version that the console reports. psql warns of servers older than 9.2 and newer than
	// itself; the oldest supported version is silent in every psql.
	consoleVersion = "14.0"

	consolePatience = 30 * time.Second // for a client that does not read

	invalidAuthorization = "28000" // invalid_authorization_specification
	syntaxError          = "42601"

	protocol30      = 3 << 16
	typeNegotiation = 'v' // NegotiateProtocolVersion
	typeFunction    = 'F' // FunctionCall
)

// console is a connection to the virtual database: simple queries of a few commands, nothing that changes anything.
type console struct {
	gateway *Gateway
	conn    net.Conn
	in      *bufio.Reader
	user    string
	out     []byte // answers not written yet

	skipping bool // after an error of the extended protocol, up to Sync
}

// serveConsole answers a connection to the virtual database. Without admin users there is none, and a database of that name
// is the server's.
func (g *Gateway) serveConsole(ctx context.Context, l *link) bool {
	if len(g.config.AdminUsers) == 0 || l.params["database"] != consoleDatabase {
		return false
	}
	c := &console{gateway: g, conn: l.client, in: bufio.NewReaderSize(l.client, 1<<10), user: l.params["user"]}
	if err := c.authorised(); err != nil {
		g.log.WarnContext(ctx, "console refused", "client", peer(l.client), "user", c.user, "error", err)
		c.fatal(invalidAuthorization, "no access to the console of pghaul for role \""+clip(c.user)+"\"",
			"The console takes the roles of --admin-users, over a Unix socket or from the machine itself.")
		return true
	}
	g.log.InfoContext(ctx, "console opened", "client", peer(l.client), "user", c.user)
	c.greet(l.startup)
	if err := c.serve(); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
		g.log.InfoContext(ctx, "console broke off", "client", peer(l.client), "user", c.user, "error", err)
	}
	return true
}

// authorised is asked at the start and before each command. There is no password: who may connect from the machine itself is
// trusted with the name of an admin user, and nobody else.
func (c *console) authorised() error {
	if !slices.Contains(c.gateway.config.AdminUsers, c.user) {
		return errors.New("not an admin user")
	}
	if !fromThisMachine(c.conn.RemoteAddr()) {
		return errors.New("not from this machine")
	}
	return nil
}

func fromThisMachine(a net.Addr) bool {
	switch a := a.(type) {
	case *net.UnixAddr:
		return true
	case *net.TCPAddr:
		ip, ok := netip.AddrFromSlice(a.IP)
		return ok && ip.Unmap().IsLoopback()
	}
	return false
}

// greet sends what a client waits for before its first query. There is no BackendKeyData: a key made up here could be that
// of a session of the server, and nothing here takes long enough to be cancelled.
func (c *console) greet(startup packet) {
	if offer := negotiation(startup); offer != nil {
		c.out = append(wire.AppendHeader(c.out, typeNegotiation, len(offer)), offer...)
	}
	c.out = append(wire.AppendHeader(c.out, wire.TypeAuthentication, 4), 0, 0, 0, 0)
	for _, p := range [][2]string{
		{"server_version", consoleVersion + " (pghaul " + c.gateway.config.Version + ")"},
		{"server_encoding", "UTF8"}, {"client_encoding", "UTF8"}, {"DateStyle", "ISO, MDY"}, {"TimeZone", "UTC"},
		{"integer_datetimes", "on"}, {"standard_conforming_strings", "on"}, {"is_superuser", "off"},
		{"session_authorization", clip(c.user)},
	} {
		c.out = wire.AppendHeader(c.out, wire.TypeParameterStatus, len(p[0])+len(p[1])+2)
		c.out = append(append(append(append(c.out, p[0]...), 0), p[1]...), 0)
	}
	c.ready()
}

// negotiation is the body of NegotiateProtocolVersion for a start-up packet that asks for more than protocol 3.0 has; nil for
// others (manual, "Message Formats").
func negotiation(startup packet) []byte {
	var unknown []string
	for name := range startup.parameters() {
		if len(name) > 5 && name[:5] == "_pq_." {
			unknown = append(unknown, name)
		}
	}
	if startup.code() == protocol30 && len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	body := binary.BigEndian.AppendUint32(nil, protocol30)
	body = binary.BigEndian.AppendUint32(body, uint32(len(unknown)))
	for _, name := range unknown {
		body = append(append(body, name...), 0)
	}
	return body
}

// serve answers messages until the client leaves.
func (c *console) serve() error {
	for {
		// Answers go out together, before waiting for more.
		if c.in.Buffered() == 0 {
			if err := c.flush(); err != nil {
				return err
			}
		}
		kind, body, err := c.read()
		if err != nil {
			return err
		}
		switch kind {
		case wire.TypeTerminate:
			return nil
		case wire.TypeQuery:
			c.skipping = false
			c.query(body)
			c.ready()
		case wire.TypeSync:
			c.skipping = false
			c.ready()
		case wire.TypeParse, wire.TypeBind, wire.TypeDescribe, wire.TypeExecute, wire.TypeClose:
			if !c.skipping {
				c.error("ERROR", featureNotSupported, "the console of pghaul takes simple queries only", "psql sends them; drivers have a setting for it.")
			}
			c.skipping = true
		case wire.TypeFlush, wire.TypeCopyData, wire.TypeCopyDone, wire.TypeCopyFail:
			// As the server: a copy's rest is dropped where there is no copy.
		case typeFunction:
			c.error("ERROR", featureNotSupported, "the console of pghaul has no functions", "")
			c.ready()
		default:
			c.fatal(protocolViolation, fmt.Sprintf("invalid frontend message type %d", kind), "")
			return fmt.Errorf("message of type 0x%02x", kind)
		}
	}
}

func (c *console) read() (kind byte, body []byte, err error) {
	var header [wire.HeaderSize]byte
	if _, err := io.ReadFull(c.in, header[:]); err != nil {
		return 0, nil, err
	}
	length := binary.BigEndian.Uint32(header[1:])
	if length < 4 || length > consoleMessage {
		c.fatal(protocolViolation, "invalid message length", "")
		return 0, nil, fmt.Errorf("message of %d bytes", length)
	}
	body = make([]byte, length-4)
	_, err = io.ReadFull(c.in, body)
	return header[0], body, err
}

// query answers all commands of one Query up to the first error.
func (c *console) query(body []byte) {
	if len(body) == 0 || bytes.IndexByte(body, 0) != len(body)-1 {
		c.error("ERROR", protocolViolation, "invalid string in message", "")
		return
	}
	commands := consoleCommands(string(body[:len(body)-1]))
	if len(commands) == 0 {
		c.out = wire.AppendHeader(c.out, wire.TypeEmptyQuery, 0)
	}
	for _, words := range commands {
		if err := c.authorised(); err != nil {
			c.error("ERROR", invalidAuthorization, "no access to the console of pghaul", "")
			return
		}
		table, err := c.gateway.consoleTable(words)
		if err != nil {
			c.error("ERROR", syntaxError, err.Error(), "HELP lists the commands.")
			return
		}
		c.out = table.append(c.out)
	}
}

func (c *console) ready() {
	c.out = append(wire.AppendHeader(c.out, wire.TypeReadyForQuery, 1), byte(wire.Idle))
}

func (c *console) error(severity, code, message, hint string) {
	fields := "S" + severity + "\x00V" + severity + "\x00C" + code + "\x00M" + message + "\x00"
	if hint != "" {
		fields += "H" + hint + "\x00"
	}
	fields += "\x00"
	c.out = append(wire.AppendHeader(c.out, wire.TypeError, len(fields)), fields...)
}

// fatal says the last word; the caller ends the connection.
func (c *console) fatal(code, message, hint string) {
	c.error("FATAL", code, message, hint)
	// A client that does not take it is gone, which is what is wanted.
	_ = c.flush()
	_ = closeWrite(c.conn)
}

func (c *console) flush() error {
	if len(c.out) == 0 {
		return nil
	}
	c.conn.SetWriteDeadline(time.Now().Add(consolePatience))
	_, err := c.conn.Write(c.out)
	c.out = c.out[:0]
	return err
}
