package move

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// foreignServer is the SQL that makes the server of a database known to another one.
func foreignServer(t *testing.T, uri string) string {
	t.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`CREATE EXTENSION IF NOT EXISTS postgres_fdw;
		CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '%s', port '%s', dbname '%s');
		CREATE USER MAPPING FOR CURRENT_USER SERVER far OPTIONS (user 'postgres')`,
		u.Query().Get("host"), u.Query().Get("port"), strings.TrimPrefix(u.Path, "/"))
}

func TestForeignTables(t *testing.T) {
	t.Parallel()
	const (
		columns = `(id int PRIMARY KEY, "Real ""name""" text, other int)`
		rows    = " SELECT i, 'row ' || i, -i FROM generate_series(1, 3000) AS i"
	)
	home, far := clustertest.Database(t), clustertest.DatabaseOn(t, clustertest.Second(t))
	clustertest.Exec(t, far, `CREATE SCHEMA "Far"`, `CREATE TABLE "Far"."its source" `+columns, `INSERT INTO "Far"."its source"`+rows,
		`CREATE TABLE "Far"."its target" `+columns)
	clustertest.Exec(t, home, foreignServer(t, far), "CREATE TABLE here (id int PRIMARY KEY, name text, other int)", "INSERT INTO here"+rows,
		"CREATE TABLE here_too (id int PRIMARY KEY, name text, other int)",
		`CREATE FOREIGN TABLE far_source (other int, name text OPTIONS (column_name 'Real "name"'), id int) SERVER far
			OPTIONS (schema_name 'Far', table_name 'its source')`,
		`CREATE FOREIGN TABLE far_target (name text OPTIONS (column_name 'Real "name"'), key int OPTIONS (column_name 'id'), other int) SERVER far
			OPTIONS (schema_name 'Far', table_name 'its target')`,
		"CREATE VIEW here_named AS SELECT id AS key, name, other FROM here", "CREATE VIEW far_named AS SELECT id AS key, name, other FROM far_source")
	tests := []struct {
		name, from, to string
		where          string
		read           string // what must stand in the target
		remote         string // the address that the plan must name
		wish           planner.Wish
	}{
		{name: "source", from: "far_source", to: "here_too", read: "SELECT id, name, other FROM far_source", remote: "source"},
		{name: "source by 3 with a condition", from: "far_source", to: "here_too", read: "SELECT id, name, other FROM far_source WHERE name LIKE 'row 1%'",
			remote: "source", wish: planner.Wish{Connections: 3, RangeBytes: oneRange, Where: "name LIKE 'row 1%'"}},
		{name: "target", from: "here_named", to: "far_target", read: "SELECT name, key, other FROM here_named", remote: "target"},
		{name: "target by inserts", from: "here_named", to: "far_target", read: "SELECT name, key, other FROM here_named", remote: "target",
			wish: planner.Wish{Method: planner.Insert, CopyThreshold: planner.CopyNever}},
		{name: "both", from: "far_source", to: "far_both", read: "SELECT other, name, id FROM far_source", remote: "source target"},
	}
	clustertest.Exec(t, home, `CREATE FOREIGN TABLE far_both (other int, name text OPTIONS (column_name 'Real "name"'), id int) SERVER far
			OPTIONS (schema_name 'Far', table_name 'its target')`)
	farAddress := clustertest.Query(t, far, "SELECT current_database()")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			clustertest.Exec(t, home, "TRUNCATE here_too")
			clustertest.Exec(t, far, `TRUNCATE "Far"."its target"`)
			q := onePair(home, home, tt.from, tt.to, tt.wish)
			q.Verify = VerifyHash
			plan := moves(t, q).Tables[0].Plan
			sameContents(t, home, tt.read, home, "SELECT * FROM "+tt.to)
			for side, place := range map[string]planner.Place{"source": plan.Source, "target": plan.Target} {
				if follows := strings.Contains(tt.remote, side); follows != strings.HasSuffix(place.Server, "/"+farAddress) || follows != (len(place.Path) == 1) {
					t.Errorf("the %s is %s on %s by %v", side, place.Relation, place.Server, place.Path)
				}
			}
		})
	}
}
