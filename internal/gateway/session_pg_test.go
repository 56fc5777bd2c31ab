package gateway

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/cluster"
	"github.com/pghaul/pghaul/internal/clustertest"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

// socketOf is a server's Unix socket as Config.Upstream takes it.
func socketOf(t testing.TB, s *cluster.Server) string {
	t.Helper()
	u, err := url.Parse(s.URI("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get("host") + ":" + u.Query().Get("port")
}

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
		c.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	g, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return run(t, g)
}

func run(t testing.TB, g *Gateway) *Gateway {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the gateway ended: %v", err)
		}
		if open := g.Traffic().Open; open != 0 {
			t.Errorf("%d connections are left", open)
		}
	})
	waiting, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	if _, err := g.Addresses(waiting); err != nil {
		t.Fatalf("the gateway does not listen: %v", err)
	}
	return g
}

func addressOf(g *Gateway) string { return g.addresses[0].String() }

// through is the address of a database by way of a gateway.
func through(t testing.TB, g *Gateway, uri string) string {
	t.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(addressOf(g))
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("host", host)
	q.Set("port", port)
	q.Set("sslmode", "disable")
	u.RawQuery = q.Encode()
	return u.String()
}

func TestRelaysQueries(t *testing.T) {
	uri := clustertest.Database(t)
	g := start(t, &Config{Upstream: socketOf(t, clustertest.Server(t))})
	for _, query := range []string{"SELECT 1", "SELECT string_agg(g::text, ',') FROM generate_series(1, 100000) g", "SHOW server_version"} {
		if got, want := clustertest.Query(t, through(t, g, uri), query), clustertest.Query(t, uri, query); got != want {
			t.Errorf("%s: got %.60q, want %.60q", query, got, want)
		}
	}
	if n := g.Traffic(); n.Sessions != 3 || n.Refused != 0 || n.FromServer < 500000 {
		t.Errorf("counters: %+v", n)
	}
}
