package datadir

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/pghaul/pghaul/internal/heap"
)

const (
	xactsPerByte     = 4 // two bits each (clog.c)
	multiGroup       = 4 // members of a multixact whose flags stand together (multixact.c)
	multiGroupBytes  = multiGroup + multiGroup*4
	multiNoKeyUpdate = 4 // MultiXactStatusNoKeyUpdate of multixact.h; MultiXactStatusUpdate is 5
	multiUpdate      = 5
	maximumParents   = 1 << 16 // subtransactions nest less deep; a damaged pg_subtrans may hold a cycle
	maximumMembers   = 1 << 20 // as many as 2^18 processes could make
)

// The states in pg_xact (clog.h).
const (
	xactInProgress = iota
	xactCommitted
	xactAborted
	xactSubCommitted // its parent decides
)

// transactions is heap.Transactions over the files of a directory.
type transactions struct {
	blockSize                  uint32
	xact, parents              slru
	multiOffsets, multiMembers slru
	oldestXID, nextXID         uint32
	oldestMulti, nextMulti     uint32
	nextMultiOffset            uint32
}

func newTransactions(path string, c *Control) *transactions {
	open := func(names ...string) slru {
		return slru{directory: filepath.Join(append([]string{path}, names...)...), pageSize: c.BlockSize}
	}
	return &transactions{
		blockSize: uint32(c.BlockSize), xact: open("pg_xact"), parents: open("pg_subtrans"),
		multiOffsets: open("pg_multixact", "offsets"), multiMembers: open("pg_multixact", "members"),
		oldestXID: c.OldestXID, nextXID: uint32(c.NextXID),
		oldestMulti: c.OldestMulti, nextMulti: c.NextMulti, nextMultiOffset: c.NextMultiOffset,
	}
}

// precedes compares as TransactionIdPrecedes does: numbers go round.
func precedes(a, b uint32) bool { return int32(a-b) < 0 }

// Status tells what became of a transaction.
//
// A page of pg_xact that is not there means one of three things. Of a transaction that the last checkpoint did not know yet, its end
// has never reached the disk: it is in progress. Before the oldest one that any table may still hold, pages were removed once every
// tuple was frozen: a tuple that asks all the same is not what the server left behind. Between the two the file is lost. The last two
// are errors: whether such a row is there cannot be known.
func (t *transactions) Status(xid uint32) (heap.Status, error) {
	for range maximumParents {
		state, err := t.state(xid)
		if err != nil {
			return heap.InProgress, err
		}
		switch state {
		case xactCommitted:
			return heap.Committed, nil
		case xactAborted:
			return heap.Aborted, nil
		case xactInProgress:
			return heap.InProgress, nil
		}
		parent, err := t.parent(xid)
		if err != nil {
			return heap.InProgress, err
		}
		// As TransactionIdDidCommit does where pg_subtrans, which does not survive a crash, knows no parent.
		if parent == heap.InvalidXID {
			return heap.Aborted, nil
		}
		xid = parent
	}
	return heap.InProgress, fmt.Errorf("the parents of transaction %d in pg_subtrans do not end", xid)
}

func (t *transactions) state(xid uint32) (int, error) {
	if xid == heap.BootstrapXID || xid == heap.FrozenXID {
		return xactCommitted, nil
	}
	perPage := t.blockSize * xactsPerByte
	page, err := t.xact.page(xid / perPage)
	if errors.Is(err, errAbsent) {
		switch {
		case !precedes(xid, t.nextXID):
			return xactInProgress, nil
		case precedes(xid, t.oldestXID):
			return 0, fmt.Errorf("transaction %d is older than all whose state is kept, the oldest being %d", xid, t.oldestXID)
		}
		return 0, fmt.Errorf("the state of transaction %d is lost: %s is missing or too short", xid, t.xact.file(xid/perPage))
	}
	if err != nil {
		return 0, err
	}
	return int(page[xid%perPage/xactsPerByte]>>(xid%xactsPerByte*2)) & 3, nil
}

