package catalog

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

func TestReadAsPlainRole(t *testing.T) {
	uri := clustertest.Database(t)
	role := newRole(t, uri, "")
	clustertest.Exec(t, uri,
		`REVOKE CREATE ON SCHEMA public FROM PUBLIC`, `CREATE TABLE closed (a int)`, `CREATE TABLE few (a int, b int, c int)`, `CREATE TABLE append (a int)`, `INSERT INTO append VALUES (1)`,
		`CREATE TABLE nothing (a int)`,
		`GRANT SELECT (a), INSERT (b) ON few TO `+role, `GRANT INSERT, TRUNCATE ON append, nothing TO `+role,
		`CREATE SCHEMA hidden`, `CREATE TABLE hidden.t (a int)`, `CREATE SCHEMA own AUTHORIZATION `+role)
	clustertest.Exec(t, as(t, uri, role), `CREATE TABLE own.t (a int)`)
	mine := as(t, uri, role)

	closed := read(t, mine, "public", "closed", Target)
	if closed.CanSelect || closed.CanInsert || closed.CanTruncate || closed.IsOwner || closed.CanCreate || !closed.SchemaFound || !closed.Empty {
		t.Errorf("closed: %+v", closed)
	}
	few := read(t, mine, "public", "few", Source)
	var can [][2]bool
	for _, col := range few.Columns {
		can = append(can, [2]bool{col.CanRead, col.CanWrite})
	}
	if diff := cmp.Diff([][2]bool{{true, false}, {false, true}, {false, false}}, can); diff != "" || !few.CanSelect || !few.CanInsert {
		t.Errorf("few: %+v\n%s", few, diff)
	}
	// Rows that may not be looked at: pages tell.
	if app := read(t, mine, "public", "append", Target); app.CanSelect || !app.CanInsert || !app.CanTruncate || app.Empty {
		t.Errorf("append: %+v", app)
	}
	if none := read(t, mine, "public", "nothing", Target); !none.Empty {
		t.Errorf("nothing: %+v", none)
	}
	if own := read(t, mine, "own", "t", Target); !own.IsOwner || !own.CanCreate || own.Owner != role || !own.Empty {
		t.Errorf("own: %+v", own)
	}
	_, err := Read(t.Context(), connect(t, mine), "hidden", "t", Source)
	if e := plannerError(t, err); e.Message != "permission denied for schema hidden" || e.Hint == "" {
		t.Errorf("hidden: %+v", e)
	}
}

func TestReadRowSecurity(t *testing.T) {
	uri := clustertest.Database(t)
	owner, plain, bypass := newRole(t, uri, ""), newRole(t, uri, ""), newRole(t, uri, "BYPASSRLS")
	member := newRole(t, uri, "IN ROLE "+owner)
	clustertest.Exec(t, uri, `CREATE TABLE t (a int)`, `CREATE TABLE forced (a int)`, `CREATE TABLE off (a int)`,
		`INSERT INTO t VALUES (1)`, `ALTER TABLE t ENABLE ROW LEVEL SECURITY`,
		`ALTER TABLE forced ENABLE ROW LEVEL SECURITY`, `ALTER TABLE forced FORCE ROW LEVEL SECURITY`,
		`ALTER TABLE off FORCE ROW LEVEL SECURITY`,
		`GRANT ALL ON t, forced, off TO PUBLIC`)
	for _, table := range []string{"t", "forced", "off"} {
		clustertest.Exec(t, uri, `ALTER TABLE `+table+` OWNER TO `+owner)
	}
	for _, test := range []struct {
		user string
		want [3]bool
	}{
		{"postgres", [3]bool{}}, {owner, [3]bool{false, true, false}}, {member, [3]bool{false, true, false}},
		{plain, [3]bool{true, true, false}}, {bypass, [3]bool{}},
	} {
		for i, table := range []string{"t", "forced", "off"} {
			got := read(t, as(t, uri, test.user), "public", table, Target)
			if got.RowSecurity != test.want[i] {
				t.Errorf("%s as %s: %v", table, test.user, got.RowSecurity)
			}
			// A policy would hide the row from the look, so pages decide.
			if table == "t" && got.Empty {
				t.Errorf("t as %s is said to be empty", test.user)
			}
			// The server agrees on who gets filtered.
			active := clustertest.Query(t, as(t, uri, test.user), "SELECT row_security_active('"+table+"')")
			if (active == "t") != got.RowSecurity {
				t.Errorf("%s as %s: the server says %s", table, test.user, active)
			}
		}
	}
}

func TestReadTriggersAndRules(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri,
		`CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'`,
		`CREATE TABLE other (id int PRIMARY KEY)`, `CREATE TABLE t (a int REFERENCES other, b int)`,
		`CREATE TRIGGER b_row BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION f()`,
		`CREATE TRIGGER a_stmt AFTER INSERT ON t FOR EACH STATEMENT EXECUTE FUNCTION f()`,
		`CREATE CONSTRAINT TRIGGER c_late AFTER INSERT ON t DEFERRABLE FOR EACH ROW EXECUTE FUNCTION f()`,
		`CREATE TRIGGER upd BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION f()`,
		`CREATE TRIGGER off BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()`, `ALTER TABLE t DISABLE TRIGGER off`,
		`CREATE TRIGGER replica BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()`, `ALTER TABLE t ENABLE REPLICA TRIGGER replica`,
		`CREATE TRIGGER zz_always BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()`, `ALTER TABLE t ENABLE ALWAYS TRIGGER zz_always`,
		`CREATE TABLE ruled (a int)`, `CREATE RULE r AS ON INSERT TO ruled DO ALSO NOTHING`,
		`CREATE TABLE updruled (a int)`, `CREATE RULE r AS ON UPDATE TO updruled DO ALSO NOTHING`,
		`CREATE TABLE offruled (a int)`, `CREATE RULE r AS ON INSERT TO offruled DO ALSO NOTHING`, `ALTER TABLE offruled DISABLE RULE r`,
		`CREATE VIEW easy AS SELECT a FROM ruled`, `CREATE VIEW hard AS SELECT count(*) FROM ruled`,
		`CREATE VIEW trig AS SELECT count(*) AS n FROM ruled`, `CREATE TRIGGER ins INSTEAD OF INSERT ON trig FOR EACH ROW EXECUTE FUNCTION f()`,
		`CREATE VIEW rule AS SELECT count(*) AS n FROM ruled`, `CREATE RULE r AS ON INSERT TO rule DO INSTEAD NOTHING`)
	got := read(t, uri, "public", "t", Target)
	want := []planner.Trigger{{Name: "a_stmt"}, {Name: "b_row", Row: true, Before: true}, {Name: "c_late", Row: true},
		{Name: "zz_always", Row: true, Before: true}}
	if diff := cmp.Diff(want, got.Triggers); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string][2]bool{
		"t": {false, true}, "ruled": {true, true}, "updruled": {false, true}, "offruled": {false, true},
		"easy": {false, true}, "hard": {true, false}, "trig": {true, true}, "rule": {true, true},
	} {
		r := read(t, uri, "public", name, Target)
		if r.Rules != want[0] || r.CanInsert != want[1] {
			t.Errorf("%s: rules %v, can insert %v", name, r.Rules, r.CanInsert)
		}
	}
	if trig := read(t, uri, "public", "trig", Target); !slices.Equal(trig.Triggers, []planner.Trigger{{Name: "ins", Row: true, Before: true}}) {
		t.Errorf("view's triggers: %v", trig.Triggers)
	}
}
