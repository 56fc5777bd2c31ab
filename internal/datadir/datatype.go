package datadir

import (
	"fmt"

	"github.com/pghaul/pghaul/internal/datum"
)

// maximumTypeDepth bounds how deep types contain each other; a damaged catalog may hold a cycle that goes through arrays.
const maximumTypeDepth = 64

// typeOf reads a type and those it is made of. The caller holds the mutex. A type without row in pg_type is named ???, as
// format_type does, and has no printer.
func (db *Database) typeOf(c *catalogs, oid uint32, depth int) (*datum.Type, error) {
	if t := c.types[oid]; t != nil {
		return t, nil
	}
	if depth > maximumTypeDepth {
		return nil, fmt.Errorf("type %d contains itself", oid)
	}
	l, err := db.by(c, "pg_type", "oid")
	if err != nil {
		return nil, err
	}
	if c.at.typ == nil {
		c.at.typ = l.catalog.positions("typname", "typnamespace", "typlen", "typbyval", "typtype", "typcategory", "typdelim", "typrelid",
			"typelem", "typoutput", "typalign", "typbasetype")
	}
	at := c.at.typ
	var t *datum.Type
	var relation, element, output, base uint32
	err = l.find(oid, func(r record) error {
		t = &datum.Type{
			OID: oid, Schema: c.schemas[r.oid(at[1])], Name: r.name(at[0]), Len: r.int2(at[2]), Align: r.byte(at[10]),
			ByVal: r.bool(at[3]), Kind: r.byte(at[4]), Category: r.byte(at[5]), Delimiter: r.byte(at[6]),
		}
		relation, element, output, base = r.oid(at[7]), r.oid(at[8]), r.oid(at[9]), r.oid(at[11])
		return nil
	})
	if err != nil {
		return nil, err
	}
	if t == nil {
		return &datum.Type{OID: oid, Name: "???"}, nil // only what needs to print it fails
	}
	if t.Output, err = db.functionName(c, output); err != nil {
		return nil, err
	}
	c.types[oid] = t // before its parts: a composite may contain an array of itself
	if err := db.typeParts(c, t, relation, element, base, depth+1); err != nil {
		delete(c.types, oid)
		return nil, err
	}
	db.resolve(t)
	return t, nil
}

// typeParts fills in what the type is made of.
func (db *Database) typeParts(c *catalogs, t *datum.Type, relation, element, base uint32, depth int) (err error) {
	switch {
	case t.Kind == 'd':
		t.Base, err = db.typeOf(c, base, depth)
	case t.Kind == 'e':
		t.Labels, err = db.labels(c, t.OID)
	case t.Kind == 'c':
		t.Fields, err = db.fields(c, relation, depth)
	case t.Kind == 'r':
		t.Subtype, err = db.rangePart(c, "rngtypid", "rngsubtype", t.OID, depth)
	case t.Kind == 'm':
		t.Subtype, err = db.rangePart(c, "rngmultitypid", "rngtypid", t.OID, depth)
	case element != 0 && t.Len == -1: // a point has elements too, and no array of them
		t.Element, err = db.typeOf(c, element, depth)
	}
	return err
}

func (db *Database) labels(c *catalogs, oid uint32) (map[uint32]string, error) {
	l, err := db.by(c, "pg_enum", "enumtypid")
	if err != nil {
		return nil, err
	}
	at := l.catalog.positions("oid", "enumlabel")
	labels := map[uint32]string{}
	return labels, l.find(oid, func(r record) error {
		labels[r.oid(at[0])] = r.name(at[1])
		return nil
	})
}

func (db *Database) fields(c *catalogs, relation uint32, depth int) ([]datum.Field, error) {
	at := c.at.attribute
	var fields []datum.Field
	err := c.attributes.find(relation, func(r record) error {
		n := int(r.int2(at[attNumber]))
		if n < 1 || n > maximumColumns {
			return nil
		}
		for len(fields) < n {
			fields = append(fields, datum.Field{Align: 0})
		}
		f := datum.Field{
			Name: r.name(at[attName]), Typmod: r.int4(at[attTypmod]), Dropped: r.bool(at[attDropped]), Len: r.int2(at[attLength]),
			Align: r.byte(at[attAlign]),
		}
		var err error
		if !f.Dropped {
			f.Type, err = db.typeOf(c, r.oid(at[attType]), depth)
		}
		fields[n-1] = f
		return err
	})
	for i := range fields {
		if fields[i].Align == 0 && err == nil {
			err = fmt.Errorf("the description of column %d of relation %d is lost", i+1, relation)
		}
	}
	return fields, err
}

func (db *Database) rangePart(c *catalogs, key, part string, oid uint32, depth int) (*datum.Type, error) {
	l, err := db.by(c, "pg_range", key)
	if err != nil {
		return nil, err
	}
	at := l.catalog.positions(part)[0]
	var found uint32
	err = l.find(oid, func(r record) error {
		found = r.oid(at)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return db.typeOf(c, found, depth)
}

// functionName is the name of a function in pg_proc.
func (db *Database) functionName(c *catalogs, oid uint32) (string, error) {
	if name, ok := c.functions[oid]; ok {
		return name, nil
	}
	l, err := db.by(c, "pg_proc", "oid")
	if err != nil {
		return "", err
	}
	at := l.catalog.positions("proname")[0]
	err = l.find(oid, func(r record) error {
		c.functions[oid] = r.name(at)
		return nil
	})
	return c.functions[oid], err
}