func (t *transactions) parent(xid uint32) (uint32, error) {
	page, err := t.parents.page(xid / (t.blockSize / 4))
	if errors.Is(err, errAbsent) {
		return heap.InvalidXID, nil
	}
	if err != nil {
		return 0, err
	}
	return le.Uint32(page[xid%(t.blockSize/4)*4:]), nil
}

// Updater returns the member of a multixact that deleted or updated the tuple; the others only locked it.
func (t *transactions) Updater(multi uint32) (xid uint32, found bool, err error) {
	first, err := t.offset(multi)
	if err != nil {
		return 0, false, err
	}
	if first == 0 {
		return 0, false, fmt.Errorf("multixact %d has no members in pg_multixact/offsets", multi)
	}
	end, known, err := t.end(multi)
	if err != nil {
		return 0, false, err
	}
	count := uint32(maximumMembers)
	if known {
		if count = end - first; count == 0 || count > maximumMembers {
			return 0, false, fmt.Errorf("multixact %d has %d members in pg_multixact/offsets", multi, count)
		}
	}
	for offset := first; offset != first+count; offset++ {
		xid, status, err := t.member(offset)
		switch {
		case errors.Is(err, errAbsent):
			return 0, false, fmt.Errorf("member %d of multixact %d is lost: %s is missing or too short", offset-first, multi,
				t.multiMembers.file(offset/t.membersPerPage()))
		case err != nil:
			return 0, false, err
		case xid == heap.InvalidXID && offset == 0: // unused, because offset 0 stands for none
			continue
		case xid == heap.InvalidXID && known:
			return 0, false, fmt.Errorf("member %d of multixact %d is lost: it is 0", offset-first, multi)
		case xid == heap.InvalidXID:
			return 0, false, nil
		case status == multiNoKeyUpdate || status == multiUpdate:
			return xid, true, nil
		case status > multiUpdate:
			return 0, false, fmt.Errorf("member %d of multixact %d has the unknown status %d", offset-first, multi, status)
		}
	}
	return 0, false, nil
}

// offset is where a multixact's members start, 0 where none was written.
func (t *transactions) offset(multi uint32) (uint32, error) {
	perPage := t.blockSize / 4
	page, err := t.multiOffsets.page(multi / perPage)
	if errors.Is(err, errAbsent) {
		what := "lost"
		if precedes(multi, t.oldestMulti) {
			what = "older than all that are kept"
		}
		return 0, fmt.Errorf("multixact %d is %s: %s is missing or too short", multi, what, t.multiOffsets.file(multi/perPage))
	}
	if err != nil {
		return 0, err
	}
	return le.Uint32(page[multi%perPage*4:]), nil
}

// end is where the members of a multixact end: where the next one's start. Of the newest one the control file of a stopped server
// tells it. Else it is unknown, and the members end at the first one that is 0: their pages are zeroed when they are made.
func (t *transactions) end(multi uint32) (offset uint32, known bool, err error) {
	next := max(multi+1, 1) // number 0 is left out when they go round
	if next == t.nextMulti {
		return t.nextMultiOffset, true, nil
	}
	perPage := t.blockSize / 4
	page, err := t.multiOffsets.page(next / perPage)
	if errors.Is(err, errAbsent) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	offset = le.Uint32(page[next%perPage*4:])
	return offset, offset != 0, nil
}

func (t *transactions) membersPerPage() uint32 { return t.blockSize / multiGroupBytes * multiGroup }

// member reads one member: groups of four have a byte of flags each, then their transactions.
func (t *transactions) member(offset uint32) (xid uint32, status byte, err error) {
	page, err := t.multiMembers.page(offset / t.membersPerPage())
	if err != nil {
		return 0, 0, err
	}
	group := offset % t.membersPerPage() / multiGroup * multiGroupBytes
	within := offset % multiGroup
	return le.Uint32(page[group+multiGroup+within*4:]), page[group+within], nil
}
