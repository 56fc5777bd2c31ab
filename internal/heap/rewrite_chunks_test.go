package heap_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/heap"
)

// pointing is a row of checkAttrs whose text is in the TOAST table, in stored bytes; lz4 has compressed it where raw is larger.
func pointing(value uint32, stored, raw int) tuple {
	t := tuple{infomask: 0x0906, infomask2: 2, xmin: 10, data: slices.Concat([]byte{1, 0, 0, 0, 1, 18}, make([]byte, 16))}
	info := uint32(stored)
	if raw > stored {
		info |= uint32(heap.LZ4) << 30
	}
	le.PutUint32(t.data[6:], uint32(raw)+4)
	le.PutUint32(t.data[10:], info)
	le.PutUint32(t.data[14:], value)
	return t
}

// chunkAttrs are the columns of a TOAST table.
var chunkAttrs = []heap.Attribute{{Name: "chunk_id", Len: 4, Align: 'i'}, {Name: "chunk_seq", Len: 4, Align: 'i'}, {Name: "chunk_data", Len: -1, Align: 'i'}}

func chunk(value, number uint32, length int) tuple {
	t := tuple{infomask: 0x0902, infomask2: 3, xmin: 10, data: make([]byte, 12+length)}
	le.PutUint32(t.data, value)
	le.PutUint32(t.data[4:], number)
	le.PutUint32(t.data[8:], uint32(length+4)<<2)
	return t
}

func TestChunksOfPointersAreThoseOfTheTOASTTable(t *testing.T) {
	const size = 100
	sum := func(r heap.Rewrite, tuples ...tuple) heap.ChunkSum {
		t.Helper()
		r.Tx, r.ChunkSize, r.ToastRelation = history{}, size, 17000
		w := heap.NewRewriter(r, 8192)
		if _, err := w.Page(emptyPage(), makePage(tuples...), 0, nil); err != nil {
			t.Fatal(err)
		}
		return w.Chunks()
	}
	want := sum(heap.Rewrite{Attrs: checkAttrs}, pointing(5, 250, 250), pointing(6, 100, 900), rowTuple(1))
	whole := []tuple{chunk(6, 0, 100), chunk(5, 1, 100), chunk(5, 0, 100), chunk(5, 2, 50)}
	dead := chunk(7, 0, 100)
	dead.infomask, dead.xmax = 0x0502, 10
	for _, c := range []struct {
		name   string
		tuples []tuple
		same   bool
	}{
		{"whole", whole, true}, {"with one that is dead", append(slices.Clone(whole), dead), true}, {"one is missing", whole[1:], false},
		{"one is there twice", append(slices.Clone(whole), whole[1]), false}, {"one is short", append(slices.Clone(whole[:3]), chunk(5, 2, 49)), false},
		{"one is of another value", append(slices.Clone(whole[:3]), chunk(6, 2, 50)), false}, {"one belongs to no row", append(slices.Clone(whole), chunk(9, 0, 1)), false},
	} {
		if got := sum(heap.Rewrite{Attrs: chunkAttrs, IsTOAST: true}, c.tuples...); (got == want) != c.same {
			t.Errorf("%s: the sum is %x, that of the pointers %x", c.name, got, want)
		}
	}
	_, err := heap.NewRewriter(heap.Rewrite{Attrs: checkAttrs, IsTOAST: true, Tx: history{}}, 8192).Page(emptyPage(), makePage(rowTuple(1)), 0, nil)
	if err == nil || !strings.Contains(err.Error(), "no chunk of a TOAST value") {
		t.Errorf("a row that is no chunk: %v", err)
	}
}

func TestRewriteRefusesLZ4(t *testing.T) {
	inline := rowTuple(2)
	inline.data = slices.Concat([]byte{2, 0, 0, 0}, make([]byte, 12))
	le.PutUint32(inline.data[4:], 12<<2|2)
	le.PutUint32(inline.data[8:], 100|uint32(heap.LZ4)<<30)
	pglz := rowTuple(2)
	pglz.data = slices.Clone(inline.data)
	le.PutUint32(pglz.data[8:], 100)
	for _, c := range []struct {
		name string
		row  tuple
		lz4  bool
	}{{"inline", inline, true}, {"in the TOAST table", pointing(5, 100, 900), true}, {"by pglz", pglz, false}, {"not compressed", pointing(5, 100, 100), false}, {"short", rowTuple(1), false}} {
		for _, refuses := range []bool{true, false} {
			w := heap.NewRewriter(heap.Rewrite{Attrs: checkAttrs, Tx: history{}, ToastRelation: 17000, NoLZ4: refuses}, 8192)
			if _, err := w.Page(emptyPage(), makePage(c.row), 0, nil); errors.Is(err, heap.ErrLZ4) != (c.lz4 && refuses) || err != nil && !errors.Is(err, heap.ErrLZ4) {
				t.Errorf("%s, refused %v: %v", c.name, refuses, err)
			}
		}
	}
}
