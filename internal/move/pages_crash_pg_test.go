package move

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/cluster"
	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// TestPagesAreWholeOrAbsentWhenTheServerDies kills the server at random moments of a copy that puts a new table in the place of one with a row.
func TestPagesAreWholeOrAbsentWhenTheServerDies(t *testing.T) {
	t.Parallel()
	const seed = 11
	random := rand.New(rand.NewPCG(seed, seed))
	options := testOptions(t)
	options.Settings = map[string]string{"fsync": "on"}
	s := clustertest.Private(t, options)
	live := clustertest.DatabaseOn(t, s)
	clustertest.Exec(t, live, arenaTable, "ALTER TABLE t ALTER v SET STORAGE external", "INSERT INTO t SELECT i, repeat(md5(i::text), 1 + i % 100), 'w' FROM generate_series(1, 6000) AS i", "CREATE TABLE kept (LIKE t INCLUDING ALL)", "CREATE INDEX ON kept (w)")
	want := contents(t, live, "TABLE t")
	const old = "INSERT INTO kept VALUES (-1, 'old', 'row')"
	clustertest.Exec(t, live, old)
	none := contents(t, live, "TABLE kept")
	request := func(notLogged bool) Request {
		w := pagesWish(notLogged)
		w.Fill = planner.Replace
		return onePair(live, live, "t", "kept", w)
	}
	began := time.Now()
	moves(t, request(false))
	whole := time.Since(began)
	for kill := range 8 {
		clustertest.Exec(t, live, "TRUNCATE kept", old)
		r := starts(t, request(kill%2 == 1))
		timer := time.NewTimer(time.Duration(random.Int64N(int64(whole + whole/4))))
		<-timer.C
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = r.ended(t, attemptLimit) // Killed before its end or after it: the target is looked at.
		if err := s.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := contents(t, live, "TABLE kept"); got != want && got != none {
			t.Fatalf("kill %d: the target has %s", kill+1, got)
		}
		if got := contents(t, live, "TABLE t"); got != want {
			t.Fatalf("kill %d: the source has %s", kill+1, got)
		}
	}
	moves(t, request(false))
	if got := contents(t, live, "TABLE kept"); got != want {
		t.Errorf("after the kills the target has %s and not %s", got, want)
	}
	clean(t, live)
	callJudges(t, live)
	soundPages(t, live, "kept", true, true)
}

// TestPagesAreInTheArchive restores a backup from before the copy with the WAL that was archived since.
func TestPagesAreInTheArchive(t *testing.T) {
	t.Parallel()
	options := testOptions(t)
	options.Settings = map[string]string{"archive_mode": "on", "archive_command": "cp %p ../archive/%f", "restore_command": "cp ../archive/%f %p"}
	s := clustertest.Private(t, options)
	besideData(t, s, "archive")
	live := clustertest.DatabaseOn(t, s)
	fileSource(t, live)
	clustertest.Exec(t, live, "CREATE TABLE target "+fileTarget, "CREATE INDEX ON target (id)", "CREATE TABLE loose "+fileTarget)
	backup := filepath.Join(filepath.Dir(s.Dir()), "backup")
	takeBackup(t, s, backup)
	moves(t, onePair(live, live, "source", "target", pagesWish(false)))
	w := pagesWish(true)
	w.AcceptMissing = false
	refused(t, onePair(live, live, "source", "loose", w), "the WAL is archived", "--accept-missing-on-standbys")
	want := contents(t, live, "TABLE target")
	last := clustertest.Query(t, live, "SELECT pg_walfile_name(pg_switch_wal())")
	until(t, "the WAL is archived", attemptLimit, func() bool {
		return clustertest.Query(t, live, "SELECT last_archived_wal >= '"+last+"' FROM pg_stat_archiver") == "t"
	})
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	change(t, errors.Join(os.RemoveAll(s.Dir()), os.Rename(backup, s.Dir()), os.WriteFile(filepath.Join(s.Dir(), "recovery.signal"), nil, 0o644)))
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, "the archive is read to its end", attemptLimit, func() bool { return clustertest.Query(t, live, "SELECT pg_is_in_recovery()") == "f" })
	if got := contents(t, live, "TABLE target"); got != want {
		t.Errorf("restored, the target has %s and not %s", got, want)
	}
	usable(t, live, "target")
}

// besideData makes a directory beside a server's data directory, of the same owner. It goes with the server.
func besideData(t *testing.T, s *cluster.Server, name string) string {
	t.Helper()
	path := filepath.Join(filepath.Dir(s.Dir()), name)
	info, err := os.Stat(s.Dir())
	change(t, errors.Join(err, os.Mkdir(path, 0o700)))
	change(t, giveDirectory(path, info))
	return path
}

// giveDirectory gives a directory the owner of another one.
func giveDirectory(path string, like os.FileInfo) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(giveTo(file, like), file.Close())
}

// takeBackup copies the files of a server that is stopped meanwhile: not every build of PostgreSQL comes with pg_basebackup.
func takeBackup(t *testing.T, s *cluster.Server, path string) {
	t.Helper()
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", s.Dir(), path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
}
