package rowfile

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseFixed(t *testing.T) {
	tests := []struct {
		spec string
		want FixedField
		bad  string
	}{
		{"CHAR(5)", FixedField{FixedChar, 10, 5, nil}, ""},
		{"character varying (3+4)", FixedField{FixedVarchar, 2, 4, nil}, ""},
		{"INTEGER", FixedField{FixedInteger, 10, 4, nil}, ""},
		{"int(8)", FixedField{FixedInteger, 10, 8, nil}, ""},
		{"unsigned  smallint", FixedField{FixedUnsigned, 10, 2, nil}, ""},
		{"SHORT(5:6) NULLIF 8000", FixedField{FixedInteger, 4, 2, []byte{0x80, 0}}, ""},
		{"CHAR(4) NULLIF 'NULL'", FixedField{FixedChar, 10, 4, []byte("NULL")}, ""},
		{"DOUBLE", FixedField{FixedFloat, 10, 8, nil}, ""},
		{"REAL(8)", FixedField{FixedFloat, 10, 8, nil}, ""},
		{"7", FixedField{FixedVarchar, 10, 7, nil}, ""},
		{"CHAR", FixedField{}, "a length must be given"},
		{"SMALLINT(4)", FixedField{}, "its length must be one of [2]"},
		{"CHAR(0)", FixedField{}, "its place must be"},
		{"CHAR(0+3)", FixedField{}, "its place must be"},
		{"CHAR(9:2)", FixedField{}, "its place must be"},
		{"CHAR(2", FixedField{}, "its place must be"},
		{"TEXT(3)", FixedField{}, "no such type"},
		{"CHAR(2) NULLIF 'abc'", FixedField{}, "NULLIF has 3 bytes and the field 2"},
		{"INTEGER NULLIF 00", FixedField{}, "NULLIF has 1 bytes and the field 4"},
		{"INTEGER NULLIF zz", FixedField{}, "NULLIF takes"},
		{"CHAR(2) NULLIF 'a", FixedField{}, "has no end"},
	}
	for _, tt := range tests {
		fields, err := ParseFixed([]string{"CHAR(10)", tt.spec}, true)
		if tt.bad != "" {
			if err == nil || !strings.Contains(err.Error(), tt.bad) {
				t.Errorf("%s: got %v, want %q", tt.spec, err, tt.bad)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.spec, err)
		} else if diff := cmp.Diff(tt.want, fields[1]); diff != "" {
			t.Errorf("%s: %s", tt.spec, diff)
		}
	}
}

func TestFixedRecords(t *testing.T) {
	fields, err := ParseFixed([]string{"CHAR(4) NULLIF 'none'", "VARCHAR(3)", "SMALLINT NULLIF ffff", "BIGINT", "UNSIGNED INTEGER", "FLOAT", "DOUBLE"}, false)
	if err != nil {
		t.Fatal(err)
	}
	record := func(a, b string, c int16, d int64, e uint32, f float32, g float64) []byte {
		r := append([]byte(a), b...)
		r = binary.LittleEndian.AppendUint16(r, uint16(c))
		r = binary.LittleEndian.AppendUint64(r, uint64(d))
		r = binary.LittleEndian.AppendUint32(r, e)
		r = binary.LittleEndian.AppendUint32(r, math.Float32bits(f))
		return append(binary.LittleEndian.AppendUint64(r, math.Float64bits(g)), "!!"...)
	}
	data := bytes.Join([][]byte{
		record("skip", "ped", 0, 0, 0, 0, 0),
		record("ab  ", "c  ", -5, math.MinInt64, math.MaxUint32, 0.1, 1e300),
		record("none", "\x00xx", -1, 7, 0, float32(math.Inf(-1)), math.NaN()),
		record("\xff   ", "abc", 0, 0, 0, 0, 0),
		[]byte("cut off"),
	}, nil)
	l := layoutOf(t, data, Layout{Format: Fixed, Skip: 1, Fixed: FixedLayout{Fields: fields, Stride: 35}})
	l.SetColumns([]string{"a", "b", "c", "d", "e", "f", "g"})
	rows, _, err := rowsOf(t, bytes.NewReader(data), &l, Position{})
	if err != nil {
		t.Fatal(err)
	}
	want := []seen{
		{`"ab" "c  " "-5" "-9223372036854775808" "4294967295" "0.1" "1e+300"`, "", 2, 35, string(data[35:70])},
		{`\N \N \N "7" "0" "-Infinity" "NaN"`, "", 3, 70, string(data[70:105])},
		{"", `22021 invalid byte sequence for encoding "UTF8": 0xff`, 4, 105, string(data[105:140])},
		{"", `22P04 missing data for column "c"`, 5, 140, "cut off"},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
}

func TestFixedLines(t *testing.T) {
	fields, err := ParseFixed([]string{"CHAR(3)", "CHAR(4:6) NULLIF '   '"}, false)
	if err != nil {
		t.Fatal(err)
	}
	data := []byte("a  b  \r\nab c\r\nabc   \r\nab\r\nabcdefg\r\n\xe4  \xf6\r\n")
	l := layoutOf(t, data, Layout{Format: Fixed, Encoding: "LATIN1", Fixed: FixedLayout{Fields: fields, Lines: true}})
	l.SetColumns([]string{"x", "y"})
	rows, _, err := rowsOf(t, bytes.NewReader(data), &l, Position{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, r.Fields+r.Bad)
	}
	want := []string{`"a" "b"`, `"ab" "c"`, `"abc" \N`, `22P04 missing data for column "y"`, "22P04 extra data after last expected column", `"ä" "ö"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
