package gateway

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/pghaul/pghaul/internal/cluster"
	"github.com/pghaul/pghaul/internal/clustertest"
)

// ledger is what clients were told of their transactions.
type ledger struct {
	mu        sync.Mutex
	committed []int
	next      int
}

func (l *ledger) begin() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	return l.next
}

func (l *ledger) commit(id int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.committed = append(l.committed, id)
}

const rowsOfKilled = 200

// transactions runs transactions of rowsOfKilled rows until its connection breaks.
func (l *ledger) transactions(u *url.URL) {
	conn, err := net.Dial("tcp", net.JoinHostPort(u.Query().Get("host"), u.Query().Get("port")))
	if err != nil {
		return
	}
	defer conn.Close()
	c := &rawClient{conn: conn}
	tell := func(b []byte) (string, bool) {
		if _, err := conn.Write(b); err != nil {
			return "", false
		}
		var all strings.Builder
		for {
			kind, body, err := c.message()
			if err != nil {
				return "", false
			}
			fmt.Fprintf(&all, "%c%s;", kind, body)
			if kind == 'Z' {
				return all.String(), true
			}
		}
	}
	if _, ok := tell(startupFor(u, "")); !ok {
		return
	}
	tell(messages(parse("s", "INSERT INTO t VALUES ($1, $2)"), syncs()))
	for {
		id := l.begin()
		if _, ok := tell(simple("BEGIN")); !ok {
			return
		}
		for range rowsOfKilled / 10 {
			if _, ok := tell(messages(repeated(10, func(i int) []byte {
				return messages(bindText("s", fmt.Sprint(id), "some text"), executing())
			}), syncs())); !ok {
				return
			}
		}
		answer, ok := tell(simple("COMMIT"))
		if !ok {
			return
		}
		if strings.Contains(answer, "CCOMMIT") {
			l.commit(id)
		}
	}
}

// TestNoCommitIsLost breaks connections, sessions and the server itself while transactions stream. Each transaction is there
// as a whole or not at all, and each that a client was told of is there.
func TestNoCommitIsLost(t *testing.T) {
	server := clustertest.Private(t, &cluster.Options{})
	uri := server.URI("postgres")
	clustertest.Exec(t, uri, "CREATE TABLE t (a int, b text)")
	g := start(t, &Config{Upstream: socketOf(t, server), Mode: Stream})
	u, err := url.Parse(through(t, g, uri))
	if err != nil {
		t.Fatal(err)
	}
	l := &ledger{}
	r := rand.New(rand.NewPCG(1, 2))
	disturb := []func(){
		func() { // as when the gateway is killed: the kernel closes both connections
			for _, m := range g.all() {
				m.abort()
			}
		},
		func() {
			clustertest.Query(t, uri, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
		},
		func() {
			if err := server.Kill(); err != nil {
				t.Error(err)
			}
		},
	}
	for round := range 6 {
		var clients sync.WaitGroup
		for range 3 {
			clients.Go(func() { l.transactions(u) })
		}
		enough := len(l.acknowledged()) + 10 + r.IntN(30)
		eventually(t, "transactions", func() bool { return len(l.acknowledged()) >= enough })
		disturb[round%3]()
		clients.Wait()
		if round%3 == 2 {
			if err := server.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := g.Stats().Total.Taken; n == 0 {
		t.Error("nothing was streamed")
	}
	eventually(t, "the end of all transactions", func() bool {
		return clustertest.Query(t, uri, "SELECT count(*) FROM pg_locks WHERE relation = 't'::regclass") == "0"
	})
	if got := clustertest.Query(t, uri, fmt.Sprintf("SELECT count(*) FROM (SELECT FROM t GROUP BY a HAVING count(*) <> %d) x", rowsOfKilled)); got != "0" {
		t.Errorf("%s transactions are there in part", got)
	}
	there := map[string]bool{}
	for _, id := range strings.Split(clustertest.Query(t, uri, "SELECT DISTINCT a FROM t"), "\n") {
		there[id] = true
	}
	for _, id := range l.acknowledged() {
		if !there[fmt.Sprint(id)] {
			t.Errorf("transaction %d was acknowledged and is lost", id)
		}
	}
	t.Logf("%d transactions, %d acknowledged, %d there", l.next, len(l.committed), len(there))
}

func (l *ledger) acknowledged() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.committed[:len(l.committed):len(l.committed)]
}
