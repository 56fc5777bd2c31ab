package gateway

import (
	"encoding/binary"

	"github.com/pghaul/pghaul/internal/wire"
)

// verdict says what becomes of a message.
type verdict int

const (
	// pass: it goes on as it comes, in pieces. Its body is never held.
	pass verdict = iota
	// whole: it is gathered, and take is asked.
	whole
	// drop: its bytes vanish as they come.
	drop
)

// hook is what acceleration adds to a direction. Its methods are called by the direction's own goroutine.
type hook interface {
	// wants is asked at each message's header; length is that of the body, in bytes. A hook bounds its memory by letting
	// pass what is too long to be gathered.
	wants(kind byte, length int) verdict

	// take gets a message that wants asked for whole, header included, good until it returns. A quiet may lie between the
	// two: a long message comes in several blocks. With true it goes on behind all that came before it; with false the
	// hook has dealt with it. An error ends the session.
	take(message []byte) (bool, error)

	// quiet is called when all that was read has been dealt with, as far as it is complete, before the direction waits for
	// more.
	quiet() error
}

// cutter cuts a direction's blocks into runs that pass in one write, and messages that a hook takes.
type cutter struct {
	hook hook                 // nil passes all
	out  func(b []byte) error // writes to the peer

	block    []byte
	from, to int // of block: decided to pass and not yet written

	left   int // bytes of the current message that are to come
	fate   verdict
	gather []byte
	lost   bool // no valid header where one should be: all passes, for the peer to judge
}

// feed deals with a block. It returns what must come again before the next block: a header that is cut off.
func (c *cutter) feed(b []byte) (rest []byte, err error) {
	c.block, c.from, c.to = b, 0, 0
	for c.to < len(b) && !c.lost {
		if c.left > 0 {
			err = c.goOn()
		} else if len(b)-c.to < wire.HeaderSize {
			break
		} else {
			err = c.begin()
		}
		if err != nil {
			return nil, err
		}
	}
	if c.lost {
		c.to = len(b)
	}
	rest = b[c.to:]
	if err := c.flush(); err != nil {
		return nil, err
	}
	c.block, c.from, c.to = nil, 0, 0
	if c.hook != nil {
		return rest, c.hook.quiet()
	}
	return rest, nil
}

// begin decides on the message whose header stands at to.
func (c *cutter) begin() error {
	kind := c.block[c.to]
	length := binary.BigEndian.Uint32(c.block[c.to+1:])
	// A length below 4 wraps around.
	if kind <= ' ' || kind >= 0x7f || length-4 > wire.MaxBody {
		c.lost = true
		return nil
	}
	total := int(length) + 1
	c.fate = pass
	if c.hook != nil {
		c.fate = c.hook.wants(kind, total-wire.HeaderSize)
	}
	there := len(c.block) - c.to
	switch {
	case c.fate == whole && total <= there:
		return c.show(c.block[c.to : c.to+total])
	case c.fate == pass && total <= there:
		c.to += total
		return nil
	case c.fate == whole:
		c.gather = make([]byte, 0, total)
	}
	c.left = total
	return nil
}

// show gives the hook a message that lies in the block, at to.
func (c *cutter) show(message []byte) error {
	on, err := c.hook.take(message)
	if err != nil {
		return err
	}
	if on {
		c.to += len(message)
		return nil
	}
	return c.skip(len(message))
}

// goOn deals with what the block has of a message that began before.
func (c *cutter) goOn() error {
	n := min(c.left, len(c.block)-c.to)
	c.left -= n
	if c.fate == pass {
		c.to += n
		return nil
	}
	if c.fate == whole {
		c.gather = append(c.gather, c.block[c.to:c.to+n]...)
	}
	if err := c.skip(n); err != nil || c.fate == drop || c.left > 0 {
		return err
	}
	message := c.gather
	c.gather = nil
	on, err := c.hook.take(message)
	if err != nil || !on {
		return err
	}
	return c.send(message)
}

// skip passes over n bytes of the block.
func (c *cutter) skip(n int) error {
	if err := c.flush(); err != nil {
		return err
	}
	c.to += n
	c.from = c.to
	return nil
}

// send writes b to the peer, behind all that was decided to pass.
func (c *cutter) send(b []byte) error {
	if err := c.flush(); err != nil {
		return err
	}
	return c.out(b)
}

func (c *cutter) flush() error {
	if c.from == c.to {
		return nil
	}
	run := c.block[c.from:c.to]
	c.from = c.to
	return c.out(run)
}

// border tells whether what the peer has got so far ends with a message's end.
func (c *cutter) border() bool { return !c.lost && (c.left == 0 || c.fate != pass) }
