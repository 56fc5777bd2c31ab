package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/planner"
)

func TestSettings(t *testing.T) {
	for _, text := range []string{Settings(""), LocalSettings("LATIN1")} {
		for _, needed := range []string{"client_encoding", "DateStyle", "IntervalStyle", "TimeZone", "lc_monetary", "extra_float_digits",
			"bytea_output", "xmloption", "search_path", "row_security", "statement_timeout", "lock_timeout",
			"idle_in_transaction_session_timeout", "idle_session_timeout", "transaction_timeout"} {
			if !strings.Contains(text, needed) {
				t.Errorf("%s is missing in\n%s", needed, text)
			}
		}
	}
	if !strings.Contains(Settings(""), "client_encoding = 'UTF8'") || !strings.Contains(LocalSettings("LATIN1"), "client_encoding = 'LATIN1'") {
		t.Error("encoding")
	}
	local := LocalSettings("")
	if strings.Count(local, "SET ") != strings.Count(local, "SET LOCAL ") || strings.Contains(local, "false") {
		t.Errorf("a setting of the whole session in\n%s", local)
	}
}

func TestEncoding(t *testing.T) {
	for _, test := range []struct{ source, target, want string }{
		{"UTF8", "UTF8", "UTF8"}, {"LATIN1", "LATIN1", "LATIN1"}, {"LATIN1", "UTF8", "UTF8"}, {"UTF8", "LATIN1", "UTF8"},
		{"LATIN1", "LATIN2", "UTF8"}, {"SQL_ASCII", "LATIN1", "LATIN1"}, {"EUC_JP", "SQL_ASCII", "EUC_JP"},
		{"SQL_ASCII", "SQL_ASCII", "SQL_ASCII"}, {"", "", "UTF8"}, {"SQL_ASCII", "", "UTF8"},
	} {
		if got := Encoding(planner.Server{Encoding: test.source}, planner.Server{Encoding: test.target}); got != test.want {
			t.Errorf("%s to %s: %s, want %s", test.source, test.target, got, test.want)
		}
	}
}

func TestSameServer(t *testing.T) {
	a := planner.Server{SystemID: "1", StartTime: "5.000001", Version: 150000, DatabaseOID: 7}
	other := func(change func(*planner.Server)) planner.Server {
		b := a
		change(&b)
		return b
	}
	for _, test := range []struct {
		name           string
		b              planner.Server
		server, dbSame bool
	}{
		{"itself", a, true, true},
		{"other database", other(func(s *planner.Server) { s.DatabaseOID = 8 }), true, false},
		{"identifier hidden on one side", other(func(s *planner.Server) { s.SystemID = "" }), true, true},
		{"other cluster", other(func(s *planner.Server) { s.SystemID = "2" }), false, false},
		{"a standby", other(func(s *planner.Server) { s.StartTime = "6.0" }), false, false},
		{"nothing known", other(func(s *planner.Server) { s.StartTime = "" }), false, false},
	} {
		if got := SameServer(a, test.b); got != test.server {
			t.Errorf("%s: same server %v", test.name, got)
		}
		if got := SameDatabase(a, test.b); got != test.dbSame {
			t.Errorf("%s: same database %v", test.name, got)
		}
	}
}

func TestCompareBounds(t *testing.T) {
	sorted := []string{
		"FOR VALUES FROM (MINVALUE) TO (-10)",
		"FOR VALUES FROM ('-10') TO ('-9')",
		"FOR VALUES FROM ('-9') TO (5)",
		"FOR VALUES FROM ('2024-01-31') TO ('2024-02-01')",
		"FOR VALUES FROM ('2024-02-01') TO ('2024-03-01')",
		"FOR VALUES FROM ('2024-10-01') TO (MAXVALUE)",
		"DEFAULT",
	}
	shuffled := []string{sorted[4], sorted[6], sorted[0], sorted[5], sorted[2], sorted[1], sorted[3]}
	slices.SortFunc(shuffled, compareBounds)
	// The words FROM and DEFAULT start alike in no order that matters, but DEFAULT must be last.
	if !slices.Equal(shuffled, sorted) {
		t.Errorf("got\n%s", strings.Join(shuffled, "\n"))
	}
	numbers := []string{"FROM (9)", "FROM (10)", "FROM (10) / IN ('a')", "FROM (10) / IN ('b')", "FROM (012345678901234567890)"}
	if !slices.IsSortedFunc(numbers, compareBounds) {
		t.Error("numbers are not compared by value")
	}
}

