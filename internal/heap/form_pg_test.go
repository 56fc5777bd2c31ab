package heap_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/internal/heap"
)

// typeOf reads a type's description from the server.
func typeOf(t *testing.T, uri string, oid uint32, modifier int32) *heap.Datatype {
	t.Helper()
	row := strings.Split(clustertest.Query(t, uri, fmt.Sprintf(`SELECT t.oid, CASE WHEN t.typcategory = 'A' AND t.typelem <> 0 AND t.typlen = -1 THEN 'a' ELSE t.typtype END, typlen, typalign, typstorage,
		CASE WHEN typtype = 'd' THEN typbasetype WHEN typtype = 'r' THEN (SELECT rngsubtype FROM pg_range WHERE rngtypid = t.oid)
		WHEN typtype = 'm' THEN (SELECT rngtypid FROM pg_range WHERE rngmultitypid = t.oid) WHEN typcategory = 'A' AND typlen = -1 THEN typelem ELSE 0 END, typtypmod,
		typreceive::text, format_type(t.oid, NULL), (SELECT string_agg(oid || '=' || enumlabel, ',') FROM pg_enum WHERE enumtypid = t.oid) FROM pg_type t WHERE t.oid = %d`, oid)), "|")
	number := func(i int) int64 {
		n, err := strconv.ParseInt(row[i], 10, 64)
		if err != nil {
			t.Fatal(row, err)
		}
		return n
	}
	d := &heap.Datatype{OID: oid, Class: row[1][0], Len: int16(number(2)), Align: row[3][0], Storage: row[4][0], Modifier: modifier, Receive: row[7], Name: row[8]}
	if elem := uint32(number(5)); elem != 0 {
		inner := int32(-1)
		if d.Class == 'd' {
			inner = int32(number(6))
		}
		d.Elem = typeOf(t, uri, elem, inner)
	}
	if row[9] != "" {
		d.Labels = map[string]uint32{}
		for _, label := range strings.Split(row[9], ",") {
			oid, name, _ := strings.Cut(label, "=")
			n, _ := strconv.ParseUint(oid, 10, 32)
			d.Labels[name] = uint32(n)
		}
	}
	return d
}

// formOf describes a table's columns, each filled by the field in its place.
func formOf(t *testing.T, uri, table string) heap.Form {
	t.Helper()
	f := heap.Form{Size: 8192}
	for _, line := range strings.Split(clustertest.Query(t, uri, "SELECT attname, atttypid, atttypmod, attlen, attalign, attstorage, attcompression FROM pg_attribute WHERE attrelid = '"+
		table+"'::regclass AND attnum > 0 ORDER BY attnum"), "\n") {
		if line == "" {
			continue
		}
		c := strings.Split(line, "|")
		var oid uint32
		var modifier int32
		var length int16
		if _, err := fmt.Sscan(c[1]+" "+c[2]+" "+c[3], &oid, &modifier, &length); err != nil {
			t.Fatal(err)
		}
		typ := typeOf(t, uri, oid, modifier)
		column := heap.FormColumn{Attribute: heap.Attribute{Name: c[0], Len: length, Align: c[4][0]}, Type: typ, Storage: c[5][0], Field: f.Fields, Make: heap.MakerFor(typ)}
		if c[6] == "l" {
			column.Compression = heap.LZ4
		}
		if column.Make == nil {
			t.Fatalf("type %s has no maker", typ.Name)
		}
		f.Columns = append(f.Columns, column)
		f.Fields++
	}
	return f
}

// binaryRows are a table's rows as COPY binary sends them, without header and trailer.
func binaryRows(t *testing.T, uri, query string) []byte {
	t.Helper()
	c, err := pgx.Connect(t.Context(), uri)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(t.Context()) }()
	var out bytes.Buffer
	if _, err := c.PgConn().CopyTo(t.Context(), &out, "COPY ("+query+") TO STDOUT (FORMAT binary)"); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()[19 : out.Len()-2]
}

