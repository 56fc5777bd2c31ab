package sqltext

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/clustertest"
)

// oracle is a session with the tables of the generator, in a transaction that
// never ends. Each statement is undone by a savepoint.
type oracle struct {
	testing.TB
	conn    *pgconn.PgConn
	notices int
	numbers map[string]string
	options LexOptions
}

func newOracle(t testing.TB, settings string) *oracle {
	return newOracleIn(t, clustertest.Database(t), settings)
}

func newOracleIn(t testing.TB, database, settings string) *oracle {
	o := &oracle{TB: t, numbers: map[string]string{}}
	config, err := pgconn.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		o.notices++
		t.Logf("%s: %s", n.Severity, n.Message)
	}
	if o.conn, err = pgconn.ConnectConfig(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.conn.Close(context.Background()) })
	o.run(`create schema s; create schema "S"; ` + settings)
	for _, schema := range []string{"s", "S", "public"} {
		for _, table := range generatedTables {
			o.run(`create table "` + schema + `"."` + table + `" (a text default 'd1', "B" text default 'd2',
				"values" text default 'd3', "é" text default 'd4', "x""y" text default 'd5')`)
		}
	}
	o.run("begin")
	o.set("")
	return o
}

// set begins another transaction with other settings.
func (o *oracle) set(settings string) {
	o.run("rollback; " + settings)
	status := o.conn.ParameterStatus
	o.options = LexFor(status("client_encoding"), status("server_encoding"), status("standard_conforming_strings"))
	o.run("begin")
	o.notices = 0
}

// run does what must succeed.
func (o *oracle) run(sql string) []*pgconn.Result {
	o.Helper()
	results, err := o.conn.Exec(o.Context(), sql).ReadAll()
	if err != nil {
		o.Fatalf("%s: %v", sql, err)
	}
	return results
}

// try does a statement and leaves its effects until undo. With parameters it
// goes as Parse and Bind, of text parameters with the values p1, p2, p3.
func (o *oracle) try(sql string, parameters int) (tag string, err error) {
	if parameters == 0 {
		results, err := o.conn.Exec(o.Context(), sql).ReadAll()
		if err != nil {
			return "", err
		}
		if len(results) != 1 {
			return fmt.Sprintf("%d results", len(results)), nil
		}
		return results[0].CommandTag.String(), nil
	}
	values, types := make([][]byte, parameters), make([]uint32, parameters)
	for n := range values {
		values[n] = fmt.Appendf(nil, "p%d", n+1)
		types[n] = 25 // text
	}
	result := o.conn.ExecParams(o.Context(), sql, values, types, nil, nil).Read()
	return result.CommandTag.String(), result.Err
}

// number is what the server makes of the text of a Number in a text column:
// it is an integer or numeric constant, and both print alike.
func (o *oracle) number(text string) string {
	if _, ok := o.numbers[text]; !ok {
		o.numbers[text] = string(o.run("select (" + QuoteLiteral(text) + "::numeric)::text")[0].Rows[0][0])
	}
	return o.numbers[text]
}

// stored is what a text column of the generator's tables holds after a value
// was put into it.
func (o *oracle) stored(v Value, column int) string {
	switch v.Kind {
	case Null:
		return "NULL"
	case Default:
		return fmt.Sprintf("%q", fmt.Sprintf("d%d", column+1))
	case Param:
		return fmt.Sprintf("%q", fmt.Sprintf("p%d", v.Parameter))
	case Number:
		return fmt.Sprintf("%q", o.number(string(v.Text)))
	case String:
		return fmt.Sprintf("%q", v.Text)
	}
	return fmt.Sprintf("%q", map[Kind]string{True: "true", False: "false"}[v.Kind])
}

// place finds a column of the generator's tables.
func place(columns []string, column int) int {
	if columns == nil {
		return column
	}
	for n, name := range generatedColumns {
		if name == columns[column] {
			return n
		}
	}
	return -1
}

