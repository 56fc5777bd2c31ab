package move

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/internal/rowfile"
	"github.com/pghaul/pghaul/planner"
)

// csvCase is a load of CSV lines without a header.
func csvCase(lines []string, into string, wish planner.LoadWish) *loadCase {
	return &loadCase{content: strings.Join(lines, ""), layout: rowfile.Layout{Format: rowfile.CSV, Header: rowfile.NoHeader}, wish: wish, into: into}
}

// agrees loads lines into a table and holds what came of it against a COPY for each line into another one. The statements make the table $t.
func agrees(t *testing.T, uri string, define, lines []string, wish planner.LoadWish) *TableReport {
	t.Helper()
	for _, table := range []string{"loaded", "expected"} {
		for _, sql := range define {
			clustertest.Exec(t, uri, strings.ReplaceAll(sql, "$t", table))
		}
	}
	want := oneByOne(t, uri, "expected", lines)
	report, rejected, err := loaded(t, uri, csvCase(lines, "loaded", wish))
	if err != nil {
		t.Fatal(spelled(err))
	}
	got := strings.SplitAfter(rejected, "\n")
	if got = got[:len(got)-1]; !slices.Equal(got, want) {
		t.Errorf("%d rows were refused, one by one %d: %s", len(got), len(want), firstDifference(got, want))
	}
	sameContents(t, uri, "SELECT l::text FROM loaded l", uri, "SELECT e::text FROM expected e")
	if report.Load.Refused != int64(len(want)) || report.Load.Read != int64(len(lines)) {
		t.Errorf("the report counts %d of %d rows refused", report.Load.Refused, report.Load.Read)
	}
	return report
}

// wide pads a row so that a few hundred fill a batch.
var wide = strings.Repeat("x", 20<<10)

// TestLoadChecksEachBatch has several batches with so many bad rows that each is looked through, and rows that only the server refuses
// between them: the temporary tables outlive the subtransactions that fail.
func TestLoadChecksEachBatch(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	lines := make([]string, 480)
	for i := range lines {
		amount, code := 1, "a"
		if i%7 == 3 {
			amount = -1
		}
		if i%40 == 11 {
			code = "raise"
		}
		lines[i] = fmt.Sprintf("%d,%d,%s,%s\n", i, amount, code, wide)
	}
	agrees(t, uri, []string{
		"CREATE TABLE $t (id int PRIMARY KEY, amount int CHECK (amount > 0), code text, pad text)",
		`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
			IF NEW.code = 'raise' THEN RAISE EXCEPTION 'not liked'; END IF; RETURN NULL; END$$`,
		"CREATE TRIGGER refuse AFTER INSERT ON $t FOR EACH ROW EXECUTE FUNCTION refuse()",
	}, lines, setAsideWish())
}

// TestLoadChecksThatFail has conditions that fail on some rows instead of being false.
func TestLoadChecksThatFail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		define string
		value  func(i int) string
	}{
		"an expression that fails": {"CREATE TABLE $t (id int, v int CHECK (100 / v > 5))", func(i int) string { return fmt.Sprint(i % 30) }},
		"a domain":                 {"CREATE TABLE $t (id int, v positive, CHECK (v < 20))", func(i int) string { return fmt.Sprint(i%30 - 5) }},
		"a generated column":       {"CREATE TABLE $t (id int, v int CHECK (v < 20), g int GENERATED ALWAYS AS (100 / v) STORED)", func(i int) string { return fmt.Sprint(i % 30) }},
		"a row too big for a page": {"CREATE TABLE $t (id int, v text COLLATE \"C\", CHECK (v <> 'bad'))", func(i int) string {
			return []string{"good", "bad", strings.Repeat("0123456789abcdef", 600)}[i%3]
		}},
		"an index entry too large": {"CREATE TABLE $t (id int, v text UNIQUE, CHECK (v <> 'bad'))", func(i int) string {
			return []string{"good" + fmt.Sprint(i), "bad", fmt.Sprint(noise(4000, i))}[i%3]
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			uri := clustertest.Database(t)
			clustertest.Exec(t, uri, "CREATE DOMAIN positive AS int CHECK (VALUE > 0)")
			lines := make([]string, 150)
			for i := range lines {
				lines[i] = fmt.Sprintf("%d,%s\n", i, c.value(i))
			}
			define := []string{c.define}
			if strings.Contains(name, "page") {
				define = append(define, "ALTER TABLE $t ALTER v SET STORAGE PLAIN")
			}
			report := agrees(t, uri, define, lines, setAsideWish())
			if report.Load.Refused == 0 {
				t.Error("no row was refused")
			}
		})
	}
}

