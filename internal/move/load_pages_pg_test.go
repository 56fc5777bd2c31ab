package move

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/cluster"
	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/internal/rowfile"
	"github.com/pghaul/pghaul/planner"
)

// rowPagesWish asks for method pages.
func rowPagesWish(notLogged bool) planner.LoadWish {
	return planner.LoadWish{Method: planner.Pages, NotLogged: notLogged, AcceptMissing: notLogged}
}

var csvLayout = rowfile.Layout{Format: rowfile.CSV, Header: rowfile.NoHeader}

// dumped is what COPY makes of a query.
func dumped(t *testing.T, uri, query, options string) string {
	t.Helper()
	c, err := pgx.Connect(t.Context(), uri)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(t.Context()) }()
	var out bytes.Buffer
	if _, err := c.PgConn().CopyTo(t.Context(), &out, "COPY ("+query+") TO STDOUT ("+options+")"); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// loadsPages runs a load that must succeed and whose table must be sound.
func loadsPages(t *testing.T, uri string, c *loadCase) *TableReport {
	t.Helper()
	report, _, err := loaded(t, uri, c)
	if err != nil {
		t.Fatal(spelled(err))
	}
	soundPages(t, uri, c.into, true, !c.wish.NotLogged)
	return report
}

// formed are the types whose values are made here.
func formed(t *testing.T, uri string) []typedColumn {
	return typesBut(func(c *typedColumn) bool {
		switch c.typ {
		case "pair", "nest", "pair[]", "posint[]", "tsvector", "tsquery", "jsonpath", "hstore", "hstore[]", "pg_snapshot", "txid_snapshot", "aclitem", "refcursor", "xml", "int2vector", "oidvector", "span":
			return true
		}
		return strings.HasPrefix(c.typ, "reg") || strings.HasSuffix(c.typ, "multirange") || c.extension != "" && !clustertest.HasExtension(t, uri, c.extension)
	})
}

func TestLoadedPagesHoldEveryType(t *testing.T) {
	for _, notLogged := range []bool{false, true} {
		for _, format := range []rowfile.Format{rowfile.CSV, rowfile.Binary} {
			t.Run(formName(notLogged)+", "+string(format), func(t *testing.T) {
				t.Parallel()
				uri := clustertest.Database(t)
				callJudges(t, uri)
				clustertest.Exec(t, uri, "CREATE EXTENSION IF NOT EXISTS citext")
				clustertest.Exec(t, uri, strings.Split(typeSetup, ";\n")...)
				ddl, fill := wideTable("wide", 600, formed(t, uri))
				clustertest.Exec(t, uri, ddl, fill, "INSERT INTO wide (id) VALUES (0)", "CREATE TABLE loaded (LIKE wide INCLUDING ALL)")
				c := &loadCase{content: dumped(t, uri, "TABLE wide", "FORMAT "+string(format)), layout: rowfile.Layout{Format: format, Header: rowfile.NoHeader}, wish: rowPagesWish(notLogged), into: "loaded"}
				report := loadsPages(t, uri, c)
				sameContents(t, uri, "SELECT w::text FROM wide w", uri, "SELECT l::text FROM loaded l")
				if report.Rows != 601 {
					t.Errorf("%d rows are reported", report.Rows)
				}
				clustertest.Exec(t, uri, "UPDATE loaded SET id = id + 10000 WHERE id % 3 = 0", "VACUUM (FREEZE) loaded", "INSERT INTO loaded TABLE wide ON CONFLICT DO NOTHING")
				soundPages(t, uri, "loaded", false, false)
			})
		}
	}
}

// seedRows writes rows of the seed table as CSV.
func seedRows(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d,2024-%02d-%02d,%d,text%d\n", i, i%12+1, i%28+1, i*7%100000, i%1000)
	}
	return b.String()
}

