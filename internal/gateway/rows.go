package gateway

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"github.com/pghaul/pghaul/internal/copyfmt"
	"github.com/pghaul/pghaul/internal/encode"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/internal/wire"
)

// Why rows could not be written in the form that was tried.
const (
	reasonUnsure = "no binary form"
	reasonText   = "invalid text"
	reasonMixed  = "binary parameters"
)

// plainOIDs are the types whose texts are turned into binary form here: those that no setting of the session acts on but the
// order of dates and the time zone, which the server reports (pg_type.dat).
var plainOIDs = map[uint32]bool{
	16: true, 17: true, 20: true, 21: true, 23: true, 25: true, 700: true, 701: true, 1042: true, 1043: true,
	1082: true, 1114: true, 1184: true, 1700: true, 2950: true, 114: true, 3802: true,
}

// rows are the rows of INSERTs as the data of a COPY, in CopyData frames.
type rows struct {
	target   *target
	binary   bool
	encoders []encode.Encoder // by the columns that are sent; nil: none, or in text
	buffer   []byte
	frame    int  // where the open frame begins in buffer
	count    int  // rows in all
	bare     bool // no frames and no header: the rows alone

	params bindMessage // of the Bind that is being read
}

// start begins the data of a COPY, behind the messages of head.
func (r *rows) start(head []byte, t *target, binary bool, s encode.Settings) {
	r.target, r.binary, r.count, r.bare = t, binary, 0, false
	r.buffer, r.encoders = append(r.buffer[:0], head...), r.encoders[:0]
	for _, column := range t.columns {
		var e encode.Encoder
		c := &t.facts.Columns[column]
		if binary && c.Class == "b" && plainOIDs[c.Type] {
			e = encode.For(&encode.Type{OID: c.Type, Name: c.TypeName, Modifier: c.Modifier, Class: encode.Base}, s)
		}
		r.encoders = append(r.encoders, e)
	}
	r.open()
	if binary {
		r.buffer = copyfmt.AppendBinaryHeader(r.buffer)
	}
}

// startBare begins rows in binary that are no data of a COPY.
func (r *rows) startBare(t *target, s encode.Settings) {
	r.start(nil, t, true, s)
	r.buffer, r.frame, r.bare = r.buffer[:0], 0, true
}

func (r *rows) open() {
	r.frame = len(r.buffer)
	r.buffer = wire.AppendHeader(r.buffer, wire.TypeCopyData, 0)
}

// cut ends the open frame, when it has anything in it.
func (r *rows) cut() {
	length := len(r.buffer) - r.frame - wire.HeaderSize
	if length == 0 {
		r.buffer = r.buffer[:r.frame]
		return
	}
	wire.PutCopyDataHeader(r.buffer[r.frame:], length)
}

// finish ends the data.
func (r *rows) finish() {
	if r.binary {
		r.buffer = copyfmt.AppendBinaryTrailer(r.buffer)
	}
	r.cut()
}

// add writes the rows of one INSERT, of which b holds the parameters. When it cannot, it says why and leaves the data as they
// were.
func (r *rows) add(i *sqltext.Insert, b *bindMessage) (reason string) {
	before, frame, count := len(r.buffer), r.frame, r.count
	if i.Ordered && r.target.all {
		reason = r.addOrdered(i, b)
	} else {
		reason = r.addValues(i, b)
	}
	if reason != "" {
		r.buffer, r.frame, r.count = r.buffer[:before], frame, count
	}
	return reason
}

// addOrdered writes rows that are the parameters one after the other.
func (r *rows) addOrdered(i *sqltext.Insert, b *bindMessage) string {
	n := 0
	for range i.Rows {
		r.row()
		for at := range i.Width {
			if reason := r.parameter(at, b, n); reason != "" {
				return reason
			}
			n++
		}
		r.endRow()
	}
	return ""
}

func (r *rows) addValues(i *sqltext.Insert, b *bindMessage) (reason string) {
	at := 0
	i.Values(func(row, column int, v sqltext.Value) bool {
		if column == 0 {
			at = 0
			r.row()
		}
		if r.target.sent[column] {
			reason = r.value(at, v, b)
			at++
		}
		if column == i.Width-1 {
			r.endRow()
		}
		return reason == ""
	})
	return reason
}

func (r *rows) row() {
	if len(r.buffer)-r.frame >= wire.FrameSize && !r.bare {
		r.cut()
		r.open()
	}
	if r.binary {
		r.buffer = copyfmt.AppendBinaryTuple(r.buffer, len(r.target.columns))
	}
}

func (r *rows) endRow() {
	if !r.binary {
		r.buffer[len(r.buffer)-1] = '\n' // in the place of the last tab
	}
	r.count++
}

func (r *rows) value(at int, v sqltext.Value, b *bindMessage) string {
	switch v.Kind {
	case sqltext.Param:
		return r.parameter(at, b, v.Parameter-1)
	case sqltext.Null:
		r.null()
		return ""
	case sqltext.True:
		return r.text(at, []byte{'t'})
	case sqltext.False:
		return r.text(at, []byte{'f'})
	}
	return r.text(at, v.Text)
}

func (r *rows) parameter(at int, b *bindMessage, n int) string {
	value := b.values[n]
	switch {
	case value == nil:
		r.null()
		return ""
	case !b.inBinary(n):
		return r.text(at, value)
	case !r.binary:
		return reasonMixed
	}
	r.buffer = copyfmt.AppendBinaryField(r.buffer, value)
	return ""
}

func (r *rows) null() {
	if r.binary {
		r.buffer = copyfmt.AppendBinaryNull(r.buffer)
		return
	}
	r.buffer = append(copyfmt.AppendTextNull(r.buffer), '\t')
}

// text writes a value that is given as text.
func (r *rows) text(at int, text []byte) string {
	if bytes.IndexByte(text, 0) >= 0 {
		return reasonText
	}
	if !r.binary {
		r.buffer = append(copyfmt.AppendTextField(r.buffer, text), '\t')
		return ""
	}
	if r.encoders[at] == nil {
		return reasonUnsure
	}
	if !utf8.Valid(text) {
		return reasonText
	}
	start := len(r.buffer)
	buffer, err := r.encoders[at](append(r.buffer, 0, 0, 0, 0), text)
	if err != nil {
		return reasonUnsure
	}
	binary.BigEndian.PutUint32(buffer[start:], uint32(len(buffer)-start-4))
	r.buffer = buffer
	return ""
}
