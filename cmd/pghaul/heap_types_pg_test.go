package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// typeSamples are values of the built-in types, but for regprocedure, regoper and regoperator: those are printed as numbers.
var typeSamples = []struct {
	name   string
	values []string
}{
	{"boolean", []string{"t", "f"}},
	{`"char"`, []string{"x", ""}},
	{"char(5)", []string{"ab", "ü"}},
	{"varchar(10)", []string{"", "a\tb", `\N`}},
	{"text", []string{"", "NULL", "line\nend\r\\.", strings.Repeat("toasted ", 3000)}},
	{"name", []string{"pg_class"}},
	{"bytea", []string{"", `\x00ff5c`}},
	{"int2", []string{"-32768", "32767"}},
	{"int4", []string{"-2147483648", "0"}},
	{"int8", []string{"-9223372036854775808", "9223372036854775807"}},
	{"oid", []string{"4294967295"}},
	{"xid", []string{"4294967295"}},
	{"xid8", []string{"18446744073709551615"}},
	{"cid", []string{"7"}},
	{"tid", []string{"(4294967295,65535)"}},
	{"pg_lsn", []string{"FF/1A", "0/0"}},
	{"regclass", []string{"pg_class", "information_schema.tables", "-"}},
	{"regtype", []string{"int4", "text[]"}},
	{"regproc", []string{"now", "-"}},
	{"regnamespace", []string{"pg_catalog"}},
	{"regrole", []string{"postgres"}},
	{"regconfig", []string{"english"}},
	{"regdictionary", []string{"simple"}},
	{"float4", []string{"NaN", "-0", "1e-30", "3.4028235e+38"}},
	{"float8", []string{"Infinity", "0.1", "1e+15", "123456789012345678", "5e-324"}},
	{"numeric", []string{"NaN", "-Infinity", "0.00", "-1234567890.0123456789", "1e1000"}},
	{"numeric(10,2)", []string{"12345678.90"}},
	{"money", []string{"-1234.56"}},
	{"date", []string{"infinity", "0044-03-15 BC", "2024-02-29", "5874897-12-31"}},
	{"time", []string{"24:00:00", "01:02:03.000004"}},
	{"timetz", []string{"01:02:03.4+05:30", "00:00-15:59:59"}},
	{"timestamp", []string{"-infinity", "4713-01-01 00:00:00 BC", "1999-12-31 23:59:59.999999"}},
	{"timestamptz", []string{"infinity", "2024-06-01 12:00:00+02"}},
	{"interval", []string{"-1 year 2 days -03:04:05.6", "0"}},
	{"uuid", []string{"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"}},
	{"json", []string{`{"a" : [1, null]}`}},
	{"jsonb", []string{`{"b": 1.50, "a": [true, null, "ü\n\"", {}]}`, `"x"`, "[]"}},
	{"jsonpath", []string{`$."a"[*]?(@.b > 1 && exists (@.c))`, "strict $.x.size()"}},
	{"xml", []string{"<a b='c'>d</a>"}},
	{"inet", []string{"192.168.0.1/24", "::1"}},
	{"cidr", []string{"10.0.0.0/8", "2001:db8::/32"}},
	{"macaddr", []string{"08:00:2b:01:02:03"}},
	{"macaddr8", []string{"08:00:2b:01:02:03:04:05"}},
	{"bit(9)", []string{"101010101"}},
	{"varbit", []string{"", "1010101011"}},
	{"point", []string{"(1.5,-2)"}},
	{"lseg", []string{"[(0,1),(2,3)]"}},
	{"box", []string{"(3,4),(1,2)"}},
	{"path", []string{"[(0,0),(1,1)]", "((0,0),(1,1),(2,0))"}},
	{"polygon", []string{"((0,0),(1,1),(2,0))"}},
	{"line", []string{"{1,-2,3}"}},
	{"circle", []string{"<(1,2),3>"}},
	{"tsvector", []string{"", "'a':1A,2 'b c':3"}},
	{"tsquery", []string{"'a' & !'b c':*A | 'd' <2> 'e'"}},
	{"pg_snapshot", []string{"10:20:10,14"}},
	{"int2vector", []string{"1 2 3"}},
	{"oidvector", []string{"1 2 3"}},
	{"int4range", []string{"empty", "[1,5)", "(,)"}},
	{"tstzrange", []string{`["2024-01-01 00:00:00+00",)`}},
	{"numrange", []string{"(1.50,2]"}},
	{"datemultirange", []string{"{}", "{[2024-01-01,2024-02-01),[2025-01-01,)}"}},
	{"int8multirange", []string{"{[1,2),[5,9)}"}},
	{"aclitem", []string{"postgres=r*w/postgres", "=X/postgres"}},
	{"refcursor", []string{"cursor one"}},
	{"mood", []string{"so so", "happy"}},
	{"pair", []string{`(1,"x y")`, "(,)"}},
	{"positive", []string{"7"}},
}

func TestHeapDumpOfAllTypes(t *testing.T) {
	sql := []string{
		"CREATE TYPE mood AS ENUM ('sad', 'so so', 'happy')", "CREATE TYPE pair AS (a int, b text)", "CREATE DOMAIN positive AS numeric CHECK (VALUE > 0)",
	}
	var columns []string
	most := 0
	for i, s := range typeSamples {
		columns = append(columns, fmt.Sprintf("v%d %s, a%d %s[]", i, s.name, i, s.name))
		most = max(most, len(s.values))
	}
	sql = append(sql, "CREATE TABLE everything ("+strings.Join(columns, ", ")+")", "INSERT INTO everything DEFAULT VALUES")
	for row := range most {
		var values []string
		for _, s := range typeSamples {
			value := "'" + strings.ReplaceAll(s.values[row%len(s.values)], "'", "''") + "'::" + s.name
			values = append(values, value, "ARRAY["+value+", NULL, "+value+"]")
		}
		sql = append(sql, "INSERT INTO everything VALUES ("+strings.Join(values, ", ")+")")
	}
	dir, printed := stopped(t, []string{"everything"}, sql...)
	var stdout, stderr bytes.Buffer
	if code := run([]string{"heap", "dump", dir, "everything"}, &stdout, &stderr); code != exitDone {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	got, want := strings.Split(stdout.String(), "\n"), strings.Split(printed["everything"], "\n")
	if len(got) != most+2 || len(want) != len(got) {
		t.Fatalf("the dump has %d lines, COPY's output %d", len(got), len(want))
	}
	for row := range got {
		g, w := strings.Split(got[row], "\t"), strings.Split(want[row], "\t")
		for i := range w {
			if len(g) != len(w) || g[i] != w[i] {
				t.Errorf("row %d, column %s:\n got %.200s\nwant %.200s", row, columns[i/2], g[min(i, len(g)-1)], w[i])
			}
		}
	}
	var faults bytes.Buffer
	if code := run([]string{"heap", "check", dir, "everything"}, &stdout, &faults); code != exitDone {
		t.Errorf("the check ends with exit code %d: %s", code, &faults)
	}
}
