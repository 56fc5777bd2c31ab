package heap_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/heap"
)

// rowTuple is a live tuple of rewriteAttrs' first two columns.
func rowTuple(id byte) tuple {
	return tuple{infomask: 0x0902, infomask2: 2, xmin: 10, data: []byte{id, 0, 0, 0, 9, 'a', 'b', 'c'}}
}

// emptyPage is how a page begins.
func emptyPage() heap.Page { return make(heap.Page, 8192) }

// ids returns the first column of a page's tuples, having checked the page and what every rewritten tuple's header has in common.
func ids(t *testing.T, r heap.Rewrite, page heap.Page, block uint32) []byte {
	t.Helper()
	for _, f := range page.Check(block, r.Attrs, r.Checksums) {
		t.Errorf("line %d: %s", f.Line, f.Reason)
	}
	h, err := page.Header()
	if err != nil {
		t.Fatal(err)
	}
	if h.LSN != 0 || h.PruneXID != 0 || (h.Flags == heap.FlagAllVisible) != (r.Xid == 0) || h.Flags&^heap.FlagAllVisible != 0 {
		t.Errorf("page header %+v", h)
	}
	var found []byte
	for n := 1; n <= page.Lines(); n++ {
		tup, err := page.Tuple(n)
		if err != nil {
			t.Fatal(err)
		}
		wantMask, wantXmin := heap.XminFrozen|heap.XmaxInvalid, uint32(heap.FrozenXID)
		if r.Xid != 0 {
			wantXmin = r.Xid
			if n == 1 {
				wantMask = heap.XmaxInvalid
			}
		}
		atBlock, atLine := tup.CTID()
		mask := tup.Infomask() &^ (heap.HasNull | heap.HasVarWidth | heap.HasExternal)
		if mask != wantMask || tup.Xmin() != wantXmin || tup.Xmax() != 0 || tup.Field3() != 0 || atBlock != block || int(atLine) != n ||
			tup.Infomask2()&^heap.NattsMask != 0 {
			t.Errorf("line %d: infomask %#x, infomask2 %#x, xmin %d, xmax %d, field3 %d, ctid (%d,%d)", n, tup.Infomask(), tup.Infomask2(),
				tup.Xmin(), tup.Xmax(), tup.Field3(), atBlock, atLine)
		}
		found = append(found, tup[tup.Hoff()])
	}
	return found
}

func TestRewriteKeepsLiveTuples(t *testing.T) {
	with := func(id byte, infomask, infomask2 uint16, xmin, xmax uint32) tuple {
		return tuple{infomask: infomask | 2, infomask2: infomask2 | 2, xmin: xmin, xmax: xmax, data: rowTuple(id).data}
	}
	for _, c := range []struct {
		name   string
		tuples []tuple
		want   []byte
	}{
		{"all live", []tuple{rowTuple(1), rowTuple(2), rowTuple(3)}, []byte{1, 2, 3}},
		{"no hints", []tuple{with(1, 0, 0, 10, 0), with(2, 0, 0, 20, 0), with(3, 0, 0, 30, 0), with(4, 0, 0, 10, 10), with(5, 0, 0, 10, 20)}, []byte{1, 5}},
		{"first dead", []tuple{with(1, 0x0500, 0, 10, 10), rowTuple(2)}, []byte{2}},
		{"updated in place", []tuple{with(1, 0x0500, heap.HotUpdated, 10, 10), with(2, 0x2900, heap.HeapOnly, 10, 0)}, []byte{2}},
		{"locked", []tuple{with(1, 0x0100|0x00C0, heap.KeysUpdated, 10, 30), with(2, 0x1100|0x0080|0x0040, 0, 10, 6)}, []byte{1, 2}},
		{"multixact with an updater", []tuple{with(1, 0x1100, 0, 10, 5), with(2, 0x1100, 0, 10, 6)}, []byte{2}},
		{"combo command", []tuple{with(1, 0x0920, 0, 10, 0)}, []byte{1}},
		{"all dead", []tuple{with(1, 0x0500, 0, 10, 10)}, nil},
		{"none", nil, nil},
	} {
		for _, r := range []heap.Rewrite{{}, {Xid: 99}, {Checksums: true}, {Xid: 99, Checksums: true, Walk: true}} {
			r.Attrs, r.Tx = checkAttrs, history{}
			src, dst := heap.Page(makePage(c.tuples...)), emptyPage()
			le.PutUint32(src[20:], 77)
			src[4], src[10] = 1, heap.FlagPageFull|heap.FlagHasFreeLines
			const block = 0x12345
			w := heap.NewRewriter(r, len(src))
			before := slices.Clone(src)
			rows, err := w.Page(dst, src, block, nil)
			if err != nil || rows != len(c.want) {
				t.Fatalf("%s: %d rows, %v", c.name, rows, err)
			}
			if !bytes.Equal(before, src) {
				t.Errorf("%s: the source has changed", c.name)
			}
			if got := ids(t, r, dst, block); !bytes.Equal(got, c.want) {
				t.Errorf("%s: kept %v, want %v", c.name, got, c.want)
			}
			if _, err := w.Page(src, src, block, nil); err != nil || !bytes.Equal(src, dst) {
				t.Errorf("%s: in place it is another page, %v", c.name, err)
			}
		}
	}
}

