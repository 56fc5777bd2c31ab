package datadir

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/pghaul/pghaul/internal/datum"
	"github.com/pghaul/pghaul/internal/heap"
	"github.com/pghaul/pghaul/planner"
)

// catalogNumbers are the catalogs that are read, by their OID; pg_attribute and pg_database are known by release.
var catalogNumbers = map[string]uint32{
	"pg_class": classCatalog, "pg_type": typeCatalog, "pg_proc": procedureCatalog, "pg_tablespace": tablespaceCatalog,
	"pg_authid": 1260, "pg_namespace": 2615, "pg_enum": 3501, "pg_range": 3541, "pg_am": 2601, "pg_inherits": 2611, "pg_index": 2610,
	"pg_depend": 2608, "pg_ts_config": 3602, "pg_ts_dict": 3600,
}

// lookup finds the rows of a catalog by an OID in one column.
type lookup struct {
	catalog *catalog
	column  int
	blocks  blockIndex
}

func (l *lookup) find(key uint32, visit func(r record) error) error {
	return l.catalog.find(l.blocks, l.column, key, visit)
}

// catalogs is what has been read of a database's catalogs. The mutex guards all of it.
type catalogs struct {
	mutex  sync.Mutex
	opened bool
	err    error
	tx     heap.Transactions

	local, global relationMap
	layouts       map[uint32][]heap.Attribute // of the catalogs in catalogNumbers
	attributes    *lookup                     // pg_attribute by attrelid
	class         *lookup                     // pg_class by oid
	lookups       map[string]*lookup          // others, made when first needed, by catalog and column
	schemas       map[uint32]string
	methods       map[uint32]string // access methods
	tablespaces   map[uint32]string
	types         map[uint32]*datum.Type
	functions     map[uint32]string // names of output functions
	namesakes     map[namesake]int  // how many functions have a name; nil until needed
	at            columnPositions
}

// columnPositions are where columns are that are read often.
type columnPositions struct {
	attribute, class, typ []int
}

// open reads what everything else needs: the map of relations, and where in pg_attribute and pg_class the rows of each relation are.
func (db *Database) open() (*catalogs, error) {
	c := db.catalogs
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !c.opened {
		c.opened = true
		c.err = db.bootstrap(c)
	}
	return c, c.err
}

func (db *Database) bootstrap(c *catalogs) error {
	d := db.dir
	c.tx = d.Transactions()
	c.lookups, c.layouts = map[string]*lookup{}, map[uint32][]heap.Attribute{}
	c.types, c.functions = map[uint32]*datum.Type{}, map[uint32]string{}
	var err error
	if c.global, err = readRelationMap(filepath.Join(d.path, "global"), d.release); err != nil {
		return err
	}
	if c.local, err = readRelationMap(filepath.Join(d.path, db.directory(0)), d.release); err != nil {
		return err
	}
	if err := db.openAttributes(c); err != nil {
		return err
	}
	if err := db.borrowLayouts(c); err != nil {
		return err
	}
	class, err := db.catalog(c, "pg_class")
	if err != nil {
		return err
	}
	c.at.class = class.positions("oid", "relname", "relnamespace", "relfilenode", "reltablespace", "relpages", "reltuples", "relkind",
		"relpersistence", "reltoastrelid", "relam", "relispartition", "reltype", "relnatts", "relhassubclass")
	if c.class, err = newLookup(class, "oid"); err != nil {
		return err
	}
	if c.schemas, err = db.names(c, "pg_namespace", "nspname"); err != nil {
		return err
	}
	c.methods, err = db.names(c, "pg_am", "amname")
	return err
}

// openAttributes indexes pg_attribute, and takes the layouts of the other catalogs from it.
func (db *Database) openAttributes(c *catalogs) error {
	attribute := &catalog{
		name: "pg_attribute", path: filepath.Join(db.dir.path, db.Path(0, c.local[attributeCatalog])), control: &db.dir.control,
		tx: c.tx, attributes: db.dir.release.columns(db.dir.release.attribute),
	}
	c.at.attribute = attribute.positions("attrelid", "attname", "atttypid", "attlen", "attnum", "atttypmod", "attbyval", "attalign",
		"attstorage", "attcompression", "attnotnull", "atthasdef", "atthasmissing", "attidentity", "attgenerated", "attisdropped",
		"attcollation", "attmissingval", "attislocal")
	wanted := map[uint32]bool{}
	for _, oid := range catalogNumbers {
		wanted[oid] = true
	}
	blocks, err := attribute.index(c.at.attribute[attRelation], func(r record) {
		relation, number := r.oid(c.at.attribute[attRelation]), int(r.int2(c.at.attribute[attNumber]))
		if !wanted[relation] || number < 1 || number > maximumColumns {
			return
		}
		layout := c.layouts[relation]
		for len(layout) < number {
			layout = append(layout, heap.Attribute{})
		}
		layout[number-1] = c.attribute(r)
		c.layouts[relation] = layout
	})
	c.attributes = &lookup{catalog: attribute, column: c.at.attribute[attRelation], blocks: blocks}
	return err
}

