package gateway

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/cluster"
	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/internal/wire"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

// socketOf is a server's Unix socket as Config.Upstream takes it.
func socketOf(t testing.TB, s *cluster.Server) string {
	t.Helper()
	q := parsed(t, s.URI("postgres")).Query()
	return q.Get("host") + ":" + q.Get("port")
}

func parsed(t testing.TB, uri string) *url.URL {
	t.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// through is the address of a database by way of a gateway.
func through(t testing.TB, g *Gateway, uri string) string {
	t.Helper()
	a, err := parseAddress(addressOf(g))
	if err != nil {
		t.Fatal(err)
	}
	u := parsed(t, uri)
	q := u.Query()
	q.Set("host", a.host)
	q.Set("port", a.port)
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

// direct connects to the test server without a gateway.
func direct(t *testing.T) *end {
	t.Helper()
	a, err := parseAddress(socketOf(t, clustertest.Server(t)))
	if err != nil {
		t.Fatal(err)
	}
	return dialled(t, a.network, a.String())
}

func database(t *testing.T, uri string) string {
	t.Helper()
	return strings.TrimPrefix(parsed(t, uri).Path, "/")
}

// conversation is what a client sends, in parts that each wait for so many ReadyForQuery.
type conversation struct {
	name  string
	parts []part
}

type part struct {
	bytes []byte
	ready int // -1: up to the end of the connection
}

func query(sql string) []byte { return wire.AppendQuery(nil, sql) }

func glued(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// play sends the parts and writes down the answers.
func (d *conversation) play(c *end, byteWise bool) []string {
	var log []string
	for _, p := range d.parts {
		if byteWise && len(p.bytes) < 500 {
			c.trickle(p.bytes)
		} else {
			// In the background: a server that answers while it reads needs a reader.
			go func() { _, _ = c.Write(p.bytes) }()
		}
		ready := p.ready
		if ready < 0 {
			ready = 1 << 30
		}
		log = append(log, c.until(ready)...)
	}
	return log
}

// same fails unless the conversation goes as without a gateway.
func (d *conversation) same(t *testing.T, g *Gateway, uri string, version uint32, setup string, extra ...string) {
	t.Helper()
	var logs [3][]string
	for i, connect := range []func() *end{func() *end { return direct(t) }, func() *end { return client(t, g) }, func() *end { return client(t, g) }} {
		if setup != "" {
			clustertest.Exec(t, uri, setup)
		}
		c := connect()
		c.send(opening(version, append([]string{"user", "postgres", "database", database(t, uri)}, extra...)...))
		log := c.until(1)
		if log[len(log)-1] != "end" {
			log = append(log, d.play(c, i == 2)...)
		}
		logs[i] = log
		c.Close()
	}
	for i, way := range []string{"through the gateway", "through the gateway byte by byte"} {
		if !slices.Equal(logs[0], logs[i+1]) {
			t.Errorf("%s:\n%s\ndirect:\n%s", way, strings.Join(logs[i+1], "\n"), strings.Join(logs[0], "\n"))
		}
	}
}

func conversations() []conversation {
	copyIn := wire.AppendExtendedCopy(nil, "COPY t FROM STDIN")
	row := wire.AppendCopyData(nil, []byte("1\tx\n"))
	bad := wire.AppendCopyData(nil, []byte("y\tx\n"))
	done, sync, flush := wire.AppendCopyDone(nil), wire.AppendSync(nil), wire.AppendFlush(nil)
	count := query("SELECT count(*) FROM t")
	pipelined := glued(
		wire.AppendParse(nil, "s", "INSERT INTO t VALUES ($1, 'x')", nil),
		bytes.Repeat(glued(wire.AppendBind(nil, &wire.Bind{Statement: "s", Params: [][]byte{[]byte("7")}}), wire.AppendExecute(nil, "", 0), sync), 100))
	cursor := glued(
		wire.AppendParse(nil, "", "SELECT generate_series(1, 5)", nil), wire.AppendBind(nil, &wire.Bind{Portal: "p"}),
		wire.AppendExecute(nil, "p", 2), wire.AppendExecute(nil, "p", 2), wire.AppendClose(nil, wire.Portal, "p"), sync)
	return []conversation{
		{"simple queries", []part{{query("SELECT 1; SELECT 2"), 1}, {query(""), 1}, {query("SELECT 1/0; SELECT 2"), 1}, {wire.AppendTerminate(nil), -1}}},
		{"extended COPY, Sync behind", []part{{glued(copyIn, row, row, done, sync), 1}, {count, 1}}},
		{"extended COPY, Sync before and behind", []part{{glued(copyIn, sync, row, done, sync), 1}, {count, 1}}},
		{"extended COPY that cannot start, Sync before and behind", []part{
			{glued(wire.AppendExtendedCopy(nil, "COPY none FROM STDIN"), sync, row, done, sync), 2}, {count, 1}}},
		{"simple COPY without waiting", []part{{glued(query("COPY t FROM STDIN"), row, done, count), 2}}},
		{"bad first row", []part{{glued(query("COPY t FROM STDIN"), bad, row, done, count), 2}}},
		{"bad middle row", []part{{glued(query("COPY t FROM STDIN"), row, bad, row, done, count), 2}}},
		{"bad last row", []part{{glued(query("COPY t FROM STDIN"), row, bad, done, count), 2}}},
		{"CopyFail", []part{{glued(query("COPY t FROM STDIN"), row, wire.AppendCopyFail(nil, "enough"), count), 2}}},
		{"empty CopyData", []part{{glued(query("COPY t FROM STDIN"), wire.AppendCopyData(nil, nil), row, wire.AppendCopyData(nil, nil), done, count), 2}}},
		{"rows over frames", []part{{glued(query("COPY t FROM STDIN CSV"), wire.AppendCopyData(nil, []byte(`1,"a`)),
			wire.AppendCopyData(nil, []byte("\n,b\"\n2")), wire.AppendCopyData(nil, []byte(`,"\N"`+"\n")), done, query("SELECT concat_ws('|', a, b) FROM t")), 2}}},
		{"pg_dump's end of data", []part{{glued(query("COPY t FROM STDIN"), row, wire.AppendCopyData(nil, []byte("\\.\n")), done, query("SELECT concat_ws('|', a, b) FROM t")), 2}}},
		{"tiny CopyData", []part{{glued(query("COPY t FROM STDIN"), bytes.Repeat(glued(wire.AppendCopyData(nil, []byte("1")),
			wire.AppendCopyData(nil, []byte("\t")), wire.AppendCopyData(nil, []byte("\n"))), 20000), done, count), 2}}},
		{"COPY out", []part{{query("COPY (SELECT repeat('x', 100), g FROM generate_series(1, 20000) g) TO STDOUT"), 1}}},
		{"COPY out that fails", []part{{query("COPY (SELECT 1/(5000-g) FROM generate_series(1, 10000) g) TO STDOUT"), 1}, {count, 1}}},
		{"COPY between named statements", []part{{glued(wire.AppendParse(nil, "a", "SELECT 1", nil), sync, query("COPY t FROM STDIN"), row, done,
			wire.AppendBind(nil, &wire.Bind{Statement: "a"}), wire.AppendExecute(nil, "", 0), sync), 3}}},
		{"a query during COPY", []part{{glued(query("COPY t FROM STDIN"), row, count), -1}}},
		{"Terminate during COPY", []part{{glued(query("COPY t FROM STDIN"), row, wire.AppendTerminate(nil)), -1}}},
		{"Terminate in a transaction", []part{{query("BEGIN; INSERT INTO t VALUES (1, 'x')"), 1}, {wire.AppendTerminate(nil), -1}}},
		{"100 Syncs in flight", []part{{pipelined, 100}, {count, 1}}},
		{"100 queries in flight", []part{{bytes.Repeat(query("SELECT 1"), 100), 100}}},
		{"suspended portals", []part{{cursor, 1}}},
		{"errors skip to Sync", []part{{glued(wire.AppendParse(nil, "", "SELEC", nil), flush, wire.AppendParse(nil, "", "SELECT 1", nil), sync, count), 2}}},
		{"function call", []part{{message('F', "\x00\x00\x05\x71\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x10\x00\x01"), 1}, {count, 1}}},
		{"unknown type", []part{{message('~', "x"), -1}}},
		{"invalid length", []part{{[]byte{'Q', 0, 0, 0, 3}, -1}}},
		{"length above the server's limit", []part{{[]byte{'S', 0, 1, 0, 0}, -1}}},
		{"length above any limit", []part{{[]byte{'Q', 0x7f, 0xff, 0xff, 0xff}, -1}}},
		{"1 MB", []part{{query("SELECT length('" + strings.Repeat("x", 1<<20) + "')"), 1}}},
		{"16 MB there and back", []part{{query("SELECT '" + strings.Repeat("x", 16<<20) + "'"), 1}}},
		{"terminated from inside", []part{{query("SELECT pg_terminate_backend(pg_backend_pid())"), -1}}},
	}
}

func TestConversationsAreAsWithoutGateway(t *testing.T) {
	uri := clustertest.Database(t)
	modes := map[string]*Gateway{}
	for _, mode := range []Mode{Off, Strict, Stream} {
		modes[mode.String()] = start(t, &Config{Upstream: socketOf(t, clustertest.Server(t)), Mode: mode})
	}
	for _, d := range conversations() {
		for mode, g := range modes {
			t.Run(d.name+"/"+mode, func(t *testing.T) {
				d.same(t, g, uri, version30, "DROP TABLE IF EXISTS t; CREATE TABLE t (a text, b text)")
			})
		}
	}
}

func TestVersionsAreNegotiatedByTheServer(t *testing.T) {
	uri := clustertest.Database(t)
	g := start(t, &Config{Upstream: socketOf(t, clustertest.Server(t))})
	for _, tt := range []struct {
		version uint32
		extra   []string
	}{
		{version30, nil},
		{version30 + 1, nil},
		{version30 + 2, nil},
		{version30 + 9999, []string{"_pq_.test_protocol_negotiation", ""}},
		{version30, []string{"_pq_.foo", "1"}},
		{4 << 16, nil},
		{version30, []string{"options", `-c work_mem=77MB -c application_name=a\ b --search_path=x`}},
		{version30, []string{"no_such_parameter", "x"}},
		{version30, []string{"replication", "database"}},
	} {
		t.Run(fmt.Sprintf("%d.%d %q", tt.version>>16, tt.version&0xffff, tt.extra), func(t *testing.T) {
			d := conversation{parts: []part{{query("SELECT current_setting('application_name')"), 1}}}
			if slices.Contains(tt.extra, "replication") {
				d.parts = []part{{query("SHOW work_mem"), 1}}
			}
			d.same(t, g, uri, tt.version, "", tt.extra...)
		})
	}
}

func TestVersion2IsRefusedByTheServer(t *testing.T) {
	g := start(t, &Config{Upstream: socketOf(t, clustertest.Server(t))})
	p := asPacket(2<<16, strings.Repeat("\x00", 288))
	var said [2][]byte
	for i, c := range []*end{direct(t), client(t, g)} {
		c.send(p)
		var b bytes.Buffer
		_, _ = b.ReadFrom(c.Conn)
		said[i] = b.Bytes()
	}
	if !bytes.Equal(said[0], said[1]) {
		t.Errorf("got %q, want %q", said[1], said[0])
	}
}
