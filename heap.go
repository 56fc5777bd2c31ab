package pghaul

import (
	"context"
	"runtime"
	"slices"

	"github.com/pghaul/pghaul/internal/datadir"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// HeapDatabase is a database in a data directory.
type HeapDatabase struct {
	Name   string `json:"name"`
	OID    uint32 `json:"oid"`
	Tables int    `json:"tables"` // of users; partitions are counted, system catalogs are not
	Bytes  int64  `json:"bytes"`  // of their files, TOAST included, indexes not

	// Problem says why not all of it could be read; the numbers are then of the part that could. Empty when there was none.
	Problem string `json:"problem,omitempty"`
}

// HeapTable is a table in a data directory.
type HeapTable struct {
	Schema     string `json:"schema"`
	Name       string `json:"name"`
	Kind       string `json:"kind"` // table, materialized view or partitioned table
	File       string `json:"file"` // first segment, below the directory; empty for a partitioned table
	Bytes      int64  `json:"bytes"`
	ToastBytes int64  `json:"toast_bytes"`
	// Rows is an estimate that the server left in its catalogs, -1 where it left none; with HeapListOptions.Count it is exact.
	Rows int64 `json:"rows"`
	// Damage counts what could not be read: blocks and rows when the rows were counted, and a table that cannot be opened at all.
	Damage int64 `json:"damage"`
}

// HeapListOptions says what ListHeapTables lists. Nil means all defaults.
type HeapListOptions struct {
	// Count counts the rows, which reads every table. Defaults to false.
	Count bool

	// System lists system catalogs too. Defaults to false.
	System bool

	// OnDamage is told of everything that could not be read. Defaults to nobody.
	OnDamage func(HeapDamage)
}

// ListHeap lists the databases of the data directory dir. It needs no server and writes nothing. A database whose catalogs cannot be read
// is listed with its Problem.
func ListHeap(dir string) ([]HeapDatabase, error) {
	d, err := openHeap(dir)
	if err != nil {
		return nil, err
	}
	all, err := d.Databases()
	if err != nil {
		return nil, err
	}
	list := make([]HeapDatabase, 0, len(all))
	for i := range all {
		h := HeapDatabase{Name: all[i].Name, OID: all[i].OID}
		if err := h.sum(&all[i]); err != nil {
			h.Problem = err.Error()
		}
		list = append(list, h)
	}
	return list, nil
}

// sum counts the tables and their bytes. The error is the last of those that kept it from seeing all.
func (h *HeapDatabase) sum(db *datadir.Database) error {
	tables, problem := db.Tables()
	for i := range tables {
		if tables[i].System() {
			continue
		}
		h.Tables++
		main, toast, err := heapSizes(db, &tables[i])
		if err != nil {
			problem = err
		}
		h.Bytes += main + toast
	}
	return problem
}

// ListHeapTables lists the tables of one database of the data directory dir; an empty name means the only one that is not template or
// postgres.
func ListHeapTables(ctx context.Context, dir, database string, o *HeapListOptions) ([]HeapTable, error) {
	if o == nil {
		o = &HeapListOptions{}
	}
	db, err := heapDatabase(dir, database)
	if err != nil {
		return nil, err
	}
	tables, err := db.Tables()
	if err != nil {
		return nil, err
	}
	list := []HeapTable{}
	for i := range tables {
		t := &tables[i]
		if t.System() && !o.System {
			continue
		}
		h := HeapTable{Schema: t.Schema, Name: t.Name, Kind: kindWords[t.Kind], Rows: int64(t.Rows)}
		if t.File != 0 {
			h.File = db.Path(t.Tablespace, t.File)
		}
		h.Bytes, h.ToastBytes, err = heapSizes(db, t)
		if err == nil && o.Count && t.Kind != 'p' {
			err = o.count(ctx, db, t, &h)
		}
		if ctx.Err() != nil {
			return list, context.Cause(ctx)
		}
		if err != nil {
			h.Rows = -1
			o.damaged(t, &h, 0, 0, err)
		}
		list = append(list, h)
	}
	return list, nil
}

func (o *HeapListOptions) damaged(t *datadir.Table, h *HeapTable, block uint32, line int, err error) {
	h.Damage++
	if o.OnDamage != nil {
		o.OnDamage(HeapDamage{Table: heapName(t), Block: block, Line: line, Reason: err.Error()})
	}
}

var kindWords = map[byte]string{'r': "table", 'm': "materialized view", 'p': "partitioned table"}

// heapSizes is also right about the table itself when it returns an error.
func heapSizes(db *datadir.Database, t *datadir.Table) (main, toast int64, err error) {
	err = db.Describe(t)
	main, toast = db.Sizes(t)
	return main, toast, err
}

func (o *HeapListOptions) count(ctx context.Context, db *datadir.Database, t *datadir.Table, h *HeapTable) error {
	h.Rows = 0
	scan := &datadir.ScanOptions{Damaged: func(block uint32, line int, err error) { o.damaged(t, h, block, line, err) }}
	return db.Scan(ctx, t, scan, func(datadir.Row) error {
		h.Rows++
		return nil
	})
}

// openHeap opens a data directory, which may be written as pgdata:DIR.
func openHeap(dir string) (*datadir.Directory, error) {
	path, _ := heapPath(dir, "")
	return datadir.Open(path)
}

// heapPath parts pgdata:DIR?dbname=NAME, or DIR?dbname=NAME. A database that is named apart counts.
func heapPath(dir, database string) (path, name string) {
	path, name, ok, err := datadir.ParseSource(dir)
	if !ok || err != nil {
		path, name, ok, err = datadir.ParseSource(datadir.Scheme + dir)
	}
	if !ok || err != nil {
		path, name = dir, ""
	}
	if database != "" {
		name = database
	}
	return path, name
}

func heapDatabase(dir, database string) (*datadir.Database, error) {
	path, name := heapPath(dir, database)
	d, err := datadir.Open(path)
	if err != nil {
		return nil, err
	}
	return d.Choose(name)
}

// openTables opens tables of a directory, or with column types a lone file, and tells what a reader should know of it.
func openTables(dir string, names []string, database, columnTypes, toast string) (*datadir.Database, []*datadir.Table, []string, error) {
	if columnTypes != "" {
		if len(names) > 0 {
			return nil, nil, nil, &planner.Error{Kind: planner.Usage, Message: "column types are for a lone file, and a table is named too",
				Hint: "Leave one of the two out."}
		}
		l, err := datadir.OpenLone(dir, columnTypes, toast)
		if err != nil {
			return nil, nil, nil, err
		}
		return l.Database, []*datadir.Table{l.Table}, l.Notes, nil
	}
	db, err := heapDatabase(dir, database)
	if err != nil {
		return nil, nil, nil, err
	}
	tables, err := heapTables(db, names)
	return db, tables, heapNotes(db.Directory()), err
}

// heapTables finds tables by names as typed, none meaning all that have rows of their own. A partitioned table stands for its partitions.
func heapTables(db *datadir.Database, names []string) ([]*datadir.Table, error) {
	var found []*datadir.Table
	if len(names) == 0 {
		all, err := db.Tables()
		if err != nil {
			return nil, err
		}
		for i := range all {
			if t := &all[i]; t.Kind != 'p' && t.Persistence != 't' && t.AccessMethod == "heap" {
				found = append(found, t)
			}
		}
		return found, nil
	}
	for _, typed := range names {
		t, err := heapTable(db, typed)
		if err != nil {
			return nil, err
		}
		leaves, err := heapLeaves(db, t)
		if err != nil {
			return nil, err
		}
		found = append(found, leaves...)
	}
	return found, nil
}

// heapTable finds a table by its name as typed.
func heapTable(db *datadir.Database, typed string) (*datadir.Table, error) {
	schema, name, err := sqltext.ParseQualified(typed)
	if err != nil {
		return nil, &planner.Error{Kind: planner.Usage, Message: "cannot read the table name " + typed, Cause: err}
	}
	return db.Find(schema, name)
}

// heapLeaves are the tables that hold a table's rows: the partitions of a partitioned one, else itself.
func heapLeaves(db *datadir.Database, t *datadir.Table) ([]*datadir.Table, error) {
	if t.Kind != 'p' {
		return []*datadir.Table{t}, nil
	}
	parts, err := db.Partitions(t)
	var leaves []*datadir.Table
	for i := range parts {
		below, err := heapLeaves(db, &parts[i])
		if err != nil {
			return nil, err
		}
		leaves = append(leaves, below...)
	}
	return leaves, err
}

// heapNotes tell what a reader of the directory should know before its rows.
func heapNotes(d *datadir.Directory) []string {
	var notes []string
	state := d.Control().State
	if _, running := d.Running(); running {
		notes = append(notes, "a server runs on "+d.Path()+": pages that it has not yet written are missing; run CHECKPOINT before")
	} else if !state.Clean() {
		notes = append(notes, "the server of "+d.Path()+" was not shut down cleanly ("+state.String()+
			"): what it wrote to WAL after its last checkpoint is not read, so the newest rows may be missing and deleted ones may be back")
	}
	return notes
}

// heapJobs is how many goroutines read where nothing else is said.
func heapJobs(asked int) int {
	if asked > 0 {
		return asked
	}
	return runtime.GOMAXPROCS(0)
}

// heapNumbers finds columns by name, in the order asked for.
func heapNumbers(t *datadir.Table, names []string) ([]int, error) {
	var numbers []int
	for _, name := range names {
		i := slices.IndexFunc(t.Columns, func(c datadir.Column) bool { return c.Name == name })
		if i < 0 {
			return nil, &planner.Error{Kind: planner.Usage, Message: "table " + sqltext.QuoteQualified(t.Schema, t.Name) + " has no column " + sqltext.QuoteIdent(name)}
		}
		numbers = append(numbers, t.Columns[i].Number)
	}
	return numbers, nil
}
