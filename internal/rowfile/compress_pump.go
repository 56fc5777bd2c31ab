package rowfile

import (
	"errors"
	"io"
	"sync"
	"time"
)

// A pump has pumpBuffers of pumpBuffer bytes: enough that the decompressor and the parsers need not wait for each other, and nothing besides 128 MB.
const (
	pumpBuffer  = 128 << 10
	pumpBuffers = 3
)

// wakeEvery is how often a source that is being read when it is no longer wanted is woken, until its reader has noticed.
const wakeEvery = 10 * time.Millisecond

// errClosed is what a closed stream answers.
var errClosed = errors.New("the stream is closed")

// pump reads a source in a goroutine of its own, ahead of the one that takes its bytes.
type pump struct {
	full  chan []byte // what was read, in order; closed at the end
	free  chan []byte
	quit  chan struct{} // closed when nothing more is wanted
	ended chan struct{} // closed when the goroutine has returned
	halts sync.Once
	cause error // why quit is closed
	err   error // what ended the source, set before full is closed

	taken, rest []byte // the buffer that Read is at
}

// startPump starts reading, and drops the first skip bytes. The source is closed by the goroutine that reads it.
func startPump(src io.ReadCloser, skip int64, short func(size int64) error) *pump {
	p := &pump{
		full: make(chan []byte, pumpBuffers), free: make(chan []byte, pumpBuffers),
		quit: make(chan struct{}), ended: make(chan struct{}),
	}
	for range pumpBuffers {
		p.free <- nil // made when it is first needed: most files that are looked at are small
	}
	go func() {
		defer close(p.ended)
		defer close(p.full)
		p.err = p.run(src, skip, short)
		if err := src.Close(); p.err == nil {
			p.err = err
		}
		if p.err == nil {
			p.err = io.EOF
		}
	}()
	return p
}

// run reads until the end, which is nil, an error, or quit.
func (p *pump) run(src io.Reader, skip int64, short func(int64) error) error {
	for skipped := int64(0); ; {
		var buf []byte
		select {
		case buf = <-p.free:
		case <-p.quit:
			return p.cause
		}
		if buf == nil {
			buf = make([]byte, pumpBuffer)
		}
		buf = buf[:cap(buf)]
		n, err := readSome(src, buf)
		drop := int(min(int64(n), skip-skipped))
		skipped += int64(drop)
		if n > drop {
			n = copy(buf, buf[drop:n])
			p.full <- buf[:n] // never blocks: it has room for all buffers
		} else {
			p.free <- buf
		}
		switch {
		case err == io.EOF && skipped < skip: //nolint:errorlint // the bare io.EOF alone is the end
			return short(skipped)
		case err == io.EOF: //nolint:errorlint // as above
			return nil
		case err != nil:
			return err
		}
	}
}

// readSome reads at least one byte, or returns an error.
func readSome(src io.Reader, p []byte) (int, error) {
	// As in bufio: a source that gives nothing a hundred times is broken.
	for range 100 {
		if n, err := src.Read(p); n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

// Read implements io.Reader.
func (p *pump) Read(to []byte) (int, error) {
	for len(p.rest) == 0 {
		if p.taken != nil {
			p.free <- p.taken
			p.taken = nil
		}
		select {
		case <-p.quit:
			return 0, p.cause
		default:
		}
		select {
		case buf, more := <-p.full:
			if !more {
				return 0, p.err
			}
			p.taken, p.rest = buf[:0], buf
		case <-p.quit:
			return 0, p.cause
		}
	}
	n := copy(to, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// halt makes the reading end and Read fail with the cause. It does not wait.
func (p *pump) halt(cause error) {
	p.halts.Do(func() {
		p.cause = cause
		close(p.quit)
	})
}

// wait returns when the goroutine has ended, halted or by itself. wake interrupts a read that is under way, and says whether it can.
func (p *pump) wait(wake func() bool) {
	ticks := time.NewTicker(wakeEvery)
	defer ticks.Stop()
	for {
		select {
		case <-p.ended:
			return
		default:
		}
		if !wake() {
			// A reader without deadlines, such as a terminal's, can be stuck in a read that nothing ends but its next byte or its end. Waiting
			// for that would make a cancelled program hang.
			return
		}
		// A wake can come a moment before the read that it is meant for.
		select {
		case <-p.ended:
			return
		case <-ticks.C:
		}
	}
}
