package heap_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/heap"
)

func attr(name string, size int16, align byte) heap.Attribute {
	return heap.Attribute{Name: name, Len: size, Align: align}
}

// show prints values: NULL as -, others as hexadecimal digits.
func show(values []heap.Value) string {
	var parts []string
	for _, v := range values {
		if v.Null {
			parts = append(parts, "-")
		} else {
			parts = append(parts, fmt.Sprintf("%x", v.Data))
		}
	}
	return strings.Join(parts, " ")
}

func TestValues(t *testing.T) {
	a, s, i, d, v, z := attr("a", 1, 'c'), attr("s", 2, 's'), attr("i", 4, 'i'), attr("d", 8, 'd'), attr("v", -1, 'i'), attr("z", -2, 'c')
	missing := heap.Attribute{Name: "m", Len: 2, Align: 's', HasMissing: true, Missing: []byte{7, 0}}
	external := "0112" + "64000000" + "32000000" + "01000000" + "02000000"
	for _, c := range []struct {
		name  string
		attrs []heap.Attribute
		natts int
		nulls string
		data  string // hexadecimal
		want  string // "error: ..." for an error
	}{
		{"each alignment", []heap.Attribute{a, s, a, i, a, d}, 6, "", "01000203040000000506070809000000" + "1112131415161718", "01 0203 04 05060708 09 1112131415161718"},
		{"a NULL takes no room", []heap.Attribute{i, d, a}, 3, "05", "0102030405", "01020304 - 05"},
		{"all NULL", []heap.Attribute{i, v, z}, 3, "00", "", "- - -"},
		{"nine columns have two bytes of nulls", []heap.Attribute{a, a, a, a, a, a, a, a, i}, 9, "8001", "0700000001000000", "- - - - - - - 07 01000000"},
		{"a short varlena is not aligned", []heap.Attribute{a, v, a}, 3, "", "01" + "076162" + "02", "01 076162 02"},
		{"a long varlena is aligned", []heap.Attribute{a, v, a}, 3, "", "01000000" + "18000000" + "6162" + "02", "01 180000006162 02"},
		{"a varlena aligned by 8", []heap.Attribute{i, attr("w", -1, 'd')}, 2, "", "0100000000000000" + "14000000" + "61", "01000000 1400000061"},
		{"an empty varlena", []heap.Attribute{v, a}, 2, "", "0302", "03 02"},
		{"a TOAST pointer", []heap.Attribute{a, v, a}, 3, "", "01" + external + "02", "01 " + external + " 02"},
		{"a C string", []heap.Attribute{z, s}, 2, "", "61620000" + "0102", "6162 0102"},
		{"an empty C string", []heap.Attribute{z, a}, 2, "", "0002", " 02"},
		{"older than two columns", []heap.Attribute{a, missing, i}, 1, "", "01", "01 0700 -"},
		{"older than a column that it has not NULL", []heap.Attribute{a, missing}, 2, "01", "01", "01 -"},
		{"no columns", nil, 0, "", "", ""},
		{"too many columns", []heap.Attribute{a}, 2, "", "0102", "error: the tuple has 2 attributes, the table 1"},
		{"cut", []heap.Attribute{a, d}, 2, "", "0100000000000000010203", "error: column d ends 5 bytes behind the tuple"},
		{"cut before the value", []heap.Attribute{a, v}, 2, "", "01", "error: column v: the value starts behind the tuple"},
		{"padding to the end", []heap.Attribute{a, v}, 2, "", "0100", "error: column v: the value starts behind the tuple"},
		{"a varlena that is too long", []heap.Attribute{v}, 1, "", "0961", "error: column v ends 2 bytes behind the tuple"},
		{"a varlena of a gigabyte", []heap.Attribute{v}, 1, "", "fcffffff", "error: column v ends 1073741819 bytes behind the tuple"},
		{"a varlena shorter than its header", []heap.Attribute{v}, 1, "", "0c000000", "error: column v: the value states a length of 3 bytes, less than its header"},
		{"half a header", []heap.Attribute{v}, 1, "", "1800", "error: column v: the header of the value is cut"},
		{"an external value in memory", []heap.Attribute{v}, 1, "", "01010000000000000000", "error: column v: the value is of an external kind that no file holds"},
		{"a C string without end", []heap.Attribute{z}, 1, "", "6162", "error: column z: a C string does not end within the tuple"},
		{"bytes behind the last column", []heap.Attribute{i}, 1, "", "0102030405", "error: the tuple has 1 bytes behind its last column"},
		{"a length that no type has", []heap.Attribute{attr("x", -3, 'c')}, 1, "", "01", "error: column x: a length of -3 is not known"},
	} {
		t.Run(c.name, func(t *testing.T) {
			row := tuple{infomask2: uint16(c.natts), data: unhex(t, c.data), nulls: unhex(t, c.nulls)}
			if c.nulls != "" {
				row.infomask = uint16(heap.HasNull)
			}
			tup, err := heap.Page(makePage(row)).Tuple(1)
			if err != nil {
				t.Fatal(err)
			}
			values, err := tup.Values(c.attrs, nil)
			got := show(values)
			if err != nil {
				got = "error: " + err.Error()
			}
			if got != c.want {
				t.Errorf("the values are %s, want %s", got, c.want)
			}
		})
	}
}

