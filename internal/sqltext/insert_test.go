package sqltext

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// trusted are the options of a session in which all is recognised.
var trusted = LexFor("UTF8", "UTF8", "on")

// show writes an Insert in one line.
func show(i *Insert, not *NotInsert) string {
	if not != nil {
		return "not: " + not.Reason
	}
	var b strings.Builder
	if i.Schema != "" {
		b.WriteString(i.Schema + " ")
	}
	b.WriteString(i.Table)
	if i.Columns != nil {
		fmt.Fprintf(&b, " %q", i.Columns)
	}
	i.Values(func(_, column int, v Value) bool {
		if column == 0 {
			b.WriteString(" |")
		}
		b.WriteString(" " + showValue(v))
		return true
	})
	return b.String()
}

func showValue(v Value) string {
	switch v.Kind {
	case Param:
		return fmt.Sprintf("$%d", v.Parameter)
	case String:
		return fmt.Sprintf("%q", v.Text)
	case Number:
		return fmt.Sprintf("%s%c", v.Text, "ids"[v.Form])
	}
	return [...]string{Null: "null", True: "true", False: "false", Default: "default"}[v.Kind]
}

type insertTest struct{ sql, want string }

func TestParseInsert(t *testing.T) {
	checkInserts(t, []insertTest{
		{"INSERT INTO t VALUES (1)", "t | 1i"},
		{"insert into public.t (id, test) values ($1, $2), ($3, $4)", `public t ["id" "test"] | $1 $2 | $3 $4`},
		{`/*a/*b*/*/InSeRt--x` + "\n" + `iNtO"S""x".SELECT("É",b)VaLuEs('a',nUlL);;  ; -- end`, `S"x select ["É" "b"] | "a" null`},
		{"\t\r\n\fINSERT\rINTO\fT1$é\nVALUES\t(TRUE,FALSE,DEFAULT)", "t1$é | true false default"},
		{"insert into values(values)values(values)", "not: expression"},
		{"insert into values(values)values(1)", `values ["values"] | 1i`},
		{`insert into t values ('', '''', 'it''s', 'a\b', 'a'` + "\n" + `'b''c' --'` + "\n\t" + `'d')`, `t | "" "'" "it's" "a\\b" "ab'cd"`},
		{`insert into t values (E'\b\f\n\r\t\\\q\101\1018\x41\x4g\x4142\xg\u00e9\U0001F418\ud83d\udc18''', e'a'` + "\r" + `'\x62')`,
			`t | "\b\f\n\r\t\\qAA8A\x04gA42xgé🐘🐘'" "ab"`},
		{`insert into t values (E'\303\251\xc3\xA9', E'\é', E'é\351\251')`, "not: unsafe literal"},
		{`insert into t values (E'\303\251\xc3\xA9', E'\é')`, `t | "éé" "é"`},
		{`insert into t values ($$a'b\$$, $x$$$ $y$ $x$, $$ $ $$)`, `t | "a'b\\" "$$ $y$ " " $ "`},
		{`insert into t values (1., .5, 1.e5, 1e+05, 007, -1, - /**/ 2.50, -0.00, - 0, -0e5)`, "t | 1.d .5d 1.e5s 1e+05s 007i -1i -2.50d 0.00d 0i 0e5s"},
		{"insert into t values ($01, $65535)", "t | $1 $65535"},
		{"insert into t values (1) -- select 1", "t | 1i"},
	})
}

