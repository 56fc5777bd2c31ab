package gateway

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/wire"
)

// patience is far above what anything here takes; a test that needs it hangs.
const patience = time.Minute

// end is one end of a connection, raw client or scripted server.
type end struct {
	net.Conn
	t testing.TB
}

func dialled(t testing.TB, network, address string) *end {
	t.Helper()
	conn, err := net.DialTimeout(network, address, patience)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetDeadline(time.Now().Add(patience))
	t.Cleanup(func() { conn.Close() })
	return &end{Conn: conn, t: t}
}

func (e *end) send(parts ...[]byte) {
	e.t.Helper()
	if _, err := e.Write(bytes.Join(parts, nil)); err != nil {
		e.t.Errorf("write: %v", err)
	}
}

// trickle sends one byte a write.
func (e *end) trickle(b []byte) {
	e.t.Helper()
	for i := range b {
		e.send(b[i : i+1])
	}
}

func (e *end) take(n int) []byte {
	e.t.Helper()
	b := make([]byte, n)
	if n, err := io.ReadFull(e, b); err != nil {
		e.t.Errorf("read: %v after %d bytes: %q", err, n, b[:n])
	}
	return b
}

// expect reads as many bytes as want has.
func (e *end) expect(want []byte) {
	e.t.Helper()
	if got := e.take(len(want)); !bytes.Equal(got, want) {
		e.t.Errorf("got %q, want %q", got, want)
	}
}

// closed expects the end of the stream, and nothing before it.
func (e *end) closed() {
	e.t.Helper()
	b := make([]byte, 1)
	n, err := e.Read(b)
	if n > 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		e.t.Errorf("want a closed connection, got %q, %v", b[:n], err)
	}
}

// frame reads one message.
func (e *end) frame() (kind byte, body []byte, err error) {
	head := make([]byte, wire.HeaderSize)
	if _, err := io.ReadFull(e, head); err != nil {
		return 0, nil, err
	}
	body = make([]byte, binary.BigEndian.Uint32(head[1:])-4)
	_, err = io.ReadFull(e, body)
	return head[0], body, err
}

// until reads messages up to the nth ReadyForQuery or the end of the stream, and writes them down, the bodies too but for
// the key of a session.
func (e *end) until(ready int) []string {
	e.t.Helper()
	var log []string
	for ready > 0 {
		kind, body, err := e.frame()
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				e.t.Errorf("hangs after %.2000q", log)
			}
			return append(log, "end")
		}
		switch kind {
		case wire.TypeReadyForQuery:
			ready--
		case wire.TypeBackendKeyData:
			body = fmt.Appendf(nil, "%d bytes", len(body))
		}
		log = append(log, fmt.Sprintf("%c %q", kind, body))
	}
	return log
}

// asPacket is an untyped message.
func asPacket(code uint32, rest ...string) []byte {
	b := binary.BigEndian.AppendUint32(make([]byte, 4), code)
	for _, s := range rest {
		b = append(b, s...)
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)))
	return b
}

const version30 = 3 << 16

// opening is a start-up packet of names and values.
func opening(version uint32, params ...string) []byte {
	rest := ""
	for _, p := range params {
		rest += p + "\x00"
	}
	return asPacket(version, rest, "\x00")
}

var (
	sslRequest = asPacket(sslCode)
	gssRequest = asPacket(gssCode)
	readyIdle  = []byte{'Z', 0, 0, 0, 5, 'I'}
	loggedIn   = append([]byte{'R', 0, 0, 0, 8, 0, 0, 0, 0}, readyIdle...)
)

// scripted is a server that plays a script with each of its connections.
func scripted(t testing.TB, play func(e *end)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var playing sync.WaitGroup
	playing.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.SetDeadline(time.Now().Add(patience))
			playing.Go(func() {
				defer conn.Close()
				play(&end{Conn: conn, t: t})
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		playing.Wait()
	})
	return l.Addr().String()
}

// packet reads a start-up packet as a server does.
func (e *end) packet() packet {
	e.t.Helper()
	p, err := readPacket(e, nil)
	if err != nil {
		e.t.Errorf("read a start-up packet: %v", err)
	}
	return p
}

var silent = slog.New(slog.DiscardHandler)

// start runs a gateway until the test ends, and fails the test when anything of it is left then.
func start(t testing.TB, c *Config) *Gateway {
	t.Helper()
	if len(c.Listen)+len(c.Listeners) == 0 {
		c.Listen = []string{"127.0.0.1:0"}
	}
	if c.DrainTimeout == 0 {
		c.DrainTimeout = -1
	}
	if c.Logger == nil {
		c.Logger = silent
	}
	g, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	run(t, g)
	return g
}

// run runs g until the test ends or stop is called.
func run(t testing.TB, g *Gateway) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the gateway ended: %v", err)
		}
		if open := g.Traffic().Open; open != 0 {
			t.Errorf("%d connections are left", open)
		}
	})
	t.Cleanup(stop)
	waiting, giveUp := context.WithTimeout(ctx, patience)
	defer giveUp()
	if _, err := g.Addresses(waiting); err != nil {
		t.Fatalf("the gateway does not listen: %v", err)
	}
	return stop
}

func addressOf(g *Gateway) string { return g.addresses[0].String() }

// client connects to a gateway.
func client(t testing.TB, g *Gateway) *end {
	t.Helper()
	return dialled(t, g.addresses[0].Network(), addressOf(g))
}

// eventually waits until ok.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(patience); !ok(); {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("never: %s", what)
		}
	}
}

// nothingLeft returns a check that as many goroutines and descriptors are there as before.
func nothingLeft(t testing.TB) (check func()) {
	t.Helper()
	goroutines, descriptors := runtime.NumGoroutine(), descriptors(t)
	return func() {
		t.Helper()
		eventually(t, fmt.Sprintf("%d goroutines and %d descriptors again", goroutines, descriptors), func() bool {
			return runtime.NumGoroutine() <= goroutines && descriptorCount() <= descriptors
		})
	}
}

func descriptors(t testing.TB) int {
	t.Helper()
	n := descriptorCount()
	if n == 0 {
		t.Fatal("cannot count descriptors")
	}
	return n
}

func descriptorCount() int {
	for _, dir := range []string{"/proc/self/fd", "/dev/fd"} {
		if list, err := os.ReadDir(dir); err == nil {
			return len(list)
		}
	}
	return 0
}
