package datadir

import (
	"context"
	"io"
	"sync"
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

// RowFormat appends a row's text, line end included.
type RowFormat func(dst []byte, p *Printers, row *Row) ([]byte, error)

// Dump writes the rows of a table in the order of its blocks, and returns how many they were.
func (db *Database) Dump(ctx context.Context, t *Table, o *DumpOptions, format RowFormat, w io.Writer) (rows int64, err error) {
	if o == nil {
		o = &DumpOptions{}
	}
	s, err := db.scan(t, &o.ScanOptions)
	if err != nil {
		return 0, err
	}
	defer s.relation.Close()
	free := sync.Pool{New: func() any { return new(dumped) }}
	worker := func() (func(context.Context, span) (*dumped, error), func() error, error) {
		p, err := db.Printers(t, o.Numbers...)
		if err != nil {
			return nil, nil, err
		}
		own := *s
		return func(ctx context.Context, at span) (*dumped, error) {
			d := free.Get().(*dumped)
			err := d.fill(ctx, &own, at, p, format, o)
			return d, err
		}, p.Close, nil
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

// dumped is what came of a piece.
type dumped struct {
	text   []byte
	rows   int64
	damage []Damage
	zeros  []uint32
}

// fill prints the rows of some blocks.
func (d *dumped) fill(ctx context.Context, s *scan, at span, p *Printers, format RowFormat, o *DumpOptions) error {
	*d = dumped{text: kept(d.text)[:0], damage: d.damage[:0], zeros: d.zeros[:0]}
	s.from, s.to = at.from, at.to
	if o.Damaged != nil {
		s.damaged = func(block uint32, line int, err error) {
			d.damage = append(d.damage, Damage{Block: block, Line: line, Cause: err})
		}
	}
	s.zeros = func(block uint32) { d.zeros = append(d.zeros, block) }
	return s.run(ctx, func(row *Row) error {
		start := len(d.text)
		text, err := format(d.text, p, row)
		if err != nil {
			d.text = text[:start]
			return err
		}
		d.text = text
		d.rows++
		return nil
	})
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
