package gateway

import (
	"fmt"
	"net"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
)

// foreign makes tables in a database that stand for tables of another server behind the gateway.
func foreign(t testing.TB, g *Gateway, remote string, tables ...string) (local string) {
	t.Helper()
	local = clustertest.DatabaseOn(t, clustertest.Second(t))
	host, port, err := net.SplitHostPort(addressOf(g))
	if err != nil {
		t.Fatal(err)
	}
	clustertest.Exec(t, local, "CREATE EXTENSION postgres_fdw",
		fmt.Sprintf("CREATE SERVER s FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '%s', port '%s', dbname '%s', sslmode 'disable', options '-c pghaul.mode=stream')",
			host, port, databaseOf(remote)),
		"CREATE USER MAPPING FOR CURRENT_USER SERVER s OPTIONS (user 'postgres')")
	clustertest.Exec(t, local, tables...)
	return local
}

func TestForeignTables(t *testing.T) {
	remote := clustertest.Database(t)
	g := start(t, &Config{Upstream: socketOf(t, clustertest.Server(t))})
	clustertest.Exec(t, remote, "CREATE TABLE t (id int, test text)", "CREATE TABLE p (id int PRIMARY KEY, test text)",
		"CREATE TABLE o (id int, g int GENERATED ALWAYS AS (id + 1) STORED, n numeric, d timestamptz)")
	local := foreign(t, g, remote,
		"CREATE FOREIGN TABLE t (id int, test text) SERVER s", "CREATE FOREIGN TABLE p (id int, test text) SERVER s",
		"CREATE FOREIGN TABLE o (id int, g int GENERATED ALWAYS AS (id + 1) STORED, n numeric, d timestamptz) SERVER s")
	const n = 4000
	for _, size := range []int{1, 10, 100, 1000} {
		before := g.Stats().Total.Rows
		clustertest.Exec(t, local, "TRUNCATE t, o",
			fmt.Sprintf("ALTER SERVER s OPTIONS (%s batch_size '%d')", map[bool]string{true: "ADD", false: "SET"}[size == 1], size),
			fmt.Sprintf("INSERT INTO t SELECT i, nullif('a\tb\\' || i, 'a\tb\\7') FROM generate_series(1, %d) i", n),
			fmt.Sprintf("INSERT INTO o (id, n, d) SELECT i, i / 7.0, now() + i * interval '1 hour' FROM generate_series(1, %d) i", n))
		const all = "SELECT md5(string_agg(id || coalesce(test, '-'), ',' ORDER BY id)) FROM %s"
		want := clustertest.Query(t, remote, fmt.Sprintf("SELECT md5(string_agg(i || coalesce(nullif('a\tb\\' || i, 'a\tb\\7'), '-'), ',' ORDER BY i)) FROM generate_series(1, %d) i", n))
		if got := clustertest.Query(t, remote, fmt.Sprintf(all, "t")); got != want {
			t.Errorf("batch_size %d: other rows", size)
		}
		if got := clustertest.Query(t, remote, "SELECT count(*) FROM o WHERE g = id + 1 AND d > now() AND n > 0"); got != fmt.Sprint(n) {
			t.Errorf("batch_size %d: %s rows in the second table", size, got)
		}
		if rows := g.Stats().Total.Rows - before; rows < n {
			t.Errorf("batch_size %d: %d rows taken; %+v", size, rows, g.Stats().Tables)
		}
	}
}
