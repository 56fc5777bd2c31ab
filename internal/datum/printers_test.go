package datum_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/datum"
)

// known are values of built-in types byte by byte, as a little-endian server stores them.
var known = []struct {
	typeName, value, want string
}{
	{"bool", "\x01", "t"},
	{"bool", "\x00", "f"},
	{"int2", "\xff\xff", "-1"},
	{"int4", "\x00\x00\x00\x80", "-2147483648"},
	{"int8", "\x15\xcd\x5b\x07\x00\x00\x00\x00", "123456789"},
	{"oid", "\xff\xff\xff\xff", "4294967295"},
	{"tid", "\x01\x00\x02\x00\x03\x00", "(65538,3)"},
	{"pg_lsn", "\x78\x56\x34\x12\x0a\x00\x00\x00", "A/12345678"},
	{"char", "\x00", ""},
	{"char", "\xe4", `\344`},
	{"name", "pg_class" + strings.Repeat("\x00", 56), "pg_class"},
	{"bytea", "\x00\xff", `\x00ff`},
	{"float8", "\x9a\x99\x99\x99\x99\x99\xb9\x3f", "0.1"},
	{"float8", "\xf6\x4a\xe1\xc7\x02\x2d\xb5\x44", "9.999999999999999e+22"}, // Go prints 1e+23, the middle to the next one
	{"float4", "\x00\x00\x80\x39", "0.00024414062"},                         // Go prints ...63, the odd side of a tie
	{"float8", "\x00\x00\x00\x00\x00\x00\xf8\x7f", "NaN"},
	{"numeric", "\x00\x80", "0"},
	{"numeric", "\x00\xc0", "NaN"},
	{"numeric", "\x00\xf0", "-Infinity"},
	{"numeric", "\x00\x81\x01\x00\x88\x13", "1.50"},
	{"money", "\x9d\xff\xff\xff\xff\xff\xff\xff", "-$0.99"},
	{"date", "\x00\x00\x00\x00", "2000-01-01"},
	{"date", "\xff\xff\xff\x7f", "infinity"},
	{"date", "\xa7\x97\xda\xff", "4714-11-24 BC"},
	{"timestamp", "\xff\xff\xff\xff\xff\xff\xff\xff", "1999-12-31 23:59:59.999999"},
	{"timestamptz", "\x40\x42\x0f\x00\x00\x00\x00\x00", "2000-01-01 00:00:01+00"},
	{"time", "\x00\x60\xd7\x1d\x14\x00\x00\x00", "24:00:00"},
	{"interval", "\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00\x00\xf3\xff\xff\xff", "-1 years -1 mons +1 day -00:00:00.000001"},
	{"inet", "\x02\x20\x7f\x00\x00\x01", "127.0.0.1"},
	{"inet", "\x03\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01", "::1"},
	{"cidr", "\x02\x08\x0a\x00\x00\x00", "10.0.0.0/8"},
	{"varbit", "\x03\x00\x00\x00\xa0", "101"},
	{"jsonb", "\x01\x00\x00\x50\x03\x00\x00\x00a\"b", `"a\"b"`},
	{"jsonb", "\x02\x00\x00\x20\x01\x00\x00\x80\x01\x00\x00\x00\x00\x00\x00\x40\x01\x00\x00\x00abc", `{"a": null, "b": "c"}`},
	{"jsonpath", "\x01\x00\x00\x80\x1b\x00\x00\x00\x08\x00\x00\x00\x19\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00a\x00", `$."a"`},
	{"tsvector", "\x01\x00\x00\x00\x03\x00\x00\x00a\x00\x01\x00\x02\xc0", "'a':2A"},
	{"tsquery", "\x02\x00\x00\x00\x02\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x08\x01\x00\x00\x00\x00\x00\x01\x00\x00\x00a\x00", "!'a':*A"},
	{"_int4", "\x01\x00\x00\x00\x00\x00\x00\x00\x17\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00", "[0:0]={7}"},
	{"_int4", "\x00\x00\x00\x00\x00\x00\x00\x00\x17\x00\x00\x00", "{}"},
	{"int4range", "\x40\x0f\x00\x00\x01\x00\x00\x00\x05\x00\x00\x00\x02", "[1,5)"},
	{"int4range", "\x40\x0f\x00\x00\x01", "empty"},
	{"int2vector", "\x01\x00\x00\x00\x00\x00\x00\x00\x15\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x01\x00\xff\xff", "1 -1"},
	{"regclass", "\x00\x00\x00\x00", "-"},
	{"regoper", "\x00\x00\x00\x00", "0"},
	{"regclass", "\x01\x00\x00\x00", "1"},
	{"aclitem", "\x00\x00\x00\x00\x0a\x00\x00\x00\x03\x00\x01\x00", "=a*r/10"},
	{"gtsvector", "\x01\x00\x00\x00\x01\x02\x03\x04\x05\x06\x07\x08", "2 unique words"},
	{"gtsvector", "\x02\x00\x00\x00\xff\x01", "9 true bits, 7 false bits"},
	{"gtsvector", "\x06\x00\x00\x00", "all true bits"},
	{"_cstring", "\x01\x00\x00\x00\x00\x00\x00\x00\xe3\x08\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00a b\x00\x00", `{"a b",""}`},
	{"pg_ndistinct", "\xa4\xbf\x52\xa3\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x24\x40\x02\x00\x00\x00\x01\x00\x02\x00", `{"1, 2": 10}`},
	{"pg_dependencies", "\x2c\x9a\x54\xb4\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\xe0\x3f\x02\x00\x01\x00\x02\x00", `{"1 => 2": 0.500000}`},
	{"xml", "<?xml version=\"1.0\" encoding=\"LATIN1\"?>\n<a/>", "<a/>"},
}

