package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// BodyError says that a message's body is not as its type demands.
type BodyError struct {
	Type byte
	Want string // what was expected and not found
}

// Error returns the message's type and what was missing.
func (e *BodyError) Error() string {
	return fmt.Sprintf("message of type %q has no %s", e.Type, e.Want)
}

// body reads a message's body. The first failure sticks, and from then on
// every read gives zero values, so a parser checks once at its end.
type body struct {
	kind byte
	rest []byte
	err  error
}

func (b *body) fail(want string) {
	if b.err == nil {
		b.err = &BodyError{Type: b.kind, Want: want}
	}
	b.rest = nil
}

func (b *body) byte(want string) byte {
	if len(b.rest) < 1 {
		b.fail(want)
		return 0
	}
	c := b.rest[0]
	b.rest = b.rest[1:]
	return c
}

func (b *body) int16(want string) int16 {
	if len(b.rest) < 2 {
		b.fail(want)
		return 0
	}
	v := int16(binary.BigEndian.Uint16(b.rest))
	b.rest = b.rest[2:]
	return v
}

func (b *body) string(want string) string {
	end := bytes.IndexByte(b.rest, 0)
	if end < 0 {
		b.fail(want)
		return ""
	}
	s := string(b.rest[:end])
	b.rest = b.rest[end+1:]
	return s
}

// end fails when bytes are left.
func (b *body) end() error {
	if b.err == nil && len(b.rest) > 0 {
		b.fail("end where it should")
	}
	return b.err
}
