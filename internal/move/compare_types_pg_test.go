package move

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/cluster"
	"github.com/pghaul/pghaul/internal/clustertest"
)

const typeSchema = `
CREATE TYPE mood AS ENUM ('low', 'high "x"');
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN posint AS int CHECK (VALUE > 0);
CREATE DOMAIN code AS char(4);`

// comparedTypes are pairs of values; the empty target means that the target holds the same as the source.
var comparedTypes = []struct {
	name, typ, source, target string
	targetType                string
	differs                   bool
}{
	{name: "null and empty text", typ: "text", source: "NULL", target: "''", differs: true},
	{name: "text", typ: "text", source: "E'caf\u00e9\\n\\\\ '"},
	{name: "text blanks", typ: "text", source: "'a'", target: "'a '", differs: true},
	{name: "long text", typ: "text", source: "repeat('\u00e9', 100000)"},
	{name: "long text differs at its end", typ: "text", source: "repeat('x', 100000)", target: "repeat('x', 99999) || 'y'", differs: true},
	{name: "two-byte limit", typ: "text", source: "repeat('\u00e9', 1001)"},
	{name: "negative zero", typ: "float8", source: "'-0'", target: "'0'", differs: true},
	{name: "float8", typ: "float8", source: "0.1::float8 + 0.2", target: "0.3", differs: true},
	{name: "nan", typ: "float8", source: "'NaN'", target: "'Infinity'::float8 - 'Infinity'"},
	{name: "float4", typ: "float4", source: "'1e-44'"},
	{name: "numeric scale", typ: "numeric", source: "1.0", target: "1.00", differs: true},
	{name: "numeric digits", typ: "numeric", source: "('1' || repeat('0', 999) || '.5')::numeric"},
	{name: "bigint halves", typ: "bigint", source: "1", target: "4294967296", differs: true},
	{name: "bigint signs", typ: "bigint", source: "-4294967297", target: "4294967296", differs: true},
	{name: "bigint", typ: "bigint", source: "-9223372036854775808"},
	{name: "smallint", typ: "smallint", source: "-32768", target: "-32767", differs: true},
	{name: "boolean", typ: "boolean", source: "true", target: "false", differs: true},
	{name: "boolean null", typ: "boolean", source: "NULL", target: "false", differs: true},
	{name: "date", typ: "date", source: "'infinity'", target: "'-infinity'", differs: true},
	{name: "date BC", typ: "date", source: "'0044-03-15 BC'"},
	{name: "timestamp", typ: "timestamp", source: "'2024-01-01 00:00:00.000001'", target: "'2024-01-01'", differs: true},
	{name: "timestamptz", typ: "timestamptz", source: "'2024-01-01 00:00:00+00'", target: "'2024-01-01 01:00:00+01'"},
	{name: "time", typ: "time", source: "'24:00'", target: "'00:00'", differs: true},
	{name: "timetz", typ: "timetz", source: "'12:00+00'", target: "'13:00+01'", differs: true},
	{name: "interval", typ: "interval", source: "'1 month'", target: "'30 days'", differs: true},
	{name: "interval signs", typ: "interval", source: "'1 day -1 hour'", target: "'-1 day +1 hour'", differs: true},
	{name: "interval of hours", typ: "interval", source: "'24 hours'", target: "'1 day'", differs: true},
	{name: "interval that 14 cannot print", typ: "interval", source: "interval '2147483647 hours' + interval '1 hour'"},
	{name: "uuid", typ: "uuid", source: "'00000000-0000-0000-0000-000000000001'", target: "'00000000-0000-0000-0000-000000000002'", differs: true},
	{name: "char blanks do not count", typ: "char(5)", source: "'a'", target: "'a  '"},
	{name: "bpchar blanks are kept", typ: "bpchar", source: "'a'", target: "'a  '", differs: true},
	{name: "domain over char", typ: "code", source: "'ab'", target: "'abc'", differs: true},
	{name: "domain", typ: "posint", source: "1", target: "2", differs: true},
	{name: "internal char", typ: `"char"`, source: `'a'`, target: `''`, differs: true},
	{name: "bytea", typ: "bytea", source: `'\x00ff'`, target: `'\x00fe'`, differs: true},
	{name: "bytea null", typ: "bytea", source: `''`, target: `NULL`, differs: true},
	{name: "varbit", typ: "varbit", source: "B'10'", target: "B'100'", differs: true},
	{name: "bit", typ: "bit(3)", source: "B'101'", target: "B'100'", differs: true},
	{name: "json blanks", typ: "json", source: `'{"a":1}'`, target: `'{"a": 1}'`, differs: true},
	{name: "jsonb", typ: "jsonb", source: `'{"a":1.0}'`, target: `'{"a":1.00}'`, differs: true},
	{name: "jsonb equal", typ: "jsonb", source: "'{\"a\":1,\"b\":\"\u00e9\"}'", target: "'{\"b\":\"\u00e9\",\"a\":1}'"},
	{name: "xml", typ: "xml", source: `'<a/>'`, target: `'<a></a>'`, differs: true},
	{name: "xml encoding does not travel", typ: "xml", source: `'<?xml version="1.0" encoding="ISO-8859-1"?><a/>'`, target: `'<a/>'`},
	{name: "xml standalone", typ: "xml", source: `'<?xml version="1.0" standalone="yes"?><a/>'`, target: `'<a/>'`, differs: true},
	{name: "money", typ: "money", source: `'-12.30'`},
	{name: "array", typ: "int[]", source: `'{1,NULL}'`, target: `'{1,0}'`, differs: true},
	{name: "array bounds", typ: "int[]", source: `'[0:1]={1,2}'`, target: `'{1,2}'`, differs: true},
	{name: "array of text null", typ: "text[]", source: `'{"NULL"}'`, target: `'{NULL}'`, differs: true},
	{name: "composite of nulls", typ: "pair", source: `ROW(NULL, NULL)::pair`, target: `NULL`, differs: true},
	{name: "composite", typ: "pair", source: `ROW(1, 'a,b')::pair`, target: `ROW(1, 'a')::pair`, differs: true},
	{name: "enum", typ: "mood", source: `'low'`, target: `'high "x"'`, differs: true},
	{name: "range", typ: "int4range", source: `'[1,2]'`, target: `'[1,3)'`},
	{name: "multirange", typ: "nummultirange", source: `'{[1.0,2]}'`, target: `'{[1.00,2]}'`, differs: true},
	{name: "inet", typ: "inet", source: `'10.0.0.1/24'`, target: `'10.0.0.1'`, differs: true},
	{name: "cidr", typ: "cidr", source: `'10.0.0.0/24'`},
	{name: "tsvector", typ: "tsvector", source: `'a:1 b'`, target: `'a b'`, differs: true},
	{name: "point", typ: "point", source: `'(0.1,-0)'`, target: `'(0.1,0)'`, differs: true},
	{name: "regclass", typ: "regclass", source: `'pg_class'`, target: `'pg_type'`, differs: true},
	{name: "oid", typ: "oid", source: `4294967295`, target: `1`, differs: true},
	{name: "integer to bigint", typ: "int", targetType: "bigint", source: "-5"},
	{name: "integer to bigint differs", typ: "int", targetType: "bigint", source: "-5", target: "5", differs: true},
	{name: "integer to text", typ: "int", targetType: "text", source: "5", target: "'5'"},
	{name: "boolean to text", typ: "boolean", targetType: "text", source: "true", target: "'t'"},
	{name: "integer to numeric", typ: "int", targetType: "numeric(10,2)", source: "5"},
	{name: "numeric with more digits", typ: "numeric(10,2)", targetType: "numeric(12,4)", source: "1.5"},
	{name: "numeric with fewer digits", typ: "numeric", targetType: "numeric(10,3)", source: "1.2345"},
	{name: "numeric with fewer digits differs", typ: "numeric", targetType: "numeric(10,3)", source: "1.2345", target: "1.234", differs: true},
	{name: "numeric without limit", typ: "numeric(10,3)", targetType: "numeric", source: "1.2345", target: "1.235"},
	{name: "array of other digits", typ: "numeric(10,2)[]", targetType: "numeric(10,3)[]", source: "'{1.5,NULL}'"},
	{name: "timestamp of seconds", typ: "timestamp", targetType: "timestamp(0)", source: "'2024-01-01 00:00:00.6'"},
	{name: "interval of months", typ: "interval", targetType: "interval year to month", source: "'1 mon 3 days'"},
	{name: "float4 to float8", typ: "float4", targetType: "float8", source: "0.1", target: "0.1"},
	{name: "varchar to text", typ: "varchar(10)", targetType: "text", source: "'a '"},
	{name: "char to text", typ: "char(10)", targetType: "text", source: "'a '"},
	{name: "text to enum", typ: "text", targetType: "mood", source: "'low'"},
	{name: "text to enum differs", typ: "text", targetType: "mood", source: "'low'", target: `'high "x"'`, differs: true},
	{name: "timestamptz to date", typ: "timestamptz", targetType: "date", source: "'2024-01-01 23:00+00'", target: "'2024-01-01'"},
	{name: "bytea to text", typ: "bytea", targetType: "text", source: `'\x0a'`, target: `'\x0a'`},
}

