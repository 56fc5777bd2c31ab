//go:build unix

package gateway

import (
	"errors"
	"io"
	"syscall"
)

// canAttempt: a socket can be asked for bytes without waiting.
const canAttempt = true

// attempt reads what the socket has now, and reports whether next is to return: false lets it wait, without a block, until
// the socket is readable.
func (in *intake) attempt(fd uintptr) bool {
	in.held = in.pool.take()
	k := copy(in.held.bytes, in.carry)
	for {
		n, err := syscall.Read(int(fd), in.held.bytes[k:])
		switch {
		case n > 0:
			in.carry = in.carry[:0]
			in.n = k + n
			in.bulk.read(int(fd), n, in.pool.size)
			return true
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EAGAIN):
			in.done()
			in.bulk.wait()
			return false
		case err == nil:
			err = io.EOF
		}
		in.done()
		in.err = err
		return true
	}
}
