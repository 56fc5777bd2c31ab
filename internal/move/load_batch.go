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
	// mostSifts is how often the checks look at the rows of a batch. Each time shows up the rows that share a key with one that has been loaded
	// meanwhile; where the ones in front of them are refused again and again, the rest is found one by one.
	mostSifts = 4
)

// loadBatch is rows that are sent together, in order.
type loadBatch struct {
	pieces []*piece
	bytes  int
	bad    [][]refusedRow // of each piece, what the server has refused
	// sifted: the checks were asked already, and have left these rows.
	sifted         bool
	good, doubtful []stretch
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
	w     *worker
	l     *load
	plan  *planner.LoadPlan
	check *planner.CheckPlan // nil where bad rows are found one by one
	// checkFirst: the batch before had many bad rows, so the next is looked through before it is tried.
	checkFirst bool
	immediate  bool            // deferrable constraints are checked with each statement
	prepared   map[string]bool // temporary tables that are there
	statements map[int]string  // of method insert, by number of rows
	buffer     []byte
	try        int // rows that are tried together
}

// take loads a batch and sets aside what the server refuses of it. It returns the number of rows that the target took.
func (s *loader) take(ctx context.Context, b *loadBatch) (int64, error) {
	if b.bad == nil {
		b.bad = make([][]refusedRow, len(b.pieces))
	}
	if err := s.prepare(ctx); err != nil {
		return 0, err
	}
	rows, err := s.takeRows(ctx, b)
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

// prepare makes ready for rows in subtransactions, which take back what is made or set in them. A constraint whose check waits for the commit would
// refuse the whole load.
func (s *loader) prepare(ctx context.Context) error {
	if !s.immediate {
		if _, err := s.w.dst.exec(ctx, "SET CONSTRAINTS ALL IMMEDIATE"); err != nil {
			return err
		}
		s.immediate = true
	}
	_, err := s.destination(ctx)
	return err
}

// takeRows loads the rows of a batch.
func (s *loader) takeRows(ctx context.Context, b *loadBatch) (took int64, err error) {
	rows, doubtful := b.all(), []stretch(nil)
	tries, sifts := 0, 0
	if b.sifted {
		s.checkFirst = count(rows)-count(b.good) > triesBeforeCheck
		rows, doubtful, sifts = b.good, b.doubtful, 1
	}
	s.try = max(count(rows), leastTry)
	for len(rows)+len(doubtful) > 0 {
		again := len(rows) == 0
		if again {
			rows, doubtful = doubtful, nil
			s.try = max(count(rows), leastTry)
		}
		if s.check != nil && (again && sifts < mostSifts || sifts == 0 && (s.checkFirst || tries > triesBeforeCheck)) {
			had := count(rows)
			if rows, doubtful, err = s.sift(ctx, b, rows); err != nil {
				return took, err
			}
			s.checkFirst = s.checkFirst && again || had-count(rows) > triesBeforeCheck
			sifts++
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
			b.refuse(now[0], why.err)
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
	b.refuse(first[0], why.err)
	return took, append(behind, later...), nil
}

// refusal is the server's refusal of rows.
type refusal struct {
	err *rowfile.RowError
	row int // position of the refused row, -1 when it is not known
}

// attempt loads rows in a subtransaction. A refusal of a row is no error.
func (s *loader) attempt(ctx context.Context, b *loadBatch, rows []stretch) (took int64, why *refusal, err error) {
	at := copyPlace{}
	pg, err := s.inSubtransaction(ctx, func(e *pgconn.PgError) bool {
		at = placeOf(e, s.copyName())
		return at.aboutRow(e)
	}, func() (err error) {
		took, err = s.put(ctx, b, rows)
		return err
	})
	if err != nil || pg == nil {
		return took, nil, err
	}
	why = &refusal{err: s.l.refusedBy(pg, at), row: int(at.line) - 1}
	if at.blurred || why.row >= count(rows) || mixed(b, rows) {
		why.row = -1
	}
	return 0, why, nil
}

// inSubtransaction does something in a subtransaction. An error of the server that bearable takes for one takes the subtransaction back and is
// returned by itself.
func (s *loader) inSubtransaction(ctx context.Context, bearable func(*pgconn.PgError) bool, do func() error) (*pgconn.PgError, error) {
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
	if !bearable(pg) {
		return nil, err
	}
	_, err = s.w.dst.exec(ctx, "ROLLBACK TO SAVEPOINT pghaul; RELEASE SAVEPOINT pghaul")
	return pg, err
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