// sameAsServer forms the rows of a table from what COPY binary gives of them, and compares each tuple with the server's own, byte for byte.
func sameAsServer(t *testing.T, uri, table string) {
	t.Helper()
	former := heap.NewFormer(formOf(t, uri, table))
	rows := binaryRows(t, uri, "TABLE "+table)
	server := strings.Split(clustertest.Query(t, uri, fmt.Sprintf(`SELECT t_infomask & 7, t_infomask2, t_hoff, coalesce(t_bits, ''), encode(t_data, 'hex'), (SELECT left(x::text, 200) FROM %[1]s x WHERE ctid = i.t_ctid)
		FROM generate_series(0, pg_relation_size('%[1]s') / 8192 - 1) b, heap_page_items(get_raw_page('%[1]s', b::int)) i ORDER BY b, lp`, table)), "\n")
	for n, want := range server {
		tuple, size, err := former.Row(rows)
		if err != nil {
			t.Fatalf("%s, row %d (%s): %v", table, n+1, want, err)
		}
		rows = rows[size:]
		bits := ""
		for i := range tuple.Nulls() {
			for bit := range 8 {
				bits += strconv.Itoa(int(tuple.Nulls()[i] >> bit & 1))
			}
		}
		got := fmt.Sprintf("%d|%d|%d|%s|%s", tuple.Infomask(), tuple.Infomask2(), tuple.Hoff(), bits, hex.EncodeToString(tuple[tuple.Hoff():]))
		if !strings.HasPrefix(want, got+"|") {
			t.Errorf("%s, row %d:\n got %s\nwant %s", table, n+1, got, want)
		}
	}
	if len(rows) > 0 {
		t.Errorf("%s: %d bytes are left", table, len(rows))
	}
}

func TestTuplesAreTheServers(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE EXTENSION pageinspect", "CREATE EXTENSION citext", "CREATE TYPE mood AS ENUM ('sad', 'ok', 'it''s')", "CREATE DOMAIN code AS varchar(5) CHECK (VALUE <> '')",
		"CREATE TYPE textrange AS RANGE (subtype = text, collation = \"C\")", "CREATE TYPE floatrange AS RANGE (subtype = float8)")
	for i, c := range formCases {
		t.Run(c.typ, func(t *testing.T) {
			t.Parallel()
			table := "t" + strconv.Itoa(i)
			columns := "c " + c.typ
			clustertest.Exec(t, uri, "CREATE TABLE "+table+" (b bool, "+columns+", z int2)")
			var rows []string
			for n, v := range c.values {
				rows = append(rows, "("+[]string{"true", "NULL"}[n%2]+", "+v+", "+strconv.Itoa(n)+")")
			}
			clustertest.Exec(t, uri, "ALTER TABLE "+table+" ALTER c SET STORAGE "+storageOf(t, uri, table), "INSERT INTO "+table+" VALUES "+strings.Join(rows, ", "), "INSERT INTO "+table+" (c) SELECT c FROM "+table+" WHERE z % 2 = 0",
				"INSERT INTO "+table+" (z) VALUES (NULL), (1)")
			sameAsServer(t, uri, table)
		})
	}
}

// storageOf keeps values of a table uncompressed and in the table, so that all of each tuple can be compared.
func storageOf(t *testing.T, uri, table string) string {
	if clustertest.Query(t, uri, "SELECT attlen > 0 OR attstorage = 'p' FROM pg_attribute WHERE attrelid = '"+table+"'::regclass AND attname = 'c'") == "t" {
		return "PLAIN"
	}
	return "MAIN"
}

