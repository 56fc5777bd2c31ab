package move

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pghaul/pghaul/internal/cluster"
)

// proxy stands between the move and one server, as a network that can be cut or go silent. It forwards bytes and counts them.
type proxy struct {
	listener net.Listener
	server   string // the server's socket
	group    sync.WaitGroup

	lock    sync.Mutex
	changed *sync.Cond
	links   map[net.Conn]bool
	passed  int64 // bytes of both directions, of all connections
	plan    fault
	down    bool // new connections are ended too
	closed  bool
}

// fault is what goes wrong on the line, at positions counted in bytes of both directions together; 0 means never.
type fault struct {
	cutAt   int64 // every connection ends
	stays   bool  // after the cut new connections fail too
	stallAt int64 // nothing is forwarded any more
	callAt  int64 // call is called once
	call    func()
}

// newProxy listens on a socket of its own, named as libpq expects it.
func newProxy(t testing.TB, s *cluster.Server) *proxy {
	t.Helper()
	dir, err := os.MkdirTemp("", "proxy") //nolint:usetesting // a socket has room for 107 bytes of path
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, fmt.Sprintf(".s.PGSQL.%d", s.Port())))
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, server: filepath.Join(s.SocketDir(), fmt.Sprintf(".s.PGSQL.%d", s.Port())), links: map[net.Conn]bool{}}
	p.changed = sync.NewCond(&p.lock)
	p.group.Add(1)
	go p.accept()
	t.Cleanup(func() {
		p.close()
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return p
}

// uri is an address through the proxy in the place of one of the server's.
func (p *proxy) uri(t testing.TB, direct string) string {
	t.Helper()
	u, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("host", filepath.Dir(p.listener.Addr().String()))
	u.RawQuery = q.Encode()
	return u.String()
}

func (p *proxy) accept() {
	defer p.group.Done()
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", p.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.lock.Lock()
		refuse := p.down || p.closed
		if !refuse {
			p.links[client], p.links[server] = true, true
			p.group.Add(2)
		}
		p.lock.Unlock()
		if refuse {
			_, _ = client.Close(), server.Close()
			continue
		}
		go p.forward(client, server)
		go p.forward(server, client)
	}
}

// forward copies one direction. It lets through exactly the bytes up to the cut.
func (p *proxy) forward(from, to net.Conn) {
	defer p.group.Done()
	defer p.end(from, to)
	block := make([]byte, 16<<10)
	for {
		n, err := from.Read(block)
		if n > 0 {
			through, cut := p.pass(int64(n))
			if _, err := to.Write(block[:through]); err != nil {
				return
			}
			if cut {
				p.cutAll()
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// pass counts n bytes and says how many of them go on, and whether that is the end. It waits while the line is silent.
func (p *proxy) pass(n int64) (through int64, cut bool) {
	p.lock.Lock()
	defer p.lock.Unlock()
	for p.plan.stallAt > 0 && p.passed >= p.plan.stallAt && !p.closed {
		p.changed.Wait()
	}
	before := p.passed
	p.passed += n
	if p.plan.callAt > 0 && p.passed >= p.plan.callAt {
		p.plan.callAt = 0
		p.plan.call()
	}
	if at := p.plan.cutAt; at > 0 && p.passed >= at {
		p.down = p.plan.stays
		p.plan.cutAt = 0
		return at - before, true
	}
	return n, p.down
}

func (p *proxy) end(links ...net.Conn) {
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, c := range links {
		_ = c.Close()
		delete(p.links, c)
	}
}

// cutAll ends all connections.
func (p *proxy) cutAll() {
	p.lock.Lock()
	defer p.lock.Unlock()
	for c := range p.links {
		_ = c.Close()
	}
}

// arm says what will go wrong, counted from now. What went wrong before is mended.
func (p *proxy) arm(f fault) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.passed, p.plan, p.down = 0, f, false
	p.changed.Broadcast()
}

func (p *proxy) count() int64 {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.passed
}

func (p *proxy) close() {
	p.lock.Lock()
	p.closed = true
	p.changed.Broadcast()
	p.lock.Unlock()
	_ = p.listener.Close()
	p.cutAll()
	p.group.Wait()
}

// The proxy must be right before it judges others.
func TestProxyCutsAtByte(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got := make(chan int64, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			got <- -1
			return
		}
		n, _ := io.Copy(io.Discard, c)
		got <- n
	}()
	p := &proxy{server: filepath.Join(dir, "s"), links: map[net.Conn]bool{}}
	p.changed = sync.NewCond(&p.lock)
	if p.listener, err = net.Listen("unix", filepath.Join(dir, "p")); err != nil {
		t.Fatal(err)
	}
	p.group.Add(1)
	go p.accept()
	defer p.close()
	p.arm(fault{cutAt: 10001})
	c, err := net.Dial("unix", filepath.Join(dir, "p"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = io.Copy(c, strings.NewReader(strings.Repeat("x", 1<<20)))
	if n := <-got; n != 10001 {
		t.Errorf("%d bytes went through", n)
	}
	if err != nil && !errors.Is(err, net.ErrClosed) {
		t.Logf("the writer saw: %v", err)
	}
}
