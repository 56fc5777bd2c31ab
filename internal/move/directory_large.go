package move

import (
	"encoding/hex"
	"errors"

	"github.com/pghaul/pghaul/internal/copyfmt"
	"github.com/pghaul/pghaul/internal/datadir"
	"github.com/pghaul/pghaul/internal/heap"
	"github.com/pghaul/pghaul/internal/wire"
)

// largeValue is the size from which on a value goes to the target in pieces, as it is read, where its type allows. Only values in a TOAST
// table are that large.
const largeValue = 1 << 20

// verbatimOutputs are output functions that print a value's bytes as they are; byteaout prints each as two digits.
var verbatimOutputs = []string{"textout", "varcharout", "bpcharout", "citextout", "json_out"}

// piecewise is how a large value's bytes are printed.
type piecewise uint8

const (
	whole    piecewise = iota // only as a whole
	verbatim                  // as they are
	digits                    // in hexadecimal
)

// large tells whether a value goes in pieces, and what is known of it.
func (f *decodedField) large(data []byte) (v heap.Varlena, ok bool) {
	if f.pieces == whole || !f.varlena || len(data) == 0 || data[0] != 1 { // 1 is the header of an external value
		return v, false
	}
	v, _, err := heap.ParseVarlena(data)
	return v, err == nil && v.External && v.Pointer.RawSize > largeValue
}

// hasLarge tells whether some value of a row goes in pieces.
func (p *partDecoder) hasLarge(row datadir.Row) bool {
	for i := range p.fields {
		v := &row.Values[p.fields[i].index]
		if !v.Null {
			if _, large := p.fields[i].large(v.Data); large {
				return true
			}
		}
	}
	return false
}

// probe decodes a row to nowhere. A row whose first pieces have been sent cannot be taken back when its rest turns out to be damaged.
func (p *partDecoder) probe(row datadir.Row) error {
	nowhere := framer{put: func([]byte, int64) error { return nil }}
	nowhere.renew()
	return p.writeRow(&nowhere, row)
}

// errPut marks an error of the receiver among those of the source.
type errPut struct{ err error }

func (e *errPut) Error() string { return e.err.Error() }

func (e *errPut) Unwrap() error { return e.err }

// writeLarge prints a large value piece by piece.
func (p *partDecoder) writeLarge(f *framer, field *decodedField, v heap.Varlena, data []byte) error {
	if field.pieces == digits {
		f.buffer = append(f.buffer, `\\x`...)
	}
	piece := func(part []byte) error {
		if field.pieces == digits {
			f.buffer = hex.AppendEncode(f.buffer, part)
		} else {
			f.buffer = copyfmt.EscapeText(append(f.buffer, part...), len(f.buffer))
		}
		if err := f.room(); err != nil {
			return &errPut{err}
		}
		return nil
	}
	if v.Pointer.Compression == heap.NoCompression {
		return p.toaster.Chunks(v.Pointer, piece)
	}
	payload, err := p.toaster.Payload(data)
	for err == nil && len(payload) > 0 {
		n := min(len(payload), wire.FrameSize)
		err = piece(payload[:n])
		payload = payload[n:]
	}
	return err
}

// fromReceiver takes an error of put out of one of the source.
func fromReceiver(err error) (error, bool) {
	var put *errPut
	if errors.As(err, &put) {
		return put.err, true
	}
	return err, false
}
