package move

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/cluster"
	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// pageHistories are tables whose tuples went through everything that happens to tuples.
func pageHistories() []pageCase {
	rows := "SELECT i, 'v' || i FROM generate_series(1, 1000) i"
	return []pageCase{
		{name: "hot chains, pruned and not", table: "hot", ddl: []string{"CREATE TABLE hot (id int PRIMARY KEY, v text) WITH (fillfactor = 50, autovacuum_enabled = off)"},
			fill: []string{"INSERT INTO hot " + rows, "UPDATE hot SET v = v || 'a' WHERE id % 2 = 0", "UPDATE hot SET v = v || 'b' WHERE id % 4 = 0", "SELECT count(*) FROM hot", "UPDATE hot SET v = v || 'c' WHERE id % 8 = 0",
				"DELETE FROM hot WHERE id % 16 = 0", "VACUUM hot", "UPDATE hot SET v = v || 'd' WHERE id % 3 = 0", "BEGIN", "UPDATE hot SET v = 'never'", "ROLLBACK"},
			seeks: []string{"SELECT count(*) FROM $t WHERE id BETWEEN 50 AND 90"}},
		{name: "aborted and subtransactions", table: "tried", ddl: []string{"CREATE TABLE tried (id int, v text) WITH (autovacuum_enabled = off)"},
			fill: []string{"INSERT INTO tried " + rows, "BEGIN", "DELETE FROM tried WHERE id % 2 = 0", "ROLLBACK", "BEGIN", "INSERT INTO tried SELECT 5000, 'never'", "ROLLBACK",
				"BEGIN", "SAVEPOINT a", "INSERT INTO tried SELECT -i, 'kept' FROM generate_series(1, 50) i", "SAVEPOINT b", "DELETE FROM tried WHERE id < -25", "ROLLBACK TO b", "SAVEPOINT c", "DELETE FROM tried WHERE id = 1", "RELEASE c",
				"RELEASE a", "SAVEPOINT d", "INSERT INTO tried VALUES (6000, 'never')", "ROLLBACK TO d", "INSERT INTO tried VALUES (7000, 'kept')", "COMMIT",
				// A row of its own transaction that is deleted by it carries a combo command.
				"BEGIN", "INSERT INTO tried VALUES (8000, 'gone'), (8001, 'kept')", "DELETE FROM tried WHERE id = 8000", "COMMIT",
				"BEGIN", "INSERT INTO tried VALUES (9000, 'kept')", "SAVEPOINT e", "DELETE FROM tried WHERE id = 9000", "ROLLBACK TO e", "COMMIT"}},
		{name: "locked rows and multixacts", table: "locked", ddl: []string{"CREATE TABLE locked (id int PRIMARY KEY, v text) WITH (autovacuum_enabled = off)"},
			fill: []string{"INSERT INTO locked " + rows,
				"BEGIN", "SELECT count(*) FROM (SELECT FROM locked WHERE id % 7 = 0 FOR UPDATE) q", "COMMIT", "BEGIN", "SELECT count(*) FROM (SELECT FROM locked WHERE id % 7 = 1 FOR KEY SHARE) q", "ROLLBACK",
				// Two members that only lock; a committed and an aborted one that updates; a committed one that deletes.
				"BEGIN", "SELECT count(*) FROM (SELECT FROM locked WHERE id % 7 = 2 FOR SHARE) q", "SAVEPOINT s", "SELECT count(*) FROM (SELECT FROM locked WHERE id % 7 = 2 FOR UPDATE) q", "COMMIT",
				"BEGIN", "SELECT count(*) FROM (SELECT FROM locked WHERE id % 7 = 3 FOR KEY SHARE) q", "SAVEPOINT s", "UPDATE locked SET v = v || 'u' WHERE id % 7 = 3", "COMMIT",
				"BEGIN", "SELECT count(*) FROM (SELECT FROM locked WHERE id % 7 = 4 FOR KEY SHARE) q", "SAVEPOINT s", "UPDATE locked SET v = 'never' WHERE id % 7 = 4", "ROLLBACK TO s", "COMMIT",
				"BEGIN", "SELECT count(*) FROM (SELECT FROM locked WHERE id % 7 = 5 FOR SHARE) q", "SAVEPOINT s", "DELETE FROM locked WHERE id % 7 = 5", "COMMIT",
				"BEGIN", "SELECT count(*) FROM (SELECT FROM locked WHERE id % 7 = 6 FOR SHARE) q", "SAVEPOINT s", "DELETE FROM locked WHERE id % 7 = 6", "ROLLBACK"},
			seeks: []string{"SELECT count(*) FROM $t WHERE id < 60"}},
		{name: "frozen and not", table: "cold", ddl: []string{"CREATE TABLE cold (id int, v text) WITH (autovacuum_enabled = off)"},
			fill: []string{"INSERT INTO cold " + rows, "VACUUM (FREEZE) cold", "INSERT INTO cold SELECT i + 1000, v FROM (" + rows + ") q(i, v)", "DELETE FROM cold WHERE id % 5 = 0"}},
		{name: "columns of later times", table: "grown", types: []string{"CREATE DOMAIN later AS text DEFAULT 'of the domain'"}, ddl: []string{"CREATE TABLE grown (id int PRIMARY KEY, v text)"},
			there: []string{"CREATE TABLE grown (id int PRIMARY KEY, v text, a int, b text, c text, d numeric, e int[], f bool NOT NULL, g later, h jsonb, i name, j interval, k \"char\", m text)"},
			fill: []string{"INSERT INTO grown " + rows, "ALTER TABLE grown ADD a int DEFAULT 7, ADD b text DEFAULT repeat('b', 300)", "INSERT INTO grown VALUES (2000, 'v', NULL, NULL)", "INSERT INTO grown VALUES (2001, 'v')",
				"ALTER TABLE grown ADD c text, ADD d numeric DEFAULT 'NaN', ADD e int[] DEFAULT '{1,NULL,3}', ADD f bool NOT NULL DEFAULT true, ADD g later, ADD h jsonb DEFAULT '{\"k\": 1}'", "UPDATE grown SET v = 'u' WHERE id % 10 = 0",
				"ALTER TABLE grown ADD i name DEFAULT 'n', ADD j interval DEFAULT '1 day', ADD k \"char\" DEFAULT 'k', ADD l text DEFAULT 'dropped', ADD m text DEFAULT ''", "ALTER TABLE grown DROP l, ALTER a SET DEFAULT 8",
				"INSERT INTO grown (id) VALUES (3000)"},
			seeks: []string{"SELECT count(*) FROM $t WHERE id > 990"}},
		{name: "full pages with columns of later times", table: "swollen", ddl: []string{"CREATE TABLE swollen (id int PRIMARY KEY, v text)"}, there: []string{"CREATE TABLE swollen (id int PRIMARY KEY, v text, late text)"},
			fill:  []string{"ALTER TABLE swollen ALTER v SET STORAGE PLAIN", "INSERT INTO swollen SELECT i, repeat('v', 1 + i * 7 % 4000) FROM generate_series(1, 1500) i", "ALTER TABLE swollen ADD late text DEFAULT repeat('late', 600)"},
			seeks: []string{"SELECT count(*) FROM $t WHERE id BETWEEN 700 AND 720"}},
		{name: "children of it", table: "elder", ddl: []string{"CREATE TABLE elder (id int, v text)"}, fill: []string{"CREATE TABLE junior () INHERITS (elder)", "INSERT INTO elder " + rows, "INSERT INTO junior SELECT -i, 'child' FROM generate_series(1, 100) i"}},
	}
}

