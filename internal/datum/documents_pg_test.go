package datum_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/internal/datum"
)

// document writes a random JSON value.
func document(r *rand.Rand, word func() string, depth int) string {
	switch kind := r.IntN(8); {
	case kind == 0:
		return "null"
	case kind == 1:
		return strconv.FormatBool(r.IntN(2) == 0)
	case kind == 2:
		return fmt.Sprintf("%d.%d", spread(r)>>1, r.IntN(1000))
	case kind == 3:
		return strconv.FormatInt(spread(r), 10) + "e" + strconv.Itoa(r.IntN(40)-20)
	case kind == 4 || depth == 0:
		return jsonString(word())
	case kind == 5:
		return "[" + strings.Join(generate(r.IntN(6), func() string { return document(r, word, depth-1) }), ",") + "]"
	default:
		return "{" + strings.Join(generate(r.IntN(6), func() string { return jsonString(word()) + ":" + document(r, word, depth-1) }), ",") + "}"
	}
}

func jsonString(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestJsonb(t *testing.T) {
	o, r := newOracle(t), random(t)
	word := words(r)
	o.texts(t, "jsonb", append(generate(2*many, func() string { return document(r, word, 5) }), "{}", "[]", "null", "1", `"x"`, "[[[[[]]]]]", `{"":""}`, `{"a":1,"a":2}`,
		`{"bb":1,"a":2,"ccc":3}`, `"\u0001\u001f\u007f\b\f\n\r\t\\\""`, "1e100", "-0", "0.00", "1.50", strings.Repeat("[", 500)+strings.Repeat("]", 500))...)
	// Offsets instead of lengths stand in every 32nd entry.
	o.query(t, "jsonb", `SELECT jsonb_agg(CASE j % 4 WHEN 0 THEN to_jsonb(j) WHEN 1 THEN to_jsonb(repeat('x', j % 7)) WHEN 2 THEN '{"k": [1]}' ELSE 'null' END)
		FROM generate_series(1, 200) i, LATERAL generate_series(1, i) j GROUP BY i`, 200)
	o.query(t, "jsonb", `SELECT jsonb_object_agg('key' || j, CASE j % 3 WHEN 0 THEN to_jsonb(j * 1.5) WHEN 1 THEN to_jsonb(repeat('y', j % 5)) ELSE '[]' END)
		FROM generate_series(1, 150) i, LATERAL generate_series(1, i) j GROUP BY i`, 150)
	o.query(t, "jsonb", "SELECT to_jsonb(('1e' || i)::numeric) FROM generate_series(-50, 3000, 50) i", 60)
}

func TestJSONPath(t *testing.T) {
	o, r := newOracle(t), random(t)
	paths := []string{"$", "strict $", "lax $.a.b", `$."a b"`, `$."\u0001\"x"`, "$.*", "$[*]", "$.**", "$.**{2}", "$.**{2 to 4}", "$.**{last}", "$.**{3 to last}", "$.**{last to 5}",
		"$[0]", "$[0, 1 to 3, last]", "$[last - 1]", "$[$.a to $.b]", "$x", `$"a b"`, "$.a ? (@.b > 3)", "$ ? (@.a == 1 && @.b < 2 || !(@.c >= 3))",
		"$ ? (exists(@.a ? (@ != 2)))", "$ ? ((@ == 1) is unknown)", `$ ? (@ like_regex "^a\"b")`, `$ ? (@ like_regex "x" flag "ismxq")`, `$ ? (@ like_regex "x.y" flag "q")`,
		`$ ? (@ starts with "abc")`, "$ ? (@ starts with $x)", "$.a.type()", "$.size()", "$.abs().floor().ceiling().double().keyvalue()", "$.datetime()", `$.datetime("YYYY")`,
		"1 + 2 * 3", "(1 + 2) * 3", "1 - (2 - 3)", "-$.a", "+$.a", "-(1 + 2)", "(-$.a).type()", "$.a + -$.b / 2 % 3", "1.5", "null", "true", "false", `"text"`, `"text".type()`, "true.type()",
		"($.a + 1).type()", "$ ? (@ == null)", "($ ? (@ > 1)).size()", "$.a[*] ? (@ > 1 && (@ < 5 || @ == 7)).b", "1e10", "-1", "$ ? (-@ < 1)", "$ ? (@.x == -1)", "!(1 == 2)"}
	if o.major >= 15 { // 14 prints 1.type(), which 17 cannot read
		paths = append(paths, "(1).type()", "(1.50).abs().type()")
	}
	if o.major >= 17 {
		paths = append(paths, "$.bigint().boolean().date().integer().number().string()", "$.decimal()", "$.decimal(5)", "$.decimal(5, -2)", "$.time()", "$.time(3)",
			"$.time_tz(1)", "$.timestamp(0)", "$.timestamp_tz()", "$.timestamp_tz(6)", "$.datetime().string()")
	}
	o.texts(t, "jsonpath", paths...)
	var operand func(depth int) string
	operand = func(depth int) string {
		if depth == 0 {
			return []string{"$.a", "@.b", "2", "1.5", "$x", `"s"`, "$.a[0 to 2].c", "@"}[r.IntN(8)]
		}
		switch r.IntN(4) {
		case 0:
			return "-" + operand(depth-1)
		case 1:
			return "(" + operand(depth-1) + ")"
		default:
			return operand(depth-1) + " " + string("+-*/%"[r.IntN(5)]) + " " + operand(depth-1)
		}
	}
	var condition func(depth int) string
	condition = func(depth int) string {
		kind := r.IntN(4)
		switch {
		case depth == 0:
			return operand(r.IntN(2)) + []string{" == ", " != ", " < ", " > ", " <= ", " >= "}[r.IntN(6)] + operand(r.IntN(2))
		case kind == 0:
			return "!(" + condition(depth-1) + ")"
		case kind == 1:
			return "((" + condition(depth-1) + ") is unknown)"
		default:
			return "(" + condition(depth-1) + []string{" && ", " || "}[r.IntN(2)] + condition(depth-1) + ")"
		}
	}
	o.texts(t, "jsonpath", generate(1000, func() string { return "$.k[*] ? (" + condition(r.IntN(4)) + ").z" })...)
	o.texts(t, "jsonpath", generate(500, func() string { return strings.ReplaceAll(operand(r.IntN(4)), "@", "$") })...)
}

func TestTextSearch(t *testing.T) {
	o, r := newOracle(t), random(t)
	word := words(r)
	lexeme := func() string {
		text := "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(strings.ReplaceAll(word(), "\n", "n")+"x") + "'"
		for i := range r.IntN(4) {
			text += string(":,"[min(i, 1)]) + strconv.Itoa(1+r.IntN(20000)) + []string{"", "A", "B", "C", "D"}[r.IntN(5)]
		}
		return text
	}
	o.texts(t, "tsvector", append(generate(many, func() string { return strings.Join(generate(r.IntN(15), lexeme), " ") }), "", "a", "a:1A b:2,3")...)
	o.query(t, "tsvector", "SELECT to_tsvector('english', string_agg('word' || j || ' running dogs', ' ')) FROM generate_series(1, 60) i, LATERAL generate_series(1, i) j GROUP BY i", 60)
	var query func(depth int) string
	query = func(depth int) string {
		if depth == 0 {
			text := "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(word()+"x") + "'"
			if r.IntN(3) == 0 {
				text += ":" + []string{"*", "A", "AB", "*CD", "ABCD", "D"}[r.IntN(6)]
			}
			return text
		}
		switch r.IntN(5) {
		case 0:
			return "!(" + query(depth-1) + ")"
		case 1:
			return "(" + query(depth-1) + " <" + []string{"-", "2", "0", "16384"}[r.IntN(4)] + "> " + query(depth-1) + ")"
		default:
			return "(" + query(depth-1) + []string{" & ", " | "}[r.IntN(2)] + query(depth-1) + ")"
		}
	}
	o.texts(t, "tsquery", append(generate(many, func() string { return query(r.IntN(5)) }), "", "a", "!a", "!!a", "a <-> (b <-> c)", "(a <-> b) <-> c", "a & b | c", "a & (b | c)")...)
}

func TestCatalogTypes(t *testing.T) {
	o := newOracle(t)
	clustertest.Exec(t, o.uri, `CREATE ROLE "odd ""role" ; CREATE ROLE plain_role`)
	t.Cleanup(func() {
		clustertest.Exec(t, o.uri, "DROP TABLE IF EXISTS stored", `DROP ROLE "odd ""role"`, "DROP ROLE plain_role")
	})
	o.names = map[uint32]string{}
	for _, role := range strings.Split(o.one(t, "SELECT oid, rolname FROM pg_roles"), "\n") {
		oid, name, _ := strings.Cut(role, "|")
		o.names[uint32(number(t, oid))] = name
	}
	items := []string{"plain_role=r/postgres", "=arwdDxt/postgres", "postgres=U*C/postgres", `"odd ""role"=a*r*w*d*D*x*t*/plain_role`, "postgres=/postgres", "postgres=XUCTc/postgres"}
	if o.major >= 15 {
		items = append(items, "postgres=sA*/postgres")
	}
	if o.major >= 17 {
		items = append(items, "postgres=m*/postgres")
	}
	o.query(t, "aclitem", expressions("aclitem", len(items), func() string { item := items[0]; items = items[1:]; return literal(item) }), 6)
	o.query(t, "regrole", `VALUES ('plain_role'::regrole), ('-'), ('4000000000')`, 3)
	o.names = nil
	o.query(t, "aclitem", "SELECT makeaclitem(4000000000, 4000000001, 'SELECT', true)", 1)
	for _, name := range []string{"regclass", "regproc", "regprocedure", "regoper", "regoperator", "regtype", "regconfig", "regdictionary", "regnamespace", "regcollation"} {
		o.query(t, name, "VALUES (0::oid::"+name+"), (4000000000::oid::"+name+")", 2)
	}
	o.names = map[uint32]string{1259: "pg_class", 23: "integer"}
	o.texts(t, "regclass", "pg_class")
	o.texts(t, "regtype", "int4")
	o.texts(t, "regtype[]", "{int4,NULL}")
	for _, name := range []string{"pg_snapshot", "txid_snapshot"} {
		o.texts(t, name, "10:20:", "10:20:11,13,19", "1:9223372036854775807:")
	}
	clustertest.Exec(t, o.uri, "CREATE TABLE viewed (a int DEFAULT 42)")
	clustertest.Exec(t, o.uri, "CREATE TABLE copied AS SELECT i AS a, i % 10 AS b, i % 5 AS c, 'x' || i AS d FROM generate_series(1, 1000) i",
		"CREATE STATISTICS stats ON a, b, c FROM copied", "ALTER STATISTICS stats SET STATISTICS 3", "ANALYZE copied")
	o.query(t, "pg_node_tree", "SELECT adbin FROM pg_attrdef", 1)
	o.query(t, "pg_ndistinct", "SELECT stxdndistinct FROM pg_statistic_ext_data", 1)
	o.query(t, "pg_dependencies", "SELECT stxddependencies FROM pg_statistic_ext_data", 1)
	o.query(t, "pg_mcv_list", "SELECT stxdmcv FROM pg_statistic_ext_data WHERE stxdmcv IS NOT NULL", 1)
	o.anyArrays(t)
}

// anyArrays checks pg_statistic, whose arrays no user table can hold.
func (o *oracle) anyArrays(t *testing.T) {
	t.Helper()
	show, err := datum.NewPrinter(datum.BuiltinNamed("anyarray"), nil)
	if err != nil {
		t.Fatal(err)
	}
	// An int4[] is stored as an anyarray of it is.
	array := []byte{1, 0, 0, 0, 0, 0, 0, 0, 23, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 250, 255, 255, 255}
	for range 2 {
		if got, err := show(nil, array); err != nil || string(got) != "{5,-6}" {
			t.Errorf("got %q, %v", got, err)
		}
	}
}

func TestExtensions(t *testing.T) {
	o, r := newOracle(t), random(t)
	word := words(r)
	if clustertest.HasExtension(t, o.uri, "hstore") {
		clustertest.Exec(t, o.uri, "CREATE EXTENSION hstore")
		o.query(t, "hstore", expressions("hstore", 1000, func() string {
			keys := generate(1+r.IntN(6), func() string { return literal(word()) })
			values := arrayLiteral(r, func() string { return literal(word()) }, len(keys))
			return "hstore(ARRAY[" + strings.Join(keys, ", ") + "], " + values + "::text[])"
		}), 1000)
		o.texts(t, "hstore", "", `""=>""`, "a=>NULL", `a=>1,bb=>"2 3",c=>""`)
		o.texts(t, "hstore[]", `{"a=>1",NULL}`)
	}
	if clustertest.HasExtension(t, o.uri, "citext") {
		clustertest.Exec(t, o.uri, "CREATE EXTENSION citext")
		o.texts(t, "citext", generate(500, word)...)
		o.texts(t, "citext[]", `{Ab,"c d"}`)
	}
	if clustertest.HasExtension(t, o.uri, "ltree") {
		clustertest.Exec(t, o.uri, "CREATE EXTENSION ltree")
		label := func() string { return strings.Repeat("aZ_9"[r.IntN(4):][:1], 1+r.IntN(30)) }
		o.texts(t, "ltree", append(generate(1000, func() string { return strings.Join(generate(r.IntN(12), label), ".") }), "", "a", "a.b.c")...)
	}
	if clustertest.HasExtension(t, o.uri, "cube") {
		clustertest.Exec(t, o.uri, "CREATE EXTENSION cube")
		coordinate := func() string { return strconv.FormatFloat(float64(spread(r))/1000, 'g', -1, 64) }
		corner := func(n int) string { return "(" + strings.Join(generate(n, coordinate), ", ") + ")" }
		o.texts(t, "cube", append(generate(500, func() string { n := 1 + r.IntN(8); return corner(n) + "," + corner(n) }), "1", "(1,2)", "(1,2),(1,2)", "()")...)
	}
}
