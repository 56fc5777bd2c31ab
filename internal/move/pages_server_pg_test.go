package move

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/cluster"
	"github.com/pghaul/pghaul/internal/clustertest"
)

// holdSnapshot keeps a snapshot in another session of the database until it is told to end.
func holdSnapshot(t *testing.T, uri string) (end func()) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), uri)
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{"BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT 1"} {
		if _, err := c.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	end = func() { _ = c.Close(t.Context()) }
	t.Cleanup(end)
	return end
}

func TestPagesReachStandbys(t *testing.T) {
	t.Parallel()
	primary := clustertest.Private(t, nil)
	live := clustertest.DatabaseOn(t, primary)
	fileSource(t, live)
	copied := standby(t, primary, live)
	clustertest.Exec(t, live, "CREATE TABLE loose (LIKE source)", "CREATE TABLE target "+fileTarget, "CREATE INDEX ON target (id)")
	moves(t, onePair(live, live, "source", "target", pagesWish(false)))
	clustertest.Exec(t, live, "CREATE TABLE last ()")
	until(t, "the standby is as far as its primary", time.Minute, func() bool {
		return clustertest.Query(t, copied, "SELECT count(*) FROM pg_class WHERE relname = 'last'") == "1"
	})
	sameContents(t, live, "TABLE target", copied, "TABLE target")
	w := pagesWish(true)
	w.AcceptMissing = false
	refused(t, onePair(live, live, "source", "loose", w), "a standby or another receiver of the WAL is connected", "--accept-missing-on-standbys")
	w.AcceptMissing = true
	moves(t, onePair(live, live, "source", "loose", w))
	sameContents(t, live, "TABLE source", live, "TABLE loose")
}

func TestPagesSurviveACrash(t *testing.T) {
	t.Parallel()
	for _, notLogged := range []bool{false, true} {
		for _, checksums := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, checksums %v", formName(notLogged), checksums), func(t *testing.T) {
				t.Parallel()
				s := clustertest.Private(t, &cluster.Options{Settings: map[string]string{"fsync": "on"}})
				if checksums && !giveChecksums(t, s) {
					return
				}
				live := clustertest.DatabaseOn(t, s)
				fileSource(t, live)
				clustertest.Exec(t, live, "CREATE TABLE target "+fileTarget, "CREATE INDEX ON target (id)", "CHECKPOINT")
				q := onePair(live, live, "source", "target", pagesWish(notLogged))
				q.Verify = VerifyHash
				moves(t, q)
				want := contents(t, live, "TABLE target")
				if err := s.Kill(); err != nil {
					t.Fatal(err)
				}
				if err := s.Restart(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got := contents(t, live, "TABLE target"); got != want {
					t.Errorf("after a crash the target has %s and not %s", got, want)
				}
				usable(t, live, "target")
			})
		}
	}
}
