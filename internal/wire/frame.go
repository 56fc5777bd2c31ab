// Package wire finds, builds and reads the messages of PostgreSQL's
// frontend/backend protocol, version 3 (manual, "Frontend/Backend Protocol",
// "Message Formats"), in blocks of bytes that somebody else reads from and
// writes to a socket.
//
// Model: a connection is a row of frames, each a type byte, a big-endian
// int32 length that counts itself but not the type, and a body. Scanner finds
// frames in blocks that may cut them anywhere, without copying bodies that
// may be large. Coalescer turns a server's one-row CopyData frames into few
// large ones. Append functions build frames at the end of a []byte; Parse
// functions read the body of a frame.
//
// Limits: the untyped messages before authentication (StartupMessage,
// SSLRequest, CancelRequest) are not frames in this sense and are not known
// here. Nothing here holds more than one message that is not CopyData, and
// that only up to a limit.
package wire

import (
	"encoding/binary"
	"fmt"
)

const (
	// HeaderSize is the type byte and the length, in bytes.
	HeaderSize = 5

	// MaxBody is the largest body of a frame, in bytes. The server builds
	// messages in memory pieces of at most 1 GB - 1 (MaxAllocSize,
	// memutils.h), so a longer length means that the frame limits were lost.
	MaxBody = 1<<30 - 1

	// FrameSize is the payload of a CopyData frame as Coalescer makes it by
	// default, in bytes. One COPY of 20 million rows took 8 % less time with
	// frames of this size than with one frame for each row.
	FrameSize = 64 << 10

	// MessageLimit is the largest message that is gathered whole, in bytes.
	// The largest a server sends beside a COPY is an error report that quotes
	// its query.
	MessageLimit = 1 << 20
)

// Types of frames. Several letters have another meaning in each direction.
const (
	TypeCopyData = 'd' // both directions
	TypeCopyDone = 'c' // both directions

	TypeAuthentication  = 'R'
	TypeBackendKeyData  = 'K'
	TypeBindComplete    = '2'
	TypeCloseComplete   = '3'
	TypeCommandComplete = 'C'
	TypeCopyBoth        = 'W'
	TypeCopyIn          = 'G'
	TypeCopyOut         = 'H'
	TypeDataRow         = 'D'
	TypeEmptyQuery      = 'I'
	TypeError           = 'E'
	TypeNoData          = 'n'
	TypeNotice          = 'N'
	TypeNotification    = 'A'
	TypeParameterStatus = 'S'
	TypeParamDesc       = 't'
	TypeParseComplete   = '1'
	TypePortalSuspended = 's'
	TypeReadyForQuery   = 'Z'
	TypeRowDescription  = 'T'

	TypeBind      = 'B'
	TypeClose     = 'C'
	TypeCopyFail  = 'f'
	TypeDescribe  = 'D'
	TypeExecute   = 'E'
	TypeFlush     = 'H'
	TypeParse     = 'P'
	TypePassword  = 'p'
	TypeQuery     = 'Q'
	TypeSync      = 'S'
	TypeTerminate = 'X'
)

// FrameError says that the bytes are not frames: the two ends no longer agree
// where a message starts, and the connection is of no more use.
type FrameError struct {
	Type   byte   // as read; may be no message type at all
	Length uint32 // as read, itself included
	Limit  int    // for a message too large to be gathered: the limit in bytes, else 0
}

// Error returns the type, the length and what is wrong with them.
func (e *FrameError) Error() string {
	switch {
	case !validType(e.Type):
		return fmt.Sprintf("invalid message type 0x%02x", e.Type)
	case e.Limit > 0:
		return fmt.Sprintf("message of type %q is %d bytes long, more than %d", e.Type, e.Length, e.Limit)
	}
	return fmt.Sprintf("message of type %q has invalid length %d", e.Type, e.Length)
}

// readHeader reads the type and the body's length from the 5 bytes at the
// start of b.
func readHeader(b []byte) (kind byte, body int, err error) {
	_ = b[HeaderSize-1]
	kind = b[0]
	length := binary.BigEndian.Uint32(b[1:])
	// One comparison for both ends: a length below 4 wraps around.
	if length-4 > MaxBody || !validType(kind) {
		return kind, 0, &FrameError{Type: kind, Length: length}
	}
	return kind, int(length - 4), nil
}

// validType reports whether c can be a message type: all are printable ASCII.
func validType(c byte) bool { return c > ' ' && c < 0x7f }
