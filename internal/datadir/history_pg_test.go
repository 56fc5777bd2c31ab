package datadir

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/cluster"
	"github.com/pghaul/pghaul/internal/clustertest"
)

// typesSQL makes tables of every kind of type and history.
var typesSQL = []string{
	`CREATE SCHEMA app; CREATE SCHEMA "Odd Schema"; CREATE TYPE "Odd Schema"."Odd Type" AS ENUM ('it''s')`,
	`CREATE TYPE app.mood AS ENUM ('sad', 'ok', 'very happy'); CREATE DOMAIN app.short AS varchar(10) CHECK (length(value) < 9)`,
	`CREATE TYPE app.pair AS (a int, b text, c app.mood); CREATE TYPE app.span AS RANGE (subtype = int8)`,
	`CREATE TABLE app.scalars AS SELECT g AS id, (g % 2 = 0) AS b, g::int2 AS i2, g * 3 AS i4, g * 100000000000 AS i8,
		g::float4 / 7 AS f4, g::float8 / 7 AS f8, (g * 1.5)::numeric(10, 2) AS n, (10 ^ g)::numeric AS big, g::text AS t,
		g::varchar(10) AS v, g::char(6) AS c, 'n' || g AS x, ('name' || g)::name AS name, decode(md5(g::text), 'hex') AS bytes,
		md5(g::text)::uuid AS u, date '2000-01-01' + g AS d, timestamp '2000-01-01' + g * interval '1 hour 1.5 s' AS ts,
		timestamptz '1999-12-31 23:00:00+00' + g * interval '1 day' AS tz, time '01:02:03' AS tm, timetz '01:02:03.5+02' AS tmz,
		g * interval '1 month 2 days 3.25 seconds' AS iv, ('10.0.0.' || g % 200)::inet AS net, '10.0.0.0/8'::cidr AS cidr,
		macaddr '08:00:2b:01:02:03' AS mac, g::bit(8) AS bits, g::bit(12)::varbit AS vbits, point(g, -g) AS p, box '(1,2),(3,4)' AS bx,
		path '[(1,2),(3,4)]' AS pth, polygon '((1,2),(3,4),(5,6))' AS pol, circle '<(1,2),3>' AS cir, lseg '[(1,2),(3,4)]' AS ls,
		line '{1,2,3}' AS ln, g::text::xml AS xm, pg_lsn '16/B374D848' AS lsn, '(3,4)'::tid AS tid, g::money AS cash, 'pg_class'::regclass AS rc,
		'int4'::regtype AS rt, 'postgres'::regrole AS rr, to_tsvector('simple', 'a b c ' || g) AS tv, to_tsquery('simple', 'a & b') AS tq
		FROM generate_series(1, 300) g`,
	`CREATE TABLE app.nested AS SELECT g AS id, json_build_object('a', g) AS j, jsonb_build_object('a', g, 'b', ARRAY[1, 2], 'c', NULL) AS jb,
		ARRAY[g, NULL, g + 1] AS ints, ARRAY[[g::text, 'x,y'], ['"', NULL]] AS texts, int4range(g, g + 10) AS r,
		app.span(g, NULL) AS sp, ROW(g, 'text "quoted"', 'very happy')::app.pair AS pair,
		ARRAY[ROW(g, NULL, 'ok')::app.pair, NULL] AS pairs, (ARRAY['sad', 'ok', 'very happy'])[1 + g % 3]::app.mood AS mood,
		ARRAY['sad']::app.mood[] AS moods, 'short'::app.short AS short, '{1 2}'::int2vector[] AS vectors,
		int4multirange(int4range(1, g + 2), int4range(g + 5, NULL)) AS mr FROM generate_series(1, 200) g`,
	`CREATE TABLE app.nulls (a int, b text, c int8, d varchar(5), e bool, f numeric, g date, h int[], i text, j int2)`,
	`INSERT INTO app.nulls SELECT CASE WHEN g & 1 = 0 THEN g END, CASE WHEN g & 2 = 0 THEN 'b' || g END, CASE WHEN g & 4 = 0 THEN g END,
		CASE WHEN g & 8 = 0 THEN 'd' END, CASE WHEN g & 16 = 0 THEN true END, CASE WHEN g & 32 = 0 THEN g END,
		CASE WHEN g & 64 = 0 THEN date '2020-02-02' END, CASE WHEN g & 128 = 0 THEN ARRAY[g] END, CASE WHEN g & 256 = 0 THEN '' END,
		CASE WHEN g & 512 = 0 THEN 7::int2 END FROM generate_series(0, 1023) g`,
	`CREATE TABLE app.empty (); INSERT INTO app.empty DEFAULT VALUES; CREATE TABLE app.none (a int)`,
	`CREATE TABLE "Odd Schema"."Odd.Table" ("a b" int, "ä" text); INSERT INTO "Odd Schema"."Odd.Table" VALUES (1, 'ö')`,
	`CREATE TABLE app.cols (a int, gone text, b text, gone2 int8); INSERT INTO app.cols SELECT g, 'x' || g, 'b' || g, g FROM generate_series(1, 50) g`,
	`ALTER TABLE app.cols DROP COLUMN gone; INSERT INTO app.cols SELECT g, 'b' || g, g FROM generate_series(51, 99) g`,
	`ALTER TABLE app.cols ADD n1 int DEFAULT 42, ADD n2 text DEFAULT 'it''s, "a" default', ADD n3 numeric(8, 2) NOT NULL DEFAULT 1.5`,
	`ALTER TABLE app.cols ADD n4 int[] DEFAULT '{1,NULL}', ADD n5 app.mood DEFAULT 'ok', ADD n6 text, ADD n7 "char" DEFAULT 'x', ADD n8 name DEFAULT 'nm'`,
	`ALTER TABLE app.cols DROP COLUMN gone2; INSERT INTO app.cols SELECT g, 'b' || g FROM generate_series(100, 120) g`,
	`ALTER TABLE app.cols ADD n9 text DEFAULT repeat('long', 1000), ADD gen int GENERATED ALWAYS AS (a * 2) STORED`,
	`UPDATE app.cols SET b = 'updated' WHERE a % 10 = 0`,
	`CREATE TABLE app.modifiers (a bit, b bit(3), c varbit(5), d varchar, e varchar(3), f char, g bpchar, h numeric, i numeric(9, 3), j interval,
		k interval day to second(3), l interval(2), m interval year to month, n time(3), o timetz(0), p timestamp(6), q timestamptz(1)[],
		r "char", s name, t app.mood[], u app.short, v varchar(7)[], w interval hour, x oid, y float8, z "Odd Schema"."Odd Type")`,
	`CREATE TABLE app.toast (id int, plain text, ext text, pg text, lz text, main text, arr text[], j jsonb)`,
	`ALTER TABLE app.toast ALTER ext SET STORAGE EXTERNAL, ALTER main SET STORAGE MAIN, ALTER pg SET COMPRESSION pglz, ALTER lz SET COMPRESSION LZ`,
	`INSERT INTO app.toast SELECT g, 'p' || g, repeat(md5(g::text), g * g % 300), (SELECT string_agg(md5((i * g)::text), ' ') FROM generate_series(1, g * 7) i),
		(SELECT string_agg(md5((i * g)::text) || repeat('z', 50), ' ') FROM generate_series(1, g * 5) i), repeat('main', g * 100),
		ARRAY(SELECT md5(i::text) FROM generate_series(1, g * 3) i), jsonb_build_object('k', repeat('v', g * 40), 'l', g)
		FROM generate_series(1, 150) g`,
	`INSERT INTO app.toast (id, ext, lz) SELECT 1000, string_agg(md5(i::text), ''), string_agg(md5(i::text) || repeat('y', i % 40), '') FROM generate_series(1, 60000) i`,
	`UPDATE app.toast SET ext = ext || 'changed' WHERE id % 7 = 0; DELETE FROM app.toast WHERE id % 11 = 0`,
	`CREATE TABLE app.parts (id int, t text) PARTITION BY RANGE (id)`,
	`CREATE TABLE app.parts_a PARTITION OF app.parts FOR VALUES FROM (0) TO (100); CREATE TABLE app.parts_b PARTITION OF app.parts FOR VALUES FROM (100) TO (1000)`,
	`INSERT INTO app.parts SELECT g, 'part' || g FROM generate_series(0, 300) g; CREATE UNLOGGED TABLE app.fast AS SELECT g FROM generate_series(1, 10) g`,
	`CREATE MATERIALIZED VIEW app.mat AS SELECT id, t FROM app.parts; CREATE TABLE app.child () INHERITS (app.none); INSERT INTO app.child VALUES (5)`,
	`CREATE TABLE app.full (id int, t text) WITH (fillfactor = 50); INSERT INTO app.full SELECT g, 'x' FROM generate_series(1, 2000) g`,
	`VACUUM (FREEZE) app.full; UPDATE app.full SET t = 'hot' WHERE id % 3 = 0; UPDATE app.full SET t = 'again' WHERE id % 6 = 0; DELETE FROM app.full WHERE id % 5 = 0`,
	`VACUUM app.nulls; CREATE TABLE app.sub (id int, t text)`,
	`BEGIN; INSERT INTO app.sub SELECT g, 'top' FROM generate_series(1, 10) g; SAVEPOINT a; INSERT INTO app.sub VALUES (11, 'kept'); SAVEPOINT b;
		INSERT INTO app.sub VALUES (12, 'back'); DELETE FROM app.sub WHERE id < 5; ROLLBACK TO b; UPDATE app.sub SET t = 'sub' WHERE id = 7; COMMIT`,
	`DO $$ BEGIN FOR i IN 1..200 LOOP BEGIN INSERT INTO app.sub VALUES (i + 1000, 'loop'); IF i % 3 = 0 THEN RAISE 'back'; END IF; EXCEPTION WHEN raise_exception THEN NULL; END; END LOOP; END $$`,
	`BEGIN; INSERT INTO app.sub SELECT g, 'aborted' FROM generate_series(5000, 5100) g; DELETE FROM app.sub WHERE id = 1; ROLLBACK`,
	`BEGIN; INSERT INTO app.sub VALUES (6000, 'prepared'); DELETE FROM app.sub WHERE id = 2; PREPARE TRANSACTION 'open'`,
}