// createTypeCases fills one table for each case, named s1, s2 ... in the source and t1, t2 ... in the target.
func createTypeCases(t *testing.T, sourceURI, targetURI string) {
	t.Helper()
	sources := []string{"SET client_encoding = 'UTF8'", typeSchema}
	targets := []string{"SET client_encoding = 'UTF8'"}
	if targetURI != sourceURI {
		targets = append(targets, typeSchema)
	}
	for i, c := range comparedTypes {
		target, targetType := c.target, c.targetType
		if target == "" {
			target = c.source
		}
		if targetType == "" {
			targetType = c.typ
		}
		sources = append(sources, fmt.Sprintf("CREATE TABLE s%d (id int PRIMARY KEY, v %s); INSERT INTO s%d VALUES (1, %s), (2, NULL)",
			i, c.typ, i, c.source))
		targets = append(targets, fmt.Sprintf("CREATE TABLE t%d (v %s, id int); INSERT INTO t%d VALUES (%s, 1), (NULL, 2)",
			i, targetType, i, target))
	}
	clustertest.Exec(t, sourceURI, sources...)
	clustertest.Exec(t, targetURI, targets...)
}

// checkTypeCases compares all of them.
func checkTypeCases(t *testing.T, sourceURI, targetURI string) {
	t.Helper()
	source, target := readFrom(t, sourceURI), readFrom(t, targetURI)
	for i, c := range comparedTypes {
		t.Run(c.name, func(t *testing.T) {
			from, to := source.side(t, fmt.Sprintf("s%d", i)), target.side(t, fmt.Sprintf("t%d", i))
			from.columns, to.columns = pairByName(t, from.columns, to.columns)
			got, err := compareSides(t.Context(), from, to, VerifyHash)
			if err != nil {
				t.Fatal(err)
			}
			want := ""
			if c.differs {
				want = "all rows: 2, 2\n  id=1: different in v\n"
			}
			if told(got) != want {
				t.Errorf("got:\n%swant:\n%s", told(got), want)
			}
		})
	}
}

