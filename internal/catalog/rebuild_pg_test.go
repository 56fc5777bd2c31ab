package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// replace puts a new table in the place of an old one with nothing but what Rebuild holds, as a plan does.
func replace(t *testing.T, uri string, r planner.Relation) {
	t.Helper()
	old, hidden := sqltext.QuoteQualified(r.Schema, r.Name), sqltext.QuoteQualified(r.Schema, "pghaul_new")
	sql := []string{"BEGIN", "CREATE TABLE " + hidden + " (LIKE " + old + " INCLUDING ALL EXCLUDING INDEXES)"}
	for i, x := range r.Rebuild.Indexes {
		unique := ""
		if x.Unique {
			unique = "UNIQUE "
		}
		if !strings.HasPrefix(x.Constraint, "EXCLUDE") {
			sql = append(sql, fmt.Sprintf("CREATE %sINDEX pghaul_%d ON %s %s", unique, i, hidden, x.Method))
		} else {
			sql = append(sql, fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT pghaul_%d %s", hidden, i, x.Constraint))
		}
	}
	sql = append(sql, "ALTER TABLE "+hidden+" OWNER TO "+sqltext.QuoteIdent(r.Owner)) // a sequence must have its table's owner
	for _, s := range r.Sequences {
		sql = append(sql, "ALTER SEQUENCE "+sqltext.QuoteQualified(s.Schema, s.Name)+" OWNED BY "+hidden+"."+sqltext.QuoteIdent(s.Column))
	}
	sql = append(sql, "DROP TABLE "+old, "ALTER TABLE "+hidden+" RENAME TO "+sqltext.QuoteIdent(r.Name))
	for i, x := range r.Rebuild.Indexes {
		built := sqltext.QuoteQualified(r.Schema, fmt.Sprintf("pghaul_%d", i))
		switch kind, deferral, _ := strings.Cut(x.Constraint, " DEFERRABLE"); {
		case x.Constraint == "" || strings.HasPrefix(x.Constraint, "EXCLUDE"):
			sql = append(sql, "ALTER INDEX "+built+" RENAME TO "+sqltext.QuoteIdent(x.Name))
		case kind == x.Constraint:
			sql = append(sql, fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s %s USING INDEX pghaul_%d", old, sqltext.QuoteIdent(x.ConstraintName), kind, i))
		default:
			sql = append(sql, fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s %s USING INDEX pghaul_%d DEFERRABLE%s", old,
				sqltext.QuoteIdent(x.ConstraintName), kind, i, deferral))
		}
		if x.Clustered {
			sql = append(sql, "ALTER TABLE "+old+" CLUSTER ON "+sqltext.QuoteIdent(x.Name))
		}
		if x.ReplicaIdent {
			sql = append(sql, "ALTER TABLE "+old+" REPLICA IDENTITY USING INDEX "+sqltext.QuoteIdent(x.Name))
		}
		if x.Comment != "" {
			sql = append(sql, "COMMENT ON INDEX "+sqltext.QuoteQualified(r.Schema, x.Name)+" IS "+sqltext.QuoteLiteral(x.Comment))
		}
	}
	for _, k := range r.Rebuild.ForeignKeys {
		sql = append(sql, "ALTER TABLE "+old+" ADD "+k)
	}
	for _, s := range r.Rebuild.After {
		sql = append(sql, strings.ReplaceAll(s, "%s", old))
	}
	clustertest.Exec(t, uri, append(sql, "COMMIT")...)
}

func TestRebuildMakesTheSameTable(t *testing.T) {
	uri := clustertest.Database(t)
	owner, reader := newRole(t, uri, ""), newRole(t, uri, "")
	odd := `"My ""T"" ON public.t 100%"`
	table := `"S ch".` + odd
	clustertest.Exec(t, uri, `CREATE SCHEMA "S ch"`, `GRANT ALL ON SCHEMA "S ch" TO PUBLIC`, `CREATE EXTENSION btree_gist`,
		`CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'`, `GRANT ALL ON SCHEMA public TO PUBLIC`,
		`CREATE TABLE other (id int PRIMARY KEY)`, `GRANT ALL ON other TO PUBLIC`,
		`CREATE TABLE `+table+` (id serial PRIMARY KEY, "a b" text NOT NULL DEFAULT 'x%s', o int CONSTRAINT "fk %" REFERENCES other ON DELETE CASCADE,
			up int REFERENCES `+table+` DEFERRABLE INITIALLY DEFERRED, r int4range, CHECK (id > 0),
			CONSTRAINT late UNIQUE ("a b", o) DEFERRABLE INITIALLY DEFERRED, CONSTRAINT "no overlap" EXCLUDE USING gist (o WITH =, r WITH &&))
			WITH (fillfactor = 70, toast.autovacuum_enabled = false)`,
		`CREATE INDEX "i %s" ON `+table+` USING btree (lower("a b") text_pattern_ops DESC, o) INCLUDE (up) WITH (fillfactor = 50) WHERE o > 5 AND "a b" <> ' WHERE '`,
		`CREATE UNIQUE INDEX ident ON `+table+` (id, "a b")`, `ALTER TABLE `+table+` ALTER o SET NOT NULL`,
		`CREATE UNIQUE INDEX "repl" ON `+table+` (o)`, `ALTER TABLE `+table+` REPLICA IDENTITY USING INDEX repl`, `ALTER TABLE `+table+` CLUSTER ON ident`,
		`COMMENT ON INDEX "S ch".ident IS 'it''s 50%s'`, `COMMENT ON TABLE `+table+` IS 'table \ 100%s'`, `COMMENT ON COLUMN `+table+`.o IS 'column'`,
		`COMMENT ON CONSTRAINT late ON `+table+` IS 'constraint'`, `COMMENT ON CONSTRAINT "fk %" ON `+table+` IS 'key'`,
		`ALTER TABLE `+table+` ALTER "a b" SET STATISTICS 77`, `ALTER TABLE `+table+` ALTER o SET (n_distinct = -0.5)`, `ALTER TABLE `+table+` ALTER "a b" SET STORAGE EXTERNAL`,
		`CREATE TRIGGER " ON public.t %" BEFORE INSERT OR UPDATE OF "a b", o ON `+table+` FOR EACH ROW WHEN (NEW.o % 2 = 0) EXECUTE FUNCTION f('50%', 'x')`,
		`COMMENT ON TRIGGER " ON public.t %" ON `+table+` IS 'trigger'`,
		`CREATE TRIGGER dis AFTER INSERT ON `+table+` REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION f()`, `ALTER TABLE `+table+` DISABLE TRIGGER dis`,
		`CREATE CONSTRAINT TRIGGER con AFTER UPDATE ON `+table+` DEFERRABLE FOR EACH ROW EXECUTE FUNCTION f()`, `ALTER TABLE `+table+` ENABLE ALWAYS TRIGGER con`,
		`ALTER TABLE `+table+` ENABLE ROW LEVEL SECURITY`, `ALTER TABLE `+table+` FORCE ROW LEVEL SECURITY`,
		`CREATE POLICY "p %" ON `+table+` AS RESTRICTIVE FOR UPDATE TO `+reader+`, `+owner+` USING (o % 3 = 0) WITH CHECK ("a b" <> '50%')`,
		`CREATE POLICY sub ON `+table+` USING (EXISTS (SELECT FROM other x WHERE x.id = o))`, `COMMENT ON POLICY sub ON `+table+` IS 'policy'`,
		`CREATE PUBLICATION "quiet %" FOR TABLE `+table+` WITH (publish = 'truncate')`,
		`ALTER TABLE `+table+` OWNER TO `+owner, `GRANT SELECT, UPDATE ON `+table+` TO PUBLIC`, `GRANT INSERT ON `+table+` TO `+reader+` WITH GRANT OPTION`,
		`GRANT UPDATE ("a b"), SELECT (o) ON `+table+` TO `+reader, `REVOKE DELETE ON `+table+` FROM `+owner,
		`ALTER DEFAULT PRIVILEGES GRANT DELETE ON TABLES TO `+reader)
	t.Cleanup(func() { clustertest.Exec(t, uri, `ALTER DEFAULT PRIVILEGES REVOKE DELETE ON TABLES FROM `+reader) })
	const name = `My "T" ON public.t 100%`
	before := read(t, uri, "S ch", name, Target)
	if len(before.Rebuild.Blockers) > 0 {
		t.Fatalf("blocked: %q", before.Rebuild.Blockers)
	}
	acl := `SELECT relacl::text, relowner::regrole, (SELECT string_agg(attname || attacl::text, ',') FROM pg_attribute WHERE attrelid = c.oid AND attacl IS NOT NULL),
		(SELECT string_agg(attname || coalesce(attstattarget, -1) || attstorage::text, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0)
		FROM pg_class c WHERE relname LIKE 'My%'`
	wantACL := clustertest.Query(t, uri, acl)

	replace(t, uri, before)

	after := read(t, uri, "S ch", name, Target)
	if after.OID == before.OID {
		t.Fatal("nothing was replaced")
	}
	if diff := cmp.Diff(before.Rebuild, after.Rebuild); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(sortedACL(wantACL), sortedACL(clustertest.Query(t, uri, acl))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before.Keys, after.Keys); diff != "" {
		t.Error(diff)
	}
}

// sortedACL orders what stands in braces: the order of an access list means nothing.
func sortedACL(s string) []string {
	words := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("{},", r) })
	slices.Sort(words)
	return words
}

