package move

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/pghaul/pghaul/internal/copyfmt"
)

// takeLarge moves the row that the source has just announced as large, behind all rows before it.
func (in *inserter) takeLarge(ctx context.Context) error {
	if err := in.send(ctx); err != nil {
		return err
	}
	if !mayCopy(in.plan.Batch) {
		return in.insertLarge(ctx)
	}
	if err := in.closePipe(nil); err != nil {
		return err
	}
	return in.copyLarge(ctx)
}

// copyLarge sends the large row as it comes, by a COPY of its own.
func (in *inserter) copyLarge(ctx context.Context) error {
	sql := in.plan.WriteSQL(in.part)
	out, err := in.dst.copyIn(ctx, sql)
	if err != nil {
		return &sideError{side: "target", err: err}
	}
	in.batches.note(sql, 0)
	row, piece := in.src.large(), make([]byte, spoolPiece)
	var wrote, read error
	if in.src.binary {
		wrote = out.write(copyfmt.AppendBinaryHeader(nil))
	}
	for wrote == nil && read == nil {
		var n int
		n, read = row.Read(piece)
		wrote = out.write(piece[:n])
		in.gauge.moved(0, int64(n))
	}
	if wrote == nil && in.src.binary {
		wrote = out.write(copyfmt.AppendBinaryTrailer(nil))
	}
	switch {
	case wrote != nil:
		_ = out.fail("the rest could not be sent")
		return in.rowFailed(wrote)
	case !errors.Is(read, io.EOF):
		return &sideError{side: "source", err: errors.Join(read, out.fail("the source could not be read to its end"))}
	}
	rows, err := out.done()
	if err != nil {
		return in.rowFailed(err)
	}
	in.taken += rows
	in.gauge.moved(rows, 0)
	return nil
}

// insertLarge sends the large row by an INSERT, from a file.
func (in *inserter) insertLarge(ctx context.Context) (err error) {
	st, err := in.statement(ctx, 1)
	if err != nil {
		return err
	}
	s, err := newSpool(st.arrays, in.src.binary)
	if err != nil {
		return fmt.Errorf("keep row %d in a temporary file: %w", in.src.row, err)
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.fill(in.src.large()); err != nil {
		return fmt.Errorf("keep row %d in a temporary file: %w", in.src.row, err)
	}
	if s.params != len(in.plan.Columns) {
		return fmt.Errorf("row %d: %w: %d fields for %d columns", in.src.row, errTornRow, s.params, len(in.plan.Columns))
	}
	if err := in.openPipe(ctx); err != nil {
		return err
	}
	if err := in.pipe.putSpool(s, st.name, in.src.row); err != nil {
		return err
	}
	in.batches.note(st.sql, 1)
	return nil
}

// rowFailed says that the target refused the row that was read last.
func (in *inserter) rowFailed(err error) error {
	return &sideError{side: "target", err: &rowError{first: in.src.row, last: in.src.row, err: err}}
}
