package datadir

import (
	"context"
	"errors"
	"fmt"

	"github.com/pghaul/pghaul/internal/heap"
)

const (
	readBytes   = 256 << 10 // of each read: enough for the system to read ahead at full speed
	tornRetries = 3         // readings of a page whose checksum is wrong: a running server may be writing it
)

// ScanOptions says what Scan visits. Nil means every visible row, and an end at the first damage.
type ScanOptions struct {
	// From is the first block. Defaults to 0.
	From uint32

	// To is the block behind the last one. Defaults to the end of the table.
	To uint32

	// Deleted visits deleted, updated and rolled back tuples that are still there, too. Their TOAST values may be gone. Defaults to
	// false.
	Deleted bool

	// IgnoreChecksums takes pages whose checksum is wrong as they are. Defaults to false: such a page is damaged, as a whole.
	IgnoreChecksums bool

	// Zeros is told of blocks that are all zeros, which Scan takes as empty. Defaults to nobody.
	Zeros func(block uint32)

	// Damaged is told what is left out: block and line are those of the tuple; line 0 means the block. Defaults to an end of the
	// scan with the first *Damage as its error.
	Damaged func(block uint32, line int, err error)
}

// Damage is the error of a row or block that cannot be read.
type Damage struct {
	Block uint32
	Line  int // 0: the whole block
	Cause error
}

// Error names the place and the cause.
func (d *Damage) Error() string {
	if d.Line == 0 {
		return fmt.Sprintf("block %d: %v", d.Block, d.Cause)
	}
	return fmt.Sprintf("block %d, line %d: %v", d.Block, d.Line, d.Cause)
}

// Unwrap returns the cause.
func (d *Damage) Unwrap() error { return d.Cause }

// Row is a tuple during its visit; afterwards its memory is used again.
type Row struct {
	Block  uint32
	Line   int
	State  heap.Verdict // Live unless ScanOptions.Deleted asks for others
	Values []heap.Value // one for each of Table.Attributes: column n has index n-1. Varlenas are as they lie on the page: see Toaster
	Tuple  heap.Tuple
}

// scan walks through the blocks of one relation.
type scan struct {
	relation   *Relation
	control    *Control
	tx         heap.Transactions
	attributes []heap.Attribute
	from, to   uint32
	deleted    bool
	checksums  bool
	zeros      func(block uint32)
	damaged    func(block uint32, line int, err error)
	values     []heap.Value
	buffer     []byte
	row        Row // the one that is visited
}

// Scan visits the rows of a table, block by block, in the order of their lines. Several goroutines may scan one table, for example
// different blocks of it. An error of visit that is a *Damage, such as of Printers and Toaster, belongs to that row: it is reported
// and the scan goes on. Any other one ends the scan.
//
// A block of zeros is empty, as it is for the server: it is what remains when a table has grown and the server then died. It may also
// be what a file system left of a block with rows: ScanOptions.Zeros tells of them.
func (db *Database) Scan(ctx context.Context, t *Table, o *ScanOptions, visit func(Row) error) error {
	if o == nil {
		o = &ScanOptions{}
	}
	s, err := db.scan(t, o)
	if err != nil {
		return err
	}
	defer s.relation.Close()
	return s.run(ctx, func(row *Row) error { return visit(*row) })
}

// scan opens a table for a scan. Its relation must be closed.
func (db *Database) scan(t *Table, o *ScanOptions) (*scan, error) {
	c, err := db.open()
	if err != nil {
		return nil, err
	}
	if err := db.Describe(t); err != nil {
		return nil, err
	}
	r, err := db.File(t)
	if err != nil {
		return nil, err
	}
	return &scan{
		relation: r, control: &db.dir.control, tx: c.tx, attributes: t.Attributes, from: o.From, to: o.To, deleted: o.Deleted,
		checksums: db.dir.control.Checksums && !o.IgnoreChecksums, zeros: o.Zeros, damaged: o.Damaged,
	}, nil
}