func TestLoadedPagesAreInTheOrderOfTheInput(t *testing.T) {
	const rows = 60000
	content := seedRows(rows)
	for fill, checksums := range map[int]bool{100: false, 50: true} {
		t.Run(fmt.Sprintf("fillfactor %d, checksums %v", fill, checksums), func(t *testing.T) {
			t.Parallel()
			s := clustertest.Private(t, &cluster.Options{Settings: map[string]string{"fsync": "on"}})
			if checksums && !giveChecksums(t, s) {
				return
			}
			uri := clustertest.DatabaseOn(t, s)
			callJudges(t, uri)
			clustertest.Exec(t, uri, fmt.Sprintf("CREATE TABLE seed (id bigint PRIMARY KEY, d date NOT NULL, n int CHECK (n >= 0), v varchar(10)) WITH (fillfactor = %d)", fill), "CREATE INDEX ON seed (v)")
			report := loadsPages(t, uri, &loadCase{content: content, layout: csvLayout, wish: rowPagesWish(checksums), into: "seed"})
			if report.Rows != rows || report.Load.Read != rows {
				t.Errorf("%d rows of %d are reported", report.Rows, report.Load.Read)
			}
			if odd := clustertest.Query(t, uri, "SELECT count(*) FROM (SELECT id, row_number() OVER (ORDER BY ctid) - 1 AS n FROM seed) s WHERE id <> n"); odd != "0" {
				t.Errorf("%s rows are out of order", odd)
			}
			clustertest.Exec(t, uri, fmt.Sprintf("CREATE TABLE copied (LIKE seed INCLUDING ALL) WITH (fillfactor = %d)", fill), "INSERT INTO copied TABLE seed")
			full := clustertest.Query(t, uri, "SELECT pg_relation_size('seed') * 100 / pg_relation_size('copied')")
			if len(full) == 3 && full > "102" || len(full) < 3 && full < "98" {
				t.Errorf("the table takes %s %% of what it does when the server fills it", full)
			}
			if err := s.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := s.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := clustertest.Query(t, uri, "SELECT count(*) || '|' || sum(id) FROM seed"); n != fmt.Sprintf("%d|%d", rows, rows*(rows-1)/2) {
				t.Errorf("after a crash there are %s", n)
			}
		})
	}
}

func TestLoadedPagesMoveLongValues(t *testing.T) {
	uri := clustertest.Database(t)
	callJudges(t, uri)
	lz4 := clustertest.Query(t, uri, "SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression'") == "t"
	clustertest.Exec(t, uri, "CREATE TABLE long (id int PRIMARY KEY, x text, e text, m text, p text, l text)", "ALTER TABLE long ALTER e SET STORAGE EXTERNAL, ALTER m SET STORAGE MAIN, ALTER p SET STORAGE PLAIN")
	if lz4 {
		clustertest.Exec(t, uri, "ALTER TABLE long ALTER l SET COMPRESSION lz4")
	}
	random := rand.New(rand.NewPCG(3, 4))
	text := func(most int) string {
		n := random.IntN(most)
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('a' + random.IntN(26))
		}
		if random.IntN(2) == 0 {
			b = bytes.Repeat(b[:len(b)/20], 20)
		}
		return string(b)
	}
	var b strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&b, "%d,%s,%s,%s,%s,%s\n", i, text(3000+i*i%50000), text(5000), text(3000), text(1000), text(20000))
	}
	for _, notLogged := range []bool{false, true} {
		into := "long" + fmt.Sprint(len(formName(notLogged)))
		clustertest.Exec(t, uri, "CREATE TABLE "+into+" (LIKE long INCLUDING ALL)")
		loadsPages(t, uri, &loadCase{content: b.String(), layout: csvLayout, wish: rowPagesWish(notLogged), into: into})
		if into == "long6" {
			c, err := pgx.Connect(t.Context(), uri)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.PgConn().CopyFrom(t.Context(), strings.NewReader(b.String()), "COPY long FROM STDIN (FORMAT csv)"); err != nil {
				t.Fatal(err)
			}
			_ = c.Close(t.Context())
		}
		sameContents(t, uri, "SELECT l::text FROM long l", uri, "SELECT l::text FROM "+into+" l")
		if n := clustertest.Query(t, uri, "SELECT pg_total_relation_size('"+into+"') * 100 / pg_total_relation_size('long')"); len(n) > 3 || len(n) == 3 && n > "110" {
			t.Errorf("%s takes %s %% of what COPY makes", into, n)
		}
		clustertest.Exec(t, uri, "UPDATE "+into+" SET id = -id, e = e || 'x' WHERE id % 2 = 1", "INSERT INTO "+into+" SELECT id + 5000, x || 'y', e, m, p, l FROM long", "VACUUM (FREEZE) "+into)
		soundPages(t, uri, into, false, false)
	}
}

