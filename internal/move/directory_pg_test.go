package move

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/cluster"
	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// morgue is a server that is stopped or killed once it has said what its tables hold, and then read by its files.
type morgue struct {
	server *cluster.Server
	uri    string // of the database app while the server runs
	source string // the same as a data directory
}

func newMorgue(t *testing.T, settings map[string]string) *morgue {
	t.Helper()
	s := clustertest.Private(t, &cluster.Options{Settings: settings, Major: testMajor(t)})
	clustertest.Exec(t, s.URI("postgres"), "CREATE DATABASE app")
	return &morgue{server: s, uri: s.URI("app"), source: "pgdata:" + s.Dir() + "?dbname=app"}
}

// testMajor is the version of the shared server.
func testMajor(t *testing.T) int {
	t.Helper()
	return clustertest.Server(t).Binaries().Version
}

// fill runs statements in the database app.
func (m *morgue) fill(t *testing.T, sql ...string) {
	t.Helper()
	clustertest.Exec(t, m.uri, sql...)
}

// stop shuts the server down, or kills it when everything was made durable in its files.
func (m *morgue) stop(t *testing.T, kill bool) {
	t.Helper()
	if !kill {
		if err := m.server.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		return
	}
	m.fill(t, "CHECKPOINT")
	if err := m.server.Kill(); err != nil {
		t.Fatal(err)
	}
	until(t, "the killed server is gone", attemptLimit, func() bool { return !m.server.Running() })
}

// TestDirectoryTypes copies every type that a file tells by itself, with NULLs, TOAST, dropped and added columns.
func TestDirectoryTypes(t *testing.T) {
	t.Parallel()
	for _, kill := range []bool{false, true} {
		t.Run(map[bool]string{false: "stopped", true: "killed"}[kill], func(t *testing.T) {
			t.Parallel()
			m := newMorgue(t, nil)
			target := clustertest.Database(t)
			// The names of functions with arguments, and of text search configurations, are printed as numbers.
			types := typesBut(func(c *typedColumn) bool {
				return c.typ == "regprocedure" || c.typ == "regconfig" || c.typ == "regcollation" || c.extension != "" && !clustertest.HasExtension(t, target, c.extension)
			})
			ddl, fill := wideTable("wide", 500, types)
			prepare := append(strings.Split(typeSetup, ";\n"), "CREATE EXTENSION IF NOT EXISTS hstore", "CREATE EXTENSION IF NOT EXISTS citext", ddl)
			m.fill(t, append(prepare, fill, "INSERT INTO wide (id) VALUES (0)", "VACUUM wide")...)
			clustertest.Exec(t, target, prepare...)
			want := contents(t, m.uri, "SELECT * FROM wide")
			m.stop(t, kill)
			report := moves(t, Request{Source: m.source, Target: target, Tables: []TablePair{{Source: "wide"}}, Verify: VerifyCount})
			if got := contents(t, target, "SELECT * FROM wide"); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			table := report.Tables[0]
			if table.Rows != 501 || table.Verified == nil || !table.Verified.Equal() || table.Verified.SourceRows != 501 || table.Damage != nil {
				t.Errorf("the report: %+v, verified %+v", table, table.Verified)
			}
			notes := strings.Join(table.Plan.Notes, "\n")
			if warned := strings.Contains(notes, "not shut down cleanly"); warned != kill {
				t.Errorf("notes of a server that was killed (%v): %s", kill, notes)
			}
		})
	}
}

