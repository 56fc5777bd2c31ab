package datadir

import (
	"context"
	"errors"
	"fmt"

	"github.com/pghaul/pghaul/internal/heap"
)

// CheckOptions says how Check works. Nil means all defaults.
type CheckOptions struct {
	// Jobs is how many goroutines read. Defaults to 1.
	Jobs int

	// Fault is told what is wrong, by one goroutine, in the order of the blocks; line 0 means the block. Defaults to nobody.
	Fault func(block uint32, line int, reason string)
}

// Checked is what Check has looked at.
type Checked struct {
	Blocks int64 // read, or missing
	Zeros  int64 // of them all zeros
	Rows   int64 // visible ones
	Faults int64
}

// Check looks for what is wrong in the pages of a table: checksums, headers, line pointers, tuples that overlap or whose columns do not
// fit, transactions whose end cannot be known, and values whose chunks are missing in the TOAST table. It reads everything; an error is
// only what kept it from doing so.
func (db *Database) Check(ctx context.Context, t *Table, o *CheckOptions) (Checked, error) {
	if o == nil {
		o = &CheckOptions{}
	}
	s, err := db.scan(t, &ScanOptions{})
	if err != nil {
		return Checked{}, err
	}
	defer s.relation.Close()
	var all Checked
	worker := func() (pieceWorker[*checkedPiece], error) {
		toaster, err := db.Toaster(t)
		if err != nil {
			return pieceWorker[*checkedPiece]{}, err
		}
		own := *s
		check := func(ctx context.Context, at span, emit func(*checkedPiece) error) error {
			c := &checkedPiece{scan: &own, toaster: toaster}
			if err := c.run(ctx, at); err != nil {
				return err
			}
			return emit(c)
		}
		return pieceWorker[*checkedPiece]{do: check, end: toaster.Close}, nil
	}
	err = inOrder(ctx, spans(0, 0, s.relation.Blocks()), o.Jobs, worker, func(c *checkedPiece) error {
		all.Blocks += c.Blocks
		all.Zeros += c.Zeros
		all.Rows += c.Rows
		all.Faults += int64(len(c.faults))
		for _, f := range c.faults {
			if o.Fault != nil {
				o.Fault(f.Block, f.Line, f.Cause.Error())
			}
		}
		return nil
	})
	return all, err
}

// checkedPiece is what came of checking some blocks.
type checkedPiece struct {
	Checked
	faults  []Damage
	scan    *scan
	toaster *Toaster
}

func (c *checkedPiece) run(ctx context.Context, at span) error {
	s := c.scan
	size := s.control.BlockSize
	if len(s.buffer) < size*pieceBlocks {
		s.buffer = make([]byte, size*pieceBlocks)
	}
	for block := at.from; block < at.to; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := s.relation.Read(block, s.buffer[:int(at.to-block)*size])
		var gap *Gap
		switch {
		case errors.As(err, &gap):
			missing := min(gap.Blocks, at.to-block)
			c.fault(block, 0, gap)
			c.Blocks += int64(missing)
			block += missing
			continue
		case err != nil:
			return err
		case n == 0:
			return nil
		}
		for i := range n {
			c.page(heap.Page(s.buffer[i*size:(i+1)*size]), block)
			block++
		}
	}
	return nil
}

func (c *checkedPiece) fault(block uint32, line int, err error) {
	c.faults = append(c.faults, Damage{Block: block, Line: line, Cause: err})
}

func (c *checkedPiece) page(p heap.Page, block uint32) {
	s := c.scan
	c.Blocks++
	if p.Zero() {
		c.Zeros++
		return
	}
	h, err := p.Header()
	if err == nil && s.checksums {
		_ = s.verify(p, h.Checksum, block) // Reads a page again that is being written just now; Check tells what is left.
	}
	broken := map[int]bool{}
	for _, f := range p.Check(block, s.attributes, s.checksums) {
		c.fault(block, f.Line, errors.New(f.Reason))
		broken[f.Line] = true
	}
	if h, err = p.Header(); err != nil {
		return
	}
	for n := 1; n <= p.Lines(); n++ {
		if broken[n] {
			continue
		}
		there, err := s.tuple(p, &h, block, n)
		if err == nil && there {
			c.Rows++
			err = c.long(&s.row)
		}
		if err != nil {
			c.fault(block, n, err)
		}
	}
}

// long looks for the chunks of a row's values in the TOAST table, and decompresses what is compressed.
func (c *checkedPiece) long(row *Row) error {
	for i, v := range row.Values {
		a := &c.scan.attributes[i]
		if v.Null || a.Len != -1 || a.Dropped || i >= row.Tuple.Natts() {
			continue
		}
		if len(v.Data) == 0 || v.Data[0]&3 != 2 && v.Data[0] != 1 { // neither compressed here nor elsewhere
			continue
		}
		if err := c.toaster.Stream(v.Data, func([]byte) error { return nil }); err != nil {
			return fmt.Errorf("column %s: %w", a.Name, causeOf(err))
		}
	}
	return nil
}