func TestLeavesOf(t *testing.T) {
	tree := map[uint32]node{
		1: {oid: 1, parent: 99, keyDef: "LIST (a)", bound: "of the root itself"},
		2: {oid: 2, parent: 1, leaf: true, bound: "IN (2)"},
		3: {oid: 3, parent: 1, keyDef: "RANGE (b)", bound: "IN (1)"},
		4: {oid: 4, parent: 3, leaf: true, bound: "FROM (0) TO (5)"},
		5: {oid: 5, parent: 77, leaf: true, bound: "detached meanwhile"},
	}
	got := leavesOf(1, tree)
	want := []part{{4, "IN (1) / FROM (0) TO (5)", "LIST (a) / RANGE (b)"}, {2, "IN (2)", "LIST (a)"}}
	if len(got) != 3 || !slices.Contains(got, want[0]) || !slices.Contains(got, want[1]) {
		t.Errorf("got %+v", got)
	}
}

func TestOutsideQuotes(t *testing.T) {
	for _, test := range []struct {
		s, text string
		want    int
	}{
		{`CREATE TRIGGER x AFTER INSERT ON public.t FOR`, ` ON public.t `, 29},
		{`TRIGGER " ON public.t " AFTER INSERT ON public.t FOR`, ` ON public.t `, 36},
		{`TRIGGER "a"" ON s.t " AFTER ON s.t x`, ` ON s.t `, 27},
		{`A ON "S"."T" x`, ` ON "S"."T" `, 1},
		{`A " ON s.t `, ` ON s.t `, -1},
		{`nothing`, ` ON s.t `, -1},
	} {
		if got := outsideQuotes(test.s, test.text); got != test.want {
			t.Errorf("%s in %s: %d, want %d", test.text, test.s, got, test.want)
		}
	}
}

func TestInTablespace(t *testing.T) {
	for _, test := range []struct {
		method, predicate, want string
		ok                      bool
	}{
		{"USING btree (a)", "", "USING btree (a) TABLESPACE fast", true},
		{"USING btree (a) WHERE (a > 0)", "(a > 0)", "USING btree (a) TABLESPACE fast WHERE (a > 0)", true},
		{"USING btree (a) WHERE a > 0", "(a > 0)", "", false},
	} {
		got, ok := inTablespace(test.method, test.predicate, "fast")
		if ok != test.ok || ok && got != test.want {
			t.Errorf("%s: %s, %v", test.method, got, ok)
		}
	}
}

func TestRelocate(t *testing.T) {
	for _, test := range []struct {
		name, options, want string
		changed             bool
	}{
		{"no host", "", "host=db1", true},
		{"socket", "host=/tmp", "host=db1", true},
		{"loopback", "host=127.0.0.1", "host=db1", true},
		{"IPv6 loopback", "host=::1", "host=db1", true},
		{"localhost", "host=LocalHost", "host=db1", true},
		{"a list", "host=db7,localhost", "host=db7,db1", true},
		{"another machine", "host=db7", "host=db7", false},
		{"loopback address with a name", "host=db7 hostaddr=127.0.0.1", "host=db1", true},
		{"another address", "host=localhost hostaddr=10.0.0.1", "host=localhost hostaddr=10.0.0.1", false},
		{"service", "service=s", "service=s", false},
	} {
		options := optionMap(strings.Fields(test.options))
		changed := relocate(options, "db1")
		want := optionMap(strings.Fields(test.want))
		if changed != test.changed || len(options) != len(want) || options["host"] != want["host"] || options["hostaddr"] != want["hostaddr"] {
			t.Errorf("%s: %v, %v", test.name, options, changed)
		}
	}
}

