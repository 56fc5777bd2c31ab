package heap

// Rewrite says what changes in pages that move into a new relation.
type Rewrite struct {
	// Attrs are the table's columns by number, dropped ones included. A tuple that is older than a column with a Missing value is
	// written out with all of them, since the new relation's columns have no such value.
	Attrs []Attribute
	// Xid writes the pages in the logged form: the first tuple of each page is of this transaction and has no hint, so that the first
	// VACUUM (FREEZE) has to change, and log, every page. 0 freezes every tuple and marks the pages all-visible.
	Xid uint32
	// ToastRelation replaces the relation in TOAST pointers. Where it is 0 a TOAST pointer is an error.
	ToastRelation uint32
	// Enums has for the index of each attribute that is of an enum type, or of a domain over one, what the OIDs of its labels become.
	Enums map[int]map[uint32]uint32
	// Checksums gives every page its checksum.
	Checksums bool
	// Tx tells what became of transactions where a tuple has no hint. It is asked by one goroutine at a time.
	Tx Transactions
	// Walk also walks through the columns of every tuple, and fails at the first that does not fit its tuple. For pages that no running
	// server vouches for.
	Walk bool
}
