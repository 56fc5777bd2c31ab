package move

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
)

// pageCase is a table with a property that a copy of its pages must keep, or get right.
type pageCase struct {
	name  string
	table string   // quoted
	types []string // what the table needs, in every database
	ddl   []string // makes it
	there []string // makes that of the other database; nil is ddl
	fill  []string
	// seeks are queries that an index can answer, with $t for the table.
	seeks []string
	// own says why its values cannot go to another database; empty when they can.
	own string
}

// pageCases are for one server version: what it lacks is left out.
func pageCases(t *testing.T, uri string) []pageCase {
	t.Helper()
	version := clustertest.Query(t, uri, "SELECT current_setting('server_version_num')::int / 10000")
	cases := append(pageShapes(), pageHistories()...)
	cases = append(cases, pageToasts(clustertest.Query(t, uri, "SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression'") == "t")...)
	ownTypes := typesBut(func(c *typedColumn) bool { return c.extension != "" && !clustertest.HasExtension(t, uri, c.extension) })
	carried := typesBut(func(c *typedColumn) bool {
		switch c.typ {
		case "pair", "span", "nest", "mood[]", "posint[]", "pair[]", "citext[]":
			return true
		}
		return strings.HasPrefix(c.typ, "reg") || c.extension != "" && !clustertest.HasExtension(t, uri, c.extension)
	})
	for _, wide := range []pageCase{{name: "every type", table: "wide_own", own: "Column "}, {name: "every type that other databases take", table: "wide"}} {
		types := carried
		if wide.own != "" {
			types = ownTypes
		}
		ddl, fill := wideTable(wide.table, 600, types)
		wide.types = []string{"CREATE EXTENSION IF NOT EXISTS hstore", "CREATE EXTENSION IF NOT EXISTS citext"}
		wide.types = append(wide.types, strings.Split(typeSetup, ";\n")...)
		wide.ddl, wide.fill = []string{ddl}, []string{fill, "INSERT INTO " + wide.table + " (id) VALUES (0)", "DELETE FROM " + wide.table + " WHERE id % 9 = 4"}
		wide.seeks = []string{"SELECT count(*) FROM $t WHERE id BETWEEN 10 AND 20"}
		cases = append(cases, wide)
	}
	if version == "18" {
		cases = append(cases, pageCase{name: "virtual columns", table: "lazy", ddl: []string{"CREATE TABLE lazy (a int, v int GENERATED ALWAYS AS (a + 1) VIRTUAL, b text, w text GENERATED ALWAYS AS (b || '!') VIRTUAL)"},
			fill: []string{"INSERT INTO lazy (a, b) SELECT i, i FROM generate_series(1, 2000) i"}})
	}
	return cases
}