// historyTables are those made by typesSQL and unfinished.
var historyTables = []string{
	"app.scalars", "app.nested", "app.nulls", "app.empty", "app.none", "app.child", "app.cols", "app.toast", "app.parts_a", "app.parts_b",
	"app.fast", "app.mat", "app.full", "app.sub", "app.locked", "app.spaced", `"Odd Schema"."Odd.Table"`,
}

// fillHistory runs typesSQL, lz4 where the server knows it.
func fillHistory(t *testing.T, s *cluster.Server) string {
	t.Helper()
	uri := s.URI("postgres")
	lz := "pglz"
	if strings.Contains(clustertest.Query(t, uri, "SELECT enumvals::text FROM pg_settings WHERE name = 'default_toast_compression'"), "lz4") {
		lz = "lz4"
	}
	for _, sql := range typesSQL {
		for _, part := range vacuumsApart(strings.ReplaceAll(sql, "COMPRESSION LZ", "COMPRESSION "+lz)) {
			clustertest.Exec(t, uri, part)
		}
	}
	if clustertest.Query(t, uri, "SELECT current_setting('server_version_num')::int >= 180000") == "t" {
		clustertest.Exec(t, uri, "ALTER TABLE app.cols ADD computed int GENERATED ALWAYS AS (a + 1) VIRTUAL, ADD after_it int DEFAULT 3",
			"INSERT INTO app.cols (a) VALUES (500)")
	}
	space := filepath.Join(filepath.Dir(s.Dir()), "space")
	if err := os.Mkdir(space, 0o700); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	owner := info.Sys().(*syscall.Stat_t)
	if err := os.Chown(space, int(owner.Uid), int(owner.Gid)); err != nil {
		t.Fatal(err)
	}
	clustertest.Exec(t, uri, "CREATE TABLESPACE other LOCATION '"+space+"'")
	clustertest.Exec(t, uri, "CREATE TABLE app.spaced TABLESPACE other AS SELECT g, repeat(md5(g::text), 300) AS t FROM generate_series(1, 20) g")
	fillLocked(t, uri)
	return uri
}

