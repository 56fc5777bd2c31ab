package datum_test

import (
	"bytes"
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
	for _, known := range known {
		for i, t := range types {
			if t.Name == known.typeName {
				f.Add(uint8(i), []byte(known.value))
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
