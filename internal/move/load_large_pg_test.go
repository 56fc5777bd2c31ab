package move

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/internal/rowfile"
	"github.com/pghaul/pghaul/planner"
)

// TestLoadLargeRows has rows that are never in memory as a whole, between others, and wants what COPY makes of them.
func TestLoadLargeRows(t *testing.T) {
	t.Parallel()
	const size = rowfile.LargeRow + 1<<10
	long := func(unit string) string { return strings.Repeat(unit, size/len(unit)+1) }
	quoted := func(v string) string { return `"` + strings.ReplaceAll(v, `"`, `""`) + `"` }
	for name, c := range map[string]struct {
		typ    string
		values []string
	}{
		"text":  {"text", []string{long("0123456789"), "small", "", long("é\n\\. \t,"), long("x") + "\x00", long("y") + "\xff"}},
		"bytea": {"bytea", []string{`\x` + long("00ff"), `\x` + long("00 ff\n"), `\x` + long("0f") + "0g", long(`a\\b`), `\x00`}},
		"jsonb": {"jsonb", []string{`["` + long("abc") + `"]`, `["` + long("abc") + `]`}},
		"xml":   {"xml", []string{"<a>" + long("é") + "</a>", "<a>" + long("b"), `<?xml version="1.0" encoding="LATIN1"?><a>` + long("é") + "</a>"}},
		// Types whose large values go as text.
		"integers": {"int[]", []string{"{" + long("1,2,") + "3}", "{" + long("1,2,") + "x}", "{1}"}},
		"a domain": {"limited", []string{long("good"), "bad" + long("x")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			uri := clustertest.Database(t)
			clustertest.Exec(t, uri, "CREATE TYPE pair AS (a int, b text)", "CREATE DOMAIN limited AS text CHECK (VALUE NOT LIKE 'bad%')",
				"CREATE TABLE t (id int CHECK (id <> 7), v "+c.typ+", n int NOT NULL)", "CREATE TABLE t_copied (LIKE t INCLUDING ALL)")
			var rows []string
			for i, v := range c.values {
				rows = append(rows, fmt.Sprintf("%d,%s,1\n", 10*i, quoted(v)), fmt.Sprintf("%d,,1\n", 10*i+1))
			}
			if name == "text" {
				rows = append(rows, "7,"+quoted(c.values[0])+",1\n", "8,"+quoted(c.values[0])+",\n", "9,"+quoted(c.values[0])+",tomorrow\n", "10,"+quoted(c.values[0])+"\n", "x,,1\n")
			}
			want := serverVerdicts(t, uri, "t_copied", rows)
			report, rejected, err := loaded(t, uri, csvCase(rows, "t", setAsideWish()))
			if err != nil {
				t.Fatal(spelled(err))
			}
			got := fileVerdicts(t, report)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("refused %v, by COPY %v", got, want)
			}
			if report.Rows+report.Load.Refused != int64(len(rows)) {
				t.Errorf("%d rows loaded and %d refused of %d", report.Rows, report.Load.Refused, len(rows))
			}
			line, set := int64(1), map[int64]bool{}
			for _, v := range want {
				set[v.Line] = true
			}
			var aside strings.Builder
			for _, row := range rows {
				if set[line] {
					aside.WriteString(row)
				}
				line += int64(strings.Count(row, "\n"))
			}
			if rejected != aside.String() {
				t.Errorf("%d bytes are set aside and not %d", len(rejected), aside.Len())
			}
			sameContents(t, uri, "SELECT id, md5(v::text), n FROM t", uri, "SELECT id, md5(v::text), n FROM t_copied")
		})
	}
}

// TestLoadLargeRowsOtherwise loads large rows in the ways that do not copy straight into the table.
func TestLoadLargeRowsOtherwise(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("0123456789abcdef"), rowfile.LargeRow/16+1)
	var content bytes.Buffer
	for i := range 3 {
		fmt.Fprintf(&content, "%d,%s,1\n%d,,0\n", i, long, i)
	}
	for name, c := range map[string]struct {
		wish  planner.LoadWish
		error string
		want  string
	}{
		"staged":    {wish: planner.LoadWish{OnDuplicate: planner.DuplicateUpdate, MaxErrors: -1}, want: "0||0\n1||0\n2||0"},
		"kept old":  {wish: planner.LoadWish{OnDuplicate: planner.DuplicateKeepOld, MaxErrors: -1}, want: "0|8388624|1\n1|8388624|1\n2|8388624|1"},
		"commits":   {wish: planner.LoadWish{OnError: planner.SetRowsAside, CommitEvery: 1, MaxErrors: -1}, want: "0|8388624|1\n1|8388624|1\n2|8388624|1"},
		"as text":   {wish: planner.LoadWish{OnError: planner.SetRowsAside, Format: planner.Text, MaxErrors: -1}, want: "0|8388624|1\n1|8388624|1\n2|8388624|1"},
		"by INSERT": {wish: planner.LoadWish{OnError: planner.SetRowsAside, Method: planner.Insert, MaxErrors: -1}, error: "more than 8 MB cannot be sent by method insert"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			uri := clustertest.Database(t)
			clustertest.Exec(t, uri, "CREATE TABLE t (id int PRIMARY KEY, t text, v int)")
			_, _, err := loaded(t, uri, &loadCase{content: content.String(), layout: rowfile.Layout{Format: rowfile.CSV, Header: rowfile.NoHeader}, wish: c.wish, into: "t"})
			if (err != nil) != (c.error != "") || err != nil && !strings.Contains(spelled(err), c.error) {
				t.Fatal(spelled(err))
			}
			if got := clustertest.Query(t, uri, "SELECT id, length(t), v FROM t ORDER BY id"); got != c.want {
				t.Errorf("%q and not %q", got, c.want)
			}
		})
	}
}

// TestLoadGivesSpoolFilesBack counts the files that large rows are kept in while they are loaded.
func TestLoadGivesSpoolFilesBack(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE t (id int NOT NULL, v text)")
	path := filepath.Join(t.TempDir(), "rows.csv")
	row := "," + strings.Repeat("x", rowfile.LargeRow) + "\n"
	if err := os.WriteFile(path, []byte(strings.Repeat("1"+row+row, 2)), 0o600); err != nil {
		t.Fatal(err)
	}
	spools := func() (n int) {
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return 0 // no such system
		}
		for _, f := range open {
			if to, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil && strings.Contains(to, "pghaul-row-") {
				n++
			}
		}
		return n
	}
	if _, _, err := loadedFiles(t, uri, []string{path}, csvCase(nil, "t", setAsideWish())); err != nil {
		t.Fatal(spelled(err))
	}
	if n := spools(); n > 0 {
		t.Errorf("%d files of large rows are still open", n)
	}
	if got := clustertest.Query(t, uri, "SELECT count(*), sum(length(v)) FROM t"); got != fmt.Sprint("2|", 2*rowfile.LargeRow) {
		t.Error(got)
	}
}
