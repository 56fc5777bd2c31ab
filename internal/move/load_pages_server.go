package move

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// serverReader has the server read values that are not understood here: a piece goes into a temporary table, and comes back in COPY binary. It is
// for all goroutines of a load, and makes its session when the first piece asks for it.
type serverReader struct {
	table *table
	load  *load
	lock  sync.Mutex
	s     *session
}

// close ends the session.
func (r *serverReader) close() {
	if r.s != nil {
		r.table.target.drop(r.s)
		r.s = nil
	}
}

// read turns a piece into one of binary rows. Rows that the server does not take are refused as it says.
func (r *serverReader) read(ctx context.Context, p *piece) (err error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.s == nil {
		if r.s, err = r.table.target.take(ctx, r.table.encoding); err != nil {
			return &sideError{side: "target", err: err}
		}
	}
	plan := r.plan()
	names, types := columnsOf(plan.Columns)
	if err := r.exec(ctx, beginWrite(r.table.encoding)+"; CREATE TEMPORARY TABLE "+sqltext.QuoteIdent(plan.Relation)+" ("+types+") ON COMMIT DROP"); err != nil {
		return err
	}
	if err := r.take(ctx, p, plan); err != nil {
		return err
	}
	data, err := r.back(ctx, "COPY pg_temp."+sqltext.QuoteIdent(plan.Relation)+" ("+names+") TO STDOUT (FORMAT binary)")
	if err != nil {
		return &sideError{side: "target", err: err}
	}
	p.binary, p.data = true, data
	return r.exec(ctx, "ROLLBACK")
}

func (r *serverReader) exec(ctx context.Context, sql string) error {
	if _, err := r.s.exec(ctx, sql); err != nil {
		return &sideError{side: "target", err: err}
	}
	return nil
}

// plan is the load's own, but into the temporary table.
func (r *serverReader) plan() *planner.LoadPlan {
	plan := *r.load.plan
	names, _ := columnsOf(plan.Columns)
	plan.CopyText = "COPY pg_temp." + sqltext.QuoteIdent(plan.Relation) + " (" + names + ") FROM STDIN"
	plan.CopyBinary = plan.CopyText + " (FORMAT binary)"
	plan.Check, plan.Stage = nil, nil
	return &plan
}

// columnsOf lists the names of a load's columns, and the same with their types.
func columnsOf(columns []planner.LoadColumn) (names, types string) {
	var list, typed []string
	for i := range columns {
		name := sqltext.QuoteIdent(columns[i].Name)
		list, typed = append(list, name), append(typed, name+" "+columns[i].Type.SQL)
	}
	return strings.Join(list, ", "), strings.Join(typed, ", ")
}

// take puts the piece into the temporary table.
func (r *serverReader) take(ctx context.Context, p *piece, plan *planner.LoadPlan) error {
	quiet := newGauge(nil) // These rows have not reached the target yet.
	if r.load.setAside() {
		s := &loader{w: &worker{dst: r.s, load: r.load, plan: r.table.plan, gauge: quiet}, l: r.load, plan: plan, prepared: map[string]bool{}}
		b := &loadBatch{pieces: []*piece{p}, bad: make([][]refusedRow, 1)}
		if _, err := s.takeRows(ctx, b); err != nil {
			return &sideError{side: "target", err: err}
		}
		p.refuseLate(r.load, b.bad[0])
		return nil
	}
	c := &copying{session: r.s, gauge: quiet, destination: destination{text: plan.CopyText, binary: plan.CopyBinary, name: plan.Relation}}
	err := c.write(ctx, p, 0, p.rows)
	if err == nil {
		err = c.finish()
	}
	if err != nil {
		return r.load.refusedAt(&trail{pieces: []*piece{p}}, c, err)
	}
	return nil
}

// binaryHead is the length of COPY binary's header before its extension: signature, flags and the extension's length (manual, "COPY").
const binaryHead = 11 + 4 + 4

// back returns the rows of a COPY binary, without header and trailer.
func (r *serverReader) back(ctx context.Context, sql string) (data []byte, err error) {
	out, err := r.s.copyOut(ctx, sql)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, out.close()) }()
	for {
		part, err := out.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		data = append(data, part...)
	}
	const trailer = 2
	if len(data) >= binaryHead {
		if head := binaryHead + int(binary.BigEndian.Uint32(data[binaryHead-4:])); head+trailer <= len(data) {
			return data[head : len(data)-trailer], nil
		}
	}
	return nil, fmt.Errorf("%d bytes are no COPY binary", len(data))
}