func TestValuesNeedNoMemory(t *testing.T) {
	page := seedPage()
	values := make([]heap.Value, 4)
	if n := testing.AllocsPerRun(10, func() {
		for n := 1; n <= page.Lines(); n++ {
			tup, _ := page.Tuple(n)
			values, _ = tup.Values(seedAttrs, values)
		}
	}); n > 0 {
		t.Errorf("a page of tuples took %v allocations", n)
	}
	if len(values) != 4 {
		t.Fatalf("there are %d values", len(values))
	}
	if got := string(values[3].Data[1:]); got != "abcdefghi" {
		t.Errorf("the last value is %q", got)
	}
}

// FuzzWalk forms a tuple of columns and values that it makes of the input, and wants them back.
func FuzzWalk(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, []byte("some bytes to take the values from, which are as long as they have to be"))
	f.Add([]byte{0x85, 3, 0x80, 5, 6, 5, 5}, []byte{1, 200, 255, 0, 0, 0})
	f.Fuzz(func(t *testing.T, columns, bytes []byte) {
		attrs, want, row := formed(columns[:min(len(columns), 40)], bytes)
		tup, err := heap.Page(makePage(row)).Tuple(1)
		if err != nil {
			t.Fatal(err)
		}
		values, err := tup.Values(attrs, nil)
		if err != nil || show(values) != show(want) {
			t.Fatalf("the values are %s (%v), want %s", show(values), err, show(want))
		}
		for cut := range row.data { // a tuple that ends early is never taken for a whole one
			short := row
			short.data = row.data[:cut]
			tup, err := heap.Page(makePage(short)).Tuple(1)
			if err != nil {
				t.Fatal(err)
			}
			if values, err := tup.Values(attrs, nil); err == nil {
				t.Fatalf("cut to %d of %d bytes, the values are %s", cut, len(row.data), show(values))
			}
		}
	})
}

// formed makes a tuple: each byte of columns is a kind of column, NULL when its highest bit is set.
func formed(columns, content []byte) (attrs []heap.Attribute, want []heap.Value, row tuple) {
	kinds := []heap.Attribute{
		attr("a", 1, 'c'), attr("s", 2, 's'), attr("i", 4, 'i'), attr("d", 8, 'd'), attr("u", 16, 'c'), attr("v", -1, 'i'), attr("w", -1, 'd'),
		attr("z", -2, 'c'), attr("t", 6, 's'), attr("n", 12, 'd'),
	}
	row.nulls = make([]byte, (len(columns)+7)/8)
	row.infomask, row.infomask2 = uint16(heap.HasNull), uint16(len(columns))
	for n, c := range columns {
		a := kinds[int(c&0x7F)%len(kinds)]
		attrs = append(attrs, a)
		if c&0x80 != 0 {
			want = append(want, heap.Value{Null: true})
			continue
		}
		row.nulls[n/8] |= 1 << (n % 8)
		value, aligned, end := someValue(a, &content)
		for step := map[byte]int{'c': 1, 's': 2, 'i': 4, 'd': 8}[a.Align]; aligned && len(row.data)%step != 0; {
			row.data = append(row.data, 0)
		}
		want = append(want, heap.Value{Data: value})
		row.data = append(append(row.data, value...), end...)
	}
	return attrs, want, row
}

// someValue takes what a column needs from content: its bytes, whether they are aligned, and what ends them.
func someValue(a heap.Attribute, content *[]byte) (value []byte, aligned bool, end []byte) {
	take := func(n int) []byte {
		b := make([]byte, n)
		*content = (*content)[copy(b, *content):]
		return b
	}
	switch a.Len {
	case -2:
		return bytes.ReplaceAll(take(int(take(1)[0]%9)), []byte{0}, []byte{1}), true, []byte{0}
	case -1:
		n := int(take(1)[0])
		if n < 126 {
			return append([]byte{byte(n+1)<<1 | 1}, take(n)...), false, nil
		}
		return append(le.AppendUint32(nil, uint32(n+4)<<2), take(n)...), true, nil
	}
	return take(int(a.Len)), true, nil
}
