package gateway

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// lingerTime is how long the client's bytes are still read, and dropped, after the server has closed: closing a socket with
// unread bytes in it makes the kernel take back the server's last words.
const lingerTime = 2 * time.Second

// link is a client's connection with its server connection, after the start-up packet has been forwarded.
type link struct {
	client, server net.Conn
	startup        packet            // as it came
	params         map[string]string // as far as the packet could be read; of a name given twice the last
	early          []byte            // what the server has answered already: at most the start of a header
	clientTLS      bool
	serverTLS      bool
}

// hooks are what acceleration adds to a session.
type hooks struct {
	front, back hook // nil passes all

	// cancelled is called, by any goroutine, before a cancel request for this session goes to the server.
	cancelled func()

	// ended is called once, when nothing more comes from the server.
	ended func()
}

// session relays between a client and its server connection.
//
// Front alone writes to the server (toServer.send), back to the client (toClient.send). Who else has something to say to the
// client calls say, which waits for the end of a write, not of a message: only when nothing is expected of the server does
// that stand between two messages.
type session struct {
	link
	gateway *Gateway
	hooks   hooks
	counts  *SessionStats

	toServer cutter // front's
	toClient cutter // back's

	speaking sync.Mutex // held for each write to the client

	finishing  atomic.Bool
	serverGone atomic.Bool
	ready      atomic.Bool // the server has sent its first ReadyForQuery

	key string // BackendKeyData's body, by which a cancel request names this session; set by back in its greeting

	fromClient, fromServer atomic.Int64 // bytes
}

func newSession(g *Gateway, l *link) *session {
	s := &session{gateway: g, link: *l}
	s.counts = g.stats.Open(Origin{
		Client: peer(l.client), User: l.params["user"], Database: l.params["database"], Application: l.params["application_name"],
		TLS: l.clientTLS, Mode: g.config.Mode.String(),
		Bytes: func() (received, sent int64) { return s.fromClient.Load(), s.fromServer.Load() },
	})
	s.toServer.out = s.writeServer
	s.toClient.out = s.say
	if g.hooks != nil {
		if h := g.hooks(s); h != nil {
			s.hooks = *h
		}
	}
	s.toServer.hook = s.hooks.front
	s.toClient.hook = &greeting{session: s}
	// Other versions than 3 have other frames, if any; the server refuses them in its own way.
	if !speaksVersion3(l.startup) {
		s.toServer.lost, s.toClient.lost = true, true
	}
	return s
}

// run relays until both directions have ended, and closes both connections. It returns why the session ended: nil for an
// end in order.
func (s *session) run() error {
	s.gateway.join(s)
	front := make(chan error, 1)
	go func() { front <- s.front() }()
	backErr := s.back()
	// The server's end is what the client is told first: nothing that it said may get lost.
	s.serverGone.Store(true)
	if s.hooks.ended != nil {
		s.hooks.ended()
	}
	s.server.Close()
	s.linger(backErr)
	frontErr := <-front
	s.client.Close()
	s.gateway.forget(s)
	s.counts.Close()
	s.gateway.counters.fromClients.Add(s.fromClient.Load())
	s.gateway.counters.fromServer.Add(s.fromServer.Load())
	s.gateway.leave(s)
	if backErr != nil {
		return backErr
	}
	return frontErr
}

// linger tells the client that there is nothing more to read, and bounds how long front reads on.
func (s *session) linger(why error) {
	if isFrom(why, toTheClient) || closeWrite(s.client) != nil {
		s.client.Close()
		return
	}
	s.client.SetReadDeadline(soon(lingerTime))
}

// say writes to the client.
func (s *session) say(b []byte) error {
	s.speaking.Lock()
	defer s.speaking.Unlock()
	if _, err := s.client.Write(b); err != nil {
		return &relayError{direction: toTheClient, cause: err}
	}
	return nil
}

func (s *session) writeServer(b []byte) error {
	if _, err := s.server.Write(b); err != nil {
		return &relayError{direction: toTheServer, cause: err}
	}
	return nil
}

// finish makes back end the session at the next message's end.
func (s *session) finish() {
	s.finishing.Store(true)
	s.server.SetReadDeadline(time.Unix(1, 0))
}

// abort ends the session at once.
func (s *session) abort() {
	s.server.Close()
	s.client.Close()
}

// direction tells writes apart.
type direction string

const (
	toTheClient direction = "client"
	toTheServer direction = "server"
)

// relayError is a write that failed.
type relayError struct {
	direction direction
	cause     error
}

func (e *relayError) Error() string {
	return "write to the " + string(e.direction) + ": " + e.cause.Error()
}

func (e *relayError) Unwrap() error { return e.cause }

func isFrom(err error, d direction) bool {
	var r *relayError
	return errors.As(err, &r) && r.direction == d
}

// closeWrite tells the peer that no more comes, and leaves the other direction open.
func closeWrite(c net.Conn) error {
	half, ok := c.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}
