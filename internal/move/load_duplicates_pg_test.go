package move

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// duplicateModes are all ways to deal with a row whose key is there.
var duplicateModes = []planner.OnDuplicate{planner.DuplicateError, planner.DuplicateSkip, planner.DuplicateUpdate, planner.DuplicateKeepNew, planner.DuplicateKeepOld}

// duplicateTable is a table with a key, and columns that are not loaded.
type duplicateTable struct {
	name   string
	define string
	key    []string // as --conflict-columns names it, nil for none
	// same are the positions of the columns by which the model knows a row again; equalNulls: NULL is equal to NULL there.
	same       []int
	equalNulls bool
	rows       func(i int) string // in CSV: k, l, v
}

func duplicateTables(major int) []duplicateTable {
	varied := func(i int) string {
		k, l := fmt.Sprint(i*7%23), fmt.Sprint(i%3)
		if i%11 == 4 {
			k = ""
		}
		return fmt.Sprintf("%s,%s,%d\n", k, l, i)
	}
	full := func(i int) string { return fmt.Sprintf("%d,%d,%d\n", i*7%23, i%3, i) }
	all := []duplicateTable{
		{name: "one column", define: "k int PRIMARY KEY, l int, v int", same: []int{0}, rows: full},
		{name: "several columns", define: "k int, l int, v int, PRIMARY KEY (l, k)", same: []int{0, 1}, rows: full},
		{name: "a key with NULLs", define: "k int, l int, v int, UNIQUE (k, l)", key: []string{"k", "l"}, same: []int{0, 1}, rows: varied},
		{name: "one key of two", define: "k int, l int, v int PRIMARY KEY, UNIQUE (l, k)", key: []string{"l", "k"}, same: []int{0, 1}, rows: full},
	}
	if major >= 15 {
		all = append(all, duplicateTable{name: "equal NULLs", define: "k int, l int, v int, UNIQUE NULLS NOT DISTINCT (k, l)", key: []string{"k", "l"}, same: []int{0, 1}, equalNulls: true, rows: varied})
	}
	return all
}

// duplicateModel is what a table holds, row by row.
type duplicateModel struct {
	duplicateTable
	rows [][]string // k, l, v and the column that is not loaded
}

// put does with a row what the mode says, and reports whether it was dropped or refused.
func (m *duplicateModel) put(row []string, mode planner.OnDuplicate) (dropped bool) {
	at := slices.IndexFunc(m.rows, func(old []string) bool {
		for _, i := range m.same {
			if old[i] != row[i] || row[i] == "" && !m.equalNulls {
				return false
			}
		}
		return true
	})
	switch {
	case at < 0:
		m.rows = append(m.rows, append(slices.Clone(row), "new"))
		return false
	case mode == planner.DuplicateUpdate:
		m.rows[at] = append(slices.Clone(row), m.rows[at][3])
	case mode == planner.DuplicateKeepNew:
		m.rows[at] = append(slices.Clone(row), "new")
	}
	return true
}

