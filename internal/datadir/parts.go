package datadir

import (
	"fmt"

	"github.com/pghaul/pghaul/internal/heap"
)

// largeValue is the length from which a value is worth handing on in parts, in bytes: below, the memory for it does not matter.
const largeValue = 1 << 20

// partwise are the output functions that treat byte after byte, so that a value can be printed in parts.
var partwise = map[string]bool{
	"textout": true, "varcharout": true, "bpcharout": true, "json_out": true, "citextout": true, "byteaout": true,
}

// Large reports whether a printed column has an external value of a megabyte or more that Parts can hand on in parts. Such rows are
// better not printed by Append or Row, which hold it as a whole.
func (p *Printers) Large(row Row) bool {
	for i := range p.columns {
		if p.large(i, row) {
			return true
		}
	}
	return false
}

func (p *Printers) large(i int, row Row) bool {
	c := &p.columns[i]
	if !c.partwise {
		return false
	}
	v := row.Values[c.Number-1]
	if v.Null || len(v.Data) == 0 || v.Data[0] != 1 {
		return false
	}
	parsed, _, err := heap.ParseVarlena(v.Data)
	return err == nil && parsed.External && parsed.RawSize >= p.threshold
}

// Part is a piece of the text of one column.
type Part struct {
	Column int    // index into Columns
	Text   []byte // good during the visit
	Null   bool   // the value is NULL: Text is empty and Last set
	Last   bool   // the column's text ends with it
}

// Parts visits the text of all columns, in their order, large values in parts. Before the first visit it has read everything, and what is
// damaged is a *Damage then: no row ends in the middle because of its own bytes. Other errors are those of visit.
func (p *Printers) Parts(row Row, visit func(Part) error) error {
	p.buffer = append(kept(p.buffer)[:0], 0)[:0]
	for i := range p.columns {
		c := &p.columns[i]
		null := false
		var err error
		if p.large(i, row) {
			if err = p.toaster.Stream(row.Values[c.Number-1].Data, func([]byte) error { return nil }); err != nil {
				return c.damaged(err)
			}
		} else {
			p.buffer, null, err = p.Append(p.buffer, &row, i)
		}
		if err != nil {
			return err
		}
		p.ends[i] = len(p.buffer)
		if null {
			p.ends[i] = -1
		}
	}
	begin := 0
	for i := range p.columns {
		part := Part{Column: i, Null: p.ends[i] < 0, Last: true}
		if p.large(i, row) {
			if err := p.parts(row, i, visit); err != nil {
				return err
			}
			continue
		}
		if end := p.ends[i]; end >= 0 {
			part.Text, begin = p.buffer[begin:end], end
		}
		if err := visit(part); err != nil {
			return err
		}
	}
	return nil
}

// parts visits a large value.
func (p *Printers) parts(row Row, i int, visit func(Part) error) error {
	c := &p.columns[i]
	var text []byte
	if c.hexadecimal {
		text = append(text, '\\', 'x')
	}
	var visitErr error
	visit = noting(visit, &visitErr)
	err := p.toaster.Stream(row.Values[c.Number-1].Data, func(part []byte) error {
		if !c.hexadecimal {
			return visit(Part{Column: i, Text: part})
		}
		for len(part) > 0 {
			n := min(len(part), history)
			for _, b := range part[:n] {
				text = append(text, lowerHex[b>>4], lowerHex[b&15])
			}
			if err := visit(Part{Column: i, Text: text}); err != nil {
				return err
			}
			text, part = text[:0], part[n:]
		}
		return nil
	})
	if visitErr != nil {
		return visitErr
	}
	if err != nil { // no *Damage: the row has begun
		return fmt.Errorf("column %s has changed while it was read: %s", c.Name, err.Error())
	}
	return visit(Part{Column: i, Text: text, Last: true})
}

// noting keeps an error of visit apart from those of reading.
func noting(visit func(Part) error, kept *error) func(Part) error {
	return func(part Part) error {
		*kept = visit(part)
		return *kept
	}
}

const lowerHex = "0123456789abcdef"
