package heap_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/heap"
)

func TestCompressedValuesComeBack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 5000)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	few := make([]byte, 70000)
	for i := range few {
		few[i] = "abcd"[random.IntN(4)]
	}
	words := []byte(strings.Repeat("the quick brown fox jumps over the lazy dog; ", 300))
	for name, c := range map[string]struct {
		value []byte
		most  int // bytes when compressed; 0 where it must be refused
	}{
		"one byte": {bytes.Repeat([]byte{7}, 100000), 1200}, "words": {words, 600}, "four letters": {few, 31000}, "noise": {noise, 0}, "too short": {words[:20], 0},
		"noise, then words": {append(bytes.Clone(noise[:800]), words...), 1600}, "late words": {append(bytes.Clone(noise[:3000]), words...), 0}, "empty": {nil, 0},
		"far apart": {append(append(bytes.Clone(noise[:4000]), noise[:4000]...), noise[:4000]...), 0},
	} {
		for _, how := range []heap.Compression{heap.PGLZ, heap.LZ4} {
			packed, ok := heap.Compress([]byte("x"), how, c.value)
			if how == heap.PGLZ && ok != (c.most > 0) {
				t.Errorf("%s: compressed is %v", name, ok)
			}
			if !ok {
				if string(packed) != "x" {
					t.Errorf("%s: %d bytes are left behind", name, len(packed))
				}
				continue
			}
			if how == heap.PGLZ && len(packed) > c.most {
				t.Errorf("%s: %d bytes and not %d", name, len(packed), c.most)
			}
			got, err := heap.Decompress(nil, how, packed[1:], len(c.value))
			if err != nil || !bytes.Equal(got, c.value) {
				t.Errorf("%s by %d: %d bytes came back, %v", name, how, len(got), err)
			}
		}
	}
}

func FuzzCompress(f *testing.F) {
	f.Add([]byte("abcabcabcabcabcabcabcabcabcabcabcabcabc"), uint16(100))
	f.Fuzz(func(t *testing.T, value []byte, times uint16) {
		value = bytes.Repeat(value, 1+int(times%64))
		packed, ok := heap.Compress(nil, heap.PGLZ, value)
		if !ok {
			return
		}
		got, err := heap.Decompress(nil, heap.PGLZ, packed, len(value))
		if err != nil || !bytes.Equal(got, value) {
			t.Fatalf("%d bytes came back, %v", len(got), err)
		}
	})
}

// binaryRow is a row of COPY binary. nil is NULL.
func binaryRow(fields ...[]byte) []byte {
	row := binary.BigEndian.AppendUint16(nil, uint16(len(fields)))
	for _, f := range fields {
		if f == nil {
			row = binary.BigEndian.AppendUint32(row, 1<<32-1)
			continue
		}
		row = append(binary.BigEndian.AppendUint32(row, uint32(len(f))), f...)
	}
	return row
}