// TestLoadedPagesSetAside compares with what one COPY for each row does.
func TestLoadedPagesSetAside(t *testing.T) {
	const table = `(id int PRIMARY KEY, day date NOT NULL, amount numeric(6,2) CHECK (amount > 0), code varchar(5), g grade, u int, CONSTRAINT "Odd ""name" CHECK (code <> 'odd' OR day > '2000-01-01'))`
	for _, c := range []struct{ rows, every int }{{700, 4}, {6000, 60}, {3000, 1 << 40}} {
		t.Run(fmt.Sprintf("%d rows", c.rows), func(t *testing.T) {
			t.Parallel()
			uri := clustertest.Database(t)
			callJudges(t, uri)
			clustertest.Exec(t, uri, "CREATE DOMAIN base AS int CHECK (VALUE <> 5)", "CREATE DOMAIN grade AS base NOT NULL CONSTRAINT low CHECK (VALUE < 7)", "CREATE TABLE loaded "+table, "CREATE TABLE expected "+table,
				"CREATE UNIQUE INDEX ON loaded ((u / 2), code) WHERE u > 10", "CREATE UNIQUE INDEX ON expected ((u / 2), code) WHERE u > 10")
			lines := pickyLines(rand.New(rand.NewPCG(9, uint64(c.rows))), c.rows, c.every)
			want := oneByOne(t, uri, "expected", lines)
			wish := setAsideWish()
			wish.Method = planner.Pages
			report, rejected, err := loaded(t, uri, &loadCase{content: strings.Join(lines, ""), layout: csvLayout, wish: wish, into: "loaded"})
			if err != nil {
				t.Fatal(spelled(err))
			}
			got := strings.SplitAfter(rejected, "\n")
			got = got[:len(got)-1]
			slices.Sort(got) // Rows that constraints refuse come last.
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%d rows were refused, one by one %d:\n%s", len(got), len(want), firstDifference(got, want))
			}
			sameContents(t, uri, "SELECT l::text FROM loaded l", uri, "SELECT e::text FROM expected e")
			soundPages(t, uri, "loaded", false, false)
			if report.Load.Refused != int64(len(want)) || report.Load.Read != int64(c.rows) || report.Rows != int64(c.rows-len(want)) {
				t.Errorf("the report counts %d of %d rows refused, %d loaded", report.Load.Refused, report.Load.Read, report.Rows)
			}
		})
	}
}

// pickyLines are rows of which about one in every is refused.
func pickyLines(r *rand.Rand, n, every int) []string {
	lines := make([]string, n)
	for i := range lines {
		id, day, amount, code, grade, u := fmt.Sprint(i+1), "2024-02-03", "1.50", "abc", fmt.Sprint(r.IntN(5)), 2*i
		if i%1000 == 500 { // whose key row 497 has, and no other row has its other key
			u -= 6
		}
		if i%1000 != 501 && r.IntN(every) == 0 {
			switch r.IntN(12) {
			case 0:
				id = "x" + id
			case 1:
				id = fmt.Sprint(max(1, i))
			case 2:
				day = ""
			case 3:
				day = "2024-02-30"
			case 4:
				amount = "-1"
			case 5:
				amount = "12345.67"
			case 6:
				code = "too long"
			case 7:
				code, day = "odd", "1999-01-01"
			case 8:
				grade += ",7,8"
			case 9:
				grade = "5"
			case 10:
				grade = ""
			case 11:
				grade = "7"
			}
		}
		lines[i] = strings.Join([]string{id, day, amount, code, grade, fmt.Sprint(u)}, ",") + "\n"
	}
	return lines
}

func TestLoadedPagesDropDuplicates(t *testing.T) {
	uri := clustertest.Database(t)
	content := "1,a\n2,b\n1,c\n3,d\n2,e\n1,f\n"
	for _, c := range []struct {
		how            planner.OnDuplicate
		want, rejected string
	}{
		{planner.DuplicateSkip, "1|a\n2|b\n3|d", ""}, {planner.DuplicateKeepNew, "1|f\n2|e\n3|d", ""}, {planner.DuplicateKeepOld, "1|a\n2|b\n3|d", "1,c\n2,e\n1,f\n"},
	} {
		table := "kept_" + strings.ReplaceAll(string(c.how), "-", "_")
		clustertest.Exec(t, uri, "CREATE TABLE "+table+" (id int PRIMARY KEY, v text)")
		wish := rowPagesWish(false)
		wish.OnDuplicate = c.how
		report, rejected, err := loaded(t, uri, &loadCase{content: content, layout: csvLayout, wish: wish, into: table})
		if err != nil {
			t.Fatal(c.how, spelled(err))
		}
		if got := clustertest.Query(t, uri, "SELECT * FROM "+table+" ORDER BY id"); got != c.want || rejected != c.rejected || report.Load.Duplicates != 3 || report.Load.Refused != 0 || report.Rows != 3 {
			t.Errorf("%s: %q, rejected %q, %d duplicates, %d refused, %d rows", c.how, got, rejected, report.Load.Duplicates, report.Load.Refused, report.Rows)
		}
	}
}