func TestKnownValues(t *testing.T) {
	for _, c := range known {
		show, err := datum.NewPrinter(datum.BuiltinNamed(c.typeName), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := show([]byte(">"), []byte(c.value)); err != nil || string(got) != ">"+c.want {
			t.Errorf("%s %x: got %q, %v; want %q", c.typeName, c.value, got, err, c.want)
		}
	}
}

// TestCutOffValues prints each beginning of each known value: an error or some text, and what stood before is kept.
func TestCutOffValues(t *testing.T) {
	for _, c := range known {
		described := datum.BuiltinNamed(c.typeName)
		show, err := datum.NewPrinter(described, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range len(c.value) {
			got, err := show([]byte(">"), []byte(c.value[:i]))
			var bad *datum.Malformed
			switch {
			case err != nil && (string(got) != ">" || !errors.As(err, &bad)):
				t.Errorf("%s, %d bytes: %q, %v", c.typeName, i, got, err)
			case err == nil && described.Len > 0:
				t.Errorf("%s, %d bytes of %d: no error", c.typeName, i, described.Len)
			}
		}
	}
}

func TestMalformedValues(t *testing.T) {
	for _, c := range []struct{ typeName, value, reason string }{
		{"bool", "\x02", "neither 0 nor 1"},
		{"numeric", "\x00\x80\x10\x27", "above 9999"},
		{"numeric", "\x00\xe0", "special"},
		{"date", "\xff\xff\xff\x80", "out of range"},
		{"timestamp", "\x01\x00\x00\x00\x00\x00\x00\x80", "out of range"},
		{"time", "\xff\xff\xff\xff\xff\xff\xff\xff", "out of range"},
		{"inet", "\x02\x21\x00\x00\x00\x00", "do not agree"},
		{"varbit", "\x09\x00\x00\x00\xff", "more bits"},
		{"jsonb", "\xff\xff\xff\x4f", "more elements"},
		{"jsonb", "\x01\x00\x00\x40\x05\x00\x00\x00a", "outside of its container"},
		{"jsonb", "\x01\x00\x00\x20\x00\x00\x00\x40\x00\x00\x00\x00", "not a string"},
		{"jsonb", "\x00\x00\x00\x00", "neither an array nor an object"},
		{"jsonpath", "\x02\x00\x00\x80\x1b\x00\x00\x00\x00\x00\x00\x00", "version"},
		{"jsonpath", "\x01\x00\x00\x80\x63\x00\x00\x00\x00\x00\x00\x00", "unknown kind"},
		{"jsonpath", "\x01\x00\x00\x80\x06\x00\x00\x00\x00\x00\x00\x00\xf8\xff\xff\xff", "before its operator"},
		{"tsquery", "\x01\x00\x00\x00\x02\x02\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00", "outside"},
		{"_int4", "\x07\x00\x00\x00\x00\x00\x00\x00\x17\x00\x00\x00", "dimensions"},
		{"_int4", "\x00\x00\x00\x00\x00\x00\x00\x00\x19\x00\x00\x00", "type 25 instead of 23"},
		{"_int4", "\x01\x00\x00\x00\x00\x00\x00\x00\x17\x00\x00\x00\xff\xff\xff\x0f\x01\x00\x00\x00", "more elements"},
		{"_text", "\x01\x00\x00\x00\x00\x00\x00\x00\x19\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x12\x80\x00\x00aaaa", "compressed"},
		{"int4range", "\x41\x0f\x00\x00\x01", "type 3905 instead of 3904"},
		{"anyarray", "\x01\x00\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00", "not known"},
		{"name", strings.Repeat("x", 64), "no NUL"},
	} {
		show, err := datum.NewPrinter(datum.BuiltinNamed(c.typeName), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := show([]byte(">"), []byte(c.value)); err == nil || !strings.Contains(err.Error(), c.reason) || string(got) != ">" {
			t.Errorf("%s %x: got %q, %v; want an error with %q", c.typeName, c.value, got, err, c.reason)
		}
	}
}

// TestSharedOperands prints a jsonpath whose operators all refer to one item twice: 2^40 items, were they followed.
func TestSharedOperands(t *testing.T) {
	path := []byte{1, 0, 0, 0x80}
	for range 40 {
		path = append(path, 14, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 16, 0, 0, 0)
	}
	path = append(path, 27, 0, 0, 0, 0, 0, 0, 0)
	show, err := datum.NewPrinter(datum.BuiltinNamed("jsonpath"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := show(nil, path); err == nil || len(got) > 0 {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

// TestDeepJsonb prints arrays in arrays: as deep as any server goes, and deeper than the limit.
func TestDeepJsonb(t *testing.T) {
	nested := func(depth int) []byte {
		var value []byte
		for i := depth; i > 0; i-- {
			value = binary.LittleEndian.AppendUint32(value, 0x40000001)
			value = binary.LittleEndian.AppendUint32(value, 0x50000000|uint32(8*i-4))
		}
		return binary.LittleEndian.AppendUint32(value, 0x40000000)
	}
	show, err := datum.NewPrinter(datum.BuiltinNamed("jsonb"), nil)
	if err != nil {
		t.Fatal(err)
	}
	const depth = 50000
	if got, err := show(nil, nested(depth)); err != nil || string(got) != strings.Repeat("[", depth+1)+strings.Repeat("]", depth+1) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	if _, err := show(nil, nested(200000)); err == nil || !strings.Contains(err.Error(), "too deep") {
		t.Errorf("got %v", err)
	}
}

func TestUnprintableTypes(t *testing.T) {
	cyclic := &datum.Type{Name: "cyclic", Len: -1, Kind: 'c', Output: "record_out"}
	cyclic.Fields = []datum.Field{{Name: "a", Type: cyclic}}
	for _, c := range []struct {
		described *datum.Type
		want      string
	}{
		{&datum.Type{Schema: "geo", Name: "geometry", Len: -1, Kind: 'b', Output: "geometry_out"}, `type geo.geometry cannot be printed: its output function "geometry_out" is not a built-in one`},
		{&datum.Type{Name: "_x", Len: -1, Kind: 'b', Output: "array_out"}, "type _x cannot be printed: its element type is missing"},
		{&datum.Type{Name: "d", Kind: 'd'}, "type d cannot be printed: its base type is missing"},
		{&datum.Type{Name: "odd", Len: 8, Kind: 'b', Output: "int4out"}, "type odd cannot be printed: its length is 8, where int4out takes 4"},
		{cyclic, "type cyclic cannot be printed: it contains itself"},
		{nil, "type (none) cannot be printed: its description is missing"},
	} {
		_, err := datum.NewPrinter(c.described, nil)
		var unprintable *datum.Unprintable
		if !errors.As(err, &unprintable) || err.Error() != c.want || unprintable.Hint() == "" {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// TestNestedValuesAreOpened lets the caller's function read what is nested: here every varlena is the same text.
func TestNestedValuesAreOpened(t *testing.T) {
	array := "\x01\x00\x00\x00\x00\x00\x00\x00\x19\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00" + "\x01\x12\x00\x00" + "\x01\x12\x00\x00"
	opened := 0
	show, err := datum.NewPrinter(datum.BuiltinNamed("_text"), func(varlena []byte) ([]byte, int, error) {
		opened++
		if varlena[0] != 1 || varlena[1] != 0x12 {
			t.Errorf("opened %x", varlena)
		}
		return []byte("fetched text"), 4, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := show(nil, []byte(array)); err != nil || string(got) != `{"fetched text","fetched text"}` || opened != 2 {
		t.Errorf("got %q, %v, after %d calls", got, err, opened)
	}
}

// TestNoAllocations holds the printers of large tables to none.
func TestNoAllocations(t *testing.T) {
	for _, c := range known {
		show, err := datum.NewPrinter(datum.BuiltinNamed(c.typeName), nil)
		if err != nil {
			t.Fatal(err)
		}
		buffer, value := make([]byte, 0, 256), []byte(c.value)
		if n := testing.AllocsPerRun(10, func() {
			if _, err := show(buffer, value); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations", c.typeName, n)
		}
	}
}

func BenchmarkPrinters(b *testing.B) {
	for _, name := range []string{"int8", "date", "int4", "timestamptz", "float8", "numeric", "jsonb"} {
		for _, c := range known {
			if c.typeName != name {
				continue
			}
			b.Run(name, func(b *testing.B) {
				show, err := datum.NewPrinter(datum.BuiltinNamed(name), nil)
				if err != nil {
					b.Fatal(err)
				}
				buffer, value := make([]byte, 0, 256), []byte(c.value)
				for b.Loop() {
					if _, err := show(buffer, value); err != nil {
						b.Fatal(err)
					}
				}
			})
			break
		}
	}
}
