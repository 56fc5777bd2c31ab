package move

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/internal/rowfile"
	"github.com/pghaul/pghaul/planner"
)

// loadWayTest is a way in which a load commits.
type loadWayTest struct {
	name   string
	define string // of the target; empty when the load makes it
	wish   planner.LoadWish
	atomic planner.Atomic
}

func loadWayTests() []loadWayTest {
	const (
		plain = "CREATE TABLE t (id int, v int, pad text)"
		keyed = "CREATE TABLE t (id int PRIMARY KEY, v int CHECK (v > 0), pad text)"
	)
	aside := func(change func(*planner.LoadWish)) planner.LoadWish {
		w := setAsideWish()
		change(&w)
		return w
	}
	return []loadWayTest{
		{"one transaction", keyed, setAsideWish(), planner.OneTransaction},
		{"two phases", plain, aside(func(w *planner.LoadWish) { w.Connections = 2 }), planner.TwoPhase},
		{"a new table", plain, aside(func(w *planner.LoadWish) { w.Connections, w.Fill = 3, planner.Replace }), planner.Swap},
		{"a new table with keys", keyed, aside(func(w *planner.LoadWish) { w.Fill = planner.Replace }), planner.Swap},
		{"truncated", keyed, aside(func(w *planner.LoadWish) { w.Fill = planner.Truncate }), planner.OneTransaction},
		{"made", "", aside(func(w *planner.LoadWish) { w.Create = true }), planner.OneTransaction},
		{"commits on the way", keyed, aside(func(w *planner.LoadWish) { w.CommitEvery = 100 }), planner.PerRange},
		{"indexes deferred and commits on the way", keyed + "; CREATE INDEX late ON t (v)", aside(func(w *planner.LoadWish) { w.CommitEvery, w.DeferIndexes = 200, true }), planner.PerRange},
		{"duplicates dropped", keyed, aside(func(w *planner.LoadWish) { w.OnDuplicate = planner.DuplicateKeepOld }), planner.OneTransaction},
	}
}

// loadArena is a file that is loaded over a line that can be disturbed.
type loadArena struct {
	loadWayTest
	target, path, reject string
	line                 *proxy
	rows                 []string
	total                int64  // bytes that an undisturbed load sends and receives
	whole, rejected      string // what an undisturbed load makes of it: contents and reject file
}

