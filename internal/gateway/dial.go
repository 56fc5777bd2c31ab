package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/pghaul/pghaul/internal/wire"
)

// dialLimit bounds everything up to an upstream connection that can be spoken on.
const dialLimit = 15 * time.Second

// The sslmodes of libpq (manual, "SSL Mode Descriptions").
const (
	sslDisable    = "disable"
	sslAllow      = "allow"
	sslPrefer     = "prefer"
	sslRequire    = "require"
	sslVerifyCA   = "verify-ca"
	sslVerifyFull = "verify-full"

	rootSystem = "system"
)

var sslModes = []string{sslDisable, sslAllow, sslPrefer, sslRequire, sslVerifyCA, sslVerifyFull}

// errNoTLS says that the server has no TLS where the mode demands it.
var errNoTLS = errors.New("the server does not support TLS")

// wish is what an attempt to connect does about TLS.
type wish int

const (
	plain  wish = iota
	ifHas       // TLS when the server has it
	always      // TLS or nothing
)

// wishes are the attempts of a mode: the second is made when the server refuses the start-up packet of the first.
func (g *Gateway) wishes() []wish {
	switch mode := g.config.UpstreamSSLMode; {
	case g.upstream.network == "unix" || mode == sslDisable:
		return []wish{plain}
	case mode == sslAllow:
		return []wish{plain, always}
	case mode == sslPrefer:
		return []wish{ifHas, plain}
	}
	return []wish{always}
}

// connect connects a client to the server and forwards the start-up packet.
func (g *Gateway) connect(ctx context.Context, l *link) error {
	wishes := g.wishes()
	for i, w := range wishes {
		conn, encrypted, err := g.dial(ctx, w)
		if err != nil {
			if i > 0 && l.server != nil {
				return nil // the first attempt's refusal is what the client gets
			}
			return err
		}
		if i > 0 {
			l.server.Close()
		}
		l.server, l.serverTLS, l.early = conn, encrypted, nil
		if _, err := conn.Write(l.startup); err != nil {
			return errors.Join(err, conn.Close())
		}
		if i+1 == len(wishes) || w == ifHas && !encrypted {
			return nil
		}
		refused, err := l.refused()
		if err != nil || !refused {
			return err
		}
	}
	return nil
}

// refused waits for the first byte of the server's answer and tells whether it is an error.
func (l *link) refused() (bool, error) {
	b := make([]byte, 1)
	l.server.SetReadDeadline(soon(dialLimit))
	n, err := l.server.Read(b)
	l.server.SetReadDeadline(time.Time{})
	if n == 0 && !errors.Is(err, io.EOF) {
		return false, errors.Join(err, l.server.Close())
	}
	l.early = b[:n]
	return n == 1 && b[0] == wire.TypeError, nil
}

// dial opens a connection to the server.
func (g *Gateway) dial(ctx context.Context, w wish) (conn net.Conn, encrypted bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	var dialer net.Dialer
	conn, err = dialer.DialContext(ctx, g.upstream.network, g.upstream.String())
	if err != nil || w == plain {
		return conn, false, err
	}
	secured, err := g.secure(ctx, conn, w)
	if err != nil {
		return nil, false, errors.Join(err, conn.Close())
	}
	return secured, secured != conn, nil
}

// secure asks the server for TLS.
func (g *Gateway) secure(ctx context.Context, conn net.Conn, w wish) (net.Conn, error) {
	deadline, _ := ctx.Deadline()
	conn.SetDeadline(deadline)
	if _, err := conn.Write([]byte{0, 0, 0, 8, 4, 210, 22, 47}); err != nil { // SSLRequest
		return nil, err
	}
	// One byte and not more: what came with it unencrypted would pass for a part of the session.
	answer := make([]byte, 1)
	if _, err := io.ReadFull(conn, answer); err != nil {
		return nil, fmt.Errorf("ask the server for TLS: %w", err)
	}
	switch {
	case answer[0] == 'S':
		secured, err := g.trust.Load().handshake(ctx, conn)
		if err != nil {
			return nil, fmt.Errorf("begin TLS with the server: %w", err)
		}
		conn.SetDeadline(time.Time{})
		return secured, nil
	case answer[0] == 'N' && w == always:
		return nil, errNoTLS
	case answer[0] == 'N':
		conn.SetDeadline(time.Time{})
		return conn, nil
	}
	// An error's text comes from a peer that nobody has verified yet, and is not shown.
	return nil, fmt.Errorf("the server answered the request for TLS with byte 0x%02x", answer[0])
}
