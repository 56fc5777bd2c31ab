package copyfmt

import "io"

// firstBuffer is the size a Reader's buffer starts with, in bytes.
const firstBuffer = 64 << 10

// window is the part of a stream that is in memory.
type window struct {
	src        io.Reader
	buf        []byte
	start, end int
	offset     int64 // of start in the stream
	err        error // of src; comes up when the buffer is used up
}

// data returns what is read and not yet taken.
func (w *window) data() []byte { return w.buf[w.start:w.end] }

// take passes over n bytes.
func (w *window) take(n int) {
	w.start += n
	w.offset += int64(n)
}

// more reads at least one byte more, moving and enlarging the buffer when it
// is full. It returns false when the stream has ended or failed: see err.
func (w *window) more() bool {
	if w.err != nil {
		return false
	}
	if w.start == w.end {
		w.start, w.end = 0, 0
	}
	if w.end == len(w.buf) {
		w.makeRoom()
	}
	// As in bufio: a source that gives nothing a hundred times is broken.
	for range 100 {
		n, err := w.src.Read(w.buf[w.end:])
		w.end += n
		w.err = err
		if n > 0 {
			return true
		}
		if err != nil {
			return false
		}
	}
	w.err = io.ErrNoProgress
	return false
}

// makeRoom moves the data to the buffer's start, into a larger one when less
// than half of it is free then: moving alone would cost a copy for each few
// bytes.
func (w *window) makeRoom() {
	to := w.buf
	if w.end-w.start > len(w.buf)/2 || len(w.buf) == 0 {
		to = make([]byte, max(2*len(w.buf), firstBuffer))
	}
	n := copy(to, w.buf[w.start:w.end])
	w.buf, w.start, w.end = to, 0, n
}
