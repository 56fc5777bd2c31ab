package catalog

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// serverOptions are the options of a foreign server that leads to uri's database.
func serverOptions(t *testing.T, uri string) string {
	t.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("OPTIONS (host %s, port %s, dbname %s)", sqltext.QuoteLiteral(u.Query().Get("host")),
		sqltext.QuoteLiteral(u.Query().Get("port")), sqltext.QuoteLiteral(strings.TrimPrefix(u.Path, "/")))
}

// link makes a foreign server far in uri's database that leads to another one.
func link(t *testing.T, uri, far string) {
	t.Helper()
	clustertest.Exec(t, uri, `CREATE EXTENSION IF NOT EXISTS postgres_fdw`,
		`CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw `+serverOptions(t, far),
		`CREATE USER MAPPING FOR postgres SERVER far OPTIONS (user 'postgres')`)
}

// follow reads a foreign table and follows it.
func follow(t *testing.T, uri, name string, role Role) (*Remote, error) {
	t.Helper()
	c := connect(t, uri)
	relation, err := Read(t.Context(), c, "public", name, role)
	if err != nil {
		t.Fatal(err)
	}
	remote, err := Follow(t.Context(), c, relation, role, "UTF8")
	if remote != nil && remote.Conn != nil {
		t.Cleanup(func() {
			if err := remote.Conn.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	return remote, err
}

func TestFollow(t *testing.T) {
	near, far := clustertest.Database(t), clustertest.DatabaseOn(t, clustertest.Second(t))
	clustertest.Exec(t, far, `CREATE SCHEMA "Far %"`, `CREATE TABLE "Far %"."Real T" ("Key" serial PRIMARY KEY, name varchar(9) DEFAULT 'd', extra int, UNIQUE (extra), UNIQUE (name))`,
		`INSERT INTO "Far %"."Real T" VALUES (1, 'x', 2)`)
	link(t, near, far)
	clustertest.Exec(t, near, `CREATE FOREIGN TABLE ft (name text, gone int, id int OPTIONS (column_name 'Key')) SERVER far OPTIONS (schema_name 'Far %', table_name 'Real T')`,
		`ALTER FOREIGN TABLE ft DROP COLUMN gone`)
	got, err := follow(t, near, "ft", Target)
	if err != nil {
		t.Fatal(err)
	}
	r := got.Relation
	if r.Kind != planner.Table || r.Schema != "Far %" || r.Name != "Real T" || r.Empty || r.Rebuild == nil || !r.CanInsert || !r.CanTruncate {
		t.Errorf("%+v", r)
	}
	if !slices.Equal(columnNames(r), []string{"name", "id"}) || r.Columns[0].Remote != "" || r.Columns[1].Remote != "Key" ||
		r.Columns[0].Type.SQL != "character varying(9)" || !r.Columns[0].HasDefault {
		t.Errorf("columns %+v", r.Columns)
	}
	wantKeys := []planner.Key{{Name: "Real T_pkey", Primary: true, Columns: []string{"id"}, Deterministic: true}, {Name: "Real T_name_key", Columns: []string{"name"}, Deterministic: true}}
	if diff := cmp.Diff(wantKeys, r.Keys); diff != "" {
		t.Error(diff)
	}
	if len(r.Sequences) != 1 || r.Sequences[0].Column != "id" || r.Sequences[0].Schema != "Far %" {
		t.Errorf("sequences %v", r.Sequences)
	}
	wantPath := []planner.Hop{{Server: Address(connect(t, near)), Schema: "public", Name: "ft", Foreign: "far", Wrapper: "postgres_fdw"}}
	if diff := cmp.Diff(wantPath, r.Path); diff != "" {
		t.Error(diff)
	}
	if got.Server.Address != Address(connect(t, far)) || got.Config == nil || len(got.Notes) > 0 {
		t.Errorf("server %+v, notes %q", got.Server, got.Notes)
	}
	again, err := ConnectConfig(t.Context(), got.Config, "")
	if err != nil {
		t.Fatal(err)
	}
	if server, err := Server(t.Context(), again); err != nil || !SameDatabase(server, got.Server) {
		t.Errorf("a second connection reaches %+v (%v)", server, err)
	}
	if err := again.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestFollowOrdinaryTable(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, `CREATE TABLE t (a int)`)
	if got, err := follow(t, uri, "t", Source); got != nil || err != nil {
		t.Error(got, err)
	}
}

func TestFollowChain(t *testing.T) {
	a, b, c := clustertest.Database(t), clustertest.DatabaseOn(t, clustertest.Second(t)), clustertest.Database(t)
	link(t, a, b)
	link(t, b, c)
	clustertest.Exec(t, c, `CREATE TABLE real (third int PRIMARY KEY, v text) PARTITION BY LIST (third)`,
		`CREATE TABLE leaf (v text, third int NOT NULL)`, `ALTER TABLE real ATTACH PARTITION leaf DEFAULT`)
	clustertest.Exec(t, b, `CREATE FOREIGN TABLE middle (second int OPTIONS (column_name 'third'), v text) SERVER far OPTIONS (table_name 'real', truncatable 'false')`)
	clustertest.Exec(t, a, `CREATE FOREIGN TABLE first (v text, one int OPTIONS (column_name 'second')) SERVER far OPTIONS (table_name 'middle')`)
	got, err := follow(t, a, "first", Target)
	if err != nil {
		t.Fatal(err)
	}
	r := got.Relation
	if r.Kind != planner.Partitioned || r.Name != "real" || len(r.Path) != 2 || r.Path[1].Name != "middle" || !r.Empty || r.CanTruncate {
		t.Errorf("%+v", r)
	}
	for _, relation := range []planner.Relation{r, r.Leaves[0].Relation} {
		if !slices.Equal(columnNames(relation), []string{"v", "one"}) || relation.Columns[1].Remote != "third" || len(relation.Keys) != 1 ||
			!slices.Equal(relation.Keys[0].Columns, []string{"one"}) {
			t.Errorf("%s: %+v %+v", relation.Name, relation.Columns, relation.Keys)
		}
	}
}

func TestFollowCycle(t *testing.T) {
	a, b := clustertest.Database(t), clustertest.DatabaseOn(t, clustertest.Second(t))
	link(t, a, b)
	link(t, b, a)
	clustertest.Exec(t, a, `CREATE FOREIGN TABLE x (a int) SERVER far OPTIONS (table_name 'y')`, `CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw `+serverOptions(t, a),
		`CREATE USER MAPPING FOR postgres SERVER here OPTIONS (user 'postgres')`, `CREATE FOREIGN TABLE self (a int) SERVER here`)
	clustertest.Exec(t, b, `CREATE FOREIGN TABLE y (a int) SERVER far OPTIONS (table_name 'x')`)
	for name, stops := range map[string]int{"x": 3, "self": 2} {
		got, err := follow(t, a, name, Source)
		if got != nil {
			t.Errorf("%s leads to %+v", name, got)
		}
		e := plannerError(t, err)
		if e.Message != "foreign table public."+name+" leads back to itself" || strings.Count(e.Detail, " -> ") != stops-1 {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestFollowIsBounded(t *testing.T) {
	uri := clustertest.Database(t)
	link(t, uri, uri)
	clustertest.Exec(t, uri, `CREATE TABLE t0 (a int)`)
	for i := range 9 {
		clustertest.Exec(t, uri, fmt.Sprintf(`CREATE FOREIGN TABLE t%d (a int) SERVER far OPTIONS (table_name 't%d')`, i+1, i))
	}
	if got, err := follow(t, uri, "t8", Source); err != nil || got.Relation.Name != "t0" || len(got.Relation.Path) != 8 {
		t.Errorf("eight: %+v, %v", got, err)
	}
	_, err := follow(t, uri, "t9", Source)
	if e := plannerError(t, err); !strings.Contains(e.Message, "more than 8") {
		t.Errorf("nine: %+v", e)
	}
}

func TestFollowStays(t *testing.T) {
	near, far := clustertest.Database(t), clustertest.DatabaseOn(t, clustertest.Second(t))
	link(t, near, far)
	clustertest.Exec(t, far, `CREATE TABLE t (a int, b int)`, `INSERT INTO t VALUES (1, 1)`, `CREATE TABLE e (a int)`,
		`CREATE EXTENSION file_fdw`, `CREATE SERVER files FOREIGN DATA WRAPPER file_fdw`,
		`CREATE FOREIGN TABLE f (line text) SERVER files OPTIONS (filename '/dev/null')`)
	clustertest.Exec(t, near, `CREATE EXTENSION file_fdw`, `CREATE SERVER files FOREIGN DATA WRAPPER file_fdw`,
		`CREATE FOREIGN TABLE f (line text) SERVER files OPTIONS (filename '/dev/null')`,
		`CREATE FUNCTION fn() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'`,
		`CREATE FOREIGN TABLE trig (a int, b int) SERVER far OPTIONS (table_name 't')`,
		`CREATE TRIGGER x AFTER INSERT ON trig FOR EACH ROW EXECUTE FUNCTION fn()`,
		`CREATE FOREIGN TABLE gen (a int, b int GENERATED ALWAYS AS (a) STORED) SERVER far OPTIONS (table_name 't')`,
		`CREATE FOREIGN TABLE def (a int DEFAULT 5) SERVER far OPTIONS (table_name 'e')`,
		`CREATE FOREIGN TABLE ro (a int) SERVER far OPTIONS (table_name 'e', updatable 'false')`,
		`CREATE FOREIGN TABLE farfile (line text) SERVER far OPTIONS (table_name 'f')`)
	for _, test := range []struct {
		name  string
		role  Role
		want  string
		empty bool
	}{
		{"f", Source, "its wrapper is file_fdw", false}, {"f", Target, "its wrapper is file_fdw", true},
		{"trig", Target, "it has insert triggers of its own", false}, {"trig", Source, "", false},
		{"gen", Target, "it has generated columns of its own", false}, {"gen", Source, "", false},
		{"def", Target, "its column a has a default of its own", true}, {"def", Source, "", false},
		{"ro", Target, "its option updatable is off", true}, {"ro", Source, "", false},
	} {
		got, err := follow(t, near, test.name, test.role)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got.Relation.NotFollowed != test.want || (got.Conn == nil) != (test.want != "") || got.Relation.Empty != test.empty {
			t.Errorf("%s, role %d: %+v", test.name, test.role, got.Relation)
		}
	}
	if version(connect(t, near)) >= 180000 {
		clustertest.Exec(t, near, `CREATE FOREIGN TABLE virt (a int, b int GENERATED ALWAYS AS (a * 2) VIRTUAL) SERVER far OPTIONS (table_name 't')`)
		got, err := follow(t, near, "virt", Source)
		if err != nil || got.Relation.NotFollowed != "it has generated columns that are computed when read" {
			t.Errorf("virtual: %+v, %v", got, err)
		}
	}
	got, err := follow(t, near, "farfile", Source)
	if err != nil {
		t.Fatal(err)
	}
	if got.Conn == nil || got.Relation.Kind != planner.ForeignTable || got.Relation.NotFollowed != "its wrapper is file_fdw" || len(got.Relation.Path) != 1 {
		t.Errorf("stops on the way: %+v", got.Relation)
	}
}

func TestFollowErrors(t *testing.T) {
	near, far := clustertest.Database(t), clustertest.DatabaseOn(t, clustertest.Second(t))
	link(t, near, far)
	clustertest.Exec(t, far, `CREATE TABLE t (a int)`)
	clustertest.Exec(t, near, `CREATE FOREIGN TABLE missing (a int) SERVER far`,
		`CREATE FOREIGN TABLE columns (a int, "B" int) SERVER far OPTIONS (table_name 't')`,
		`CREATE SERVER nomap FOREIGN DATA WRAPPER postgres_fdw`, `CREATE FOREIGN TABLE unmapped (a int) SERVER nomap`,
		`CREATE SERVER dead FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '/nonexistent', dbname 'd')`,
		`CREATE USER MAPPING FOR PUBLIC SERVER dead OPTIONS (user 'u', password '`+secret+`')`, `CREATE FOREIGN TABLE dead (a int) SERVER dead`)
	for name, want := range map[string]string{
		"missing":  "relation public.missing does not exist on " + Address(connect(t, far)),
		"columns":  `column "B" does not exist in public.t on ` + Address(connect(t, far)),
		"unmapped": "user mapping not found for user postgres, foreign server nomap",
		"dead":     "could not connect to /nonexistent:5432, database d, as u",
	} {
		_, err := follow(t, near, name, Source)
		e := plannerError(t, err)
		if e.Message != want || !strings.Contains(e.Detail, "public."+name) {
			t.Errorf("%s: %+v", name, e)
		}
		hidden(t, name, err)
	}
}

func TestFollowPrivileges(t *testing.T) {
	near, far := clustertest.Database(t), clustertest.DatabaseOn(t, clustertest.Second(t))
	role := newRole(t, near, "")
	link(t, near, far)
	clustertest.Exec(t, far, `CREATE TABLE t (a int, b int)`)
	clustertest.Exec(t, near, `CREATE FOREIGN TABLE t (a int, b int) SERVER far`, `GRANT SELECT (a) ON t TO `+role)
	mine := as(t, near, role)
	wantHidden := func(when string) {
		t.Helper()
		_, err := follow(t, mine, "t", Source)
		e := plannerError(t, err)
		if !strings.HasPrefix(e.Message, "user "+role+" may not see the user mapping") || e.Hint == "" || !strings.Contains(e.Detail, "public.t") {
			t.Errorf("%s: %+v", when, e)
		}
	}
	if _, err := follow(t, mine, "t", Source); !strings.HasPrefix(plannerError(t, err).Message, "user mapping not found") {
		t.Errorf("no mapping: %v", err)
	}
	clustertest.Exec(t, near, `CREATE USER MAPPING FOR PUBLIC SERVER far OPTIONS (user 'postgres')`)
	wantHidden("public mapping")
	clustertest.Exec(t, near, `CREATE USER MAPPING FOR `+role+` SERVER far OPTIONS (user 'postgres')`)
	wantHidden("own mapping without USAGE on the server")
	clustertest.Exec(t, near, `GRANT USAGE ON FOREIGN SERVER far TO `+role)
	got, err := follow(t, mine, "t", Target)
	if err != nil {
		t.Fatal(err)
	}
	// What the role may not do with the foreign table it must not do behind its back.
	if r := got.Relation; r.CanInsert || r.CanTruncate || !r.CanSelect || !r.Columns[0].CanRead || r.Columns[1].CanRead || r.Columns[0].CanWrite {
		t.Errorf("%+v", r)
	}
}

func TestFollowMappingWithoutOptions(t *testing.T) {
	near, far := clustertest.Database(t), clustertest.DatabaseOn(t, clustertest.Second(t))
	clustertest.Exec(t, far, `CREATE TABLE t (a int)`)
	clustertest.Exec(t, near, `CREATE EXTENSION postgres_fdw`, `CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw `+serverOptions(t, far),
		`CREATE USER MAPPING FOR postgres SERVER far`, `CREATE FOREIGN TABLE t (a int) SERVER far`)
	got, err := follow(t, near, "t", Source)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Notes, []string{"foreign server far names no user: postgres is used"}) {
		t.Errorf("%q", got.Notes)
	}
}

func TestFollowDoesNotSendOurPassword(t *testing.T) {
	t.Setenv("PGPASSWORD", secret)
	t.Setenv("PGOPTIONS", "-c geqo=off")
	t.Setenv("PGDATABASE", "elsewhere")
	near := clustertest.Database(t)
	f := &foreign{name: Name{"public", "t"}, server: "s", firstRole: "postgres", serverOptions: map[string]string{"host": "db9", "fetch_size": "7"},
		mappingOptions: map[string]string{"user": "u", "password_required": "false"}}
	config, _, err := f.connection(connect(t, near))
	if err != nil {
		t.Fatal(err)
	}
	if config.Password != "" || config.Database != "u" || config.Host != "db9" || config.User != "u" || len(config.RuntimeParams) != 1 {
		t.Errorf("%s@%s/%s password %q params %v", config.User, config.Host, config.Database, config.Password, config.RuntimeParams)
	}
}

func TestFollowPassThroughIsRefused(t *testing.T) {
	f := &foreign{name: Name{"public", "t"}, server: "s", hasMapping: true, serverOptions: map[string]string{"use_scram_passthrough": "true"}}
	if e := plannerError(t, f.checkMapping()); e.Hint == "" || !strings.Contains(e.Detail, "use_scram_passthrough") {
		t.Errorf("%+v", e)
	}
	f.mappingOptions = map[string]string{"password": "x"}
	if err := f.checkMapping(); err != nil {
		t.Error(err)
	}
}
