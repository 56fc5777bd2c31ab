package gateway

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/wire"
)

// logged is a client that has logged in through a gateway before a server that then plays the rest.
func logged(t *testing.T, play func(e *end)) *end {
	t.Helper()
	upstream := scripted(t, func(e *end) {
		e.packet()
		e.send(loggedIn)
		play(e)
	})
	c := client(t, start(t, &Config{Upstream: upstream, UpstreamSSLMode: "disable"}))
	c.send(opening(version30, "user", "u"))
	c.expect(loggedIn)
	return c
}

// echo sends back what it gets, as it comes. The socket as it is would be spliced, through pipes that stay open.
func echo(e *end) { _, _ = io.Copy(struct{ io.Writer }{e.Conn}, struct{ io.Reader }{e.Conn}) }

func TestBytesPassUnchanged(t *testing.T) {
	streams := map[string][]byte{
		"function call":         message('F', "\x00\x00\x04\xd2"),
		"unknown type":          message('~', "x"),
		"empty CopyData":        bytes.Repeat(message(wire.TypeCopyData, ""), 1000),
		"tiny CopyData":         bytes.Repeat(message(wire.TypeCopyData, "a"), 100000),
		"rows over frames":      append(message(wire.TypeCopyData, `"a,`), message(wire.TypeCopyData, "\\.\n\",\\N\r\n{\"a\":\"\\\\n\"}")...),
		"no frames at all":      []byte("\x00\x01\x02\xff\xff\xff\xff\xff garbage \x80"),
		"a length out of range": append([]byte{'Q', 0xff, 0xff, 0xff, 0xff}, "more"...),
		"300 kB":                message(wire.TypeQuery, string(make([]byte, 300<<10))),
		"64 MB":                 message(wire.TypeCopyData, string(make([]byte, 64<<20))),
	}
	for name, stream := range streams {
		t.Run(name, func(t *testing.T) {
			c := logged(t, echo)
			go c.send(stream)
			c.expect(stream)
		})
	}
}

func TestByteByByte(t *testing.T) {
	c := logged(t, echo)
	stream := bytes.Join([][]byte{message('P', "a\x00b\x00"), message('S', ""), message('Q', "SELECT 1\x00")}, nil)
	for i := range stream {
		c.send(stream[i : i+1])
	}
	c.expect(stream)
}

func TestHalfOfAHeaderIsPassedOnAtTheEnd(t *testing.T) {
	got := make(chan []byte, 1)
	c := logged(t, func(e *end) {
		b, _ := io.ReadAll(e)
		got <- b
		e.send([]byte{'E', 0, 0})
	})
	c.send([]byte{'Q', 0, 0})
	if err := closeWrite(c.Conn); err != nil {
		t.Fatal(err)
	}
	if b := <-got; string(b) != "Q\x00\x00" {
		t.Errorf("the server got %q", b)
	}
	c.expect([]byte{'E', 0, 0})
	c.closed()
}

func TestClientThatClosesOneDirectionGetsItsAnswer(t *testing.T) {
	c := logged(t, func(e *end) {
		query := message('Q', "SELECT 1\x00")
		e.expect(query)
		e.closed()
		e.send(readyIdle)
	})
	c.send(message('Q', "SELECT 1\x00"))
	if err := closeWrite(c.Conn); err != nil {
		t.Fatal(err)
	}
	c.expect(readyIdle)
	c.closed()
}

func TestLastWordsOfTheServerArrive(t *testing.T) {
	// The server closes with unread bytes in its socket while the client goes on sending: the kernel answers by a reset.
	crash := fatalError("57P02", "terminating connection because of crash of another server process")
	for range 20 {
		c := logged(t, func(e *end) {
			e.take(5)
			e.send(crash)
		})
		c.send(message('Q', "SELECT 1\x00"))
		_, _ = c.Write(make([]byte, 100<<10)) // the gateway may be gone before the end
		c.expect(crash)
	}
}

func TestServerThatResets(t *testing.T) {
	c := logged(t, func(e *end) {
		e.take(1)
		if err := e.Conn.(*net.TCPConn).SetLinger(0); err != nil {
			t.Error(err)
		}
	})
	c.send(message('Q', "SELECT 1\x00"))
	c.closed()
}