// TestLoadedPagesAskTheServer has values that only the server can read.
func TestLoadedPagesAskTheServer(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE days (id int, d date, z timestamptz)")
	content := "1,tomorrow,2024-01-01 00:00 Europe/Berlin\n2,2024-02-03,2024-07-01 00:00 America/New_York\n3,,\n"
	loadsPages(t, uri, &loadCase{content: content, layout: csvLayout, wish: rowPagesWish(true), into: "days"})
	if got := clustertest.Query(t, uri, "SELECT id, d - current_date, z AT TIME ZONE 'UTC' FROM days WHERE id <> 2 OR d = '2024-02-03'"); got != "1|1|2023-12-31 23:00:00\n2|"+
		clustertest.Query(t, uri, "SELECT date '2024-02-03' - current_date")+"|2024-07-01 04:00:00\n3||" {
		t.Errorf("the rows are %q", got)
	}
	clustertest.Exec(t, uri, "TRUNCATE days")
	_, _, err := loaded(t, uri, &loadCase{content: content + "4,tomorrow,nowhere/Nowhere\n", layout: csvLayout, wish: rowPagesWish(true), into: "days"})
	if err == nil || !strings.Contains(spelled(err), "Line 4 of") && !strings.Contains(spelled(err), "line 4 of") {
		t.Errorf("the error is %s", spelled(err))
	}
	wish := setAsideWish()
	wish.Method = planner.Pages
	report, rejected, err := loaded(t, uri, &loadCase{content: "0,today,2024-01-01 00:00 Nowhere\n" + content + "4,tomorrow,2024-01-01 00:00 No/where\n5,2024-02-30,\n", layout: csvLayout, wish: wish, into: "days"})
	if err != nil || report.Rows != 3 || rejected != "0,today,2024-01-01 00:00 Nowhere\n4,tomorrow,2024-01-01 00:00 No/where\n5,2024-02-30,\n" {
		t.Errorf("%q was put aside, %v", rejected, err)
	}
}

func TestLoadedPagesNameWhatIsWrong(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE DOMAIN even AS int CHECK (VALUE % 2 = 0)", "CREATE TABLE strict (id int UNIQUE, n even, v text CONSTRAINT short CHECK (length(v) < 1000))", "CREATE TABLE odd (id int, p point, q tsvector)",
		"CREATE TABLE wide (a text, b text)", "ALTER TABLE wide ALTER a SET STORAGE PLAIN, ALTER b SET STORAGE PLAIN")
	for _, c := range []struct {
		into, content string
		words         []string
	}{
		{"strict", "", nil},
		{"strict", "1,2,a\n2,3,b\n", []string{`value for domain public.even violates check constraint "even_check"`, "ine 2 of"}},
		{"strict", "1,2,a\n2,4," + strings.Repeat("x", 1000) + "\n", []string{`violates check constraint "short"`, "ine 2 of"}},
		{"strict", "1,2,a\n\"x\",4,b\n", []string{"invalid input syntax for type integer", "ine 2 of"}},
		{"strict", "1,2,a\n1,4,b\n", []string{`duplicate key value violates unique constraint "strict_id_key"`, "Key (id)=(1) is duplicated"}},
		{"odd", "1,\"(1,2)\",a\n", []string{"method pages", "q: type tsvector"}},
		{"wide", strings.Repeat("a", 5000) + "," + strings.Repeat("b", 5000) + "\n", []string{"row is too big: size 10032, maximum size 8160", "ine 1 of"}},
		{"wide", "a," + strings.Repeat("b", 9<<20) + "\n", []string{"has more than 8 MB", "Load without --method pages"}},
	} {
		_, _, err := loaded(t, uri, &loadCase{content: c.content, layout: csvLayout, wish: rowPagesWish(true), into: c.into})
		if (err == nil) != (c.words == nil) {
			t.Fatalf("%s: the load ends with %v", c.into, err)
		}
		for _, w := range c.words {
			if !strings.Contains(spelled(err), w) {
				t.Errorf("%s: %q is not in: %s", c.into, w, spelled(err))
			}
		}
		if n := clustertest.Query(t, uri, "SELECT count(*) FROM "+c.into); n != "0" {
			t.Errorf("%s has %s rows after a failed load", c.into, n)
		}
	}
	if left := clustertest.Query(t, uri, "SELECT string_agg(relname, ', ') FROM pg_class WHERE relname LIKE '%pghaul%'"); left != "" {
		t.Errorf("%s are left behind", left)
	}
}

