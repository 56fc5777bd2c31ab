package sqltext

import (
	"fmt"
	"strings"
	"testing"
)

func TestParsePrepare(t *testing.T) {
	tests := []struct{ sql, want string }{
		{"prepare p as insert into t values ($1)", "p: t | $1"},
		{`PREPARE "P" (int, numeric(1, 2)[], "x)".y%type /* ) */, timestamp with time zone) AS INSERT INTO t(a) VALUES (1);`,
			`P(int, numeric(1, 2)[], "x)".y%type /* ) */, timestamp with time zone): t ["a"] | 1i`},
		{"prepare values as insert into t values ($1)", "values: t | $1"},
		{"prepare p as select 1", "no INSERT"},
		{"prepare transaction 'x'", "no INSERT"},
		{"prepare select as insert into t values ($1)", "name"},
		{"prepare p (int as insert into t values ($1)", "syntax"},
		{"prepare p ('int') as insert into t values ($1)", "syntax"},
		{`prepare p ("int) as insert into t values ($1)`, "syntax"},
		{"prepare p as insert into t values ($1) returning 1", "RETURNING"},
		{"prepare p as insert into t values ($1); execute p (1)", "several statements"},
		{"insert into t values (1)", "no INSERT"},
	}
	for _, tt := range tests {
		var got string
		switch p, not := ParsePrepare([]byte(tt.sql), trusted); {
		case not != nil:
			got = not.String()
		case p.Types != "":
			got = p.Name + "(" + p.Types + "): " + show(p.Insert, nil)
		default:
			got = p.Name + ": " + show(p.Insert, nil)
		}
		if got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.sql, got, tt.want)
		}
	}
}

func TestParseExecute(t *testing.T) {
	tests := []struct{ sql, want string }{
		{"execute p", "p"},
		{" EXECUTE/**/p ;; ", "p"},
		{`execute "P"('a', E'\n', 1.5, - 1, null, True)`, `P "a" "\n" 1.5d -1i null true`},
		{"execute p ()", "expression"},
		{"execute p (1", "syntax"},
		{"execute p (1,)", "expression"},
		{"execute p ($1)", "expression"},
		{"execute p (default)", "expression"},
		{"execute p (1::int)", "cast"},
		{"execute p (now())", "expression"},
		{"execute p; select 1", "several statements"},
		{"execute p x", "syntax"},
		{"execute p.q", "syntax"},
		{"execute 'p'", "name"},
		{"execute p ('\xff')", "invalid text"},
		{"exec p", "no INSERT"},
	}
	for _, tt := range tests {
		var got string
		e, not := ParseExecute([]byte(tt.sql), trusted)
		if not != nil {
			got = not.String()
		} else {
			got = e.Name
			e.Values(func(_ int, v Value) bool { got += " " + showValue(v); return true })
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.sql, got, tt.want)
		}
	}
	e, _ := ParseExecute([]byte("execute p (1, 2, 3)"), trusted)
	n := 0
	e.Values(func(int, Value) bool { n++; return n < 2 })
	if n != 2 {
		t.Errorf("visited %d values", n)
	}
}

func TestParseExplain(t *testing.T) {
	tests := []struct{ options, want string }{
		{"", "text"},
		{"verbose", "text"},
		{"analyze", "text analyze"},
		{"ANALYSE VERBOSE", "text analyze"},
		{"(analyze)", "text analyze"},
		{"(analyze off, costs off)", "text"},
		{"(analyze 'on', analyze 0)", "text"},
		{"(format json)", ""},
		{"(format E'Text', buffers true)", "text"},
		{"(format xml, format text, analyze 1)", "text analyze"},
		{"(select 1)", "text"}, // the server does not know the option
		{"(analyze maybe)", "nil"},
		{"(analyze", "nil"},
		{"()", "nil"},
		{"(1)", "nil"},
		{"(format 'text)", "nil"},
		{"verbose analyze", "nil"},
		{"select 1;", "nil"},
	}
	for _, tt := range tests {
		got := "nil"
		if e := ParseExplain([]byte("explain "+tt.options+" insert into t values (1)"), trusted); e != nil {
			got = ""
			if e.Text {
				got = "text"
			}
			if e.Analyze {
				got += " analyze"
			}
			if e.Insert == nil || e.Not != nil {
				t.Errorf("%s: %v, %v", tt.options, e.Insert, e.Not)
			}
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.options, got, tt.want)
		}
	}
	for sql, want := range map[string]string{
		"explain insert into t select 1":       "SELECT",
		"explain insert into t values (now())": "expression",
		"explain with x as (select 1) insert":  "WITH",
	} {
		if e := ParseExplain([]byte(sql), trusted); e == nil || e.Not == nil || e.Not.Reason != want || e.Insert != nil {
			t.Errorf("%s: got %+v", sql, e)
		}
	}
	for _, sql := range []string{"explain select 1", "insert into t values (1)", "explain update t set a = 1", "explain insert into t values ('\xff')"} {
		if e := ParseExplain([]byte(sql), trusted); e != nil {
			t.Errorf("%s: got %+v", sql, e)
		}
	}
}

