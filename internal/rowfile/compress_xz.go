package rowfile

import (
	"errors"
	"io"
)

// xzHead is how much of an .xz file checkXz looks at: the stream's header and the largest useful block header.
const xzHead = 64

// errXzFilter says that a file has other filters than LZMA2, such as those for machine code.
var errXzFilter = errors.New("xz: unsupported filter")

// checkXz looks at the first block of an .xz file (The .xz File Format, "Block Header"): at its filters, and at the size of the dictionary, which the
// decoder allocates at once, up to 4 GB.
func checkXz(head []byte) error {
	const header, lzma2 = 12, 0x21
	at := header
	if len(head) < at+2 || head[at] == 0 {
		return nil // no block: an empty file
	}
	flags := head[at+1]
	if flags&3 != 0 {
		return errXzFilter
	}
	at += 2
	for _, present := range []bool{flags&0x40 != 0, flags&0x80 != 0} { // sizes, of seven bits a byte
		for more := present; more && at < len(head); at++ {
			more = head[at]&0x80 != 0
		}
	}
	if at+3 > len(head) {
		return nil // the decoder says what is wrong
	}
	if head[at] != lzma2 {
		return errXzFilter
	}
	const code64MB = 28 // (2 | code&1) << (code/2 + 11)
	if head[at+2] > code64MB {
		return errWindow
	}
	return nil
}

// xzEnds looks at the last bytes of an .xz file that passes through it: each stream ends with "YZ", behind which only zeros may stand.
type xzEnds struct {
	src  io.Reader
	last [2]byte
}

// Read implements io.Reader.
func (x *xzEnds) Read(p []byte) (int, error) {
	n, err := x.src.Read(p)
	end := n
	for end > 0 && p[end-1] == 0 {
		end--
	}
	if end > 1 {
		x.last = [2]byte{p[end-2], p[end-1]}
	} else if end == 1 {
		x.last = [2]byte{x.last[1], p[0]}
	}
	return n, err
}

func (x *xzEnds) whole() bool { return string(x.last[:]) == "YZ" }
