package rowfile

import (
	"context"
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/pghaul/pghaul/planner"
)

// stdinName is standard input as messages call it.
const stdinName = "standard input"

// once is a stream that can be read only one time: standard input, a pipe, a device. What was read of it to look at it is kept and read again.
type once struct {
	pump  *pump
	raw   onceReader
	u     *unpacker
	head  []byte   // read, and to be read again
	spool *scratch // and what of it was read behind that; nil for none
	taken bool
}

// onceReader is where the bytes of a once come from.
type onceReader interface {
	io.ReadCloser
	consumed() int64
	// wake interrupts a read that is under way, and says whether it can.
	wake() bool
}

// newOnce begins to read a stream.
func newOnce(name string, raw onceReader) *once {
	u := &unpacker{name: name, src: raw}
	return &once{pump: startPump(u, 0, nil), raw: raw, u: u}
}

// look returns up to size bytes of the start. It may be called before the stream is read, again and again.
func (o *once) look(ctx context.Context, size int) ([]byte, error) {
	stop := context.AfterFunc(ctx, func() { o.pump.halt(context.Cause(ctx)) })
	defer stop()
	for len(o.head) < size {
		at := len(o.head)
		o.head = append(o.head, make([]byte, size-at)...)
		n, err := o.pump.Read(o.head[at:])
		o.head = o.head[:at+n]
		if err == io.EOF { //nolint:errorlint // the bare io.EOF alone is the end
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return o.head, nil
}

// Read implements io.Reader behind what was kept.
func (o *once) Read(p []byte) (int, error) { return o.pump.Read(p) }

// contents is the whole stream. It can be asked for once.
func (o *once) contents(name string) (io.Reader, error) {
	if o.taken {
		return nil, readTwice(name)
	}
	o.taken = true
	if o.spool == nil {
		return io.MultiReader(&consumedBytes{left: o.head}, o), nil
	}
	return io.MultiReader(&consumedBytes{left: o.head}, o.spool.reader(), o), nil
}

func readTwice(name string) error {
	return &planner.Error{Message: fileWords(name) + " cannot be read a second time", Hint: "Give a regular file, which can."}
}

// close stops the reading.
func (o *once) close() {
	o.pump.halt(errClosed)
	o.pump.wait(o.raw.wake)
	if o.spool != nil {
		o.spool.release()
		o.spool = nil
	}
}

// consumedBytes reads bytes and forgets them.
type consumedBytes struct{ left []byte }

// Read implements io.Reader.
func (c *consumedBytes) Read(p []byte) (int, error) {
	if len(c.left) == 0 {
		c.left = nil
		return 0, io.EOF
	}
	n := copy(p, c.left)
	c.left = c.left[n:]
	return n, nil
}

// given is a stream that a program handed over, such as its standard input. It stays open: it is the program's.
type given struct {
	r    io.Reader
	read atomic.Int64
}

// Read implements io.Reader.
func (g *given) Read(p []byte) (int, error) {
	n, err := g.r.Read(p)
	g.read.Add(int64(n))
	return n, err
}

// Close does nothing.
func (g *given) Close() error { return nil }

func (g *given) consumed() int64 { return g.read.Load() }

// wake implements onceReader for what has deadlines: os.File for pipes, net.Conn.
func (g *given) wake() bool {
	d, ok := g.r.(interface{ SetReadDeadline(time.Time) error })
	return ok && d.SetReadDeadline(time.Unix(1, 0)) == nil
}

// special is a pipe or a device, opened by the goroutine that reads it, because opening a pipe waits for a writer.
type special struct {
	name, path string
	file       atomic.Pointer[os.File]
	read       atomic.Int64
}

// Read implements io.Reader.
func (s *special) Read(p []byte) (int, error) {
	if s.file.Load() == nil {
		f, err := os.Open(s.path)
		if err != nil {
			return 0, openError(s.name, err)
		}
		s.file.Store(f)
	}
	n, err := s.file.Load().Read(p)
	s.read.Add(int64(n))
	return n, err
}

// Close closes the file.
func (s *special) Close() error {
	if f := s.file.Load(); f != nil {
		return f.Close()
	}
	return nil
}

func (s *special) consumed() int64 { return s.read.Load() }

// wake implements onceReader. A pipe whose opening waits for a writer is given one, which goes away at once.
func (s *special) wake() bool {
	if f := s.file.Load(); f != nil {
		return f.SetReadDeadline(time.Unix(1, 0)) == nil
	}
	if w, err := os.OpenFile(s.path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
		_ = w.Close()
	}
	return true
}
