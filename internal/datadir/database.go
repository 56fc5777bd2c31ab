package datadir

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/heap"
	"github.com/pghaul/pghaul/planner"
)

// Catalogs whose number is needed before any catalog can be read (pg_class.dat and the headers in src/include/catalog).
const (
	attributeCatalog  = 1249
	typeCatalog       = 1247
	procedureCatalog  = 1255
	classCatalog      = 1259
	databaseCatalog   = 1262
	tablespaceCatalog = 1213
)

// Database is a database as pg_database describes it.
type Database struct {
	OID        uint32
	Name       string
	Encoding   int32  // as PG_UTF8 = 6 and its companions in pg_wchar.h
	Tablespace uint32 // where relations are that name none
	Template   bool
	Connect    bool // datallowconn

	dir      *Directory
	catalogs *catalogs
}

// Databases lists the databases in the order of their names, from pg_database's own file. Rows of pg_database that cannot be read
// are left out, unless none can.
func (d *Directory) Databases() ([]Database, error) {
	m, err := readRelationMap(filepath.Join(d.path, "global"), d.release)
	if err != nil {
		return nil, err
	}
	// The cluster's shared relations, as those of a database without number.
	shared := &Database{dir: d, Tablespace: globalTablespace}
	c := &catalog{
		name: "pg_database", path: filepath.Join(d.path, shared.Path(globalTablespace, m[databaseCatalog])),
		control: &d.control, tx: d.Transactions(), attributes: d.release.columns(d.release.database),
	}
	var list []Database
	at := c.positions("oid", "datname", "encoding", "dattablespace", "datistemplate", "datallowconn")
	err = c.scan(func(r record) error {
		list = append(list, Database{
			OID: r.oid(at[0]), Name: r.name(at[1]), Encoding: r.int4(at[2]), Tablespace: r.oid(at[3]),
			Template: r.bool(at[4]), Connect: r.bool(at[5]), dir: d, catalogs: &catalogs{},
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, &planner.Error{
			Message: "found no databases in " + d.path, Detail: sentence(c.damageNote()),
			Hint: "Restore " + c.path + " from a backup of the same cluster.",
		}
	}
	slices.SortFunc(list, func(a, b Database) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// Database finds a database by its name.
func (d *Directory) Database(name string) (*Database, error) {
	list, err := d.Databases()
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range list {
		if list[i].Name == name {
			return &list[i], nil
		}
		names = append(names, list[i].Name)
	}
	return nil, &planner.Error{
		Kind: planner.Usage, Message: fmt.Sprintf("there is no database %q in %s", name, d.path),
		Hint: "It has: " + strings.Join(names, ", ") + ".",
	}
}

// Directory is the data directory that the database is in.
func (db *Database) Directory() *Directory { return db.dir }

// Transactions is the database's reader of transaction states, one for all its tables.
func (db *Database) Transactions() (heap.Transactions, error) {
	c, err := db.open()
	if err != nil {
		return nil, err
	}
	return c.tx, nil
}