func (m *duplicateModel) String() string {
	var lines []string
	for _, r := range m.rows {
		lines = append(lines, strings.Join(r, "|"))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func TestLoadDuplicates(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	major := 0
	if _, err := fmt.Sscan(clustertest.Query(t, uri, "SELECT current_setting('server_version_num')::int / 10000"), &major); err != nil {
		t.Fatal(err)
	}
	for n, table := range duplicateTables(major) {
		for i, mode := range duplicateModes {
			way := []string{"", "aside", "commits", "insert"}[(n+i)%4]
			if way == "insert" && mode == planner.DuplicateKeepOld || way == "" && mode == planner.DuplicateError {
				way = "aside"
			}
			t.Run(fmt.Sprint(table.name, ", ", mode, " ", way), func(t *testing.T) {
				t.Parallel()
				table.try(t, uri, fmt.Sprintf("d%d_%d", n, i), mode, way)
			})
		}
	}
}

// try loads rows into a table that holds some, and compares it with the model.
func (d *duplicateTable) try(t *testing.T, uri, name string, mode planner.OnDuplicate, way string) {
	t.Helper()
	clustertest.Exec(t, uri, "CREATE TABLE "+name+" ("+d.define+", other text DEFAULT 'new')", "INSERT INTO "+name+" VALUES (3, 0, 10001, 'old'), (4, 1, 10002, 'old'), (5, 2, 10003, 'old')")
	model := &duplicateModel{duplicateTable: *d, rows: [][]string{{"3", "0", "10001", "old"}, {"4", "1", "10002", "old"}, {"5", "2", "10003", "old"}}}
	// Rows are so wide that there are several batches.
	pad := strings.Repeat(" ", 3000)
	var lines, dropped []string
	for i := range 400 {
		row := d.rows(i)
		padded := strings.Replace(row, "\n", pad+"\n", 1)
		lines = append(lines, padded)
		if model.put(strings.Split(strings.TrimSuffix(row, "\n"), ","), mode) {
			dropped = append(dropped, padded)
		}
	}
	wish := planner.LoadWish{OnDuplicate: mode, MaxErrors: -1, Fill: planner.Append, Columns: []string{"k", "l", "v"}}
	if mode != planner.DuplicateError {
		wish.ConflictColumns = d.key
	}
	switch way {
	case "aside":
		wish.OnError = planner.SetRowsAside
	case "commits":
		wish.OnError, wish.CommitEvery = planner.SetRowsAside, 50
	case "insert":
		wish.OnError, wish.Method = planner.SetRowsAside, planner.Insert
	}
	report, rejected, err := loaded(t, uri, csvCase(lines, name, wish))
	if err != nil {
		t.Fatal(spelled(err))
	}
	if got := clustertest.Query(t, uri, "SELECT k, l, v, other FROM "+name+" ORDER BY concat_ws('|', coalesce(k::text, ''), coalesce(l::text, ''), v, other) COLLATE \"C\""); got != model.String() {
		t.Errorf("the table holds\n%s\nand not\n%s", got, model)
	}
	refused, duplicates := int64(len(dropped)), int64(0)
	if mode != planner.DuplicateError {
		refused, duplicates = 0, refused
	}
	if mode == planner.DuplicateUpdate || mode == planner.DuplicateKeepNew {
		// Of the rows of one batch those that replaced a row which was there are no duplicates.
		duplicates = report.Load.Duplicates
		if report.Rows+duplicates != 400 {
			t.Errorf("%d rows taken, %d gave way", report.Rows, duplicates)
		}
	} else if report.Rows != 400-int64(len(dropped)) {
		t.Errorf("%d rows taken, %d dropped", report.Rows, len(dropped))
	}
	if report.Load.Refused != refused || report.Load.Duplicates != duplicates {
		t.Errorf("%d refused, %d gave way, and not %d and %d", report.Load.Refused, report.Load.Duplicates, refused, duplicates)
	}
	want := strings.Join(dropped, "")
	if mode != planner.DuplicateError && mode != planner.DuplicateKeepOld {
		want = ""
	}
	if rejected != want {
		t.Errorf("the reject file is wrong: %s", firstDifference(strings.SplitAfter(rejected, "\n"), strings.SplitAfter(want, "\n")))
	}
}

// TestLoadDuplicatesUnderTriggers has rows that triggers drop, which are no duplicates.
func TestLoadDuplicatesUnderTriggers(t *testing.T) {
	t.Parallel()
	for _, mode := range duplicateModes[1:] {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			uri := clustertest.Database(t)
			clustertest.Exec(t, uri, "CREATE TABLE t (id int PRIMARY KEY, v int)", "INSERT INTO t VALUES (1, 0)",
				"CREATE FUNCTION odd() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF NEW.v = 99 THEN RETURN NULL; END IF; RETURN NEW; END'",
				"CREATE TRIGGER odd BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION odd()")
			report, _, err := loaded(t, uri, csvCase([]string{"1,1\n", "2,2\n", "3,99\n", "2,3\n", "4,4\n"}, "t", planner.LoadWish{OnDuplicate: mode, ConflictColumns: []string{"id"}, Fill: planner.Append, MaxErrors: -1}))
			if err != nil {
				t.Fatal(spelled(err))
			}
			want, rows, duplicates := "1|0\n2|2\n4|4", int64(2), int64(2)
			if mode == planner.DuplicateUpdate || mode == planner.DuplicateKeepNew {
				want, rows, duplicates = "1|1\n2|3\n4|4", 3, 1
			}
			if got := clustertest.Query(t, uri, "SELECT * FROM t ORDER BY id"); got != want || report.Rows != rows || report.Load.Duplicates != duplicates {
				t.Errorf("%q, %d rows, %d duplicates", got, report.Rows, report.Load.Duplicates)
			}
		})
	}
}
