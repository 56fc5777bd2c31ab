package datadir

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/pghaul/pghaul/internal/datum"
	"github.com/pghaul/pghaul/internal/heap"
	"github.com/pghaul/pghaul/planner"
)

const firstNormalObject = 16384 // FirstNormalObjectId of transam.h: initdb uses the numbers below

// Table is a relation that has rows, as pg_class describes it. Tables leaves what stands behind Described to Describe.
type Table struct {
	Schema, Name string
	OID          uint32
	File         uint32  // relfilenode; 0 for a partitioned table, which has no file
	Tablespace   uint32  // 0: the database's own
	Kind         byte    // relkind: r table, m materialised view, p partitioned table, t TOAST table
	Persistence  byte    // relpersistence: p permanent, u unlogged, t temporary
	AccessMethod string  // heap, or what an extension brought
	Pages        uint32  // blocks when last counted
	Rows         float64 // rows when last counted or estimated; -1 when never
	IsPartition  bool
	HasChildren  bool // it has, or once had, partitions or tables that inherit from it

	Described  bool
	Columns    []Column
	Attributes []heap.Attribute // all, dropped ones included: column n has index n-1
	Toast      *ToastRelation   // nil: it has none

	toast uint32
	natts int
	xmin  uint32
	path  string // of a lone file
}

// System reports whether the table came with the database, as a catalog or part of information_schema.
func (t *Table) System() bool { return t.OID < firstNormalObject }

// Column is a column that was not dropped.
type Column struct {
	Name        string
	Number      int // attnum, from 1
	Type        *datum.Type
	Typmod      int32
	TypeName    string // as format_type prints it on an empty search_path
	NotNull     bool
	HasDefault  bool
	Generated   byte // s stored, v virtual, 0 not generated
	Identity    byte // a always, d by default, 0 none
	Storage     byte // p plain, e external, m main, x extended
	Compression byte // p pglz, l lz4, 0 the default
	Collation   uint32
}

// ToastRelation is where a table's long values are.
type ToastRelation struct {
	OID, File, Tablespace      uint32
	IndexFile, IndexTablespace uint32 // 0 where its index was not found

	summary summary
	path    string // of a lone file
}

// Tables lists the tables, materialised views and partitioned tables of the database, in the order of schema and name, undescribed. Of a
// long list describe copies, one at a time: the columns of all of them take more memory than the list.
func (db *Database) Tables() ([]Table, error) {
	return db.tables(func(t *Table) bool { return t.Kind == 'r' || t.Kind == 'm' || t.Kind == 'p' })
}

