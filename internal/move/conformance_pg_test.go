package move

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// mode is one method as the suite runs it.
type mode struct {
	name     string
	wish     planner.Wish
	inServer bool // the rows never leave the server
	makes    bool // the target must be missing
	keyed    bool // the target must have a primary key
	near     bool // between two servers it does nothing that it does not do in one database too
}

// smallRanges cuts tables of the suite into a range for each few pages.
const smallRanges = 3 * 8192

var modes = []mode{
	{name: "relay", wish: planner.Wish{Method: planner.Relay, Connections: 1}},
	{name: "relay text", near: true, wish: planner.Wish{Method: planner.Relay, Format: planner.Text, Connections: 1, RangeBytes: smallRanges}},
	{name: "relay by 3", wish: planner.Wish{Method: planner.Relay, Connections: 3, RangeBytes: smallRanges}},
	{name: "relay by range", wish: planner.Wish{Method: planner.Relay, Connections: 3, RangeBytes: smallRanges, Commit: planner.CommitRange}},
	{name: "relay replacing by 3", near: true, wish: planner.Wish{Method: planner.Relay, Connections: 3, RangeBytes: smallRanges, Fill: planner.Replace}},
	{name: "insert values", near: true, wish: planner.Wish{Method: planner.Insert, Connections: 1, BatchSize: 7, CopyThreshold: planner.CopyNever}},
	{name: "insert arrays by 3", wish: planner.Wish{Method: planner.Insert, Connections: 3, BatchSize: 150, CopyThreshold: planner.CopyNever,
		RangeBytes: 8 * smallRanges}},
	{name: "insert copy", near: true, wish: planner.Wish{Method: planner.Insert, Connections: 1, BatchSize: 10, CopyThreshold: 10}},
	{name: "insert auto by 3", near: true, wish: planner.Wish{Method: planner.Insert, Connections: 3, BatchSize: 20, RangeBytes: smallRanges}},
	{name: "merge", wish: planner.Wish{Method: planner.Merge, OnConflict: planner.DoNothing}, keyed: true},
	{name: "insert-select", wish: planner.Wish{Method: planner.InsertSelect, Connections: 1}, inServer: true},
	{name: "insert-select by 3", wish: planner.Wish{Method: planner.InsertSelect, Connections: 3, RangeBytes: smallRanges}, inServer: true},
	{name: "create-as", wish: planner.Wish{Method: planner.CreateAs}, inServer: true, makes: true},
	{name: "unlogged", wish: planner.Wish{Method: planner.Unlogged}, inServer: true, makes: true},
	{name: "relay creating", wish: planner.Wish{Method: planner.Relay, Connections: 1, Create: true}, makes: true},
	{name: "relay creating by 3", wish: planner.Wish{Method: planner.Relay, Connections: 3, Create: true, RangeBytes: smallRanges}, makes: true},
}

// route is where source and target are.
type route struct {
	name         string
	sameDatabase bool
	sameServer   bool
}

var routes = []route{
	{name: "one database", sameDatabase: true, sameServer: true},
	{name: "two databases", sameServer: true},
	{name: "two servers"},
}

// uris makes the databases of a route.
func (r route) uris(t *testing.T) (source, target string) {
	t.Helper()
	source = clustertest.Database(t)
	switch {
	case r.sameDatabase:
		return source, source
	case r.sameServer:
		return source, clustertest.Database(t)
	}
	return source, clustertest.DatabaseOn(t, clustertest.Second(t))
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, r := range routes {
		for _, c := range conformanceCases(t) {
			if r.sameServer && !r.sameDatabase && !c.everywhere {
				continue
			}
			t.Run(r.name+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				conforms(t, r, &c)
			})
		}
	}
}