func TestParseInsertOtherStatements(t *testing.T) {
	checkInserts(t, []insertTest{
		{"", "not: no INSERT"},
		{"select 1", "not: no INSERT"},
		{"; insert into t values (1)", "not: no INSERT"},
		{"inserted into t values (1)", "not: no INSERT"},
		{"/* insert into t values (1)", "not: no INSERT"},
		{"with x as (select 1) insert into t values (1)", "not: WITH"},
		{"insert t values (1)", "not: syntax"},
		{"insert into t", "not: syntax"},
		{"insert into t values", "not: syntax"},
		{"insert into t values (1", "not: syntax"},
		{"insert into t values ()", "not: expression"},
		{"insert into t values (1),", "not: syntax"},
		{"insert into t values (1), (2, 3)", "not: syntax"},
		{"insert into t (a) values (1, 2)", "not: syntax"},
		{"insert into t (a, b) values (1)", "not: syntax"},
		{"insert into t (a b) values (1, 2)", "not: syntax"},
		{"insert into t () values (1)", "not: name"},
		{"insert into t (a, a) values (1, 2)", "not: name"},
		{"insert into t (a, \"A\", A) values (1, 2, 3)", "not: name"},
		{"insert into user values (1)", "not: name"},
		{"insert into d.s.t values (1)", "not: name"},
		{`insert into U&"t" values (1)`, "not: name"},
		{`insert into "" values (1)`, "not: name"},
		{`insert into "t values (1)`, "not: name"},
		{"insert into " + strings.Repeat("x", 64) + " values (1)", "not: name"},
		{`insert into "` + strings.Repeat("é", 32) + `" values (1)`, "not: name"},
		{"insert into t (a.b) values (1)", "not: subcolumn"},
		{"insert into t (a[1]) values (1)", "not: subcolumn"},
		{"insert into t as x values (1)", "not: alias"},
		{"insert into t default values", "not: DEFAULT VALUES"},
		{"insert into t (a) overriding user value values (1)", "not: OVERRIDING"},
		{"insert into t select 1", "not: SELECT"},
		{"insert into t (select 1)", "not: SELECT"},
		{"insert into t ((select 1))", "not: SELECT"},
		{"insert into t (values (1))", "not: SELECT"},
		{"insert into t (a) (values (1))", "not: SELECT"},
		{"insert into t values (1) limit 1", "not: SELECT"},
		{"insert into t values (1) on conflict do nothing", "not: ON CONFLICT"},
		{"insert into t values (1) returning a", "not: RETURNING"},
		{"insert into t values (1); select 1", "not: several statements"},
		{"insert into t values (1) /*", "not: syntax"},
	})
}

func TestParseInsertOtherValues(t *testing.T) {
	checkInserts(t, []insertTest{
		{"insert into t values ('1'::int)", "not: cast"},
		{"insert into t values (1 + 1)", "not: expression"},
		{"insert into t values (+1)", "not: expression"},
		{"insert into t values (- -1)", "not: expression"},
		{"insert into t values (-'1')", "not: expression"},
		{"insert into t values (now())", "not: expression"},
		{"insert into t values ((1))", "not: expression"},
		{"insert into t values (date '2024-01-01')", "not: expression"},
		{"insert into t values ('a' 'b')", "not: expression"},
		{"insert into t values ('a'/**/\n'b')", "not: expression"},
		{"insert into t values ('a'\v\n'b')", "not: expression"},
		{"insert into t values (0x1f)", "not: expression"},
		{"insert into t values (1_000)", "not: expression"},
		{"insert into t values (1a)", "not: expression"},
		{"insert into t values (1..2)", "not: expression"},
		{"insert into t values (1e)", "not: syntax"},
		{"insert into t values ($0)", "not: syntax"},
		{"insert into t values ($1a)", "not: syntax"},
		{"insert into t values (1e301)", "not: too large"},
		{"insert into t values (" + strings.Repeat("1", 300) + ")", "not: too large"},
		{"insert into t values ($65536)", "not: too large"},
		{"insert into t values (1" + strings.Repeat(",1", 1600) + ")", "not: too large"},
		{"insert into t values (B'1')", "not: unsafe literal"},
		{"insert into t values (n'1')", "not: unsafe literal"},
		{"insert into t values (U&'1')", "not: unsafe literal"},
		{"insert into t values ('a", "not: unsafe literal"},
		{"insert into t values ($a$a$$)", "not: unsafe literal"},
		{"insert into t values ($é$a$é$)", "not: unsafe literal"},
		{`insert into t values (E'\'')`, "not: unsafe literal"},
		{`insert into t values (E'\v')`, "not: unsafe literal"},
		{`insert into t values (E'\0')`, "not: unsafe literal"},
		{`insert into t values (E'\400')`, "not: unsafe literal"},
		{`insert into t values (E'\x00')`, "not: unsafe literal"},
		{`insert into t values (E'\xe9')`, "not: unsafe literal"},
		{`insert into t values (E'\u0000')`, "not: unsafe literal"},
		{`insert into t values (E'\u12')`, "not: unsafe literal"},
		{`insert into t values (E'\ud83d')`, "not: unsafe literal"},
		{`insert into t values (E'\ud83d\u0041')`, "not: unsafe literal"},
		{`insert into t values (E'\udc18')`, "not: unsafe literal"},
		{`insert into t values (E'\U00110000')`, "not: unsafe literal"},
		{`insert into t values (E'\UFFFFFFFF')`, "not: unsafe literal"},
		{"insert into t values ('\xff')", "not: invalid text"},
		{"insert into t values ('a\x00')", "not: invalid text"},
	})
}

