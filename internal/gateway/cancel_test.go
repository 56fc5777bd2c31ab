package gateway

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pghaul/pghaul/internal/wire"
)

func TestCancelRequestIsForwarded(t *testing.T) {
	got := make(chan packet, 1)
	upstream := scripted(t, func(e *end) {
		p := e.packet()
		got <- p
		// Whatever the server says, and it says nothing, must not reach the client.
		e.send(readyIdle)
	})
	g := start(t, &Config{Upstream: upstream, UpstreamSSLMode: "disable"})
	for _, length := range []int{4, 32, 256, 0} {
		request := asPacket(cancelCode, "\x00\x00\x30\x39"+strings.Repeat("k", length))
		c := client(t, g)
		c.trickle(request)
		if p := <-got; string(p) != string(request) {
			t.Errorf("secret of %d bytes: got %q", length, p)
		}
		c.closed()
	}
	if n := g.Traffic(); n.Cancels != 4 || n.Sessions != 0 {
		t.Errorf("counters: %+v", n)
	}
}

func TestCancelBehindRequestForEncryption(t *testing.T) {
	got := make(chan packet, 1)
	upstream := scripted(t, func(e *end) { got <- e.packet() })
	g := start(t, &Config{Upstream: upstream, UpstreamSSLMode: "disable"})
	request := asPacket(cancelCode, "\x00\x00\x30\x39abcd")
	c := client(t, g)
	c.send(sslRequest)
	c.expect([]byte{'N'})
	c.send(request)
	if p := <-got; string(p) != string(request) {
		t.Errorf("got %q", p)
	}
	c.closed()
}

func TestCancelWaitsForTheServer(t *testing.T) {
	arrived, answer := make(chan struct{}), make(chan struct{})
	upstream := scripted(t, func(e *end) {
		e.packet()
		close(arrived)
		<-answer
	})
	g := start(t, &Config{Upstream: upstream, UpstreamSSLMode: "disable"})
	var closed atomic.Bool
	c := client(t, g)
	c.send(asPacket(cancelCode, "\x00\x00\x30\x39abcd"))
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.closed()
		closed.Store(true)
	}()
	<-arrived
	if closed.Load() {
		t.Error("the client was told before the server had acted")
	}
	close(answer)
	<-done
}

func TestCancelThatCannotBeForwarded(t *testing.T) {
	g := start(t, &Config{Upstream: "127.0.0.1:1", UpstreamSSLMode: "disable"})
	for range 20 {
		c := client(t, g)
		c.send(asPacket(cancelCode, "\x00\x00\x30\x39abcd"))
		c.closed()
		c.Close()
	}
	eventually(t, "all counted", func() bool { return g.Traffic().Refused == 20 })
}

func TestCancelledHookIsCalledFirst(t *testing.T) {
	var cancelled, forwarded atomic.Bool
	key := "\x00\x00\x30\x39" + strings.Repeat("k", 32)
	upstream := scripted(t, func(e *end) {
		if p := e.packet(); p != nil && p.code() == cancelCode {
			if string(p[minStartup:]) == key {
				forwarded.Store(cancelled.Load())
			}
			return
		}
		e.send(message(wire.TypeBackendKeyData, key), loggedIn)
		e.closed()
	})
	g, err := New(&Config{Listen: []string{"127.0.0.1:0"}, Upstream: upstream, UpstreamSSLMode: "disable", DrainTimeout: -1, Logger: silent})
	if err != nil {
		t.Fatal(err)
	}
	g.hooks = func(*session) *hooks { return &hooks{cancelled: func() { cancelled.Store(true) }} }
	run(t, g)
	c := client(t, g)
	c.send(opening(version30, "user", "u"))
	c.expect(append(message(wire.TypeBackendKeyData, key), loggedIn...))
	other := client(t, g)
	other.send(asPacket(cancelCode, "\x00\x00\x30\x39wrong"))
	other.closed()
	if cancelled.Load() {
		t.Error("a request with another key reached the session")
	}
	third := client(t, g)
	third.send(asPacket(cancelCode, key))
	third.closed()
	if !cancelled.Load() || !forwarded.Load() {
		t.Errorf("the session was told: %v, before the server: %v", cancelled.Load(), forwarded.Load())
	}
}