func newLoadArena(t *testing.T, way loadWayTest) *loadArena {
	t.Helper()
	dir := t.TempDir()
	a := &loadArena{loadWayTest: way, target: clustertest.Database(t), line: newProxy(t, clustertest.Server(t)), path: filepath.Join(dir, "in.csv"), reject: filepath.Join(dir, "out.csv")}
	for i := range 500 {
		id, v := fmt.Sprint(i), fmt.Sprint(i+1)
		switch i % 100 {
		case 17, 18, 19, 20, 21:
			v = "x"
		case 50, 51, 52:
			if strings.Contains(way.define, "PRIMARY") {
				id = fmt.Sprint(i - 10)
			}
		}
		a.rows = append(a.rows, id+","+v+","+strings.Repeat("p", 2000)+"\n")
	}
	if err := os.WriteFile(a.path, []byte(strings.Join(a.rows, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	a.reset(t)
	if _, err := a.load(t.Context(), a.line.uri(t, a.target), a.reject); err != nil {
		t.Fatalf("undisturbed: %s", spelled(err))
	}
	a.total = a.line.count()
	a.whole, a.rejected = a.contents(t), a.refused(t)
	if a.rejected == "" {
		t.Fatal("no row was refused")
	}
	return a
}

// request is the load, to an address.
func (a *loadArena) request(target, reject string) LoadRequest {
	open := func(ctx context.Context, columns []string, create bool) (rowfile.Rows, []NewColumn, error) {
		rows, err := rowfile.Open(ctx, []string{a.path}, nil, rowfile.Layout{Format: rowfile.CSV, Header: rowfile.NoHeader, Columns: columns})
		var made []NewColumn
		if create {
			made = []NewColumn{{"id", "int"}, {"v", "int"}, {"pad", "text"}}
		}
		return rows, made, err
	}
	return LoadRequest{Target: target, Into: "t", Open: open, Wish: a.wish, Reject: RejectFiles{Rows: reject, Reasons: reject + ".json"}}
}

func (a *loadArena) load(ctx context.Context, target, reject string) (*TableReport, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptLimit)
	defer cancel()
	m, err := OpenLoad(ctx, a.request(target, reject))
	if err != nil {
		return nil, err
	}
	defer m.Close()
	report, err := m.Run(ctx)
	return &report.Tables[0], err
}

func (a *loadArena) reset(t *testing.T) {
	t.Helper()
	clustertest.Exec(t, a.target, "DROP TABLE IF EXISTS t", "DROP SCHEMA IF EXISTS pghaul CASCADE")
	if a.define != "" {
		clustertest.Exec(t, a.target, a.define)
	}
	if a.wish.Fill == planner.Truncate || a.wish.Fill == planner.Replace {
		clustertest.Exec(t, a.target, "INSERT INTO t VALUES (-1, 1, 'old')")
	}
	_, _ = os.Remove(a.reject), os.Remove(a.reject+".json")
}

// contents are those of the table with its definition, empty when there is none.
func (a *loadArena) contents(t *testing.T) string {
	t.Helper()
	if clustertest.Query(t, a.target, "SELECT to_regclass('t') IS NULL") == "t" {
		return ""
	}
	return contents(t, a.target, "SELECT id, v, pad FROM t") + clustertest.Query(t, a.target, "SELECT indexdef FROM pg_indexes WHERE tablename = 't' ORDER BY 1")
}

// refused is the reject file, whose rows come in no order where several connections write.
func (a *loadArena) refused(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(a.reject)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if a.wish.Connections > 1 {
		return sorted(string(content))
	}
	return string(content)
}

// judge compares what a disturbed load left with what it may leave, and says which it was. A load that commits on the way is run to its end.
func (a *loadArena) judge(t *testing.T, before string, err error) string {
	t.Helper()
	switch {
	case a.atomic == planner.PerRange:
		for tries := 0; err != nil && tries < 3; tries++ {
			_, err = a.load(t.Context(), a.target, a.reject)
		}
		if err != nil {
			t.Errorf("it does not go on: %s", spelled(err))
		}
	case err != nil && a.contents(t) == before:
		if left := a.refused(t); left != "" {
			t.Errorf("nothing was loaded, but %d bytes are set aside", len(left))
		}
		return "as before"
	}
	if a.contents(t) != a.whole {
		t.Errorf("the target holds %s and not %s", a.contents(t), a.whole)
	}
	if got := a.refused(t); got != a.rejected {
		t.Errorf("the reject file is not that of an undisturbed load: %s", firstDifference(strings.Split(got, "\n"), strings.Split(a.rejected, "\n")))
	}
	return "complete"
}

func TestLoadOverLostConnections(t *testing.T) {
	t.Parallel()
	for n, way := range loadWayTests() {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			a := newLoadArena(t, way)
			a.reset(t)
			before := a.contents(t)
			seen := map[string]int{}
			random := rand.New(rand.NewPCG(5, 6))
			for i, at := range []int64{1 + random.Int64N(a.total), a.total - random.Int64N(3000)} {
				a.reset(t)
				ctx, cancel := context.WithCancel(t.Context())
				f := fault{cutAt: at}
				if (n+i)%2 == 1 {
					f = fault{callAt: at, call: cancel}
				}
				a.line.arm(f)
				_, err := a.load(ctx, a.line.uri(t, a.target), a.reject)
				cancel()
				sessionsGone(t, a.target)
				seen[a.judge(t, before, err)]++
				clean(t, a.target)
				if t.Failed() {
					t.Fatalf("disturbed at byte %d by a cancel: %v: %s", at, (n+i)%2 == 1, spelled(err))
				}
			}
			t.Log(seen)
		})
	}
}

// Names of what a child process is told.
const loadChild = "PGHAUL_TEST_LOAD"

// childLoad is what a child loads.
type childLoad struct{ Way, Target, Path, Reject string }

// TestLoadChild is what the child runs. In the parent there is nothing for it to do.
func TestLoadChild(t *testing.T) {
	told := os.Getenv(loadChild)
	if told == "" {
		return
	}
	var c childLoad
	if err := json.Unmarshal([]byte(told), &c); err != nil {
		t.Fatal(err)
	}
	for _, way := range loadWayTests() {
		if way.name == c.Way {
			a := &loadArena{loadWayTest: way, path: c.Path}
			if _, err := a.load(context.Background(), c.Target, c.Reject); err != nil {
				t.Fatal(spelled(err))
			}
		}
	}
}

