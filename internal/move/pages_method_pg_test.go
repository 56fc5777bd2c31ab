package move

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// pagesWish asks for method pages.
func pagesWish(notLogged bool) planner.Wish {
	return planner.Wish{Method: planner.Pages, NotLogged: notLogged, AcceptMissing: notLogged}
}

func formName(notLogged bool) string {
	if notLogged {
		return "not logged"
	}
	return "logged"
}

// usable does to a table what its users do, and fails when the server complains or an index leads astray.
func usable(t *testing.T, uri, table string) {
	t.Helper()
	clustertest.Exec(t, uri, "UPDATE "+table+" SET txt = txt || 'y' WHERE id % 40 = 7", "DELETE FROM "+table+" WHERE id % 40 = 8", "VACUUM "+table,
		"INSERT INTO "+table+" (id, big, added) SELECT i, repeat(md5(i::text), 300), 'a' FROM generate_series(900001, 900050) i", "VACUUM (FREEZE) "+table)
	if n := clustertest.Query(t, uri, "SELECT count(*) FROM "+table+" WHERE length(big) = 9600 AND id > 900000"); n != "50" {
		t.Errorf("of 50 rows written after the copy %s are there", n)
	}
	scan := clustertest.Query(t, uri, "SELECT count(*) FROM "+table+" WHERE id BETWEEN 12000 AND 12100")
	seek := clustertest.Query(t, uri, "SELECT count(*) FROM (SELECT set_config('enable_seqscan', 'off', false), set_config('enable_bitmapscan', 'off', false)) s, "+
		"LATERAL (SELECT id FROM "+table+" WHERE id BETWEEN 12000 AND 12100 OFFSET 0) q")
	if scan != seek {
		t.Errorf("a scan finds %s rows, an index %s", scan, seek)
	}
}

const fileTarget = `(nothing text, id int, txt text, n numeric, m mood, big text, "char" "char", f float8, added text NOT NULL, more int CHECK (more > 0), feeling mood)`

func TestPagesKeepEveryRow(t *testing.T) {
	t.Parallel()
	for _, notLogged := range []bool{false, true} {
		t.Run(formName(notLogged), func(t *testing.T) {
			t.Parallel()
			live := clustertest.Database(t)
			fileSource(t, live)
			clustertest.Exec(t, live, "CREATE INDEX ON source (id)", "ALTER TABLE source DROP COLUMN f, ADD COLUMN f float8")
			want := contents(t, live, "SELECT id, m, txt, n, big, added, more, feeling, f FROM source")
			for _, c := range []struct {
				name   string
				before []string
				wish   func(*planner.Wish)
			}{
				{"into a table of another order", []string{"CREATE TABLE target " + fileTarget, "CREATE INDEX ON target (id)"}, func(*planner.Wish) {}},
				{"into a new table", nil, func(w *planner.Wish) { w.Create = true }},
				{"over old rows", []string{"CREATE TABLE target " + fileTarget, "CREATE INDEX ON target (id)", "INSERT INTO target (id, added) VALUES (1, 'old')"},
					func(w *planner.Wish) { w.Fill = planner.Replace }},
				{"after a truncation", []string{"CREATE TABLE target " + fileTarget, "CREATE INDEX ON target (id)", "INSERT INTO target (id, added) VALUES (1, 'old')"},
					func(w *planner.Wish) { w.Fill = planner.Truncate }},
			} {
				t.Run(c.name, func(t *testing.T) {
					clustertest.Exec(t, live, append([]string{"DROP TABLE IF EXISTS target"}, c.before...)...)
					w := pagesWish(notLogged)
					c.wish(&w)
					q := onePair(live, live, "source", "target", w)
					q.Verify = VerifyHash
					report := moves(t, q)
					if got := contents(t, live, "SELECT id, m, txt, n, big, added, more, feeling, f FROM target"); got != want {
						t.Errorf("the target has %s, the source %s", got, want)
					}
					if rows := clustertest.Query(t, live, "SELECT count(*) FROM source"); rows != fmt.Sprint(report.Tables[0].Rows) {
						t.Errorf("the report has %d rows, the source %s", report.Tables[0].Rows, rows)
					}
					usable(t, live, "target")
					clean(t, live)
				})
			}
		})
	}
}

