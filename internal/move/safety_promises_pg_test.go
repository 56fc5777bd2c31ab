package move

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"testing"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// Settings of a database, a role or a server must not reach the values: both sides speak the same.
func TestSettingsDoNotReachValues(t *testing.T) {
	t.Parallel()
	types := typesBut(func(c *typedColumn) bool { return c.extension != "" })
	ddl, fill := wideTable("wide", 40, types)
	for _, w := range []planner.Wish{{Format: planner.Text}, {Method: planner.Insert, CopyThreshold: planner.CopyNever}} {
		t.Run(string(w.Format)+string(w.Method), func(t *testing.T) {
			t.Parallel()
			source, target := clustertest.Database(t), clustertest.DatabaseOn(t, clustertest.Second(t))
			clustertest.Exec(t, source, typeSetup, ddl, fill)
			clustertest.Exec(t, target, typeSetup, ddl)
			for setting, values := range map[string][2]string{
				"DateStyle": {"'German, DMY'", "'SQL, MDY'"}, "IntervalStyle": {"sql_standard", "iso_8601"}, "TimeZone": {"'Asia/Kathmandu'", "'America/New_York'"},
				"extra_float_digits": {"-15", "0"}, "bytea_output": {"escape", "hex"}, "lc_monetary": {"'C'", "'C.UTF-8'"}, "xmloption": {"document", "content"},
				"client_encoding": {"'LATIN1'", "'SQL_ASCII'"}, "search_path": {"pg_temp", "'$user'"}, "array_nulls": {"on", "off"},
				"statement_timeout": {"30", "30"}, "lock_timeout": {"1", "1"}, "idle_in_transaction_session_timeout": {"30", "30"},
				"default_transaction_read_only": {"off", "on"}, "default_transaction_isolation": {"serializable", "serializable"},
				"standard_conforming_strings": {"off", "off"}, "synchronize_seqscans": {"on", "on"}, "row_security": {"on", "on"},
			} {
				for i, uri := range []string{source, target} {
					clustertest.Exec(t, clustertest.OnDatabase(t, uri, "postgres"), "ALTER DATABASE "+databaseOf(t, uri)+" SET "+setting+" = "+values[i])
				}
			}
			q := onePair(source, target, "public.wide", "public.wide", w)
			q.Verify = VerifyHash
			moves(t, q)
			for _, uri := range []string{source, target} {
				clustertest.Exec(t, clustertest.OnDatabase(t, uri, "postgres"), "ALTER DATABASE "+databaseOf(t, uri)+" RESET ALL")
			}
			sameContents(t, source, "TABLE wide", target, "TABLE wide")
		})
	}
}

func databaseOf(t *testing.T, uri string) string {
	t.Helper()
	config, err := catalog.Config(uri)
	if err != nil {
		t.Fatal(err)
	}
	return config.Database
}

