//go:build !linux

package gateway

import "syscall"

// bulk has no effect: other systems do not promise to wake up a reader when SO_RCVLOWAT is set back.
type bulk struct{ raw syscall.RawConn }

func (b *bulk) read(_, _, _ int) {}

func (b *bulk) wait() {}

func (b *bulk) stop() {}
