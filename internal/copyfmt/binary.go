package copyfmt

import "encoding/binary"

// signature starts every COPY binary stream. Its odd bytes reveal a transfer
// that changed line ends or cut the eighth bit.
const signature = "PGCOPY\n\xff\r\n\x00"

// headerSize is the signature, the flags and the length of the extension.
const headerSize = len(signature) + 8

// maxExtension bounds the header's extension area, in bytes. No server ever
// wrote one.
const maxExtension = 64 << 10

// endMarker is the field count that stands in the trailer.
const endMarker = -1

// AppendBinaryHeader adds the header, without flags or extension.
func AppendBinaryHeader(dst []byte) []byte {
	return append(append(dst, signature...), 0, 0, 0, 0, 0, 0, 0, 0)
}

// AppendBinaryTuple adds the start of a row of n fields. Exactly n fields
// must follow. n is at most 1664, the server's limit (MaxTupleAttributeNumber,
// htup_details.h).
func AppendBinaryTuple(dst []byte, n int) []byte {
	return binary.BigEndian.AppendUint16(dst, uint16(n))
}

// AppendBinaryField adds a field that is not NULL, in the form of its type's
// send function. A nil value is one of no bytes.
func AppendBinaryField(dst, value []byte) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(value))), value...)
}

// AppendBinaryNull adds a NULL field.
func AppendBinaryNull(dst []byte) []byte { return append(dst, 0xff, 0xff, 0xff, 0xff) }

// AppendBinaryRow adds a whole row; a nil field is NULL.
func AppendBinaryRow(dst []byte, fields [][]byte) []byte {
	dst = AppendBinaryTuple(dst, len(fields))
	for _, f := range fields {
		if f == nil {
			dst = AppendBinaryNull(dst)
			continue
		}
		dst = AppendBinaryField(dst, f)
	}
	return dst
}

// AppendBinaryTrailer adds the end marker. Without it a server takes what
// came as complete, so it does not tell a cut stream from a whole one.
func AppendBinaryTrailer(dst []byte) []byte { return append(dst, 0xff, 0xff) }
