package gateway

import (
	"bytes"
	"encoding/binary"
)

// reader takes a message's body apart. The first failure sticks.
type reader struct {
	rest   []byte
	failed bool
}

func (r *reader) fail() { r.rest, r.failed = nil, true }

func (r *reader) text() []byte {
	end := bytes.IndexByte(r.rest, 0)
	if end < 0 {
		r.fail()
		return nil
	}
	s := r.rest[:end]
	r.rest = r.rest[end+1:]
	return s
}

func (r *reader) byte() byte {
	if len(r.rest) < 1 {
		r.fail()
		return 0
	}
	c := r.rest[0]
	r.rest = r.rest[1:]
	return c
}

func (r *reader) short() int {
	if len(r.rest) < 2 {
		r.fail()
		return 0
	}
	n := binary.BigEndian.Uint16(r.rest)
	r.rest = r.rest[2:]
	return int(n)
}

func (r *reader) long() uint32 {
	if len(r.rest) < 4 {
		r.fail()
		return 0
	}
	n := binary.BigEndian.Uint32(r.rest)
	r.rest = r.rest[4:]
	return n
}

// value takes a length and so many bytes; nil is NULL.
func (r *reader) value() []byte {
	n := int32(r.long())
	if n == -1 {
		return nil
	}
	if n < 0 || int(n) > len(r.rest) {
		r.fail()
		return nil
	}
	v := r.rest[:n:n]
	r.rest = r.rest[n:]
	return v
}

// whole: nothing was missing and nothing is left.
func (r *reader) whole() bool { return !r.failed && len(r.rest) == 0 }

// parseMessage is the content of a Parse.
type parseMessage struct {
	name, sql []byte
	oids      []uint32
}

func readParse(body []byte) (p parseMessage, ok bool) {
	r := reader{rest: body}
	p.name, p.sql = r.text(), r.text()
	if n := r.short(); len(r.rest) == 4*n {
		for range n {
			p.oids = append(p.oids, r.long())
		}
	} else {
		r.fail()
	}
	return p, r.whole()
}

// bindMessage is the content of a Bind, its values lying in the message.
type bindMessage struct {
	portal, statement []byte
	formats           []int // none: all text; one: for all
	values            [][]byte
}

// readBind reads into b, whose slices are used again.
func readBind(body []byte, b *bindMessage) bool {
	r := reader{rest: body}
	b.portal, b.statement = r.text(), r.text()
	b.formats, b.values = b.formats[:0], b.values[:0]
	for range r.short() {
		b.formats = append(b.formats, r.short())
		if r.failed {
			return false
		}
	}
	for range r.short() {
		b.values = append(b.values, r.value())
		if r.failed {
			return false
		}
	}
	results := r.short()
	if len(r.rest) != 2*results {
		return false
	}
	for range results {
		if r.short() > 1 {
			return false
		}
	}
	for _, format := range b.formats {
		if format > 1 {
			return false
		}
	}
	// The server refuses more formats than one that are not as many as values.
	return r.whole() && (len(b.formats) <= 1 || len(b.formats) == len(b.values))
}

// inBinary tells whether a value is in binary.
func (b *bindMessage) inBinary(n int) bool {
	switch len(b.formats) {
	case 0:
		return false
	case 1:
		return b.formats[0] == 1
	}
	return b.formats[n] == 1
}

// rowFields reads a DataRow.
func rowFields(body []byte) ([][]byte, bool) {
	r := reader{rest: body}
	var fields [][]byte
	for range r.short() {
		fields = append(fields, r.value())
		if r.failed {
			return nil, false
		}
	}
	return fields, r.whole()
}

// parameterTypes reads a ParameterDescription.
func parameterTypes(body []byte) ([]uint32, bool) {
	r := reader{rest: body}
	n := r.short()
	if len(r.rest) != 4*n {
		return nil, false
	}
	types := make([]uint32, n)
	for at := range types {
		types[at] = r.long()
	}
	return types, r.whole()
}
