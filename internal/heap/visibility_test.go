package heap_test

import (
	"errors"
	"testing"

	"github.com/pghaul/pghaul/internal/heap"
)

// history is what became of a few transactions: 10 committed, 20 rolled back, 30 never ended; multixact 5 was made by an update of 10,
// 6 by lockers alone.
type history struct{}

func (history) Status(xid uint32) (heap.Status, error) {
	switch xid {
	case 10:
		return heap.Committed, nil
	case 20:
		return heap.Aborted, nil
	case 30:
		return heap.InProgress, nil
	}
	return 0, errors.New("no such transaction")
}

func (history) Updater(multi uint32) (uint32, bool, error) {
	switch multi {
	case 5:
		return 10, true, nil
	case 6:
		return 0, false, nil
	}
	return 0, false, errors.New("no such multixact")
}

func TestJudge(t *testing.T) {
	const (
		noXmax    = heap.XmaxInvalid
		committed = heap.XminCommitted
	)
	for _, c := range []struct {
		name       string
		mask       heap.Infomask
		xmin, xmax uint32
		want       heap.Verdict
	}{
		{"frozen", heap.XminFrozen | noXmax, 99, 0, heap.Live},
		{"hinted", committed | noXmax, 99, 0, heap.Live},
		{"hinted as rolled back", heap.XminInvalid | noXmax, 99, 0, heap.Never},
		{"committed", noXmax, 10, 0, heap.Live},
		{"rolled back", noXmax, 20, 0, heap.Never},
		{"never ended", noXmax, 30, 0, heap.Never},
		{"bootstrap", noXmax, heap.BootstrapXID, 0, heap.Live},
		{"frozen of old releases", noXmax, heap.FrozenXID, 0, heap.Live},
		{"no xmin", noXmax, 0, 0, heap.Never},
		{"deleted", committed, 99, 10, heap.Deleted},
		{"deletion hinted", committed | heap.XmaxCommitted, 99, 99, heap.Deleted},
		{"deletion rolled back", committed, 99, 20, heap.Live},
		{"deletion never ended", committed, 99, 30, heap.Live},
		{"xmax 0 without hint", committed, 99, 0, heap.Live},
		{"locked", committed | heap.XmaxLockOnly | heap.XmaxExclusive, 99, 10, heap.Live},
		{"locked by old releases", committed | heap.XmaxExclusive, 99, 10, heap.Live},
		{"key-share locked", committed | heap.XmaxLockOnly | heap.XmaxKeyShared, 99, 10, heap.Live},
		{"updated by a multixact's member", committed | heap.XmaxIsMulti, 99, 5, heap.Deleted},
		{"multixact of lockers", committed | heap.XmaxIsMulti, 99, 6, heap.Live},
		{"multixact marked as lockers", committed | heap.XmaxIsMulti | heap.XmaxLockOnly, 99, 7, heap.Live},
		{"frozen and deleted", heap.XminFrozen, 99, 10, heap.Deleted},
		{"moved off by a VACUUM that was rolled back", heap.MovedOff | noXmax, 10, 0, heap.Live},
		{"moved in by a VACUUM that was rolled back", heap.MovedIn | noXmax, 10, 0, heap.Never},
	} {
		t.Run(c.name, func(t *testing.T) {
			page := heap.Page(makePage(tuple{infomask: uint16(c.mask), infomask2: 1, xmin: c.xmin, xmax: c.xmax, data: make([]byte, 4)}))
			tup, err := page.Tuple(1)
			if err != nil {
				t.Fatal(err)
			}
			if c.mask&(heap.MovedIn|heap.MovedOff) != 0 {
				le.PutUint32(tup[8:], 20)
			}
			if got, err := heap.Judge(tup, history{}); err != nil || got != c.want {
				t.Errorf("the verdict is %s (%v), want %s", got, err, c.want)
			}
		})
	}
	page := heap.Page(makePage(tuple{infomask: uint16(noXmax), infomask2: 1, xmin: 77, data: make([]byte, 4)}))
	tup, _ := page.Tuple(1)
	if verdict, err := heap.Judge(tup, history{}); err == nil {
		t.Errorf("a transaction that cannot be looked up gave %s and no error", verdict)
	}
}
