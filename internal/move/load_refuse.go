package move

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/pghaul/pghaul/internal/rowfile"
	"github.com/pghaul/pghaul/planner"
)

// stateNotNull is not_null_violation.
const stateNotNull = "23502"

// refusals takes the rows that are set aside.
type refusals struct {
	load   *load
	lock   sync.Mutex
	count  int64
	before int64 // that an interrupted run had refused
	kinds  map[string]*RefusalCount
	files  *rowfile.RejectWriter // nil for none
	parser rowfile.Parser
}

func newRefusals(l *load) *refusals {
	return &refusals{load: l, kinds: map[string]*RefusalCount{}, parser: l.rows.Parser()}
}

// take notes the refused rows of one piece, in their order, and writes them to the reject files.
func (r *refusals) take(p *piece, bad []badRow) error {
	if len(bad) == 0 {
		return nil
	}
	slices.SortFunc(bad, func(a, b badRow) int { return cmp.Compare(a.span.Number, b.span.Number) })
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, row := range bad {
		r.count++
		kind := r.kinds[row.why.State]
		if kind == nil {
			kind = &RefusalCount{State: row.why.State, Message: row.why.Message}
			r.kinds[row.why.State] = kind
		}
		kind.Rows++
		if err := r.write(p, row); err != nil {
			return err
		}
	}
	return r.tooMany(p, bad[len(bad)-1])
}

// tooMany ends the load once more rows are refused than the user bears.
func (r *refusals) tooMany(p *piece, last badRow) error {
	w := r.load.wish
	read := r.load.read.Load()
	var bound string
	switch {
	case w.MaxErrors >= 0 && r.count+r.before > w.MaxErrors:
		bound = fmt.Sprintf("--max-errors allows %d", w.MaxErrors)
	// A share says something of many rows only.
	case w.MaxPercent > 0 && read >= 1000 && float64(r.count) > float64(read)*w.MaxPercent/100:
		bound = fmt.Sprintf("--max-errors allows %g%%", w.MaxPercent)
	default:
		return nil
	}
	return &planner.Error{
		Message: fmt.Sprintf("too many rows of %s are refused", r.load.name()),
		Detail:  fmt.Sprintf("%d of the first %d rows are, and %s. The last one is %s: %s.", r.count+r.before, read, bound, r.load.place(p, last.span), last.why.Message),
		Hint:    "Mend the input or the table, or allow more with --max-errors.",
	}
}

// settle is for the end of the rows: the reject files are safe on disk before what they do not hold is committed.
func (r *refusals) settle() error {
	if err := r.share(); err != nil {
		return err
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	_, _, err := r.sync()
	return err
}

// share checks the bound of --max-errors in per cent at the end, for inputs of few rows.
func (r *refusals) share() error {
	read, percent := r.load.read.Load(), r.load.wish.MaxPercent
	if percent <= 0 || float64(r.count) <= float64(read)*percent/100 {
		return nil
	}
	return &planner.Error{
		Message: fmt.Sprintf("too many rows of %s are refused", r.load.name()),
		Detail:  fmt.Sprintf("%d of its %d rows are, and --max-errors allows %g%%.", r.count, read, percent),
		Hint:    "Mend the input or the table, or allow more with --max-errors.",
	}
}

// reasons lists the refused rows by reason, the most frequent first.
func (r *refusals) reasons() []RefusalCount {
	r.lock.Lock()
	defer r.lock.Unlock()
	var all []RefusalCount
	for _, kind := range r.kinds {
		all = append(all, *kind)
	}
	slices.SortFunc(all, func(a, b RefusalCount) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.State, b.State))
	})
	return all
}

// place says where a row stands, for messages.
func (l *load) place(p *piece, at rowfile.Span) string {
	f := l.files[p.block.File]
	if f.Format == rowfile.Parquet || f.Format == rowfile.Given || f.Format == rowfile.Binary {
		return fmt.Sprintf("row %d of %s", p.block.Begin.Row+at.Number+1, f.Name)
	}
	return fmt.Sprintf("line %d of %s", at.Line, f.Name)
}

// keep writes rows of a batch that gave way to rows with the same key, by their positions. They count as duplicates, not as refused.
func (r *refusals) keep(l *load, b *loadBatch, rows []stretch, positions []int64) error {
	slices.Sort(positions)
	dropped, _ := pick(rows, positions)
	why := &rowfile.RowError{State: stateUniqueViolation, Message: "a row with the same key was kept"}
	r.lock.Lock()
	defer r.lock.Unlock()
	for len(dropped) > 0 { // Those of one piece together, since it is taken apart for them.
		p, at := dropped[0].piece, []int(nil)
		for len(dropped) > 0 && dropped[0].piece == p {
			at, dropped = append(at, dropped[0].from), dropped[1:]
		}
		for _, span := range b.pieces[p].spans(l, at) {
			if err := r.write(b.pieces[p], badRow{span, why}); err != nil {
				return err
			}
		}
	}
	return nil
}
