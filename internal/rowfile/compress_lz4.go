package rowfile

import (
	"encoding/binary"
	"io"
)

// lz4Ends follows the frames of an lz4 stream (LZ4 Frame Format) that passes through it, to know whether the stream ended at a frame's end: the
// decoder takes the end of the data between two blocks for the end of the frame.
type lz4Ends struct {
	src    io.Reader
	cut    [4]byte // of a number that a read cut
	filled int
	skip   int64 // bytes to pass over before it
	state  lz4Part
	flags  byte
}

// lz4Part is what lz4Ends expects next.
type lz4Part int

const (
	lz4Magic     lz4Part = iota
	lz4Flags             // one byte, then descriptor
	lz4Block             // a size
	lz4Skippable         // the size of a frame without contents
)

// Read implements io.Reader.
func (l *lz4Ends) Read(p []byte) (int, error) {
	n, err := l.src.Read(p)
	l.follow(p[:n])
	return n, err
}

// whole reports whether what was read ends with a frame.
func (l *lz4Ends) whole() bool { return l.state == lz4Magic && l.filled == 0 && l.skip == 0 }

func (l *lz4Ends) follow(p []byte) {
	for len(p) > 0 {
		if l.skip > 0 {
			n := min(l.skip, int64(len(p)))
			l.skip -= n
			p = p[n:]
			continue
		}
		if l.state == lz4Flags {
			l.descriptor(p[0])
			p = p[1:]
			continue
		}
		n := copy(l.cut[l.filled:], p)
		l.filled += n
		p = p[n:]
		if l.filled == len(l.cut) {
			l.filled = 0
			l.number(binary.LittleEndian.Uint32(l.cut[:]))
		}
	}
}

// descriptor takes the frame's flags: what follows them is a byte on block sizes, the contents' size, the dictionary's number, and a check byte.
func (l *lz4Ends) descriptor(flags byte) {
	l.flags = flags
	l.skip = 2
	if flags&0x08 != 0 {
		l.skip += 8
	}
	if flags&0x01 != 0 {
		l.skip += 4
	}
	l.state = lz4Block
}

func (l *lz4Ends) number(n uint32) {
	switch l.state {
	case lz4Magic:
		l.state = lz4Flags
		if n&^0xf == 0x184d2a50 {
			l.state = lz4Skippable
		}
	case lz4Skippable:
		l.skip, l.state = int64(n), lz4Magic
	case lz4Block:
		if n == 0 { // the end mark
			l.state = lz4Magic
			if l.flags&0x04 != 0 {
				l.skip = 4
			}
			return
		}
		l.skip = int64(n &^ (1 << 31)) // the highest bit: not compressed
		if l.flags&0x10 != 0 {
			l.skip += 4
		}
	}
}
