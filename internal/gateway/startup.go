package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"
)

// startupLimit is how long a client may take up to its start-up packet: the server's authentication_timeout by default.
const startupLimit = time.Minute

// visitor is a connection before its session.
type visitor struct {
	gateway *Gateway
	ctx     context.Context //nolint:containedctx // bounds this one connection's start, and lives no longer

	mu   sync.Mutex
	conn net.Conn // TLS once that has been agreed on
	tls  bool
}

// finish and abort close the connection: before the session nothing that matters has been said.
func (v *visitor) finish() { v.abort() }

func (v *visitor) abort() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.conn.Close()
}

// serve carries one connection from its first byte to its end.
func (g *Gateway) serve(ctx context.Context, conn net.Conn) {
	l, err := g.welcome(ctx, conn)
	if err == nil && l != nil {
		g.counters.sessions.Add(1)
		err = newSession(g, l).run()
		if err != nil && !errors.Is(err, errFinished) {
			g.counters.lost.Add(1)
			g.log.Info("session broke off", "client", peer(conn), "user", l.params["user"], "database", l.params["database"], "error", err)
		}
		return
	}
	conn.Close()
	if err != nil && !errors.Is(err, errNoPacket) {
		g.counters.refused.Add(1)
		g.log.Log(ctx, slog.LevelInfo, "connection refused", "client", peer(conn), "error", err)
	}
}

func peer(conn net.Conn) string {
	if a := conn.RemoteAddr(); a != nil && a.String() != "" && a.String() != "@" {
		return a.String()
	}
	return "local"
}

// welcome reads a client's packets before authentication, and for a session connects it to the server. It returns nothing
// when it has dealt with the connection.
func (g *Gateway) welcome(ctx context.Context, conn net.Conn) (*link, error) {
	v := &visitor{gateway: g, ctx: ctx, conn: conn}
	g.join(v)
	defer g.leave(v)
	conn.SetDeadline(soon(startupLimit))
	p, err := v.startup()
	if err != nil || p == nil {
		return nil, err
	}
	l := &link{client: v.conn, startup: p, clientTLS: v.tls, params: map[string]string{}}
	if speaksVersion3(p) {
		l.params = p.parameters()
	}
	conn.SetDeadline(time.Time{})
	if g.console != nil && g.console(ctx, l) {
		return nil, v.conn.Close()
	}
	if err := g.connect(ctx, l); err != nil {
		v.refuse(cannotConnect, "could not connect to the upstream server")
		return nil, fmt.Errorf("connect to the upstream server: %w", err)
	}
	return l, nil
}

// startup answers requests for encryption until a start-up packet comes, and carries out a cancel request. Which requests may
// follow which is as in ProcessStartupPacket (the server's backend_startup.c): each at most once, and none over TLS.
func (v *visitor) startup() (packet, error) {
	first, err := v.first()
	if err != nil {
		return nil, err
	}
	sslDone, gssDone := v.tls, v.tls
	for {
		p, err := readPacket(v.conn, first)
		if err != nil {
			return nil, err
		}
		first = nil
		switch code := p.code(); {
		case code == cancelCode:
			return nil, v.gateway.cancel(v.ctx, p)
		case code == sslCode && !sslDone:
			if err := v.answerSSL(); err != nil {
				return nil, err
			}
			sslDone, gssDone = true, gssDone || v.tls
		case code == gssCode && !gssDone:
			if _, err := v.conn.Write([]byte{'N'}); err != nil {
				return nil, err
			}
			gssDone = true
		case code == sslCode || code == gssCode:
			// To the server's eyes a version that does not exist. It must not see this: it would begin TLS.
			v.refuse(featureNotSupported, fmt.Sprintf("unsupported frontend protocol %d.%d", code>>16, code&0xffff))
			return nil, errors.New("a second request for encryption")
		default:
			return p, nil
		}
	}
}

// first reads the first four bytes, and begins TLS at once when they are the start of a handshake.
func (v *visitor) first() ([]byte, error) {
	head := make([]byte, 4)
	if err := readHead(v.conn, head); err != nil {
		return nil, err
	}
	if head[0] != tlsRecord {
		return head, nil
	}
	id := v.gateway.identity.Load()
	if id == nil {
		return nil, errors.New("direct TLS, and the gateway has no certificate")
	}
	return nil, v.beginTLS(&replayed{Conn: v.conn, before: head}, id, true)
}

// answerSSL answers an SSLRequest with the byte S and TLS, or with N.
func (v *visitor) answerSSL() error {
	id := v.gateway.identity.Load()
	if id == nil {
		_, err := v.conn.Write([]byte{'N'})
		return err
	}
	if _, err := v.conn.Write([]byte{'S'}); err != nil {
		return err
	}
	return v.beginTLS(v.conn, id, false)
}

func (v *visitor) beginTLS(conn net.Conn, id *identity, direct bool) error {
	encrypted, err := id.handshake(v.ctx, conn, direct)
	if err != nil {
		return fmt.Errorf("begin TLS with the client: %w", err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.conn, v.tls = encrypted, true
	return nil
}

// refuse tells the client why it is turned away. The caller closes the connection.
func (v *visitor) refuse(code, message string) {
	v.conn.SetWriteDeadline(soon(lingerTime))
	// A client that does not take it is gone, which is what is wanted.
	_, _ = v.conn.Write(fatalError(code, message))
	_ = closeWrite(v.conn)
}