// readFile reads a file, which must be there.
func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// noise is text that does not compress.
func noise(n, seed int) string {
	x, b := uint32(seed)*2654435761+1, make([]byte, n)
	for i := range b {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b[i] = 'a' + byte(x%26)
	}
	return string(b)
}

// TestLoadErrorsWithoutRow has conditions whose errors name no row.
func TestLoadErrorsWithoutRow(t *testing.T) {
	t.Parallel()
	raise := `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
		IF NEW.v = 5 THEN RAISE EXCEPTION 'not liked' USING ERRCODE = '22000'; END IF; RETURN NULL; END$$`
	for name, define := range map[string][]string{
		"trigger after":           {"CREATE TABLE $t (id int, v int)", raise, "CREATE TRIGGER r AFTER INSERT ON $t FOR EACH ROW EXECUTE FUNCTION refuse()"},
		"deferred trigger":        {"CREATE TABLE $t (id int, v int)", raise, "CREATE CONSTRAINT TRIGGER r AFTER INSERT ON $t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()"},
		"foreign key":             {"CREATE TABLE $t (id int, v int REFERENCES parent)"},
		"deferred foreign key":    {"CREATE TABLE $t (id int, v int REFERENCES parent DEFERRABLE INITIALLY DEFERRED)"},
		"several foreign keys":    {"CREATE TABLE $t (id int REFERENCES parent, v int REFERENCES parent DEFERRABLE INITIALLY DEFERRED)"},
		"deferred unique key":     {"CREATE TABLE $t (id int, v int UNIQUE DEFERRABLE INITIALLY DEFERRED)"},
		"deferred exclusion":      {"CREATE TABLE $t (id int, v int, EXCLUDE (v WITH =) DEFERRABLE INITIALLY DEFERRED)"},
		"foreign key of a parent": {"CREATE TABLE $t (id int, v int REFERENCES parent) PARTITION BY RANGE (id)", "CREATE TABLE $t_1 PARTITION OF $t FOR VALUES FROM (0) TO (300)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			uri := clustertest.Database(t)
			clustertest.Exec(t, uri, "CREATE TABLE parent (id int PRIMARY KEY)", "INSERT INTO parent SELECT i FROM generate_series(0, 400) i WHERE i % 9 <> 5")
			lines := make([]string, 400)
			for i := range lines {
				lines[i] = fmt.Sprintf("%d,%d\n", i, i%90)
			}
			lines[100] = "100,tomorrow\n"
			if report := agrees(t, uri, define, lines, setAsideWish()); report.Load.Refused < 4 {
				t.Errorf("%d rows were refused", report.Load.Refused)
			}
		})
	}
}

// TestLoadRefusalsOfAllClasses has refusals whose SQLSTATE is of a class that mostly says something about the statement.
func TestLoadRefusalsOfAllClasses(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	for i, c := range []struct{ column, good, bad, state string }{
		{"tsquery", "a & b", "a &", "42601"},
		{"jsonpath", "$.a", "$.", "42601"},
		{"regclass", "pg_class", "no_such_table", "42P01"},
		{"regtype", "integer", "no_such_type", "42704"},
		{"regproc", "now", "no_such_function", "42883"},
		{"regnamespace", "pg_catalog", "no_such_schema", "3F000"},
		{"regclass", "pg_class", "no_such_schema.t", "3F000"},
		{"xml", "<a/>", "<a>", "2200N"},
	} {
		table := fmt.Sprint("classes", i)
		clustertest.Exec(t, uri, "CREATE TABLE "+table+" (id int, v "+c.column+")")
		lines := []string{"1," + c.good + "\n", "2," + c.bad + "\n", "3," + c.good + "\n"}
		report, rejected, err := loaded(t, uri, csvCase(lines, table, setAsideWish()))
		if err != nil {
			t.Errorf("%s: %s", c.column, spelled(err))
			continue
		}
		if rejected != lines[1] || report.Rows != 2 || report.Load.Reasons[0].State != c.state || !strings.Contains(readFile(t, report.Load.ReasonsFile), `"column":"v"`) {
			t.Errorf("%s: %d rows loaded, refused %q by %+v", c.column, report.Rows, rejected, report.Load.Reasons)
		}
	}
}