// vacuumsApart splits at VACUUM, which refuses to run in a block with others.
func vacuumsApart(sql string) []string {
	if !strings.HasPrefix(sql, "VACUUM") {
		return []string{sql}
	}
	vacuum, rest, _ := strings.Cut(sql, ";")
	return []string{vacuum, rest}
}

// fillLocked makes multixacts: rows locked by one session and updated or deleted by another, which commits or not.
func fillLocked(t *testing.T, uri string) {
	t.Helper()
	clustertest.Exec(t, uri, "CREATE TABLE app.locked (id int PRIMARY KEY, t text)",
		"INSERT INTO app.locked SELECT g, 'first' FROM generate_series(1, 40) g")
	a, b := connect(t, uri), connect(t, uri)
	for i := 1; i <= 40; i++ {
		execute(t, a, "BEGIN", fmt.Sprintf("SELECT FROM app.locked WHERE id = %d FOR KEY SHARE", i))
		end := [2]string{"COMMIT", "ROLLBACK"}[i%2]
		if i%5 == 0 { // locked by both, changed by none
			execute(t, b, "BEGIN", fmt.Sprintf("SELECT FROM app.locked WHERE id = %d FOR SHARE", i), "COMMIT")
		} else {
			execute(t, b, "BEGIN", fmt.Sprintf("UPDATE app.locked SET t = 'second' WHERE id = %d", i), end)
		}
		execute(t, a, [2]string{"COMMIT", "ROLLBACK"}[i/2%2])
	}
}