func TestRewriteKeepsValues(t *testing.T) {
	attrs := slices.Concat(checkAttrs, []heap.Attribute{
		{Name: "gone", Len: 2, Align: 's', Dropped: true}, {Name: "mood", Len: 4, Align: 'i', HasMissing: true, Missing: []byte{3, 0, 0, 0}},
		{Name: "note", Len: -1, Align: 'i', HasMissing: true, Missing: []byte{7, 'h', 'i'}}, {Name: "f", Len: 8, Align: 'd'},
		{Name: "s", Len: -2, Align: 'c', HasMissing: true, Missing: []byte("str")},
	})
	external := tuple{infomask: 0x0906, infomask2: 2, xmin: 10, data: slices.Concat([]byte{2, 0, 0, 0, 1, 18}, make([]byte, 16))}
	le.PutUint32(external.data[6:], 104)
	le.PutUint32(external.data[10:], 100)
	le.PutUint32(external.data[14:], 555)
	le.PutUint32(external.data[18:], 16000)
	w := heap.NewRewriter(heap.Rewrite{
		Attrs: attrs, Tx: history{}, ToastRelation: 17000, Enums: map[int]map[uint32]uint32{3: {3: 300}},
	}, 8192)
	dst := emptyPage()
	if _, err := w.Page(dst, makePage(rowTuple(1), external), 4, nil); err != nil {
		t.Fatal(err)
	}
	ids(t, w.Rewrite, dst, 4)
	for n, v := range []string{"\tabc", "\x01\x12\x68\x00\x00\x00\x64\x00\x00\x00\x2b\x02\x00\x00\x68\x42\x00\x00"} {
		tup, err := dst.Tuple(n + 1)
		if err != nil {
			t.Fatal(err)
		}
		values, err := tup.Values(attrs, nil)
		if err != nil || tup.Natts() != len(attrs) {
			t.Fatalf("%d attributes, %v", tup.Natts(), err)
		}
		want := []string{string([]byte{byte(n + 1), 0, 0, 0}), v, "NULL", "\x2c\x01\x00\x00", "\x07hi", "NULL", "str"}
		for i := range values {
			got := string(values[i].Data)
			if values[i].Null {
				got = "NULL"
			}
			if got != want[i] {
				t.Errorf("line %d, column %s: %q instead of %q", n+1, attrs[i].Name, got, want[i])
			}
		}
		if external := tup.Infomask()&heap.HasExternal != 0; external != (n == 1) {
			t.Errorf("line %d: infomask %#x", n+1, tup.Infomask())
		}
	}
	for name, r := range map[string]heap.Rewrite{
		"in a TOAST table":                     {Attrs: checkAttrs},
		"column id: the enum value with OID 2": {Attrs: checkAttrs, ToastRelation: 1, Enums: map[int]map[uint32]uint32{0: {9: 9}}},
	} {
		_, err := heap.NewRewriter(r, 8192).Page(dst, makePage(external), 0, nil)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("the error is %v instead of %q", err, name)
		}
	}
}

