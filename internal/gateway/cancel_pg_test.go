package gateway

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/internal/wire"
)

// keyed logs in and returns the session's key.
func keyed(t *testing.T, g *Gateway, uri string, version uint32) (*end, []byte) {
	t.Helper()
	c := client(t, g)
	c.send(opening(version, "user", "postgres", "database", database(t, uri)))
	var key []byte
	for {
		kind, body, err := c.frame()
		if err != nil {
			t.Fatal(err)
		}
		switch kind {
		case wire.TypeBackendKeyData:
			key = body
		case wire.TypeReadyForQuery:
			return c, key
		}
	}
}

// codes reads up to ReadyForQuery and returns the SQLSTATEs of the errors.
func (e *end) codes() (list []string) {
	e.t.Helper()
	for {
		kind, body, err := e.frame()
		if err != nil {
			e.t.Fatalf("read: %v", err)
		}
		switch kind {
		case wire.TypeError:
			report, err := wire.ParseReport(body)
			if err != nil {
				e.t.Fatal(err)
			}
			list = append(list, report.Code)
		case wire.TypeReadyForQuery:
			return list
		}
	}
}

// requestCancel sends a cancel request and waits until it has been carried out.
func requestCancel(t *testing.T, g *Gateway, key []byte) {
	t.Helper()
	c := client(t, g)
	c.send(asPacket(cancelCode, string(key)))
	c.closed()
	c.Close()
}

func TestCancelHitsTheRunningStatement(t *testing.T) {
	uri := clustertest.Database(t)
	g := start(t, &Config{Upstream: socketOf(t, clustertest.Server(t))})
	for _, version := range []uint32{version30, version30 + 2} {
		c, key := keyed(t, g, uri, version)
		c.send(query("SELECT pg_sleep(600)"))
		eventually(t, "the query runs", func() bool {
			return clustertest.Query(t, uri, "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)' AND state = 'active' "+
				"AND wait_event = 'PgSleep'") == "1"
		})
		requestCancel(t, g, key)
		if got := fmt.Sprint(c.codes()); got != "[57014]" {
			t.Errorf("version %x: got %s", version, got)
		}
		c.send(query("SELECT 1"))
		if got := c.codes(); got != nil {
			t.Errorf("the next statement: %v", got)
		}
		c.Close()
	}
}

func TestCancelNeverHitsALaterStatement(t *testing.T) {
	// A client that has seen its cancel request's connection closed sends the next statement: that must run.
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE t (a int)")
	g := start(t, &Config{Upstream: socketOf(t, clustertest.Server(t))})
	c, key := keyed(t, g, uri, version30)
	rows := bytes.Repeat(wire.AppendCopyData(nil, []byte("1\n")), 200)
	for i := range 150 {
		victim := query("SELECT count(*) FROM generate_series(1, 20000)")
		if i%3 == 0 {
			victim = bytes.Join([][]byte{query("COPY t FROM STDIN"), rows, wire.AppendCopyDone(nil)}, nil)
		}
		var cancelling sync.WaitGroup
		cancelling.Go(func() { requestCancel(t, g, key) })
		c.send(victim)
		for _, code := range c.codes() {
			if code != "57014" {
				t.Fatalf("the victim got %s", code)
			}
		}
		cancelling.Wait()
		// A signal that came between statements is dropped when the next one starts: one round trip clears it.
		c.send(wire.AppendSync(nil))
		c.codes()
		c.send(query("SELECT 1"))
		if got := c.codes(); got != nil {
			t.Fatalf("round %d: the next statement got %v", i, got)
		}
	}
}

func TestCancelStormLeavesNothing(t *testing.T) {
	uri := clustertest.Database(t)
	t.Cleanup(nothingLeft(t))
	g := start(t, &Config{Upstream: socketOf(t, clustertest.Server(t))})
	c, key := keyed(t, g, uri, version30)
	var storm sync.WaitGroup
	for range 8 {
		storm.Go(func() {
			for range 20 {
				requestCancel(t, g, key)
			}
		})
	}
	storm.Wait()
	c.send(wire.AppendSync(nil))
	c.codes()
	c.send(query("SELECT 1"))
	if got := c.codes(); got != nil {
		t.Errorf("after the storm: %v", got)
	}
	c.Close()
}

func TestNoticesWhileTheClientSends(t *testing.T) {
	// The server raises far more than the sockets hold while the client is still sending: both must go on.
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, `CREATE TABLE t (a text)`, `CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN RAISE NOTICE '%', repeat('n', 100000); RETURN NULL; END $$`,
		`CREATE TRIGGER f BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()`)
	for _, mode := range []Mode{Off, Strict, Stream} {
		g := start(t, &Config{Upstream: socketOf(t, clustertest.Server(t)), Mode: mode})
		c, _ := keyed(t, g, uri, version30)
		const count = 60
		value := bytes.Repeat([]byte{'v'}, 1<<20)
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			c.send(wire.AppendParse(nil, "s", "INSERT INTO t VALUES ($1)", nil))
			for range count {
				c.send(wire.AppendBind(nil, &wire.Bind{Statement: "s", Params: [][]byte{value}}), wire.AppendExecute(nil, "", 0))
			}
			c.send(wire.AppendSync(nil))
		}()
		notices := 0
		for _, line := range c.until(1) {
			if line[0] == wire.TypeNotice {
				notices++
			}
		}
		<-sent
		if notices != count {
			t.Errorf("%v: %d notices, want %d", mode, notices, count)
		}
		c.Close()
	}
}