// setTests are read by the server too.
var setTests = []struct{ sql, want string }{
	{"set pghaul.mode = 'off'", "pghaul.mode = off"},
	{"SET SESSION PgHaul . Mode TO Stream;", "pghaul.mode = stream"},
	{`set local "PGHAUL"."mode" = "Stream"`, "local pghaul.mode = Stream"},
	{"set pghaul.mode to on", "pghaul.mode = on"},
	{"set pghaul.mode = off", "pghaul.mode = off"},
	{"set pghaul.mode = TRUE", "pghaul.mode = true"},
	{"set pghaul.mode = false", "pghaul.mode = false"},
	{`set pghaul.mode = E'\x6fff'` + "\n''", "pghaul.mode = off"},
	{"set pghaul.mode = ''", "pghaul.mode = "},
	{"set pghaul.mode = values", "pghaul.mode = values"},
	{"set pghaul.mode to default", "pghaul.mode default"},
	{"set local pghaul.mode to default", "local pghaul.mode default"},
	{"reset pghaul.mode", "pghaul.mode default"},
	{"RESET ALL;", "all default"},
	{"set local.mode = 'x'", "local.mode = x"},
	{"set session.mode to x", "session.mode = x"},
	{"set session local.mode = x", "local.mode = x"},
	{"set search_path = s", "search_path = s"},
	{"set role to x", "role = x"},

	{"set pghaul.mode = 'a', 'b'", ""},
	{"set pghaul.mode = 1", ""},
	{"set pghaul.mode = -1", ""},
	{"set pghaul.mode = $1", ""},
	{"set pghaul.mode = select", ""},
	{"set pghaul.mode 'off'", ""},
	{"set pghaul.mode = 'off'; select 1", ""},
	{"set pghaul.mode.x = 'off'", ""},
	{"set pghaul.mode from current", ""},
	{"set pghaul.mode = 'off", ""},
	{"set pghaul.mode", ""},
	{"set pghaul. = x", ""},
	{"set select.mode = x", ""},
	{"set local = x", "local = x"},
	{"set session to x", "session = x"},
	{"set session authorization x", ""},
	{"set session characteristics as transaction read only", ""},
	{"set transaction read only", ""},
	{"set time zone 'UTC'", ""},
	{"set names 'UTF8'", ""},
	{"reset", ""},
	{"reset session authorization", ""},
	{"reset pghaul.mode = 'x'", ""},
	{"select 1", ""},
	{"set pghaul.mode = '\xff'", ""},
}

func showSet(s *Set) string {
	if s == nil {
		return ""
	}
	got := s.Name
	if s.Local {
		got = "local " + got
	}
	if s.Default {
		return got + " default" + s.Value
	}
	return fmt.Sprintf("%s = %s", got, s.Value)
}

func TestParseSet(t *testing.T) {
	for _, tt := range setTests {
		if got := showSet(ParseSet([]byte(tt.sql), trusted)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.sql, got, tt.want)
		}
	}
	if s := ParseSet([]byte("set a.b = 'c'"), LexFor("SJIS", "UTF8", "on")); s != nil {
		t.Errorf("unsafe encoding: %+v", s)
	}
	if s := ParseSet([]byte("set a."+strings.Repeat("b", 64)+" = 'c'"), trusted); s != nil {
		t.Errorf("long name: %+v", s)
	}
}