// victim loads in a child process, which is killed when so many bytes have passed, and returns how that ended.
func (a *loadArena) victim(t *testing.T, killAt int64) (string, error) {
	t.Helper()
	told, err := json.Marshal(childLoad{a.name, a.line.uri(t, a.target), a.path, a.reject})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestLoadChild$", "-test.timeout=2m")
	cmd.Env = append(os.Environ(), loadChild+"="+string(told))
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	a.line.arm(fault{})
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	a.line.arm(fault{callAt: killAt, call: func() { _ = cmd.Process.Kill() }})
	err = cmd.Wait()
	return out.String(), err
}

// TestKilledLoadGoesOn kills loads that commit on the way, each again and again until it is through.
func TestKilledLoadGoesOn(t *testing.T) {
	t.Parallel()
	for _, way := range loadWayTests() {
		if way.atomic != planner.PerRange {
			continue
		}
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			a := newLoadArena(t, way)
			random := rand.New(rand.NewPCG(7, 8))
			a.reset(t)
			kills, halfway := 0, 0
			for at := int64(1500000); kills < 50; at = 500000 + random.Int64N(2500000) {
				if halfway > 2 {
					at = 0
				}
				said, err := a.victim(t, at)
				sessionsGone(t, a.target)
				if err == nil {
					break
				}
				if !strings.Contains(err.Error(), "signal: killed") {
					t.Fatalf("%v: %s", err, said)
				}
				if kills++; clustertest.Query(t, a.target, "SELECT count(*) > 0 FROM t") == "t" {
					halfway++
				}
			}
			if a.judge(t, "", nil); halfway == 0 || t.Failed() {
				t.Fatalf("after %d kills, %d of them halfway", kills, halfway)
			}
			t.Logf("%d kills, %d of them halfway", kills, halfway)
		})
	}
}

// TestLoadBackendsDie ends the server's processes in mid-load.
func TestLoadBackendsDie(t *testing.T) {
	t.Parallel()
	for n, way := range loadWayTests() {
		if n%3 == 1 {
			continue
		}
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			a := newLoadArena(t, way)
			a.reset(t)
			before := a.contents(t)
			a.line.arm(fault{callAt: 450000, call: func() {
				clustertest.Query(t, a.target, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'")
			}})
			_, err := a.load(t.Context(), a.line.uri(t, a.target), a.reject)
			if err == nil || !strings.Contains(spelled(err), "Run the same command again") {
				t.Errorf("not the end of the server's process: %s", spelled(err))
			}
			sessionsGone(t, a.target)
			a.judge(t, before, err)
			clean(t, a.target)
		})
	}
}

// TestLoadDiskFull fills the server's disk at a row, and makes room for the next run.
func TestLoadDiskFull(t *testing.T) {
	t.Parallel()
	for n, way := range loadWayTests() {
		if way.define == "" || way.wish.Fill == planner.Replace || n%3 != 0 {
			continue
		}
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			a := newLoadArena(t, way)
			a.reset(t)
			before := a.contents(t)
			clustertest.Exec(t, a.target, `CREATE FUNCTION filled() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF NEW.id = 455 THEN
				RAISE EXCEPTION USING ERRCODE = '53100', MESSAGE = 'could not extend file: No space left on device'; END IF; RETURN NULL; END$$`,
				"CREATE TRIGGER filled AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION filled()")
			report, err := a.load(t.Context(), a.target, a.reject)
			if err == nil || !strings.Contains(spelled(err), "The disk of the server is full") {
				t.Fatalf("not a full disk: %s", spelled(err))
			}
			if a.atomic == planner.PerRange && (!strings.Contains(report.Kept, "rows are in the target") || report.Rows == 0) || a.atomic != planner.PerRange && report.Kept != keptNothing {
				t.Errorf("kept: %q, %d rows", report.Kept, report.Rows)
			}
			clustertest.Exec(t, a.target, "DROP TRIGGER filled ON t")
			a.judge(t, before, err)
		})
	}
}

// TestLoadLeavesNothingRunning cancels loads at once and late, and counts what goes on.
func TestLoadLeavesNothingRunning(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE t (id int, pad text)")
	path := filepath.Join(t.TempDir(), "in.csv")
	if err := os.WriteFile(path, []byte(strings.Repeat("1,"+strings.Repeat("p", 1000)+"\nx,y\n", 800)), 0o600); err != nil {
		t.Fatal(err)
	}
	count := func() (goroutines, files int) {
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return runtime.NumGoroutine(), 0
		}
		return runtime.NumGoroutine(), len(open)
	}
	once := func(after time.Duration) {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		defer cancel()
		a := &loadArena{path: path}
		request := a.request(uri, filepath.Join(t.TempDir(), "out"))
		request.Wish = setAsideWish()
		request.Wish.Fill = planner.Append
		m, err := OpenLoad(ctx, request)
		if err != nil {
			return
		}
		_, err = m.Run(ctx)
		m.Close()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %s: %s", after, spelled(err))
		}
	}
	once(time.Minute)
	goroutines, files := count()
	for after := time.Millisecond; after < time.Second; after *= 3 {
		once(after)
	}
	until(t, "all goroutines and files are gone", 5*time.Second, func() bool {
		g, f := count()
		return g <= goroutines && f <= files
	})
}

