package move

import (
	"encoding/binary"

	"github.com/pghaul/pghaul/internal/wire"
)

// batchBytes ends a batch before its rows are all there. A batch lies in memory three times (as read, as parameters, as a message),
// and eight workers share 64 MB.
const batchBytes = 1 << 20

// keepBytes is how much memory an empty batch keeps for the next rows.
const keepBytes = 4 * batchBytes

// maxParams is how many parameters a Bind message can count (manual, "Message Formats").
const maxParams = 65535

// batch gathers rows until they are sent as the parameters of one INSERT: an array for each column, or one value after the other.
type batch struct {
	binary bool
	arrays []array // empty when the statement takes single values
	values []byte  // single values as Bind has them
	params int     // how many of them
	rows   int
	flat   bool // the rows have been moved from arrays to values
}

// newBatch returns an empty batch. Without types the statement takes single values.
func newBatch(types []arrayType, binary bool) *batch {
	b := &batch{binary: binary}
	for _, t := range types {
		b.arrays = append(b.arrays, newArray(t, binary))
	}
	return b
}

// add takes a row; a nil field is NULL. The bytes are copied.
func (b *batch) add(row [][]byte) {
	b.rows++
	if len(b.arrays) > 0 {
		for i := range b.arrays {
			b.arrays[i].add(row[i])
		}
		return
	}
	b.params += len(row)
	for _, field := range row {
		b.values = appendValue(b.values, field)
	}
}

// flatten turns the arrays into single values, for a last batch of so few rows that its statement takes those.
func (b *batch) flatten() {
	if len(b.arrays) == 0 || b.flat {
		return
	}
	b.flat = true
	at := make([]int, len(b.arrays))
	for i := range b.arrays {
		at[i] = b.arrays[i].first()
	}
	for range b.rows {
		for i := range b.arrays {
			var value []byte
			value, at[i] = b.arrays[i].element(at[i])
			b.values = appendValue(b.values, value)
			b.params++
		}
	}
}

// split takes the first rows off a batch of single values. They stay good until the batch is added to or reset.
func (b *batch) split(rows int) *batch {
	params := b.params / b.rows * rows
	end := 0
	for range params {
		size := int32(binary.BigEndian.Uint32(b.values[end:]))
		end += 4 + int(max(size, 0))
	}
	head := &batch{binary: b.binary, values: b.values[:end], params: params, rows: rows}
	b.values = b.values[end:]
	b.params -= params
	b.rows -= rows
	return head
}

// size is about how many bytes the batch takes in a message.
func (b *batch) size() int {
	n := len(b.values)
	for i := range b.arrays {
		n += len(b.arrays[i].data)
	}
	return n
}

// appendBind adds the Bind message that gives the rows to a prepared statement, as the unnamed portal.
func (b *batch) appendBind(dst []byte, statement string) []byte {
	if len(b.arrays) == 0 || b.flat {
		dst = appendBindHead(dst, statement, b.binary, b.params, len(b.values))
		return append(append(dst, b.values...), bindTail...)
	}
	size := 0
	for i := range b.arrays {
		size += 4 + b.arrays[i].size()
	}
	dst = appendBindHead(dst, statement, b.binary, len(b.arrays), size)
	for i := range b.arrays {
		dst = appendValue(dst, b.arrays[i].literal(b.rows))
	}
	return append(dst, bindTail...)
}

// reset empties the batch and keeps its memory, unless a few long rows have made that much larger than a batch should be.
func (b *batch) reset() {
	b.rows, b.params, b.flat = 0, 0, false
	b.values = emptied(b.values, keepBytes)
	for i := range b.arrays {
		b.arrays[i].reset(keepBytes / len(b.arrays))
	}
}

// emptied returns p without content, and without its memory when that is more than keep bytes.
func emptied(p []byte, keep int) []byte {
	if cap(p) > keep {
		return nil
	}
	return p[:0]
}

// appendValue adds one parameter as Bind has it: its length and its bytes, length -1 for NULL.
func appendValue(dst, value []byte) []byte {
	if value == nil {
		return binary.BigEndian.AppendUint32(dst, 0xffffffff)
	}
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(value))), value...)
}

// bindTail asks for results as text: types without a binary form can be returned too.
var bindTail = []byte{0, 0}

// bindHeadSize is the size of a Bind's body without the statement's name and the parameters' values: empty portal name, end of the
// statement's name, one format, count of parameters, and bindTail.
const bindHeadSize = 1 + 1 + 4 + 2 + 2

// appendBindHead starts a Bind message for the unnamed portal whose parameter values take size bytes together. The values and bindTail
// are to follow.
func appendBindHead(dst []byte, statement string, binaryFormat bool, params, size int) []byte {
	dst = wire.AppendHeader(dst, wire.TypeBind, bindHeadSize+len(statement)+size)
	dst = append(dst, 0)
	dst = append(append(dst, statement...), 0)
	dst = binary.BigEndian.AppendUint16(dst, 1)
	format := uint16(0)
	if binaryFormat {
		format = 1
	}
	dst = binary.BigEndian.AppendUint16(dst, format)
	return binary.BigEndian.AppendUint16(dst, uint16(params))
}