func checkInserts(t *testing.T, tests []insertTest) {
	t.Helper()
	for _, tt := range tests {
		if got := show(ParseInsert([]byte(tt.sql), trusted)); got != tt.want {
			t.Errorf("%.100s:\n got %s\nwant %s", tt.sql, got, tt.want)
		}
	}
}

func TestReasons(t *testing.T) {
	reasons := Reasons()
	for _, want := range []string{"no INSERT", "ON CONFLICT", "RETURNING", "WITH", "OVERRIDING", "expression", "SELECT",
		"DEFAULT VALUES", "several statements", "cast", "unsafe literal", "too large", "alias"} {
		if !slices.Contains(reasons, want) {
			t.Errorf("no reason %q", want)
		}
	}
	slices.Sort(reasons)
	if n := len(reasons); n != len(slices.Compact(reasons)) {
		t.Errorf("a reason is there twice: %q", reasons)
	}
}

func TestLexOptions(t *testing.T) {
	plain, backslash := "insert into t values ('é')", `insert into t values ('\')`
	high, escaped := `insert into t values (E'\351')`, `insert into t values (E'\n')`
	tests := []struct {
		client, server, standard string
		sql, want                string
	}{
		{"SJIS", "UTF8", "on", plain, "not: unsafe encoding"},
		{"GB18030", "UTF8", "on", plain, "not: unsafe encoding"},
		{"", "", "", plain, "not: unsafe encoding"},
		{"LATIN1", "UTF8", "on", "insert into t values ('\xe9')", `t | "\xe9"`},
		{"LATIN1", "LATIN1", "on", "insert into t values ('\xe9')", `t | "\xe9"`},
		{"LATIN1", "LATIN1", "on", high, "not: unsafe literal"},
		{"LATIN1", "UTF8", "on", escaped, `t | "\n"`},
		{"UTF8", "LATIN1", "on", `insert into t values (E'\u00e9')`, "not: unsafe literal"},
		{"UTF8", "LATIN1", "on", "insert into é values (1)", "not: name"},
		{"UTF8", "LATIN1", "on", `insert into "é" values (1)`, "not: name"},
		{"SQL_ASCII", "UTF8", "on", plain, `t | "é"`},
		{"SQL_ASCII", "UTF8", "on", "insert into t values ('\xe9')", "not: invalid text"},
		{"UTF8", "UTF8", "off", plain, `t | "é"`},
		{"UTF8", "UTF8", "off", escaped, `t | "\n"`},
		{"UTF8", "UTF8", "off", backslash, "not: unsafe literal"},
		{"UTF8", "UTF8", "on", backslash, `t | "\\"`},
	}
	for _, tt := range tests {
		o := LexFor(tt.client, tt.server, tt.standard)
		if got := show(ParseInsert([]byte(tt.sql), o)); got != tt.want {
			t.Errorf("%s, %s, %s: %q: got %s, want %s", tt.client, tt.server, tt.standard, tt.sql, got, tt.want)
		}
	}
}

func TestInsertSummary(t *testing.T) {
	tests := []struct {
		values     string
		parameters int
		ordered    bool
		kinds      []Kind
	}{
		{"($1, $2), ($3, $4)", 4, true, []Kind{Param}},
		{"($1, $3), ($2, $4)", 4, false, []Kind{Param}},
		{"($2, $3)", 3, false, []Kind{Param}},
		{"($1, $2), ($3, 4)", 3, false, []Kind{Param, Number}},
		{"(1, 'x'), (null, default), (true, false)", 0, false, []Kind{Number, String, Null, Default, True, False}},
	}
	for _, tt := range tests {
		i, not := ParseInsert([]byte("insert into t values "+tt.values), trusted)
		if not != nil {
			t.Fatal(not)
		}
		if i.Parameters != tt.parameters || i.Ordered != tt.ordered || i.Width != 2 || i.Rows != strings.Count(tt.values, "(") {
			t.Errorf("%s: parameters %d, ordered %t, %d rows of %d", tt.values, i.Parameters, i.Ordered, i.Rows, i.Width)
		}
		for k := Null; k <= Number; k++ {
			if i.Has(k) != slices.Contains(tt.kinds, k) {
				t.Errorf("%s: Has(%d) is %t", tt.values, k, i.Has(k))
			}
		}
	}
}