func (s *scan) run(ctx context.Context, visit func(*Row) error) error {
	end := s.relation.Blocks()
	if s.to != 0 && s.to < end {
		end = s.to
	}
	s.values = []heap.Value{} // never nil: a table may have no columns
	size := s.control.BlockSize
	if want := min(max(readBytes/size, 1), int(max(end, s.from)-s.from)) * size; len(s.buffer) < want {
		s.buffer = make([]byte, want)
	}
	buf := s.buffer
	for block := s.from; block < end; {
		if err := ctx.Err(); err != nil {
			return err
		}
		want := min(len(buf)/size, int(end-block))
		n, err := s.relation.Read(block, buf[:want*size])
		var gap *Gap
		switch {
		case errors.As(err, &gap):
			if err := s.report(block, 0, gap); err != nil {
				return err
			}
			block += gap.Blocks
			continue
		case err != nil:
			return err
		case n == 0:
			return nil
		}
		for i := range n {
			if err := s.page(heap.Page(buf[i*size:(i+1)*size]), block, visit); err != nil {
				return err
			}
			block++
		}
	}
	return nil
}

// report hands damage on; without a receiver it is an error.
func (s *scan) report(block uint32, line int, err error) error {
	err = causeOf(err)
	if s.damaged == nil {
		return &Damage{Block: block, Line: line, Cause: err}
	}
	s.damaged(block, line, err)
	return nil
}

// causeOf takes off what says where damage is.
func causeOf(err error) error {
	var damage *Damage
	if errors.As(err, &damage) {
		return damage.Cause
	}
	return err
}

func isDamage(err error) bool {
	var damage *Damage
	return errors.As(err, &damage)
}

func (s *scan) page(p heap.Page, block uint32, visit func(*Row) error) error {
	if p.Zero() {
		if s.zeros != nil {
			s.zeros(block)
		}
		return nil
	}
	h, err := p.Header()
	if err == nil && s.checksums {
		if err = s.verify(p, h.Checksum, block); err == nil {
			h, err = p.Header() // of the last reading
		}
	}
	if err != nil {
		return s.report(block, 0, err)
	}
	for n := range p.Lines() {
		there, err := s.tuple(p, &h, block, n+1)
		if err == nil && there {
			if err = visit(&s.row); err != nil && !isDamage(err) {
				return err
			}
		}
		if err == nil {
			continue
		}
		if err := s.report(block, n+1, err); err != nil {
			return err
		}
	}
	return nil
}

// verify compares the checksum. Of a page that is being written a few more readings are made, into p.
func (s *scan) verify(p heap.Page, stored uint16, block uint32) error {
	for range tornRetries {
		if heap.Checksum(p, block) == stored {
			return nil
		}
		if n, err := s.relation.Read(block, p); n == 0 || err != nil {
			break
		}
		h, err := p.Header()
		if err != nil {
			return err
		}
		stored = h.Checksum
	}
	if computed := heap.Checksum(p, block); computed != stored {
		return fmt.Errorf("the page's checksum is %d and should be %d", stored, computed)
	}
	return nil
}

// tuple reads one line into s.row, and reports whether it has something to visit.
func (s *scan) tuple(p heap.Page, h *heap.Header, block uint32, n int) (bool, error) {
	line, err := p.LineUnder(h, n)
	if err != nil || line.State != heap.LineNormal {
		return false, err
	}
	row := &s.row
	row.Block, row.Line = block, n
	if row.Tuple, err = p.TupleAt(line, n); err != nil {
		return false, err
	}
	if row.State, err = heap.Judge(row.Tuple, s.tx); err != nil {
		return false, err
	}
	if row.State != heap.Live && !s.deleted {
		return false, nil
	}
	s.values, err = row.Tuple.Values(s.attributes, s.values)
	row.Values = s.values
	return err == nil, err
}