func TestBooleanOptions(t *testing.T) {
	for _, s := range []string{"true", "t", "TRUE", "on", "1", "yes", "y"} {
		if !isTrue(s) || isFalse(s) {
			t.Error(s)
		}
	}
	for _, s := range []string{"false", "F", "off", "of", "0", "no", "n"} {
		if isTrue(s) || !isFalse(s) {
			t.Error(s)
		}
	}
	if isTrue("") || isFalse("") || isFalse("o") || isTrue("o") {
		t.Error("empty or ambiguous")
	}
}

func TestEditDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"orders", "order", 1}, {"orders", "odrers", 2}, {"größe", "grösse", 2}, {"abc", "xyz", 3}} {
		if got := editDistance(test.a, test.b); got != test.want {
			t.Errorf("%s, %s: %d, want %d", test.a, test.b, got, test.want)
		}
	}
}

func TestIsMany(t *testing.T) {
	for pattern, want := range map[string]bool{
		"t": false, "s.t": false, `"a*b"`: false, "t*": true, "s?.t": true, "t.(a|b)": true, "[ab]": true, `"(x)"`: false,
	} {
		if got := isMany(pattern); got != want {
			t.Errorf("%s: %v", pattern, got)
		}
	}
}

func TestStays(t *testing.T) {
	plain := planner.Relation{Columns: []planner.Column{{Name: "a"}}}
	triggers := planner.Relation{Triggers: []planner.Trigger{{Name: "x"}}}
	defaults := planner.Relation{Columns: []planner.Column{{Name: "a", HasDefault: true}}}
	postgres := func(change func(*foreign)) *foreign {
		f := &foreign{isPostgres: true, wrapper: "postgres_fdw"}
		change(f)
		return f
	}
	none := func(*foreign) {}
	for _, test := range []struct {
		name     string
		f        *foreign
		relation planner.Relation
		role     Role
		want     string
	}{
		{"plain source", postgres(none), plain, Source, ""},
		{"plain target", postgres(none), plain, Target, ""},
		{"file", &foreign{wrapper: "file_fdw"}, plain, Source, "its wrapper is file_fdw"},
		{"triggers, target", postgres(none), triggers, Target, "it has insert triggers of its own"},
		{"triggers, source", postgres(none), triggers, Source, ""},
		{"default, target", postgres(none), defaults, Target, "its column a has a default of its own"},
		{"default, source", postgres(none), defaults, Source, ""},
		{"generated, target", postgres(func(f *foreign) { f.generated = true }), plain, Target, "it has generated columns of its own"},
		{"stored, source", postgres(func(f *foreign) { f.generated = true }), plain, Source, ""},
		{"virtual, source", postgres(func(f *foreign) { f.virtual = true }), plain, Source, "it has generated columns that are computed when read"},
		{"not updatable", postgres(func(f *foreign) { f.serverOptions = map[string]string{"updatable": "false"} }), plain, Target,
			"its option updatable is off"},
		{"table updatable", postgres(func(f *foreign) {
			f.serverOptions = map[string]string{"updatable": "false"}
			f.tableOptions = map[string]string{"updatable": "true"}
		}), plain, Target, ""},
	} {
		if got := test.f.stays(test.relation, test.role); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestWordsWithPlace(t *testing.T) {
	for _, s := range []string{"a%sb", "%", `q"%`, `back\%`, "it's %s"} {
		for _, quoted := range []string{ident(s), literal(s)} {
			if strings.Contains(quoted, "%") {
				t.Errorf("%s holds a per cent sign", quoted)
			}
		}
	}
}
