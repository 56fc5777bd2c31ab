package heap_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pghaul/pghaul/internal/heap"
)

// variedAttrs are the columns of variedTable.
var variedAttrs = []heap.Attribute{
	{Name: "id", Len: 4, Align: 'i', ByVal: true}, {Name: "v", Len: -1, Align: 'i'}, {Name: "n", Len: -1, Align: 'i'},
}

// realPages are blocks that PostgreSQL 15 wrote, with checksums: the first ones of variedTable.
func realPages(t testing.TB) []heap.Page {
	t.Helper()
	names, err := filepath.Glob("testdata/pages/*.page")
	if err != nil || len(names) < 3 {
		t.Fatalf("testdata/pages has %d pages (%v)", len(names), err)
	}
	var pages []heap.Page
	for _, name := range names { // in the order of their blocks
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, page)
	}
	return pages
}

func TestRealPagesAreSound(t *testing.T) {
	states := map[string]int{}
	for block, page := range realPages(t) {
		for _, f := range page.Check(uint32(block), variedAttrs, true) {
			t.Errorf("block %d, line %d: %s", block, f.Line, f.Reason)
		}
		for n := 1; n <= page.Lines(); n++ {
			l, err := page.Line(n)
			if err != nil {
				t.Fatal(err)
			}
			states[l.State.String()]++
			if l.State != heap.LineNormal {
				continue
			}
			tup, err := page.Tuple(n)
			if err != nil {
				t.Fatal(err)
			}
			values, err := tup.Values(variedAttrs, nil)
			if err != nil || len(values) != 3 || values[0].Null || le.Uint32(values[0].Data) == 0 {
				t.Errorf("block %d, line %d: %s (%v)", block, n, show(values), err)
			}
		}
	}
	for _, state := range []string{"unused", "normal", "redirect"} { // VACUUM has made the dead ones unused
		if states[state] == 0 {
			t.Errorf("no line is %s: %v", state, states)
		}
	}
}

// TestDamagedBytesAreSeen damages each byte of a real page. A checksum of 16 bits misses one damage in 65 535.
func TestDamagedBytesAreSeen(t *testing.T) {
	const block = 2
	sound := realPages(t)[block]
	page := make(heap.Page, len(sound))
	copy(page, sound)
	unseen := 0
	for at := range page {
		for _, b := range []byte{0, 0x7F, 0xFF} {
			page[at] = b
			faults := page.Check(block, variedAttrs, true)
			switch changed := b != sound[at]; {
			case changed && len(faults) == 0:
				unseen++
			case !changed && len(faults) > 0:
				t.Fatalf("byte %d as it was gave %v", at, faults)
			}
		}
		page[at] = sound[at]
	}
	if unseen > 5 {
		t.Errorf("%d changed bytes went unseen", unseen)
	}
}