// borrowLayouts takes the layouts of catalogs whose own rows in pg_attribute are damaged from other databases, where they are the same.
func (db *Database) borrowLayouts(c *catalogs) error {
	incomplete := func() bool {
		for _, oid := range catalogNumbers {
			if !completeLayout(c.layouts[oid]) {
				return true
			}
		}
		return false
	}
	if !incomplete() {
		return nil
	}
	others, err := db.dir.Databases()
	if err != nil {
		return err
	}
	for i := range others {
		other := &catalogs{tx: c.tx, layouts: map[uint32][]heap.Attribute{}}
		other.local, err = readRelationMap(filepath.Join(db.dir.path, others[i].directory(0)), db.dir.release)
		if err != nil || others[i].OID == db.OID || others[i].openAttributes(other) != nil {
			continue // what cannot be read is no help, and no harm
		}
		for _, oid := range catalogNumbers {
			if own := c.layouts[oid]; len(own) < len(other.layouts[oid]) || !completeLayout(own) {
				c.layouts[oid] = other.layouts[oid]
			}
		}
		if !incomplete() {
			return nil
		}
	}
	return nil
}

func completeLayout(layout []heap.Attribute) bool {
	return len(layout) > 0 && !slices.ContainsFunc(layout, func(a heap.Attribute) bool { return a.Align == 0 })
}

// Columns of pg_attribute, as positions in columnPositions.attribute.
const (
	attRelation = iota
	attName
	attType
	attLength
	attNumber
	attTypmod
	attByVal
	attAlign
	attStorage
	attCompression
	attNotNull
	attHasDefault
	attHasMissing
	attIdentity
	attGenerated
	attDropped
	attCollation
	attMissing
	attLocal
)

const maximumColumns = 1600 // MaxHeapAttributeNumber

// attribute turns a row of pg_attribute into what the walk through a tuple needs, but for the missing value.
func (c *catalogs) attribute(r record) heap.Attribute {
	at := c.at.attribute
	return heap.Attribute{
		Name: r.name(at[attName]), Len: r.int2(at[attLength]), Align: r.byte(at[attAlign]), ByVal: r.bool(at[attByVal]),
		Dropped: r.bool(at[attDropped]),
	}
}

// catalog makes a reader of one of the catalogs in catalogNumbers.
func (db *Database) catalog(c *catalogs, name string) (*catalog, error) {
	oid := catalogNumbers[name]
	result := &catalog{name: name, control: &db.dir.control, tx: c.tx, attributes: c.layouts[oid]}
	if !completeLayout(result.attributes) {
		return nil, db.lost("columns of "+name+" are missing from pg_attribute", c.attributes.catalog)
	}
	switch {
	case c.local[oid] != 0:
		result.path = db.Path(0, c.local[oid])
	case c.global[oid] != 0:
		result.path = db.Path(globalTablespace, c.global[oid])
	default:
		at := c.at.class
		err := c.class.find(oid, func(r record) error {
			result.path = db.Path(r.oid(at[classTablespace]), r.oid(at[classFile]))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if result.path == "" {
		result.path = db.Path(0, oid) // its row is damaged; so initdb names the file, and only VACUUM FULL gives it another name
	}
	result.path = filepath.Join(db.dir.path, result.path)
	return result, nil
}

// Columns of pg_class, as positions in columnPositions.class.
const (
	classOID = iota
	className
	classSchema
	classFile
	classTablespace
	classPages
	classRows
	classKind
	classPersistence
	classToast
	classMethod
	classIsPartition
	classType
	classColumns
	classHasChildren
)

// lost is the error of a catalog that does not have what every database has.
func (db *Database) lost(what string, in *catalog) error {
	return &planner.Error{
		Message: fmt.Sprintf("cannot read the catalogs of database %q", db.Name), Detail: sentence(joined(what, in.damageNote())),
		Hint: "Its tables can still be read one by one as lone files, with their columns given by hand.",
	}
}

func joined(a, b string) string {
	if b == "" {
		return a
	}
	return a + "; " + b
}

func newLookup(c *catalog, column string) (*lookup, error) {
	at := c.positions(column)[0]
	blocks, err := c.index(at, nil)
	return &lookup{catalog: c, column: at, blocks: blocks}, err
}

// by gives the lookup of a catalog by one of its columns. The caller holds the mutex.
func (db *Database) by(c *catalogs, name, column string) (*lookup, error) {
	key := name + "." + column
	if l := c.lookups[key]; l != nil {
		return l, nil
	}
	reader, err := db.catalog(c, name)
	if err != nil {
		return nil, err
	}
	l, err := newLookup(reader, column)
	if err != nil {
		return nil, err
	}
	c.lookups[key] = l
	return l, nil
}

// names reads a whole small catalog: OID and name.
func (db *Database) names(c *catalogs, name, column string) (map[uint32]string, error) {
	reader, err := db.catalog(c, name)
	if err != nil {
		return nil, err
	}
	at := reader.positions("oid", column)
	list := map[uint32]string{}
	err = reader.scan(func(r record) error {
		list[r.oid(at[0])] = r.name(at[1])
		return nil
	})
	return list, err
}
