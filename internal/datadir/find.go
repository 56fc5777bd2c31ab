package datadir

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pghaul/pghaul/planner"
)

// Find finds a table by a name whose schema may be empty: then it is the one in public, or else the only one of that name outside of the
// server's own schemas. The table is described.
func (db *Database) Find(schema, name string) (*Table, error) {
	if schema != "" {
		return db.Table(schema, name)
	}
	list, err := db.tables(func(t *Table) bool {
		return t.Name == name && (t.Kind == 'r' || t.Kind == 'm' || t.Kind == 'p') && !t.System()
	})
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range list {
		if list[i].Schema == "public" || len(list) == 1 {
			return &list[i], db.Describe(&list[i])
		}
		names = append(names, list[i].Schema+"."+name)
	}
	if len(list) == 0 {
		return nil, db.noTable("public", name)
	}
	return nil, &planner.Error{
		Kind: planner.Usage, Message: fmt.Sprintf("table name %s means several tables of database %q", name, db.Name),
		Hint: "Name the schema: " + strings.Join(names, ", ") + ".",
	}
}

// Sizes returns the bytes of a table's main fork and of its TOAST table, without its index. What is missing counts as nothing.
func (db *Database) Sizes(t *Table) (main, toast int64) {
	size := func(tablespace, file uint32) int64 {
		r, err := openRelation(filepath.Join(db.dir.path, db.Path(tablespace, file)), &db.dir.control, 0)
		if err != nil {
			return 0
		}
		defer r.Close()
		return int64(r.Blocks()) * int64(db.dir.control.BlockSize)
	}
	if t.File != 0 {
		main = size(t.Tablespace, t.File)
	}
	if t.Toast != nil {
		toast = size(t.Toast.Tablespace, t.Toast.File)
	}
	return main, toast
}

// Choose finds a database by its name. Without a name it is the only one besides those that initdb makes, and postgres where there is none.
func (d *Directory) Choose(name string) (*Database, error) {
	if name != "" {
		return d.Database(name)
	}
	all, err := d.Databases()
	if err != nil {
		return nil, err
	}
	var own, names []string
	for i := range all {
		if all[i].Template {
			continue
		}
		names = append(names, all[i].Name)
		if all[i].Name != "postgres" {
			own = append(own, all[i].Name)
		}
	}
	switch {
	case len(own) == 1:
		return d.Database(own[0])
	case len(names) == 1:
		return d.Database(names[0])
	}
	return nil, &planner.Error{Kind: planner.Usage, Message: "no database of " + d.path + " is named",
		Detail: "It has: " + strings.Join(names, ", ") + ".", Hint: "Add ?dbname=NAME to it."}
}

// ToastTable is the TOAST table of a described table as a table of its own, nil where it has none.
func (db *Database) ToastTable(t *Table) *Table {
	if t.Toast == nil {
		return nil
	}
	toast := &Table{
		Schema: "pg_toast", OID: t.Toast.OID, File: t.Toast.File, Tablespace: t.Toast.Tablespace, Kind: 't', Persistence: t.Persistence,
		AccessMethod: "heap", Rows: -1, Described: true, Attributes: chunkColumns, path: t.Toast.path,
	}
	for i, c := range chunkColumns {
		toast.Columns = append(toast.Columns, Column{Name: c.Name, Number: i + 1, Type: chunkTypes[i], Typmod: -1})
	}
	return toast
}

// Blocks is the number of blocks of a table's main fork now.
func (db *Database) Blocks(t *Table) (uint32, error) {
	r, err := db.File(t)
	if err != nil {
		return 0, err
	}
	return r.Blocks(), r.Close()
}
