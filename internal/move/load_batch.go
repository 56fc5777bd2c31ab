package move

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/rowfile"
	"github.com/pghaul/pghaul/planner"
)

const (
	// loadBatchBytes is how much of the input stands in one subtransaction. A refused row costs its batch a second try, and the whole batch is kept
	// in memory until the server has taken it.
	loadBatchBytes = 4 << 20
	// triesBeforeCheck is how many refused rows of a batch are found one by one before the checks look at all of its rows.
	triesBeforeCheck = 2
	// leastTry is the least number of rows that are tried together behind a refused one.
	leastTry = 64
)

// loadBatch is rows that are sent together, in order.
type loadBatch struct {
	pieces []*piece
	bytes  int
	bad    [][]refusedRow // of each piece, what the server has refused
}

// stretch is a run of the rows of one piece.
type stretch struct {
	piece    int // in the batch
	from, to int // rows of its data
}

// all lists the rows of the batch.
func (b *loadBatch) all() []stretch {
	var rows []stretch
	for i, p := range b.pieces {
		if p.rows > 0 {
			rows = append(rows, stretch{i, 0, p.rows})
		}
	}
	return rows
}

// count counts rows.
func count(rows []stretch) int {
	n := 0
	for _, s := range rows {
		n += s.to - s.from
	}
	return n
}

// split parts rows at the n-th.
func split(rows []stretch, n int) (before, after []stretch) {
	for i, s := range rows {
		size := s.to - s.from
		if n < size {
			if n > 0 {
				before = append(before, stretch{s.piece, s.from, s.from + n})
			}
			return before, append([]stretch{{s.piece, s.from + n, s.to}}, rows[i+1:]...)
		}
		before = append(before, s)
		n -= size
	}
	return before, nil
}

// pick parts rows into those at the given positions, which are in order, one by one, and the others.
func pick(rows []stretch, positions []int64) (picked, others []stretch) {
	at := int64(0)
	for _, p := range positions {
		var before, one []stretch
		before, rows = split(rows, int(p-at))
		one, rows = split(rows, 1)
		others, picked = append(others, before...), append(picked, one...)
		at = p + 1
	}
	return picked, append(others, rows...)
}

// refusedRow is a row of a piece's data that the server does not take.
type refusedRow struct {
	at  int
	why *rowfile.RowError
}

// refuse notes that the server does not take the first of the rows.
func (b *loadBatch) refuse(first stretch, why *rowfile.RowError) {
	b.bad[first.piece] = append(b.bad[first.piece], refusedRow{first.from, why})
}

// badRows are the rows of a piece that were refused here, and those that the server has refused.
func (p *piece) badRows(l *load, refused []refusedRow) []badRow {
	bad := p.bad
	positions := make([]int, len(refused))
	for i, r := range refused {
		positions[i] = r.at
	}
	for i, span := range p.spans(l, positions) {
		bad = append(bad, badRow{span, refused[i].why})
	}
	return bad
}

// spans finds where rows of a piece's data stand in its block. Blocks are taken apart once more for it: most have no such row.
func (p *piece) spans(l *load, positions []int) []rowfile.Span {
	found := make([]rowfile.Span, len(positions))
	if p.large != nil {
		for i := range found {
			found[i] = p.large.span
		}
		return found
	}
	if len(found) == 0 {
		return nil
	}
	wanted := map[int][]int{}
	for i, at := range positions {
		wanted[at] = append(wanted[at], i)
	}
	at, bad := 0, p.bad
	// The same block has been parsed before, so there is no error.
	_ = l.rows.Parser().Parse(p.block, func(r *rowfile.Row) error {
		if len(bad) > 0 && bad[0].span.Number == r.Number {
			bad = bad[1:]
			return nil
		}
		for _, i := range wanted[at] {
			found[i] = r.Span
		}
		at++
		return nil
	})
	return found
}

// loader sends the rows of a load over one connection.
type loader struct {
	w    *worker
	l    *load
	plan *planner.LoadPlan
	// checkFirst: the batch before had many bad rows, so the next is looked through before it is tried.
	checkFirst bool
	prepared   map[string]bool // temporary tables that are there
	statements map[int]string  // of method insert, by number of rows
	buffer     []byte
	try        int // rows that are tried together
}