func TestRewriteSpillsWhatGrew(t *testing.T) {
	attrs := slices.Concat(checkAttrs, []heap.Attribute{{Name: "m", Len: 64, Align: 'c', HasMissing: true, Missing: make([]byte, 64)}})
	var tuples []tuple
	for i := range 200 {
		tuples = append(tuples, rowTuple(byte(i)))
	}
	w, packer := heap.NewRewriter(heap.Rewrite{Attrs: attrs, Checksums: true}, 8192), heap.NewPacker(8192)
	var found []byte
	block := uint32(6)
	spill := func(tup heap.Tuple) error {
		if packer.Add(tup) {
			return nil
		}
		page, err := w.Seal(packer, block)
		if err != nil {
			return err
		}
		found = append(found, ids(t, w.Rewrite, page, block)...)
		block++
		packer.Reset()
		if !packer.Add(tup) {
			t.Fatal("an empty page has no room")
		}
		return nil
	}
	dst := emptyPage()
	rows, err := w.Page(dst, makePage(tuples...), 5, spill)
	if err != nil || rows != len(tuples) {
		t.Fatalf("%d rows, %v", rows, err)
	}
	last, err := w.Seal(packer, block)
	if err != nil {
		t.Fatal(err)
	}
	found = append(append(ids(t, w.Rewrite, dst, 5), found...), ids(t, w.Rewrite, last, block)...)
	for i := range tuples {
		if i >= len(found) || found[i] != byte(i) {
			t.Fatalf("the rows are %v", found)
		}
	}
	attrs[2].Len, attrs[2].Missing = 8192, make([]byte, 8192)
	_, err = heap.NewRewriter(heap.Rewrite{Attrs: attrs}, 8192).Page(dst, makePage(tuples[0]), 5, spill)
	if err == nil || !strings.Contains(err.Error(), "a page holds 8160") {
		t.Errorf("a row larger than a page: %v", err)
	}
}

func TestRewriteRefusesDamage(t *testing.T) {
	overlap := makePage(rowTuple(1), rowTuple(2))
	putLine(overlap, 2, 8192-32, 1, 32)
	old := rowTuple(1)
	old.infomask |= uint16(heap.HasOldOID)
	many := rowTuple(1)
	many.infomask2 = 3
	hoff := makePage(rowTuple(1))
	hoff[8192-32+22] = 32
	unhinted := rowTuple(1)
	unhinted.infomask = 0x0802
	special := makePage(rowTuple(1))
	le.PutUint16(special[16:], 8192-8)
	for want, page := range map[string][]byte{
		"shares its bytes": overlap, "has an OID": makePage(old), "3 attributes": makePage(many), "data start at 32": hoff, "no hint": makePage(unhinted),
		"special": special, "layout version": bytes.Repeat([]byte{0xFF}, 8192), "instead of 8192": make([]byte, 4096),
	} {
		_, err := heap.NewRewriter(heap.Rewrite{Attrs: checkAttrs}, 8192).Page(emptyPage(), page, 0, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v instead of %q", err, want)
		}
	}
	rows, err := heap.NewRewriter(heap.Rewrite{}, 8192).Page(emptyPage(), emptyPage(), 0, nil)
	if rows != 0 || err != nil {
		t.Errorf("a zero page: %d rows, %v", rows, err)
	}
}

