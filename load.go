package pghaul

import (
	"context"
	"errors"
	"time"

	"github.com/pghaul/pghaul/internal/move"
	"github.com/pghaul/pghaul/internal/rowfile"
	"github.com/pghaul/pghaul/planner"
)

// RowSource yields rows of Go values. It has the methods of pgx's CopyFromSource.
type RowSource interface {
	// Next reports whether there is another row, and makes it the current one.
	Next() bool

	// Values returns the values of the current row, one for each column; nil is NULL.
	Values() ([]any, error)

	// Err returns why the rows ended too early, nil when they did not.
	Err() error
}

// TypedSource yields rows without boxing their values. A RowSource that has this method too is read by it.
type TypedSource interface {
	// NextRow gives the values of the next row to b, one call for each column in order, or returns false behind the last row.
	NextRow(b *RowBuilder) (bool, error)
}

// RowBuilder takes the values of one row, one call for each column in order: Int64, Text, Null, or Value for any other type.
type RowBuilder = move.RowBuilder

// LoadFiles loads files into a table of the server of the connection string target, and returns when the rows are committed. Files may be
// compressed, names may be patterns such as "2024-*.csv" or directories, and "-" is Input.Stdin. All files are written alike.
//
// A row that cannot be loaded ends the load, and nothing is kept; with LoadOptions.OnError it is set aside, counted, and written to
// LoadOptions.Reject. The report is not nil once rows could have moved.
func LoadFiles(ctx context.Context, target, into string, files []string, opts *LoadOptions) (*LoadReport, error) {
	l, err := openFiles(ctx, target, into, files, opts)
	if err != nil {
		return nil, err
	}
	return l.run(ctx)
}

// ExplainLoadFiles returns the plan that LoadFiles would carry out. It looks at the files and the server, and changes nothing.
func ExplainLoadFiles(ctx context.Context, target, into string, files []string, opts *LoadOptions) (*planner.Plan, error) {
	l, err := openFiles(ctx, target, into, files, opts)
	if err != nil {
		return nil, err
	}
	defer l.close()
	return l.move.Plans()[0], nil
}

// LoadQuery loads the rows of a SELECT, VALUES or TABLE statement on the server of the connection string source. The query's columns go to the
// target's columns of the same names unless LoadOptions.Columns says otherwise. Copy does the same faster, without setting rows aside.
func LoadQuery(ctx context.Context, source, query, target, into string, opts *LoadOptions) (*LoadReport, error) {
	l, rows, err := openQuery(ctx, source, query, target, into, opts)
	if err != nil {
		return nil, err
	}
	report, err := l.run(ctx)
	return report, errors.Join(err, rows.Close())
}

// ExplainLoadQuery returns the plan that LoadQuery would carry out.
func ExplainLoadQuery(ctx context.Context, source, query, target, into string, opts *LoadOptions) (*planner.Plan, error) {
	l, rows, err := openQuery(ctx, source, query, target, into, opts)
	if err != nil {
		return nil, err
	}
	defer l.close()
	return l.move.Plans()[0], rows.Close()
}

func openQuery(ctx context.Context, source, query, target, into string, opts *LoadOptions) (*loading, *move.QueryRows, error) {
	with := LoadOptions{}
	if opts != nil {
		with = *opts
	}
	rows, err := move.OpenQuery(ctx, source, query)
	if err != nil {
		return nil, nil, err
	}
	with.Input = Input{Format: string(rowfile.Text), Header: "no", Stdin: rows}
	if with.Columns == nil {
		with.Columns = rows.Names()
	}
	l, err := openFiles(ctx, target, into, []string{"-"}, &with)
	if err != nil {
		return nil, nil, errors.Join(err, rows.Close())
	}
	return l, rows, nil
}

// Load loads the rows of a program into a table of the server of the connection string target. LoadOptions.Columns names the columns that the
// values go to, in their order; it is required.
func Load(ctx context.Context, target, into string, rows RowSource, opts *LoadOptions) (*LoadReport, error) {
	if opts == nil {
		opts = &LoadOptions{}
	}
	typed, _ := rows.(TypedSource)
	var c complaints
	if len(opts.Columns) == 0 {
		c.add("the columns of the rows are not named", "", "Name them in LoadOptions.Columns, in the order of the values.")
	}
	l, err := open(ctx, target, into, opts, &c, move.GivenRows(opts.Columns, rows, typed))
	if err != nil {
		return nil, err
	}
	return l.run(ctx)
}

