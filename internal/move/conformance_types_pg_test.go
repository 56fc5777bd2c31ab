package move

import (
	"fmt"
	"slices"
	"strings"
)

// typedColumn is a column of the table that holds every type, with values in SQL. NULL is added to each.
type typedColumn struct {
	typ    string
	values []string
	// text: the binary form is not the same everywhere, so that a table with this column goes as text between databases.
	text bool
	// array: unnest cannot carry it.
	array bool
	// extension that must be there.
	extension string
}

// typeSetup makes the types of the database's own.
const typeSetup = `CREATE TYPE mood AS ENUM ('sad', 'ok', 'it''s, "odd" \');
CREATE DOMAIN posint AS int CHECK (VALUE > 0);
CREATE TYPE pair AS (a int, b text);
CREATE TYPE nest AS (p pair, many pair[], m mood, d posint);
CREATE TYPE span AS RANGE (subtype = float8)`

var typedColumns = []typedColumn{
	{typ: "boolean", values: []string{"true", "false"}},
	{typ: "smallint", values: []string{"-32768", "32767", "0"}},
	{typ: "integer", values: []string{"-2147483648", "2147483647"}},
	{typ: "bigint", values: []string{"-9223372036854775808", "9223372036854775807"}},
	{typ: "real", values: []string{"'NaN'", "'Infinity'", "'-Infinity'", "'-0'", "1e-45", "3.4028235e38", "0.1"}},
	{typ: "double precision", values: []string{"'NaN'", "'Infinity'", "'-Infinity'", "'-0'", "5e-324", "1.7976931348623157e308", "0.1"}},
	{typ: "numeric", values: []string{"'NaN'", "'Infinity'", "'-Infinity'", "repeat('9', 1000)::numeric", "('0.' || repeat('0', 999) || '1')::numeric",
		"1.10", "-0.0", "1e100"}},
	{typ: "numeric(20,5)", values: []string{"123456789012345.12345", "'NaN'", "-0.00001"}},
	{typ: "text", values: []string{"''", `E'\\.'`, `E'a\tb\nc\r\\N\bd\fe\vf'`, `'\N'`, "'💥 é ß'", `E'\\.\n'`, "repeat('long ', 1000)"}},
	{typ: "varchar(10)", values: []string{"''", "'ääääääääää'", `'\x41'`}},
	{typ: "char(5)", values: []string{"'a'", "''", "'abcde'"}},
	{typ: `"char"`, values: []string{"'x'", "''", `'\'`}},
	{typ: "name", values: []string{"''", "repeat('n', 63)::name"}},
	{typ: "bytea", values: []string{"''", `'\x005c2e0aff0d09'`, `decode(repeat('00ff', 5000), 'hex')`}},
	{typ: "date", values: []string{"'infinity'", "'-infinity'", "'4713-01-01 BC'", "'5874897-12-31'", "'2024-02-29'"}},
	{typ: "time", values: []string{"'00:00'", "'24:00'", "'23:59:59.999999'"}},
	{typ: "timetz", values: []string{"'23:59:59.999999-15:59'", "'24:00+15:59'", "'12:00:00.5+05:30'"}},
	{typ: "timestamp", values: []string{"'infinity'", "'-infinity'", "'4713-01-01 00:00:00 BC'", "'294276-12-31 23:59:59.999999'"}},
	{typ: "timestamptz", values: []string{"'infinity'", "'-infinity'", "'4713-01-01 00:00:00+00 BC'", "'294276-12-31 23:59:59.999999+00'"}},
	{typ: "timestamp(2)", values: []string{"'2024-02-29 12:34:56.78'"}},
	{typ: "interval", values: []string{"'178000000 years'", "'-178000000 years'", "'-1 mon 2 days -03:04:05.000006'", "'0'"}},
	{typ: "uuid", values: []string{"'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"}},
	{typ: "json", values: []string{`'{"a": 1, "a" : 2}'`, `'null'`, `E'[1,\n 2]'`}},
	{typ: "jsonb", values: []string{`'{"b": [1e400, {"\\u20ac": null}]}'`, `'null'`, `'"\\"'`}},
	{typ: "jsonpath", values: []string{`'$.a[*] ? (@ > 2)'`}},
	{typ: "xml", values: []string{"'<a b=\"1\">é</a>'", "'text<b/>tail'", "''"}, text: true},
	{typ: "inet", values: []string{"'::1/64'", "'10.0.0.1/8'", "'255.255.255.255'"}},
	{typ: "cidr", values: []string{"'10.0.0.0/8'", "'::/0'"}},
	{typ: "macaddr", values: []string{"'08:00:2b:01:02:03'"}},
	{typ: "macaddr8", values: []string{"'08:00:2b:01:02:03:04:05'"}},
	{typ: "bit(5)", values: []string{"B'10101'", "B'00000'"}},
	{typ: "bit varying", values: []string{"B''", "B'1'", "repeat('10', 100)::varbit"}},
	{typ: "money", values: []string{"'-92233720368547758.08'", "'92233720368547758.07'", "0.01::numeric::money"}},
	{typ: "point", values: []string{"'(NaN,Infinity)'", "'(-0,1e300)'"}},
	{typ: "line", values: []string{"'{1,2,3}'"}},
	{typ: "lseg", values: []string{"'[(0,0),(1,1)]'"}},
	{typ: "box", values: []string{"'(1,1),(0,0)'"}},
	{typ: "path", values: []string{"'[(0,0),(1,1)]'", "'((0,0),(1,1))'"}},
	{typ: "polygon", values: []string{"'((0,0),(1,1),(1,0))'"}},
	{typ: "circle", values: []string{"'<(0,0),5>'"}},
	{typ: "tsvector", values: []string{"''", `'a:1A,2 ''it''''s'':3 b:16383'`}},
	{typ: "tsquery", values: []string{"''", "'a & !b | c <-> d:*A'"}, text: true},
	{typ: "int4range", values: []string{"'empty'", "'(,)'", "'[1,5)'"}},
	{typ: "int8range", values: []string{"'[,9223372036854775807)'"}},
	{typ: "numrange", values: []string{"'(1.5,NaN]'", "'empty'"}},
	{typ: "tsrange", values: []string{"'[-infinity,infinity]'"}},
	{typ: "tstzrange", values: []string{`'["2024-01-01 00:00:00+00",)'`}},
	{typ: "daterange", values: []string{"'[infinity,)'", "'[4713-01-01 BC,2024-01-01)'"}},
	{typ: "int4multirange", values: []string{"'{}'", "'{[1,2),[5,)}'"}},
	{typ: "nummultirange", values: []string{"'{(,1.5],[2,3)}'"}},
	{typ: "datemultirange", values: []string{"'{[2024-01-01,2024-02-01)}'"}},
	{typ: "oid", values: []string{"4294967295", "0"}},
	{typ: "xid", values: []string{"'4294967295'"}},
	{typ: "xid8", values: []string{"'18446744073709551615'"}},
	{typ: "cid", values: []string{"'7'"}},
	{typ: "tid", values: []string{"'(4294967295,65535)'"}},
	{typ: "pg_lsn", values: []string{"'FFFFFFFF/FFFFFFFF'", "'0/0'"}},
	{typ: "pg_snapshot", values: []string{"'10:20:10,14,15'"}},
	{typ: "txid_snapshot", values: []string{"'10:20:10,14,15'"}},
	{typ: "refcursor", values: []string{`'<unnamed> "1"'`}},
	{typ: "regclass", values: []string{"'pg_class'", "0"}, text: true},
	{typ: "regtype", values: []string{"'int4[]'"}, text: true},
	{typ: "regproc", values: []string{"'now'"}, text: true},
	{typ: "regprocedure", values: []string{"'lower(text)'"}, text: true},
	{typ: "regnamespace", values: []string{"'pg_catalog'"}, text: true},
	{typ: "regrole", values: []string{"'postgres'"}, text: true},
	{typ: "regconfig", values: []string{"'english'"}, text: true},
	{typ: "regcollation", values: []string{`'"C"'`}, text: true},
	{typ: "int2vector", values: []string{"'1 2 3'", "''"}, text: true, array: true},
	{typ: "oidvector", values: []string{"'1 4294967295'", "''"}, text: true, array: true},
	{typ: "integer[]", values: []string{"'{}'", "'{{1,2},{3,NULL}}'", "'[-1:0]={1,2}'"}, array: true},
	{typ: "text[]", values: []string{`ARRAY['', 'NULL', 'a"b\c', NULL, '{}', ',']`, "ARRAY[]::text[]"}, array: true},
	{typ: "bytea[]", values: []string{`ARRAY['\x00'::bytea, NULL]`}, array: true},
	{typ: "numeric[]", values: []string{"'{NaN,1.10,-Infinity}'"}, array: true},
	{typ: "jsonb[]", values: []string{`ARRAY['{"a": "b,c"}'::jsonb]`}, array: true},
	{typ: "int4range[]", values: []string{`'{"[1,2)",empty}'`}, array: true},
	{typ: "timestamptz[]", values: []string{"'{infinity,NULL}'"}, array: true},
	{typ: "mood", values: []string{"'sad'", `'it''s, "odd" \'`}},
	{typ: "posint", values: []string{"1", "2147483647"}},
	{typ: "pair", values: []string{`ROW(1, 'a"b\c,()')`, "ROW(NULL, NULL)", "ROW(NULL, '')"}},
	{typ: "span", values: []string{"'[NaN,NaN]'", "'(-Infinity,1.5)'"}},
	{typ: "mood[]", values: []string{`ARRAY['ok', NULL]::mood[]`}, text: true, array: true},
	{typ: "posint[]", values: []string{"'{1,2}'"}, text: true, array: true},
	{typ: "pair[]", values: []string{`ARRAY[ROW(1, 'x'), NULL]::pair[]`}, text: true, array: true},
	{typ: "nest", values: []string{`ROW(ROW(1, 'é'), ARRAY[ROW(2, NULL)]::pair[], 'ok', 5)`}, text: true},
	{typ: "hstore", values: []string{`'a=>1, "b c"=>NULL, ""=>""'`, "''"}, extension: "hstore"},
	{typ: "citext", values: []string{"'ÄÖ'", "''"}, extension: "citext"},
	{typ: "citext[]", values: []string{"'{a,NULL}'"}, text: true, array: true, extension: "citext"},
	{typ: "aclitem", values: []string{"'=r/postgres'"}, text: true},
}

// wideTable is the DDL of a table with a column for each of the types, and the INSERT that gives each value and NULL to some of rows rows.
func wideTable(name string, rows int, types []typedColumn) (ddl, fill string) {
	var columns, values []string
	for i := range types {
		c := &types[i]
		columns = append(columns, fmt.Sprintf("c%d %s", i, c.typ))
		var b strings.Builder
		n := len(c.values) + 1
		fmt.Fprintf(&b, "CASE (id + %d) %% %d", i, n)
		for v, value := range c.values {
			fmt.Fprintf(&b, " WHEN %d THEN (%s)::%s", v, value, c.typ)
		}
		b.WriteString(" END")
		values = append(values, b.String())
	}
	ddl = "CREATE TABLE " + name + " (id int PRIMARY KEY, " + strings.Join(columns, ", ") + ")"
	fill = "INSERT INTO " + name + " SELECT id, " + strings.Join(values, ", ") + fmt.Sprintf(" FROM generate_series(1, %d) AS id", rows)
	return ddl, fill
}

// typesBut returns the types for which leave is false.
func typesBut(leave func(*typedColumn) bool) []typedColumn {
	return slices.DeleteFunc(slices.Clone(typedColumns), func(c typedColumn) bool { return leave(&c) })
}
