package wire

import (
	"encoding/binary"
	"errors"
)

// ErrFull is returned by Coalescer.Push while a full frame waits to be taken.
var ErrFull = errors.New("the output frame is full and was not taken")

// Message is one message that is not CopyData. Body is good until the next
// Push.
type Message struct {
	Type byte // 0: no message
	Body []byte
}

// Coalescer joins the payloads of a source's CopyData frames, of which a
// server sends one for each row, into CopyData frames of a fixed size, and
// cuts larger ones. Rows may be split anywhere between frames; the target
// does not care (manual, "COPY Operations").
//
// It holds one output frame and at most MessageLimit bytes of a cut message;
// it never grows with rows. Rows are not held back but in the frame that is
// being filled: when the source has nothing more to read just now, take the
// frame as far as it is filled.
//
//	for len(block) > 0 {
//		used, msg, err := c.Push(block)
//		if err != nil { ... }
//		block = block[used:]
//		if c.Full() || msg.Type == wire.TypeCopyDone {
//			send(c.Frame()) // nil when empty
//			c.Reset()
//		}
//		if msg.Type != 0 { ... }
//	}
//
// A message comes in its place: the bytes of the current frame were sent
// before it. A Coalescer is for one goroutine.
type Coalescer struct {
	out    []byte // header and payload of the frame that is being filled
	end    int    // bytes of out in use
	frames int64
	bytes  int64
	scan   *Scanner // for what is not wholly inside a block
}

// NewCoalescer returns a coalescer whose output frames have size bytes of
// payload; 0 means FrameSize.
func NewCoalescer(size int) *Coalescer {
	if size <= 0 {
		size = FrameSize
	}
	return &Coalescer{out: make([]byte, HeaderSize+size), end: HeaderSize, scan: NewScanner(0)}
}

// Push takes bytes from the start of block until the output frame is full, a
// message that is not CopyData is complete, or block is used up. It returns
// how many it took. Errors are *FrameError, which stick, and ErrFull, which
// goes away with Reset.
func (c *Coalescer) Push(block []byte) (used int, msg Message, err error) {
	if c.Full() {
		return 0, Message{}, ErrFull
	}
	for used < len(block) {
		used += c.pushWhole(block[used:])
		if c.Full() || used == len(block) {
			return used, Message{}, nil
		}
		n, msg, err := c.pushPart(block[used:])
		used += n
		if err != nil || msg.Type != 0 || c.Full() {
			return used, msg, err
		}
	}
	return used, Message{}, nil
}

// Full reports whether the output frame has no room left.
func (c *Coalescer) Full() bool { return c.end == len(c.out) }

// Len returns the payload bytes of the frame that is being filled.
func (c *Coalescer) Len() int { return c.end - HeaderSize }

// Frame returns the output frame with its header, ready to be sent, or nil
// when it has no payload. It is good until Reset or Push.
func (c *Coalescer) Frame() []byte {
	if c.end == HeaderSize {
		return nil
	}
	c.out[0] = TypeCopyData
	binary.BigEndian.PutUint32(c.out[1:], uint32(c.end-1))
	return c.out[:c.end]
}

// Reset empties the output frame once it was sent.
func (c *Coalescer) Reset() { c.end = HeaderSize }

// Frames returns how many CopyData frames of the source were begun. In COPY
// text it is the number of rows that have come; in binary the trailer is one
// more. For progress only: how many rows were copied is for CommandComplete
// to say.
func (c *Coalescer) Frames() int64 { return c.frames }

// Bytes returns how many payload bytes were taken.
func (c *Coalescer) Bytes() int64 { return c.bytes }

// Idle reports whether the source stands between two messages: its stream may
// end here.
func (c *Coalescer) Idle() bool { return c.scan.Idle() }

// pushWhole takes CopyData frames as long as each lies wholly inside block
// and fits into the output frame. This is where 20 million rows go, so it
// keeps everything in local variables and leaves each odd case to pushPart.
func (c *Coalescer) pushWhole(block []byte) (used int) {
	if !c.scan.Idle() {
		return 0
	}
	out, end := c.out, c.end
	frames := int64(0)
	for len(block)-used >= HeaderSize && block[used] == TypeCopyData {
		length := binary.BigEndian.Uint32(block[used+1:])
		body := int(length) - 4
		payload := block[used+HeaderSize:]
		if body < 0 || body > len(payload) || body > len(out)-end {
			break
		}
		copy(out[end:], payload[:body])
		end += body
		used += HeaderSize + body
		frames++
	}
	c.bytes += int64(end - c.end)
	c.frames += frames
	c.end = end
	return used
}

// pushPart takes one step by the scanner: a header or the rest of one, or a
// piece of a body. The scanner is shown no more than may be taken: it cannot
// give back bytes of a CopyData body that the output frame has no room for.
func (c *Coalescer) pushPart(block []byte) (used int, msg Message, err error) {
	show := len(block)
	switch kind, inside := c.scan.inside(); {
	case !inside:
		show = c.scan.headerLeft()
	case kind == TypeCopyData:
		show = len(c.out) - c.end
	}
	used, ev, err := c.scan.Next(block[:min(show, len(block))])
	if err != nil {
		return used, Message{}, err
	}
	if ev.Type != TypeCopyData {
		return used, Message{Type: ev.Type, Body: ev.Body}, nil
	}
	if ev.First {
		c.frames++
	}
	c.end += copy(c.out[c.end:], ev.Body)
	c.bytes += int64(len(ev.Body))
	return used, Message{}, nil
}
