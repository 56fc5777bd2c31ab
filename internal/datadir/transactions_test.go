package datadir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pghaul/pghaul/internal/heap"
)

// slruPages writes the first pages of an SLRU segment.
func slruPages(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTransactionStates(t *testing.T) {
	dir := t.TempDir()
	const block = 8192
	xact := make([]byte, block)
	set := func(xid uint32, state byte) { xact[xid/4] |= state << (xid % 4 * 2) }
	for xid, state := range map[uint32]byte{700: 1, 701: 2, 702: 0, 703: 3, 704: 3, 705: 3, 706: 3, 707: 3} {
		set(xid, state)
	}
	parents := make([]byte, 2*block)
	for child, parent := range map[uint32]uint32{703: 700, 704: 701, 705: 703, 706: 707, 707: 706} {
		le.PutUint32(parents[child*4:], parent)
	}
	slruPages(t, filepath.Join(dir, "pg_xact", "0001"), xact) // pages 32 on
	slruPages(t, filepath.Join(dir, "pg_xact", "0000"), xact)
	slruPages(t, filepath.Join(dir, "pg_subtrans", "0000"), parents)
	tx := newTransactions(dir, &Control{BlockSize: block, OldestXID: 600, NextXID: 1<<32 | 40000})
	tests := []struct {
		xid    uint32
		want   heap.Status
		failed bool
	}{
		{1, heap.Committed, false}, {2, heap.Committed, false},
		{700, heap.Committed, false}, {701, heap.Aborted, false}, {702, heap.InProgress, false},
		{703, heap.Committed, false}, {704, heap.Aborted, false}, {705, heap.Committed, false},
		{706, heap.InProgress, true},            // parents in a circle
		{32768 + 100, heap.InProgress, true},    // known to the last checkpoint, and its page is lost
		{40000 + 32768, heap.InProgress, false}, // newer than the last checkpoint
		{1<<32 - 100, heap.InProgress, true},    // older than all that are kept
		{32*32768 + 700, heap.Committed, false},
	}
	for range 2 { // the second time from the cache
		for _, tt := range tests {
			got, err := tx.Status(tt.xid)
			if got != tt.want || (err != nil) != tt.failed {
				t.Errorf("transaction %d: got %d, %v", tt.xid, got, err)
			}
		}
	}
}

func TestMultixactUpdaters(t *testing.T) {
	dir := t.TempDir()
	const block = 8192
	offsets, members := make([]byte, block), make([]byte, block)
	member := func(offset uint32, xid uint32, status byte) {
		members[offset/4*20+offset%4] = status
		le.PutUint32(members[offset/4*20+4+offset%4*4:], xid)
	}
	for multi, offset := range []uint32{0, 1, 3, 6, 8, 11} {
		le.PutUint32(offsets[4*multi:], offset)
	}
	member(1, 100, 0)
	member(2, 101, 1) // multixact 1: lockers only
	member(3, 102, 0)
	member(4, 103, 4)
	member(5, 104, 0) // 2: an update
	member(6, 105, 5)
	member(7, 106, 0) // 3: a deletion
	member(8, 107, 3)
	member(9, 0, 0)
	member(10, 108, 5) // 4: a member is lost
	member(11, 109, 3)
	member(12, 110, 4) // 5: the newest one, whose end the control file tells not
	slruPages(t, filepath.Join(dir, "pg_multixact", "offsets", "0000"), offsets)
	slruPages(t, filepath.Join(dir, "pg_multixact", "members", "0000"), members)
	tests := []struct {
		multi  uint32
		want   uint32
		failed bool
	}{{1, 0, false}, {2, 103, false}, {3, 105, false}, {4, 0, true}, {5, 110, false}, {6, 0, true}, {3000, 0, true}}
	for _, next := range []uint32{5, 6} {
		tx := newTransactions(dir, &Control{BlockSize: block, NextMulti: next, NextMultiOffset: map[uint32]uint32{5: 11, 6: 13}[next]})
		for _, tt := range tests {
			got, found, err := tx.Updater(tt.multi)
			if got != tt.want || found != (tt.want != 0) || (err != nil) != tt.failed {
				t.Errorf("multixact %d: got %d, %t, %v", tt.multi, got, found, err)
			}
		}
	}
}

func FuzzTransactions(f *testing.F) {
	f.Add(make([]byte, 4096), uint32(700))
	seed := make([]byte, 4096)
	for i := range seed {
		seed[i] = byte(i * 31)
	}
	f.Add(seed, uint32(3))
	f.Fuzz(func(t *testing.T, content []byte, number uint32) {
		tx := newTransactions("/nonexistent", &Control{BlockSize: 1024, NextXID: 1 << 20, NextMulti: 1 << 10})
		for _, s := range []*slru{&tx.xact, &tx.parents, &tx.multiOffsets, &tx.multiMembers} {
			for page := 0; page < len(content)/1024 && page < slruSlots; page++ {
				s.slots[page].Store(&slruPage{number: uint32(page), bytes: content[page*1024 : (page+1)*1024]})
			}
		}
		for _, n := range []uint32{number, number % 4096, number % 256} {
			if status, err := tx.Status(n); status > heap.Aborted {
				t.Errorf("status %d, %v", status, err)
			}
			if xid, found, err := tx.Updater(n); found && (xid == 0 || err != nil) {
				t.Errorf("updater %d, %v", xid, err)
			}
		}
	})
}