// Rows that wander between tables while they are copied must be in exactly one copy: all ranges of all tables see one moment.
func TestOneSnapshot(t *testing.T) {
	t.Parallel()
	source, target := clustertest.Database(t), clustertest.DatabaseOn(t, clustertest.Second(t))
	const tables = "CREATE TABLE a (id int PRIMARY KEY, v text); CREATE TABLE b (id int PRIMARY KEY, v text)"
	clustertest.Exec(t, source, tables, "INSERT INTO a SELECT i, repeat('v', 100) FROM generate_series(1, 1000) AS i", "ANALYZE")
	clustertest.Exec(t, target, tables)
	ctx, stop := context.WithCancel(t.Context())
	var wandering sync.WaitGroup
	wanderer := sessionOn(t, source)
	moved := make(chan error, 1)
	wandering.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			sql := fmt.Sprintf("WITH gone AS (DELETE FROM public.%[1]s WHERE id %% 10 = %[3]d RETURNING *) INSERT INTO public.%[2]s SELECT * FROM gone",
				[]string{"a", "b"}[i/10%2], []string{"b", "a"}[i/10%2], i%10)
			if _, err := wanderer.exec(context.Background(), sql); err != nil {
				moved <- err
				return
			}
		}
		moved <- nil
	})
	for range 2 {
		clustertest.Exec(t, target, "TRUNCATE a, b")
		moves(t, Request{Source: source, Target: target, Tables: []TablePair{{Source: "a"}, {Source: "b"}},
			Wish: planner.Wish{Connections: 3, RangeBytes: 8 * oneRange}})
		const sql = "SELECT count(*), count(DISTINCT id) FROM (TABLE a UNION ALL TABLE b) AS ab"
		if got := clustertest.Query(t, target, sql); got != "1000|1000" {
			t.Errorf("rows, different rows: %s", got)
		}
	}
	stop()
	wandering.Wait()
	wanderer.close()
	if err := <-moved; err != nil {
		t.Fatal(err)
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	source := clustertest.Database(t)
	clustertest.Exec(t, source, arenaTable, "INSERT INTO t SELECT i, 'v', 'w' FROM generate_series(1, 100) AS i", "CREATE TABLE u (LIKE t INCLUDING ALL)")
	tests := []struct {
		fill  planner.Fill
		words string
		rows  string
	}{
		{fill: planner.RequireEmpty, words: "is not empty", rows: "1|1000"},
		{fill: planner.Append, rows: "101|1000"},
		{fill: planner.Truncate, rows: "100|100"},
		{fill: planner.Replace, rows: "100|100"},
	}
	for _, tt := range tests {
		clustertest.Exec(t, source, "TRUNCATE u", "INSERT INTO u VALUES (1000, 'old', 'old')")
		q := onePair(source, "", "t", "u", planner.Wish{Fill: tt.fill})
		if tt.words != "" {
			refused(t, q, tt.words, "--append", "--truncate", "--replace")
		} else {
			moves(t, q)
		}
		if got := clustertest.Query(t, source, "SELECT count(*), max(id) FROM u"); got != tt.rows {
			t.Errorf("fill %d: %s, want %s", tt.fill, got, tt.rows)
		}
	}
}

// role makes a role of the test's own and returns its address for a database.
func role(t *testing.T, uri, name string) string {
	t.Helper()
	clustertest.Exec(t, uri, "CREATE ROLE "+name+" LOGIN", "GRANT USAGE, CREATE ON SCHEMA public TO "+name)
	t.Cleanup(func() {
		if !t.Failed() {
			clustertest.Exec(t, uri, "DROP OWNED BY "+name+"; DROP ROLE "+name)
		}
	})
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User(name)
	return u.String()
}

func TestRowSecurity(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, arenaTable, "INSERT INTO t SELECT i, 'v', 'w' FROM generate_series(1, 100) AS i", "CREATE TABLE u (LIKE t INCLUDING ALL)",
		"CREATE TABLE hidden (LIKE t INCLUDING ALL)", "INSERT INTO hidden TABLE t", "ALTER TABLE hidden ENABLE ROW LEVEL SECURITY",
		"CREATE POLICY half ON hidden USING (id <= 50)", "ALTER TABLE u ENABLE ROW LEVEL SECURITY", "CREATE POLICY most ON u WITH CHECK (id <= 90)")
	as := role(t, uri, "pghaul_test_row_security")
	clustertest.Exec(t, uri, "GRANT SELECT, INSERT ON t, u, hidden TO pghaul_test_row_security")
	refused(t, onePair(as, "", "hidden", "u", planner.Wish{}), "filtered by row-level security")
	refused(t, onePair(as, "", "t", "u", planner.Wish{Fill: planner.Append}), "row-level security policy")
	refused(t, onePair(as, "", "t", "u", planner.Wish{Method: planner.Relay, Fill: planner.Append}), "row-level security")
	if got := clustertest.Query(t, uri, "SELECT count(*) FROM u"); got != "0" {
		t.Errorf("%s rows came past the policy", got)
	}
	report := moves(t, onePair(as, "", "t", "u", planner.Wish{Where: "id <= 90", Fill: planner.Append}))
	if got := clustertest.Query(t, uri, "SELECT count(*) FROM u"); got != "90" || report.Rows() != 90 || report.Tables[0].Plan.Method != planner.Insert {
		t.Errorf("%s rows by %s", got, report.Tables[0].Plan.Method)
	}
}