// pageShapes are tables of all kinds of definitions.
func pageShapes() []pageCase {
	return []pageCase{
		{name: "empty", table: "hollow", ddl: []string{"CREATE TABLE hollow (id int PRIMARY KEY, v text)"}},
		{name: "empty again", table: "hollowed", ddl: []string{"CREATE TABLE hollowed (id int PRIMARY KEY, v text)"},
			fill: []string{"INSERT INTO hollowed SELECT i, repeat(md5(i::text), 200) FROM generate_series(1, 100) i", "DELETE FROM hollowed"}},
		{name: "no columns", table: "bare", ddl: []string{"CREATE TABLE bare ()"}, fill: []string{"INSERT INTO bare SELECT FROM generate_series(1, 700)"}},
		{name: "only dropped columns", table: "stripped", ddl: []string{"CREATE TABLE stripped (a int, b text)"}, there: []string{"CREATE TABLE stripped ()"},
			fill: []string{"INSERT INTO stripped SELECT i, repeat(md5(i::text), 100) FROM generate_series(1, 300) i", "ALTER TABLE stripped DROP a, DROP b"}},
		{name: "a dropped column with long values", table: "relieved", ddl: []string{"CREATE TABLE relieved (a int, b text, c int)"}, there: []string{"CREATE TABLE relieved (a int, c int)"},
			fill: []string{"ALTER TABLE relieved ALTER b SET STORAGE EXTERNAL", "INSERT INTO relieved SELECT i, repeat(md5(i::text), 100), i FROM generate_series(1, 300) i", "ALTER TABLE relieved DROP b"}},
		{name: "dropped columns of all sizes", table: "holes",
			ddl: []string{`CREATE TABLE holes (a "char", id bigint PRIMARY KEY, b int2, c text, v text, d timetz, e name, f macaddr, g interval, h float8[], w numeric, i bool, j tid, x bool)`},
			fill: []string{`INSERT INTO holes SELECT 'x', i, i % 100, repeat('c', i % 300), i || 'v', '12:00+01', 'n' || i, '08:00:2b:01:02:03', '1 day', ARRAY[i, NULL], i / 7.0, i % 2 = 0, '(1,2)', i % 3 = 0
				FROM generate_series(1, 3000) i`, "ALTER TABLE holes DROP a, DROP b, DROP c, DROP d", "UPDATE holes SET v = v || 'u' WHERE id % 3 = 0",
				"ALTER TABLE holes DROP e, DROP f, DROP g, DROP h, DROP i, DROP j", "INSERT INTO holes SELECT i, 'late', NULL, NULL FROM generate_series(4001, 4100) i"},
			there: []string{"CREATE TABLE holes (x bool, w numeric, id bigint PRIMARY KEY, v text)"}, seeks: []string{"SELECT count(*) FROM $t WHERE id BETWEEN 2990 AND 4010"}},
		{name: "odd names", table: `"Odd ""schema"."we'ird ""ta.ble"" $pghaul$ %s\"`,
			ddl: []string{`CREATE SCHEMA "Odd ""schema"`, `CREATE TYPE "Odd ""schema"."my 'type'" AS ENUM ('it''s', 'b"c', '')`,
				`CREATE TABLE "Odd ""schema"."we'ird ""ta.ble"" $pghaul$ %s\" ("select" int PRIMARY KEY, "a b" text CHECK ("a b" <> 'it''s \'), "ä""'" "Odd ""schema"."my 'type'", "\" int)`,
				`CREATE INDEX "i'd""ex" ON "Odd ""schema"."we'ird ""ta.ble"" $pghaul$ %s\" ("\")`},
			fill:  []string{`INSERT INTO "Odd ""schema"."we'ird ""ta.ble"" $pghaul$ %s\" SELECT i, 'x' || i, (ARRAY['it''s', 'b"c', '', NULL]::"Odd ""schema"."my 'type'"[])[i % 4 + 1], i FROM generate_series(1, 1000) i`},
			seeks: []string{`SELECT count(*) FROM $t WHERE "select" < 50`, `SELECT count(*) FROM $t WHERE "\" > 990`}},
		{name: "generated, identity, serial", table: "made",
			ddl: []string{`CREATE TABLE made (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, other bigint GENERATED BY DEFAULT AS IDENTITY (START 7 INCREMENT 3), s serial, a int,
				twice int GENERATED ALWAYS AS (a * 2) STORED, label text GENERATED ALWAYS AS ('n' || a) STORED)`, "CREATE INDEX ON made (label)"},
			fill:  []string{"INSERT INTO made (a) SELECT NULLIF(i % 50, 7) FROM generate_series(1, 2000) i", "UPDATE made SET a = a + 1000 WHERE id % 7 = 0"},
			seeks: []string{"SELECT count(*) FROM $t WHERE label = 'n33'", "SELECT count(*) FROM $t WHERE id BETWEEN 5 AND 90"}},
		{name: "indexes of all kinds", table: "indexed",
			ddl: []string{`CREATE TABLE indexed (id int PRIMARY KEY, u text UNIQUE, r int4range, j jsonb, w text, n int, EXCLUDE USING gist (r WITH &&), UNIQUE (n, id) INCLUDE (w) DEFERRABLE INITIALLY DEFERRED)`,
				"CREATE INDEX ON indexed (lower(u))", "CREATE UNIQUE INDEX ON indexed (n DESC NULLS LAST, u) WHERE n > 500", "CREATE INDEX ON indexed USING gin (j)", "CREATE INDEX ON indexed USING brin (n)",
				"CREATE INDEX ON indexed USING hash (w)", "CREATE INDEX ON indexed USING spgist (w)", "CREATE STATISTICS of_indexed ON n, w FROM indexed"},
			fill: []string{`INSERT INTO indexed SELECT i, 'U' || i, int4range(i * 10, i * 10 + 5), jsonb_build_object('k', i % 10, 'l', repeat('v', i % 50)), 'w' || i % 100, i FROM generate_series(1, 3000) i`,
				"UPDATE indexed SET w = w || 'x' WHERE id % 11 = 0", "DELETE FROM indexed WHERE id % 13 = 0"},
			seeks: []string{"SELECT count(*) FROM $t WHERE id BETWEEN 100 AND 200", "SELECT count(*) FROM $t WHERE lower(u) = 'u77'", "SELECT count(*) FROM $t WHERE r && int4range(100, 300)",
				`SELECT count(*) FROM $t WHERE j @> '{"k": 3}'`, "SELECT count(*) FROM $t WHERE n BETWEEN 700 AND 800", "SELECT count(*) FROM $t WHERE w = 'w42'"}},
		{name: "domains", table: "ruled", types: []string{"CREATE DOMAIN grade AS int NOT NULL CHECK (VALUE BETWEEN 1 AND 6)", "CREATE DOMAIN mark AS grade CHECK (VALUE <> 5)",
			"CREATE TYPE light AS ENUM ('red', 'green')", "CREATE DOMAIN go AS light CHECK (VALUE <> 'red')"},
			ddl: []string{"CREATE TABLE ruled (g grade, m mark, l go, t text)"}, fill: []string{"INSERT INTO ruled SELECT i % 6 + 1, i % 4 + 1, CASE WHEN i % 3 > 0 THEN 'green'::go END, i FROM generate_series(1, 1500) i"}},
		{name: "enum labels of other numbers", table: "felt", types: []string{"CREATE TYPE feeling AS ENUM ('a', 'b', 'c')"}, ddl: []string{"CREATE TABLE felt (f feeling, g feeling, id int)", "CREATE INDEX ON felt (f)"},
			there: []string{"ALTER TYPE feeling ADD VALUE 'early' BEFORE 'a'", "ALTER TYPE feeling ADD VALUE 'd'", "CREATE TABLE felt (f feeling, g feeling, id int)", "CREATE INDEX ON felt (f)"},
			fill: []string{"ALTER TYPE feeling ADD VALUE 'd' BEFORE 'b'", "INSERT INTO felt SELECT (ARRAY['a','b','c','d',NULL]::feeling[])[i % 5 + 1], (ARRAY['d','a']::feeling[])[i % 2 + 1], i FROM generate_series(1, 1000) i",
				"ALTER TABLE felt ADD h feeling DEFAULT 'd'", "ALTER TABLE felt DROP h"},
			seeks: []string{"SELECT count(*) FROM $t WHERE f = 'd'"}},
		{name: "a partition", table: "leaf", ddl: []string{"CREATE TABLE tree (id int, v text) PARTITION BY RANGE (id)", "CREATE TABLE leaf PARTITION OF tree FOR VALUES FROM (1) TO (5000)", "CREATE INDEX ON tree (id)"},
			there: []string{"CREATE TABLE leaf (id int, v text)", "CREATE INDEX ON leaf (id)"}, fill: []string{"INSERT INTO tree SELECT i, i FROM generate_series(1, 3000) i"},
			seeks: []string{"SELECT count(*) FROM $t WHERE id < 100"}},
		{name: "full of room", table: "airy", ddl: []string{"CREATE TABLE airy (id int PRIMARY KEY, v text) WITH (fillfactor = 10)"}, fill: []string{"INSERT INTO airy SELECT i, repeat('v', 90) FROM generate_series(1, 4000) i"},
			seeks: []string{"SELECT count(*) FROM $t WHERE id < 100"}},
		{name: "two hundred columns", table: "broad", ddl: []string{"CREATE TABLE broad (id int PRIMARY KEY, " + many("c%d int", 100) + ", " + many("t%d text", 100) + ")"},
			fill: []string{"INSERT INTO broad (id, c1, t1, t99) SELECT i, i, NULL, 't' FROM generate_series(1, 500) i", "UPDATE broad SET c99 = 5, t50 = repeat('t', 200) WHERE id % 3 = 0"}},
	}
}

// many repeats a text with its number.
func many(format string, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(all, ", ")
}
