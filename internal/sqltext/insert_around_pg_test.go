package sqltext

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/clustertest"
)

func TestReservedIsServers(t *testing.T) {
	o := newOracle(t, "")
	rows := o.run("select word from pg_get_keywords() where catcode in ('R', 'T')")[0].Rows
	if len(rows) < 90 {
		t.Fatalf("the server has %d reserved words", len(rows))
	}
	for _, row := range rows {
		if !reserved[string(row[0])] {
			t.Errorf("%s is not in the list", row[0])
		}
	}
}

// TestSafeEncodingsAreServers compares the list with the encodings that a
// server can keep text in: those are the safe ones.
func TestSafeEncodingsAreServers(t *testing.T) {
	o := newOracle(t, "")
	// MULE_INTERNAL goes, and is not in the list.
	var names []string
	for _, row := range o.run("select pg_encoding_to_char(n) from generate_series(0, 34) n where pg_encoding_to_char(n) <> 'MULE_INTERNAL'")[0].Rows {
		names = append(names, string(row[0]))
	}
	for name := range safeEncodings {
		if !slices.Contains(names, name) {
			t.Errorf("%s: the server does not keep text in it", name)
		}
	}
	if len(safeEncodings) != len(names) {
		t.Errorf("%d encodings, the server has %d", len(safeEncodings), len(names))
	}
}

// TestNumbersAreConstants puts numbers as constants, and their text through
// the input function, into the types of which Value promises that both give
// the same.
func TestNumbersAreConstants(t *testing.T) {
	o := newOracle(t, "")
	o.run("create temporary table n (value numeric, scaled numeric(20, 3), double double precision, big bigint, small int)")
	g := &generator{Rand: rand.New(rand.NewPCG(9, 1))}
	numbers := []string{"-0", "-0.0", "-0e0", "1e300", "1e-300", "-1.5e-300", "-.0", "0.1", "123456789012345678901234567890", "2147483647", "-2147483648",
		"9223372036854775807", "-9223372036854775808", "9223372036854775808", "0." + strings.Repeat("0", 290) + "1", "4.9e-300", "17.9769e299", strings.Repeat("9", 299)}
	for range 200 {
		numbers = append(numbers, g.number())
	}
	refused := 0
	for _, number := range numbers {
		i, not := ParseInsert([]byte("insert into n values ("+number+")"), o.options)
		if not != nil {
			t.Fatalf("%s: %s", number, not)
		}
		var v Value
		i.Values(func(_, _ int, got Value) bool { v = got; return true })
		for _, column := range []string{"value", "scaled", "double", "big", "small"} {
			if v.Form != Integer && (column == "big" || column == "small") {
				continue
			}
			store := func(value string) string {
				o.run("savepoint s")
				defer o.run("rollback to s; release s")
				if _, err := o.try("insert into n ("+column+") values ("+value+")", 0); err != nil {
					var e *pgconn.PgError
					errors.As(err, &e)
					refused++
					return e.Code
				}
				return string(o.run("select " + column + "::text || ' ' || coalesce(float8send(double)::text, '') from n")[0].Rows[0][0])
			}
			if got, want := store(QuoteLiteral(string(v.Text))), store(number); got != want {
				t.Errorf("%s into %s: as a string %s, as a constant %s", number, column, got, want)
			}
		}
	}
	if refused == 0 || refused > 900 {
		t.Errorf("%d were refused: the test says too little", refused)
	}
}

func TestSetIsServers(t *testing.T) {
	o := newOracle(t, "")
	g := &generator{Rand: rand.New(rand.NewPCG(4, 4))}
	var texts []string
	for _, tt := range setTests {
		texts = append(texts, tt.sql)
	}
	for n := range 3000 {
		texts = append(texts, g.damage(setTests[n%12].sql))
	}
	recognised := 0
	for _, sql := range texts {
		s := ParseSet([]byte(sql), o.options)
		if s == nil || s.Name != "pghaul.mode" {
			continue
		}
		recognised++
		o.run("savepoint s; set local pghaul.mode = 'before'")
		if tag, err := o.try(sql, 0); err != nil || tag != "SET" && tag != "RESET" {
			t.Errorf("recognised %q as %s: %s, %v", sql, showSet(s), tag, err)
		} else if got := o.run("show pghaul.mode")[0].Rows[0][0]; string(got) != s.Value {
			t.Errorf("%q: read as %s, the server says %q", sql, showSet(s), got)
		}
		o.run("rollback to s; release s")
	}
	if recognised < 300 {
		t.Errorf("%d were recognised: the test says too little", recognised)
	}
}

// TestPrepareIsServers prepares an INSERT, executes it, and compares what is
// stored with the names and values read.
func TestPrepareIsServers(t *testing.T) {
	o := newOracle(t, "")
	g := &generator{Rand: rand.New(rand.NewPCG(6, 2)), standard: true}
	constant := func() string {
		n := 0
		for {
			if v := g.value(&n); !strings.EqualFold(v, "default") {
				return v
			}
		}
	}
	compared := 0
	for n := range 1500 {
		name := g.one("p", "P", "values", "é")
		types := g.one("", "(text)", "(text, pg_catalog . text)", "( character varying, \"text\" /* ) */)")
		prepare := "prepare " + g.name(name, false) + types + " as insert into t values ($1, $2)"
		execute := g.space() + "execute " + g.name(name, false) + g.space() + "(" + g.space() + constant() + g.space() + "," + g.space() + constant() + g.space() + ")" + g.repeat(1, ";", " -- x")
		if n%2 == 1 {
			prepare, execute = g.damage(prepare), g.damage(execute)
		}
		p, not := ParsePrepare([]byte(prepare), o.options)
		e, notExecute := ParseExecute([]byte(execute), o.options)
		if n%2 == 0 && (p == nil || e == nil) {
			t.Fatalf("%q %q: %v, %v", prepare, execute, not, notExecute)
		}
		if p == nil || e == nil {
			continue
		}
		o.run("savepoint s; deallocate all")
		if o.preparedAs(p, prepare) && o.executedAs(e, execute) {
			compared++
		}
		o.run("rollback to s; release s")
	}
	if compared < 600 {
		t.Errorf("%d were compared: the test says too little", compared)
	}
}

