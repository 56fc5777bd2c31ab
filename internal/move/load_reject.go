package move

import (
	"errors"

	"github.com/pghaul/pghaul/internal/rowfile"
)

// openRefusals prepares for refused rows. A load that goes on appends to the files of the one before.
func openRefusals(l *load) (*refusals, error) {
	r := newRefusals(l)
	r.before = l.before.Refused
	if l.reject == (RejectFiles{}) {
		return r, nil
	}
	layout := &rowfile.Layout{Format: rowfile.Text}
	if files, is := l.rows.(*rowfile.Input); is {
		settled := files.Layout()
		layout = &settled
	}
	at, reasonsAt := int64(-1), int64(-1)
	if l.before.Key != "" {
		at, reasonsAt = l.recorded.Reject, l.recorded.Reasons
	}
	var err error
	r.files, err = rowfile.OpenReject(l.reject.Rows, at, l.reject.Reasons, reasonsAt, layout)
	return r, err
}

// write hands a refused row on.
func (r *refusals) write(p *piece, row badRow) error {
	if r.load.heard == nil && r.files == nil {
		return nil
	}
	var raw []byte
	if p.block.Large == nil {
		raw = r.parser.Raw(p.block, row.span)
	}
	if r.load.heard != nil {
		r.load.heard(Refusal{Place: r.load.place(p, row.span), Row: raw,
			Column: row.why.Column, State: row.why.State, Message: row.why.Message, Detail: row.why.Detail})
	}
	if r.files == nil {
		return nil
	}
	why := &rowfile.Rejected{
		File: r.load.files[p.block.File].Name, Line: row.span.Line, Offset: p.block.Offset(row.span),
		Column: row.why.Column, SQLState: row.why.State, Message: row.why.Message, Detail: row.why.Detail,
	}
	if p.block.Large != nil {
		return r.files.WriteLarge(p.block.Large, why)
	}
	return r.files.Write(raw, why)
}

// written names the files that hold something.
func (r *refusals) written() (reject, reasons string) {
	if r.files == nil {
		return "", ""
	}
	rows, whys := r.files.Size()
	if rows > 0 {
		reject = r.load.reject.Rows
	}
	if whys > 0 {
		reasons = r.load.reject.Reasons
	}
	return reject, reasons
}

// sync makes what was written safe, and returns the sizes of the files.
func (r *refusals) sync() (reject, reasons int64, err error) {
	if r.files == nil {
		return 0, 0, nil
	}
	err = r.files.Sync()
	reject, reasons = r.files.Size()
	return reject, reasons, err
}

// close closes the files. Rows of a load that has failed as a whole are all still in its input: what was put aside of it is removed.
func (r *refusals) close(kept bool) error {
	switch {
	case r.files == nil:
		return nil
	case kept:
		return errors.Join(r.files.Sync(), r.files.Close())
	}
	return r.files.Discard()
}
