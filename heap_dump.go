package pghaul

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/pghaul/pghaul/internal/datadir"
)

// HeapFormat is how DumpHeap prints rows.
type HeapFormat string

// The formats. HeapNDJSON has one JSON object a line: numbers, booleans and json values as such, all others as the text that the server
// would print.
const (
	HeapText   HeapFormat = "text" // COPY's text format
	HeapCSV    HeapFormat = "csv"  // COPY's CSV format
	HeapNDJSON HeapFormat = "ndjson"
)

// HeapDumpOptions says what DumpHeap prints. Nil means all defaults.
type HeapDumpOptions struct {
	// Database is the database that the table is in. Defaults to what the directory's ?dbname= says, else to the only one that is neither a
	// template nor postgres.
	Database string

	// ColumnTypes describes the columns of a lone file, such as "id int8, v varchar(10)"; then the first argument of DumpHeap is a
	// relation's file and its table is empty. Defaults to none: the catalogs tell.
	ColumnTypes string

	// Toast is the file of the TOAST table of a lone file. Defaults to none: rows with values in it are left out as damaged.
	Toast string

	// Format defaults to HeapText.
	Format HeapFormat

	// Header begins with a line of the columns' names; not for HeapNDJSON, where every line has them. Defaults to false.
	Header bool

	// Columns are the columns to print, in order. Defaults to all.
	Columns []string

	// Deleted prints deleted and rolled back rows too, while they are still there. Every row then has one more column in the end,
	// pghaul_state: live, deleted or aborted. Values that a deleted row had in the TOAST table may be gone; such a row counts as damaged.
	// Defaults to false.
	Deleted bool

	// From and To are the first block and the one behind the last. They default to the whole table.
	From, To uint32

	// IgnoreChecksums reads pages whose checksum is wrong as they are. Defaults to false: such a page is left out.
	IgnoreChecksums bool

	// Jobs is how many goroutines read and print. Defaults to the number of processors.
	Jobs int

	// OnDamage is told of each block (line 0) and row that cannot be read and is left out, in the order of the blocks. Defaults to nobody.
	OnDamage func(HeapDamage)

	// OnNote is told before the first row what a reader should know, such as that the server was not shut down cleanly. Defaults to nobody.
	OnNote func(note string)
}

// HeapDamage is a place that could not be read, or that Check found wrong.
type HeapDamage struct {
	Table  string `json:"table"`
	Block  uint32 `json:"block"`
	Line   int    `json:"line"` // line pointer, counted from 1; 0 for the whole block
	Reason string `json:"reason"`
}

// HeapDump is what DumpHeap has done.
type HeapDump struct {
	Rows   int64 // printed
	Damage int64 // blocks and rows left out
	Zeros  int64 // blocks of zeros: empty, or what is left of lost ones
}

// DumpHeap prints the rows of a table of the data directory dir to w. The name is written as in SQL; a partitioned table stands for its partitions.
// It needs no server and writes nothing in the directory. What cannot be read is left out and counted, and never stops the rest; an error is
// only what kept it from reading at all.
//
// Rows come in the order of their blocks. A large text, bytea or json is handed on in parts; a value of another type is held in memory
// as a whole, and so is its text.
func DumpHeap(ctx context.Context, dir, table string, w io.Writer, o *HeapDumpOptions) (HeapDump, error) {
	if o == nil {
		o = &HeapDumpOptions{}
	}
	names := []string{table}
	if o.ColumnTypes != "" && table == "" {
		names = nil
	}
	db, tables, notes, err := openTables(dir, names, o.Database, o.ColumnTypes, o.Toast)
	if err != nil {
		return HeapDump{}, err
	}
	if o.OnNote != nil {
		for _, note := range notes {
			o.OnNote(note)
		}
	}
	columns, err := o.columns(db, table)
	if err != nil {
		return HeapDump{}, err
	}
	out := bufio.NewWriterSize(w, 256<<10)
	var done HeapDump
	first := true
	for _, t := range tables {
		if len(tables) > 1 { // A partition that is lost does not keep the others from being saved.
			if err := openable(db, t); err != nil {
				o.damaged(t, &done, 0, 0, err)
				continue
			}
		}
		if err := o.dump(ctx, db, t, columns, first, out, &done); err != nil {
			return done, errors.Join(err, out.Flush())
		}
		first = false
	}
	return done, out.Flush()
}

// columns are the names of those to print, nil for all of a table as they come. Partitions may have theirs in another order than the
// partitioned table, which counts.
func (o *HeapDumpOptions) columns(db *datadir.Database, table string) ([]string, error) {
	if o.Columns != nil || o.ColumnTypes != "" {
		return o.Columns, nil
	}
	t, err := heapTable(db, table)
	if err != nil || t.Kind != 'p' {
		return nil, err
	}
	if err := db.Describe(t); err != nil {
		return nil, err
	}
	names := []string{}
	for _, c := range t.Columns {
		if c.Generated != 'v' {
			names = append(names, c.Name)
		}
	}
	return names, nil
}

// openable tells why a table cannot be read at all.
func openable(db *datadir.Database, t *datadir.Table) error {
	if err := db.Describe(t); err != nil {
		return err
	}
	r, err := db.File(t)
	if err != nil {
		return err
	}
	return r.Close()
}

func (o *HeapDumpOptions) damaged(t *datadir.Table, done *HeapDump, block uint32, line int, err error) {
	done.Damage++
	if o.OnDamage != nil {
		o.OnDamage(HeapDamage{Table: heapName(t), Block: block, Line: line, Reason: err.Error()})
	}
}

// dump prints one table.
func (o *HeapDumpOptions) dump(ctx context.Context, db *datadir.Database, t *datadir.Table, columns []string, first bool, w io.Writer, done *HeapDump) error {
	if err := db.Describe(t); err != nil {
		return err
	}
	numbers, err := heapNumbers(t, columns)
	if err != nil {
		return err
	}
	if numbers == nil {
		numbers = storedNumbers(t)
	}
	printed, err := db.Printers(t, numbers...)
	if err != nil {
		return err
	}
	rows := newRowText(o.Format, printed.Columns(), o.Deleted)
	if err := printed.Close(); err != nil {
		return err
	}
	if o.Header && first {
		if _, err := w.Write(rows.header(nil)); err != nil {
			return err
		}
	}
	options := &datadir.DumpOptions{
		ScanOptions: datadir.ScanOptions{
			From: o.From, To: o.To, Deleted: o.Deleted, IgnoreChecksums: o.IgnoreChecksums, Zeros: func(uint32) { done.Zeros++ },
			Damaged: func(block uint32, line int, err error) { o.damaged(t, done, block, line, err) },
		},
		Numbers: numbers, Jobs: heapJobs(o.Jobs),
	}
	n, err := db.Dump(ctx, t, options, rows, w)
	done.Rows += n
	return err
}

// storedNumbers are the columns that lie on disk: a virtual generated one does not.
func storedNumbers(t *datadir.Table) []int {
	var numbers []int
	for _, c := range t.Columns {
		if c.Generated != 'v' {
			numbers = append(numbers, c.Number)
		}
	}
	return numbers
}
