package sqltext

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unicode/utf8"
)

// FuzzStatements gives any bytes to each reader of statements, under all
// options: no panic, and what is recognised is whole.
func FuzzStatements(f *testing.F) {
	g := &generator{Rand: rand.New(rand.NewPCG(1, 2)), standard: true, parameters: true}
	for range 50 {
		sql := g.insert()
		f.Add([]byte(sql), uint8(7))
		f.Add([]byte("prepare n (text, numeric(1,2)) as "+sql), uint8(7))
		f.Add([]byte("explain (analyze off, format 'text')"+sql), uint8(7))
	}
	f.Add([]byte("execute n ('a', 1, null)"), uint8(3))
	f.Add([]byte("set local pghaul.mode = E'off'"), uint8(3))
	f.Fuzz(func(t *testing.T, sql []byte, options uint8) {
		o := LexOptions{StandardConformingStrings: options&1 > 0, SafeEncoding: options&2 > 0, UTF8: options&4 > 0}
		before := bytes.Clone(sql)
		FirstWord(sql)
		ParseSet(sql, o)
		ParseExplain(sql, o)
		if e, _ := ParseExecute(sql, o); e != nil {
			n := 0
			e.Values(func(_ int, v Value) bool { n++; checkValue(t, v, o); return true })
			if n != e.Width {
				t.Errorf("visited %d values of %d", n, e.Width)
			}
		}
		if p, _ := ParsePrepare(sql, o); p != nil {
			checkInsert(t, p.Insert, o)
		}
		i, not := ParseInsert(sql, o)
		if (i == nil) == (not == nil) {
			t.Fatal(i, not)
		}
		if i != nil {
			checkInsert(t, i, o)
			if FirstWord(sql) != "INSERT" {
				t.Errorf("FirstWord: %q", FirstWord(sql))
			}
		}
		if !bytes.Equal(sql, before) {
			t.Error("the statement was changed")
		}
	})
}

func checkInsert(t *testing.T, i *Insert, o LexOptions) {
	n, highest, ordered := 0, 0, true
	i.Values(func(row, column int, v Value) bool {
		if row != n/i.Width || column != n%i.Width {
			t.Fatalf("value %d is at %d, %d", n, row, column)
		}
		n++
		checkValue(t, v, o)
		if !i.Has(v.Kind) {
			t.Errorf("not Has(%d)", v.Kind)
		}
		highest = max(highest, v.Parameter)
		ordered = ordered && v.Parameter == n
		return true
	})
	if n != i.Rows*i.Width || n == 0 || highest != i.Parameters || ordered != i.Ordered {
		t.Errorf("visited %d values, parameters up to %d, ordered %t: %+v", n, highest, ordered, i)
	}
	if i.Table == "" || i.Columns != nil && len(i.Columns) != i.Width {
		t.Errorf("%+v", i)
	}
}

func checkValue(t *testing.T, v Value, o LexOptions) {
	switch {
	case v.Kind == String && bytes.IndexByte(v.Text, 0) >= 0, v.Kind == String && o.UTF8 && !utf8.Valid(v.Text),
		v.Kind == Number && (len(v.Text) == 0 || len(v.Text) > 300),
		v.Kind == Number && v.Form == Integer && len(bytes.Trim(v.Text[1:], "0123456789")) > 0,
		v.Kind != Number && v.Kind != String && v.Text != nil,
		(v.Kind == Param) != (v.Parameter > 0):
		t.Errorf("%+v", v)
	}
}