// conforms runs every mode that can carry a case over one route.
func conforms(t *testing.T, r route, c *conformanceCase) {
	from, to := r.uris(t)
	clustertest.Exec(t, from, c.setup...)
	clustertest.Exec(t, from, c.source...)
	if from != to {
		clustertest.Exec(t, to, c.setup...)
	}
	for _, m := range modes {
		if m.inServer && !r.sameDatabase || m.keyed && c.keyless || m.makes && c.never || m.name == "create-as" && c.notAs || m.near && !r.sameDatabase && !c.everywhere ||
			c.only != nil && !slices.Contains(c.only, m.name) {
			continue
		}
		t.Run(m.name, func(t *testing.T) { conformsBy(t, r, c, m, from, to) })
	}
}

func conformsBy(t *testing.T, r route, c *conformanceCase, m mode, from, to string) {
	clustertest.Exec(t, to, "DROP TABLE IF EXISTS "+c.into+" CASCADE")
	if !m.makes {
		clustertest.Exec(t, to, c.target...)
	}
	q := onePair(from, to, c.from, c.into, m.wish)
	if !c.unverified {
		q.Verify = VerifyHash
	}
	if words := c.refuses[m.name]; words != "" {
		refused(t, q, words)
		return
	}
	if words := c.refused; words != "" {
		refused(t, q, words)
		clean(t, to)
		return
	}
	if m.wish.Create && lacksPgDump(t, from, to, c.from) {
		refused(t, q, "pg_dump is too old")
		return
	}
	report := moves(t, q)
	c.judge(t, r, m, report, from, to)
	clean(t, to)
}

// lacksPgDump reports whether making a table like the source needs a newer pg_dump than the machine has, as on servers that came
// without client programs.
func lacksPgDump(t *testing.T, from, to, table string) bool {
	t.Helper()
	kind := clustertest.Query(t, from, "SELECT relkind FROM pg_class WHERE oid = '"+sqlText(table)+"'::regclass")
	if kind != "p" && (kind != "r" || from == to) {
		return false
	}
	dump, err := findPgDump(t.Context(), "", planner.Server{})
	if err != nil {
		t.Fatal(err)
	}
	return dump.major < dumpedServer(t, from).Version/10000
}

// judge compares what the server says both tables hold, and the report with it.
func (c *conformanceCase) judge(t *testing.T, r route, m mode, report *Report, from, to string) {
	t.Helper()
	columns := cmp.Or(c.columns, "*")
	read := "SELECT " + columns + " FROM " + c.sourceOnly + c.from
	want := cmp.Or(c.expectBy[m.name], c.expect, read)
	sameContents(t, from, want, to, "SELECT "+columns+" FROM "+c.into)
	if rows := clustertest.Query(t, to, "SELECT count(*) FROM "+c.into); rows != fmt.Sprint(report.Rows()) {
		t.Errorf("the report tells of %d rows, the target has %s", report.Rows(), rows)
	}
	plan := report.Tables[0].Plan
	// What a table's own types are in a database where they were not looked at is not known, so there text is right too.
	if c.format != "" && m.wish.Method == planner.Relay && m.wish.Format == planner.AnyFormat && !m.makes && plan.Format != c.format {
		for _, p := range plan.Columns {
			t.Logf("%s %s", p.Source.Name, p.Why)
		}
		t.Errorf("moved as %s, want %s", plan.Format, c.format)
	}
	if !m.makes || m.name == "create-as" {
		return
	}
	// A table that was made after the source's likeness has its indexes too.
	const indexes = "SELECT count(*) FROM pg_index WHERE indrelid = '%s'::regclass AND indisvalid"
	if a, b := clustertest.Query(t, from, fmt.Sprintf(indexes, sqlText(c.from))), clustertest.Query(t, to, fmt.Sprintf(indexes, sqlText(c.into))); a != b {
		t.Errorf("the source has %s indexes, the new table %s", a, b)
	}
}

// sqlText doubles quotes for use within a literal.
func sqlText(s string) string { return strings.ReplaceAll(s, "'", "''") }
