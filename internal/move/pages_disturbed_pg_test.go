package move

import (
	"strings"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// orphans lists the files of the database's directory that have content and belong to no relation.
func orphans(t *testing.T, uri string) string {
	t.Helper()
	return clustertest.Query(t, uri, `CHECKPOINT; SELECT f, s.size FROM (SELECT oid FROM pg_database WHERE datname = current_database()) d, pg_ls_dir('base/' || d.oid) f, pg_stat_file('base/' || d.oid || '/' || f, true) s
		WHERE f ~ '^[0-9]' AND s.size > 0 AND split_part(split_part(f, '_', 1), '.', 1)::oid NOT IN (SELECT pg_relation_filenode(oid) FROM pg_class WHERE pg_relation_filenode(oid) IS NOT NULL)`)
}

// slowly begins a copy of table t to the new table kept, of which the first rows have moved.
func slowly(t *testing.T, source, target string, notLogged bool) *running {
	t.Helper()
	w := pagesWish(notLogged)
	w.Create = true
	q := onePair(source, target, "t", "kept", w)
	q.MaxRate = 4 << 20
	r := starts(t, q)
	until(t, "rows move", attemptLimit, func() bool { return r.move.Progress().Bytes > 0 })
	return r
}

const slowTable = "INSERT INTO t SELECT i, repeat(md5(i::text), 6), 'w' FROM generate_series(1, 20000) AS i"

func TestPagesProveTheirLock(t *testing.T) {
	t.Parallel()
	live := clustertest.Database(t)
	clustertest.Exec(t, live, arenaTable, slowTable)
	r := slowly(t, live, live, false)
	clustertest.Exec(t, live, "DO $$ BEGIN PERFORM pg_terminate_backend(pid) FROM pg_locks WHERE relation = 't'::regclass AND mode = 'ShareLock' AND granted; END $$",
		"UPDATE t SET v = 'moved' WHERE id % 5 = 0", "CHECKPOINT")
	if err := r.ended(t, attemptLimit); err == nil || !strings.Contains(spelled(err), "the lock on public.t was lost while its pages were read") {
		t.Errorf("the move ended: %s", spelled(err))
	}
	if got := clustertest.Query(t, live, "SELECT to_regclass('kept') IS NULL"); got != "t" {
		t.Error("a copy of rows from two moments was kept")
	}
	clean(t, live)
	if left := orphans(t, live); left != "" {
		t.Errorf("files without a relation: %s", left)
	}
}

// TestPagesLeaveNoFiles ends the session whose transaction owns the new files. The server then removes those that are there, and the visibility
// map is written after that.
func TestPagesLeaveNoFiles(t *testing.T) {
	t.Parallel()
	live := clustertest.Database(t)
	clustertest.Exec(t, live, arenaTable, slowTable)
	r := slowly(t, live, live, true)
	clustertest.Exec(t, live, "DO $$ BEGIN PERFORM pg_terminate_backend(pid) FROM pg_locks WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND mode = 'AccessExclusiveLock' AND granted AND pid <> pg_backend_pid(); END $$")
	if err := r.ended(t, attemptLimit); err == nil {
		t.Error("the copy succeeded without its transaction")
	}
	clean(t, live)
	if left := orphans(t, live); left != "" {
		t.Errorf("files without a relation: %s", left)
	}
}

func TestPagesOfADirectoryThatWakesUp(t *testing.T) {
	t.Parallel()
	m := newMorgue(t, nil)
	target := clustertest.Database(t)
	m.fill(t, arenaTable, slowTable)
	m.stop(t, false)
	r := slowly(t, m.source, target, false)
	if err := m.server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.ended(t, attemptLimit); err == nil || !strings.Contains(spelled(err), "a server runs on the data directory") {
		t.Errorf("the move ended: %s", spelled(err))
	}
	if got := clustertest.Query(t, target, "SELECT to_regclass('kept') IS NULL"); got != "t" {
		t.Error("rows of a directory in use were kept")
	}
	clean(t, target)
}

// TestPagesAreComparedBesideWriters has a writer wait for the source's lock. Its snapshot keeps VACUUM from freezing the copy, so that the lock must
// not be held until then.
func TestPagesAreComparedBesideWriters(t *testing.T) {
	t.Parallel()
	live := clustertest.Database(t)
	clustertest.Exec(t, live, arenaTable, slowTable)
	w := pagesWish(false)
	w.Create = true
	q := onePair(live, live, "t", "kept", w)
	q.MaxRate, q.Verify = 4<<20, VerifyHash
	r := starts(t, q)
	until(t, "rows move", attemptLimit, func() bool { return r.move.Progress().Bytes > 0 })
	written := make(chan struct{})
	go func() {
		defer close(written)
		clustertest.Exec(t, live, "UPDATE t SET v = 'later' WHERE id < 10")
	}()
	until(t, "the writer waits", attemptLimit, func() bool {
		return clustertest.Query(t, live, "SELECT count(*) FROM pg_locks WHERE relation = 't'::regclass AND NOT granted") == "1"
	})
	if err := r.ended(t, attemptLimit); err != nil {
		t.Fatal(spelled(err))
	}
	<-written
	if c := r.report.Tables[0].Verified; c == nil || !c.Equal() || c.SourceRows != 20000 || c.Target != "public.kept" {
		t.Errorf("the comparison is %+v", c)
	}
	if got := clustertest.Query(t, live, "SELECT (SELECT count(*) FROM kept WHERE v = 'later'), (SELECT count(*) FROM t WHERE v = 'later'), (SELECT count(*) FROM kept)"); got != "0|9|20000" {
		t.Errorf("rows: %s", got)
	}
	clean(t, live)
}

// TestPagesNameWhatHoldsThemBack lets a prepared transaction keep VACUUM from freezing.
func TestPagesNameWhatHoldsThemBack(t *testing.T) {
	t.Parallel()
	live := clustertest.Database(t)
	clustertest.Exec(t, live, arenaTable, "INSERT INTO t SELECT i, md5(i::text), 'w' FROM generate_series(1, 5000) AS i", "CREATE TABLE kept (LIKE t)",
		"BEGIN", "SELECT count(*) FROM (SELECT FROM t WHERE id < 100 FOR UPDATE) q", "SAVEPOINT s", "CREATE TABLE other ()", "PREPARE TRANSACTION 'for''gotten'")
	r := starts(t, onePair(live, live, "t", "kept", pagesWish(false)))
	until(t, "the copy names the transaction", 30*time.Second, func() bool {
		return strings.HasSuffix(r.move.Progress().Waiting, "cannot freeze the rows before the end of prepared transaction 'for''gotten'")
	})
	clustertest.Exec(t, live, "COMMIT PREPARED 'for''gotten'")
	if err := r.ended(t, attemptLimit); err != nil {
		t.Fatal(spelled(err))
	}
	sameContents(t, live, "TABLE t", live, "TABLE kept")
	clean(t, live)
}

func TestPagesOfDirectoriesNeedEveryChunk(t *testing.T) {
	t.Parallel()
	a := newAutopsy(t)
	w := pagesWish(false)
	moves(t, a.request(false, w))
	w.Fill = planner.Replace
	a.scribble(t, a.toast, 30*blockBytes, make([]byte, blockBytes)) // It is of zeros, as a checksum takes it.
	refused(t, a.request(false, w), "of "+a.file+" cannot be copied", "column long: chunk", "is missing in relation", "--skip-damaged")
	if got := clustertest.Query(t, a.target, "SELECT count(*), sum(length(long)) FROM t"); got != "15000|4567500" {
		t.Errorf("after a refusal the target has %s", got)
	}
	clean(t, a.target)
}

// TestOnlyOneRunMakesTheNewTable begins a second copy to a target whose hidden table another one is filling.
func TestOnlyOneRunMakesTheNewTable(t *testing.T) {
	t.Parallel()
	live := clustertest.Database(t)
	clustertest.Exec(t, live, arenaTable, slowTable)
	old := holdSnapshot(t, live)
	create := pagesWish(false)
	create.Create = true
	r := starts(t, onePair(live, live, "t", "kept", create))
	until(t, "the move stands at logging", 20*time.Second, func() bool { return r.move.Progress().Stage == "logging" })
	for _, w := range []planner.Wish{pagesWish(false), {Connections: 2, RangeBytes: 64 << 10}} {
		w.Create = true
		refused(t, onePair(live, live, "t", "kept", w), "another copy is just making the new table for public.kept")
	}
	old()
	if err := r.ended(t, attemptLimit); err != nil {
		t.Fatal(spelled(err))
	}
	sameContents(t, live, "TABLE t", live, "TABLE kept")
	clean(t, live)
}

// TestPagesLookAgainForStandbys has a replication slot made while rows that are in no WAL are copied.
func TestPagesLookAgainForStandbys(t *testing.T) {
	t.Parallel()
	live := clustertest.DatabaseOn(t, clustertest.Private(t, testOptions(t)))
	clustertest.Exec(t, live, arenaTable, slowTable)
	w := pagesWish(true)
	w.Create, w.AcceptMissing = true, false
	q := onePair(live, live, "t", "kept", w)
	q.MaxRate = 4 << 20
	r := starts(t, q)
	until(t, "rows move", attemptLimit, func() bool { return r.move.Progress().Bytes > 0 })
	clustertest.Exec(t, live, "SELECT pg_create_physical_replication_slot('late')")
	if err := r.ended(t, attemptLimit); err == nil || !strings.Contains(spelled(err), "a replication slot waits for the WAL") {
		t.Errorf("the move ended: %s", spelled(err))
	}
	if left := orphans(t, live); left != "" || clustertest.Query(t, live, "SELECT to_regclass('kept') IS NULL") != "t" {
		t.Errorf("the table was kept, or files: %s", left)
	}
	clean(t, live)
}