func (db *Database) tables(wanted func(*Table) bool) ([]Table, error) {
	c, err := db.open()
	if err != nil {
		return nil, err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	count := 0
	var list []Table
	// Counted first: a list that grows takes several times its memory on the way.
	for _, take := range []func(Table){func(Table) { count++ }, func(t Table) { list = append(list, t) }} {
		err = c.class.catalog.scan(func(r record) error {
			if t := c.table(r); wanted(&t) {
				take(t)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if list == nil {
			list = make([]Table, 0, count)
		}
	}
	return ordered(list), nil
}

// ordered sorts by schema and name. Where a server died, the disk may have a new version of a row and the old one still undeleted: the
// newer one counts.
func ordered(list []Table) []Table {
	slices.SortFunc(list, func(a, b Table) int {
		return cmp.Or(cmp.Compare(a.OID, b.OID), -cmp.Compare(int32(a.xmin-b.xmin), 0))
	})
	list = slices.CompactFunc(list, func(a, b Table) bool { return a.OID == b.OID })
	slices.SortFunc(list, func(a, b Table) int { return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name)) })
	return list
}

// Table finds a table by its name, and describes it. It reads all of pg_class: for many tables, use Tables and Describe.
func (db *Database) Table(schema, name string) (*Table, error) {
	list, err := db.tables(func(t *Table) bool { return t.Name == name && t.Schema == schema })
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, db.noTable(schema, name)
	}
	t := &list[0]
	switch t.Kind {
	case 'r', 'm', 'p', 't':
		return t, db.Describe(t)
	}
	return nil, &planner.Error{
		Kind: planner.Usage, Message: fmt.Sprintf("%s.%s is not a table", schema, name),
		Detail: fmt.Sprintf("Its kind in pg_class is %q: only tables and materialised views have rows of their own.", t.Kind),
	}
}

func (db *Database) noTable(schema, name string) error {
	c := db.catalogs
	c.mutex.Lock()
	defer c.mutex.Unlock()
	e := &planner.Error{
		Kind: planner.Usage, Message: fmt.Sprintf("there is no table %s.%s in database %q", schema, name, db.Name),
		Detail: sentence(c.class.catalog.damageNote()),
		Hint:   "pghaul heap ls lists the tables.",
	}
	if e.Detail != "" {
		e.Kind = planner.Failed
	}
	return e
}

// table turns a row of pg_class into a Table.
func (c *catalogs) table(r record) Table {
	at := c.at.class
	oid := r.oid(at[classOID])
	t := Table{
		Schema: c.schemas[r.oid(at[classSchema])], Name: r.name(at[className]), OID: oid, File: r.oid(at[classFile]),
		Tablespace: r.oid(at[classTablespace]), Kind: r.byte(at[classKind]), Persistence: r.byte(at[classPersistence]),
		AccessMethod: c.methods[r.oid(at[classMethod])], Pages: r.oid(at[classPages]),
		Rows:        float64(math.Float32frombits(r.oid(at[classRows]))),
		IsPartition: r.bool(at[classIsPartition]), HasChildren: r.bool(at[classHasChildren]),
		toast: r.oid(at[classToast]), natts: int(r.int2(at[classColumns])), xmin: r.Tuple.Xmin(),
	}
	if t.File == 0 {
		t.File = c.local[oid]
	}
	if t.File == 0 {
		t.File = c.global[oid]
	}
	return t
}

// File opens the table's file. It must be closed.
func (db *Database) File(t *Table) (*Relation, error) {
	e := &planner.Error{Kind: planner.Refused, Message: fmt.Sprintf("table %s.%s cannot be read from its file", t.Schema, t.Name)}
	switch {
	case t.path != "":
		return openRelation(t.path, &db.dir.control, 0)
	case t.Kind == 'p':
		e.Detail, e.Hint = "It is partitioned and has no rows of its own.", "Name its partitions."
	case t.Persistence == 't':
		e.Detail = "It is a temporary table of a session that is gone."
	case t.AccessMethod != "heap" && t.AccessMethod != "":
		e.Detail = fmt.Sprintf("Its access method is %s, whose files only its extension knows.", t.AccessMethod)
	case t.File == 0:
		e.Detail = "It has no file."
	default:
		return openRelation(filepath.Join(db.dir.path, db.Path(t.Tablespace, t.File)), &db.dir.control, t.Pages)
	}
	return nil, e
}

// Partitions lists the tables that are partitions of t or inherit from it, directly, undescribed, in the order of schema and name.
func (db *Database) Partitions(t *Table) ([]Table, error) {
	c, err := db.open()
	if err != nil {
		return nil, err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	l, err := db.by(c, "pg_inherits", "inhparent")
	if err != nil {
		return nil, err
	}
	child := l.catalog.positions("inhrelid")[0]
	var list []Table
	err = l.find(t.OID, func(r record) error {
		return c.class.find(r.oid(child), func(r record) error {
			list = append(list, c.table(r))
			return nil
		})
	})
	return ordered(list), err
}

// Tablespaces gives the names of the tablespaces by OID.
func (db *Database) Tablespaces() (map[uint32]string, error) {
	c, err := db.open()
	if err != nil {
		return nil, err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.tablespaces == nil {
		c.tablespaces, err = db.names(c, "pg_tablespace", "spcname")
	}
	return c.tablespaces, err
}
