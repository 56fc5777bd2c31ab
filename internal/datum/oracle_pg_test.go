package datum_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/internal/datum"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

// oracle is a database whose settings are those that the printers speak, in which values are stored and read back from the file.
type oracle struct {
	uri   string
	major int
	names map[uint32]string
}

func newOracle(t *testing.T) *oracle {
	t.Helper()
	o := &oracle{uri: clustertest.Database(t)}
	clustertest.Exec(t, o.uri, `DO $$ DECLARE setting text; BEGIN
		FOREACH setting IN ARRAY ARRAY['TimeZone = UTC', 'DateStyle = ISO', 'IntervalStyle = postgres', 'lc_monetary = "C"',
			'bytea_output = hex', 'extra_float_digits = 1', 'synchronous_commit = off'] LOOP
			EXECUTE format('ALTER DATABASE %I SET %s', current_database(), setting);
		END LOOP; END $$`)
	version, err := strconv.Atoi(clustertest.Query(t, o.uri, "SHOW server_version_num"))
	if err != nil {
		t.Fatal(err)
	}
	o.major = version / 10000
	return o
}

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// random is seeded with the name of the test, so that a failure comes again.
func random(t *testing.T) *rand.Rand {
	var seed uint64
	for _, c := range t.Name() {
		seed = seed*31 + uint64(c)
	}
	return rand.New(rand.NewPCG(seed, 1))
}

// texts checks values given as text.
func (o *oracle) texts(t *testing.T, typeName string, values ...string) {
	t.Helper()
	quoted := make([]string, len(values))
	for i, value := range values {
		quoted[i] = literal(value)
	}
	o.query(t, typeName, "SELECT v::"+typeName+" FROM unnest(ARRAY["+strings.Join(quoted, ", ")+"]::text[]) v", len(values))
}

// query checks the values that a query gives, at least so many of them: what the printer makes of their bytes in the table's file
// is what the server's output function gives.
func (o *oracle) query(t *testing.T, typeName, query string, least int) {
	t.Helper()
	clustertest.Exec(t, o.uri, "DROP TABLE IF EXISTS stored", "CREATE TABLE stored (v "+typeName+")")
	// Stored plainly, the bytes in the page are the value: neither compressed nor cut into TOAST.
	if o.one(t, "SELECT attlen FROM pg_attribute WHERE attrelid = 'stored'::regclass AND attname = 'v'") == "-1" {
		clustertest.Exec(t, o.uri, "ALTER TABLE stored ALTER v SET STORAGE PLAIN")
	}
	clustertest.Exec(t, o.uri, "INSERT INTO stored "+query)
	o.compare(t, typeName, least)
}

func (o *oracle) one(t *testing.T, query string) string {
	t.Helper()
	return clustertest.Query(t, o.uri, query)
}

func (o *oracle) compare(t *testing.T, typeName string, least int) {
	t.Helper()
	described := o.describe(t, o.one(t, "SELECT atttypid FROM pg_attribute WHERE attrelid = 'stored'::regclass AND attname = 'v'"))
	show, err := datum.NewPrinter(described, nil)
	if err != nil {
		t.Fatal(err)
	}
	clustertest.Exec(t, o.uri, "CHECKPOINT")
	file := o.one(t, "SELECT encode(pg_read_binary_file(pg_relation_filepath('stored')), 'hex')")
	pages, err := hex.DecodeString(file)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(o.one(t, "SELECT ctid, encode(convert_to(format('%s', v), 'UTF8'), 'hex') FROM stored WHERE v IS DISTINCT FROM NULL"), "\n")
	if len(rows) < least {
		t.Fatalf("%d values are stored, want at least %d", len(rows), least)
	}
	failures, buffer := 0, []byte("kept")
	for _, row := range rows {
		var block, line int
		var encoded string
		if _, err := fmt.Sscanf(strings.ReplaceAll(row, "|", " "), "(%d,%d) %s", &block, &line, &encoded); err != nil {
			encoded = "" // an empty text
			if _, err := fmt.Sscanf(row, "(%d,%d)|", &block, &line); err != nil {
				t.Fatalf("%q: %v", row, err)
			}
		}
		want, err := hex.DecodeString(encoded)
		if err != nil {
			t.Fatal(err)
		}
		value := onlyValue(t, pages, block, line, described)
		got, err := show(buffer[:4], value)
		if err != nil || string(got) != "kept"+string(want) {
			t.Errorf("%s: bytes %x: got %q (%v), want %q", typeName, shorten(value), got, err, shorten(want))
			if failures++; failures > 5 {
				t.FailNow()
			}
		}
		buffer = got
	}
}