// builtIn are types as pg_type has them.
var builtIn = map[string]*heap.Datatype{
	"bool": {OID: 16, Class: 'b', Len: 1, Align: 'c', Storage: 'p', Modifier: -1}, "int8": {OID: 20, Class: 'b', Len: 8, Align: 'd', Storage: 'p', Modifier: -1},
	"int4": {OID: 23, Class: 'b', Len: 4, Align: 'i', Storage: 'p', Modifier: -1}, "date": {OID: 1082, Class: 'b', Len: 4, Align: 'i', Storage: 'p', Modifier: -1},
	"text": {OID: 25, Class: 'b', Len: -1, Align: 'i', Storage: 'x', Modifier: -1}, "varchar(3)": {OID: 1043, Class: 'b', Len: -1, Align: 'i', Storage: 'x', Modifier: 7},
	"varchar(10)": {OID: 1043, Class: 'b', Len: -1, Align: 'i', Storage: 'x', Modifier: 14}, "char(2)": {OID: 1042, Class: 'b', Len: -1, Align: 'i', Storage: 'x', Modifier: 6},
	"numeric(4,2)": {OID: 1700, Class: 'b', Len: -1, Align: 'i', Storage: 'm', Modifier: 4<<16 | 2 + 4}, "json": {OID: 114, Class: 'b', Len: -1, Align: 'i', Storage: 'x', Modifier: -1},
	"jsonb": {OID: 3802, Class: 'b', Len: -1, Align: 'i', Storage: 'x', Modifier: -1}, "cidr": {OID: 650, Class: 'b', Len: -1, Align: 'i', Storage: 'm', Modifier: -1},
	"bit(3)": {OID: 1560, Class: 'b', Len: -1, Align: 'i', Storage: 'x', Modifier: 3}, "varbit(3)": {OID: 1562, Class: 'b', Len: -1, Align: 'i', Storage: 'x', Modifier: 3},
	"time": {OID: 1083, Class: 'b', Len: 8, Align: 'd', Storage: 'p', Modifier: -1}, "timetz": {OID: 1266, Class: 'b', Len: 12, Align: 'd', Storage: 'p', Modifier: -1},
	"timestamp": {OID: 1114, Class: 'b', Len: 8, Align: 'd', Storage: 'p', Modifier: -1}, "name": {OID: 19, Class: 'b', Len: 64, Align: 'c', Storage: 'p', Modifier: -1},
	"line": {OID: 628, Class: 'b', Len: 24, Align: 'd', Storage: 'p', Modifier: -1}, "polygon": {OID: 604, Class: 'b', Len: -1, Align: 'd', Storage: 'x', Modifier: -1},
	"int4[]": {OID: 1007, Class: 'a', Len: -1, Align: 'i', Storage: 'x', Modifier: -1, Elem: &heap.Datatype{OID: 23, Class: 'b', Len: 4, Align: 'i', Storage: 'p', Modifier: -1}},
	"mood":   {OID: 20000, Name: "mood", Class: 'e', Len: 4, Align: 'i', Storage: 'p', Modifier: -1, Labels: map[string]uint32{"ok": 20001}},
}

