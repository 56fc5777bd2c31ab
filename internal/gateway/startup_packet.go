package gateway

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	// maxStartup is the longest packet before authentication, its length included (MAX_STARTUP_PACKET_LENGTH, pqcomm.h).
	maxStartup = 10000
	minStartup = 8

	// Codes that stand where a start-up packet has its version (pqcomm.h).
	cancelCode = 1234<<16 | 5678
	sslCode    = 1234<<16 | 5679
	gssCode    = 1234<<16 | 5680

	tlsRecord = 0x16 // first byte of a TLS handshake; as a packet's length it would be far too long
)

// errNoPacket says that a connection ended before its first byte: a probe.
var errNoPacket = errors.New("closed before it said anything")

// packetLengthError is a packet before authentication whose length the server refuses too, by closing without a word.
type packetLengthError struct{ length uint32 }

func (e *packetLengthError) Error() string {
	return fmt.Sprintf("invalid length of start-up packet: %d", e.length)
}

// packet is an untyped message as it comes before authentication: length, code or version, and the rest.
type packet []byte

func (p packet) code() uint32 { return binary.BigEndian.Uint32(p[4:]) }

// readPacket reads one packet and not a byte more: what follows may be TLS. first are the four bytes read already, or nil.
func readPacket(r io.Reader, first []byte) (packet, error) {
	if first == nil {
		first = make([]byte, 4)
		if n, err := io.ReadFull(r, first); err != nil {
			if n == 0 && errors.Is(err, io.EOF) {
				err = errNoPacket
			}
			return nil, err
		}
	}
	length := binary.BigEndian.Uint32(first)
	if length < minStartup || length > maxStartup {
		return nil, &packetLengthError{length: length}
	}
	p := make(packet, length)
	copy(p, first)
	if _, err := io.ReadFull(r, p[4:]); err != nil {
		return nil, err
	}
	return p, nil
}

// speaksVersion3 tells whether a start-up packet asks for protocol 3, of any minor version.
func speaksVersion3(p packet) bool { return len(p) >= minStartup && p.code()>>16 == 3 }

// parameters reads the names and values of a start-up packet of protocol 3. It returns those before the first irregularity:
// the packet goes to the server in any case, and is judged there.
func (p packet) parameters() map[string]string {
	params := map[string]string{}
	rest := p[minStartup:]
	for {
		name, after, ok := bytes.Cut(rest, []byte{0})
		if !ok || len(name) == 0 {
			return params
		}
		value, after, ok := bytes.Cut(after, []byte{0})
		if !ok {
			return params
		}
		params[string(name)] = string(value)
		rest = after
	}
}
