package sqltext

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/clustertest"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

// server is a session of a fresh database.
type server struct{ conn *pgconn.PgConn }

func newServer(t *testing.T) *server {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), clustertest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return &server{conn}
}

// column returns the first column of a statement's rows.
func (s *server) column(t *testing.T, sql string) (values []string, err error) {
	t.Helper()
	results, err := s.conn.Exec(t.Context(), sql).ReadAll()
	if err != nil {
		return nil, err
	}
	for _, row := range results[len(results)-1].Rows {
		values = append(values, string(row[0]))
	}
	return values, nil
}

// ask is column for statements that must work.
func (s *server) ask(t *testing.T, sql string) []string {
	t.Helper()
	values, err := s.column(t, sql)
	if err != nil {
		t.Fatalf("%.300s: %v", sql, err)
	}
	return values
}

// with asks with one text parameter.
func (s *server) with(t *testing.T, sql, param string) string {
	t.Helper()
	result := s.conn.ExecParams(t.Context(), sql, [][]byte{[]byte(param)}, nil, nil, nil).Read()
	if result.Err != nil || len(result.Rows) != 1 {
		t.Fatalf("%s with %q: %d rows, %v", sql, param, len(result.Rows), result.Err)
	}
	return string(result.Rows[0][0])
}

// nasty returns random short texts of characters that matter in SQL.
func nasty(seed uint64, n int) (texts []string) {
	alphabet := []string{`"`, `"`, `'`, `\`, ".", ":", "$", " ", "\n", "A", "a", "b", "_", "1", "*", "?", "[", "]", "(", "|", "+", "É", "🐘"}
	r := rand.New(rand.NewPCG(seed, 7))
	for range n {
		text := alphabet[r.IntN(len(alphabet))]
		for range r.IntN(6) {
			text += alphabet[r.IntN(len(alphabet))]
		}
		texts = append(texts, text)
	}
	return texts
}

func TestQuoteIdentIsServers(t *testing.T) {
	s := newServer(t)
	words := s.ask(t, "select word from pg_get_keywords()")
	if len(words) < 400 {
		t.Fatalf("the server has %d keywords", len(words))
	}
	for _, name := range append(words, nasty(1, 500)...) {
		want := s.with(t, "select quote_ident($1)", name)
		// Words that only other versions reserve are quoted here too.
		if got := QuoteIdent(name); got != want && (want != name || !keywords[name]) {
			t.Errorf("%q: %s, the server's quote_ident says %s", name, got, want)
		}
	}
}

func TestNamesInStatements(t *testing.T) {
	s := newServer(t)
	names := append(nasty(2, 40), "select", "Order", "plain", "järvi", "🐘", `a"b`, "a.b", "a:b", "merge_action")
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			continue
		}
		seen[name] = true
		quoted := QuoteQualified(name, name)
		s.ask(t, "create schema "+QuoteIdent(name)+"; create table "+quoted+" as select 1 "+QuoteIdent("x"+name)+", 2 "+QuoteIdent(name+"2"))
		got := s.ask(t, "select nspname || '/' || relname || '/' || attname from pg_attribute a join pg_class c on c.oid = attrelid"+
			" join pg_namespace n on n.oid = relnamespace where attrelid = "+QuoteLiteral(quoted)+"::regclass and attnum = 2")
		if want := name + "/" + name + "/" + name + "2"; len(got) != 1 || got[0] != want {
			t.Errorf("%q: the server made %q", name, got)
		}
	}
}

func TestQuoteLiteralEitherWay(t *testing.T) {
	s := newServer(t)
	for _, setting := range []string{"on", "off"} {
		s.ask(t, "set standard_conforming_strings = "+setting+"; set escape_string_warning = off")
		for _, text := range append(nasty(3, 300), "", `\`, `\'`, `''`, `C:\new`) {
			if got := s.ask(t, "select "+QuoteLiteral(text)); got[0] != text {
				t.Errorf("standard_conforming_strings %s: %q came back as %q", setting, text, got[0])
			}
		}
	}
}

// TestParseQualifiedIsRegclass compares with the server's reading of names
// in regclass input, by the table that both find.
func TestParseQualifiedIsRegclass(t *testing.T) {
	s := newServer(t)
	s.ask(t, `create schema a; create schema "A"; create table a.b (); create table "A"."B" (); create table a."B" ();
		create table b (); create table "b.a" (); create table "É" (); create table "é" ()`)
	find := func(sql string) string {
		oid, err := s.column(t, sql)
		if err != nil || len(oid) == 0 {
			return "none"
		}
		return oid[0]
	}
	parts := []string{"a", "A", "b", "B", `"`, `""`, ".", " ", "É", "\t"}
	r := rand.New(rand.NewPCG(5, 5))
	found := 0
	for range 3000 {
		text := ""
		for range 1 + r.IntN(8) {
			text += parts[r.IntN(len(parts))]
		}
		want := find("select " + QuoteLiteral(text) + "::regclass::oid")
		schema, name, err := ParseQualified(text)
		got := "none"
		if err == nil {
			got = find("select " + QuoteLiteral(QuoteQualified(schema, name)) + "::regclass::oid")
		}
		if got != want {
			t.Errorf("%q: read as %q.%q, %v; the server finds %s", text, schema, name, err, want)
		}
		if want != "none" {
			found++
		}
	}
	if found < 50 {
		t.Errorf("only %d names were found: the test says too little", found)
	}
}

func TestPatternOnServer(t *testing.T) {
	s := newServer(t)
	tests := []struct {
		pattern string
		match   string // names of the table, joined by blanks
	}{
		{"orders", "orders"},
		{"ORDERS", "orders"},
		{`"Orders"`, "Orders"},
		{"ord*", "orders orders_2024"},
		{"order?", "orders"},
		{`"Ord"*`, "Orders"},
		{`"a.b"`, "a.b"},
		{`a?b`, "a$b a*b a.b"},
		{`"a*b"`, "a*b"},
		{"a$b", "a$b"},
		{`"a$b"`, "a$b"},
		{"orders_[0-9]+", "orders_2024"},
		{"(orders|über)", "orders über"},
		{"?ber", "über"},
		{`"x""y"`, `x"y`},
		{"orders_", ""},
	}
	for _, name := range []string{"orders", "Orders", "orders_2024", "a.b", "a*b", "a$b", "über", `x"y`} {
		s.ask(t, "create table "+QuoteIdent(name)+" ()")
	}
	for _, tt := range tests {
		_, nameRE, err := Pattern(tt.pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		got := s.ask(t, "select coalesce(string_agg(relname, ' ' order by relname collate \"C\"), '') from pg_class"+
			" where relnamespace = 'public'::regnamespace and relname operator(pg_catalog.~) "+QuoteLiteral(nameRE)+
			" collate pg_catalog.default")
		if want := tt.match; sortedFields(got[0]) != sortedFields(want) {
			t.Errorf("%s matches %q, want %q", tt.pattern, got[0], want)
		}
	}
}

func sortedFields(s string) string {
	f := strings.Fields(s)
	slices.Sort(f)
	return strings.Join(f, " ")
}
