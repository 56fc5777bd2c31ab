package move

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pghaul/pghaul/internal/heap"
	"github.com/pghaul/pghaul/internal/rowfile"
	"github.com/pghaul/pghaul/planner"
)

// pageWriter makes groups of pieces into pages, one after the other. It is for one goroutine.
type pageWriter struct {
	*rowPages
	former *heap.Former
	seal   *heap.Rewriter
	main   pageRun
	long   pageRun // of the TOAST relation
}

func (w *rowPages) writer() *pageWriter {
	p := &pageWriter{rowPages: w}
	form := w.form
	if w.toast != nil {
		form.Value, form.Chunk = w.newValue, p.addChunk
	}
	rewrite := heap.Rewrite{Checksums: w.copy.to.checksums, ToastRelation: w.copy.to.toastOID}
	for i := range form.Columns {
		rewrite.Attrs = append(rewrite.Attrs, form.Columns[i].Attribute)
	}
	if w.table.plan.Pages.Logged {
		rewrite.Xid = w.copy.to.xid
	}
	p.former, p.seal = heap.NewFormer(form), heap.NewRewriter(rewrite, form.Size)
	p.main, p.long = pageRun{size: form.Size, reserve: w.reserve}, pageRun{size: form.Size}
	return p
}

// newValue numbers a value of the TOAST relation.
func (w *rowPages) newValue() (uint32, error) {
	n := w.value.Add(1)
	if n < firstValue {
		return 0, errors.New("the new table would have more long values than PostgreSQL can count")
	}
	return n, nil
}

// pageRun is a run of pages in memory.
type pageRun struct {
	size, reserve int
	pages         []byte
	packer        *heap.Packer // of the last page; nil before the first
}

// add puts a tuple into the last page, or into a new one.
func (r *pageRun) add(t heap.Tuple) error {
	if r.packer != nil {
		const aligned = 7
		if r.reserve == 0 || r.packer.Empty() || r.packer.Free()-(len(t)+aligned)&^aligned >= r.reserve {
			if r.packer.Add(t) {
				return nil
			}
		}
	}
	at := len(r.pages)
	r.pages = slices.Grow(r.pages, r.size)[:at+r.size]
	r.packer = heap.PackerOn(r.pages[at : at+r.size])
	if !r.packer.Add(t) {
		return fmt.Errorf("an empty page has no room for a tuple of %d bytes", len(t))
	}
	return nil
}

// count is the number of pages.
func (r *pageRun) count() int { return len(r.pages) / r.size }

// lines lists how many tuples each page has.
func (r *pageRun) lines() []uint16 {
	all := make([]uint16, r.count())
	for i := range all {
		all[i] = uint16(heap.Page(r.pages[i*r.size : (i+1)*r.size]).Lines())
	}
	return all
}

// reset forgets the pages.
func (r *pageRun) reset() { r.pages, r.packer = r.pages[:0], nil }

// run makes groups into pages until none is left.
func (w *pageWriter) run(ctx context.Context) error {
	for {
		pieces, turn, err := w.next(ctx)
		if err == nil && len(pieces) > 0 {
			err = w.group(ctx, pieces, turn)
		}
		for _, p := range pieces {
			p.release()
		}
		if err != nil {
			return err
		}
		if len(pieces) == 0 {
			return w.flushLong(ctx)
		}
	}
}

// group makes a group of pieces into pages and writes them.
func (w *pageWriter) group(ctx context.Context, pieces []*piece, turn int) error {
	rows := 0
	bad := make([][]badRow, len(pieces))
	for i, p := range pieces {
		if err := w.readable(ctx, p); err != nil {
			return err
		}
		formed, err := w.formPiece(p)
		if err != nil {
			return err
		}
		rows += formed
		bad[i] = p.bad
	}
	base, err := w.mainBlocks.take(turn, w.main.count())
	if err != nil {
		return err
	}
	if w.places != nil {
		w.places.add(base, w.main.lines(), pieces)
	}
	for i := range w.main.count() {
		if err := w.seal.SealPage(w.main.pages[i*w.main.size:(i+1)*w.main.size], base+uint32(i)); err != nil {
			return err
		}
	}
	if err := w.put(ctx, w.rowPages.main, &w.main, base); err != nil {
		return err
	}
	w.rows.Add(int64(rows))
	w.table.gauge.moved(int64(rows), 0)
	for i, p := range pieces {
		if err := w.load.refusals.take(p, bad[i]); err != nil {
			return err
		}
	}
	return nil
}