func TestCompareTypes(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	createTypeCases(t, uri, uri)
	checkTypeCases(t, uri, uri)
}

func TestCompareBigValues(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri,
		`CREATE TABLE a (id int PRIMARY KEY, v bytea, w text); ALTER TABLE a ALTER v SET STORAGE EXTERNAL`,
		`INSERT INTO a SELECT 1, decode(repeat('00', 100000000), 'hex'), repeat('x', 50000000)`,
		`CREATE TABLE b AS TABLE a`, `CREATE TABLE c AS SELECT id, overlay(v PLACING '\x01' FROM 99999999) AS v, w FROM a`)
	if got := told(compareNamed(t, uri, "a", "b", VerifyHash)); got != "" {
		t.Errorf("equal values: %s", got)
	}
	if got := told(compareNamed(t, uri, "a", "c", VerifyHash)); got != "all rows: 1, 1\n  id=1: different in v\n" {
		t.Errorf("one byte of 100 MB: %s", got)
	}
}

func TestCompareTypesOfTwoEncodings(t *testing.T) {
	t.Parallel()
	source := clustertest.Database(t)
	target := clustertest.DatabaseOn(t, clustertest.Server(t), "ENCODING 'LATIN1'", "LOCALE 'C'")
	createTypeCases(t, source, target)
	checkTypeCases(t, source, target)
}

func TestCompareTypesWithSQLASCII(t *testing.T) {
	t.Parallel()
	source := clustertest.DatabaseOn(t, clustertest.Server(t), "ENCODING 'SQL_ASCII'", "LOCALE 'C'")
	target := clustertest.Database(t)
	createTypeCases(t, source, target)
	checkTypeCases(t, source, target)
}

// TestCompareMajors compares equal tables on the server of the tests and on each version that is installed.
func TestCompareMajors(t *testing.T) {
	t.Parallel()
	found, err := cluster.Find()
	if err != nil {
		t.Fatal(err)
	}
	// One row of all values.
	var columns, values []string
	for i, c := range comparedTypes {
		columns, values = append(columns, fmt.Sprintf("c%d %s", i, c.typ)), append(values, c.source)
	}
	fill := []string{typeSchema, "CREATE TABLE t (id int PRIMARY KEY, " + strings.Join(columns, ", ") + ")", "INSERT INTO t VALUES (1, " + strings.Join(values, ", ") + ")"}
	source := clustertest.Database(t)
	clustertest.Exec(t, source, fill...)
	for _, b := range found {
		t.Run(fmt.Sprint(b.Version), func(t *testing.T) {
			target := clustertest.DatabaseOn(t, clustertest.Private(t, &cluster.Options{Major: b.Version}))
			clustertest.Exec(t, target, fill...)
			c, err := compareSides(t.Context(), comparedSide(t, source, "t", 1), comparedSide(t, target, "t", 1), VerifyHash)
			if err != nil {
				t.Fatal(err)
			}
			if !c.Equal() {
				t.Error(told(c))
			}
		})
	}
}