func TestPagesBetweenDatabasesAndServers(t *testing.T) {
	t.Parallel()
	for _, notLogged := range []bool{false, true} {
		for _, other := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, another server %v", formName(notLogged), other), func(t *testing.T) {
				t.Parallel()
				live, target := clustertest.Database(t), clustertest.Database(t)
				if other {
					target = clustertest.DatabaseOn(t, clustertest.Second(t))
				}
				fileSource(t, live)
				clustertest.Exec(t, target, "CREATE TYPE unrelated AS ENUM ('x')", "CREATE TYPE mood AS ENUM ('glad', 'new', 'ok', 'sad')", "CREATE TABLE source "+fileTarget, "CREATE INDEX ON source (id)")
				q := onePair(live, target, "source", "source", pagesWish(notLogged))
				q.Verify = VerifyHash
				moves(t, q)
				const columns = "SELECT id, m::text, txt, n, big, added, more, feeling::text, f FROM source"
				sameContents(t, live, columns, target, columns)
				usable(t, target, "source")
				clean(t, target)
			})
		}
	}
}

func TestPagesOfEveryType(t *testing.T) {
	t.Parallel()
	live := clustertest.Database(t)
	setup := []string{typeSetup}
	var definitions, nulls []string
	var rows [][]string
	for i, c := range typedColumns {
		if c.extension != "" {
			continue
		}
		definitions = append(definitions, fmt.Sprintf("c%d %s", i, c.typ))
		nulls = append(nulls, "NULL")
		for j, v := range c.values {
			if j == len(rows) {
				rows = append(rows, nil)
			}
			for len(rows[j]) < len(definitions)-1 {
				rows[j] = append(rows[j], "NULL")
			}
			rows[j] = append(rows[j], "("+v+")::"+c.typ)
		}
	}
	setup = append(setup, "CREATE TABLE every ("+strings.Join(definitions, ", ")+")", "INSERT INTO every VALUES ("+strings.Join(nulls, ", ")+")")
	for _, r := range rows {
		setup = append(setup, "INSERT INTO every VALUES ("+strings.Join(append(r, nulls[len(r):]...), ", ")+")")
	}
	clustertest.Exec(t, live, setup...)
	for _, notLogged := range []bool{false, true} {
		clustertest.Exec(t, live, "DROP TABLE IF EXISTS kept")
		w := pagesWish(notLogged)
		w.Create = true
		q := onePair(live, live, "every", "kept", w)
		q.Verify = VerifyHash
		moves(t, q)
		sameContents(t, live, "TABLE every", live, "TABLE kept")
	}
	refused(t, onePair(live, clustertest.Database(t), "every", "every", pagesWish(false)), "does not exist")
}

func TestPagesMeetTheTargetsConstraints(t *testing.T) {
	t.Parallel()
	live := clustertest.Database(t)
	clustertest.Exec(t, live, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET constraint_exclusion = on', current_database()); END $$", "CREATE TABLE s (id int, v int)", "INSERT INTO s SELECT i, NULLIF(i, 500) FROM generate_series(1, 1000) i", "CREATE TABLE empty (id int)", "CREATE TABLE bare ()",
		"CREATE TABLE checked (id int, v int CHECK (v <> 77))", "CREATE TABLE filled (id int, v int NOT NULL)", "CREATE TABLE unique_v (id int, v int, UNIQUE (v))",
		"CREATE TABLE parent (v int PRIMARY KEY)", "CREATE TABLE child (id int, v int REFERENCES parent)", "CREATE TABLE fits (id int CHECK (id > 0), v int CHECK (v <> 1001))",
		"CREATE TABLE e2 (id int PRIMARY KEY)", "CREATE TABLE b2 ()", "INSERT INTO bare DEFAULT VALUES", "INSERT INTO bare DEFAULT VALUES")
	for target, words := range map[string][]string{
		"checked": {"constraint checked_v_check"}, "filled": {"column v holds NULL"}, "child": {"child_v_fkey"},
	} {
		t.Run(target, func(t *testing.T) { refused(t, onePair(live, live, "s", target, pagesWish(false)), words...) })
		if n := clustertest.Query(t, live, "SELECT count(*) FROM "+target); n != "0" {
			t.Errorf("%s has %s rows after a refusal", target, n)
		}
	}
	for source, target := range map[string]string{"s": "fits", "empty": "e2", "bare": "b2"} {
		moves(t, onePair(live, live, source, target, pagesWish(false)))
		sameContents(t, live, "SELECT t.*, 1 FROM "+source+" t", live, "SELECT t.*, 1 FROM "+target+" t")
	}
	clean(t, live)
}

