package pghaul

import (
	"context"

	"github.com/pghaul/pghaul/internal/move"
	"github.com/pghaul/pghaul/planner"
)

// Copy copies tables from the server of the connection string source to that of target, and returns when the rows are
// committed and the indexes, constraints and sequences are in order. An empty source means what the PG* environment says, an
// empty target the source.
//
// The source may also be a data directory on which no server runs, pgdata:DIR?dbname=NAME: its rows are decoded from the files, a
// partitioned table as its leaves, and an empty target means what the PG* environment says. Where the server was not shut down, its
// write-ahead log is not replayed, which a note of the plan tells. Conditions, queries and comparisons by hash need a server and are
// refused. With CopyOptions.SkipDamaged what cannot be read is left out and counted.
//
// All that is wrong with the arguments is reported at once, before any server is asked. Then every table is planned before
// the first row is moved: what one plan refuses, for instance a target that holds rows, ends the call with nothing changed.
//
// When ctx ends, the work on both servers is cancelled and waited for; the error is then context.Canceled or
// context.DeadlineExceeded in its chain. One table's failure does not stop the others: the error joins those of all tables.
// The report is not nil once rows could have moved, also with an error: it tells for each table what was done and what
// stands in the target.
func Copy(ctx context.Context, source, target string, tables []Table, opts *CopyOptions) (*Report, error) {
	request, err := opts.request(source, target, tables)
	if err != nil {
		return nil, err
	}
	w := newWatch(opts.progress())
	defer w.stop()
	request.OnWait = w.waits
	m, err := move.Open(ctx, request)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	w.running(m.Progress)
	done, err := m.Run(ctx)
	report := newReport(done)
	w.finished(report.Rows())
	err = report.failures(err)
	return report, err
}

// Explain returns the plans that Copy would carry out with the same arguments, in the order of the tables, those that
// patterns found last. It connects to both servers and reads their catalogs, and changes nothing on either.
func Explain(ctx context.Context, source, target string, tables []Table, opts *CopyOptions) ([]*planner.Plan, error) {
	request, err := opts.request(source, target, tables)
	if err != nil {
		return nil, err
	}
	m, err := move.Open(ctx, request)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	return m.Plans(), nil
}
