package datadir

import (
	"errors"
	"fmt"

	"github.com/pghaul/pghaul/internal/datum"
	"github.com/pghaul/pghaul/planner"
)

// Printers turns the rows of a table into text, as the server's output functions print it: see package datum. One goroutine uses it at
// a time, in visits of Scan; it must be closed.
type Printers struct {
	toaster *Toaster
	columns []printedColumn
	buffer  []byte
	ends    []int
	texts   [][]byte

	threshold int // largeValue
}

type printedColumn struct {
	print       datum.Printer
	index       int // into Row.Values
	varlena     bool
	partwise    bool // see Large
	hexadecimal bool // a bytea
	Column
}

// virtual is Column.Generated of a column that is computed when it is read, which 18 introduced.
const virtual = 'v'

// Printers makes printers for some columns of a table, by their numbers, in the order given; none means all that are
// stored. A virtual generated column, which is nowhere on disk, and a type that cannot be printed are errors of kind planner.Refused.
func (db *Database) Printers(t *Table, numbers ...int) (*Printers, error) {
	toaster, err := db.Toaster(t)
	if err != nil {
		return nil, err
	}
	p := &Printers{toaster: toaster, threshold: largeValue}
	if len(numbers) == 0 {
		for _, c := range t.Columns {
			if c.Generated != virtual {
				numbers = append(numbers, c.Number)
			}
		}
	}
	for _, n := range numbers {
		c, err := p.column(t, n)
		if err != nil {
			return nil, err
		}
		p.columns = append(p.columns, c)
	}
	p.ends = make([]int, len(p.columns))
	p.texts = make([][]byte, len(p.columns))
	return p, nil
}

func (p *Printers) column(t *Table, number int) (printedColumn, error) {
	refused := &planner.Error{
		Kind: planner.Refused, Message: fmt.Sprintf("column %d of table %s.%s cannot be read from its file", number, t.Schema, t.Name),
	}
	for _, c := range t.Columns {
		if c.Number != number {
			continue
		}
		refused.Message = fmt.Sprintf("column %s of table %s.%s cannot be read from its file", c.Name, t.Schema, t.Name)
		if c.Generated == virtual {
			refused.Detail, refused.Hint = "It is a virtual generated column: only a server computes it.", "Leave the column out."
			return printedColumn{}, refused
		}
		printer, err := datum.NewPrinter(c.Type, p.toaster.Open)
		if err != nil {
			refused.Detail = sentence(err.Error())
			var unprintable *datum.Unprintable
			if errors.As(err, &unprintable) {
				refused.Hint = unprintable.Hint()
			}
			return printedColumn{}, refused
		}
		column := printedColumn{Column: c, index: number - 1, varlena: t.Attributes[number-1].Len == -1, print: printer}
		base := c.Type
		for depth := 0; base.Kind == 'd' && base.Base != nil && depth < maximumTypeDepth; depth++ {
			base = base.Base
		}
		column.partwise, column.hexadecimal = partwise[base.Output], base.Output == "byteaout"
		return column, nil
	}
	refused.Kind, refused.Detail = planner.Usage, "There is no such column."
	return printedColumn{}, refused
}

// Columns are the columns that are printed, in their order.
func (p *Printers) Columns() []Column {
	list := make([]Column, len(p.columns))
	for i := range p.columns {
		list[i] = p.columns[i].Column
	}
	return list
}

// Close closes what the printers read.
func (p *Printers) Close() error { return p.toaster.Close() }

// Append appends the text of the i-th printed column to dst; null tells that it is NULL and has none. The text has none of COPY's
// escapes. The error is a *Damage, which a visit of Scan should return; dst is then as it was.
func (p *Printers) Append(dst []byte, row *Row, i int) (text []byte, null bool, err error) {
	c := &p.columns[i]
	v := &row.Values[c.index]
	if v.Null {
		return dst, true, nil
	}
	data := v.Data
	if c.varlena {
		if data, err = p.payload(data); err != nil {
			return dst, false, c.damaged(err)
		}
	}
	text, err = c.print(dst, data)
	if err != nil {
		return dst, false, c.damaged(err)
	}
	return text, false, nil
}

// payload has the short way for what most values are: a header of one byte.
func (p *Printers) payload(data []byte) ([]byte, error) {
	if len(data) > 0 && data[0]&1 == 1 {
		if size := int(data[0] >> 1); size > 0 && size <= len(data) {
			return data[1:size], nil
		}
	}
	return p.toaster.Payload(data)
}

func (c *printedColumn) damaged(err error) error {
	return &Damage{Cause: fmt.Errorf("column %s: %w", c.Name, causeOf(err))}
}

// Row prints all columns; nil stands for NULL. The texts are good until the next call. The error is a *Damage.
func (p *Printers) Row(row Row) ([][]byte, error) {
	p.buffer = append(kept(p.buffer)[:0], 0)[:0] // never nil, which would make empty texts NULL
	for i := range p.columns {
		text, null, err := p.Append(p.buffer, &row, i)
		if err != nil {
			return nil, err
		}
		p.buffer, p.ends[i] = text, len(text)
		if null {
			p.ends[i] = -1
		}
	}
	begin := 0
	for i, end := range p.ends {
		if p.texts[i] = nil; end >= 0 {
			p.texts[i], begin = p.buffer[begin:end:end], end
		}
	}
	return p.texts, nil
}
