package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Gateway relays between clients and one server. New makes it, Run runs it.
type Gateway struct {
	config   *Config
	upstream address
	log      *slog.Logger

	identity atomic.Pointer[identity] // what clients see over TLS; nil without TLS
	trust    atomic.Pointer[trust]    // how the server is known over TLS

	toServer, toClient *blockPool

	stats *Stats

	// hooks makes what acceleration adds to a session; nil or a nil result passes all. Set before Run.
	hooks func(*session) *hooks

	// console serves a connection by the gateway itself and reports whether it did. It answers every message from the
	// start-up packet on, writes nothing when it declines, and returns before its connection is closed. nil declines all.
	console func(ctx context.Context, l *link) bool

	listening chan struct{} // closed when the addresses are known
	addresses []net.Addr

	mu       sync.Mutex
	ending   bool
	members  map[member]struct{}
	keys     map[string]*session // by the body of BackendKeyData
	counters counters
}

// member is an open connection of a client.
type member interface {
	// finish asks a session to end between two messages, with SQLSTATE 57P01.
	finish()
	// abort closes its sockets.
	abort()
}

// counters are what all connections have done since the start. Sessions add their bytes when they end.
type counters struct {
	accepted, sessions, cancels, refused, lost atomic.Int64
	fromClients, fromServer                    atomic.Int64
}

// Traffic is what the relay has done since its start.
type Traffic struct {
	Accepted    int64 // connections of clients
	Open        int64 // of these, those that are open now
	Sessions    int64 // connections that came as far as a server connection
	Cancels     int64 // cancel requests
	Refused     int64 // connections the gateway turned away, or for which it could not reach the server
	Lost        int64 // sessions that broke off without the server or the client closing them in order
	FromClients int64 // bytes
	FromServer  int64 // bytes
}

// New makes a gateway. It validates the whole configuration at once and reads the certificates; nothing listens yet. The
// error holds all complaints.
func New(c *Config) (*Gateway, error) {
	config := c.withDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	upstream, err := parseAddress(config.Upstream)
	if err != nil {
		return nil, err
	}
	g := &Gateway{
		config: config, upstream: upstream, log: config.Logger,
		toServer: newBlockPool(config.ReceiveBuffer), toClient: newBlockPool(config.SendBuffer),
		listening: make(chan struct{}), stats: newStats(), members: map[member]struct{}{}, keys: map[string]*session{},
		hooks: accelerate,
	}
	g.console = g.serveConsole
	if err := g.Reload(); err != nil {
		return nil, err
	}
	return g, nil
}

// Run listens and relays until ctx ends, then drains: it accepts no more, waits up to DrainTimeout for the sessions to end
// by themselves, ends the others with SQLSTATE 57P01 between two messages, and returns nil when all have gone. It returns an
// error when the TLS matrix refuses the configuration, or an address cannot be listened on. A Gateway runs once.
func (g *Gateway) Run(ctx context.Context) error {
	listeners, err := g.listen(ctx)
	if err != nil {
		return err
	}
	if err := g.Check(ctx); err != nil {
		return errors.Join(err, closeAll(listeners))
	}
	stopHTTP, err := g.startHTTP(ctx)
	if err != nil {
		return errors.Join(err, closeAll(listeners))
	}
	defer stopHTTP()
	for _, l := range listeners {
		g.addresses = append(g.addresses, l.Addr())
		g.log.Info("listening", "address", l.Addr().String(), "upstream", g.upstream.String())
	}
	close(g.listening)

	// Sessions outlive ctx: the drain ends them.
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var accepting, serving sync.WaitGroup
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		accepting.Go(func() {
			if err := g.accept(ctx, life, l, &serving); err != nil {
				failed <- err
			}
		})
	}
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	err = errors.Join(err, closeAll(listeners))
	accepting.Wait()
	g.drain(&serving, stop)
	return err
}

// Addresses are what the gateway listens on. It waits until Run listens, or ctx ends.
func (g *Gateway) Addresses(ctx context.Context) ([]net.Addr, error) {
	select {
	case <-g.listening:
		return g.addresses, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Traffic returns the relay's counters. Bytes of a session are added when it ends.
func (g *Gateway) Traffic() Traffic {
	c := &g.counters
	g.mu.Lock()
	open := len(g.members)
	g.mu.Unlock()
	return Traffic{
		Accepted: c.accepted.Load(), Open: int64(open), Sessions: c.sessions.Load(), Cancels: c.cancels.Load(),
		Refused: c.refused.Load(), Lost: c.lost.Load(),
		FromClients: c.fromClients.Load(), FromServer: c.fromServer.Load(),
	}
}

// Reload reads the certificate, its key and the root certificates again. New connections use them; on an error all goes on
// with those read before.
func (g *Gateway) Reload() error {
	id, err := readIdentity(g.config)
	if err != nil {
		return err
	}
	tr, err := readTrust(g.config, g.upstream)
	if err != nil {
		return err
	}
	g.identity.Store(id)
	g.trust.Store(tr)
	return nil
}

// join adds a connection; leave takes it away. A connection that joins when the sessions have been told to finish is told
// so too.
func (g *Gateway) join(m member) {
	g.mu.Lock()
	g.members[m] = struct{}{}
	ending := g.ending
	g.mu.Unlock()
	if ending {
		m.finish()
	}
}

func (g *Gateway) leave(m member) {
	g.mu.Lock()
	delete(g.members, m)
	g.mu.Unlock()
}

// all lists the connections that are open now.
func (g *Gateway) all() []member {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := make([]member, 0, len(g.members))
	for m := range g.members {
		list = append(list, m)
	}
	return list
}

func closeAll(listeners []net.Listener) error {
	var all []error
	for _, l := range listeners {
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// soon is when a peer that should have answered by now has not.
func soon(d time.Duration) time.Time { return time.Now().Add(d) }