// pageToasts are tables of long values.
func pageToasts(lz4 bool) []pageCase {
	texts := `repeat('compressible ', n / 13 + 1), (SELECT string_agg(md5(n || ' ' || k), '') FROM generate_series(0, n / 32) k)`
	lengths := "(SELECT row_number() OVER () AS id, n FROM unnest(ARRAY[0, 1, 60, 125, 126, 127, 128, 1000, 1990, 1996, 1997, 2000, 2040, 3992, 3993, 8000, 8192, 30000, 150000]) n) q"
	cases := []pageCase{}
	for _, storage := range []string{"PLAIN", "MAIN", "EXTERNAL", "EXTENDED"} {
		name := "long_" + strings.ToLower(storage)
		rows := lengths
		if storage == "PLAIN" {
			rows = strings.ReplaceAll(strings.ReplaceAll(lengths, ", 8000, 8192, 30000, 150000", ""), ", 3992, 3993", "")
		}
		ddl := "CREATE TABLE " + name + " (id int PRIMARY KEY, a text, b text, c bytea) WITH (autovacuum_enabled = off)"
		cases = append(cases, pageCase{name: "long values " + storage, table: name,
			ddl: []string{ddl, "ALTER TABLE " + name + " ALTER a SET STORAGE " + storage + ", ALTER b SET STORAGE " + storage + ", ALTER c SET STORAGE " + storage},
			fill: []string{"INSERT INTO " + name + " SELECT id, " + texts + ", decode(repeat('00ff', n / 2), 'hex') FROM " + rows, "INSERT INTO " + name + " SELECT 1000 + id, a, NULL, c FROM " + name,
				"UPDATE " + name + " SET id = id + 5000 WHERE id % 3 = 0", "UPDATE " + name + " SET a = b WHERE id % 5 = 0", "DELETE FROM " + name + " WHERE id % 7 = 0", "BEGIN", "UPDATE " + name + " SET b = b || 'never'", "ROLLBACK",
				"INSERT INTO " + name + " SELECT 9000 + id, a, b, c FROM " + name + " WHERE id < 5000"},
			seeks: []string{"SELECT count(*) FROM $t WHERE id > 9000"}})
	}
	cases = append(cases, pageCase{name: "long values of other types", table: "long_types", ddl: []string{"CREATE TABLE long_types (id int, n numeric, j jsonb, a text[], t tsvector, p polygon, b varbit)"},
		fill: []string{`INSERT INTO long_types SELECT i, repeat((i * 7919)::text, 4000)::numeric, (SELECT jsonb_object_agg('key' || k, md5(i || ' ' || k)) FROM generate_series(1, 300) k),
			(SELECT array_agg(CASE WHEN k % 9 > 0 THEN md5(i || ' ' || k) END) FROM generate_series(1, 200) k), (SELECT string_agg(md5(k::text), ' ') FROM generate_series(1, 300) k)::tsvector,
			(SELECT '(' || string_agg(format('(%s,%s)', k * i, k), ',') || ')' FROM generate_series(1, 300) k)::polygon, repeat('10110', 5000)::varbit FROM generate_series(1, 30) i`}})
	if lz4 {
		cases = append(cases, pageCase{name: "lz4 and pglz", table: "squeezed", ddl: []string{"CREATE TABLE squeezed (id int PRIMARY KEY, a text COMPRESSION lz4, b text COMPRESSION pglz, c text COMPRESSION lz4)", "ALTER TABLE squeezed ALTER c SET STORAGE MAIN"},
			fill: []string{"INSERT INTO squeezed SELECT id, " + texts + ", repeat('main ', n / 100) FROM " + lengths, "ALTER TABLE squeezed ALTER b SET COMPRESSION lz4", "INSERT INTO squeezed SELECT id + 100, b, a || 'x', c FROM squeezed"}})
	}
	return cases
}