// TestPayloadsAreRefused gives makers what the receive functions of the server do not take.
func TestPayloadsAreRefused(t *testing.T) {
	const many = "\xff\xff\xff\xff"
	for _, c := range []struct{ typ, payload, state, message string }{
		{"bool", "", "08P01", "insufficient data left in message"},
		{"bool", "\x01\x01", "22P03", "incorrect binary data format"},
		{"int8", "1234567", "08P01", "insufficient data left in message"},
		{"date", "\x7f\xff\xff\xf0", "22008", "date out of range"},
		{"time", many + many, "22008", "time out of range"},
		{"timetz", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00", "22009", "time zone displacement out of range"},
		{"timestamp", "\x80\x00\x00\x00\x00\x00\x00\x01", "22008", "timestamp out of range"},
		{"text", "a\x00b", "22021", `invalid byte sequence for encoding "UTF8": 0x00`},
		{"text", "a\xc3(", "22021", `invalid byte sequence for encoding "UTF8": 0xc3 0x28`},
		{"text", "\xed\xa0\x80", "22021", `invalid byte sequence for encoding "UTF8": 0xed 0xa0 0x80`},
		{"varchar(3)", "abcd", "22001", "value too long for type character varying(3)"},
		{"char(2)", "äöü", "22001", "value too long for type character(2)"},
		{"name", strings.Repeat("n", 64), "42622", "identifier too long"},
		{"numeric(4,2)", "\x00\x01\x00\x00\x00\x00\x00\x00\x00\x64", "22003", "numeric field overflow"},
		{"numeric(4,2)", "\x00\x00\x00\x00\xd0\x00\x00\x00", "22003", "numeric field overflow"},
		{"numeric(4,2)", "\x00\x01\x00\x00\x00\x00\x00\x00\x27\x10", "22P03", `invalid digit in external "numeric" value`},
		{"numeric(4,2)", "\x00\x01\x00\x00\x10\x00\x00\x00\x00\x01", "22P03", `invalid sign in external "numeric" value`},
		{"numeric(4,2)", "\x00\x02\x00\x00\x00\x00\x00\x00\x00\x01", "08P01", "insufficient data left in message"},
		{"json", "{a}", "22P02", "invalid input syntax for type json"},
		{"jsonb", "\x01[1,]", "22P02", "invalid input syntax for type json"},
		{"jsonb", "\x02[]", "XX000", "unsupported jsonb version number 2"},
		{"jsonb", "\x01\"\\u0000\"", "22P05", "unsupported Unicode escape sequence"},
		{"jsonb", "\x01\"\\ud800x\"", "22P02", "invalid input syntax for type json"},
		{"jsonb", "\x011e999999999999", "22003", "value overflows numeric format"},
		{"jsonb", "\x011e131073", "22003", "value overflows numeric format"},
		{"cidr", "\x02\x08\x01\x04\x0a\x00\x00\x01", "22P03", `invalid external "cidr" value`},
		{"cidr", "\x02\x21\x01\x04\x0a\x00\x00\x01", "22P03", `invalid bits in external "cidr" value`},
		{"cidr", "\x07\x08\x01\x04\x0a\x00\x00\x01", "22P03", `invalid address family in external "cidr" value`},
		{"bit(3)", "\x00\x00\x00\x02\xc0", "22026", "bit string length 2 does not match type bit(3)"},
		{"varbit(3)", "\x00\x00\x00\x04\xf0", "22001", "bit string too long for type bit varying(3)"},
		{"varbit(3)", many, "22P03", "invalid length in external bit string"},
		{"line", strings.Repeat("\x00", 24), "22P03", "invalid line specification: A and B cannot both be zero"},
		{"polygon", "\x00\x00\x00\x00", "22P03", `invalid number of points in external "polygon" value`},
		{"polygon", "\x00\x00\x00\x02", "08P01", "insufficient data left in message"},
		{"mood", "bad", "22P02", `invalid input value for enum mood: "bad"`},
		{"int4[]", "\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00\x17", "54000", "number of array dimensions (7) exceeds the maximum allowed (6)"},
		{"int4[]", "\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x17", "22P03", "invalid array flags"},
		{"int4[]", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x19", "42804", "wrong element type"},
		{"int4[]", "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x17\x7f\xff\xff\xff\x00\x00\x00\x00", "54000", "array size exceeds the maximum allowed (134217727)"},
		{"int4[]", "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x17\x00\x00\x00\x01\x7f\xff\xff\xff", "54000", "array lower bound is too large: 2147483647"},
	} {
		typ := builtIn[c.typ]
		made, err := heap.MakerFor(typ)([]byte("before"), []byte(c.payload))
		var refused *heap.Refused
		if !errors.As(err, &refused) || refused.State != c.state || refused.Message != c.message {
			t.Errorf("%s %q: the error is %#v", c.typ, c.payload, err)
		}
		if string(made) != "before" {
			t.Errorf("%s %q: %q is left", c.typ, c.payload, made)
		}
	}
}

func TestTypesWithoutMakers(t *testing.T) {
	for _, typ := range []*heap.Datatype{
		{OID: 3614, Class: 'b', Len: -1}, {OID: 2249, Class: 'p', Len: -1}, {OID: 20000, Class: 'c', Len: -1}, {OID: 22, Class: 'b', Len: -1},
		{OID: 3643, Class: 'a', Len: -1, Elem: &heap.Datatype{OID: 3614, Class: 'b', Len: -1}}, {OID: 20000, Class: 'b', Len: -1, Receive: "ltree_recv"},
		{OID: 20000, Class: 'r', Len: -1}, {OID: 20000, Class: 'm', Len: -1, Elem: &heap.Datatype{}},
	} {
		if heap.MakerFor(typ) != nil {
			t.Errorf("%+v has a maker", typ)
		}
	}
}

// FuzzMakers gives makers anything.
func FuzzMakers(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x17\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x04abcd"))
	f.Add([]byte("\x01{\"a\": [1, \"\\u00e4\", 2.5e10], \"b\": {}}"))
	f.Add([]byte("\x00\x02\x00\x01\x40\x00\x00\x02\x04\xd2\x16\x2e"))
	subtype := &heap.Datatype{OID: 1700, Class: 'b', Len: -1, Align: 'i', Storage: 'm', Modifier: -1}
	numbers := &heap.Datatype{OID: 3906, Class: 'r', Len: -1, Align: 'i', Storage: 'x', Modifier: -1, Elem: subtype}
	types := []*heap.Datatype{numbers, {OID: 4532, Class: 'm', Len: -1, Align: 'i', Storage: 'x', Modifier: -1, Elem: numbers}}
	for _, typ := range builtIn {
		types = append(types, typ)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		for _, typ := range types {
			made, err := heap.MakerFor(typ)([]byte("12345"), payload)
			if string(made[:5]) != "12345" || err != nil && len(made) > 5 {
				t.Fatalf("%s: %q, %v", typ.Name, made, err)
			}
			if err == nil && typ.Len > 0 && len(made) != 5+int(typ.Len) {
				t.Fatalf("type %d has %d bytes", typ.OID, len(made)-5)
			}
		}
	})
}

// seedForm is the table (bigint, date, int, varchar(10)).
func seedForm() heap.Form {
	f := heap.Form{Size: 8192, Fields: 4}
	for i, name := range []string{"int8", "date", "int4", "varchar(10)"} {
		typ := builtIn[name]
		f.Columns = append(f.Columns, heap.FormColumn{Attribute: heap.Attribute{Name: name, Len: typ.Len, Align: typ.Align}, Type: typ, Storage: typ.Storage, Field: i, Make: heap.MakerFor(typ)})
	}
	return f
}

func TestRowsThatAreCutOff(t *testing.T) {
	row := binaryRow([]byte("12345678"), []byte("\x00\x00\x00\x01"), nil, []byte("text"))
	former := heap.NewFormer(seedForm())
	tuple, size, err := former.Row(row)
	if err != nil || size != len(row) {
		t.Fatal(size, err)
	}
	values, err := tuple.Values([]heap.Attribute{{Len: 8, Align: 'd'}, {Len: 4, Align: 'i'}, {Len: 4, Align: 'i'}, {Len: -1, Align: 'i'}}, nil)
	if err != nil || string(values[0].Data) != "87654321" || !values[2].Null || string(values[3].Data) != "\x0btext" {
		t.Errorf("the values are %v, %v", values, err)
	}
	for n := range row {
		if _, _, err := former.Row(row[:n]); err == nil {
			t.Errorf("%d of %d bytes make a row", n, len(row))
		}
	}
	if _, _, err := former.Row(binaryRow(nil)); err == nil || !strings.Contains(err.Error(), "1 fields instead of 4") {
		t.Errorf("the error is %v", err)
	}
	bad := binaryRow(nil, nil, nil, []byte("more than ten"))
	_, size, err = former.Row(bad)
	var refused *heap.FieldError
	if !errors.As(err, &refused) || refused.Field != 3 || refused.Column != "varchar(10)" || size != len(bad) {
		t.Errorf("the error is %#v, the size %d", err, size)
	}
}

// BenchmarkForm forms and packs rows of the seed table.
func BenchmarkForm(b *testing.B) {
	row := binaryRow([]byte("12345678"), []byte("\x00\x00\x00\x01"), []byte("\x00\x00\x00\x02"), []byte("text text"))
	former, packer, writer := heap.NewFormer(seedForm()), heap.NewPacker(8192), heap.NewRewriter(heap.Rewrite{Checksums: true}, 8192)
	for b.Loop() {
		tuple, _, err := former.Row(row)
		if err != nil {
			b.Fatal(err)
		}
		if packer.Add(tuple) {
			continue
		}
		if _, err := writer.Seal(packer, 7); err != nil {
			b.Fatal(err)
		}
		packer.Reset()
		packer.Add(tuple)
	}
}
