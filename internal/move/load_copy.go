package move

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/pghaul/pghaul/internal/copyfmt"
	"github.com/pghaul/pghaul/planner"
)

// carryLoad is the carrier of loads: it loads pieces until there are no more. Several workers share them.
func carryLoad(ctx context.Context, w *worker, _ planner.Range) (int64, error) {
	s := newLoader(w)
	var rows int64
	var err error
	if s.plan.Savepoints || s.plan.Batch != nil || s.plan.Stage != nil && !s.plan.Stage.Whole {
		rows, err = s.inBatches(ctx)
	} else {
		rows, err = s.straight(ctx)
	}
	if err != nil {
		return 0, err
	}
	return rows, s.l.refusals.settle()
}

func newLoader(w *worker) *loader {
	return &loader{w: w, l: w.load, plan: w.load.plan, check: w.load.plan.Check, prepared: map[string]bool{}}
}

// straight sends all rows in as few COPY statements as there are changes between binary and text, and ends at the first refused row.
func (s *loader) straight(ctx context.Context) (rows int64, err error) {
	sent := &trail{}
	defer sent.forget()
	into, err := s.destination(ctx)
	if err != nil {
		return 0, &sideError{side: "target", err: err}
	}
	c := &copying{session: s.w.dst, gauge: s.w.gauge, destination: into}
	for {
		p, err := s.l.feed.Load().next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, errors.Join(err, c.abandon("the input could not be read to its end"))
		}
		sent.add(p)
		if len(p.bad) > 0 {
			return 0, errors.Join(s.l.refusedRow(p, p.bad[0]), c.abandon("a row was refused"))
		}
		if err := c.write(ctx, p, 0, p.rows); err != nil {
			return 0, s.l.refusedAt(sent, c, err)
		}
	}
	if err := c.finish(); err != nil {
		return 0, s.l.refusedAt(sent, c, err)
	}
	if s.plan.Stage != nil {
		return s.mergeAll(ctx, c.took)
	}
	return c.took, nil
}

// destination is where rows are copied to.
type destination struct {
	text, binary string
	numbered     bool // the rows' numbers come first
	aside        bool // the rows are only looked at there
	name         string
}

// destination prepares the table that rows are copied into.
func (s *loader) destination(ctx context.Context) (destination, error) {
	d := destination{text: s.plan.CopyText, binary: s.plan.CopyBinary, name: s.copyName()}
	if s.plan.Stage == nil {
		return d, nil
	}
	d.numbered = true
	return d, s.makeTable(ctx, stageTable, s.plan.Stage.Create)
}

// The temporary tables of a load, as the server's messages call them.
const (
	stageTable = "pghaul_stage"
	checkTable = "pghaul_check"
)

// copyName is the relation that COPY names in the context of its errors.
func (s *loader) copyName() string {
	if s.plan.Stage != nil {
		return stageTable
	}
	return s.plan.Relation
}

// makeTable makes a temporary table unless it is there.
func (s *loader) makeTable(ctx context.Context, name, sql string) error {
	if s.prepared[name] {
		return nil
	}
	if _, err := s.w.dst.exec(ctx, sql); err != nil {
		return err
	}
	s.prepared[name] = true
	return nil
}

// copying is a run of COPY statements that take rows one after the other.
type copying struct {
	session *session
	gauge   *gauge
	destination
	in     *copyIn
	form   bool  // of in: binary
	number int64 // rows written to all statements
	first  int64 // number of the first row of in
	took   int64 // that the target has counted
	sent   int64 // rows that the gauge has counted
	at     cursor
	buffer []byte
}

// cursor is a place between two rows of a piece's data.
type cursor struct {
	piece       *piece
	row, offset int
}

// write adds rows of a piece. An error means that the statement has failed and is over.
func (c *copying) write(ctx context.Context, p *piece, from, to int) error {
	if p.large != nil {
		return c.writeLarge(ctx, p)
	}
	if from == to {
		return nil
	}
	if err := c.open(ctx, p.binary); err != nil {
		return err
	}
	data := p.data
	if from > 0 || to < p.rows {
		data = c.cut(p, from, to)
	}
	if c.numbered {
		c.buffer, _ = appendNumbered(c.buffer[:0], data, p.binary, c.number+1)
		data = c.buffer
	}
	c.number += int64(to - from)
	return c.send(data, int64(to-from))
}