func TestPagesWaitForOldSnapshots(t *testing.T) {
	t.Parallel()
	live := clustertest.Database(t)
	clustertest.Exec(t, live, arenaTable, "INSERT INTO t SELECT i, md5(i::text), 'w' FROM generate_series(1, 5000) AS i", "CREATE TABLE kept (LIKE t)")
	old := holdSnapshot(t, live)
	r := starts(t, onePair(live, live, "t", "kept", pagesWish(false)))
	until(t, "the move stands at logging", 20*time.Second, func() bool { return r.move.Progress().Stage == "logging" })
	r.cancel()
	if err := r.ended(t, 30*time.Second); err == nil {
		t.Error("a cancelled move succeeded")
	}
	clean(t, live)
	r = starts(t, onePair(live, live, "t", "kept", pagesWish(false)))
	until(t, "the move stands at logging", 20*time.Second, func() bool { return r.move.Progress().Stage == "logging" })
	old()
	if err := r.ended(t, 60*time.Second); err != nil {
		t.Fatal(spelled(err))
	}
	sameContents(t, live, "TABLE t", live, "TABLE kept")
	clean(t, live)
}

// pagesChild is set for a child process that copies pages until it is killed.
const pagesChild = "PGHAUL_PAGES_CHILD"

// TestPagesChild is what the child runs. In the parent there is nothing for it to do.
func TestPagesChild(t *testing.T) {
	uri := os.Getenv(pagesChild)
	if uri == "" {
		return
	}
	if _, err := attempt(context.Background(), onePair(uri, uri, "t", "kept", pagesWish(false))); err != nil {
		t.Fatal(spelled(err))
	}
}

func TestPagesAreWholeOrAbsentWhenKilled(t *testing.T) {
	t.Parallel()
	const seed = 7
	random := rand.New(rand.NewPCG(seed, seed))
	live := clustertest.Database(t)
	clustertest.Exec(t, live, arenaTable, "INSERT INTO t SELECT i, repeat(md5(i::text), 100), 'w' FROM generate_series(1, 20000) AS i", "CREATE INDEX ON t (id)", "CREATE TABLE kept (LIKE t INCLUDING ALL)")
	want := contents(t, live, "TABLE t")
	none := contents(t, live, "TABLE kept")
	child := func(after time.Duration) (took time.Duration) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestPagesChild$", "-test.timeout=2m")
		cmd.Env = append(os.Environ(), pagesChild+"="+live)
		began := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if after > 0 {
			timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
			defer timer.Stop()
		}
		_ = cmd.Wait() // Killed or not: the target is looked at.
		return time.Since(began)
	}
	whole := child(0)
	if got := contents(t, live, "TABLE kept"); got != want {
		t.Fatalf("undisturbed, the target has %s and not %s", got, want)
	}
	for kill := range 12 {
		clustertest.Exec(t, live, "TRUNCATE kept")
		child(time.Duration(random.Int64N(int64(whole))) + time.Millisecond)
		// The server may still carry out a statement of the killed child.
		until(t, "the sessions of the child end", 20*time.Second, func() bool { return sessionsOf(t, live) == "" })
		if got := contents(t, live, "TABLE kept"); got != want && got != none {
			t.Fatalf("kill %d: the target has %s", kill+1, got)
		}
	}
	clustertest.Exec(t, live, "TRUNCATE kept")
	moves(t, onePair(live, live, "t", "kept", pagesWish(false)))
	if got := contents(t, live, "TABLE kept"); got != want {
		t.Errorf("after the kills the target has %s and not %s", got, want)
	}
	clean(t, live)
}

func TestPagesCheckDomainsOfAnotherDatabase(t *testing.T) {
	t.Parallel()
	live, target := clustertest.Database(t), clustertest.Database(t)
	clustertest.Exec(t, live, "CREATE DOMAIN amount AS int", "CREATE TABLE t (id int, a amount)", "INSERT INTO t SELECT i, i FROM generate_series(1, 1000) i")
	clustertest.Exec(t, target, "CREATE DOMAIN amount AS int CHECK (VALUE < 1000)", "CREATE TABLE t (id int, a amount)")
	refused(t, onePair(live, target, "t", "t", pagesWish(false)), "amount_check")
	if n := clustertest.Query(t, target, "SELECT count(*) FROM t"); n != "0" {
		t.Errorf("the target has %s rows after a refusal", n)
	}
	clustertest.Exec(t, live, "DELETE FROM t WHERE id = 1000")
	moves(t, onePair(live, target, "t", "t", pagesWish(false)))
	sameContents(t, live, "TABLE t", target, "TABLE t")
	clean(t, target)
}
