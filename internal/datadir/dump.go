package datadir

import (
	"context"
	"io"
	"sync"

	"github.com/pghaul/pghaul/internal/heap"
)

// DumpOptions says what Dump prints. Nil means every visible row with all columns, and an end at the first damage.
type DumpOptions struct {
	// ScanOptions has the blocks and what becomes of damage. Its functions are called by one goroutine, in the order of the blocks.
	ScanOptions

	// Numbers are the columns, by Column.Number, in the order in which they are printed. Defaults to all.
	Numbers []int

	// Jobs is how many goroutines read and print. Defaults to 1.
	Jobs int
}

// RowFormat writes rows as lines. Several goroutines use it at a time.
type RowFormat interface {
	// Row appends a row's line.
	Row(dst []byte, p *Printers, row *Row) ([]byte, error)
	// Part appends a part of a row that has a large value, see Printers.Parts; first says that a column begins with it.
	Part(dst []byte, part Part, first bool) []byte
	// End appends what ends the line of a row that came in parts.
	End(dst []byte, row *Row) []byte
}

// Dump writes the rows of a table in the order of its blocks, and returns how many they were. Its memory does not depend on the size of the
// values that Printers.Large tells of.
func (db *Database) Dump(ctx context.Context, t *Table, o *DumpOptions, format RowFormat, w io.Writer) (rows int64, err error) {
	if o == nil {
		o = &DumpOptions{}
	}
	s, err := db.scan(t, &o.ScanOptions)
	if err != nil {
		return 0, err
	}
	defer s.relation.Close()
	free := &sync.Pool{New: func() any { return new(dumped) }}
	worker := func() (pieceWorker[*dumped], error) {
		p, err := db.Printers(t, o.Numbers...)
		if err != nil {
			return pieceWorker[*dumped]{}, err
		}
		d := &dumper{scan: *s, printers: p, format: format, damaged: o.Damaged != nil, free: free}
		return pieceWorker[*dumped]{do: d.piece, end: p.Close}, nil
	}
	err = inOrder(ctx, spans(o.From, o.To, s.relation.Blocks()), o.Jobs, worker, func(d *dumped) error {
		d.tell(o)
		rows += d.rows
		_, err := w.Write(d.text)
		free.Put(d)
		return err
	})
	return rows, err
}

// dumpedBytes is from which size on a text is handed on before its piece ends.
const dumpedBytes = 2 << 20

// dumped is what came of a piece, or of a part of one.
type dumped struct {
	text   []byte
	rows   int64 // that end in text
	damage []Damage
	zeros  []uint32
}

// tell hands on what was left out.
func (d *dumped) tell(o *DumpOptions) {
	if o.Zeros != nil {
		for _, block := range d.zeros {
			o.Zeros(block)
		}
	}
	for i := range d.damage {
		o.Damaged(d.damage[i].Block, d.damage[i].Line, d.damage[i].Cause)
	}
}

// dumper prints pieces. One goroutine uses it.
type dumper struct {
	scan     scan
	printers *Printers
	format   RowFormat
	damaged  bool // damage is left out
	free     *sync.Pool
	out      *dumped
	emit     func(*dumped) error
}

// piece prints the rows of some blocks.
func (d *dumper) piece(ctx context.Context, at span, emit func(*dumped) error) error {
	d.emit = emit
	d.renew()
	s := &d.scan
	s.from, s.to = at.from, at.to
	if d.damaged {
		s.damaged = func(block uint32, line int, err error) {
			d.out.damage = append(d.out.damage, Damage{Block: block, Line: line, Cause: err})
		}
	}
	s.zeros = func(block uint32) { d.out.zeros = append(d.out.zeros, block) }
	if err := s.run(ctx, d.row); err != nil {
		return err
	}
	return emit(d.out)
}

func (d *dumper) renew() {
	d.out = d.free.Get().(*dumped)
	*d.out = dumped{text: kept(d.out.text)[:0], damage: d.out.damage[:0], zeros: d.out.zeros[:0]}
}

// row prints one row.
func (d *dumper) row(row *Row) error {
	if row.Tuple.Infomask()&heap.HasExternal != 0 && d.printers.Large(*row) {
		return d.inParts(row)
	}
	start := len(d.out.text)
	text, err := d.format.Row(d.out.text, d.printers, row)
	if err != nil {
		d.out.text = text[:start]
		return err
	}
	d.out.text = text
	d.out.rows++
	return d.room()
}

// inParts prints a row with a large value, of which only a part is in memory.
func (d *dumper) inParts(row *Row) error {
	last := -1
	err := d.printers.Parts(*row, func(part Part) error {
		d.out.text = d.format.Part(d.out.text, part, part.Column != last)
		last = part.Column
		return d.room()
	})
	if err != nil {
		return err
	}
	d.out.text = d.format.End(d.out.text, row)
	d.out.rows++
	return nil
}

// room hands on what has become long.
func (d *dumper) room() error {
	if len(d.out.text) < dumpedBytes {
		return nil
	}
	if err := d.emit(d.out); err != nil {
		return err
	}
	d.renew()
	return nil
}
