package gateway

import (
	"encoding/binary"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/internal/wire"
)

// streamed is a session in a transaction block whose stream is open, with rows in it.
func streamed(t *testing.T, c *Config, table string) (client *rawClient, uri string, g *Gateway) {
	t.Helper()
	uri = clustertest.Database(t)
	clustertest.Exec(t, uri, table)
	c.Upstream = socketOf(t, clustertest.Server(t))
	c.Mode = Stream
	if c.StreamIdle == 0 {
		c.StreamIdle = time.Hour
	}
	g = start(t, c)
	client = connectRaw(t, through(t, g, uri), "")
	client.send(messages(simple("BEGIN"), parse("s", "INSERT INTO t VALUES ($1, $2)"), syncs()))
	client.read(2)
	client.insert(0, 100)
	for i := range 10 {
		client.insert(100+10*i, 10)
	}
	if n := g.Stats().Total.Taken; n != 100 {
		t.Fatalf("%d INSERTs taken; %+v", n, g.Stats().Tables)
	}
	if !g.Stats().Sessions[0].Copying {
		t.Fatal("no stream is open")
	}
	return client, uri, g
}

// insert sends a group of n rows and wants it acknowledged.
func (c *rawClient) insert(from, n int) {
	c.t.Helper()
	c.send(messages(repeated(n, func(i int) []byte { return messages(bindText("s", fmt.Sprint(from+i), "x"), executing()) }), syncs()))
	if got, want := c.read(1), strings.Repeat("2 \"\"\nC \"INSERT 0 1\\x00\"\n", n)+"Z \"T\"\n"; got != want {
		c.t.Fatalf("replies:\n%s", shorten(got))
	}
}

// says sends messages and wants these texts in what comes up to the ReadyForQuery.
func (c *rawClient) says(send []byte, want ...string) {
	c.t.Helper()
	c.send(send)
	got := c.read(1)
	for _, w := range want {
		if !strings.Contains(got, w) {
			c.t.Errorf("replies:\n%s\nwant %s", got, w)
		}
	}
}

const (
	uniqueT   = "CREATE TABLE t (a int PRIMARY KEY, b text)"
	duplicate = "C23505\\x00Mduplicate key value violates unique constraint"
)

func TestStreamEnds(t *testing.T) {
	commit := func(c *rawClient) { c.says(simple("COMMIT"), `C "COMMIT\x00"`, `Z "I"`) }
	tests := []struct {
		name string
		end  func(c *rawClient)
		rows string
	}{
		{"commit", commit, "200"},
		{"extended commit", func(c *rawClient) {
			c.says(messages(parse("", "COMMIT"), bindText(""), executing(), syncs()), `C "COMMIT\x00"`, `Z "I"`)
		}, "200"},
		{"rollback", func(c *rawClient) { c.says(simple("ROLLBACK"), `C "ROLLBACK\x00"`, `Z "I"`) }, "0"},
		{"terminate", func(c *rawClient) { c.send(wire.AppendTerminate(nil)); c.gone() }, "0"},
		{"close", func(c *rawClient) { c.conn.Close() }, "0"},
		{"select", func(c *rawClient) { c.says(simple("SELECT count(*) FROM t"), `200"`, `Z "T"`); commit(c) }, "200"},
		{"savepoint", func(c *rawClient) {
			c.says(simple("SAVEPOINT x"), `C "SAVEPOINT\x00"`)
			c.insert(1000, 50)
			c.says(simple("ROLLBACK TO x"), `C "ROLLBACK\x00"`, `Z "T"`)
			c.insert(2000, 50)
			commit(c)
		}, "250"},
		{"refused at commit", func(c *rawClient) {
			c.insert(150, 1)
			c.insert(1000, 20)
			c.says(simple("COMMIT"), duplicate, "INSERT 101 of the stream, row 1", `Z "I"`)
			c.says(simple("SELECT 1"), `Z "I"`)
		}, "0"},
		{"refused at extended commit", func(c *rawClient) {
			c.insert(150, 1)
			c.says(messages(parse("", "COMMIT"), bindText(""), executing(), syncs()), duplicate, `Z "I"`)
		}, "0"},
		{"refused at select", func(c *rawClient) {
			c.insert(150, 1)
			c.says(simple("SELECT 1"), duplicate, `Z "E"`)
			c.says(simple("SELECT 1"), "C25P02", `Z "E"`)
			c.says(simple("COMMIT"), `C "ROLLBACK\x00"`, `Z "I"`)
		}, "0"},
		{"refused at extended select", func(c *rawClient) {
			c.insert(150, 1)
			c.says(messages(parse("", "SELECT 1"), bindText(""), executing(), simple("SELECT 2"), syncs()), duplicate, `Z "E"`)
			c.says(simple("ROLLBACK"), `Z "I"`)
		}, "0"},
		{"refused and rolled back", func(c *rawClient) {
			c.insert(150, 1)
			c.says(simple("ROLLBACK"), `C "ROLLBACK\x00"`, `Z "I"`)
		}, "0"},
		{"bad value", func(c *rawClient) {
			c.says(messages(bindText("s", "x", "y"), executing(), syncs()), "C22P02", "unnamed portal parameter $1", `Z "E"`)
			c.says(simple("COMMIT"), `C "ROLLBACK\x00"`, `Z "I"`)
		}, "0"},
		{"another table", func(c *rawClient) {
			c.says(simple("CREATE TABLE u (a int, b text)"), `Z "T"`)
			c.says(simple("INSERT INTO u VALUES (1, 'x')"), `Z "T"`)
			c.insert(1000, 100)
			c.insert(2000, 100)
			commit(c)
		}, "400"},
		{"literals", func(c *rawClient) {
			for i := range 20 {
				c.says(simple(fmt.Sprintf("INSERT INTO t VALUES (%d, 'x')", 1000+i)), `C "INSERT 0 1\x00"`, `Z "T"`)
			}
			commit(c)
		}, "220"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, uri, g := streamed(t, &Config{}, uniqueT)
			test.end(c)
			if n := g.Stats().Sessions; test.name != "close" && len(n) > 0 && n[0].Copying {
				t.Error("the stream is still open")
			}
			c.conn.Close()
			if got := clustertest.Query(t, uri, "LOCK t; SELECT count(*) FROM t"); got != test.rows {
				t.Errorf("%s rows, want %s", got, test.rows)
			}
		})
	}
}

