package gateway

import (
	"io"
	"net"
	"sync"
	"syscall"
)

// probeSize is the block in which a direction waits for what comes over TLS: crypto/tls wants a place for the bytes before
// they are there. Two a session make 8 MB for 1000 sessions.
const probeSize = 4 << 10

// buffer is a piece of memory of a pool.
type buffer struct{ bytes []byte }

// blockPool lends blocks of one size.
type blockPool struct {
	size int
	pool sync.Pool
}

func newBlockPool(size int) *blockPool {
	return &blockPool{size: size, pool: sync.Pool{New: func() any { return &buffer{bytes: make([]byte, size)} }}}
}

func (p *blockPool) take() *buffer { return p.pool.Get().(*buffer) }

func (p *blockPool) give(b *buffer) { p.pool.Put(b) }

// intake reads a connection block by block, and holds a block only while there is something in it.
type intake struct {
	conn net.Conn
	pool *blockPool
	raw  syscall.RawConn // nil: over TLS, or no socket at all

	try   func(fd uintptr) bool // in.attempt, bound once
	carry []byte                // goes before what is read next
	held  *buffer
	n     int
	err   error
	bulk  bulk

	probe []byte
	wide  bool // the last read over TLS filled its block: more is likely to be there
}

func newIntake(conn net.Conn, pool *blockPool) *intake {
	in := &intake{conn: conn, pool: pool}
	if sc, ok := conn.(syscall.Conn); ok && canAttempt {
		if raw, err := sc.SyscallConn(); err == nil {
			in.raw, in.bulk.raw = raw, raw
			in.try = in.attempt
			return in
		}
	}
	in.probe = make([]byte, probeSize)
	return in
}

// unread puts bytes back: at most half a block of them, to go before what next returns. They may lie in the block that next
// returned last.
func (in *intake) unread(b []byte) { in.carry = append(in.carry[:0], b...) }

// next waits for bytes and returns them after those that were unread. They are good until done. With an error there may be
// bytes too: those that were unread.
func (in *intake) next() ([]byte, error) {
	if in.raw == nil {
		return in.nextPortable()
	}
	in.n, in.err = 0, nil
	// The error of the read itself says more than that of the attempt to make it.
	if err := in.raw.Read(in.try); err != nil && in.err == nil {
		in.err = err
	}
	if in.held == nil {
		return in.leftover(in.err)
	}
	return in.held.bytes[:in.n], nil
}

func (in *intake) nextPortable() ([]byte, error) {
	b := in.probe
	if in.wide {
		in.held = in.pool.take()
		b = in.held.bytes
	}
	k := copy(b, in.carry)
	n, err := in.conn.Read(b[k:])
	in.wide = n == len(b)-k
	if n == 0 {
		in.done()
		return in.leftover(err)
	}
	in.carry = in.carry[:0]
	// The error comes again with the next read.
	return b[:k+n], nil
}

// leftover is what next returns at an error, or for a reader that returned neither bytes nor an error.
func (in *intake) leftover(err error) ([]byte, error) {
	if err == nil {
		err = io.ErrNoProgress
	}
	return in.carry, err
}

// close ends the reading. The connection stays open.
func (in *intake) close() {
	in.done()
	in.bulk.stop()
}

// done gives the block of the last next back.
func (in *intake) done() {
	if in.held != nil {
		in.pool.give(in.held)
		in.held = nil
	}
}