// TestLoadAskedTwice runs a recorded load again, with its file changed, and with its record forgotten.
func TestLoadAskedTwice(t *testing.T) {
	t.Parallel()
	a := newLoadArena(t, loadWayTests()[6])
	report, err := a.load(t.Context(), a.target, a.reject)
	if err != nil || !report.Load.Finished || report.Rows != 0 || report.Load.Earlier == 0 {
		t.Fatalf("%v, %+v", err, report)
	}
	a.judge(t, "", nil)
	if _, err := a.load(t.Context(), a.target, filepath.Join(t.TempDir(), "other")); err == nil || !strings.Contains(spelled(err), "has lost refused rows") {
		t.Errorf("another reject file: %s", spelled(err))
	}
	if err := os.WriteFile(a.path, []byte(strings.Join(a.rows, "")+"5000,1,more\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := a.load(t.Context(), a.target, a.reject+"2"); err == nil || !strings.Contains(spelled(err), "is not empty") {
		t.Errorf("a file that grew: %s", spelled(err))
	}
	a.wish.Fill = planner.Truncate
	if _, err := a.load(t.Context(), a.target, a.reject+"2"); err != nil {
		t.Fatal(spelled(err))
	}
	if got := clustertest.Query(t, a.target, "SELECT (SELECT count(*) FROM t WHERE id = 5000), (SELECT count(*) FROM pghaul.load)"); got != "1|1" {
		t.Errorf("rows of the grown file and records: %s", got)
	}
}

// TestLoadKeepsRefusedRowsOfCommittedLoad fails behind the commit: the refused rows must still be there.
func TestLoadKeepsRefusedRowsOfCommittedLoad(t *testing.T) {
	t.Parallel()
	a := newLoadArena(t, loadWayTests()[0])
	a.reset(t)
	a.wish.Analyze = planner.Yes
	clustertest.Exec(t, a.target, `CREATE FUNCTION awkward(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$BEGIN
		IF current_query() ~ '^ANALYZE' THEN RAISE 'not today'; END IF; RETURN $1; END$$`, "CREATE INDEX awkward ON t (awkward(v))")
	report, err := a.load(t.Context(), a.target, a.reject)
	if err == nil || !strings.Contains(spelled(err), "not today") || !strings.Contains(report.Kept, "all") {
		t.Fatalf("%s; kept: %v", spelled(err), report)
	}
	if got := a.refused(t); got != a.rejected {
		t.Errorf("%d bytes are set aside and not %d", len(got), len(a.rejected))
	}
}

// TestLoadMaxErrors ends loads by the number and the share of their refused rows.
func TestLoadMaxErrors(t *testing.T) {
	t.Parallel()
	a := newLoadArena(t, loadWayTests()[0])
	a.reset(t)
	bad := int64(strings.Count(a.rejected, "\n"))
	for _, c := range []struct {
		most    int64
		percent float64
		fails   bool
	}{{bad, 0, false}, {bad - 1, 0, true}, {0, 0, true}, {-1, float64(bad)/5 + 0.1, false}, {-1, float64(bad)/5 - 0.1, true}} {
		a.wish.MaxErrors, a.wish.MaxPercent, a.wish.Fill = c.most, c.percent, planner.Truncate
		clustertest.Exec(t, a.target, "TRUNCATE t; INSERT INTO t VALUES (-1, 1, 'old')")
		_, _ = os.Remove(a.reject), os.Remove(a.reject+".json")
		_, err := a.load(t.Context(), a.target, a.reject)
		if (err != nil) != c.fails || err != nil && !strings.Contains(spelled(err), "too many rows") {
			t.Errorf("%+v: %s", c, spelled(err))
		}
		if old := clustertest.Query(t, a.target, "SELECT count(*) FROM t WHERE id = -1"); (old == "1") != c.fails || c.fails != (a.refused(t) == "") {
			t.Errorf("%+v: %s old rows, %d bytes set aside", c, old, len(a.refused(t)))
		}
	}
}

// sorted is text with its lines sorted.
func sorted(text string) string {
	lines := strings.SplitAfter(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "")
}
