package datadir

import (
	"errors"
	"fmt"
	"iter"

	"github.com/pghaul/pghaul/internal/heap"
)

const (
	history   = 64 << 10  // how far back LZ4 refers; pglz refers 4095 bytes back
	streamed  = 128 << 10 // bytes handed on at once, at least, but the last ones
	shortRun  = 18        // a pglz length that another byte follows (pg_lzcompress.c)
	lz4Longer = 15        // a length in an LZ4 token that further bytes follow
)

var (
	errStreamEnd  = errors.New("the compressed value is cut")
	errStreamBack = errors.New("the compressed value refers to before its start")
)

// Stream visits the payload of a varlena in parts, decompressed, without ever holding a long external value as a whole. Each part is
// good during its visit. The error is a *Damage or that of visit; parts were visited before it.
func (x *Toaster) Stream(varlena []byte, visit func(part []byte) error) error {
	v, _, err := heap.ParseVarlena(varlena)
	if err != nil {
		return &Damage{Cause: err}
	}
	if !v.External {
		payload, err := x.Payload(varlena)
		if err != nil {
			return err
		}
		return visit(payload)
	}
	var visitErr error
	noted := func(part []byte) error {
		visitErr = visit(part)
		return visitErr
	}
	if v.Pointer.Compression == heap.NoCompression {
		err = x.Chunks(v.Pointer, noted)
	} else {
		err = x.inflate(v, noted)
	}
	if visitErr != nil {
		return visitErr
	}
	if err != nil {
		return &Damage{Cause: err}
	}
	return nil
}

// inflate decompresses an external value while its chunks are read.
func (x *Toaster) inflate(v heap.Varlena, visit func(part []byte) error) error {
	var chunkErr error
	next, stop := iter.Pull(func(yield func([]byte) bool) {
		enough := errors.New("enough")
		chunkErr = x.Chunks(v.Pointer, func(chunk []byte) error {
			if !yield(chunk) {
				return enough
			}
			return nil
		})
		if errors.Is(chunkErr, enough) {
			chunkErr = nil
		}
	})
	s := &source{next: next}
	head := uint32(s.byte()) | uint32(s.byte())<<8 | uint32(s.byte())<<16 | uint32(s.byte())<<24
	w := &window{visit: visit, size: v.RawSize, bytes: x.window[:0]}
	switch {
	case s.ended:
		w.err = errStreamEnd
	case int(head&0x3FFFFFFF) != v.RawSize:
		w.err = fmt.Errorf("TOAST value %d states another size than the pointer to it", v.Pointer.ValueID)
	case v.Pointer.Compression == heap.PGLZ:
		w.pglz(s)
	default:
		w.lz4(s)
	}
	if w.err == nil {
		w.finish(s)
	}
	stop()
	x.window = w.bytes
	if chunkErr != nil {
		return chunkErr // the reason why the compressed bytes ended
	}
	return w.err
}

// source gives compressed bytes. Behind their end it gives zeros, and ended is set.
type source struct {
	next  func() ([]byte, bool)
	chunk []byte
	ended bool
}

// more reports whether a byte is left.
func (s *source) more() bool {
	for len(s.chunk) == 0 && !s.ended {
		chunk, ok := s.next()
		s.chunk, s.ended = chunk, !ok
	}
	return len(s.chunk) > 0
}

func (s *source) byte() byte {
	if !s.more() {
		return 0
	}
	b := s.chunk[0]
	s.chunk = s.chunk[1:]
	return b
}

// window is the end of what was decompressed: what references can reach, and what was not handed on yet.
type window struct {
	visit func(part []byte) error
	bytes []byte
	first int // of the bytes that were not handed on
	total int
	size  int // that the value must have
	err   error
}

// room hands bytes on and drops those that no reference reaches, and fails where the value would become too long.
func (w *window) room(n int) bool {
	if w.total += n; w.total > w.size {
		w.err = fmt.Errorf("the compressed value has more bytes than the %d that it states", w.size)
	}
	if w.err == nil && len(w.bytes)-w.first >= streamed {
		w.err = w.visit(w.bytes[w.first:])
		w.first = copy(w.bytes, w.bytes[max(0, len(w.bytes)-history):])
		w.bytes = w.bytes[:w.first]
	}
	return w.err == nil
}

// literals takes n bytes as they are.
func (w *window) literals(s *source, n int) {
	for n > 0 && w.err == nil {
		if !s.more() {
			w.err = errStreamEnd
			return
		}
		part := min(n, len(s.chunk))
		if w.room(part) {
			w.bytes = append(w.bytes, s.chunk[:part]...)
		}
		s.chunk = s.chunk[part:]
		n -= part
	}
}

// repeat takes n bytes from some way back; they may overlap with those that it makes.
func (w *window) repeat(back, n int) {
	for n > 0 && w.err == nil {
		if back == 0 || back > len(w.bytes) {
			w.err = errStreamBack
			return
		}
		part := min(n, back, streamed)
		if w.room(part) {
			from := len(w.bytes) - back
			w.bytes = append(w.bytes, w.bytes[from:from+part]...)
		}
		n -= part
		if back+part <= history { // what was made repeats too: the next step takes twice as much
			back += part
		}
	}
}

// pglz reads the format of pg_lzcompress.c: for each bit of a control byte, the lowest first, a literal or a reference.
func (w *window) pglz(s *source) {
	for w.err == nil && w.total < w.size && s.more() {
		control := s.byte()
		for bit := 0; bit < 8 && w.err == nil && w.total < w.size && s.more(); bit++ {
			if control>>bit&1 == 0 {
				w.literals(s, 1)
				continue
			}
			high, low := s.byte(), s.byte()
			n := int(high&0x0F) + 3
			if n == shortRun {
				n += int(s.byte())
			}
			if s.ended {
				w.err = errStreamEnd
				return
			}
			w.repeat(int(high&0xF0)<<4|int(low), min(n, w.size-w.total))
		}
	}
}

// lz4 reads the LZ4 block format: a token with two lengths, literals, and a reference, which the last sequence lacks.
func (w *window) lz4(s *source) {
	for w.err == nil && s.more() {
		token := s.byte()
		w.literals(s, w.length(s, int(token>>4)))
		if w.err != nil || !s.more() {
			return
		}
		low, high := s.byte(), s.byte()
		n := w.length(s, int(token&0x0F)) + 4
		if s.ended {
			w.err = errStreamEnd
			return
		}
		w.repeat(int(high)<<8|int(low), n)
	}
}

// length reads the further bytes of a length.
func (w *window) length(s *source, n int) int {
	if n < lz4Longer {
		return n
	}
	for b := byte(255); b == 255 && n <= w.size; {
		b = s.byte()
		n += int(b)
	}
	return n
}

// finish checks that all was taken and the value is whole, and hands the rest on.
func (w *window) finish(s *source) {
	if w.total != w.size || s.more() {
		w.err = fmt.Errorf("the compressed value has %d bytes and not the %d that it states", w.total, w.size)
		return
	}
	if w.first < len(w.bytes) {
		w.err = w.visit(w.bytes[w.first:])
	}
}