// formCases are types with values of all their forms.
var formCases = []struct {
	typ    string
	values []string
}{
	{"bool", []string{"true", "false"}},
	{"int2", []string{"-32768", "32767", "0"}},
	{"int4", []string{"-2147483648", "2147483647", "1"}},
	{"int8", []string{"-9223372036854775808", "9223372036854775807"}},
	{"oid", []string{"4294967295", "0"}},
	{"float4", []string{"'NaN'", "'-Infinity'", "-0.0", "1.5e-40"}},
	{"float8", []string{"'NaN'", "'Infinity'", "-0.0", "5e-324"}},
	{"money", []string{"'-92233720368547758.08'", "1.5"}},
	{`"char"`, []string{"'x'", "''"}},
	{"xid", []string{"'4294967295'"}},
	{"xid8", []string{"'18446744073709551615'"}},
	{"cid", []string{"'7'"}},
	{"tid", []string{"'(4294967294,65535)'", "'(1,2)'"}},
	{"pg_lsn", []string{"'FFFFFFFF/1'"}},
	{"regclass", []string{"'pg_class'"}},
	{"uuid", []string{"'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"}},
	{"date", []string{"'4714-11-24 BC'", "'5874897-12-31'", "'infinity'", "'-infinity'", "'2024-02-29'"}},
	{"time", []string{"'00:00'", "'24:00'", "'12:34:56.789012'"}},
	{"time(2)", []string{"'12:34:56.789012'"}},
	{"timetz", []string{"'12:34:56+15:59:59'", "'24:00-15:59'"}},
	{"timetz(0)", []string{"'12:34:56.5+01'"}},
	{"timestamp", []string{"'4714-11-24 BC'", "'294276-12-31 23:59:59.999999'", "'infinity'", "'-infinity'", "'1999-12-31 23:59:59.123456'"}},
	{"timestamp(3)", []string{"'1999-12-31 23:59:59.1235'", "'2001-12-31 23:59:59.1235'"}},
	{"timestamptz", []string{"'2024-01-01 00:00+14'"}},
	{"interval", []string{"'1 year 2 mons -3 days 04:05:06.789'", "'-178000000 years'"}},
	{"interval year", []string{"'1 year 2 mons'"}},
	{"interval day to minute", []string{"'1 year 3 days 04:05:06.789'"}},
	{"interval second(1)", []string{"'-04:05:06.789'"}},
	{"text", textValues},
	{"varchar", textValues},
	{"citext", textValues},
	{"varchar(130)", []string{"''", "repeat('ä', 130)", "repeat('x', 126)", "repeat('x', 127)", "'a' || repeat(' ', 200)"}},
	{"char(5)", []string{"''", "'ä'", "'abcde  '"}},
	{"char(140)", []string{"''", "'ä'", "repeat('b', 140)"}},
	{"bpchar", []string{"'a  '"}},
	{"name", []string{"''", "repeat('n', 63)"}},
	{"bytea", []string{"''", "'\\x00ff'", "decode(repeat('ab', 126), 'hex')", "decode(repeat('ab', 127), 'hex')"}},
	{"json", []string{"'{\"a\" : [1, 2.50, null]}'", "'\"\\u00e4\"'"}},
	{"xml", []string{"'<a>b</a>'"}},
	{"bit(11)", []string{"B'10101010101'"}},
	{"varbit", []string{"''", "B'1'", "B'11111111'", "repeat('10', 600)::varbit"}},
	{"inet", []string{"'192.168.0.1/24'", "'::1'", "'2001:db8::/32'", "'0.0.0.0/0'"}},
	{"cidr", []string{"'10.0.0.0/8'", "'2001:db8::/32'"}},
	{"macaddr", []string{"'08:00:2b:01:02:03'"}},
	{"macaddr8", []string{"'08:00:2b:01:02:03:04:05'", "'08:00:2b:01:02:03'"}},
	{"point", []string{"'(1,-2)'", "'(NaN,Infinity)'"}},
	{"lseg", []string{"'[(1,2),(3,4)]'"}},
	{"box", []string{"'(1,2),(3,4)'", "'(1,NaN),(3,4)'"}},
	{"line", []string{"'{1,2,3}'", "'{0,-1,NaN}'"}},
	{"path", []string{"'[(1,2),(3,4)]'", "'((1,2),(3,4),(5,6))'"}},
	{"polygon", []string{"'((1,2),(3,-4),(5,6))'", "'((NaN,1),(2,3))'"}},
	{"circle", []string{"'<(1,2),3>'"}},
	{"numeric", numericValues},
	{"numeric(10,2)", []string{"0", "12.345", "-12.355", "99999999.99", "0.005", "0.004", "'NaN'"}},
	{"numeric(3,6)", []string{"0.0001234565", "0.000999"}},
	{"numeric(1000,500)", []string{"1e400", "1e-500"}},
	{"mood", []string{"'sad'", "'it''s'"}},
	{"code", []string{"'abc'"}},
	{"int4[]", []string{"'{}'", "'{1,2,3}'", "'{1,NULL,3}'", "'[-1:0][3:4]={{1,2},{3,NULL}}'", "array_fill(7, ARRAY[100])"}},
	{"bool[]", []string{"'{t,f,NULL,t,t,t,t,t,t}'"}},
	{"int8[]", []string{"'{1}'", "'{NULL}'"}},
	{"text[]", []string{"'{a,NULL,\"\",bcdefgh}'", "ARRAY[repeat('x', 200), 'y']"}},
	{"varchar(3)[]", []string{"'{abc,d}'"}},
	{"numeric(4,1)[]", []string{"'{1.25,-1.25}'"}},
	{"float8[]", []string{"'{{{1},{2}},{{3},{4}}}'"}},
	{"point[]", []string{"'{\"(1,2)\"}'"}},
	{"mood[]", []string{"'{ok,NULL,sad}'"}},
	{"macaddr[]", []string{"'{08:00:2b:01:02:03,08:00:2b:01:02:04}'"}},
	{"timetz[]", []string{"'{12:00+1,13:00+2}'"}},
	{"int4range", []string{"'[1,5]'", "'(,)'", "'empty'", "'(3,)'", "'(,7]'"}},
	{"int8range", []string{"'[1,5]'", "'(,5)'"}},
	{"numrange", []string{"'[1.5,2.25)'", "'(1e200,)'", "'[0,1e-300]'"}},
	{"tsrange", []string{"'(2024-01-01,2024-02-01]'"}},
	{"daterange", []string{"'[2024-01-01,2024-02-01]'"}},
	{"textrange", []string{"'[a,b]'", "textrange(repeat('a', 125), repeat('b', 130))", "textrange('abc', repeat('b', 130))"}},
	{"floatrange", []string{"'[1,2]'"}},
	{"int4multirange", []string{"'{}'", "'{[1,2)}'", "'{[1,2),[5,7),(9,)}'", "'{(,2),[3,4),[5,6),[7,8),[9,10),[11,12),[13,14),[15,16),[17,18),[19,20)}'"}},
	{"int8multirange", []string{"'{}'", "'{[1,2),[5,7),(9,)}'", "'{[1,2),[3,4),[5,6),[7,8),[9,10)}'"}},
	{"nummultirange", []string{"'{[1.5,2),[3,4.25),(9,)}'", "'{(,1e200),[2e200,)}'", "'{[1,2),[3,4),[5,6),[7,8),[9,10)}'"}},
	{"int4range[]", []string{"'{\"[1,2)\",NULL,empty}'"}},
	{"jsonb", []string{"'null'", "'true'", "'\"ä\\u00e4\\n\"'", "'-12.50e3'", "'[]'", "'{}'", "'[1, [2, {\"a\": null}], \"x\", false]'", "'{\"bb\": 1, \"a\": 2, \"b\": {\"c\": [1.10, \"\"]}, \"a\": 3}'",
		"(SELECT jsonb_agg(i) FROM generate_series(1, 70) i)", "(SELECT jsonb_object_agg('k' || i, i || 'v') FROM generate_series(1, 50) i)", "'1e-20'", "'123456789012345678901234567890.5'", "'-0'", "'0.00010'",
		"'{\"\\ud83d\\ude00\": \"\\/\\b\"}'", "'1E+2'", "'[10000, 0.1, 0.01, 0.001, 0.0001, 0.00001, 12345.678901]'"}},
}

var textValues = []string{"''", "'a'", "repeat('x', 126)", "repeat('x', 127)", "repeat('ä', 500)", "'\U0001F600'"}

var numericValues = []string{"0", "0.000", "1", "-1", "1.50", "10000", "99999999", "0.0001", "0.00001", "1e100", "-1e255", "1e256", "1e300", "1e-300", "123456789.123456789", "'NaN'", "'Infinity'", "'-Infinity'",
	"1e-60", "0.5e-63", "1e-64", "-0.00000000000000000000000000000000000000000000000000000000000000000000000000001", "12345678901234567890123456789012345678901234567890", "1000000000000000000000.10"}