// loading is a load that is planned.
type loading struct {
	move  *move.Move
	watch *watch
}

func openFiles(ctx context.Context, target, into string, files []string, opts *LoadOptions) (*loading, error) {
	if opts == nil {
		opts = &LoadOptions{}
	}
	var c complaints
	layout := opts.Input.layout(&c)
	if len(files) == 0 {
		c.add("no file is named", "", "Name the files to load, or - for standard input.")
	}
	return open(ctx, target, into, opts, &c, func(ctx context.Context, columns []string, create bool) (rowfile.Rows, []move.NewColumn, error) {
		layout.Columns = columns
		rows, err := rowfile.Open(ctx, files, opts.Input.Stdin, layout)
		if err != nil {
			return nil, nil, err
		}
		if !create {
			return rows, nil, nil
		}
		made, err := inferred(ctx, rows)
		if err != nil {
			return nil, nil, errors.Join(err, rows.Close())
		}
		return rows, made, nil
	})
}

// inferRows is how many rows the types of a new table are inferred from.
const inferRows = 10000

// inferred are the columns of a table for the rows.
func inferred(ctx context.Context, rows *rowfile.Input) ([]move.NewColumn, error) {
	found, err := rows.Infer(ctx, inferRows)
	if err != nil {
		return nil, err
	}
	columns := make([]move.NewColumn, len(found))
	for i, c := range found {
		columns[i] = move.NewColumn{Name: c.Name, Type: c.Type}
	}
	return columns, nil
}

// opener opens the rows of a load, as move.LoadRequest has it.
type opener = func(ctx context.Context, columns []string, create bool) (rowfile.Rows, []move.NewColumn, error)

func open(ctx context.Context, target, into string, opts *LoadOptions, c *complaints, rows opener) (*loading, error) {
	request := opts.request(target, into, c)
	if err := c.err(); err != nil {
		return nil, err
	}
	request.Open = rows
	w := newWatch(opts.OnProgress, opts.ProgressInterval)
	request.OnWait = w.waits
	m, err := move.OpenLoad(ctx, request)
	if err != nil {
		w.stop()
		return nil, err
	}
	return &loading{move: m, watch: w}, nil
}

func (l *loading) run(ctx context.Context) (*LoadReport, error) {
	defer l.close()
	l.watch.running(l.move.Progress)
	done, err := l.move.Run(ctx)
	report := newLoadReport(done)
	l.watch.finished(report.Rows)
	return report, err
}

func (l *loading) close() {
	l.watch.stop()
	l.move.Close()
}

// LoadReport is what a load did.
type LoadReport struct {
	// Plan is what was carried out; its Actual field holds what it took.
	Plan *planner.Plan

	// Rows is the number of rows that the target took in this call, by its own count.
	Rows int64

	// Bytes is the payload sent, in bytes.
	Bytes int64

	// Read is the number of rows of the input, Refused that of those that were set aside, and Duplicates that of those that gave way to rows
	// with the same key.
	Read, Refused, Duplicates int64

	// Earlier is the number of rows that an interrupted call had loaded before (LoadOptions.CommitEvery).
	Earlier int64

	// Finished tells that the same files had been loaded to their ends before, so that nothing was done.
	Finished bool

	// Reasons count the refused rows by SQLSTATE, the most frequent first.
	Reasons []RefusalCount

	// Reject and ReasonsFile are the files that refused rows were written to, empty for none.
	Reject, ReasonsFile string

	// Duration is the time from the first statement that could change something to the last commit.
	Duration time.Duration

	// Kept says, when the load failed, what of it stands in the target. Empty otherwise.
	Kept string

	// Settled is as in Report.
	Settled []string
}

// RefusalCount is how often rows were refused for one reason.
type RefusalCount = move.RefusalCount

func newLoadReport(done *move.Report) *LoadReport {
	t := &done.Tables[0]
	r := &LoadReport{Plan: t.Plan, Rows: t.Rows, Bytes: t.Bytes, Kept: t.Kept, Duration: done.Duration, Settled: done.Settled}
	if l := t.Load; l != nil {
		r.Read, r.Refused, r.Duplicates, r.Earlier, r.Finished = l.Read, l.Refused, l.Duplicates, l.Earlier, l.Finished
		r.Reasons, r.Reject, r.ReasonsFile = l.Reasons, l.Reject, l.ReasonsFile
	}
	return r
}
