package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// remember notes by which key cancel requests will name a session.
func (g *Gateway) remember(s *session, key string) {
	if s.hooks.cancelled == nil {
		return
	}
	s.key = key
	g.mu.Lock()
	g.keys[key] = s
	g.mu.Unlock()
}

// forget undoes remember. The server may have given the key to a newer session.
func (g *Gateway) forget(s *session) {
	if s.key == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.keys[s.key] == s {
		delete(g.keys, s.key)
	}
}

// cancel forwards a cancel request over a fresh connection, byte for byte: the key may be of any length, and of another
// gateway's session. It returns when the server has closed that connection, so a client that waits for its own to be closed
// knows, as without a gateway, that its next statement will not be hit. Nothing is ever answered.
func (g *Gateway) cancel(ctx context.Context, p packet) error {
	g.counters.cancels.Add(1)
	g.mu.Lock()
	s := g.keys[string(p[minStartup:])]
	g.mu.Unlock()
	if s != nil {
		s.hooks.cancelled()
	}
	conn, _, err := g.dial(ctx, g.wishes()[0])
	if err != nil {
		return fmt.Errorf("forward a cancel request: %w", err)
	}
	conn.SetDeadline(soon(dialLimit))
	if _, err := conn.Write(p); err != nil {
		return errors.Join(fmt.Errorf("forward a cancel request: %w", err), conn.Close())
	}
	// The server says nothing; should it, nobody is to hear it.
	_, err = io.Copy(io.Discard, io.LimitReader(conn, maxStartup))
	return errors.Join(err, conn.Close())
}
