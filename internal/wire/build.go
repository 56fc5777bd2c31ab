package wire

import "encoding/binary"

// Each Append function adds one whole frame to dst and returns the extended
// slice, as append does. Strings are sent up to their end as they are: a NUL
// inside one makes the server answer 08P01 (protocol_violation).

// AppendHeader adds the header of a frame whose body has length bytes.
func AppendHeader(dst []byte, kind byte, length int) []byte {
	return binary.BigEndian.AppendUint32(append(dst, kind), uint32(length+4))
}

// PutCopyDataHeader writes the header of a CopyData frame with length bytes
// of payload into the first HeaderSize bytes of dst, for a payload that is
// already in place behind it.
func PutCopyDataHeader(dst []byte, length int) {
	_ = dst[HeaderSize-1]
	dst[0] = TypeCopyData
	binary.BigEndian.PutUint32(dst[1:], uint32(length+4))
}

// AppendCopyData adds a CopyData frame. The server refuses more than MaxBody
// bytes in one; frames of FrameSize are what it takes best.
func AppendCopyData(dst, payload []byte) []byte {
	return append(AppendHeader(dst, TypeCopyData, len(payload)), payload...)
}

// AppendCopyDone adds CopyDone: the copy's end, to be carried out.
func AppendCopyDone(dst []byte) []byte { return AppendHeader(dst, TypeCopyDone, 0) }

// AppendCopyFail adds CopyFail: the copy's end, to be undone. The server
// reports reason in an error of SQLSTATE 57014.
func AppendCopyFail(dst []byte, reason string) []byte {
	return appendString(AppendHeader(dst, TypeCopyFail, len(reason)+1), reason)
}

// AppendQuery adds a simple Query, which may hold several statements.
func AppendQuery(dst []byte, sql string) []byte {
	return appendString(AppendHeader(dst, TypeQuery, len(sql)+1), sql)
}

// AppendTerminate adds Terminate. During copy-in it is a protocol error: end
// the copy first.
func AppendTerminate(dst []byte) []byte { return AppendHeader(dst, TypeTerminate, 0) }

// AppendSync adds Sync. Around an extended COPY it belongs behind CopyDone,
// never between Execute and CopyDone: there it is swallowed when the COPY
// starts, and answered by a second ReadyForQuery when it does not.
func AppendSync(dst []byte) []byte { return AppendHeader(dst, TypeSync, 0) }

// AppendFlush adds Flush.
func AppendFlush(dst []byte) []byte { return AppendHeader(dst, TypeFlush, 0) }

// AppendParse adds Parse. An empty name is the unnamed statement; types are
// the OIDs of the first parameters, 0 for one to be inferred.
func AppendParse(dst []byte, name, sql string, types []uint32) []byte {
	dst, start := open(dst, TypeParse)
	dst = appendString(dst, name)
	dst = appendString(dst, sql)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(types)))
	for _, oid := range types {
		dst = binary.BigEndian.AppendUint32(dst, oid)
	}
	return closeFrame(dst, start)
}

// Bind is the content of a Bind message. Formats are 0 for text and 1 for
// binary; none means all text, one stands for all.
type Bind struct {
	Portal, Statement string
	ParamFormats      []int16
	Params            [][]byte // nil is NULL; at most 65535
	ResultFormats     []int16
}

// AppendBind adds Bind.
func AppendBind(dst []byte, b *Bind) []byte {
	dst, start := open(dst, TypeBind)
	dst = appendString(dst, b.Portal)
	dst = appendString(dst, b.Statement)
	dst = appendFormats(dst, b.ParamFormats)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(b.Params)))
	for _, p := range b.Params {
		if p == nil {
			dst = binary.BigEndian.AppendUint32(dst, 0xffffffff)
			continue
		}
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(p)))
		dst = append(dst, p...)
	}
	dst = appendFormats(dst, b.ResultFormats)
	return closeFrame(dst, start)
}

// Target says what Describe and Close mean.
type Target byte

// The two targets.
const (
	Statement Target = 'S'
	Portal    Target = 'P'
)

// AppendDescribe adds Describe of a statement or portal.
func AppendDescribe(dst []byte, what Target, name string) []byte {
	return appendTarget(dst, TypeDescribe, what, name)
}

// AppendClose adds Close of a statement or portal. Closing what does not
// exist is no error.
func AppendClose(dst []byte, what Target, name string) []byte {
	return appendTarget(dst, TypeClose, what, name)
}

// AppendExecute adds Execute of a portal; maxRows 0 means all rows.
func AppendExecute(dst []byte, portal string, maxRows int32) []byte {
	dst = appendString(AppendHeader(dst, TypeExecute, len(portal)+5), portal)
	return binary.BigEndian.AppendUint32(dst, uint32(maxRows))
}

// AppendExtendedCopy adds what starts a COPY by the extended protocol: Parse
// of sql as the unnamed statement, Bind and Execute of the unnamed portal, and
// no Sync. For COPY FROM STDIN, CopyData, CopyDone and then Sync follow, and
// may do so without waiting for an answer.
func AppendExtendedCopy(dst []byte, sql string) []byte {
	dst = AppendParse(dst, "", sql, nil)
	dst = AppendBind(dst, &Bind{})
	return AppendExecute(dst, "", 0)
}

func appendTarget(dst []byte, kind byte, what Target, name string) []byte {
	dst = AppendHeader(dst, kind, len(name)+2)
	return appendString(append(dst, byte(what)), name)
}

func appendFormats(dst []byte, formats []int16) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(formats)))
	for _, f := range formats {
		dst = binary.BigEndian.AppendUint16(dst, uint16(f))
	}
	return dst
}

func appendString(dst []byte, s string) []byte {
	return append(append(dst, s...), 0)
}

// open starts a frame whose length closeFrame fills in.
func open(dst []byte, kind byte) (extended []byte, start int) {
	return AppendHeader(dst, kind, 0), len(dst)
}

func closeFrame(dst []byte, start int) []byte {
	binary.BigEndian.PutUint32(dst[start+1:], uint32(len(dst)-start-1))
	return dst
}