// preparedAs prepares and looks for the name. A server may refuse types and tables.
func (o *oracle) preparedAs(p *Prepare, sql string) bool {
	o.Helper()
	if _, err := o.try(sql, 0); err != nil {
		return false
	}
	row := o.run("select name, parameter_types from pg_prepared_statements")[0].Rows[0]
	if string(row[0]) != p.Name {
		o.Errorf("%q: read as %s, the server has %s", sql, p.Name, row[0])
	}
	texts := []string{"{text,text}", `{"character varying",text}`, "{text,pg_catalog.text}"}
	return slices.Contains(texts, string(row[1])) && p.Table == "t" && p.Columns == nil && p.Ordered && p.Width == 2 && p.Rows == 1
}

// executedAs executes and compares what is stored.
func (o *oracle) executedAs(e *Execute, sql string) bool {
	o.Helper()
	tag, err := o.try(sql, 0)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && (refused.Code == "26000" || e.Width != 2 && refused.Code == "42601") {
		return false // another name, or another number of values
	}
	if err != nil || tag != "INSERT 0 1" {
		o.Errorf("recognised %q: %s, %v", sql, tag, err)
		return false
	}
	want := ""
	e.Values(func(n int, v Value) bool { want += o.stored(v, n) + " "; return true })
	if got := o.contents("", "t"); got != want+`"d3" "d4" "d5"`+"\n" {
		o.Errorf("%q: stored %s, read as %s", sql, got, want)
	}
	return true
}

func TestExplainIsServers(t *testing.T) {
	o := newOracle(t, "")
	g := &generator{Rand: rand.New(rand.NewPCG(8, 8)), standard: true}
	compared := 0
	for n := range 1500 {
		options := g.one("", "verbose", "analyze", "analyse verbose", "(analyze)", "(analyze off)", "(analyze 'on', format text)", "(format json)",
			"(format 'yaml', verbose)", "(costs off, analyze 1)", "(analyze true, analyze false)", "(format xml, format E'text')", `("analyze")`)
		sql := "explain " + options + " insert into t values (1)"
		if n%2 == 1 {
			sql = g.damage(sql)
		}
		e := ParseExplain([]byte(sql), o.options)
		if e == nil || e.Insert == nil {
			continue
		}
		o.run("savepoint s")
		results, err := o.conn.Exec(o.Context(), sql).ReadAll()
		if err == nil {
			compared++
			text := strings.HasPrefix(string(results[0].Rows[0][0]), "Insert on ")
			analyze := o.contents(e.Insert.Schema, e.Insert.Table) != ""
			if text != e.Text || analyze != e.Analyze || len(results) != 1 {
				t.Errorf("%q: read as %+v; in text %t, carried out %t", sql, e, text, analyze)
			}
		}
		o.run("rollback to s; release s")
	}
	if compared < 700 {
		t.Errorf("%d were compared: the test says too little", compared)
	}
}

// TestConvertedText sends text that the server converts, and to servers that
// keep other text than UTF8.
func TestConvertedText(t *testing.T) {
	o := newOracle(t, "")
	o.set("set client_encoding = 'LATIN1'")
	single := map[string]bool{
		"values ('\xe9')": true, "values ($$\xe9\xff'$$)": true, "values (E'\\n\xe9\\\xe9')": true, "values ('\xe9'\n'\xa0')": true,
		`values (E'\303\251')`: false, `values (E'\351')`: false, `values (E'\u00e9')`: false, `values (E'\u0041\101')`: true,
		"(\"\xe9\") values (1)": false, "(\xc9) values (1)": false,
	}
	o.checkAll(single)
	o = newOracleIn(t, clustertest.DatabaseOn(t, clustertest.Server(t), "ENCODING 'LATIN1'", "LOCALE 'C'"), "")
	o.set("set client_encoding = 'LATIN1'")
	o.checkAll(single)
	o.set("set client_encoding = 'UTF8'")
	o.checkAll(map[string]bool{
		"values ('é')": true, `values (E'\u00e9')`: false, "(é) values (1)": false, "values (U&'\\00e9')": false, `values (E'\é''\\')`: true,
	})
	o = newOracleIn(t, clustertest.DatabaseOn(t, clustertest.Server(t), "ENCODING 'EUC_JP'", "LOCALE 'C'"), "")
	o.checkAll(map[string]bool{"values ('\xa5\xbd\\n')": true, "values (E'\xa5\xbd\\n')": true})
	o.set("set client_encoding = 'SJIS'")
	o.checkAll(map[string]bool{"values ('\x83\x5cn')": false, "values ('a')": false})
}

// checkAll checks what follows INSERT INTO t.
func (o *oracle) checkAll(rest map[string]bool) {
	o.Helper()
	for sql, recognised := range rest {
		if sql = "insert into t " + sql; o.check(sql) != recognised {
			o.Errorf("%s: %q: recognised is %t", o.conn.ParameterStatus("client_encoding"), sql, !recognised)
		}
	}
}
