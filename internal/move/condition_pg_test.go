package move

import (
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// A condition is put into SQL of pghaul's own. One that closes its parentheses would give the rows of one range to every range.
func TestConditionMustBeOne(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri,
		"CREATE TABLE s (id int, name text)", "INSERT INTO s SELECT g, repeat('x', 500) FROM generate_series(1, 500) g",
		"CREATE TABLE d (id int, name text)",
		"CREATE TABLE p (id int) PARTITION BY RANGE (id)", "CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (9)", "CREATE TABLE e (id int)")
	for _, c := range []struct {
		name, where string
		kind        planner.ErrorKind
		words       []string
	}{
		{"closes parentheses", "id = 1) OR (id = 2", planner.Usage, []string{"cannot use --where on source public.s", "syntax error", "such as"}},
		{"goes on", "true LIMIT 2", planner.Usage, []string{"syntax error"}},
		{"second statement", "true; DROP TABLE s", planner.Usage, []string{"syntax error"}},
		{"open comment", "id = 1 /*", planner.Usage, []string{"unterminated"}},
		{"no such column", "nope = 1", planner.Failed, []string{"cannot use --where", `"nope" does not exist`}},
		{"no boolean", "id", planner.Failed, []string{"boolean"}},
		{"parameter", "id = $1", planner.Usage, []string{"parameters"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			wish := planner.Wish{Where: c.where, Method: planner.Relay, Connections: 2, RangeBytes: 8192}
			_, err := Open(t.Context(), onePair(uri, uri, "s", "d", wish))
			told := headline(err)
			if told == nil || told.Kind != c.kind {
				t.Fatalf("%v", err)
			}
			refused(t, onePair(uri, uri, "s", "d", wish), c.words...)
			if c.kind != planner.Usage {
				return
			}
			_, err = Verify(t.Context(), VerifyRequest{Source: uri, Target: uri, Tables: []TablePair{{Source: "s", Target: "d"}}, Where: c.where})
			if told := headline(err); told == nil || told.Kind != c.kind {
				t.Errorf("verify: %v", err)
			}
		})
	}
	refused(t, onePair(uri, uri, "p", "e", planner.Wish{Where: "p.id = 1"}), "source public.p:", "without the name of their table")
	locking := Request{Source: uri, Target: uri, Query: "SELECT id FROM s FOR UPDATE", QueryInto: "e"}
	refused(t, locking, "read-only", "The source is only read")
	moves(t, onePair(uri, uri, "s", "d", planner.Wish{Where: "id = 1 OR id = 500 -- two", Connections: 2, RangeBytes: 8192}))
	if got := clustertest.Query(t, uri, "SELECT id FROM d ORDER BY 1"); got != "1\n500" {
		t.Errorf("rows %q", got)
	}
}
