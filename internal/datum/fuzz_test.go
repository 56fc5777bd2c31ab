package datum_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/pghaul/pghaul/internal/datum"
)

// specimens are types whose printers take their values apart, for the fuzz test. The order is part of its corpus.
func specimens() []*datum.Type {
	number, text, integer := datum.BuiltinNamed("numeric"), datum.BuiltinNamed("text"), datum.BuiltinNamed("int4")
	inner := &datum.Type{Name: "inner_row", OID: 5, Len: -1, Align: 'd', Kind: 'c', Output: "record_out", Fields: []datum.Field{
		{Name: "a", Type: integer}, {Dropped: true, Len: -1, Align: 'i'}, {Name: "b", Type: text}, {Name: "c", Type: datum.BuiltinNamed("float8")},
	}}
	innerArray := &datum.Type{Name: "_inner_row", Len: -1, Align: 'd', Kind: 'b', Output: "array_out", Element: inner}
	outer := &datum.Type{Name: "outer_row", Len: -1, Align: 'd', Kind: 'c', Output: "record_out", Fields: []datum.Field{
		{Name: "a", Type: inner}, {Name: "b", Type: innerArray}, {Name: "c", Type: datum.BuiltinNamed("cstring")},
	}}
	texts := &datum.Type{Name: "text_range", Len: -1, Align: 'i', Kind: 'r', Output: "range_out", Subtype: text}
	list := []*datum.Type{
		number, inner, innerArray, outer, texts,
		{Name: "text_ranges", Len: -1, Align: 'i', Kind: 'm', Output: "multirange_out", Subtype: texts},
		{Name: "moods", Len: 4, Align: 'i', Kind: 'e', Output: "enum_out", Labels: map[uint32]string{1: "sad"}},
		{Name: "hstore", Len: -1, Align: 'i', Kind: 'b', Output: "hstore_out"},
		{Name: "ltree", Len: -1, Align: 'i', Kind: 'b', Output: "ltree_out"},
		{Name: "cube", Len: -1, Align: 'd', Kind: 'b', Output: "cube_out"},
	}
	for _, name := range []string{
		"jsonb", "jsonpath", "tsvector", "tsquery", "_int4", "_text", "_numeric", "_bool", "_name", "numrange", "int8range", "daterange", "nummultirange",
		"int8multirange", "_numrange", "anyarray", "int2vector", "oidvector", "xml", "varbit", "inet", "path", "polygon", "pg_snapshot", "gtsvector", "pg_ndistinct",
		"pg_dependencies", "bytea", "_jsonb", "_tsvector", "aclitem",
		"float8", "float4", "timestamp", "timestamptz", "date", "time", "timetz", "interval", "bool", "money", "uuid", "tid", "name", "char", "macaddr", "regclass",
	} {
		list = append(list, datum.BuiltinNamed(name))
	}
	return list
}

// FuzzPrinters prints any bytes as any type: no panic, no lost bytes before the value, no text out of proportion.
func FuzzPrinters(f *testing.F) {
	types := specimens()
	printers := make([]datum.Printer, len(types))
	for i, t := range types {
		var err error
		if printers[i], err = datum.NewPrinter(t, nil); err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), []byte{})
		f.Add(uint8(i), bytes.Repeat([]byte{1, 0, 0, 0}, 8))
		f.Add(uint8(i), bytes.Repeat([]byte{0xff}, 24))
		f.Add(uint8(i), bytes.Repeat([]byte{0}, 16))
	}
	for i, t := range types {
		for _, c := range slices.Concat(known, valid) {
			if t.Name == c.typeName {
				f.Add(uint8(i), []byte(c.value))
			}
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, value []byte) {
		i := int(which) % len(types)
		before := append(make([]byte, 0, 64), "before"...)
		kept := bytes.Clone(value)
		got, err := printers[i](before, value)
		if !bytes.HasPrefix(got, []byte("before")) {
			t.Fatalf("%s: what stood before is gone: %q", types[i].Name, got)
		}
		if err != nil && len(got) != len(before) {
			t.Fatalf("%s: %v, and %q is left", types[i].Name, err, got)
		}
		if !bytes.Equal(kept, value) {
			t.Fatalf("%s: the value was written to", types[i].Name)
		}
		// A numeric of 4 bytes can have 131072 digits before the point and 16383 behind it.
		if len(got) > 300*(len(value)+1) && len(got) > 150000*(len(value)/4+1) {
			t.Fatalf("%s: %d bytes of text from %d bytes", types[i].Name, len(got), len(value))
		}
	})
}

// tuple is the payload of a composite value of up to 8 fields: bitmap has a one for each field that is there.
func tuple(oid, count, bitmap byte, fields string) string {
	return "\xff\xff\xff\xff" + string([]byte{oid, 0, 0, 0, 0, 0, 0, 0, 0, 0, count, 0, 1, 0, 24, bitmap}) + fields
}

// varlena puts a 4-byte header before a payload.
func varlena(payload string) string {
	return string(binary.LittleEndian.AppendUint32(nil, uint32(len(payload)+4)<<2)) + payload
}

// valid are values of the specimens that are no built-in types.
var valid = []struct {
	typeName, value, want string
}{
	{"inner_row", tuple(5, 4, 0x0D, "\x07\x00\x00\x00\x09a,\"\x00\x00\x00\x00\x00\x00\xf8\x3f"), `(7,"a,""",1.5)`},
	{"inner_row", tuple(5, 4, 0x03, "\x07\x00\x00\x00\x05x"), "(7,,)"},
	{"inner_row", tuple(5, 1, 0x00, ""), "(,,)"},
	{"_inner_row", "\x01\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00" + varlena(tuple(5, 1, 1, "\x07\x00\x00\x00")), `{"(7,,)"}`},
	{"outer_row", tuple(6, 3, 0x05, varlena(tuple(5, 1, 1, "\x07\x00\x00\x00"))+"c\x00"), `("(7,,)",,c)`},
	{"text_range", "\x00\x00\x00\x00\x05a\x07b,\x02", `[a,"b,")`},
	{"text_ranges", "\x00\x00\x00\x00\x02\x00\x00\x00\x04\x00\x00\x00\x02\x06\x00\x00\x05a\x05b\x05c\x05d", "{[a,b),[c,d]}"},
	{"moods", "\x01\x00\x00\x00", "sad"},
	{"hstore", "\x02\x00\x00\x80\x01\x00\x00\x80\x02\x00\x00\x00\x03\x00\x00\x00\x03\x00\x00\x40a\"b", `"a"=>"\"", "b"=>NULL`},
	{"ltree", "\x02\x00\x00\x00\x01\x00a\x00\x00\x00\x00\x00\x02\x00bc", "a.bc"},
	{"cube", "\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x00\x40", "(1),(2)"},
	{"cube", "\x01\x00\x00\x80\x00\x00\x00\x00\x00\x00\xf0\x3f", "(1)"},
}

func TestSpecimens(t *testing.T) {
	for _, described := range specimens() {
		show, err := datum.NewPrinter(described, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range valid {
			if c.typeName != described.Name {
				continue
			}
			if got, err := show([]byte(">"), []byte(c.value)); err != nil || string(got) != ">"+c.want {
				t.Errorf("%s %x: got %q, %v; want %q", c.typeName, c.value, got, err, c.want)
			}
			for i := range len(c.value) {
				if got, err := show([]byte(">"), []byte(c.value[:i])); err != nil && string(got) != ">" {
					t.Errorf("%s, %d bytes: %q, %v", c.typeName, i, got, err)
				}
			}
		}
	}
}