// readable has the server read the values of a piece that only it can read.
func (w *pageWriter) readable(ctx context.Context, p *piece) error {
	if p.large != nil {
		return &planner.Error{
			Message: "cannot load " + w.load.plan.Input + " into " + w.load.target,
			Detail:  fmt.Sprintf("%s has more than %d MB, and --method pages keeps whole rows in memory.", upperFirst(w.load.place(p, p.large.span)), rowfile.LargeRow>>20),
			Hint:    "Load without --method pages, which sends such rows piece by piece.",
		}
	}
	if p.rows == 0 || p.binary && (w.strict() || !w.given(p)) {
		return nil
	}
	return w.reader.read(ctx, p)
}

// given reports whether the binary values of a piece are those of the input, and not of an encoder.
func (w *rowPages) given(p *piece) bool {
	f := w.load.files[p.block.File].Format
	return f == rowfile.Binary || f == rowfile.Given
}

// strict reports whether makers refuse all that the server would.
func (w *rowPages) strict() bool {
	return !slices.ContainsFunc(w.typesFor, func(t *heap.Datatype) bool { return !t.Strict() })
}

// formPiece makes the rows of a piece into tuples, and returns how many there are. Rows that cannot be stored join those of the piece that were
// refused before, or end the load.
func (w *pageWriter) formPiece(p *piece) (formed int, err error) {
	var late []refusedRow
	data := p.data
	for at := 0; len(data) > 0; at++ {
		tuple, size, err := w.former.Row(data)
		var bad *heap.FieldError
		switch {
		case errors.As(err, &bad):
			late = append(late, refusedRow{at, w.refusedField(bad)})
		case err != nil:
			return 0, err
		default:
			if err := w.main.add(tuple); err != nil {
				return 0, err
			}
			formed++
		}
		data = data[size:]
	}
	p.refuseLate(w.load, late)
	if len(p.bad) > 0 && !w.load.setAside() {
		return 0, w.load.refusedRow(p, p.bad[0])
	}
	return formed, nil
}

// refuseLate adds rows of a piece's data to those that were refused, in the order of the block.
func (p *piece) refuseLate(l *load, late []refusedRow) {
	if len(late) == 0 {
		return
	}
	p.bad = p.badRows(l, late)
	slices.SortFunc(p.bad, func(a, b badRow) int { return cmp.Compare(a.span.Number, b.span.Number) })
	p.rows -= len(late)
}

func (w *pageWriter) refusedField(e *heap.FieldError) *rowfile.RowError {
	why := &rowfile.RowError{State: e.State, Message: e.Message, Detail: e.Detail}
	if e.Field >= 0 {
		c := &w.load.plan.Columns[e.Field]
		why.Column, why.Field = c.Name, c.Field+1
	}
	return why
}

// longPages is how many pages of the TOAST relation are written at once.
const longPages = 64

// addChunk takes a part of a long value.
func (w *pageWriter) addChunk(t heap.Tuple) error {
	w.chunks.Add(1)
	if w.long.count() < longPages {
		return w.long.add(t)
	}
	if w.long.packer.Add(t) {
		return nil
	}
	if err := w.flushLong(context.Background()); err != nil { // It is called within the forming of a row.
		return err
	}
	return w.long.add(t)
}

// flushLong writes the pages of the TOAST relation.
func (w *pageWriter) flushLong(ctx context.Context) error {
	n := w.long.count()
	if n == 0 {
		return nil
	}
	base, err := w.longBlocks.extras(n)
	if err != nil {
		return err
	}
	for i := range n {
		if err := w.seal.SealPage(w.long.pages[i*w.long.size:(i+1)*w.long.size], base+uint32(i)); err != nil {
			return err
		}
	}
	return w.put(ctx, w.toast, &w.long, base)
}

// put writes a run of pages.
func (w *pageWriter) put(ctx context.Context, to *pageTarget, r *pageRun, base uint32) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if len(r.pages) > 0 {
		if err := to.write(r.pages, base); err != nil {
			return err
		}
		w.table.gauge.moved(0, int64(len(r.pages)))
	}
	r.reset()
	return nil
}

// extras returns the first of n blocks for what has no place in the order.
func (o *blockOrder) extras(n int) (uint32, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.claim(n)
}
