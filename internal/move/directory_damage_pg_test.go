package move

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/internal/heap"
	"github.com/pghaul/pghaul/planner"
)

const blockBytes = 8192

// autopsy is a table whose file can be damaged.
type autopsy struct {
	*morgue
	target string
	file   string // of the table, below the data directory
	toast  string // of its TOAST table
}

// newAutopsy makes a table of 100 blocks or so whose last column is out of line in each tenth row, and stops its server.
func newAutopsy(t *testing.T) *autopsy {
	t.Helper()
	a := &autopsy{morgue: newMorgue(t, nil), target: clustertest.Database(t)}
	a.fill(t, "CREATE TABLE t (id int, v text, long text)",
		"ALTER TABLE t ALTER long SET STORAGE external",
		"INSERT INTO t SELECT i, 'row ' || i, CASE WHEN i % 10 = 0 THEN repeat('x', 3000) ELSE 'short' END FROM generate_series(1, 15000) AS i", "CHECKPOINT")
	a.file = clustertest.Query(t, a.uri, "SELECT pg_relation_filepath('t')")
	a.toast = clustertest.Query(t, a.uri, "SELECT pg_relation_filepath(reltoastrelid) FROM pg_class WHERE relname = 't'")
	clustertest.Exec(t, a.target, "CREATE TABLE t (id int, v text, long text)")
	a.stop(t, false)
	return a
}