func connect(t *testing.T, uri string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), uri)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

func execute(t *testing.T, c *pgx.Conn, sql ...string) {
	t.Helper()
	for _, text := range sql {
		if _, err := c.PgConn().Exec(t.Context(), text).ReadAll(); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// TestRowsAreTheServers compares the rows of every table with what the server said before it was stopped, in good order or not, with
// checksums or without.
func TestRowsAreTheServers(t *testing.T) {
	cases := []struct {
		name             string
		crash, checksums bool
	}{{"stopped", false, false}, {"crashed", true, false}}
	if _, err := os.Stat(checksumProgram(t)); err == nil { // the builds that the test matrix fetches lack it
		cases = append(cases, cases[0])
		cases[2].name, cases[2].checksums = "checksums", true
	}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			s := private(t, nil)
			uri := fillHistory(t, s)
			open := connect(t, uri)
			execute(t, open, "BEGIN", "INSERT INTO app.sub VALUES (7000, 'in progress')", "DELETE FROM app.sub WHERE id IN (3, 4)",
				"UPDATE app.scalars SET i4 = 0 WHERE id = 7")
			types := clustertest.Query(t, uri, `SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
				WHERE attrelid = 'app.modifiers'::regclass AND attnum > 0 ORDER BY attnum`)
			want := map[string][]string{}
			for _, table := range historyTables {
				want[table] = serverRows(t, uri, table, columnNames(t, uri, table)...)
			}
			clustertest.Exec(t, uri, "CHECKPOINT")
			d := stopped(t, s, tt.crash)
			if d.Control().State.Clean() == tt.crash {
				t.Errorf("the state is %q", d.Control().State)
			}
			if tt.checksums && !d.Control().Checksums {
				enableChecksums(t, s)
				d = opened(t, s.Dir())
			}
			db := database(t, d, "postgres")
			var names []string
			for _, c := range findTable(t, db, "app.modifiers").Columns {
				names = append(names, c.Name+"|"+c.TypeName)
			}
			equalRows(t, "app.modifiers", names, strings.Split(types, "\n"))
			for _, table := range historyTables {
				if table == "app.fast" && tt.crash {
					continue // checkpoints do not write unlogged tables
				}
				equalRows(t, table, directoryRows(t, db, table, nil), want[table])
			}
		})
	}
}

// checksumProgram is the path of pg_checksums of the version under test, where it has one.
func checksumProgram(t *testing.T) string {
	t.Helper()
	major, err := strconv.Atoi(clustertest.Query(t, clustertest.Database(t), "SELECT current_setting('server_version_num')::int / 10000"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := cluster.FindMajor(major)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(b.Dir, "pg_checksums")
}

func enableChecksums(t *testing.T, s *cluster.Server) {
	t.Helper()
	if out, err := exec.Command(checksumProgram(t), "--enable", "-D", s.Dir()).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// TestDeletedRowsAreShown also compares what Deleted adds: rows that were deleted, and those of transactions that did not commit.
func TestDeletedRowsAreShown(t *testing.T) {
	s := private(t, nil)
	uri := s.URI("postgres")
	clustertest.Exec(t, uri, "CREATE TABLE public.t (id int, t text)", "INSERT INTO public.t SELECT g, 'row ' || g FROM generate_series(1, 6) g",
		"DELETE FROM public.t WHERE id = 2", "UPDATE public.t SET t = 'new' WHERE id = 3",
		"BEGIN; INSERT INTO public.t VALUES (7, 'never'); ROLLBACK", "CHECKPOINT")
	db := database(t, stopped(t, s, true), "postgres")
	want := []string{"(0,1) 1|row 1", "(0,2) 2|row 2", "(0,3) 3|row 3", "(0,4) 4|row 4", "(0,5) 5|row 5", "(0,6) 6|row 6", "(0,7) 3|new", "(0,8) 7|never"}
	if got := directoryRows(t, db, "public.t", &ScanOptions{Deleted: true}); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	table, err := db.Table("public", "t")
	if err != nil {
		t.Fatal(err)
	}
	var states []string
	err = db.Scan(t.Context(), table, &ScanOptions{Deleted: true}, func(row Row) error {
		states = append(states, row.State.String())
		return nil
	})
	if want := []string{"live", "deleted", "deleted", "live", "live", "live", "live", "aborted"}; err != nil || !slices.Equal(states, want) {
		t.Errorf("states %q, error %v", states, err)
	}
}
