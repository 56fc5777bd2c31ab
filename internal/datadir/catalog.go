package datadir

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/pghaul/pghaul/internal/heap"
)

const keptDamage = 20 // damaged places of a catalog that are remembered

// catalog is a system catalog that can be read: where it is, and its columns.
type catalog struct {
	name       string
	path       string
	control    *Control
	tx         heap.Transactions
	attributes []heap.Attribute

	damage []Damage // the first places that could not be read
}

// positions finds columns by name, -1 for those that this release lacks. Reading column -1 gives NULL.
func (c *catalog) positions(names ...string) []int {
	list := make([]int, len(names))
	for i, name := range names {
		list[i] = slices.IndexFunc(c.attributes, func(a heap.Attribute) bool { return a.Name == name })
	}
	return list
}

// scan visits the visible rows of the whole catalog.
func (c *catalog) scan(visit func(r record) error) error {
	return c.scanBlocks(0, 0, visit)
}

// scanBlocks visits the visible rows of some blocks; to is behind the last one, 0 means the end. Damage is counted and passed over.
func (c *catalog) scanBlocks(from, to uint32, visit func(r record) error) error {
	r, err := openRelation(c.path, c.control, 0)
	if err != nil {
		return err
	}
	defer r.Close()
	s := scan{relation: r, control: c.control, tx: c.tx, attributes: c.attributes}
	s.from, s.to = from, to
	s.damaged = func(block uint32, line int, err error) {
		known := slices.ContainsFunc(c.damage, func(d Damage) bool { return d.Block == block && d.Line == line })
		if !known && len(c.damage) < keptDamage { // each reading meets them again
			c.damage = append(c.damage, Damage{Block: block, Line: line, Cause: err})
		}
	}
	return s.run(context.Background(), func(row *Row) error { return visit(record(*row)) })
}

// damageNote says in a phrase what of the catalog could not be read, nothing where all could.
func (c *catalog) damageNote() string {
	if len(c.damage) == 0 {
		return ""
	}
	return fmt.Sprintf("%d or more places of %s could not be read, the first: %v", len(c.damage), c.name, &c.damage[0])
}

// record is a row of a catalog. Its accessors give the zero value for NULL.
type record Row

func (r record) data(column int) []byte {
	if column < 0 || column >= len(r.Values) || r.Values[column].Null {
		return nil
	}
	return r.Values[column].Data
}

func (r record) oid(column int) uint32 {
	if b := r.data(column); len(b) == 4 {
		return le.Uint32(b)
	}
	return 0
}

func (r record) int4(column int) int32 { return int32(r.oid(column)) }

func (r record) int2(column int) int16 {
	if b := r.data(column); len(b) == 2 {
		return int16(le.Uint16(b))
	}
	return 0
}

func (r record) byte(column int) byte {
	if b := r.data(column); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (r record) bool(column int) bool { return r.byte(column) == 1 }

func (r record) name(column int) string {
	b := r.data(column)
	if end := bytes.IndexByte(b, 0); end >= 0 {
		b = b[:end]
	}
	return string(b)
}

// blockIndex tells in which blocks of a catalog the rows of an object are, for lookups without reading the whole catalog each time. It
// takes 8 bytes a row at most, so that a database with many relations fits into little memory; the catalog's own index would need to
// be undamaged.
type blockIndex []blockEntry

type blockEntry struct{ key, block uint32 }

// index reads the catalog once and notes the block of each key. every, when set, sees every row too.
func (c *catalog) index(key int, every func(r record)) (blockIndex, error) {
	var list blockIndex
	err := c.scan(func(r record) error {
		e := blockEntry{key: r.oid(key), block: r.Block}
		if len(list) == 0 || list[len(list)-1] != e {
			list = append(list, e)
		}
		if every != nil {
			every(r)
		}
		return nil
	})
	slices.SortFunc(list, func(a, b blockEntry) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.block, b.block)) })
	return slices.Clip(slices.Compact(list)), err
}

// find visits the rows of a catalog that have a key, which is in the given column.
func (c *catalog) find(list blockIndex, column int, key uint32, visit func(r record) error) error {
	at, _ := slices.BinarySearchFunc(list, key, func(e blockEntry, key uint32) int { return cmp.Compare(e.key, key) })
	for ; at < len(list) && list[at].key == key; at++ {
		block := list[at].block
		err := c.scanBlocks(block, block+1, func(r record) error {
			if r.oid(column) != key {
				return nil
			}
			return visit(r)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