// FuzzRewrite rewrites damaged pages: what comes out without an error is always sound.
func FuzzRewrite(f *testing.F) {
	f.Add(makePage(rowTuple(1), rowTuple(2)), uint32(1), uint8(0))
	dead := rowTuple(3)
	dead.infomask, dead.xmax = 0x0502, 10
	f.Add(makePage(rowTuple(1), dead, rowTuple(2)), uint32(1<<20), uint8(15))
	f.Add(makePage(tuple{infomask: 0x0907, infomask2: 2, xmin: 10, nulls: []byte{2}, data: append([]byte{1, 18}, make([]byte, 16)...)}), uint32(1), uint8(7))
	attrs := slices.Concat(checkAttrs, []heap.Attribute{{Name: "m", Len: 2, Align: 's', HasMissing: true, Missing: []byte{1, 2}}})
	sound := makePage(rowTuple(1), dead, rowTuple(2), rowTuple(4))
	f.Add([]byte{24, 0, 9, 20, 0, 3}, uint32(1), uint8(31))
	for n := range uint16(4) { // each byte of headers and lines
		f.Add(append(le.AppendUint16(nil, 24+4*n), 0), uint32(1), uint8(16))
		f.Add(append(le.AppendUint16(nil, 8192-32*n-12), 7), uint32(1), uint8(21))
	}
	f.Fuzz(func(t *testing.T, content []byte, block uint32, how uint8) {
		src := emptyPage()
		copy(src, content)
		if how&16 != 0 { // damage of single bytes in a sound page: content is offsets and values
			copy(src, sound)
			for ; len(content) >= 3; content = content[3:] {
				src[le.Uint16(content)%8192] = content[2]
			}
		}
		r := heap.Rewrite{Attrs: attrs, Tx: history{}, Checksums: how&1 != 0, Walk: how&4 != 0}
		if how&2 != 0 {
			r.Xid = 1234
		}
		if how&8 != 0 {
			r.ToastRelation, r.Enums = 5, map[int]map[uint32]uint32{0: {1: 2}}
		}
		dst, spilled := emptyPage(), 0
		rows, err := heap.NewRewriter(r, 8192).Page(dst, src, block, func(heap.Tuple) error { spilled++; return nil })
		if err != nil {
			return
		}
		walked := attrs
		if !r.Walk {
			walked = nil
		}
		if faults := dst.Check(block, walked, r.Checksums); len(faults) > 0 || dst.Lines()+spilled != rows {
			t.Fatalf("%d rows, %d lines, %d spilled, %v", rows, dst.Lines(), spilled, faults)
		}
	})
}

func TestVisibilityMap(t *testing.T) {
	for _, c := range []struct {
		blocks uint32
		pages  uint32
	}{{0, 0}, {1, 1}, {5, 1}, {32672, 1}, {32673, 2}, {100000, 4}, {0xFFFFFFFE, 131458}} {
		if got := heap.VisibilityMapBlocks(c.blocks, 8192); got != c.pages {
			t.Errorf("the map of %d blocks has %d pages instead of %d", c.blocks, got, c.pages)
		}
		for n := range min(c.pages, 5) {
			page := emptyPage()
			heap.VisibilityMap(page, n, c.blocks, true)
			for _, f := range page.Check(n, nil, true) {
				t.Error(f.Reason)
			}
			for bit := range 2 * 32672 {
				set := page[24+bit/8]&(1<<(bit%8)) != 0
				if set != (uint64(n)*32672+uint64(bit/2) < uint64(c.blocks)) {
					t.Fatalf("%d blocks: bit %d of page %d is %v", c.blocks, bit, n, set)
				}
			}
		}
	}
}

// BenchmarkRewrite rewrites a page of the seed table's shape in place: 157 rows, all live.
func BenchmarkRewrite(b *testing.B) {
	var tuples []tuple
	for range 157 {
		tuples = append(tuples, tuple{infomask: 0x0902, infomask2: 2, xmin: 10, data: append(rowTuple(1).data, make([]byte, 16)...)})
	}
	page := heap.Page(makePage(tuples...))
	w := heap.NewRewriter(heap.Rewrite{Attrs: checkAttrs}, len(page))
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		if _, err := w.Page(page, page, 7, nil); err != nil {
			b.Fatal(err)
		}
	}
}