func TestValuesStopsAndRepeats(t *testing.T) {
	i, _ := ParseInsert([]byte("insert into t values (1, 2), (3, 4)"), trusted)
	for want := 1; want <= 4; want++ {
		n := 0
		i.Values(func(int, int, Value) bool { n++; return n < want })
		if n != want {
			t.Errorf("visited %d, wanted to stop after %d", n, want)
		}
	}
}

func TestValuesDoNotAllocate(t *testing.T) {
	for name, sql := range benchmarkStatements {
		i, not := ParseInsert([]byte(sql), trusted)
		if not != nil {
			t.Fatal(name, not)
		}
		total := 0
		visit := func(_, _ int, v Value) bool { total += len(v.Text); return true }
		i.Values(visit) // makes the buffer
		if n := testing.AllocsPerRun(3, func() { i.Values(visit) }); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// TestLinearTime gives texts on which careless scanning takes time that grows
// with the square of their length: these would then take minutes.
func TestLinearTime(t *testing.T) {
	const n = 1 << 19
	began := time.Now()
	for name, sql := range map[string]string{
		"open comments":    "insert into t values (1" + strings.Repeat("/*", n),
		"closed comments":  "insert into t values (1" + strings.Repeat("/*", n/2) + strings.Repeat("*/", n/2) + ")",
		"quotes":           "insert into t values ('" + strings.Repeat("''", n),
		"continuations":    "insert into t values ('" + strings.Repeat("'\n'", n/2) + "')",
		"broken off":       "insert into t values ('" + strings.Repeat("'\n'", n/2) + "' x",
		"backslashes":      "insert into t values (E'" + strings.Repeat(`\\`, n) + "')",
		"high escapes":     "insert into t values (E'" + strings.Repeat(`\303\251`, n/8) + "')",
		"escapes, pieces":  "insert into t values (E'" + strings.Repeat(`\303\251''`, n/8) + "')",
		"dollars":          "insert into t values ($a$" + strings.Repeat("$a", n),
		"dollar names":     "insert into t values (" + strings.Repeat("$a", n),
		"minus":            "insert into t values (" + strings.Repeat("- ", n),
		"digits":           "insert into t values (" + strings.Repeat("1", n) + ")",
		"parameters":       "insert into t values ($" + strings.Repeat("0", n) + "1)",
		"rows":             "insert into t values (1)" + strings.Repeat(",(1)", n/4),
		"unequal rows":     "insert into t values (1,2)" + strings.Repeat(",(1,2)", n/4) + ",(1)",
		"columns":          "insert into t (" + strings.Repeat("a,", n) + "b) values (1)",
		"semicolons":       "insert into t values (1)" + strings.Repeat(";", n) + "x",
		"white space":      "insert into t values (1 " + strings.Repeat("\n", n) + ")",
		"space in strings": "insert into t values ('a' " + strings.Repeat("--x\n", n/2) + ")",
	} {
		if i, not := ParseInsert([]byte(sql), trusted); not == nil {
			i.Values(func(int, int, Value) bool { return true })
		}
		if d := time.Since(began); d > 10*time.Second {
			t.Fatalf("%s: took %v", name, d)
		}
	}
}

func TestFirstWord(t *testing.T) {
	tests := []struct{ sql, want string }{
		{"select 1", "SELECT"}, {"", ""}, {"  ;; -- x\n/* y */ Begin;", "BEGIN"}, {"COMMIT", "COMMIT"}, {"commit;", "COMMIT"},
		{"(select 1)", ""}, {"/* open", ""}, {"savepoint a", "SAVEPOINT"}, {"ſet x = 1", ""}, {"insertx", ""}, {"insert$", ""},
		{"copy t from stdin", "COPY"}, {"averyveryverylongwordindeed", ""}, {"\vselect", ""}, {"SET/**/x=1", "SET"},
	}
	for _, tt := range tests {
		if got := FirstWord([]byte(tt.sql)); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.sql, got, tt.want)
		}
	}
	sql := []byte("/* pool */ select 1")
	if n := testing.AllocsPerRun(10, func() { FirstWord(sql) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
