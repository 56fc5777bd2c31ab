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
	tell  func(Refusal)
	rows  int64     // in the buffer
	heard []Refusal // of the flush that is going on
}

// OpenWriter plans a Writer as OpenLoad plans a load, for rows that have values for the given columns; nil means all that can be written.
func OpenWriter(ctx context.Context, r LoadRequest) (*Writer, error) {
	g, w := &given{names: r.Wish.Columns}, &Writer{}
	tell := r.OnRefused
	if tell != nil {
		r.OnRefused = func(f Refusal) { w.heard = append(w.heard, f) }
	}
	r.Open = func(context.Context, []string, bool) (rowfile.Rows, []NewColumn, error) { return g, nil, nil }
	m, err := OpenLoad(ctx, r)
	if err != nil {
		return nil, err
	}
	w.move, w.run, w.table, w.given, w.tell = m, m.newRun(), m.tables[0], g, tell
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
	kept := w.work != nil
	err := w.begin(ctx)
	if err != nil && kept && connectionLost(err) { // The server was restarted since the last flush: nothing is lost by that.
		w.disconnect(true)
		err = w.begin(ctx)
	}
	n := int64(0)
	if err == nil {
		n, err = w.transaction(ctx)
	}
	if err != nil {
		w.disconnect(true)
		w.heard = nil
		return 0, err
	}
	for _, f := range w.heard {
		w.tell(f)
	}
	w.heard = nil
	return n, nil
}

// begin begins a transaction, over a new connection where there is none.
func (w *Writer) begin(ctx context.Context) error {
	if w.work == nil {
		ws, err := w.run.workers(ctx, w.table, 1)
		if err != nil {
			return err
		}
		w.work = ws[0]
	}
	return w.run.begin(ctx, w.table, w.work)
}

func (w *Writer) disconnect(failed bool) {
	if w.work != nil {
		w.run.dismiss(w.table, []*worker{w.work}, failed)
		w.work = nil
	}
}

// transaction is what follows its begin.
func (w *Writer) transaction(ctx context.Context) (int64, error) {
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
	w.disconnect(false)
	w.move.Close()
}
