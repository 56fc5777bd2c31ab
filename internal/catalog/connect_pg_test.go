package catalog

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/cluster"
	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

func TestConnectAppliesSettings(t *testing.T) {
	uri := clustertest.Database(t)
	role := newRole(t, uri, "")
	clustertest.Exec(t, uri, "ALTER ROLE "+role+" SET statement_timeout = '1h'", "ALTER ROLE "+role+" SET DateStyle = 'German'",
		"ALTER ROLE "+role+" SET search_path = 'a, b'", "ALTER ROLE "+role+" SET idle_session_timeout = '1h'")
	c := connect(t, as(t, uri, role))
	for name, want := range map[string]string{
		"client_encoding": "UTF8", "DateStyle": "ISO, YMD", "IntervalStyle": "postgres", "TimeZone": "UTC", "lc_monetary": "C",
		"extra_float_digits": "3", "bytea_output": "hex", "xmloption": "content", "search_path": "", "row_security": "off",
		"statement_timeout": "0", "lock_timeout": "0", "idle_in_transaction_session_timeout": "0", "idle_session_timeout": "0",
		"synchronize_seqscans": "off", "application_name": "pghaul", "array_nulls": "on",
	} {
		var got string
		if err := c.QueryRow(t.Context(), "SHOW "+name).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestLocalSettingsEndWithTheTransaction(t *testing.T) {
	uri := clustertest.Database(t)
	config, err := pgconn.ParseConfig(uri)
	if err != nil {
		t.Fatal(err)
	}
	c, err := pgconn.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	all := `SELECT md5(string_agg(name || setting, ',' ORDER BY name COLLATE "C")) FROM pg_settings WHERE name <> 'transaction_isolation'`
	show := func(sql string) string {
		results, err := c.Exec(t.Context(), sql).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return string(results[len(results)-1].Rows[0][0])
	}
	before := show(all)
	if during := show("BEGIN; " + LocalSettings("LATIN1") + "; SHOW client_encoding"); during != "LATIN1" {
		t.Errorf("encoding %s", during)
	}
	if _, err := c.Exec(t.Context(), "COMMIT").ReadAll(); err != nil {
		t.Fatal(err)
	}
	if after := show(all); after != before {
		t.Error("a setting outlives the transaction")
	}
}

func TestConnectErrors(t *testing.T) {
	uri := clustertest.Database(t)
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	socket := "host=" + u.Query().Get("host") + " port=" + u.Query().Get("port")
	closed := closedPort(t)
	for _, test := range []struct{ name, dsn, state, place, hint string }{
		{"database missing", socket + " user=postgres dbname=nowhere password=" + secret, "3D000", "database nowhere", "database"},
		{"role missing", socket + " user=nobody_here dbname=postgres password=" + secret, "28000", "as nobody_here", "user's name"},
		{"nothing listens", "host=127.0.0.1 port=" + closed + " user=u dbname=d password=" + secret, "", "127.0.0.1:" + closed, "runs and listens"},
		{"no socket", "host=/nonexistent user=u dbname=d password=" + secret, "", "/nonexistent:5432", "runs and listens"},
		{"unknown host", "host=no-such-host.invalid user=u dbname=d password=" + secret, "", "no-such-host.invalid:5432", "name of the host"},
		{"several", "host=/nonexistent,127.0.0.1 port=1," + closed + " user=u dbname=d password=" + secret, "", "/nonexistent:1, 127.0.0.1:" + closed, ""},
		{"unknown parameter", socket + " user=postgres dbname=postgres nonsense=1 password=" + secret, "42704", "", "parameter"},
	} {
		_, err := Connect(t.Context(), test.dsn, "")
		e := plannerError(t, err)
		if e.Kind != planner.Failed || sqlState(err) != test.state || !strings.Contains(e.Message, test.place) || !strings.Contains(e.Hint, test.hint) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q hint %q state %s", test.name, err, e.Hint, sqlState(err))
		}
		hidden(t, test.name, err)
		var outer *pgconn.ConnectError
		if errors.As(err, &outer) {
			t.Errorf("%s: the error carries the configuration", test.name)
		}
	}
}

// closedPort is one that nothing listens on.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(port)
}