func shorten(b []byte) []byte { return b[:min(len(b), 400)] }

// onlyValue is the value of the only column of a row in a table's file, without varlena header.
func onlyValue(t *testing.T, pages []byte, block, line int, described *datum.Type) []byte {
	t.Helper()
	page := pages[block*8192 : (block+1)*8192]
	pointer := binary.LittleEndian.Uint32(page[24+4*(line-1):])
	tuple := page[pointer&0x7fff:][:pointer>>17]
	value := tuple[tuple[22]:]
	switch described.Len {
	case -1:
		payload, _, err := datum.OpenPlain(value)
		if err != nil {
			t.Fatal(err)
		}
		return payload
	case -2:
		return value[:strings.IndexByte(string(value), 0)]
	}
	return value[:described.Len]
}

// describe reads a type and those in it from the server's catalog.
func (o *oracle) describe(t *testing.T, oid string) *datum.Type {
	t.Helper()
	row := o.one(t, `SELECT oid, typname, typlen, typalign, typtype, typcategory, typdelim, typoutput::text,
		CASE WHEN typlen = -1 AND typsubscript = 'array_subscript_handler'::regproc OR typname IN ('int2vector', 'oidvector') THEN typelem ELSE 0 END,
		typbasetype, coalesce((SELECT rngsubtype FROM pg_range WHERE rngtypid = t.oid), (SELECT rngtypid FROM pg_range WHERE rngmultitypid = t.oid), 0),
		typrelid, typbyval FROM pg_type t WHERE oid = `+oid)
	f := strings.Split(row, "|")
	if len(f) != 13 {
		t.Fatalf("type %s: %q", oid, row)
	}
	output := f[7]
	if _, name, ok := strings.Cut(output, "."); ok {
		output = name
	}
	described := &datum.Type{
		OID: uint32(number(t, f[0])), Name: f[1], Len: int16(number(t, f[2])), Align: f[3][0], Kind: f[4][0], Category: f[5][0],
		Delimiter: f[6][0], Output: output, ByVal: f[12] == "t", Names: o.lookup,
	}
	if f[8] != "0" {
		described.Element = o.describe(t, f[8])
	}
	if f[9] != "0" {
		described.Base = o.describe(t, f[9])
	}
	if f[10] != "0" {
		described.Subtype = o.describe(t, f[10])
	}
	if described.Kind == 'e' {
		described.Labels = map[uint32]string{}
		for _, label := range strings.Split(o.one(t, "SELECT oid, enumlabel FROM pg_enum WHERE enumtypid = "+oid), "\n") {
			id, text, _ := strings.Cut(label, "|")
			described.Labels[uint32(number(t, id))] = text
		}
	}
	if f[11] != "0" {
		for _, row := range strings.Split(o.one(t, `SELECT attname, atttypid, atttypmod, attlen, attalign, attisdropped
			FROM pg_attribute WHERE attnum > 0 AND attrelid = `+f[11]+" ORDER BY attnum"), "\n") {
			c := strings.Split(row, "|")
			if len(c) == 1 {
				break // no column at all
			}
			field := datum.Field{Name: c[0], Typmod: int32(number(t, c[2])), Len: int16(number(t, c[3])), Align: c[4][0], Dropped: c[5] == "t"}
			if !field.Dropped {
				field.Type = o.describe(t, c[1])
			}
			described.Fields = append(described.Fields, field)
		}
	}
	return described
}

func (o *oracle) lookup(oid uint32) (string, bool) {
	name, ok := o.names[oid]
	return name, ok
}

func number(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
