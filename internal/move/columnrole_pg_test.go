package move

import (
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// A role that may read some columns only may not LOCK the table.
func TestColumnPrivilegesSuffice(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE ROLE column_reader LOGIN", "CREATE TABLE s (id int, secret text, name text)",
		"INSERT INTO s SELECT g, 'x', 'n' || g FROM generate_series(1, 3000) g", "GRANT SELECT (id, name) ON s TO column_reader",
		"CREATE TABLE p (id int, secret text) PARTITION BY RANGE (id)", "CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10)",
		"INSERT INTO p VALUES (1, 'x')", "GRANT SELECT (id) ON p TO column_reader",
		"CREATE TABLE d (id int, name text)", "CREATE TABLE e (id int)")
	defer clustertest.Exec(t, uri, "DROP OWNED BY column_reader", "DROP ROLE column_reader")
	clustertest.Exec(t, uri, "GRANT INSERT, SELECT ON d, e TO column_reader", "GRANT USAGE, CREATE ON SCHEMA public TO column_reader")
	reader := strings.Replace(uri, "postgres@", "column_reader@", 1)
	q := onePair(reader, uri, "s", "d", planner.Wish{Columns: []string{"id", "name"}, Connections: 3, RangeBytes: 8192})
	q.Verify = VerifyHash
	moves(t, q)
	sameContents(t, uri, "SELECT id, name FROM s", uri, "SELECT id, name FROM d")
	moves(t, onePair(reader, uri, "p", "e", planner.Wish{Columns: []string{"id"}}))
	if got := clustertest.Query(t, uri, "SELECT * FROM e"); got != "1" {
		t.Errorf("rows %q", got)
	}
}

func TestCreateLikeForeignTableWithOtherNames(t *testing.T) {
	home, far := clustertest.Database(t), clustertest.DatabaseOn(t, clustertest.Second(t))
	clustertest.Exec(t, far, "CREATE TABLE real (id int, b text)", "INSERT INTO real VALUES (1, 'x'), (2, NULL)")
	clustertest.Exec(t, home, foreignServer(t, far),
		`CREATE FOREIGN TABLE f ("Key" int OPTIONS (column_name 'id'), "B b" text OPTIONS (column_name 'b')) SERVER far OPTIONS (table_name 'real')`)
	moves(t, onePair(home, home, "f", "made", planner.Wish{Create: true}))
	sameContents(t, home, `SELECT "Key", "B b" FROM f`, home, `SELECT "Key", "B b" FROM made`)
	moves(t, onePair(home, far, "f", "made", planner.Wish{Create: true, Method: planner.Insert}))
	sameContents(t, home, `SELECT "Key", "B b" FROM f`, far, `SELECT "Key", "B b" FROM made`)
}
