package gateway

import (
	"net"
	"net/url"
	"testing"

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
