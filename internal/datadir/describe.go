package datadir

import (
	"fmt"

	"github.com/pghaul/pghaul/internal/datum"
	"github.com/pghaul/pghaul/internal/heap"
	"github.com/pghaul/pghaul/planner"
)

// Describe fills in the columns of a table and its TOAST relation, unless that was done.
func (db *Database) Describe(t *Table) error {
	if t.Described {
		return nil
	}
	c, err := db.open()
	if err != nil {
		return err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if err := db.describeColumns(c, t); err != nil {
		return err
	}
	if t.toast != 0 {
		if t.Toast, err = db.toastRelation(c, t.toast); err != nil {
			return err
		}
	}
	t.Described = true
	return nil
}

// describeColumns reads pg_attribute. A column that is missing there is an error: without its length the rest of no row can be read.
func (db *Database) describeColumns(c *catalogs, t *Table) error {
	at := c.at.attribute
	attributes, columns := make([]heap.Attribute, t.natts), make([]Column, t.natts)
	found, xmins := make([]bool, t.natts), make([]uint32, t.natts)
	err := c.attributes.find(t.OID, func(r record) error {
		n := int(r.int2(at[attNumber]))
		if n < 1 || n > t.natts {
			return nil
		}
		if found[n-1] && precedes(r.Tuple.Xmin(), xmins[n-1]) { // see ordered
			return nil
		}
		a := c.attribute(r)
		var err error
		if a.HasMissing = r.bool(at[attHasMissing]) && !a.Dropped; a.HasMissing {
			if a.Missing, err = missingValue(r.data(at[attMissing]), &a); err != nil {
				return fmt.Errorf("read the default of column %s for old rows: %w", a.Name, err)
			}
			a.HasMissing = a.Missing != nil
		}
		attributes[n-1], found[n-1], xmins[n-1] = a, true, r.Tuple.Xmin()
		if !a.Dropped {
			columns[n-1], err = db.column(c, r)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("describe table %s.%s: %w", t.Schema, t.Name, err)
	}
	t.Columns = nil
	for i := range attributes {
		if !found[i] || !knownLayout(&attributes[i]) {
			return db.lostColumn(c, t, i+1)
		}
		if !attributes[i].Dropped {
			t.Columns = append(t.Columns, columns[i])
		}
	}
	t.Attributes = attributes
	return nil
}

func knownLayout(a *heap.Attribute) bool {
	switch a.Align {
	case 'c', 's', 'i', 'd':
		return a.Len > 0 || a.Len == -1 || a.Len == -2
	}
	return false
}

func (db *Database) lostColumn(c *catalogs, t *Table, number int) error {
	return &planner.Error{
		Message: fmt.Sprintf("the description of column %d of table %s.%s is lost", number, t.Schema, t.Name),
		Detail:  sentence(c.attributes.catalog.damageNote()),
		Hint:    "Read the table as a lone file, with its columns given by hand.",
	}
}

func (db *Database) column(c *catalogs, r record) (Column, error) {
	at := c.at.attribute
	t, err := db.typeOf(c, r.oid(at[attType]), 0)
	if err != nil {
		return Column{}, err
	}
	column := Column{
		Name: r.name(at[attName]), Number: int(r.int2(at[attNumber])), Type: t, Typmod: r.int4(at[attTypmod]),
		NotNull: r.bool(at[attNotNull]), HasDefault: r.bool(at[attHasDefault]), Generated: r.byte(at[attGenerated]),
		Identity: r.byte(at[attIdentity]), Storage: r.byte(at[attStorage]), Compression: r.byte(at[attCompression]),
		Collation: r.oid(at[attCollation]),
	}
	column.TypeName = typeName(t, column.Typmod)
	return column, nil
}

// toastRelation finds a TOAST table and its index.
func (db *Database) toastRelation(c *catalogs, oid uint32) (*ToastRelation, error) {
	toast := &ToastRelation{OID: oid}
	err := c.class.find(oid, func(r record) error {
		t := c.table(r)
		toast.File, toast.Tablespace = t.File, t.Tablespace
		return nil
	})
	if err != nil {
		return nil, err
	}
	l, err := db.by(c, "pg_index", "indrelid")
	if err != nil {
		return nil, err
	}
	index := l.catalog.positions("indexrelid")[0]
	return toast, l.find(oid, func(r record) error {
		return c.class.find(r.oid(index), func(r record) error {
			t := c.table(r)
			toast.IndexFile, toast.IndexTablespace = t.File, t.Tablespace
			return nil
		})
	})
}

// missingValue takes the single element out of attmissingval, an array of the column's type (array.h): number of dimensions, offset
// of the data or 0, element type, and for each dimension its length and lower bound; the data start aligned to 8 bytes, counted with
// a header of 4 bytes. The element has the form of heap.Value.Data. It is nil where the array is empty.
func missingValue(array []byte, a *heap.Attribute) ([]byte, error) {
	if array == nil {
		return nil, nil
	}
	v, _, err := heap.ParseVarlena(array)
	if err != nil {
		return nil, err
	}
	payload := v.Payload
	switch {
	case v.External:
		return nil, fmt.Errorf("it is in a TOAST table, which pg_attribute has not")
	case v.Compression != heap.NoCompression:
		if payload, err = heap.Decompress(nil, v.Compression, payload, v.RawSize); err != nil {
			return nil, err
		}
	}
	const header, lengthWord = 24, 4
	if len(payload) < header-lengthWord {
		return nil, fmt.Errorf("the array of %d bytes has no element", len(payload))
	}
	if le.Uint32(payload) == 0 || le.Uint32(payload[4:]) != 0 || le.Uint32(payload[12:]) == 0 {
		return nil, nil // no dimension, or a NULL
	}
	data, size := payload[header-lengthWord:], int(a.Len)
	switch a.Len {
	case -1:
		size, err = heap.VarlenaSize(data)
	case -2:
		for size = 0; size < len(data) && data[size] != 0; size++ {
		}
	}
	if err != nil || size > len(data) {
		return nil, fmt.Errorf("the element does not fit into its array")
	}
	return append([]byte{}, data[:size]...), nil
}

// Type describes a type by its OID.
func (db *Database) Type(oid uint32) (*datum.Type, error) {
	c, err := db.open()
	if err != nil {
		return nil, err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return db.typeOf(c, oid, 0)
}