// TestLoadedPagesLeaveNoFiles has a load fail while it writes: neither the table nor the files stay.
func TestLoadedPagesLeaveNoFiles(t *testing.T) {
	s := clustertest.Private(t, nil)
	uri := clustertest.DatabaseOn(t, s)
	clustertest.Exec(t, uri, "CREATE TABLE seed (id bigint, d date, n int, v varchar(10))")
	directory := s.Dir() + "/" + clustertest.Query(t, uri, "SELECT regexp_replace(pg_relation_filepath('seed'), '/[^/]*$', '')")
	before := files(t, directory)
	_, _, err := loaded(t, uri, &loadCase{content: seedRows(100000) + "last,,,\n", layout: csvLayout, wish: rowPagesWish(true), into: "seed"})
	if err == nil || !strings.Contains(spelled(err), "ine 100001 of") {
		t.Fatal(spelled(err))
	}
	clustertest.Exec(t, uri, "CHECKPOINT")
	if after := files(t, directory); after != before {
		t.Errorf("there are %d files and not %d", after, before)
	}
}

// files counts the relation files of a directory.
func files(t *testing.T, directory string) int {
	t.Helper()
	all, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range all {
		if info, err := f.Info(); err == nil && info.Size() > 0 && f.Name()[0] >= '1' && f.Name()[0] <= '9' {
			n++
		} else if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return n
}

// TestLoadedPagesReadTheInputAgain puts rows aside that only the table refuses, of several files and of what is compressed.
func TestLoadedPagesReadTheInputAgain(t *testing.T) {
	uri := clustertest.Database(t)
	const rows = 40000
	var want []string
	var paths []string
	dir := t.TempDir()
	for n := range 3 {
		var b bytes.Buffer
		for i := range rows {
			line := fmt.Sprintf("%d,%d,%s\n", n*rows+i, i%10007, strings.Repeat("v", i%60))
			if i%10007 == 77 {
				want = append(want, line)
			}
			b.WriteString(line)
		}
		path := fmt.Sprintf("%s/%d", dir, n)
		content := b.Bytes()
		if n == 1 {
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			_, err := w.Write(content)
			if err = errors.Join(err, w.Close()); err != nil {
				t.Fatal(err)
			}
			content = packed.Bytes()
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	clustertest.Exec(t, uri, "CREATE TABLE many (id int PRIMARY KEY, n int CHECK (n <> 77), v text)")
	wish := setAsideWish()
	wish.Method, wish.Ordered = planner.Pages, true
	report, rejected, err := loadedFiles(t, uri, paths, &loadCase{layout: csvLayout, wish: wish, into: "many"})
	if err != nil {
		t.Fatal(spelled(err))
	}
	if rejected != strings.Join(want, "") || report.Rows != 3*rows-int64(len(want)) {
		t.Errorf("put aside was %q instead of %q; %d rows", rejected, want, report.Rows)
	}
	if n := clustertest.Query(t, uri, "SELECT count(*) || '|' || sum(id) FROM many"); n != clustertest.Query(t, uri, fmt.Sprintf("SELECT count(*) || '|' || sum(i) FROM generate_series(0, %d) i WHERE i %% %d %% 10007 <> 77", 3*rows-1, rows)) {
		t.Errorf("the table has %s", n)
	}
}

func TestLoadedPagesOfAnInputThatPasses(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE passing (id int CHECK (id > 0))")
	for _, aside := range []bool{true, false} {
		wish := rowPagesWish(false)
		if aside {
			wish.OnError, wish.MaxErrors = planner.SetRowsAside, -1
		}
		open := func(ctx context.Context, columns []string, _ bool) (rowfile.Rows, []NewColumn, error) {
			l := csvLayout
			l.Columns = columns
			rows, err := rowfile.Open(ctx, []string{"-"}, strings.NewReader("1\n2\n"), l)
			return rows, nil, err
		}
		m, err := OpenLoad(t.Context(), LoadRequest{Target: uri, Into: "passing", Open: open, Wish: wish})
		if err == nil {
			_, err = m.Run(t.Context())
			m.Close()
		}
		if aside != (err != nil) || aside && !strings.Contains(spelled(err), "cannot be read a second time") {
			t.Errorf("set aside %v: %s", aside, spelled(err))
		}
	}
}

func TestLoadedPagesReachStandbys(t *testing.T) {
	t.Parallel()
	primary := clustertest.Private(t, nil)
	live := clustertest.DatabaseOn(t, primary)
	clustertest.Exec(t, live, "CREATE TABLE seed (id bigint PRIMARY KEY, d date, n int, v text)")
	copied := standby(t, primary, live)
	content := seedRows(20000) + "-1,2024-01-01,1," + strings.Repeat("long and even ", 100000) + "\n"
	if _, _, err := loaded(t, live, &loadCase{content: content, layout: csvLayout, wish: rowPagesWish(false), into: "seed"}); err != nil {
		t.Fatal(spelled(err))
	}
	clustertest.Exec(t, live, "CREATE TABLE last ()")
	until(t, "the standby is as far as its primary", time.Minute, func() bool {
		return clustertest.Query(t, copied, "SELECT count(*) FROM pg_class WHERE relname = 'last'") == "1"
	})
	sameContents(t, live, "TABLE seed", copied, "TABLE seed")
	clustertest.Exec(t, live, "TRUNCATE seed")
	wish := rowPagesWish(true)
	wish.AcceptMissing = false
	if _, _, err := loaded(t, live, &loadCase{content: content, layout: csvLayout, wish: wish, into: "seed"}); err == nil || !strings.Contains(spelled(err), "a standby or another receiver of the WAL is connected") {
		t.Errorf("the error is %s", spelled(err))
	}
}

func TestLoadedPagesMakeTheirTable(t *testing.T) {
	uri := clustertest.Database(t)
	callJudges(t, uri)
	for _, fill := range []planner.Fill{planner.RequireEmpty, planner.Truncate, planner.Replace} {
		wish := rowPagesWish(false)
		wish.Create, wish.Fill = fill == planner.RequireEmpty, fill
		report := loadsPages(t, uri, &loadCase{content: seedRows(3000), layout: csvLayout, wish: wish, into: "fresh", columns: []NewColumn{{"id", "bigint"}, {"d", "date"}, {"n", "int"}, {"v", "text"}}})
		if n := clustertest.Query(t, uri, "SELECT count(*) || '|' || sum(id) || '|' || max(v) FROM fresh"); n != "3000|4498500|text999" || report.Rows != 3000 {
			t.Errorf("the table has %s, %d are reported", n, report.Rows)
		}
	}
}

// TestLoadedPagesWithoutRows has whole groups of pages that hold nothing.
func TestLoadedPagesWithoutRows(t *testing.T) {
	uri := clustertest.Database(t)
	callJudges(t, uri)
	clustertest.Exec(t, uri, "CREATE TABLE sparse (id int, v text CHECK (v <> 'no'))")
	var b strings.Builder
	for i := range 300000 {
		if i%100000 == 50000 {
			fmt.Fprintf(&b, "%d,no\n%d,yes\n", i, i+1)
		}
		fmt.Fprintf(&b, "x%d,refused here\n", i)
	}
	wish := setAsideWish()
	wish.Method = planner.Pages
	report, rejected, err := loaded(t, uri, &loadCase{content: b.String(), layout: csvLayout, wish: wish, into: "sparse"})
	if err != nil || report.Rows != 3 || strings.Count(rejected, "\n") != 300003 || !strings.HasSuffix(rejected, "50000,no\n150000,no\n250000,no\n") {
		t.Errorf("%d rows, %d put aside, %v", report.Rows, strings.Count(rejected, "\n"), err)
	}
	if got := clustertest.Query(t, uri, "SELECT * FROM sparse"); got != "50001|yes\n150001|yes\n250001|yes" {
		t.Errorf("the table has %q", got)
	}
	soundPages(t, uri, "sparse", false, false)
}