func TestClientThatResets(t *testing.T) {
	gone := make(chan struct{})
	c := logged(t, func(e *end) {
		e.closed()
		close(gone)
	})
	if err := c.Conn.(*net.TCPConn).SetLinger(0); err != nil {
		t.Fatal(err)
	}
	c.Close()
	<-gone
}

func TestSlowReaderBoundsWhatIsRead(t *testing.T) {
	// The client reads nothing: the server must be held up, after what the kernel's buffers and one block take.
	const total = 256 << 20
	sent := make(chan int, 1)
	c := logged(t, func(e *end) {
		n := 0
		e.SetWriteDeadline(time.Now().Add(2 * time.Second))
		row := message(wire.TypeDataRow, string(make([]byte, 1<<20)))
		for n < total {
			k, err := e.Write(row)
			n += k
			if err != nil {
				break
			}
		}
		sent <- n
	})
	if n := <-sent; n >= total/2 {
		t.Errorf("the gateway took %d bytes that nobody read", n)
	}
	c.Close()
}

func TestBothDirectionsAtOnce(t *testing.T) {
	// Each side sends 16 MB before it reads a byte of its peer's last part, with small socket buffers: the gateway must
	// read each while it waits for the other.
	const total = 16 << 20
	blob := message(wire.TypeCopyData, string(make([]byte, total)))
	small := func(conn net.Conn) {
		if err := conn.(*net.TCPConn).SetReadBuffer(32 << 10); err != nil {
			t.Error(err)
		}
		if err := conn.(*net.TCPConn).SetWriteBuffer(32 << 10); err != nil {
			t.Error(err)
		}
	}
	swap := func(e *end) {
		written := make(chan struct{})
		go func() { defer close(written); e.send(blob) }()
		e.expect(blob)
		<-written
	}
	swapped := make(chan struct{})
	c := logged(t, func(e *end) {
		defer close(swapped)
		small(e.Conn)
		swap(e)
	})
	small(c.Conn)
	swap(c)
	<-swapped
}

func TestHooksTakeMessages(t *testing.T) {
	upstream := scripted(t, func(e *end) {
		e.packet()
		e.send(message(wire.TypeParameterStatus, "a\x00b\x00"), loggedIn)
		e.expect(bytes.Join([][]byte{message('p', "secret"), replacement(message('t', "body")), message('Q', "q\x00")}, nil))
		e.send(message('1', ""), message('x', "unseen"), message('t', "12345"), readyIdle)
		e.closed()
	})
	g, err := New(&Config{Listen: []string{"127.0.0.1:0"}, Upstream: upstream, UpstreamSSLMode: "disable", DrainTimeout: -1, Logger: silent})
	if err != nil {
		t.Fatal(err)
	}
	g.hooks = func(s *session) *hooks {
		return &hooks{front: &choosy{cutter: &s.toServer}, back: &choosy{cutter: &s.toClient}}
	}
	run(t, g)
	c := client(t, g)
	c.send(opening(version30, "user", "u"), message('p', "secret"), message('t', "body"), message('x', "unseen"), message('Q', "q\x00"))
	c.expect(bytes.Join([][]byte{
		message(wire.TypeParameterStatus, "a\x00b\x00"), loggedIn,
		message('1', ""), replacement(message('t', "12345")), readyIdle,
	}, nil))
}

func TestNothingIsLeftOfManySessions(t *testing.T) {
	t.Cleanup(nothingLeft(t))
	upstream := scripted(t, func(e *end) {
		e.packet()
		e.send(loggedIn)
		echo(e)
	})
	g := start(t, &Config{Upstream: upstream, UpstreamSSLMode: "disable"})
	check := nothingLeft(t)
	for i := range 200 {
		c := client(t, g)
		c.send(opening(version30, "user", "u"))
		if i%2 == 0 {
			c.expect(loggedIn)
		}
		if i%3 == 0 {
			c.send(wire.AppendTerminate(nil))
		}
		c.Close()
	}
	check()
	if n := g.Traffic(); n.Accepted != 200 || n.Open != 0 {
		t.Errorf("counters: %+v", n)
	}
}