func TestRebuildIndexes(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, `CREATE TABLE t (a int CONSTRAINT pk PRIMARY KEY, b int CONSTRAINT later UNIQUE DEFERRABLE, c int)`,
		`CREATE INDEX x ON t USING hash (c) WHERE b > 0`)
	got := read(t, uri, "public", "t", Source).Rebuild
	want := []planner.IndexDef{
		{Name: "pk", Unique: true, Method: "USING btree (a)", Constraint: "PRIMARY KEY", ConstraintName: "pk"},
		{Name: "later", Unique: true, Method: "USING btree (b)", Constraint: "UNIQUE DEFERRABLE", ConstraintName: "later"},
		{Name: "x", Method: "USING hash (c) WHERE (b > 0)"},
	}
	if diff := cmp.Diff(want, got.Indexes); diff != "" {
		t.Error(diff)
	}
}

func TestRebuildBlockers(t *testing.T) {
	uri := clustertest.Database(t)
	for _, test := range []struct{ name, sql, want string }{
		{"view", `CREATE VIEW v AS SELECT a FROM view`, "view public.v reads it"},
		{"matview", `CREATE MATERIALIZED VIEW m AS SELECT a FROM matview`, "materialized view public.m reads it"},
		{"ruled", `CREATE RULE r AS ON INSERT TO ruled DO ALSO NOTHING`, "it has rule r"},
		{"otherrule", `CREATE TABLE o (a int); CREATE RULE r AS ON INSERT TO o DO ALSO INSERT INTO otherrule VALUES (1)`, "table public.o reads it"},
		{"body", `CREATE FUNCTION g() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM body; END`, "function public.g() depends on it"},
		{"rowtype", `CREATE FUNCTION h(rowtype) RETURNS int LANGUAGE sql AS 'SELECT 1'`, "function public.h(public.rowtype) depends on it"},
		{"rowtypes", `CREATE TABLE holder (x rowtypes[])`, "column x of table public.holder depends on it"},
		{"referenced", `CREATE TABLE child (x int REFERENCES referenced)`, "a foreign key of public.child refers to it"},
		{"published", `CREATE PUBLICATION pub FOR TABLE published`, "publication pub sends its rows to subscribers"},
		{"otherpolicy", `CREATE TABLE o2 (a int); CREATE POLICY p ON o2 USING (EXISTS (SELECT FROM otherpolicy))`, "policy p on table public.o2 depends on it"},
		{"typed", `DROP TABLE typed; CREATE TYPE tt AS (a int); CREATE TABLE typed OF tt`, "it is a table of type public.tt"},
		{"extended", `CREATE EXTENSION citext; ALTER EXTENSION citext ADD TABLE extended`, "it belongs to extension citext"},
		{"indexstats", `CREATE INDEX ie ON indexstats (abs(a)); ALTER INDEX ie ALTER COLUMN 1 SET STATISTICS 9`, "index ie has statistics targets"},
		{"nofk", `CREATE TABLE o3 (a int PRIMARY KEY); ALTER TABLE nofk ADD CONSTRAINT k FOREIGN KEY (a) REFERENCES o3; ALTER TABLE nofk DISABLE TRIGGER ALL`,
			"foreign key k has disabled triggers"},
		{"percent", `CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
			CREATE TRIGGER x BEFORE INSERT ON percent FOR EACH ROW EXECUTE FUNCTION f('%s')`, "a definition on it holds a per cent sign followed by the letter s"},
	} {
		clustertest.Exec(t, uri, `CREATE TABLE `+test.name+` (a int PRIMARY KEY, b text)`, test.sql)
		got := read(t, uri, "public", test.name, Target).Rebuild.Blockers
		if !slices.Equal(got, []string{test.want}) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	if version(connect(t, uri)) >= 180000 {
		clustertest.Exec(t, uri, `CREATE EXTENSION btree_gist`, `CREATE TABLE period (a int, r int4range, CONSTRAINT once UNIQUE (a, r WITHOUT OVERLAPS))`)
		if got := read(t, uri, "public", "period", Target); !slices.Equal(got.Rebuild.Blockers, []string{"constraint once is WITHOUT OVERLAPS"}) || len(got.Keys) > 0 {
			t.Errorf("without overlaps: %q, keys %v", got.Rebuild.Blockers, got.Keys)
		}
	}
	if got := read(t, uri, "public", "referenced", Source).Rebuild.ReferencedBy; !slices.Equal(got, []string{"public.child"}) {
		t.Errorf("referenced by %q", got)
	}
	if got := read(t, uri, "pg_catalog", "pg_class", Source).Rebuild.Blockers; !slices.Contains(got, "it is a system table") {
		t.Errorf("pg_class: %q", got)
	}
}

func TestRebuildPublications(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, `CREATE TABLE t (a int)`, `CREATE PUBLICATION quiet_all FOR ALL TABLES WITH (publish = 'update')`)
	if got := read(t, uri, "public", "t", Target).Rebuild; len(got.Blockers) > 0 || strings.Contains(strings.Join(got.After, ";"), "PUBLICATION") {
		t.Errorf("%+v", got)
	}
	clustertest.Exec(t, uri, `CREATE PUBLICATION loud FOR ALL TABLES`)
	if got := read(t, uri, "public", "t", Target).Rebuild; !slices.Equal(got.Blockers, []string{"publication loud sends its rows to subscribers"}) {
		t.Errorf("%q", got.Blockers)
	}
	if version(connect(t, uri)) < 150000 {
		return
	}
	clustertest.Exec(t, uri, `DROP PUBLICATION loud`, `CREATE PUBLICATION part FOR TABLE t (a) WITH (publish = 'update')`,
		`CREATE PUBLICATION sch FOR TABLES IN SCHEMA public`)
	want := []string{"publication part publishes a part of it", "publication sch publishes its schema"}
	if got := read(t, uri, "public", "t", Target).Rebuild; !slices.Equal(got.Blockers, want) {
		t.Errorf("%q", got.Blockers)
	}
}

