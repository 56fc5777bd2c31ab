package heap_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/heap"
)

func TestHeader(t *testing.T) {
	page := heap.Page(makePage(soundTuple()))
	le.PutUint32(page, 0x1A)
	le.PutUint32(page[4:], 0x2B3C4D5E)
	le.PutUint16(page[8:], 0xBEEF)
	le.PutUint16(page[10:], heap.FlagPageFull|heap.FlagAllVisible)
	le.PutUint32(page[20:], 777)
	h, err := page.Header()
	want := heap.Header{LSN: 0x1A2B3C4D5E, Checksum: 0xBEEF, Flags: 6, Lower: 28, Upper: 8160, Special: 8192, Size: 8192, Version: 4, PruneXID: 777}
	if err != nil || h != want {
		t.Errorf("the header is %+v (%v), want %+v", h, err, want)
	}
	if h.LSN.String() != "1A/2B3C4D5E" {
		t.Errorf("the LSN prints as %s", h.LSN)
	}
	if n := page.Lines(); n != 1 {
		t.Errorf("there are %d lines", n)
	}
}

func TestHeaderOfEachBlockSize(t *testing.T) {
	for size := 1024; size <= 32768; size *= 2 {
		page := make(heap.Page, size)
		if !page.Zero() || page.Lines() != 0 {
			t.Errorf("%d bytes of zeros are not", size)
		}
		if _, err := page.Header(); err == nil {
			t.Errorf("a zero page of %d bytes has a header", size)
		}
		for at, value := range map[int]int{12: 24, 14: size, 16: size, 18: size | 4} {
			le.PutUint16(page[at:], uint16(value))
		}
		if h, err := page.Header(); err != nil || h.Size != size || page.Zero() || page.Lines() != 0 {
			t.Errorf("of %d bytes the header is %+v (%v)", size, h, err)
		}
		if size == 1024 { // its size and version are the same in both orders
			continue
		}
		page[18], page[19] = page[19], page[18]
		if _, err := page.Header(); err == nil || !strings.Contains(err.Error(), "byte order") {
			t.Errorf("of %d bytes in the other order the error is %v", size, err)
		}
	}
	if _, err := heap.Page("short").Header(); err == nil {
		t.Error("five bytes have a header")
	}
}

func TestLine(t *testing.T) {
	for _, c := range []struct {
		n                     int
		offset, state, length int
		want                  string // the line and its error
	}{
		{1, 8160, 1, 32, "normal 8160 32"},
		{1, 0, 0, 0, "unused 0 0"},
		{1, 0, 3, 0, "dead 0 0"},
		{1, 2, 2, 0, "redirect 2 0"},
		{1, 1, 2, 0, "error: line 1 redirects to line 1 of 2"},
		{1, 0, 2, 0, "error: line 1 redirects to line 0 of 2"},
		{1, 3, 2, 0, "error: line 1 redirects to line 3 of 2"},
		{1, 8120, 1, 32, "error: line 1 leads outside of the tuples: offset 8120, length 32"},
		{1, 8168, 1, 32, "error: line 1 leads outside of the tuples: offset 8168, length 32"},
		{1, 32760, 1, 32767, "error: line 1 leads outside of the tuples: offset 32760, length 32767"},
		{1, 8132, 1, 32, "error: line 1 leads to offset 8132, which is not aligned"},
		{1, 8160, 1, 22, "error: line 1 has a tuple of 22 bytes, too few for a tuple header"},
		{0, 8160, 1, 32, "error: there is no line 0: the page has 2"},
		{3, 8160, 1, 32, "error: there is no line 3: the page has 2"},
		{-1, 8160, 1, 32, "error: there is no line -1: the page has 2"},
	} {
		page := heap.Page(makePage(soundTuple(), soundTuple()))
		putLine(page, 1, c.offset, c.state, c.length)
		l, err := page.Line(c.n)
		got := fmt.Sprintf("%s %d %d", l.State, l.Offset, l.Length)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != c.want {
			t.Errorf("line %d is %s, want %s", c.n, got, c.want)
		}
		if _, err := page.Tuple(c.n); (err == nil) != strings.HasPrefix(c.want, "normal") {
			t.Errorf("line %d as %s has a tuple with the error %v", c.n, c.want, err)
		}
	}
}

func TestTupleHeader(t *testing.T) {
	row := tuple{infomask: 0x0901, infomask2: 0xC000 | 9, xmin: 700, xmax: 701, nulls: []byte{0xFF, 1}, data: make([]byte, 9)}
	page := heap.Page(makePage(row))
	le.PutUint32(page[8192-48+8:], 5)           // t_field3
	copy(page[8192-48+12:], "\x01\x00\x02\x00") // t_ctid's block 0x10002
	tup, err := page.Tuple(1)
	if err != nil {
		t.Fatal(err)
	}
	block, line := tup.CTID()
	got := fmt.Sprintln(tup.Xmin(), tup.Xmax(), tup.Field3(), block, line, tup.Natts(), tup.Infomask2()&heap.HotUpdated > 0, tup.Infomask2()&heap.HeapOnly > 0,
		tup.Infomask2()&heap.KeysUpdated > 0, tup.Infomask()&heap.XmaxInvalid > 0, tup.Hoff(), hex.EncodeToString(tup.Nulls()))
	if want := "700 701 5 65538 1 9 true true false true 32 ff01\n"; got != want {
		t.Errorf("the header is %s, want %s", got, want)
	}
	for hoff, sound := range map[byte]bool{24: false, 32: true, 33: false, 40: false, 0: false, 255: false} {
		page[8192-48+22] = hoff
		if _, err := page.Tuple(1); (err == nil) != sound {
			t.Errorf("data from byte %d give the error %v", hoff, err)
		}
	}
	le.PutUint16(page[8192-48+20:], 0x0909) // an OID of releases before 12 makes it no longer: 25 + 4
	page[8192-48+22] = 32
	if _, err := page.Tuple(1); err != nil {
		t.Error(err)
	}
}
