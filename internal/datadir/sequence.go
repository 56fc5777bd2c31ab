package datadir

import (
	"fmt"
	"path/filepath"

	"github.com/pghaul/pghaul/internal/heap"
	"github.com/pghaul/pghaul/planner"
)

// Sequence is a sequence that belongs to a column, serial or identity.
type Sequence struct {
	Schema, Name string
	Column       string // that it feeds
	Path         string // of its file, within the data directory
}

// Sequences lists the sequences that belong to columns of a table, by what pg_depend says of them.
func (db *Database) Sequences(t *Table) ([]Sequence, error) {
	if err := db.Describe(t); err != nil {
		return nil, err
	}
	c, err := db.open()
	if err != nil {
		return nil, err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	l, err := db.by(c, "pg_depend", "refobjid")
	if err != nil {
		return nil, err
	}
	at := l.catalog.positions("classid", "objid", "refclassid", "refobjsubid", "deptype")
	var list []Sequence
	err = l.find(t.OID, func(r record) error {
		kind := r.byte(at[4])
		owned := kind == 'a' || kind == 'i' // serial, or OWNED BY; identity
		if !owned || r.oid(at[0]) != classCatalog || r.oid(at[2]) != classCatalog {
			return nil
		}
		column := t.columnName(int(r.int4(at[3])))
		return c.class.find(r.oid(at[1]), func(r record) error {
			if s := c.table(r); s.Kind == 'S' && column != "" {
				list = append(list, Sequence{Schema: s.Schema, Name: s.Name, Column: column, Path: db.Path(s.Tablespace, s.File)})
			}
			return nil
		})
	})
	return list, err
}

func (t *Table) columnName(number int) string {
	for i := range t.Columns {
		if t.Columns[i].Number == number {
			return t.Columns[i].Name
		}
	}
	return ""
}

// sequenceColumns are the columns of every sequence (FormData_pg_sequence_data of commands/sequence.h).
var sequenceColumns = []heap.Attribute{
	{Name: "last_value", Len: 8, Align: 'd', ByVal: true}, {Name: "log_cnt", Len: 8, Align: 'd', ByVal: true},
	{Name: "is_called", Len: 1, Align: 'c', ByVal: true},
}

// SequenceState reads last_value and is_called of a sequence from its file, Sequence.Path, whose single page has a single tuple.
func (d *Directory) SequenceState(path string) (last int64, called bool, err error) {
	name := filepath.Join(d.path, path)
	r, err := openRelation(name, &d.control, 0)
	if err != nil {
		return 0, false, err
	}
	defer r.Close()
	page := make(heap.Page, d.control.BlockSize)
	n, err := r.Read(0, page)
	if err == nil && n == 0 {
		err = fmt.Errorf("the file is empty")
	}
	var values []heap.Value
	if err == nil {
		values, err = sequenceTuple(page, d.control.Checksums)
	}
	if err != nil {
		return 0, false, &planner.Error{Message: "cannot read the sequence in " + name, Cause: err}
	}
	return int64(le.Uint64(values[0].Data)), values[2].Data[0] != 0, nil
}

func sequenceTuple(page heap.Page, checksums bool) ([]heap.Value, error) {
	h, err := page.Header()
	if err != nil {
		return nil, err
	}
	if computed := heap.Checksum(page, 0); checksums && computed != h.Checksum {
		return nil, fmt.Errorf("the page's checksum is %d and should be %d", h.Checksum, computed)
	}
	t, err := page.Tuple(1)
	if err != nil {
		return nil, err
	}
	values, err := t.Values(sequenceColumns, nil)
	if err != nil {
		return nil, err
	}
	for i := range values {
		if values[i].Null {
			return nil, fmt.Errorf("%s is NULL", sequenceColumns[i].Name)
		}
	}
	return values, nil
}