// gone waits for the end of the connection.
func (c *rawClient) gone() {
	c.t.Helper()
	for {
		if _, _, err := c.message(); err != nil {
			return
		}
	}
}

// closed waits for the end of the stream.
func closed(t *testing.T, g *Gateway) {
	t.Helper()
	limit := time.After(20 * time.Second)
	for tick := time.NewTicker(time.Millisecond); g.Stats().Sessions[0].Copying; <-tick.C {
		select {
		case <-limit:
			t.Fatal("the stream stays open")
		default:
		}
	}
}

func TestStreamEndsWhenIdle(t *testing.T) {
	c, uri, g := streamed(t, &Config{StreamIdle: 300 * time.Millisecond}, uniqueT)
	closed(t, g)
	if got := clustertest.Query(t, uri, "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()"); got != "1" {
		t.Errorf("%s sessions idle in their transaction", got)
	}
	c.insert(1000, 100)
	c.says(simple("COMMIT"), `C "COMMIT\x00"`)
	if got := clustertest.Query(t, uri, "SELECT count(*) FROM t"); got != "300" {
		t.Errorf("%s rows", got)
	}
}

func TestStreamIsCancelled(t *testing.T) {
	c, uri, g := streamed(t, &Config{}, uniqueT)
	var key string
	g.mu.Lock()
	for k := range g.keys {
		key = k
	}
	g.mu.Unlock()
	u, _ := url.Parse(through(t, g, uri))
	canceller := dialPlain(t, u)
	packet := binary.BigEndian.AppendUint32(nil, uint32(8+len(key)))
	packet = binary.BigEndian.AppendUint32(packet, cancelCode)
	canceller.send(append(packet, key...))
	canceller.gone()
	closed(t, g)
	c.says(simple("COMMIT"), "C57014\\x00Mcanceling statement due to user request", `Z "I"`)
	c.says(simple("SELECT 17"), `17"`, `Z "I"`)
	if got := clustertest.Query(t, uri, "SELECT count(*) FROM t"); got != "0" {
		t.Errorf("%s rows", got)
	}
}

// TestStreamSeesTheServerDie: the client must learn that its transaction is lost.
func TestStreamSeesTheServerDie(t *testing.T) {
	c, uri, _ := streamed(t, &Config{}, uniqueT)
	clustertest.Query(t, uri, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()")
	c.send(simple("COMMIT"))
	var b strings.Builder
	for {
		kind, body, err := c.message()
		if err != nil {
			break
		}
		fmt.Fprintf(&b, "%c %q\n", kind, body)
	}
	if !strings.Contains(b.String(), "57P01") || strings.Contains(b.String(), "COMMIT") {
		t.Errorf("the client was told %s", b.String())
	}
	if got := clustertest.Query(t, uri, "SELECT count(*) FROM t"); got != "0" {
		t.Errorf("%s rows", got)
	}
}