// TestDirectoryVersions copies from directories of every version that is installed into the version under test.
func TestDirectoryVersions(t *testing.T) {
	t.Parallel()
	all, err := cluster.Find()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		t.Run(strconv.Itoa(b.Version), func(t *testing.T) {
			s := clustertest.Private(t, &cluster.Options{Major: b.Version})
			m := &morgue{server: s, uri: s.URI("postgres"), source: "pgdata:" + s.Dir()}
			target := clustertest.Database(t)
			types := typesBut(func(c *typedColumn) bool {
				// "char" above 127 aside, these print names, of which versions have different ones, or need an extension.
				return strings.HasPrefix(c.typ, "reg") || c.extension != "" || c.typ == "aclitem"
			})
			ddl, fill := wideTable("wide", 300, types)
			prepare := append(strings.Split(typeSetup, ";\n"), ddl)
			m.fill(t, append(prepare, fill, "ALTER TABLE wide DROP c1, ADD added text DEFAULT 'then'")...)
			clustertest.Exec(t, target, append(prepare, "ALTER TABLE wide DROP c1, ADD added text")...)
			want := contents(t, m.uri, "SELECT * FROM wide")
			if b.Version >= 18 {
				m.fill(t, "CREATE TABLE lazy (a int, v int GENERATED ALWAYS AS (a + 1) VIRTUAL, b int)", "INSERT INTO lazy (a, b) VALUES (1, 3)")
				clustertest.Exec(t, target, "CREATE TABLE lazy (a int, v int, b int)")
			}
			m.stop(t, true)
			if b.Version >= 18 {
				report := moves(t, onePair(m.source, target, "lazy", "", planner.Wish{}))
				notes := strings.Join(report.Tables[0].Plan.Notes, "\n")
				if got := clustertest.Query(t, target, "SELECT * FROM lazy"); got != "1||3" || !strings.Contains(notes, "virtual generated columns have no values in the files: v") {
					t.Errorf("got %s; notes: %s", got, notes)
				}
			}
			moves(t, onePair(m.source, target, "wide", "", planner.Wish{}))
			if got := contents(t, target, "SELECT * FROM wide"); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestDirectoryRows copies what is visible and nothing else, from tables that have changed in shape, over all ways to commit.
func TestDirectoryRows(t *testing.T) {
	t.Parallel()
	m := newMorgue(t, nil)
	tables := directoryTables(t, m)
	want := map[string]string{}
	for name, query := range tables {
		want[name] = contents(t, m.uri, query)
	}
	definitions := map[string]string{
		"old":      "CREATE TABLE old (id int PRIMARY KEY, c text, late int, filled text, g int)",
		"churn":    "CREATE TABLE churn (id int, t text)",
		"long":     "CREATE TABLE long (id int, plain bytea, main text, ext text, comp text)",
		"parted":   "CREATE TABLE parted (id int, d date, t text)",
		"odd":      `CREATE TABLE "Odd ""Name""" (id int, "Ünï cödé" text)`,
		"inherits": "CREATE TABLE inherits (id int)",
		"empty":    "CREATE TABLE empty (id int)",
		"nothing":  "CREATE TABLE nothing ()",
		"matview":  "CREATE TABLE matview (n int8)",
	}
	m.stop(t, false)
	for _, p := range []struct {
		name string
		wish planner.Wish
		seed bool
	}{
		{"one transaction", planner.Wish{Connections: 1}, false},
		{"two phases", planner.Wish{Connections: 3, RangeBytes: 64 << 10}, false},
		{"replaced", planner.Wish{Connections: 3, RangeBytes: 64 << 10, Fill: planner.Replace}, true},
		{"truncated", planner.Wish{Fill: planner.Truncate}, true},
		{"batches", planner.Wish{Method: planner.Insert, BatchSize: 7, CopyThreshold: planner.CopyNever}, false},
		{"batches measured", planner.Wish{Method: planner.Insert}, false},
	} {
		t.Run(p.name, func(t *testing.T) {
			target := clustertest.Database(t)
			for name, query := range tables {
				relation := strings.TrimPrefix(strings.TrimPrefix(query, "SELECT * FROM "), "ONLY ")
				if p.wish.Method == planner.Insert && name == "nothing" {
					continue
				}
				clustertest.Exec(t, target, definitions[name])
				switch {
				case p.seed && name == "old":
					clustertest.Exec(t, target, "INSERT INTO old VALUES (-1)")
				case p.seed:
					clustertest.Exec(t, target, "INSERT INTO "+relation+" DEFAULT VALUES")
				}
				moves(t, Request{Source: m.source, Target: target, Tables: []TablePair{{Source: relation}}, Wish: p.wish, Verify: VerifyCount})
				if got := contents(t, target, query); got != want[name] {
					t.Errorf("%s: got %s, want %s", name, got, want[name])
				}
			}
			clean(t, target)
		})
	}
}

// directoryTables makes the tables and returns the query that shows each.
func directoryTables(t *testing.T, m *morgue) map[string]string {
	t.Helper()
	m.fill(t,
		"CREATE TABLE old (id int PRIMARY KEY, gone text, c text)",
		"INSERT INTO old SELECT i, repeat('x', i % 90), 'c' || i FROM generate_series(1, 5000) AS i",
		"ALTER TABLE old DROP COLUMN gone", "ALTER TABLE old ADD late int", "ALTER TABLE old ADD filled text DEFAULT 'since then'",
		"ALTER TABLE old ADD g int GENERATED ALWAYS AS (id * 2) STORED",
		"INSERT INTO old SELECT i, 'new', i, NULL FROM generate_series(5001, 6000) AS i",
		"CREATE TABLE churn (id int, t text)", "INSERT INTO churn SELECT i, 'a' || i FROM generate_series(1, 20000) AS i",
		"UPDATE churn SET t = 'b' || id WHERE id % 3 = 0", "DELETE FROM churn WHERE id % 5 = 0",
		"BEGIN; INSERT INTO churn SELECT i, 'never' FROM generate_series(1, 500) AS i; DELETE FROM churn WHERE id < 900; ROLLBACK",
		"BEGIN; SAVEPOINT a; INSERT INTO churn VALUES (-1, 'kept'); SAVEPOINT b; INSERT INTO churn VALUES (-2, 'gone'); ROLLBACK TO b; COMMIT",
		"BEGIN; SELECT * FROM churn WHERE id < 50 FOR SHARE; SAVEPOINT s; SELECT * FROM churn WHERE id < 30 FOR UPDATE; COMMIT",
		"CREATE TABLE long (id int, plain bytea, main text, ext text, comp text)",
		"ALTER TABLE long ALTER main SET STORAGE main, ALTER ext SET STORAGE external",
		`INSERT INTO long SELECT i, decode(repeat(md5(i::text), 30 * i), 'hex'), repeat('main', 100 * i), repeat('ext' || i, 900 * i),
			(SELECT string_agg(md5(j::text), E'\t') FROM generate_series(1, 40 * i) AS j) FROM generate_series(1, 60) AS i`,
		"UPDATE long SET ext = ext || '!' WHERE id % 2 = 0", "DELETE FROM long WHERE id % 7 = 0",
		"CREATE TABLE parted (id int, d date, t text) PARTITION BY RANGE (id)",
		"CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (100)",
		"CREATE TABLE swapped (t text, gone int, d date, id int)", "ALTER TABLE swapped DROP gone",
		"ALTER TABLE parted ATTACH PARTITION swapped FOR VALUES FROM (100) TO (200)",
		"CREATE TABLE parted_3 PARTITION OF parted DEFAULT PARTITION BY LIST (d)", "CREATE TABLE parted_3a PARTITION OF parted_3 DEFAULT",
		"INSERT INTO parted SELECT i, date '2026-01-01' + i, 'p' || i FROM generate_series(0, 999) AS i",
		`CREATE TABLE "Odd ""Name""" (id int, "Ünï cödé" text)`, `INSERT INTO "Odd ""Name""" VALUES (1, E'tab\tnew\nline\\'), (2, NULL)`,
		"CREATE TABLE inherits (id int)", "CREATE TABLE heir () INHERITS (inherits)", "INSERT INTO inherits VALUES (1)", "INSERT INTO heir VALUES (2)",
		"CREATE TABLE empty (id int)", "CREATE TABLE nothing ()", "INSERT INTO nothing SELECT FROM generate_series(1, 9)",
		"CREATE MATERIALIZED VIEW matview AS SELECT count(*) AS n FROM churn", "CREATE VIEW seen AS SELECT 1 AS x")
	return map[string]string{
		"old": "SELECT * FROM old", "churn": "SELECT * FROM churn", "long": "SELECT * FROM long", "parted": "SELECT * FROM parted",
		"odd": `SELECT * FROM "Odd ""Name"""`, "inherits": "SELECT * FROM ONLY inherits", "empty": "SELECT * FROM empty",
		"nothing": "SELECT * FROM nothing", "matview": "SELECT * FROM matview",
	}
}

// TestDirectoryWhatIsOpen copies from a server that was killed with transactions on the way: what they did has never happened.
func TestDirectoryWhatIsOpen(t *testing.T) {
	t.Parallel()
	m := newMorgue(t, map[string]string{"max_prepared_transactions": "5"})
	target := clustertest.Database(t)
	m.fill(t, "CREATE TABLE t (id int, v text)", "INSERT INTO t SELECT i, 'v' FROM generate_series(1, 1000) AS i")
	want := contents(t, m.uri, "SELECT * FROM t")
	m.fill(t, "BEGIN; INSERT INTO t VALUES (-1, 'prepared'); DELETE FROM t WHERE id < 10; PREPARE TRANSACTION 'p'")
	open := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		_, err := m.server.Psql(ctx, "app", "BEGIN", "INSERT INTO t SELECT i, 'open' FROM generate_series(1, 5000) AS i; DELETE FROM t WHERE id > 500",
			"SELECT pg_sleep(600)")
		open <- err
	}()
	until(t, "the open transaction sleeps", attemptLimit, func() bool {
		return clustertest.Query(t, m.uri, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == "1"
	})
	m.stop(t, true)
	<-open
	clustertest.Exec(t, target, "CREATE TABLE t (id int, v text)")
	moves(t, onePair(m.source, target, "t", "", planner.Wish{}))
	if got := contents(t, target, "SELECT * FROM t"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// ids has a serial column, an identity column, and a sequence that was never called.
const ids = "CREATE TABLE ids (v text, s serial, i bigint GENERATED ALWAYS AS IDENTITY, fresh serial)"

// TestDirectoryWakesUp keeps nothing of a directory on which a server was started in the meantime.
func TestDirectoryWakesUp(t *testing.T) {
	t.Parallel()
	for name, wish := range map[string]planner.Wish{
		"one transaction": {}, "two phases": {Connections: 2, RangeBytes: 64 << 10}, "replaced": {Connections: 2, RangeBytes: 64 << 10, Fill: planner.Replace},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMorgue(t, nil)
			target := clustertest.Database(t)
			m.fill(t, "CREATE TABLE t (id int, v text)", "INSERT INTO t SELECT i, repeat('v', 100) FROM generate_series(1, 20000) AS i")
			clustertest.Exec(t, target, "CREATE TABLE t (id int, v text)")
			m.stop(t, false)
			q := onePair(m.source, target, "t", "", wish)
			q.MaxRate = 1 << 20 // two seconds in all
			r := starts(t, q)
			until(t, "rows move", attemptLimit, func() bool { return r.move.Progress().Bytes > 0 })
			if err := m.server.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			if name == "replaced" { // It has gone again when the rows are to be committed.
				if err := m.server.Stop(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.ended(t, attemptLimit); err == nil || !strings.Contains(spelled(err), "a server ") || !strings.Contains(spelled(err), " the data directory ") {
				t.Errorf("the move ended: %s", spelled(err))
			}
			if got := clustertest.Query(t, target, "SELECT count(*) FROM t"); got != "0" {
				t.Errorf("%s rows were kept", got)
			}
			clean(t, target)
		})
	}
}

// TestDirectoryEncoding copies from a database of another encoding than the target's: the target converts.
func TestDirectoryEncoding(t *testing.T) {
	t.Parallel()
	m := newMorgue(t, nil)
	clustertest.Exec(t, m.server.URI("postgres"), "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
	source := m.server.URI("latin")
	clustertest.Exec(t, source, "CREATE TABLE t (id int, v text)", "INSERT INTO t SELECT i, 'é' || chr(i) || E'ß\t\\\\' FROM generate_series(160, 255) AS i")
	want := contents(t, source, "SELECT id, convert_to(v, 'UTF8') FROM t")
	m.stop(t, false)
	target := clustertest.Database(t)
	clustertest.Exec(t, target, "CREATE TABLE t (id int, v text)")
	moves(t, onePair("pgdata:"+m.server.Dir()+"?dbname=latin", target, "t", "", planner.Wish{}))
	if got := contents(t, target, "SELECT id, convert_to(v, 'UTF8') FROM t"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestDirectoryTargets covers what a target can be, as for a source that is a server.
func TestDirectoryTargets(t *testing.T) {
	t.Parallel()
	m := newMorgue(t, nil)
	m.fill(t, "CREATE TYPE mood AS ENUM ('sad', 'ok')", "CREATE SCHEMA far", "CREATE TABLE far.things (id bigint NOT NULL, m mood, v varchar(10), a mood[], gen int GENERATED ALWAYS AS (id + 1) STORED)",
		"INSERT INTO far.things SELECT i, (ARRAY['sad', 'ok'])[1 + i % 2]::mood, 'v' || i, '{sad}' FROM generate_series(1, 300) AS i",
		ids, "INSERT INTO ids (v) SELECT 'v' FROM generate_series(1, 4)", "ALTER TABLE ids ALTER i RESTART 1000004", "ALTER SEQUENCE ids_fresh_seq RESTART",
		"CREATE TABLE public.one (id int)", "INSERT INTO one VALUES (1)", "CREATE TABLE public.two (id int)", "INSERT INTO two VALUES (2), (3)")
	want := contents(t, m.uri, "SELECT * FROM far.things")
	m.stop(t, false)
	fresh := func(t *testing.T) string {
		uri := clustertest.Database(t)
		clustertest.Exec(t, uri, "CREATE TYPE mood AS ENUM ('ok', 'better', 'sad')")
		return uri
	}
	t.Run("created", func(t *testing.T) {
		uri := fresh(t)
		clustertest.Exec(t, uri, "CREATE SCHEMA far")
		moves(t, onePair(m.source, uri, "things", "", planner.Wish{Create: true}))
		if got := contents(t, uri, "SELECT * FROM far.things"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		const shape = "SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod) || ' ' || attnotnull, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'far.things'::regclass AND attnum > 0"
		if got := clustertest.Query(t, uri, shape); got != "id bigint true,m mood false,v character varying(10) false,a mood[] false,gen integer false" {
			t.Errorf("made %s", got)
		}
	})
	t.Run("generated, appended, some columns", func(t *testing.T) {
		uri := fresh(t)
		clustertest.Exec(t, uri, "CREATE TABLE t (v text, id int, m mood, d text DEFAULT 'd', gen int GENERATED ALWAYS AS (id + 1) STORED)", "INSERT INTO t VALUES ('old', 0)")
		moves(t, onePair(m.source, uri, "far.things", "t", planner.Wish{Fill: planner.Append, Columns: []string{"id", "m"}}))
		if got := clustertest.Query(t, uri, "SELECT count(*), sum(id), count(v), min(d), sum(gen - id), count(m) FROM t"); got != "301|45150|1|d|301|300" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("sequences", func(t *testing.T) {
		uri := fresh(t)
		clustertest.Exec(t, uri, ids)
		report := moves(t, onePair(m.source, uri, "ids", "", planner.Wish{}))
		if got := clustertest.Query(t, uri, "INSERT INTO ids (v) VALUES ('new') RETURNING s, i, fresh"); got != "5|1000004|1" {
			t.Errorf("the next values are %s; the plan was\n%s", got, report.Tables[0].Plan.Text())
		}
		moves(t, onePair(m.source, uri, "ids", "copied", planner.Wish{Create: true}))
	})
	t.Run("view", func(t *testing.T) {
		uri := fresh(t)
		clustertest.Exec(t, uri, "CREATE TABLE t (id int, m mood, v text, a mood[], gen int)", "CREATE VIEW w AS SELECT * FROM t")
		moves(t, onePair(m.source, uri, "far.things", "w", planner.Wish{Fill: planner.Append}))
		if got := contents(t, uri, "SELECT * FROM t"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("merged", func(t *testing.T) {
		uri := fresh(t)
		clustertest.Exec(t, uri, "CREATE TABLE t (id int PRIMARY KEY, v text)", "INSERT INTO t VALUES (5, 'old'), (500, 'stays')")
		moves(t, onePair(m.source, uri, "far.things", "t", planner.Wish{OnConflict: planner.DoUpdate, Columns: []string{"id", "v"}}))
		if got := clustertest.Query(t, uri, "SELECT count(*), max(v) FILTER (WHERE id = 5), max(v) FILTER (WHERE id = 500) FROM t"); got != "301|v5|stays" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("partitioned", func(t *testing.T) {
		uri := fresh(t)
		clustertest.Exec(t, uri, "CREATE TABLE t (id int, m mood, v text, a mood[], gen int) PARTITION BY RANGE (id)",
			"CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (77)", "CREATE TABLE t2 PARTITION OF t DEFAULT")
		moves(t, Request{Source: m.source, Target: uri, Tables: []TablePair{{Source: "far.things", Target: "t"}}, Verify: VerifyCount, Wish: planner.Wish{Connections: 2}})
		if got := contents(t, uri, "SELECT * FROM t"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("patterns and several tables", func(t *testing.T) {
		uri := fresh(t)
		clustertest.Exec(t, uri, "CREATE SCHEMA far")
		report := moves(t, Request{Source: m.source, Target: uri, Tables: []TablePair{{Source: "one", Target: "uno"}}, Patterns: []string{"t?o", "f*.th*"}, Wish: planner.Wish{Create: true}})
		if len(report.Tables) != 3 || report.Rows() != 303 {
			t.Errorf("%d tables, %d rows", len(report.Tables), report.Rows())
		}
		if got := clustertest.Query(t, uri, "SELECT (SELECT sum(id) FROM uno), (SELECT sum(id) FROM two), (SELECT count(*) FROM far.things)"); got != "1|5|300" {
			t.Errorf("got %s", got)
		}
	})
}

// TestDirectoryRefused covers what cannot be done, each with what a user is told.
func TestDirectoryRefused(t *testing.T) {
	t.Parallel()
	m := newMorgue(t, nil)
	target := clustertest.Database(t)
	m.fill(t, "CREATE TABLE t (id int)", "INSERT INTO t VALUES (1)", `CREATE TABLE "Case" (id int)`, "CREATE VIEW v AS SELECT 1 AS x",
		"CREATE SCHEMA a", "CREATE SCHEMA b", "CREATE TABLE a.same (id int)", "CREATE TABLE b.same (id int)")
	clustertest.Exec(t, m.server.URI("postgres"), "CREATE DATABASE other")
	clustertest.Exec(t, target, "CREATE TABLE t (id int)")
	refused(t, onePair(m.source, target, "t", "", planner.Wish{}), "a server runs on the data directory", fmt.Sprint(m.server.PID()), "Connect to it instead")
	m.stop(t, false)
	dir := m.server.Dir()
	with := func(q Request, change func(*Request)) Request {
		change(&q)
		return q
	}
	plain := onePair(m.source, target, "t", "", planner.Wish{})
	for name, c := range map[string]struct {
		request Request
		words   []string
	}{
		"no database named": {onePair("pgdata:"+dir, target, "t", "", planner.Wish{}), []string{"no database", "app, other, postgres", "?dbname="}},
		"no such database":  {onePair("pgdata:"+dir+"?dbname=ap", target, "t", "", planner.Wish{}), []string{`"ap"`, "app"}},
		"no such directory": {onePair("pgdata:/nowhere?dbname=app", target, "t", "", planner.Wish{}), []string{"/nowhere"}},
		"no data directory": {onePair("pgdata:/etc?dbname=app", target, "t", "", planner.Wish{}), []string{"PG_VERSION"}},
		"bad option":        {onePair("pgdata:"+dir+"?user=x", target, "t", "", planner.Wish{}), []string{"user", "dbname"}},
		"no such table":     {onePair(m.source, target, "nope", "", planner.Wish{}), []string{"nope", "does not exist", `public."Case"`, "a.same"}},
		"no such schema":    {onePair(m.source, target, "x.t", "", planner.Wish{}), []string{"x.t", "public.t"}},
		"another case":      {onePair(m.source, target, "CASE", "", planner.Wish{}), []string{`Perhaps you meant public."Case"`}},
		"several":           {onePair(m.source, target, "same", "", planner.Wish{}), []string{"a.same, b.same"}},
		"a view":            {onePair(m.source, target, "v", "", planner.Wish{}), []string{"views"}},
		"no match":          {Request{Source: m.source, Target: target, Patterns: []string{"zz*"}}, []string{"zz*"}},
		"a condition":       {onePair(m.source, target, "t", "", planner.Wish{Where: "id > 0"}), []string{"--where", "server"}},
		"a query":           {Request{Source: m.source, Target: target, Query: "SELECT 1 AS id", QueryInto: "t"}, []string{"--query"}},
		"ranges":            {onePair(m.source, target, "t", "", planner.Wish{Commit: planner.CommitRange}), []string{"--commit range"}},
		"binary":            {onePair(m.source, target, "t", "", planner.Wish{Format: planner.Binary}), []string{"--format binary"}},
		"in the server":     {onePair(m.source, target, "t", "", planner.Wish{Method: planner.InsertSelect}), []string{"No server runs"}},
		"hashes":            {with(plain, func(q *Request) { q.Verify = VerifyHash }), []string{"--verify hash", "--verify count"}},
		"as the target":     {onePair(target, m.source, "t", "", planner.Wish{}), []string{"cannot be the target"}},
		"skipping":          {with(onePair(target, target, "t", "u", planner.Wish{}), func(q *Request) { q.SkipDamaged = true }), []string{"--skip-damaged"}},
		"missing target":    {onePair(m.source, target, `"Case"`, "", planner.Wish{}), []string{"--create"}},
	} {
		t.Run(name, func(t *testing.T) { refused(t, c.request, c.words...) })
	}
	if got := clustertest.Query(t, target, "SELECT count(*) FROM t"); got != "0" {
		t.Errorf("the target has %s rows", got)
	}
}
