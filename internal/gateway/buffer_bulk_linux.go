package gateway

import (
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// bulkAfter is how many bytes have to come in reads of at least bulkRead each before a direction waits for more than the
	// first byte. Servers and libpq send 8 kB at a time, and waking up for each costs more than carrying them.
	bulkAfter = 8 << 20
	bulkRead  = 4 << 10

	// bulkPatience is how long less than half a block may lie in the socket. It is waited once at the end of a bulk transfer,
	// which has taken some 10 ms by then.
	bulkPatience = time.Millisecond
)

// bulk makes the kernel wake a direction for half a block instead of for each byte while large amounts pass, by SO_RCVLOWAT.
// It has no effect on Unix sockets.
type bulk struct {
	streak int
	on     atomic.Bool
	timer  *time.Timer
	raw    syscall.RawConn
}

// read notes a read of n bytes.
func (b *bulk) read(fd, n, size int) {
	if b.on.Load() {
		b.timer.Stop()
		return
	}
	if n < bulkRead {
		b.streak = 0
		return
	}
	if b.streak += n; b.streak < bulkAfter {
		return
	}
	b.streak = 0
	if syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, size/2) != nil {
		return // all goes on as before
	}
	if b.timer == nil {
		b.timer = time.AfterFunc(time.Hour, b.end)
		b.timer.Stop()
	}
	b.on.Store(true)
}

// wait notes that a direction begins to wait.
func (b *bulk) wait() {
	if b.on.Load() {
		b.timer.Reset(bulkPatience)
	}
}

// end goes back to waking up for each byte, and wakes up for those that are there.
func (b *bulk) end() {
	b.on.Store(false)
	// A socket that is closed wakes up by itself.
	_ = b.raw.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, 1)
	})
}

// stop ends the waiting for good.
func (b *bulk) stop() {
	if b.timer != nil {
		b.timer.Stop()
	}
}
