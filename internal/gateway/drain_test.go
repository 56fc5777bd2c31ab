package gateway

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/wire"
)

var shutdownNotice = fatalError(adminShutdown, "terminating connection due to administrator command")

// draining starts a gateway before a server that sends each of the parts when told to, and logs a client in.
func draining(t *testing.T, timeout time.Duration, parts chan []byte) (c *end, stop func()) {
	t.Helper()
	upstream := scripted(t, func(e *end) {
		e.packet()
		e.send(loggedIn)
		for part := range parts {
			_, _ = e.Write(part) // fails where the gateway has given up
		}
		_, _ = io.Copy(io.Discard, e)
	})
	g, err := New(&Config{Listen: []string{"127.0.0.1:0"}, Upstream: upstream, UpstreamSSLMode: "disable", DrainTimeout: timeout, Logger: silent})
	if err != nil {
		t.Fatal(err)
	}
	stop = run(t, g)
	c = client(t, g)
	c.send(opening(version30, "user", "u"))
	c.expect(loggedIn)
	return c, stop
}

func TestDrainEndsIdleSessions(t *testing.T) {
	t.Cleanup(nothingLeft(t))
	parts := make(chan []byte)
	c, stop := draining(t, -1, parts)
	close(parts)
	done := make(chan struct{})
	go func() { defer close(done); stop() }()
	c.expect(shutdownNotice)
	c.closed()
	c.Close()
	<-done
}

func TestDrainWaitsForTheMessagesEnd(t *testing.T) {
	row := message(wire.TypeDataRow, "0123456789")
	for cut := 1; cut < len(row); cut += 3 {
		parts := make(chan []byte)
		c, stop := draining(t, -1, parts)
		parts <- row[:cut]
		seen := 0
		if cut > wire.HeaderSize-1 {
			c.expect(row[:cut])
			seen = cut
		}
		done := make(chan struct{})
		go func() { defer close(done); stop() }()
		if seen > 0 {
			parts <- row[cut:]
			c.expect(row[cut:])
		}
		c.expect(shutdownNotice)
		c.closed()
		close(parts)
		c.Close()
		<-done
	}
}

func TestDrainLetsSessionsEnd(t *testing.T) {
	parts := make(chan []byte)
	c, stop := draining(t, patience, parts)
	done := make(chan struct{})
	go func() { defer close(done); stop() }()
	eventually(t, "no more accepted", func() bool {
		conn, err := net.Dial("tcp", c.RemoteAddr().String())
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	parts <- readyIdle
	c.expect(readyIdle)
	c.send(wire.AppendTerminate(nil))
	close(parts)
	c.Close()
	<-done
}

func TestDrainDoesNotWaitForAClientThatDoesNotRead(t *testing.T) {
	parts := make(chan []byte)
	c, stop := draining(t, -1, parts)
	row := message(wire.TypeDataRow, string(make([]byte, 64<<20)))
	// The client reads none of it; the write ends with the connection.
	go func() {
		defer close(parts)
		parts <- row
	}()
	c.take(1)
	began := time.Now()
	stop()
	if took := time.Since(began); took > finishLimit+10*time.Second {
		t.Errorf("took %v", took)
	}
}
