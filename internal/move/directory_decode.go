package move

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/pghaul/pghaul/internal/copyfmt"
	"github.com/pghaul/pghaul/internal/datadir"
	"github.com/pghaul/pghaul/internal/datum"
	"github.com/pghaul/pghaul/planner"
)

// decoder turns rows of a data directory into COPY text. Each worker has its own.
type decoder struct {
	at    *directory
	plan  *planner.Plan
	seen  *fileTally
	parts map[int]*partDecoder
}

// partDecoder decodes the rows of one table, or of one leaf.
type partDecoder struct {
	table   *datadir.Table
	name    string // quoted, qualified
	file    string
	toaster *datadir.Toaster
	fields  []decodedField
}

// decodedField is one column on its way to the target.
type decodedField struct {
	index   int // in Row.Values
	varlena bool
	clean   bool // its text never holds what COPY escapes
	pieces  piecewise
	print   datum.Printer
}

// cleanOutputs are output functions whose text holds digits, letters and punctuation without backslash only.
var cleanOutputs = []string{"boolout", "int2out", "int4out", "int8out", "oidout", "float4out", "float8out", "numeric_out", "date_out", "time_out",
	"timetz_out", "timestamp_out", "timestamptz_out", "interval_out", "uuid_out"}

func (d *directory) decoder(t *table) *decoder {
	return &decoder{at: d, plan: t.plan, seen: &t.files, parts: map[int]*partDecoder{}}
}

// close closes the files of TOAST tables.
func (d *decoder) close() {
	for _, p := range d.parts {
		_ = p.toaster.Close() // They were only read.
	}
}

// part prepares to decode the rows of a part of the plan.
func (d *decoder) part(index int) (*partDecoder, error) {
	if p := d.parts[index]; p != nil {
		return p, nil
	}
	part := &d.plan.Parts[index]
	d.at.lock.Lock()
	t := d.at.tables[part.SourceOID]
	d.at.lock.Unlock()
	toaster, err := d.at.db.Toaster(t)
	if err != nil {
		return nil, err
	}
	p := &partDecoder{table: t, name: part.Source, file: part.File, toaster: toaster}
	for _, pair := range d.plan.Columns {
		f, err := p.field(pair.Source.Name)
		if err != nil {
			_ = toaster.Close()
			return nil, err
		}
		p.fields = append(p.fields, f)
	}
	d.parts[index] = p
	return p, nil
}

// field finds a column by name: leaves may have their columns in another order than their root.
func (p *partDecoder) field(name string) (decodedField, error) {
	i := slices.IndexFunc(p.table.Columns, func(c datadir.Column) bool { return c.Name == name })
	if i < 0 {
		return decodedField{}, &planner.Error{Message: "partition " + p.name + " has no column " + name, Detail: "The catalogs of the directory are damaged."}
	}
	c := &p.table.Columns[i]
	printer, err := datum.NewPrinter(c.Type, p.toaster.Open)
	if err != nil {
		return decodedField{}, unprintable(p.name, c, err)
	}
	output := outputOf(c.Type)
	f := decodedField{index: c.Number - 1, varlena: c.Type.Len == -1, clean: slices.Contains(cleanOutputs, output), print: printer}
	switch {
	case slices.Contains(verbatimOutputs, output):
		f.pieces = verbatim
	case output == "byteaout":
		f.pieces = digits
	}
	return f, nil
}

// outputOf is the output function of what a domain is made of.
func outputOf(t *datum.Type) string {
	for level := 0; t.Kind == 'd' && t.Base != nil && level < mostLevels; level++ {
		t = t.Base
	}
	return t.Output
}

// unprintable is the error of a column whose type only its own code knows how to print.
func unprintable(table string, c *datadir.Column, err error) error {
	return &planner.Error{Message: "cannot decode column " + c.Name + " of " + table, Cause: err,
		Hint: "Leave the column out with --columns, or start a server on the directory: its extension knows the type " + c.TypeName + "."}
}

// writeRow adds a row's line to the frames. On an error a part of it may stand there, and of a row with a large value may have been sent.
func (p *partDecoder) writeRow(to *framer, row datadir.Row) error {
	dst := to.buffer
	for i := range p.fields {
		f := &p.fields[i]
		if i > 0 {
			dst = append(dst, '\t')
		}
		v := &row.Values[f.index]
		if v.Null {
			dst = copyfmt.AppendTextNull(dst)
			continue
		}
		data := v.Data
		if large, ok := f.large(data); ok {
			to.buffer = dst
			if err := p.writeLarge(to, f, large, data); err != nil {
				return columnError(p, f, err)
			}
			dst = to.buffer
			continue
		}
		var err error
		if f.varlena {
			if data, err = p.toaster.Payload(data); err != nil {
				return columnError(p, f, err)
			}
		}
		start := len(dst)
		if dst, err = f.print(dst, data); err != nil {
			return columnError(p, f, err)
		}
		if !f.clean {
			dst = copyfmt.EscapeText(dst, start)
		}
	}
	dst = append(dst, '\n')
	to.buffer = dst
	return nil
}

// columnFault is damage in one column.
type columnFault struct {
	column string
	err    error
}

func columnError(p *partDecoder, f *decodedField, err error) error {
	var damage *datadir.Damage
	if errors.As(err, &damage) { // of a value that was fetched: the place is that of its row
		err = damage.Cause
	}
	return &columnFault{column: p.table.Attributes[f.index].Name, err: err}
}

func (e *columnFault) Error() string { return "column " + e.column + ": " + e.err.Error() }

func (e *columnFault) Unwrap() error { return e.err }

// mostFaults is how many places of damage are named.
const mostFaults = 20

// fileTally counts what was read of a table's files. It is safe for concurrent use.
type fileTally struct {
	rows   atomic.Int64
	lock   sync.Mutex
	damage Damage
}

// leaveOut notes what --skip-damaged leaves out. Line 0 is a whole block, or the first of several that are missing.
func (f *fileTally) leaveOut(file string, block uint32, line int, err error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.damage.add(file, datadir.Damage{Block: block, Line: line, Cause: err})
}

// found returns what was left out, nil for nothing.
func (f *fileTally) found() *Damage {
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.damage.Blocks+f.damage.Rows == 0 {
		return nil
	}
	d := f.damage
	d.First = slices.Clone(d.First)
	return &d
}