// cut returns some rows of a piece's data. Rows are asked for in order, so that each is passed once.
func (c *copying) cut(p *piece, from, to int) []byte {
	if c.at.piece != p || c.at.row > from {
		c.at = cursor{piece: p}
	}
	start := c.at.offset + skipRows(p.data[c.at.offset:], p.binary, from-c.at.row)
	end := start + skipRows(p.data[start:], p.binary, to-from)
	c.at = cursor{piece: p, row: to, offset: end}
	return p.data[start:end]
}

// open starts a COPY of the wanted form unless one is open.
func (c *copying) open(ctx context.Context, binary bool) error {
	if c.in != nil && c.form == binary {
		return nil
	}
	if err := c.finish(); err != nil {
		return err
	}
	sql := c.text
	if binary {
		sql = c.binary
	}
	in, err := c.session.copyIn(ctx, sql)
	if err != nil {
		return err
	}
	c.in, c.form, c.first = in, binary, c.number+1
	if binary {
		return c.send(copyfmt.AppendBinaryHeader(nil), 0)
	}
	return nil
}

// send sends bytes of the open COPY.
func (c *copying) send(data []byte, rows int64) error {
	began := time.Now()
	if err := c.in.write(data); err != nil {
		in := c.in
		c.in = nil
		return errors.Join(err, in.fail("the rest could not be sent"))
	}
	if c.aside { // These rows are sent once more.
		data, rows = nil, 0
	}
	c.gauge.wrote(len(data), time.Since(began))
	c.count(rows)
	return nil
}

func (c *copying) count(rows int64) {
	c.sent += rows
	c.gauge.moved(rows, 0)
}

// takeBack is for rows that are taken back, to be sent once more.
func (c *copying) takeBack() { c.gauge.moved(-c.sent, 0) }

// finish ends the open COPY, if any.
func (c *copying) finish() error {
	if c.in == nil {
		return nil
	}
	if c.form {
		if err := c.send(copyfmt.AppendBinaryTrailer(nil), 0); err != nil {
			return err
		}
	}
	in := c.in
	c.in = nil
	began := time.Now()
	rows, err := in.done()
	c.gauge.wrote(0, time.Since(began))
	if err != nil {
		return err
	}
	c.took += rows
	return nil
}

// abandon ends the open COPY so that none of its rows stay.
func (c *copying) abandon(why string) error {
	if c.in == nil {
		return nil
	}
	in := c.in
	c.in = nil
	return in.fail(why)
}

// trailBytes is how much of what was sent is kept to find a refused row in: more than the server and the sockets hold between the client and
// the row that the server looks at (multi-insert buffers of 64 kB and 1000 rows, copyfrom.c; sockets of a few hundred kB).
const trailBytes = 8 << 20

// trail is the pieces that were sent last.
type trail struct {
	pieces []*piece
	before int64 // rows of the pieces that are forgotten
	bytes  int64
}

// weight is what a piece takes, in memory and in files.
func (p *piece) weight() int64 {
	n := int64(len(p.block.Data) + len(p.data))
	if p.block.Large != nil {
		n += p.block.Large.Size
	}
	return n
}

func (t *trail) add(p *piece) {
	t.pieces = append(t.pieces, p)
	t.bytes += p.weight()
	for t.bytes > trailBytes && len(t.pieces) > 1 {
		old := t.pieces[0]
		t.bytes -= old.weight()
		t.before += int64(old.rows)
		t.pieces = t.pieces[1:]
		old.release()
	}
}

// find returns the piece that holds the row of the given number, counted from 1, and its position there; nil when it is forgotten.
func (t *trail) find(number int64) (*piece, int) {
	at := number - 1 - t.before
	for _, p := range t.pieces {
		if at >= 0 && at < int64(p.rows) {
			return p, int(at)
		}
		at -= int64(p.rows)
	}
	return nil, 0
}

func (t *trail) forget() {
	for _, p := range t.pieces {
		p.release()
	}
	t.pieces = nil
}