// rows writes the rows that an Insert is to leave.
func (o *oracle) rows(i *Insert) string {
	var b strings.Builder
	var row []string
	i.Values(func(_, column int, v Value) bool {
		if column == 0 {
			row = []string{`"d1"`, `"d2"`, `"d3"`, `"d4"`, `"d5"`}
		}
		n := place(i.Columns, column)
		row[n] = o.stored(v, n)
		if column == i.Width-1 {
			fmt.Fprintln(&b, strings.Join(row, " "))
		}
		return true
	})
	return b.String()
}

// contents writes the rows that a table has.
func (o *oracle) contents(schema, table string) string {
	var b strings.Builder
	for _, row := range o.run("select * from " + QuoteQualified(schema, table) + " order by ctid")[0].Rows {
		for n, v := range row {
			if n > 0 {
				b.WriteString(" ")
			}
			if v == nil {
				b.WriteString("NULL")
			} else {
				fmt.Fprintf(&b, "%q", v)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// missing reports whether the server refused a statement for what it names,
// not for how it is written.
func missing(err error, i *Insert) bool {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case "42P01", "3F000", "42703": // no such table, schema, column
		return true
	case "42601": // more values than the table has columns
		return i.Columns == nil && i.Width > len(generatedColumns)
	}
	return false
}

// check compares ParseInsert with the server on one text. It reports whether
// the text was recognised.
func (o *oracle) check(sql string) bool {
	o.Helper()
	i, not := ParseInsert([]byte(sql), o.options)
	if not != nil {
		return false
	}
	o.run("savepoint s")
	defer o.run("rollback to s; release s")
	o.notices = 0
	tag, err := o.try(sql, i.Parameters)
	if err != nil {
		if !missing(err, i) {
			o.Errorf("recognised %q as %s: %v", sql, show(i, nil), err)
		}
		return true
	}
	if want := fmt.Sprintf("INSERT 0 %d", i.Rows); tag != want || o.notices > 0 {
		o.Errorf("%q: %s and %d notices, want %s", sql, tag, o.notices, want)
		return true
	}
	if got, want := o.contents(i.Schema, i.Table), o.rows(i); got != want {
		o.Errorf("%q\nread as %s\nstores\n%s   not\n%s", sql, show(i, nil), got, want)
	}
	return true
}

// sessions are settings that change how statements are read.
var sessions = map[string]string{
	"default":            "",
	"no standard string": "set standard_conforming_strings = off; set escape_string_warning = on; set backslash_quote = on",
	"backslash_quote":    "set backslash_quote = off; set escape_string_warning = on",
	"SQL_ASCII":          "set client_encoding = 'SQL_ASCII'; set transform_null_equals = on",
}

func TestInsertIsServers(t *testing.T) {
	for name, settings := range sessions {
		t.Run(name, func(t *testing.T) {
			o := newOracle(t, settings)
			r := rand.New(rand.NewPCG(uint64(len(name)), 11))
			g := &generator{Rand: r, standard: o.options.StandardConformingStrings}
			damaged := 0
			for n := range 1000 {
				g.parameters = n%2 == 0
				sql := g.insert()
				if !o.check(sql) {
					_, not := ParseInsert([]byte(sql), o.options)
					t.Errorf("not recognised: %q: %s", sql, not)
				}
				if o.check(g.damage(sql)) {
					damaged++
				}
				if t.Failed() {
					t.FailNow()
				}
			}
			if damaged < 100 || damaged > 900 {
				t.Errorf("%d of the damaged statements were recognised: the test says too little", damaged)
			}
		})
	}
}

func FuzzInsertIsServers(f *testing.F) {
	o := newOracle(f, "")
	g := &generator{Rand: rand.New(rand.NewPCG(3, 5)), standard: true}
	for range 100 {
		f.Add([]byte(g.insert()))
	}
	f.Fuzz(func(t *testing.T, sql []byte) {
		o.TB = t
		o.check(string(sql))
	})
}
