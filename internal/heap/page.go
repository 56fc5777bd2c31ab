package heap

import (
	"encoding/binary"
	"fmt"
)

// Sizes and flags of a page (bufpage.h).
const (
	// PageHeaderSize is where the line pointers start.
	PageHeaderSize = 24
	// LayoutVersion is the only page layout that is read.
	LayoutVersion = 4

	// FlagHasFreeLines says that some line pointers are unused (PD_HAS_FREE_LINES).
	FlagHasFreeLines = 0x0001
	// FlagPageFull says that an update found no room (PD_PAGE_FULL).
	FlagPageFull = 0x0002
	// FlagAllVisible says that every tuple is visible to everyone (PD_ALL_VISIBLE).
	FlagAllVisible = 0x0004

	validFlags = 0x0007
	lineSize   = 4
	maxAlign   = 8
)

var le = binary.LittleEndian

// LSN is a position in the write-ahead log, in bytes.
type LSN uint64

// String prints it as the server does.
func (l LSN) String() string { return fmt.Sprintf("%X/%X", uint32(l>>32), uint32(l)) }

// Page is one block of a relation file; its length is the block size.
type Page []byte

// Header is a page's header (PageHeaderData of bufpage.h). Offsets are in bytes from the page's start.
type Header struct {
	LSN                   LSN
	Checksum, Flags       uint16
	Lower, Upper, Special uint16
	Size                  int // block size as the page states it
	Version               uint8
	PruneXID              uint32
}

// Zero reports whether the block was never initialised: all its bytes are zero.
func (p Page) Zero() bool {
	for len(p) >= 8 {
		if le.Uint64(p) != 0 {
			return false
		}
		p = p[8:]
	}
	for _, b := range p {
		if b != 0 {
			return false
		}
	}
	return true
}

// Header returns the header once it has proved sound: layout version, size and the order of its offsets. A zero page has none.
func (p Page) Header() (Header, error) {
	if len(p) < PageHeaderSize {
		return Header{}, fmt.Errorf("the block has %d bytes, too few for a page header", len(p))
	}
	sizeVersion := le.Uint16(p[18:])
	h := Header{
		LSN:      LSN(le.Uint32(p))<<32 | LSN(le.Uint32(p[4:])),
		Checksum: le.Uint16(p[8:]), Flags: le.Uint16(p[10:]),
		Lower: le.Uint16(p[12:]), Upper: le.Uint16(p[14:]), Special: le.Uint16(p[16:]),
		Size: int(sizeVersion & 0xFF00), Version: uint8(sizeVersion),
		PruneXID: le.Uint32(p[20:]),
	}
	return h, h.sound(len(p))
}

func (h Header) sound(length int) error {
	switch {
	case h.Version != LayoutVersion && h.Size == LayoutVersion<<8 && int(h.Version)<<8 == length:
		return fmt.Errorf("the page was written by a machine of the other byte order")
	case h.Version != LayoutVersion:
		return fmt.Errorf("page layout version %d is not known", h.Version)
	case h.Size != length:
		return fmt.Errorf("the page states a size of %d bytes, the block has %d", h.Size, length)
	case h.Flags&^validFlags != 0:
		return fmt.Errorf("the page has unknown flags %#04x", h.Flags)
	case h.Lower < PageHeaderSize || h.Lower > h.Upper || h.Upper > h.Special || int(h.Special) > length:
		return fmt.Errorf("the page's bounds are broken: lower %d, upper %d, special %d", h.Lower, h.Upper, h.Special)
	case h.Special%maxAlign != 0:
		return fmt.Errorf("the page's special space starts at %d, which is not aligned", h.Special)
	}
	return nil
}

// Lines returns the number of line pointers, 0 where the header is not sound.
func (p Page) Lines() int {
	h, err := p.Header()
	if err != nil {
		return 0
	}
	return int(h.Lower-PageHeaderSize) / lineSize
}