// TestPagesOfEveryPast copies all cases within a database and to another one, kills the server at once, and judges what it has after its
// recovery.
func TestPagesOfEveryPast(t *testing.T) {
	t.Parallel()
	minimal := map[string]string{"wal_level": "minimal", "max_wal_senders": "0", "autovacuum": "off"}
	for _, c := range []struct {
		name      string
		notLogged bool
		checksums bool
		settings  map[string]string
	}{
		{"logged", false, true, map[string]string{"autovacuum_naptime": "1s"}}, {"not logged", true, false, nil}, {"logged, minimal WAL", false, false, minimal}, {"not logged, minimal WAL, checksums", true, true, minimal},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			options := testOptions(t)
			options.Settings = c.settings
			server := clustertest.Private(t, options)
			if c.checksums {
				giveChecksums(t, server)
			}
			p := &pagePast{light: c.settings["wal_level"] == "minimal", server: server, wish: pagesWish(c.notLogged), home: clustertest.DatabaseOn(t, server), away: clustertest.DatabaseOn(t, server)}
			callJudges(t, p.home)
			callJudges(t, p.away)
			p.cases = pageCases(t, p.home)
			p.copyAll(t)
			p.crash(t)
			p.judge(t, !c.notLogged)
			p.dump(t)
		})
	}
}