func TestConnectChecksPasswordAndTLS(t *testing.T) {
	s := clustertest.Private(t, &cluster.Options{TCP: true})
	clustertest.Exec(t, s.URI("postgres"), "CREATE ROLE ann LOGIN PASSWORD 'right'", "CREATE ROLE full LOGIN CONNECTION LIMIT 0",
		"CREATE DATABASE closed", "REVOKE CONNECT ON DATABASE closed FROM PUBLIC")
	hba := "local all postgres trust\nlocal all full trust\nhost all ann 127.0.0.1/32 scram-sha-256\n"
	if err := os.WriteFile(filepath.Join(s.Dir(), "pg_hba.conf"), []byte(hba), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(t.Context()); err != nil { // a reload would be seen by the next connection or the one after
		t.Fatal(err)
	}
	u, err := url.Parse(s.URI("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	tcp := "host=127.0.0.1 port=" + u.Query().Get("port") + " user=ann dbname=postgres "
	c, err := Connect(t.Context(), tcp+"password=right", "")
	if err != nil {
		t.Fatal(err)
	}
	server, err := Server(t.Context(), c)
	if err != nil || server.User != "ann" || server.Superuser || server.Address != "127.0.0.1:"+u.Query().Get("port")+"/postgres" {
		t.Errorf("%+v, %v", server, err)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	local := "host=" + u.Query().Get("host") + " port=" + u.Query().Get("port")
	for _, test := range []struct{ name, dsn, state, hint string }{
		{"wrong password", tcp + "password=" + secret, "28P01", "PGPASSWORD"},
		{"no TLS", tcp + "sslmode=require password=" + secret, "", "sslmode"},
		{"not in pg_hba.conf", local + " user=ann dbname=postgres password=" + secret, "28000", "pg_hba.conf"},
		{"no more connections", local + " user=full dbname=postgres password=" + secret, "53300", "fewer connections"},
		{"no CONNECT privilege", tcp + "dbname=closed password=right", "42501", "CONNECT"},
	} {
		_, err := Connect(t.Context(), test.dsn, "")
		e := plannerError(t, err)
		if sqlState(err) != test.state || !strings.Contains(e.Hint, test.hint) {
			t.Errorf("%s: %v, hint %q, state %s", test.name, err, e.Hint, sqlState(err))
		}
		hidden(t, test.name, err)
	}
}

func TestConnectIsCancelled(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	wait.Add(1)
	go func() { // a server that takes the connection and says nothing
		defer wait.Done()
		peer, err := l.Accept()
		if err != nil {
			return
		}
		cancel()
		_, _ = io.Copy(io.Discard, peer)
		_ = peer.Close()
	}()
	_, err = Connect(ctx, "host=127.0.0.1 sslmode=disable user=u dbname=d port="+strconv.Itoa(l.Addr().(*net.TCPAddr).Port), "")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	wait.Wait()
}

func TestCancelStopsTheStatement(t *testing.T) {
	uri := clustertest.Database(t)
	c, err := Connect(t.Context(), uri, "")
	if err != nil {
		t.Fatal(err)
	}
	pid := c.PgConn().PID()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := c.Exec(ctx, "SELECT pg_sleep(600)"); err == nil {
		t.Error("pg_sleep ended")
	}
	_ = c.Close(t.Context())
	// The server must not go on; its process ends on its own, and pg_stat_activity tells when.
	clustertest.Exec(t, uri, `DO $$ BEGIN FOR i IN 1..1000 LOOP
		PERFORM pg_stat_clear_snapshot();
		IF NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = `+strconv.Itoa(int(pid))+`) THEN RETURN; END IF;
		PERFORM pg_sleep(0.01); END LOOP; RAISE 'the statement goes on'; END $$`)
}

// otherPID is a proxy that, like a pooler, names another process in the start-up than the one that serves.
func otherPID(t *testing.T, uri string) string {
	t.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		wait.Wait()
	})
	wait.Add(1)
	go func() {
		defer wait.Done()
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", u.Query().Get("host")+"/.s.PGSQL."+u.Query().Get("port"))
			if err != nil {
				_ = client.Close()
				continue
			}
			wait.Add(2)
			go func() {
				defer wait.Done()
				_, _ = io.Copy(server, client)
				_ = server.Close()
			}()
			go func() {
				defer wait.Done()
				changePID(client, server)
				_ = client.Close()
			}()
		}
	}()
	return "postgres://postgres@" + l.Addr().String() + u.Path + "?sslmode=disable"
}

// changePID forwards the server's messages; the first BackendKeyData ('K') gets another process number.
func changePID(client io.Writer, server io.Reader) {
	for {
		head := make([]byte, 5)
		if _, err := io.ReadFull(server, head); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(server, body); err != nil {
			return
		}
		if head[0] == 'K' {
			binary.BigEndian.PutUint32(body, binary.BigEndian.Uint32(body)+1)
		}
		if _, err := client.Write(slices.Concat(head, body)); err != nil {
			return
		}
	}
}

func TestConnectThroughPooler(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, `CREATE TABLE t (a int, d date DEFAULT '2024-01-02')`)
	c := connect(t, otherPID(t, uri))
	var path string
	if err := c.QueryRow(t.Context(), "SHOW search_path").Scan(&path); err != nil {
		t.Fatal(err)
	}
	if path == "" {
		t.Error("the settings reached a session that belongs to others too")
	}
	server, err := Server(t.Context(), c)
	if err != nil || !server.Pooled {
		t.Errorf("%+v, %v", server, err)
	}
	if got, err := Read(t.Context(), c, "public", "t", Target); err != nil || len(got.Columns) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := ReadQuery(t.Context(), c, "SELECT * FROM t"); err != nil || len(got.Columns) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if err := c.QueryRow(t.Context(), "SHOW search_path").Scan(&path); err != nil || path == "" {
		t.Errorf("reading facts left search_path %q (%v)", path, err)
	}
}
