package heap

// Status is what became of a transaction.
type Status uint8

// The states of a transaction. What was running when a server died is InProgress in its pg_xact, and never happened.
const (
	InProgress Status = iota
	Committed
	Aborted
)

// The transactions that are special (transam.h).
const (
	InvalidXID   = 0
	BootstrapXID = 1
	FrozenXID    = 2
)

// Transactions answers what became of transactions. It is asked for normal ones only, and where a tuple has no hint.
type Transactions interface {
	// Status tells what became of xid; a subtransaction is committed only when its parents are.
	Status(xid uint32) (Status, error)
	// Updater returns the member of a multixact that deleted or updated the tuple; found is false when all only locked it.
	Updater(multi uint32) (xid uint32, found bool, err error)
}

// Verdict is what a tuple is to someone who looks at a table that nobody writes.
type Verdict uint8

// The verdicts.
const (
	Live    Verdict = iota // its writer committed, and nobody has deleted or updated it
	Deleted                // a committed transaction has deleted or updated it
	Never                  // its writer was rolled back, or has not committed
)

// String says it in a word.
func (v Verdict) String() string { return [...]string{"live", "deleted", "aborted"}[min(v, Never)] }

// Judge tells whether a tuple of a table that nobody writes is there, by its hint bits and where they are missing by tx
// (HeapTupleSatisfiesMVCC of heapam_visibility.c, with a snapshot newer than every transaction).
//
// Judging each tuple by itself is right for a scan of the whole table: of a HOT chain at most one version is live. Redirecting line
// pointers and chains lead index entries, which a scan has none of.
func Judge(t Tuple, tx Transactions) (Verdict, error) {
	mask := t.Infomask()
	if mask&XminCommitted == 0 { // frozen has it set
		there, err := written(t, mask, tx)
		if err != nil || !there {
			return Never, err
		}
	}
	gone, err := removed(t, mask, tx)
	if err != nil || !gone {
		return Live, err
	}
	return Deleted, nil
}

// written judges xmin without a hint that it committed.
func written(t Tuple, mask Infomask, tx Transactions) (bool, error) {
	if mask&XminInvalid != 0 {
		return false, nil
	}
	// Moved by the VACUUM FULL of releases before 9.0: what counts then is whether that committed.
	if mask&(MovedOff|MovedIn) != 0 {
		moved, err := committed(t.Field3(), tx)
		return moved == (mask&MovedIn != 0), err
	}
	return committed(t.Xmin(), tx)
}

// removed judges xmax.
func removed(t Tuple, mask Infomask, tx Transactions) (bool, error) {
	switch {
	case mask&XmaxInvalid != 0:
		return false, nil
	case mask&XmaxLockOnly != 0 || mask&(XmaxIsMulti|XmaxExclusive|XmaxKeyShared) == XmaxExclusive: // HEAP_XMAX_IS_LOCKED_ONLY
		return false, nil
	case mask&XmaxIsMulti != 0 && t.Xmax() != InvalidXID:
		xid, found, err := tx.Updater(t.Xmax())
		if err != nil || !found {
			return false, err
		}
		return committed(xid, tx)
	case mask&XmaxCommitted != 0:
		return true, nil
	}
	return committed(t.Xmax(), tx)
}

func committed(xid uint32, tx Transactions) (bool, error) {
	switch xid {
	case InvalidXID:
		return false, nil
	case BootstrapXID, FrozenXID:
		return true, nil
	}
	status, err := tx.Status(xid)
	return status == Committed, err
}