func TestRebuildPartitionedTellsReferences(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, `CREATE TABLE p (a int PRIMARY KEY) PARTITION BY LIST (a)`, `CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1)`,
		`CREATE TABLE c (a int REFERENCES p) PARTITION BY LIST (a)`, `CREATE TABLE c1 PARTITION OF c FOR VALUES IN (1)`)
	got := read(t, uri, "public", "p", Target).Rebuild
	if !slices.Equal(got.ReferencedBy, []string{"public.c"}) || !slices.Contains(got.Blockers, "it is partitioned") {
		t.Errorf("%+v", got)
	}
	if got := read(t, uri, "public", "p1", Target).Rebuild; len(got.ReferencedBy) == 0 {
		t.Error("TRUNCATE of the partition is blocked as well")
	}
	for _, kind := range []string{`CREATE VIEW v AS SELECT 1`, `CREATE MATERIALIZED VIEW v AS SELECT 1`, `CREATE SEQUENCE v`} {
		clustertest.Exec(t, uri, kind)
		if got := read(t, uri, "public", "v", Source); got.Rebuild != nil {
			t.Errorf("%s: %+v", kind, got.Rebuild)
		}
		clustertest.Exec(t, uri, `DROP `+strings.TrimSuffix(strings.TrimPrefix(strings.Split(kind, " v")[0], "CREATE "), "")+` v`)
	}
}
