package gateway

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func open(s *Stats, user, database string) *SessionStats {
	return s.Open(Origin{Client: "10.0.0.1:5000", User: user, Database: database, Mode: "strict"})
}

func TestStatsCountByTableFormAndReason(t *testing.T) {
	s := newStats()
	c := open(s, "app", "")
	orders := c.Table("public", "orders")
	c.Taken(orders, FormCopyBinary, 10, 1000)
	c.Taken(orders, FormCopyBinary, 1, 50)
	c.Taken(orders, FormUnnest, 2, 200)
	c.Passed(orders, "RETURNING")
	c.Passed(orders, "ON CONFLICT")
	c.Passed(orders, "ON CONFLICT")
	c.Replayed(orders, 3)
	c.Passed(c.Table("", ""), "several statements")
	open(s, "other", "shop").Table("public", "items").SetForm(FormCopyText)

	got := s.Snapshot()
	want := []TableView{
		{Database: "app", Schema: "public", Table: "orders", Form: FormUnnest, Replayed: 3,
			Forms:  []FormView{{FormCopyBinary, 2, 11, 1050}, {FormUnnest, 1, 2, 200}},
			Passed: map[string]int64{"RETURNING": 1, "ON CONFLICT": 2}},
		{Database: "shop", Schema: "public", Table: "items", Form: FormCopyText},
		{Passed: map[string]int64{"several statements": 1}},
	}
	if d := cmp.Diff(want, got.Tables); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(Counts{Inserts: 17, Taken: 13, Rows: 1250}, got.Total); d != "" {
		t.Error(d)
	}
	if text := got.Tables[0].Reasons(); text != "ON CONFLICT 2, RETURNING 1" {
		t.Errorf("reasons: %s", text)
	}
}

func TestStatsOfAStreamAreOneStatement(t *testing.T) {
	s := newStats()
	c := open(s, "u", "d")
	table := c.Table("s", "t")
	for range 2 {
		c.SetCopying(true)
		for range 5 {
			c.Taken(table, FormCopyBinary, 1, 10)
		}
		c.SetCopying(false)
	}
	c.SetCopying(true)
	c.SetCopying(false)
	c.Taken(table, FormCopyBinary, 3, 30)
	c.Taken(table, FormCopyBinary, 1, 10)
	want := []FormView{{FormCopyBinary, 4, 14, 140}}
	if d := cmp.Diff(want, s.Snapshot().Tables[0].Forms); d != "" {
		t.Error(d)
	}
}

func TestStatsOfClosedSessionsStay(t *testing.T) {
	s := newStats()
	c := s.Open(Origin{User: "u", Database: "d", Application: "psql", TLS: true, Mode: "strict", Bytes: func() (int64, int64) { return 7, 11 }})
	c.Taken(c.Table("s", "t"), FormBind, 1, 5)
	c.SetMode("stream")
	c.SetCopying(true)
	live := s.Snapshot()
	want := []SessionView{{ID: 1, User: "u", Database: "d", Application: "psql", TLS: true, Mode: "stream", Copying: true, Counts: Counts{7, 11, 1, 1, 5}}}
	if d := cmp.Diff(want, live.Sessions, cmpopts.IgnoreFields(SessionView{}, "Started")); d != "" {
		t.Error(d)
	}
	c.Close()
	c.Close()
	over := s.Snapshot()
	if len(over.Sessions) != 0 || over.Total != live.Total {
		t.Errorf("after the end: %d sessions, %+v, want %+v", len(over.Sessions), over.Total, live.Total)
	}
}

func TestStatsAreBounded(t *testing.T) {
	s := newStats()
	c := open(s, "u", "d")
	for i := range 3 * maxTables {
		c.Passed(c.Table("s", fmt.Sprintf("t%d", i)), "cast")
	}
	many := c.Table("s", "t0")
	for i := range 3 * maxReasons {
		c.Passed(many, fmt.Sprintf("reason %d", i))
	}
	long := c.Table(strings.Repeat("é", 100), "bad\xff\xfe")
	shot := s.Snapshot()
	if len(shot.Tables) > maxTables+1 {
		t.Errorf("%d tables are counted by name", len(shot.Tables))
	}
	var others, passed int64
	for i := range shot.Tables {
		v := &shot.Tables[i]
		passed += v.PassedTotal()
		if v.Table == otherTables {
			others = v.PassedTotal()
		}
		if len(v.Passed) > maxReasons+1 {
			t.Errorf("%s has %d reasons", v.Table, len(v.Passed))
		}
	}
	if others != 2*maxTables || passed != 3*maxTables+3*maxReasons || passed != shot.Total.Inserts {
		t.Errorf("%d under %s, %d in all, want %d and %d", others, otherTables, passed, 2*maxTables, shot.Total.Inserts)
	}
	if long.key.table != otherTables {
		t.Errorf("a table beyond the bound is counted as %q", long.key)
	}
}

func TestStatsKeepNamesFitToShow(t *testing.T) {
	s := newStats()
	c := open(s, "u\xff", strings.Repeat("é", 100))
	key := c.Table("s\x80", "bad\xff\xfe").key
	for _, name := range []string{key.database, key.schema, key.table, c.origin.User} {
		if !utf8.ValidString(name) || len(name) > maxName {
			t.Errorf("%q is kept", name)
		}
	}
	if key.table != "bad" || len(key.database) != 62 {
		t.Errorf("names became %q", key)
	}
}

func TestStatsFromManyGoroutines(t *testing.T) {
	s := newStats()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 50 {
				c := open(s, "u", "d")
				own := c.Table("s", fmt.Sprintf("t%d", i%3))
				c.Taken(own, FormCopyText, 2, 20)
				c.Passed(own, "expression")
				s.Snapshot()
				c.Close()
			}
		})
	}
	all.Wait()
	shot := s.Snapshot()
	if want := (Counts{Inserts: 1200, Taken: 800, Rows: 8000}); shot.Total != want || len(shot.Tables) != 3 {
		t.Errorf("%+v of %d tables, want %+v", shot.Total, len(shot.Tables), want)
	}
}

func TestFormNames(t *testing.T) {
	seen := map[string]bool{}
	for f := range formCount {
		seen[f.String()] = true
	}
	if len(seen) != int(formCount) || Form(-1).String() != "unknown" || formCount.String() != "unknown" {
		t.Errorf("names: %v", seen)
	}
}
