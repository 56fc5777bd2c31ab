package gateway

import (
	"crypto/tls"
	"io"
	"net"
	"sync"
)

const (
	// recordSize is the most that one TLS record carries, in bytes. libpq reads 8 kB at a time; what is left of a longer
	// record stays inside OpenSSL, and a client that waits for its socket to become readable waits for ever.
	recordSize = 8 << 10

	// gatherLimit is how many bytes of records leave in one system call.
	gatherLimit = 64 << 10
)

// encrypted is a TLS connection whose writes leave in records of at most recordSize, many in one system call.
type encrypted struct {
	*tls.Conn
	records *records
}

// Write writes all of b.
func (e *encrypted) Write(b []byte) (int, error) {
	if len(b) <= recordSize {
		return e.Conn.Write(b)
	}
	e.records.begin()
	written := 0
	var err error
	for written < len(b) && err == nil {
		var n int
		n, err = e.Conn.Write(b[written:min(written+recordSize, len(b))])
		written += n
	}
	if flushErr := e.records.end(); err == nil {
		err = flushErr
	}
	return written, err
}

// records is the socket under a TLS connection. Between begin and end it gathers what is written.
type records struct {
	net.Conn

	// Reading may write too: an alert, or the answer to a change of keys.
	mu        sync.Mutex
	gathering bool
	buffer    []byte
}

// Write writes b now, or with those of the same begin.
func (r *records) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.gathering {
		return r.Conn.Write(b)
	}
	r.buffer = append(r.buffer, b...)
	if len(r.buffer) < gatherLimit {
		return len(b), nil
	}
	if err := r.flush(); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (r *records) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gathering = true
}

// end writes what is left. The buffer goes: an idle session keeps none.
func (r *records) end() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gathering = false
	err := r.flush()
	r.buffer = nil
	return err
}

func (r *records) flush() error {
	if len(r.buffer) == 0 {
		return nil
	}
	_, err := r.Conn.Write(r.buffer)
	r.buffer = r.buffer[:0]
	return err
}

// CloseWrite ends the socket's direction: TLS has said so before.
func (r *records) CloseWrite() error { return closeWrite(r.Conn) }

// replayed gives bytes that were read before to the next reader.
type replayed struct {
	net.Conn
	before []byte
}

// Read reads what was read before, then the connection.
func (r *replayed) Read(b []byte) (int, error) {
	if len(r.before) > 0 {
		n := copy(b, r.before)
		r.before = r.before[n:]
		return n, nil
	}
	return r.Conn.Read(b)
}

// CloseWrite ends the connection's direction to the peer.
func (r *replayed) CloseWrite() error { return closeWrite(r.Conn) }

// readHead fills b. A connection without a single byte is a probe.
func readHead(r io.Reader, b []byte) error {
	n, err := io.ReadFull(r, b)
	if n == 0 && err != nil {
		return errNoPacket
	}
	return err
}
