package heap

import (
	"errors"
	"fmt"
)

// Rewrite says what changes in pages that move into a new relation.
type Rewrite struct {
	// Attrs are the table's columns by number, dropped ones included. A tuple that is older than a column with a Missing value is
	// written out with all of them, since the new relation's columns have no such value.
	Attrs []Attribute
	// Columns has for each column of the new relation, dropped ones included, the index in Attrs of the one whose values it takes; -1 is NULL.
	// Every tuple is then formed anew. nil means the same columns in the same places, and tuples that stay as they are.
	Columns []int
	// Xid writes the pages in the logged form: the first tuple of each page is of this transaction and has no hint, so that the first
	// VACUUM (FREEZE) has to change, and log, every page. 0 freezes every tuple and marks the pages all-visible.
	Xid uint32
	// ToastRelation replaces the relation in TOAST pointers. Where it is 0 a TOAST pointer is an error.
	ToastRelation uint32
	// Enums has for the index of each attribute that is of an enum type, or of a domain over one, what the OIDs of its labels become.
	Enums map[int]map[uint32]uint32
	// Checksums gives every page its checksum.
	Checksums bool
	// Tx tells what became of transactions where a tuple has no hint; nil makes such a tuple an error. It is asked by one goroutine at
	// a time.
	Tx Transactions
	// Walk also walks through the columns of every tuple, and fails at the first that does not fit its tuple. For pages that no running
	// server vouches for.
	Walk bool
	// NoLZ4 fails with ErrLZ4 at a value that lz4 has compressed: the new relation's server cannot read it.
	NoLZ4 bool
	// ChunkSize is the number of bytes of a TOAST value's chunk, for Rewriter.Chunks; 0 sums nothing.
	ChunkSize int
	// IsTOAST says that the relation is a TOAST table, whose own chunks are summed.
	IsTOAST bool
}

// ErrLZ4 is the cause where Rewrite.NoLZ4 finds a value.
var ErrLZ4 = errors.New("a value is compressed by lz4")

// Rewriter rewrites pages, one at a time. It holds the room that this takes, so each goroutine needs its own.
type Rewriter struct {
	Rewrite
	size     int
	full     int         // tuples with fewer attributes are formed anew
	attrs    []Attribute // of the new relation
	tx       remembered
	scratch  Page   // the source of a page that is rewritten in place
	formed   []byte // a tuple formed anew
	values   []Value
	formedOf []Value  // the new relation's
	taken    []uint64 // a bit for each aligned place of a page that holds a part of a tuple
	chunks   ChunkSum
}

// NewRewriter returns a Rewriter for pages of size bytes.
func NewRewriter(r Rewrite, size int) *Rewriter {
	w := &Rewriter{Rewrite: r, size: size, tx: remembered{tx: r.Tx}, scratch: make(Page, size), taken: make([]uint64, (size/maxAlign+63)/64)}
	for i, a := range r.Attrs {
		if a.HasMissing && a.Missing != nil {
			w.full = i + 1
		}
	}
	w.attrs = r.Attrs
	if r.Columns != nil {
		w.full = 1 << 16
		w.attrs = make([]Attribute, len(r.Columns))
		for i, from := range r.Columns {
			w.attrs[i] = Attribute{Dropped: true, Len: 1, Align: 'c'}
			if from >= 0 {
				w.attrs[i] = r.Attrs[from]
			}
		}
	}
	return w
}

// Chunks is the sum of the chunks that the TOAST pointers of all tuples written lead to, or of a TOAST table's tuples. It needs ChunkSize.
func (r *Rewriter) Chunks() ChunkSum { return r.chunks }

// source is the index in Attrs of a column of the new relation.
func (r *Rewriter) source(i int) int {
	if r.Columns == nil {
		return i
	}
	return r.Columns[i]
}

// Page writes the live tuples of src into dst, block number block of the new relation, and returns how many there are. Without any, dst
// is a valid page that holds nothing. Tuples that grew and found no room go to spill, which must copy them: they are for a Packer.
// The pages may be the same one.
func (r *Rewriter) Page(dst, src Page, block uint32, spill func(Tuple) error) (rows int, err error) {
	w, err := r.Weigh(src)
	if err != nil {
		return 0, err
	}
	return r.Write(dst, src, w, block, spill)
}

// Write is Page for a source that was weighed.
func (r *Rewriter) Write(dst, src Page, w Weight, block uint32, spill func(Tuple) error) (rows int, err error) {
	if len(dst) != r.size {
		return 0, fmt.Errorf("a page of %d bytes cannot be written to %d", r.size, len(dst))
	}
	if w.Whole {
		if &dst[0] != &src[0] {
			copy(dst, src)
		}
		return w.Rows, r.seal(dst, block)
	}
	if &dst[0] == &src[0] {
		copy(r.scratch, src)
		src = r.scratch
	}
	pack := Packer{page: dst}
	pack.Reset()
	if err := r.compact(&pack, src, w, spill); err != nil {
		return 0, err
	}
	return w.Rows, r.seal(dst, block)
}

// Seal gives a packer's tuples their headers and values, and its page its place: block.
func (r *Rewriter) Seal(p *Packer, block uint32) (Page, error) { return p.page, r.seal(p.page, block) }

// compact packs the live tuples of a page.
func (r *Rewriter) compact(pack *Packer, src Page, w Weight, spill func(Tuple) error) error {
	if w.Rows == 0 {
		return nil
	}
	clear(r.taken)
	for n := 1; n <= src.Lines(); n++ {
		l, err := src.Line(n)
		if err != nil || l.State != LineNormal {
			if err != nil && l.State == LineNormal {
				return err
			}
			continue
		}
		if !r.take(l.Offset, l.Length) {
			return fmt.Errorf("line %d shares its bytes with another line", n)
		}
		t, err := src.TupleAt(l, n)
		if err != nil {
			return err
		}
		verdict, err := Judge(t, &r.tx)
		if err != nil || verdict != Live {
			if err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			continue
		}
		if t.Natts() < r.full {
			if t, err = r.form(t); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
		}
		if pack.Add(t) {
			continue
		}
		if spill == nil {
			return fmt.Errorf("line %d: the page has no room for the tuple", n)
		}
		if err := spill(t); err != nil {
			return err
		}
	}
	return nil
}

// take marks bytes of the source as a tuple's, and reports whether they were free.
func (r *Rewriter) take(offset, length int) bool {
	for at := offset / maxAlign; at < (offset+length+maxAlign-1)/maxAlign; at++ {
		if r.taken[at/64]&(1<<(at%64)) != 0 {
			return false
		}
		r.taken[at/64] |= 1 << (at % 64)
	}
	return true
}

// remembered keeps the last answer: the tuples of a page are mostly of few transactions.
type remembered struct {
	tx     Transactions
	xid    uint32
	status Status
}

var errUnhinted = errors.New("the tuple has no hint about its transaction, and there is no pg_xact to ask")

// Status asks for another transaction than the last one only.
func (r *remembered) Status(xid uint32) (Status, error) {
	if r.tx == nil {
		return InProgress, errUnhinted
	}
	if r.xid == xid {
		return r.status, nil
	}
	status, err := r.tx.Status(xid)
	if err == nil {
		r.xid, r.status = xid, status
	}
	return status, err
}

// Updater asks.
func (r *remembered) Updater(multi uint32) (uint32, bool, error) {
	if r.tx == nil {
		return 0, false, errUnhinted
	}
	return r.tx.Updater(multi)
}
