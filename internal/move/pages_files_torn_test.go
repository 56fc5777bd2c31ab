package move

import (
	"encoding/binary"
	"errors"
	"hash/maphash"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pghaul/pghaul/internal/heap"
)

// marked returns a page with an LSN and a pd_prune_xid.
func marked(page []byte, lsn heap.LSN, prune uint32) []byte {
	page = slices.Clone(page)
	binary.LittleEndian.PutUint32(page, uint32(lsn>>32))
	binary.LittleEndian.PutUint32(page[4:], uint32(lsn))
	binary.LittleEndian.PutUint32(page[20:], prune)
	return page
}

// TestPagesInWorkAreReadAgain has a server at work on a few pages: newer than the move, with something to prune, and one that changes
// after its first read.
func TestPagesInWorkAreReadAgain(t *testing.T) {
	const quiet = heap.LSN(5<<32 | 100)
	var pages [][]byte
	for i := range uint32(100) {
		pages = append(pages, marked(filePage(i), quiet-1, 0))
	}
	pages[7] = marked(pages[7], quiet, 33)    // to be pruned, but is not
	pages[10] = marked(pages[10], quiet+1, 0) // pruned since
	pages[11] = marked(pages[11], 6<<32, 33)
	pages[99] = marked(pages[99], quiet+1, 0)
	m := filesOf(t, pages, 7, 1000)
	m.Quiet = quiet
	var writes atomic.Int64
	m.Moved = func(int64, int64) {
		if writes.Add(1) == 4 { // two ranges at a time, so range 1 was read
			overwrite(t, segmentPath(m.Source.Path, 1), 4*fileBlock, marked(filePage(1011), quiet+2, 0))
		}
	}
	m.Jobs = 2
	got, err := m.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ids := readTarget(t, m, got.Blocks)
	if len(ids) != 100 || ids[7] != 7 || !slices.Equal(ids[:10], []uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		t.Errorf("the rows are %v", ids)
	}
	late := slices.Sorted(slices.Values(ids[97:]))
	if !slices.Equal(late, []uint32{10, 99, 1011}) {
		t.Errorf("read again were %v", late)
	}
}

// TestAChangeBetweenReadsIsSeen vets a page whose header on disk is newer than what was read: it waits, and its later content counts.
func TestAChangeBetweenReadsIsSeen(t *testing.T) {
	for _, unlocked := range []bool{false, true} {
		old := marked(filePage(1), 50, 33)
		if unlocked { // VACUUM needs no pd_prune_xid
			old = marked(filePage(1), 50, 0)
		}
		m := filesOf(t, [][]byte{marked(filePage(2), 200, 0)}, 7, 7)
		m.Quiet, m.Unlocked = 100, unlocked
		w := pageWorker{move: m, source: newPageSource(m.Source, 1, 7), torn: &tornPages{seed: maphash.MakeSeed()}}
		if err := w.vet(t.Context(), old, 0); err != nil {
			t.Fatal(err)
		}
		if len(w.torn.pages) != 1 || w.torn.pages[0].block != 0 {
			t.Errorf("pages that wait: %v", w.torn.pages)
		}
		if err := w.source.close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAWrongChecksumIsReadAgain(t *testing.T) {
	page := filePage(1)
	binary.LittleEndian.PutUint16(page[8:], heap.Checksum(page, 0))
	m := filesOf(t, [][]byte{page}, 7, 7)
	m.Quiet, m.SourceChecksums = 100, true
	w := pageWorker{move: m, source: newPageSource(m.Source, 1, 7), torn: &tornPages{}}
	torn := slices.Concat(page[:4096], make([]byte, 4096))
	if err := w.vet(t.Context(), torn, 0); err != nil || !slices.Equal(torn, page) {
		t.Errorf("the page is not what is on disk now: %v", err)
	}
	m.Quiet = 0 // without a server nothing will change
	if err := w.vet(t.Context(), slices.Concat(page[:4096], make([]byte, 4096)), 0); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("the error is %v", err)
	}
	if err := w.source.close(); err != nil {
		t.Error(err)
	}
}

// TestTruncatedTOASTTable loses empty blocks at its end to VACUUM while it is read.
func TestTruncatedTOASTTable(t *testing.T) {
	pages, rows := manyPages(100)
	m := filesOf(t, pages, 7, 1000)
	m.Blocks, m.Unlocked, m.Quiet = 130, true, 1
	for segment := range uint32(4) { // mdtruncate leaves segments behind the end empty
		change(t, os.WriteFile(segmentPath(m.Source.Path, 15+segment), nil, 0o600))
	}
	got, err := m.run(t.Context())
	if err == nil && got.Rows != int64(rows) {
		err = errors.New("rows are missing")
	}
	if err != nil {
		t.Fatalf("%+v: %v", got, err)
	}
	m = filesOf(t, pages, 7, 1000)
	m.Blocks = 130
	if _, err := m.run(t.Context()); err == nil {
		t.Error("a locked table may lose no blocks")
	}
}