// scribble overwrites a part of a file.
func (a *autopsy) scribble(t *testing.T, file string, at int64, with []byte) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(a.server.Dir(), file), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(with, at); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// seal gives a block of the table the checksum of what it holds now, where it had one: damage in memory is sealed so.
func (a *autopsy) seal(t *testing.T, block uint32) {
	t.Helper()
	f, err := os.Open(filepath.Join(a.server.Dir(), a.file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	page := make(heap.Page, blockBytes)
	if _, err := f.ReadAt(page, int64(block)*blockBytes); err != nil {
		t.Fatal(err)
	}
	const checksum = 8 // offset of pd_checksum (bufpage.h)
	if binary.LittleEndian.Uint16(page[checksum:]) != 0 {
		a.scribble(t, a.file, int64(block)*blockBytes+checksum, binary.LittleEndian.AppendUint16(nil, heap.Checksum(page, block)))
	}
}

// request copies the table.
func (a *autopsy) request(skip bool, wish planner.Wish) Request {
	return Request{Source: a.source, Target: a.target, Tables: []TablePair{{Source: "t"}}, SkipDamaged: skip, Verify: VerifyCount, Wish: wish}
}

// expect copies with the damage left out, and checks what was counted and what came: as many rows as stand in query.
func (a *autopsy) expect(t *testing.T, blocks, rows int64, lost string, place ...string) {
	t.Helper()
	for _, wish := range []planner.Wish{{Fill: planner.Truncate}, {Fill: planner.Replace, Connections: 3, RangeBytes: 200 << 10}} {
		report := moves(t, a.request(true, wish)).Tables[0]
		d := report.Damage
		if d == nil || d.Blocks != blocks || d.Rows != rows {
			t.Fatalf("damage %+v, want %d blocks and %d rows", d, blocks, rows)
		}
		for _, p := range place {
			if !strings.Contains(strings.Join(d.First, "\n"), p) {
				t.Errorf("%q is not among %q", p, d.First)
			}
		}
		if report.Verified == nil || !report.Verified.Equal() {
			t.Errorf("verified %+v", report.Verified)
		}
		const complete = `SELECT count(*) FROM generate_series(1, 15000) AS i WHERE NOT EXISTS (SELECT FROM t WHERE id = i AND v = 'row ' || i
			AND long = CASE WHEN i % 10 = 0 THEN repeat('x', 3000) ELSE 'short' END)`
		if got := clustertest.Query(t, a.target, complete); got != lost && lost != "" {
			t.Errorf("%s rows are missing, want %s", got, lost)
		}
		clean(t, a.target)
	}
}

// TestDirectoryDamagedPage ends at a page of random bytes, or passes it by.
func TestDirectoryDamagedPage(t *testing.T) {
	t.Parallel()
	a := newAutopsy(t)
	a.scribble(t, a.file, 40*blockBytes, bytes.Repeat([]byte{0xA5}, blockBytes))
	for _, wish := range []planner.Wish{{}, {Connections: 3, RangeBytes: 200 << 10}} {
		report := refused(t, a.request(false, wish), "cannot read all rows of public.t", "block 40:", a.file, "--skip-damaged")
		if report.Tables[0].Kept != keptNothing || clustertest.Query(t, a.target, "SELECT count(*) FROM t") != "0" {
			t.Errorf("kept: %s", report.Tables[0].Kept)
		}
		clean(t, a.target)
	}
	a.expect(t, 1, 0, "", a.file+": block 40: ")
	missing := clustertest.Query(t, a.target, "SELECT 15000 - count(*) BETWEEN 50 AND 250, max(id) - min(id) FROM t")
	if missing != "t|14999" {
		t.Errorf("the rows that came: %s", missing)
	}
}

// TestDirectoryDamagedRow leaves out one row with a line pointer that leads outside, and others whose TOAST values are gone.
func TestDirectoryDamagedRow(t *testing.T) {
	t.Parallel()
	a := newAutopsy(t)
	const header, pointer = 24, 4
	a.scribble(t, a.file, 3*blockBytes+header+4*pointer, []byte{0xFF, 0xFF, 0xC8, 0}) // offset 32767, LP_NORMAL, length 100
	a.seal(t, 3)
	refused(t, a.request(false, planner.Wish{}), "cannot read all rows of public.t", "block 3, line 5:", "--skip-damaged")
	a.expect(t, 0, 1, "1", "block 3, line 5: ")

	// Two values fit on a page of the TOAST table, and parts of two more.
	a.scribble(t, a.toast, 10*blockBytes, bytes.Repeat([]byte{0}, blockBytes))
	report := moves(t, a.request(true, planner.Wish{Fill: planner.Truncate})).Tables[0]
	if d := report.Damage; d == nil || d.Blocks != 0 || d.Rows < 3 || d.Rows > 6 || !strings.Contains(strings.Join(d.First, "\n"), "column long: chunk ") {
		t.Errorf("damage %v: %q", d, d.First)
	}
	if report.Rows != 15000-report.Damage.Rows {
		t.Errorf("%d rows came, %d were left out", report.Rows, report.Damage.Rows)
	}
}

// TestDirectoryLargeValues copies values that go in pieces, and leaves a row out whole when one of them is damaged at its end.
func TestDirectoryLargeValues(t *testing.T) {
	t.Parallel()
	m := newMorgue(t, nil)
	target := clustertest.Database(t)
	const ddl = "CREATE TABLE t (id int, ext text, comp text, bin bytea, doc json, after text)"
	m.fill(t, ddl, "ALTER TABLE t ALTER ext SET STORAGE external, ALTER bin SET STORAGE external, ALTER doc SET STORAGE external",
		`INSERT INTO t SELECT i, repeat(E'é\t\\\n' || i, 300000), repeat(E'tab\t' || i, 400000), decode(repeat('5c00ff0' || i, 400000), 'hex'),
			('["' || repeat('x', 1500000 + i) || '"]')::json, repeat('after', 2000) FROM generate_series(1, 3) AS i`, "CHECKPOINT")
	want := contents(t, m.uri, "SELECT * FROM t")
	toast := clustertest.Query(t, m.uri, "SELECT pg_relation_filepath(reltoastrelid) FROM pg_class WHERE relname = 't'")
	last := clustertest.Query(t, m.uri, "SELECT pg_relation_size(reltoastrelid) / 8192 - 20 FROM pg_class WHERE relname = 't'")
	clustertest.Exec(t, target, ddl)
	m.stop(t, false)
	for _, wish := range []planner.Wish{{}, {Method: planner.Insert, Fill: planner.Truncate}} {
		moves(t, onePair(m.source, target, "t", "", wish))
		if got := contents(t, target, "SELECT * FROM t"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	block, err := strconv.ParseInt(last, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	a := &autopsy{morgue: m, target: target}
	a.scribble(t, toast, block*blockBytes, bytes.Repeat([]byte{9}, blockBytes))
	q := onePair(m.source, target, "t", "", planner.Wish{Fill: planner.Truncate})
	refused(t, q, "cannot read all rows of public.t", "block 0, line 3: column doc: ")
	q.SkipDamaged = true
	if report := moves(t, q).Tables[0]; report.Damage == nil || report.Damage.Rows != 1 || report.Rows != 2 {
		t.Errorf("%d rows came, damage %+v", report.Rows, report.Damage)
	}
	if got := clustertest.Query(t, target, "SELECT string_agg(id || ' ' || length(ext) || ' ' || length(doc::text) || ' ' || length(after), ',' ORDER BY id) FROM t"); got != "1 1500000 1500005 10000,2 1500000 1500006 10000" {
		t.Errorf("got %s", got)
	}
}

// TestDirectoryTruncatedFile tells that the end of a file is lost in the middle of a block.
func TestDirectoryTruncatedFile(t *testing.T) {
	t.Parallel()
	a := newAutopsy(t)
	if err := os.Truncate(filepath.Join(a.server.Dir(), a.file), 50*blockBytes+100); err != nil {
		t.Fatal(err)
	}
	refused(t, a.request(false, planner.Wish{}), "cannot read all rows of public.t", "block 50:")
	a.expect(t, 1, 0, "", "block 50: ")
	if err := os.Remove(filepath.Join(a.server.Dir(), a.file)); err != nil {
		t.Fatal(err)
	}
	refused(t, a.request(true, planner.Wish{Fill: planner.Truncate}), a.file)
}

// TestDirectoryStops ends a copy from files by its context, and by the end of its target's session, with nothing kept.
func TestDirectoryStops(t *testing.T) {
	t.Parallel()
	a := newAutopsy(t)
	slow := a.request(false, planner.Wish{})
	slow.MaxRate, slow.Verify = 300<<10, NoVerify
	for name, stop := range map[string]func(r *running){
		"context": func(r *running) { r.cancel() },
		"target": func(*running) {
			clustertest.Exec(t, a.target, "SELECT pg_terminate_backend(pid) FROM pg_stat_progress_copy WHERE datname = current_database()")
		},
	} {
		for _, method := range []planner.Method{planner.Relay, planner.Insert} {
			if method == planner.Insert && name == "target" {
				continue // No COPY is there to be ended.
			}
			slow.Wish = planner.Wish{Method: method, CopyThreshold: planner.CopyNever}
			r := starts(t, slow)
			until(t, "rows move", attemptLimit, func() bool { return r.move.Progress().Bytes > 0 })
			stop(r)
			err := r.ended(t, attemptLimit)
			if err == nil || name == "context" && !strings.Contains(spelled(err), "cancelled") || name == "target" && !strings.Contains(spelled(err), "terminat") {
				t.Errorf("%s, %s: %s", name, method, spelled(err))
			}
			if got := clustertest.Query(t, a.target, "SELECT count(*) FROM t"); got != "0" {
				t.Errorf("%s, %s: %s rows were kept", name, method, got)
			}
		}
	}
}

// Names of the variables by which the test binary tells its child, which is to be killed, what to copy.
const (
	morgueSource = "PGHAUL_MORGUE_SOURCE"
	morgueTarget = "PGHAUL_MORGUE_TARGET"
	morgueWay    = "PGHAUL_MORGUE_WAY"
)

// morgueWays are the ways to commit of the child.
var morgueWays = map[string]planner.Wish{
	"one transaction": {},
	"two phases":      {Connections: 2, RangeBytes: 200 << 10},
	"replaced":        {Connections: 2, RangeBytes: 200 << 10, Fill: planner.Replace},
}

// TestMorgueChild is what the child runs. In the parent there is nothing for it to do.
func TestMorgueChild(t *testing.T) {
	wish, asked := morgueWays[os.Getenv(morgueWay)]
	if !asked {
		return
	}
	q := onePair(os.Getenv(morgueSource), os.Getenv(morgueTarget), "t", "t", wish)
	q.MaxRate = 300 << 10
	if _, err := attempt(context.Background(), q); err != nil {
		t.Fatal(spelled(err))
	}
}

// TestDirectoryKilledCopy kills the process in mid-copy: the target is as before, and the next run copies everything.
func TestDirectoryKilledCopy(t *testing.T) {
	t.Parallel()
	a := newAutopsy(t)
	for way, wish := range morgueWays {
		t.Run(way, func(t *testing.T) {
			clustertest.Exec(t, a.target, "TRUNCATE t")
			cmd := exec.Command(os.Args[0], "-test.run=^TestMorgueChild$", "-test.timeout=2m")
			cmd.Env = append(os.Environ(), morgueWay+"="+way, morgueSource+"="+a.source, morgueTarget+"="+a.target)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			until(t, "rows move", attemptLimit, func() bool {
				return clustertest.Query(t, a.target, "SELECT count(*) FROM pg_stat_progress_copy WHERE datname = current_database() AND tuples_processed > 100") != "0"
			})
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err == nil {
				t.Fatal("the child ended well")
			}
			sessionsGone(t, a.target)
			if got := clustertest.Query(t, a.target, "SELECT count(*) FROM t"); got != "0" {
				t.Errorf("%s rows were kept", got)
			}
			moves(t, a.request(false, wish))
			if got := clustertest.Query(t, a.target, "SELECT count(*), sum(id) FROM t"); got != "15000|112507500" {
				t.Errorf("got %s", got)
			}
			clean(t, a.target)
		})
	}
}
