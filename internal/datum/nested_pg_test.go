package datum_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
)

// words are texts full of what the containing types quote.
func words(r *rand.Rand) func() string {
	runes := []rune(`aZ09 _'"\{}()[],;:=>.` + "\n\t\r\v\fäß€😀")
	return func() string {
		if r.IntN(12) == 0 {
			return []string{"", "NULL", "null", "NuLL", "NULLs", " ", `"`, `\`, "{}", "()"}[r.IntN(10)]
		}
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteRune(runes[r.IntN(len(runes))])
		}
		return b.String()
	}
}

// arrayLiteral is ARRAY[...] of SQL expressions, some of them NULL.
func arrayLiteral(r *rand.Rand, element func() string, size int) string {
	items := generate(size, func() string {
		if r.IntN(5) == 0 {
			return "NULL"
		}
		return element()
	})
	return "ARRAY[" + strings.Join(items, ", ") + "]"
}

// expressions makes a query of one SQL expression a row.
func expressions(typeName string, n int, one func() string) string {
	rows := generate(n, func() string { return "((" + one() + ")::" + typeName + ")" })
	return "VALUES " + strings.Join(rows, ", ")
}

func TestArrays(t *testing.T) {
	o, r := newOracle(t), random(t)
	word := words(r)
	quoted := func() string { return literal(word()) }
	for _, typeName := range []string{"text[]", "varchar[]", "name[]", "bytea[]", "json[]", "jsonb[]", "xml[]"} {
		element := quoted
		switch typeName {
		case "bytea[]":
			element = func() string { return "convert_to(" + literal(word()) + ", 'UTF8')" }
		case "json[]", "jsonb[]":
			element = func() string { return "to_json(" + literal(word()) + "::text)::" + strings.TrimSuffix(typeName, "[]") }
		case "xml[]":
			element = func() string { return "xmlelement(name a, " + literal(strings.Map(printable, word())) + ")" }
		}
		o.query(t, typeName, expressions(typeName, 500, func() string { return arrayLiteral(r, element, 1+r.IntN(12)) }), 500)
	}
	o.query(t, "text[]", expressions("text[]", 500, func() string {
		rows, columns := 1+r.IntN(3), 1+r.IntN(3)
		return "ARRAY[" + strings.Join(generate(rows, func() string { return arrayLiteral(r, quoted, columns) }), ", ") + "]"
	}), 500)
	integer := func() string { return strconv.FormatInt(spread(r), 10) }
	for _, typeName := range []string{"int8[]", "numeric[]", "float8[]", "money[]", "oid[]"} {
		number := integer
		switch typeName {
		case "money[]":
			number = func() string { return strconv.FormatInt(spread(r)>>8, 10) }
		case "oid[]":
			number = func() string { return strconv.FormatUint(uint64(uint32(spread(r))), 10) }
		}
		o.query(t, typeName, expressions(typeName, 500, func() string { return arrayLiteral(r, number, r.IntN(20)) }), 500)
	}
	o.texts(t, "int4[]", "{}", "{1}", "[0:1]={1,2}", "[-5:-4][2:3]={{1,2},{3,NULL}}", "{{{{{{1}}}}}}", "{{{{{{1,2},{3,4}}}}}}", "[2147483640:2147483641]={1,2}")
	o.texts(t, "bool[]", "{t,f,NULL}")
	o.texts(t, `"char"[]`, `{a,b,"{",NULL}`)
	o.texts(t, "box[]", "{(1,2),(3,4);(0,0),(1,1)}", "{(1,2),(3,4);NULL}")
	o.texts(t, "point[]", `{"(1,2)","(3,4)"}`)
	o.texts(t, "interval[]", `{"1 day",NULL,"-3 mons"}`)
	o.texts(t, "uuid[]", "{00000000-0000-0000-0000-000000000001,NULL}")
	o.texts(t, "timetz[]", "{12:00+01,13:00-02}")
	o.texts(t, "tid[]", `{"(1,2)","(3,4)"}`)
	o.texts(t, "macaddr[]", "{01:02:03:04:05:06,01:02:03:04:05:07}")
	o.texts(t, "inet[]", "{1.2.3.4,::1,NULL}")
	o.texts(t, "bit(3)[]", "{101,010}")
	o.texts(t, "int2vector", "1 2 3", "", "-5", "1 2 3 4 5 6 7 8 9")
	o.texts(t, "oidvector", "1 2 3", "", "4294967295")
	o.texts(t, "int2vector[]", `{"1 2",3}`)
}

func printable(c rune) rune {
	if c < ' ' || c > '~' {
		return 'x'
	}
	return c
}

func TestRanges(t *testing.T) {
	o, r := newOracle(t), random(t)
	clustertest.Exec(t, o.uri, `CREATE TYPE text_range AS RANGE (subtype = text, collation = "C", multirange_type_name = text_ranges);
		CREATE TYPE float_range AS RANGE (subtype = float8); CREATE TYPE bool_range AS RANGE (subtype = "char", multirange_type_name = chars)`)
	word, bounds := words(r), []string{"[]", "()", "[)", "(]"}
	between := func(function, low, high string) string {
		if r.IntN(6) == 0 {
			low = "NULL"
		}
		if r.IntN(6) == 0 {
			high = "NULL"
		}
		return fmt.Sprintf("%s(%s, %s, '%s')", function, low, high, bounds[r.IntN(4)])
	}
	texts := func() string {
		a, b := word(), word()+strings.Repeat("z", r.IntN(300))
		if a > b {
			a, b = b, a
		}
		return between("text_range", literal(a), literal(b))
	}
	o.query(t, "text_range", expressions("text_range", 1000, texts), 1000)
	integers := func(kind string) func() string {
		return func() string {
			a := spread(r) >> 34
			return between(kind, strconv.FormatInt(a, 10), strconv.FormatInt(a+r.Int64N(1000), 10))
		}
	}
	for _, kind := range []string{"int4range", "int8range", "float_range"} {
		o.query(t, kind, expressions(kind, 500, integers(kind)), 500)
	}
	numeric := func() string {
		a := spread(r) >> 4
		return between("numrange", fmt.Sprintf("%d.%d", a, r.IntN(1000)), fmt.Sprintf("%d.%0*d", a/2+1<<61, 1+r.IntN(90), r.IntN(10)))
	}
	o.query(t, "numrange", expressions("numrange", 500, numeric), 500)
	day := func(kind, unit string) func() string {
		return func() string {
			a := r.IntN(1000000)
			low := fmt.Sprintf("'1000-01-01'::%s + %d * interval '%s'", unit, a, "1 day 2 hours 3.5 seconds")
			high := fmt.Sprintf("'1000-01-01'::%s + %d * interval '%s'", unit, a+r.IntN(5000), "1 day 2 hours 3.5 seconds")
			if unit == "date" {
				low, high = "("+low+")::date", "("+high+")::date"
			}
			return between(kind, low, high)
		}
	}
	for kind, unit := range map[string]string{"daterange": "date", "tsrange": "timestamp", "tstzrange": "timestamptz"} {
		o.query(t, kind, expressions(kind, 500, day(kind, unit)), 500)
		multi := strings.Replace(kind, "range", "multirange", 1)
		o.query(t, multi, expressions(multi, 200, func() string {
			return multi + "(" + strings.Join(generate(1+r.IntN(50), day(kind, unit)), ", ") + ")"
		}), 200)
	}
	o.texts(t, "int4range", "empty", "(,)", "[1,1]", "[,5]", "[-2147483648,2147483646]")
	o.texts(t, "daterange", "empty", "[infinity,infinity]", "[-infinity,)")
	o.texts(t, "bool_range", "[a,b]", `["(",)`, "empty")
	for multi, kind := range map[string]string{"int4multirange": "int4range", "int8multirange": "int8range"} {
		o.query(t, multi, expressions(multi, 200, func() string {
			return multi + "(" + strings.Join(generate(1+r.IntN(100), integers(kind)), ", ") + ")"
		}), 200)
	}
	o.query(t, "text_ranges", expressions("text_ranges", 300, func() string {
		return "text_ranges(" + strings.Join(generate(1+r.IntN(8), texts), ", ") + ")"
	}), 300)
	o.query(t, "nummultirange", expressions("nummultirange", 200, func() string {
		return "nummultirange(" + strings.Join(generate(1+r.IntN(40), func() string {
			a := r.IntN(100000)
			return fmt.Sprintf("numrange(%d.5, %d.%s)", a, a+1, strings.Repeat("1", 1+r.IntN(60)))
		}), ", ") + ")"
	}), 200)
	o.texts(t, "int4multirange", "{}", "{(,)}", "{[1,2),[4,5)}")
	o.texts(t, "chars", "{[a,b],[d,e]}")
	o.texts(t, "int4range[]", `{"[1,2)",empty,NULL}`)
}

func TestComposites(t *testing.T) {
	o, r := newOracle(t), random(t)
	clustertest.Exec(t, o.uri, `CREATE TYPE mood AS ENUM ('sad', 'so so', 'glad "quoted"', 'comma,');
		ALTER TYPE mood ADD VALUE 'in between' BEFORE 'so so';
		CREATE DOMAIN positive AS int8 CHECK (VALUE > 0); CREATE DOMAIN shout AS text; CREATE DOMAIN sevens AS int4[];
		CREATE TYPE inner_row AS (a int2, b text, c "char", d numeric, e mood);
		CREATE TYPE outer_row AS (flag bool, word text, nested inner_row, list inner_row[], big positive, small int2, days daterange, other shout);
		CREATE TABLE dropped (a int4, b text, c int8, d text, e bool); CREATE TABLE nothing ()`)
	o.texts(t, "mood", "sad", "so so", `glad "quoted"`, "comma,", "in between")
	o.texts(t, "mood[]", `{sad,"so so","comma,",NULL}`)
	o.texts(t, "positive", "1", "9223372036854775807")
	o.texts(t, "sevens", "{7,7}", "[7:8]={7,7}")
	o.texts(t, "positive[]", "{1,2,NULL}")
	word := words(r)
	null := func(expression string) string {
		if r.IntN(4) == 0 {
			return "NULL"
		}
		return expression
	}
	inner := func() string {
		return fmt.Sprintf("ROW(%s, %s, %s, %s, %s)::inner_row", null(strconv.Itoa(r.IntN(65536)-32768)), null(literal(word())),
			null(literal(string("ab(),\"\\ "[r.IntN(8)]))), null(strconv.FormatFloat(float64(spread(r))/1000, 'f', 3, 64)),
			null("'"+[]string{"sad", "so so", "comma,"}[r.IntN(3)]+"'"))
	}
	o.query(t, "inner_row", expressions("inner_row", 1000, inner), 1000)
	outer := func() string {
		return fmt.Sprintf("ROW(%s, %s, %s, %s, %s, %s, %s, %s)::outer_row", null("true"), null(literal(strings.Repeat(word(), r.IntN(20)))), null(inner()),
			null(arrayLiteral(r, inner, 1+r.IntN(4))), null("42"), null("7"), null("daterange('2000-01-01', '2001-01-01')"), null(literal(word())))
	}
	o.query(t, "outer_row", expressions("outer_row", 500, outer), 500)
	o.query(t, "outer_row[]", expressions("outer_row[]", 200, func() string { return arrayLiteral(r, outer, 1+r.IntN(3)) }), 200)

	// Fields that were dropped are in the values of before, fields that were added later are not.
	row := "ROW(1, 'old', 2, 'x,y', true)::dropped"
	clustertest.Exec(t, o.uri, "CREATE TABLE keeper (id int, v dropped)", "ALTER TABLE keeper ALTER v SET STORAGE PLAIN", "INSERT INTO keeper VALUES (1, "+row+")",
		"ALTER TABLE dropped DROP b, DROP c")
	o.query(t, "dropped", "SELECT v FROM keeper UNION ALL SELECT ROW(3, NULL, false)::dropped UNION ALL SELECT ROW(NULL, 'new', NULL)::dropped", 3)
	clustertest.Exec(t, o.uri, "ALTER TABLE dropped ADD f text, ADD g int4")
	o.query(t, "dropped", "SELECT v FROM keeper UNION ALL SELECT ROW(3, 'n', false, '', 5)::dropped", 2)
	o.query(t, "nothing", "SELECT ROW()::nothing", 1)
}
