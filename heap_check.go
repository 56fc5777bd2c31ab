package pghaul

import (
	"context"

	"github.com/pghaul/pghaul/internal/datadir"
)

// HeapCheckOptions says what CheckHeap looks at. Nil means all defaults.
type HeapCheckOptions struct {
	// Database is as in HeapDumpOptions.
	Database string

	// Tables are names as in SQL. Defaults to all tables of the database with its system catalogs.
	Tables []string

	// ColumnTypes and Toast are as in HeapDumpOptions: the argument of CheckHeap is then a lone file.
	ColumnTypes, Toast string

	// Jobs is how many goroutines read. Defaults to the number of processors.
	Jobs int

	// OnFault is told of everything that is wrong, in order. Defaults to nobody.
	OnFault func(HeapDamage)

	// OnNote is as in HeapDumpOptions.
	OnNote func(note string)
}

// HeapCheck is what CheckHeap has looked at.
type HeapCheck struct {
	Tables int   `json:"tables"`
	Blocks int64 `json:"blocks"`
	Zeros  int64 `json:"zero_blocks"` // of them all zeros: never used, or lost
	Rows   int64 `json:"rows"`        // visible ones
	Faults int64 `json:"faults"`
}

// CheckHeap looks for damage in the pages of tables in the data directory dir, and in their TOAST tables: checksums, page headers, line
// pointers, tuples, transactions, chunks of long values. It needs no server, and changes nothing. Damage is no error: see HeapCheck.Faults.
func CheckHeap(ctx context.Context, dir string, o *HeapCheckOptions) (HeapCheck, error) {
	if o == nil {
		o = &HeapCheckOptions{}
	}
	var done HeapCheck
	db, tables, notes, err := openTables(dir, o.Tables, o.Database, o.ColumnTypes, o.Toast)
	if err != nil {
		return done, err
	}
	if o.OnNote != nil {
		for _, note := range notes {
			o.OnNote(note)
		}
	}
	for _, t := range tables {
		if err := o.check(ctx, db, t, &done); err != nil {
			return done, err
		}
	}
	return done, nil
}

// check looks at one table and its TOAST table. A file that cannot be read at all is a fault like others.
func (o *HeapCheckOptions) check(ctx context.Context, db *datadir.Database, t *datadir.Table, done *HeapCheck) error {
	done.Tables++
	name := heapName(t)
	if err := o.pages(ctx, db, t, name, done); err != nil {
		return err
	}
	if toast := db.ToastTable(t); toast != nil {
		return o.pages(ctx, db, toast, "the TOAST table of "+name, done)
	}
	return nil
}

func (o *HeapCheckOptions) pages(ctx context.Context, db *datadir.Database, t *datadir.Table, name string, done *HeapCheck) error {
	fault := func(block uint32, line int, reason string) {
		if o.OnFault != nil {
			o.OnFault(HeapDamage{Table: name, Block: block, Line: line, Reason: reason})
		}
	}
	found, err := db.Check(ctx, t, &datadir.CheckOptions{Jobs: heapJobs(o.Jobs), Fault: fault})
	done.Blocks += found.Blocks
	done.Zeros += found.Zeros
	done.Faults += found.Faults
	if t.Kind != 't' {
		done.Rows += found.Rows
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	done.Faults++
	fault(0, 0, err.Error())
	return nil
}