// pagePast are all cases in one database, and their copies there and in another one.
type pagePast struct {
	server     *cluster.Server
	wish       planner.Wish
	home, away string
	cases      []pageCase
	light      bool // the copies are only read
}

// near is the name of the copy in the same database.
func (p *pagePast) near(i int) string { return fmt.Sprintf("public.near_%d", i) }

func (p *pagePast) copyAll(t *testing.T) {
	t.Helper()
	var far, near []TablePair
	done := map[string]bool{}
	for i := range p.cases {
		c := &p.cases[i]
		for _, sql := range c.types {
			if !done[sql] {
				clustertest.Exec(t, p.home, sql)
				clustertest.Exec(t, p.away, sql)
				done[sql] = true
			}
		}
		clustertest.Exec(t, p.home, append(append([]string{}, c.ddl...), c.fill...)...)
		there := c.ddl
		if c.there != nil {
			there = c.there
		}
		clustertest.Exec(t, p.away, there...)
		near = append(near, TablePair{Source: c.table, Target: p.near(i)})
		if c.own == "" {
			far = append(far, TablePair{Source: c.table, Target: c.table})
			continue
		}
		refused(t, onePair(p.home, p.away, c.table, c.table, p.wish), c.own)
	}
	create := p.wish
	create.Create = true
	for _, q := range []Request{{Source: p.home, Target: p.home, Tables: near, Wish: create}, {Source: p.home, Target: p.away, Tables: far, Wish: p.wish}} {
		q.Verify = VerifyHash
		moves(t, q)
	}
}

// crash kills the server, which then has to recover.
func (p *pagePast) crash(t *testing.T) {
	t.Helper()
	if err := p.server.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := p.server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (p *pagePast) judge(t *testing.T, logged bool) {
	t.Helper()
	for i := range p.cases {
		c := &p.cases[i]
		t.Run(c.name, func(t *testing.T) {
			p.judgeOne(t, c, p.home, p.near(i), logged)
			if c.own == "" {
				p.judgeOne(t, c, p.away, c.table, logged)
			}
		})
	}
	clean(t, p.home)
	clean(t, p.away)
}

func (p *pagePast) judgeOne(t *testing.T, c *pageCase, uri, table string, logged bool) {
	t.Helper()
	_, want := digests(t, p.home, c.table)
	same := func(when string) {
		t.Helper()
		if _, got := digests(t, uri, table); got != want {
			t.Errorf("%s, %s has %s and not %s", when, table, got, want)
		}
	}
	same("after a crash")
	soundPages(t, uri, table, true, logged)
	if p.light {
		return
	}
	for _, seek := range c.seeks {
		want := clustertest.Query(t, p.home, "SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off; "+strings.ReplaceAll(seek, "$t", c.table))
		if got := clustertest.Query(t, uri, "SET enable_seqscan = off; "+strings.ReplaceAll(seek, "$t", table)); got != want {
			t.Errorf("%s finds %s and not %s", seek, got, want)
		}
	}
	if touch := p.touch(t, uri, table); touch != "" {
		clustertest.Exec(t, uri, "UPDATE "+table+" SET "+touch)
	}
	clustertest.Exec(t, uri, "VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) "+table)
	same("after an update of all rows")
	soundPages(t, uri, table, false, logged)
}

// touch sets a column to what it is; empty without one that can be set.
func (p *pagePast) touch(t *testing.T, uri, table string) string {
	t.Helper()
	return clustertest.Query(t, uri, "SELECT format('%1$I = %1$I', attname) FROM pg_attribute WHERE attrelid = '"+sqlText(table)+"'::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND attidentity <> 'a' LIMIT 1")
}

// dump has pg_dump read everything, where it is of the server's version or newer.
func (p *pagePast) dump(t *testing.T) {
	t.Helper()
	program := filepath.Join(p.server.Binaries().Dir, "pg_dump")
	if _, err := exec.LookPath(program); err != nil {
		return
	}
	for _, uri := range []string{p.home, p.away} {
		if out, err := exec.Command(program, "--file=/dev/null", uri).CombinedOutput(); err != nil {
			t.Errorf("pg_dump: %v: %s", err, out)
		}
	}
}
