package move

import (
	"context"

	"github.com/pghaul/pghaul/internal/rowfile"
	"github.com/pghaul/pghaul/planner"
)

// Writer loads the rows that a program hands over, a flush at a time, over one connection. It is for one goroutine.
type Writer struct {
	move  *Move
	run   *run
	table *table
	given *given
	work  *worker
	made  *pieceMaker
	rows  int64 // in the buffer
}

// OpenWriter plans a Writer as OpenLoad plans a load, for rows that have values for the given columns; nil means all that can be written.
func OpenWriter(ctx context.Context, r LoadRequest) (*Writer, error) {
	g := &given{names: r.Wish.Columns}
	r.Open = func(context.Context, []string, bool) (rowfile.Rows, []NewColumn, error) { return g, nil, nil }
	m, err := OpenLoad(ctx, r)
	if err != nil {
		return nil, err
	}
	w := &Writer{move: m, run: m.newRun(), table: m.tables[0], given: g}
	w.table.load.refusals = newRefusals(w.table.load)
	w.made = w.table.load.maker()
	return w, nil
}

// Add adds a row to the buffer. fill adds its values. It returns how many bytes are in the buffer.
func (w *Writer) Add(fill func(*RowBuilder)) (int, error) {
	_, err := w.given.builder.take(func(b *RowBuilder) (bool, error) {
		fill(b)
		return true, nil
	})
	if err == nil {
		w.rows++
	}
	return len(w.given.builder.data), err
}

// Rows is the number of rows in the buffer.
func (w *Writer) Rows() int64 { return w.rows }

// Flush loads the buffered rows in one transaction and returns how many the target took. After an error the rows are still in the buffer, unless
// Discard drops them: none of them is in the target.
func (w *Writer) Flush(ctx context.Context) (int64, error) {
	if w.rows == 0 {
		return 0, nil
	}
	n, err := w.flush(ctx)
	if err != nil {
		return 0, w.run.explain(w.table, err)
	}
	w.Discard()
	return n, nil
}

func (w *Writer) flush(ctx context.Context) (int64, error) {
	if w.work == nil {
		ws, err := w.run.workers(ctx, w.table, 1)
		if err != nil {
			return 0, err
		}
		w.work = ws[0]
	}
	n, err := w.transaction(ctx)
	if err != nil {
		w.run.dismiss(w.table, []*worker{w.work}, true)
		w.work = nil
	}
	return n, err
}

func (w *Writer) transaction(ctx context.Context) (int64, error) {
	if err := w.run.begin(ctx, w.table, w.work); err != nil {
		return 0, err
	}
	block := &rowfile.Block{Data: w.given.builder.data, Count: w.rows}
	p := w.made.make(block)
	if p.err != nil {
		return 0, p.err
	}
	w.table.load.read.Add(p.read)
	n, err := newLoader(w.work).takeOrFail(ctx, &loadBatch{pieces: []*piece{p}})
	if err != nil {
		return 0, err
	}
	return n, commit(ctx, w.table, w.work.dst)
}

// Discard empties the buffer.
func (w *Writer) Discard() { w.given.builder.data, w.rows = w.given.builder.data[:0], 0 }

// Plan is the plan by which rows are written.
func (w *Writer) Plan() *planner.Plan { return w.table.plan }

// Report tells what the Writer has done.
func (w *Writer) Report() *LoadReport { return w.table.load.report() }

// Close closes the connection. Rows in the buffer are dropped.
func (w *Writer) Close() {
	if w.work != nil {
		w.run.dismiss(w.table, []*worker{w.work}, false)
	}
	w.move.Close()
}