// take loads a batch and sets aside what the server refuses of it. It returns the number of rows that the target took.
func (s *loader) take(ctx context.Context, b *loadBatch) (int64, error) {
	b.bad = make([][]refusedRow, len(b.pieces))
	rows, err := s.takeRows(ctx, b, b.all())
	if err != nil {
		return 0, err
	}
	for i, p := range b.pieces {
		if err := s.l.refusals.take(p, p.badRows(s.l, b.bad[i])); err != nil {
			return 0, err
		}
		p.release()
	}
	return rows, nil
}

// takeRows is take for some of the rows.
func (s *loader) takeRows(ctx context.Context, b *loadBatch, rows []stretch) (took int64, err error) {
	tries, checked := 0, false
	s.try = max(count(rows), leastTry)
	for len(rows) > 0 {
		if (s.checkFirst || tries > triesBeforeCheck) && !checked && s.plan.Check != nil {
			had := count(rows)
			if rows, err = s.sift(ctx, b, rows); err != nil {
				return took, err
			}
			s.checkFirst, checked = had-count(rows) > triesBeforeCheck, true
			s.try = max(count(rows), leastTry)
			continue
		}
		now, later := split(rows, s.try)
		n, refused, err := s.attempt(ctx, b, now)
		if err != nil {
			return took, err
		}
		took += n
		if refused == nil {
			s.try *= 2
			rows = later
			continue
		}
		tries++
		if n, rows, err = s.around(ctx, b, now, later, refused); err != nil {
			return took, err
		}
		took += n
	}
	return took, nil
}

// around goes on behind a refusal: what stands before the refused row is loaded, and what stands behind it is returned. Where the server did not
// say which row it means, half of the rows are tried.
func (s *loader) around(ctx context.Context, b *loadBatch, now, later []stretch, why *refusal) (took int64, rest []stretch, err error) {
	if why.row < 0 {
		if count(now) == 1 {
			b.refuse(now[0], refusedBy(why.err))
			return 0, later, nil
		}
		s.try = (count(now) + 1) / 2
		return 0, append(now, later...), nil
	}
	before, bad := split(now, why.row)
	first, behind := split(bad, 1)
	s.try = max(leastTry, 4*why.row)
	if len(before) > 0 {
		n, again, err := s.attempt(ctx, b, before)
		if err != nil {
			return 0, nil, err
		}
		if again != nil { // They were good a moment ago: a trigger or another session has seen to it.
			return s.around(ctx, b, before, append(bad, later...), again)
		}
		took = n
	}
	b.refuse(first[0], refusedBy(why.err))
	return took, append(behind, later...), nil
}

// refusal is the server's refusal of rows.
type refusal struct {
	err *pgconn.PgError
	row int // position of the refused row, -1 when it is not known
}

// attempt loads rows in a subtransaction. A refusal of a row is no error.
func (s *loader) attempt(ctx context.Context, b *loadBatch, rows []stretch) (took int64, why *refusal, err error) {
	why, err = s.inSubtransaction(ctx, s.copyName(), func() (err error) {
		took, err = s.put(ctx, b, rows)
		return err
	})
	if why != nil && (why.row >= count(rows) || mixed(b, rows)) {
		why.row = -1
	}
	return took, why, err
}

// inSubtransaction does something in a subtransaction. An error that is about a row, of those copied to the relation of the given name, takes the
// subtransaction back and is returned as a refusal.
func (s *loader) inSubtransaction(ctx context.Context, relation string, do func() error) (*refusal, error) {
	if _, err := s.w.dst.exec(ctx, "SAVEPOINT pghaul"); err != nil {
		return nil, err
	}
	err := do()
	if err == nil {
		_, err = s.w.dst.exec(ctx, "RELEASE SAVEPOINT pghaul")
		return nil, err
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || context.Cause(ctx) != nil {
		return nil, err
	}
	line := copyLine(pg, relation)
	if !aboutRow(pg, line) {
		return nil, err
	}
	if _, err := s.w.dst.exec(ctx, "ROLLBACK TO SAVEPOINT pghaul; RELEASE SAVEPOINT pghaul"); err != nil {
		return nil, err
	}
	clear(s.prepared) // What was made in the subtransaction is gone.
	return &refusal{err: pg, row: int(line) - 1}, nil
}

// mixed reports whether rows go over several COPY statements, each of which counts its own lines.
func mixed(b *loadBatch, rows []stretch) bool {
	for _, r := range rows {
		if p := b.pieces[r.piece]; p.binary != b.pieces[rows[0].piece].binary || p.large != nil {
			return len(rows) > 1
		}
	}
	return false
}
