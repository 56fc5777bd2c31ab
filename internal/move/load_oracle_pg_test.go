package move

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/internal/encode"
	"github.com/pghaul/pghaul/planner"
)

// verdict is the refusal of a row that stands in a line of its own or in several.
type verdict struct {
	Line  int64
	State string `json:"sqlstate"`
}

// serverVerdicts puts each row into the table by a COPY of its own, and returns the server's refusals.
func serverVerdicts(t *testing.T, uri, table string, rows []string) []verdict {
	t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, uri)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()
	var all []verdict
	line := int64(1)
	for _, row := range rows {
		_, err := c.PgConn().CopyFrom(ctx, strings.NewReader(row), "COPY "+table+" FROM STDIN (FORMAT csv)")
		var pg *pgconn.PgError
		switch {
		case err == nil:
		case errors.As(err, &pg):
			all = append(all, verdict{line, pg.Code})
		default:
			t.Fatal(err)
		}
		line += int64(strings.Count(row, "\n"))
	}
	return all
}

// fileVerdicts are those of a file of reasons.
func fileVerdicts(t *testing.T, report *TableReport) []verdict {
	t.Helper()
	if report.Load.ReasonsFile == "" {
		return nil
	}
	var all []verdict
	for line := range strings.Lines(readFile(t, report.Load.ReasonsFile)) {
		var v verdict
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

// oracleTexts are texts of values, by type: some that are good, some that are not, and some that only the server can read.
var oracleTexts = map[string][]string{
	"smallint":         {"0", "-32768", "32767", "32768", " 7 ", "+5", "1.5", "x", "", "-"},
	"integer":          {"2147483647", "-2147483648", "2147483648", "\t3", "3 4", "9999999999999", "NaN", "00012"},
	"bigint":           {"9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e3", "-0"},
	"real":             {"1.5", "nan", "-Infinity", "1e39", "1e-46", "0x", ".5", "5.", "1e", "infinity "},
	"double precision": {"1.7976931348623157e308", "1e309", "5e-324", "1e-400", "inf", "+inf", "-nan", "1_000"},
	"numeric":          {"1", "0.000", "-12345678901234567890.123456789", "NaN", "Infinity", "1e-20", "1e400", "1.2.3", "-", " 5 ", "1e999999"},
	"numeric(6,2)":     {"1234.567", "9999.994", "9999.995", "-0.001", "NaN", "infinity", "1e4"},
	"money":            {"1.23", "$1,234.56", "(1.00)", "-0.005", "x", "92233720368547758.08"},
	"boolean":          {"t", "TRUE", "of", "o", "yes", "2", " n ", "", "off"},
	"text":             {"", "plain", "with \"quotes\", commas\nand lines", "\\.", "\\N", "é€😀", "tab\there"},
	"varchar(3)":       {"abc", "abcd", "ab   ", "é€😀", "é€😀x", ""},
	"char(3)":          {"a", "abc", "abcd", "abc  ", "é", ""},
	`"char"`:           {"a", "", "ab", `\101`, "é"},
	"name":             {"abc", strings.Repeat("n", 70), strings.Repeat("é", 40)},
	"bytea":            {`\x00ff`, `\x0`, `\x0g`, `\\`, `\000\377`, `\400`, "plain", `\x 00 ff`, ""},
	"uuid":             {"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "{a0eebc999c0b4ef8bb6d6bb9bd380a11}", "a0eebc99", "A0EE-BC99-9C0B-4EF8-BB6D-6BB9-BD38-0A11", ""},
	"date":             {"2024-02-29", "2023-02-29", "tomorrow", "epoch", "infinity", "1/2/2024", "13/1/2024", "J2451187", "4714-11-24 BC", "4714-11-23 BC", "5874897-12-31", "5874898-01-01", "x", ""},
	"time":             {"12:34:56.789", "24:00:00", "24:00:01", "allballs", "now", "4:05 PM", "25:00", "12:00:60"},
	"time(2)":          {"12:34:56.785", "23:59:59.999"},
	"timetz":           {"12:00+02", "12:00 Europe/Berlin", "12:00", "12:00 PST", "now", "2024-07-01 12:00 Europe/Berlin"},
	"timestamp":        {"2024-01-01 00:00:00.1234565", "now", "-infinity", "20240101T101112", "2024-01-01 24:00", "294277-01-01", "2024-13-01", "yesterday 5:00", "Jan 5 2024 5PM"},
	"timestamptz":      {"2024-01-01 00:00+05:30", "2024-01-01 00:00 America/New_York", "2024-01-01 00:00 Mars/Base", "today", "2024-01-01T00:00:00Z", "2024-01-01 00:00 EST"},
	"timestamptz(0)":   {"2024-01-01 23:59:59.5+00", "2024-01-01 23:59:59.4999+00"},
	"interval":         {"1 day", "P1Y2M3DT4H5M6S", "1-2 3 4:05:06", "1.5 months", "ago", "1 fortnight", "-1 day +2:00", "", "178956970 years", "178956971 years"},
	"interval(0)":      {"1.5 seconds", "0.49999 s"},
	"json":             {`{"a": [1, 2.50, null]}`, `{"a": }`, "", `"\u0000"`, "\"a\nb\"", `nul`, `[1,]`},
	"jsonb":            {`{"b": 1, "a": 1.50, "a": 2}`, `"\u0000"`, `"\ud83d\ude00"`, `"\ud83d"`, `1e400000`, `{`, ``},
	"xml":              {"<a/>", "<a>", `<?xml version="1.0" encoding="LATIN1"?><a>é</a>`, "text", ""},
	"inet":             {"10.0.0.1", "10.0.0.1/8", "::1", "fe80::1/64", "10.0.0.256", "10.1", "1.2.3.4/33"},
	"cidr":             {"10.0.0.0/8", "10.0.0.1/8", "10", "::/0", "2001:db8::/32"},
	"macaddr":          {"08:00:2b:01:02:03", "0800.2b01.0203", "08002b010203", "08:00:2b:01:02", "zz:00:2b:01:02:03"},
	"macaddr8":         {"08:00:2b:01:02:03:04:05", "08002b:010203", "x"},
	"bit(3)":           {"101", "10", "B101", "xF", "102", "1010"},
	"varbit":           {"101", "", "x1F", "b01", "2"},
	"point":            {"(1,2)", "1, 2", "(1,2", "(nan,inf)", "1e309,0"},
	"box":              {"(1,2),(3,4)", "((3,4),(1,2))", "1,2,3,4", "(1,2)"},
	"lseg":             {"[(1,2),(3,4)]", "((1,2),(3,4))", "(1,2)"},
	"line":             {"{1,2,3}", "{0,0,3}", "[(1,2),(3,4)]", "[(1,2),(1,2)]"},
	"path":             {"[(1,2),(3,4)]", "((1,2),(3,4))", "[(1,2)", "[]"},
	"polygon":          {"((1,2),(3,4),(5,0))", "1,2,3,4", "()"},
	"circle":           {"<(1,2),3>", "1,2,3", "<(1,2),-1>"},
	"int[]":            {"{1,2,NULL}", "{}", "{{1,2},{3,4}}", "{{1,2},{3}}", "[0:1]={5,6}", "{1,x}", "{1", "", "{ 1 , 2 }"},
	"text[]":           {`{a,"b,c","d\"e",NULL,"NULL"}`, `{"a`, "{a}b", `{""}`, "{,}"},
	"date[]":           {"{2024-01-01,tomorrow}", "{2024-01-01,infinity}", "{2024-02-30}"},
	"int4range":        {"[1,5)", "(1,5]", "empty", "[5,1]", "(,)", "[1,2147483647]", "[x,2]", "", "[1,1)"},
	"numrange":         {"[1.5,2)", "(1.5,1.5)", "[,NaN]", "[2,1]"},
	"tstzrange":        {`["2024-01-01 00:00+00",)`, "[now,)", `["2024-01-01 00:00 Europe/Paris",]`, "[2025-01-01,2024-01-01]"},
	"int4multirange":   {"{}", "{[1,3),[2,5)}", "{[1,3), [7,9)}", "{[1", "{empty}", "{[3,1]}"},
	"oid":              {"1", "4294967295", "-1", "4294967296", "x"},
	"pg_lsn":           {"0/1", "FFFFFFFF/FFFFFFFF", "0/G", "1"},
	"tid":              {"(0,1)", "(4294967295,65535)", "(0,65536)", "0,1"},
	"xid":              {"5", "4294967295"},
	"xid8":             {"5", "18446744073709551615"},
	"tsvector":         {"'a':1A b:2", "a b a", "'", "a:0"},
	"tsquery":          {"a & b", "!a | (b <-> c)", "a &", ""},
	"jsonpath":         {"$.a[*] ? (@ > 1)", "$.", "lax $"},
	"regclass":         {"pg_class", "1259", "nothing_of_that_name", "-"},
	"mood":             {"happy", "sad", "Sad", "", `o"dd`},
	"positive":         {"1", "0", "-1", "x"},
	"short":            {"abc", "abcd", "xyz"},
	"pair":             {"(1,a)", `(1,"a,b")`, "(x,a)", "(1)", "(,)"},
	"pair[]":           {`{"(1,a)","(2,b)"}`, `{"(x,a)"}`},
	"mood[]":           {"{happy,sad}", "{glad}"},
	"positive[]":       {"{1,2}", "{0}"},
	"hstore":           {`a=>1, "b"=>NULL`, "a=>"},
	"citext":           {"AbC", ""},
	"int2vector":       {"1 2 3", "", "1 x"},
	"txid_snapshot":    {"10:20:10,14", "20:10:"},
}

// oracle is a table with a column of each type, and rows that each hold one text.
type oracle struct {
	table   string
	columns []string
	rows    []string // CSV, with all columns
	single  []string // CSV, with the number and the one column
	of      []string // the column of each row
}

func newOracle(table string, types []string) *oracle {
	o := &oracle{table: table}
	for i := range types {
		o.columns = append(o.columns, fmt.Sprint("c", i))
	}
	for i, typ := range types {
		for n, text := range oracleTexts[typ] {
			field := `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
			o.rows = append(o.rows, fmt.Sprintf("%d%s%s%s\n", 1000*i+n, strings.Repeat(",", i+1), field, strings.Repeat(",", len(types)-1-i)))
			o.single, o.of = append(o.single, fmt.Sprintf("%d,%s\n", 1000*i+n, field)), append(o.of, o.columns[i])
		}
	}
	return o
}

// sure are the rows that go in binary, and unsure those with a value that only the server can read: one of them makes its whole block text.
func (o *oracle) part(t *testing.T, uri string) (sure, unsure *oracle) {
	t.Helper()
	m, err := OpenLoad(t.Context(), LoadRequest{Target: uri, Into: o.table, Open: GivenRows(append([]string{"id"}, o.columns...), &countedRows{}, nil)})
	if err != nil {
		t.Fatal(spelled(err))
	}
	defer m.Close()
	l := m.tables[0].load
	encoders := l.encoders()
	sure, unsure = &oracle{table: o.table, columns: o.columns}, &oracle{table: o.table, columns: o.columns}
	for i, row := range o.single {
		to := sure
		column := slices.Index(o.columns, o.of[i]) + 1
		text := strings.ReplaceAll(row[strings.Index(row, ",")+2:len(row)-2], `""`, `"`)
		if encoders[column] == nil {
			to = unsure
		} else if _, err := encoders[column](nil, []byte(text)); errors.Is(err, encode.ErrUnsure) {
			to = unsure
		}
		to.rows, to.single, to.of = append(to.rows, o.rows[i]), append(to.single, row), append(to.of, o.of[i])
	}
	return sure, unsure
}

// ask loads the rows, and holds the refusals against the server's.
func (o *oracle) ask(t *testing.T, uri string) {
	t.Helper()
	var want []verdict
	line := int64(1)
	for i, row := range o.single {
		for _, v := range serverVerdicts(t, uri, o.table+"_copied (id, "+o.of[i]+")", []string{row}) {
			want = append(want, verdict{line, v.State})
		}
		line += int64(strings.Count(row, "\n"))
	}
	wish := setAsideWish()
	wish.Fill = planner.Append
	report, _, err := loaded(t, uri, csvCase(o.rows, o.table, wish))
	if err != nil {
		t.Fatal(spelled(err))
	}
	if got := fileVerdicts(t, report); !slices.Equal(got, want) {
		t.Errorf("refused %v, by COPY %v", got, want)
	}
}

// TestLoadOracle loads each text of each type, and wants of the table and of the refusals what COPY makes of them.
func TestLoadOracle(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE EXTENSION hstore", "CREATE EXTENSION citext", `CREATE TYPE mood AS ENUM ('happy', 'sad', 'o"dd')`,
		"CREATE DOMAIN positive AS int CHECK (VALUE > 0)", "CREATE DOMAIN short AS varchar(3) CHECK (VALUE <> 'xyz')", "CREATE TYPE pair AS (a int, b text)")
	readByServer := []string{"tsvector", "tsquery", "jsonpath", "regclass", "pair", "pair[]", "hstore", "int2vector", "txid_snapshot", "tid", "xid", "xid8", "pg_lsn", "positive[]"}
	var binary []string
	for _, typ := range slices.Sorted(maps.Keys(oracleTexts)) {
		if !slices.Contains(readByServer, typ) {
			binary = append(binary, typ)
		}
	}
	for table, types := range map[string][]string{"oracle_text": readByServer, "oracle_binary": binary} {
		var columns []string
		for i, typ := range types {
			columns = append(columns, fmt.Sprintf("c%d %s", i, typ))
		}
		clustertest.Exec(t, uri, fmt.Sprintf("CREATE TABLE %s (id int, %s); CREATE TABLE %[1]s_copied (LIKE %[1]s)", table, strings.Join(columns, ", ")))
		o := newOracle(table, types)
		if table == "oracle_text" {
			o.ask(t, uri)
		} else {
			sure, unsure := o.part(t, uri)
			sure.ask(t, uri)
			unsure.ask(t, uri)
			if len(unsure.rows) < 10 || len(sure.rows) < 10*len(unsure.rows) {
				t.Errorf("%d rows in binary, %d as text", len(sure.rows), len(unsure.rows))
			}
		}
		// What "now" means differs between the two by the time that passed, and is equal up to the day unless midnight lies between.
		var now []string
		for _, row := range o.single {
			if id, text, _ := strings.Cut(row, ","); strings.Contains(text, "now") {
				now = append(now, id)
			}
		}
		read := "SELECT CASE WHEN id IN (-1" + strings.Join(append([]string{""}, now...), ", ") + ") THEN regexp_replace(o::text, '[0-9]{2}:[0-9:.]+', 'x') ELSE o::text END FROM "
		sameContents(t, uri, read+table+" o", uri, read+table+"_copied o")
	}
}

// TestLoadUnsureRowsBetween has values that only the server reads among rows that go in binary, and refused rows of every kind around them.
func TestLoadUnsureRowsBetween(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	pad := strings.Repeat("x", 3000)
	var lines []string
	for i := range 1200 {
		day, v := "2024-05-06", "1"
		switch {
		case i >= 300 && i < 330 && i%3 == 0:
			day = "epoch"
		case i == 700:
			day = "infinity Europe/Berlin"
		case i == 320 || i == 905:
			v = "-1"
		case i == 316:
			day = "2024-02-30"
		case i == 325:
			v = "x"
		case i == 1100:
			day = "tomorrow"
		case i == 1101:
			v = "-7"
		}
		lines = append(lines, fmt.Sprintf("%d,%s,%s,\"%s\n%[4]s\"\n", i, day, v, pad[:i*2]))
	}
	clustertest.Exec(t, uri, "CREATE TABLE unsure (id int, day date, v int CHECK (v > 0), pad text); CREATE TABLE unsure_copied (LIKE unsure INCLUDING ALL)")
	want := serverVerdicts(t, uri, "unsure_copied", lines)
	report, rejected, err := loaded(t, uri, csvCase(lines, "unsure", setAsideWish()))
	if err != nil {
		t.Fatal(spelled(err))
	}
	if got := fileVerdicts(t, report); fmt.Sprint(got) != fmt.Sprint(want) || len(want) < 6 {
		t.Errorf("refused %v, by COPY %v", got, want)
	}
	if int64(strings.Count(rejected, "\n")) != 2*report.Load.Refused || report.Rows+report.Load.Refused != 1200 {
		t.Errorf("%d loaded, %d refused, %d lines in the file", report.Rows, report.Load.Refused, strings.Count(rejected, "\n"))
	}
	sameContents(t, uri, "SELECT * FROM unsure", uri, "SELECT * FROM unsure_copied")
	// Without setting rows aside the place of the first is told, wherever in the COPY statements it stands.
	for _, at := range []int{320, 905, 1101} {
		clean := append([]string(nil), lines...)
		for _, v := range want {
			if i := int(v.Line-1) / 2; i != at {
				clean[i] = "5,2024-05-06,1,\"\n\"\n"
			}
		}
		_, _, err := loaded(t, uri, csvCase(clean, "unsure", planner.LoadWish{Fill: planner.Truncate, MaxErrors: -1}))
		if place := fmt.Sprintf("ine %d of ", 2*at+1); err == nil || !strings.Contains(spelled(err), place) {
			t.Errorf("%q is not in %s", place, spelled(err))
		}
	}
}