func TestEncodings(t *testing.T) {
	t.Parallel()
	ascii := clustertest.DatabaseOn(t, clustertest.Server(t), "ENCODING 'SQL_ASCII'", "LOCALE 'C'")
	latin := clustertest.DatabaseOn(t, clustertest.Server(t), "ENCODING 'LATIN1'", "LOCALE 'C'")
	utf := clustertest.Database(t)
	const table = "CREATE TABLE t (id int PRIMARY KEY, v text)"
	for _, uri := range []string{ascii, latin, utf} {
		clustertest.Exec(t, uri, table)
	}
	clustertest.Exec(t, utf, `INSERT INTO t VALUES (1, 'é'), (2, 'plain')`)
	moves(t, onePair(utf, latin, "t", "t", planner.Wish{}))
	if got := clustertest.Query(t, latin, "SELECT length(v), octet_length(v) FROM t WHERE id = 1"); got != "1|1" {
		t.Errorf("é in LATIN1: %s", got)
	}
	clustertest.Exec(t, latin, "TRUNCATE t")
	clustertest.Exec(t, utf, `INSERT INTO t VALUES (3, '💥')`)
	refused(t, onePair(utf, latin, "t", "t", planner.Wish{}), "LATIN1", "The target's encoding lacks this character")
	moves(t, onePair(utf, ascii, "t", "t", planner.Wish{}))
	clustertest.Exec(t, ascii, `INSERT INTO t VALUES (4, E'\xff')`)
	refused(t, onePair(ascii, utf, "t", "t", planner.Wish{Fill: planner.Truncate}), "invalid byte sequence", "Repair them in the source")
	if got := clustertest.Query(t, utf, "SELECT count(*) FROM t"); got != "3" {
		t.Errorf("the truncated target has %s rows after the failure", got)
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, arenaTable, "INSERT INTO t VALUES (1, 'v', 'w')", "CREATE VIEW joined AS SELECT a.id FROM t AS a, t AS b", "CREATE SEQUENCE s",
		"CREATE TABLE fewer (id int)", "CREATE TABLE more (id int, v text, w text, must int NOT NULL)", "CREATE TABLE other (id int, v int, w text)",
		"CREATE TABLE same (LIKE t)", "CREATE MATERIALIZED VIEW kept AS TABLE t")
	tests := []struct {
		name string
		q    Request
		want []string
	}{
		{"missing source", onePair(uri, "", "nowhere.none", "same", planner.Wish{}), []string{"none"}},
		{"missing target", onePair(uri, "", "t", "none", planner.Wish{}), []string{"does not exist", "--create"}},
		{"missing column", onePair(uri, "", "t", "same", planner.Wish{Columns: []string{"nope"}}), []string{"nope"}},
		{"column that the target lacks", onePair(uri, "", "t", "fewer", planner.Wish{}), []string{"lacks", "v", "w"}},
		{"not-null column without a value", onePair(uri, "", "t", "more", planner.Wish{}), []string{"must"}},
		{"value that the type refuses", onePair(uri, "", "t", "other", planner.Wish{}), []string{"invalid input syntax for type integer"}},
		{"view as target", onePair(uri, "", "fewer", "joined", planner.Wish{}), []string{"view"}},
		{"materialized view as target", onePair(uri, "", "t", "kept", planner.Wish{}), []string{"REFRESH"}},
		{"sequence as target", onePair(uri, "", "t", "s", planner.Wish{}), []string{"sequence"}},
		{"sequence as source", onePair(uri, "", "s", "same", planner.Wish{}), []string{"sequence"}},
		{"itself", onePair(uri, "", "t", "t", planner.Wish{Fill: planner.Append}), []string{"same table"}},
		{"unreachable server", onePair("postgres://nobody@127.0.0.1:1/none?connect_timeout=2", uri, "t", "same", planner.Wish{}), []string{"127.0.0.1:1", "HINT: Check"}},
		{"condition that is none", onePair(uri, "", "t", "same", planner.Wish{Where: "id ="}), []string{"syntax error"}},
		{"two sources", Request{Source: uri, Tables: []TablePair{{"t", "same"}, {"t", "same"}}}, []string{"two sources for one target"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			refused(t, tt.q, tt.want...)
			if got := clustertest.Query(t, uri, "SELECT (SELECT count(*) FROM same) + (SELECT count(*) FROM other)"); got != "0" {
				t.Errorf("%s rows came", got)
			}
		})
	}
}
