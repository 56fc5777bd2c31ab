package heap

import "fmt"

// TupleHeaderSize is the size of the fixed part of a tuple's header, in bytes (SizeofHeapTupleHeader).
const TupleHeaderSize = 23

// Infomask holds a tuple's flags (t_infomask of htup_details.h).
type Infomask uint16

// The flags of t_infomask, by their names in htup_details.h.
const (
	HasNull       Infomask = 0x0001
	HasVarWidth   Infomask = 0x0002
	HasExternal   Infomask = 0x0004
	HasOldOID     Infomask = 0x0008
	XmaxKeyShared Infomask = 0x0010
	ComboCID      Infomask = 0x0020
	XmaxExclusive Infomask = 0x0040
	XmaxLockOnly  Infomask = 0x0080
	XminCommitted Infomask = 0x0100
	XminInvalid   Infomask = 0x0200
	XmaxCommitted Infomask = 0x0400
	XmaxInvalid   Infomask = 0x0800
	XmaxIsMulti   Infomask = 0x1000
	Updated       Infomask = 0x2000
	MovedOff      Infomask = 0x4000
	MovedIn       Infomask = 0x8000

	// XminFrozen is both hints at once: visible to everyone.
	XminFrozen = XminCommitted | XminInvalid
)

// The flags of t_infomask2 beside the number of attributes.
const (
	NattsMask   = 0x07FF
	KeysUpdated = 0x2000
	HotUpdated  = 0x4000
	HeapOnly    = 0x8000
)

// Tuple is one tuple of a heap page, header and data. What Page.Tuple returns has a sound header.
type Tuple []byte

func (t Tuple) sound() error {
	if len(t) < TupleHeaderSize {
		return fmt.Errorf("the tuple has %d bytes, too few for its header", len(t))
	}
	need := TupleHeaderSize
	if t.Infomask()&HasNull != 0 {
		need += (t.Natts() + 7) / 8
	}
	if t.Infomask()&HasOldOID != 0 {
		need += 4
	}
	if hoff := t.Hoff(); hoff != alignUp(need, 'd') || hoff > len(t) {
		return fmt.Errorf("the tuple's data start at %d of %d bytes, behind a header of %d", hoff, len(t), need)
	}
	return nil
}

// Xmin is the transaction that wrote the tuple.
func (t Tuple) Xmin() uint32 { return le.Uint32(t) }

// Xmax is the transaction or multixact that deleted, updated or locked the tuple; see Infomask.
func (t Tuple) Xmax() uint32 { return le.Uint32(t[4:]) }

// Field3 is the command number within the writing transaction, or the transaction of an old VACUUM FULL that moved the tuple.
func (t Tuple) Field3() uint32 { return le.Uint32(t[8:]) }

// CTID is where the tuple's next version is, or the tuple itself.
func (t Tuple) CTID() (block uint32, line uint16) {
	return uint32(le.Uint16(t[12:]))<<16 | uint32(le.Uint16(t[14:])), le.Uint16(t[16:])
}

// Infomask2 holds the number of attributes and more flags (t_infomask2).
func (t Tuple) Infomask2() uint16 { return le.Uint16(t[18:]) }

// Natts is the number of attributes that the tuple has; the table may have more.
func (t Tuple) Natts() int { return int(t.Infomask2() & NattsMask) }

// Infomask holds the tuple's flags.
func (t Tuple) Infomask() Infomask { return Infomask(le.Uint16(t[20:])) }

// Hoff is where the data start, in bytes from the tuple's start.
func (t Tuple) Hoff() int { return int(t[22]) }

// Nulls is the null bitmap: bit i%8 of byte i/8 is 0 where attribute i, counted from 0, is NULL. It is nil where none is.
func (t Tuple) Nulls() []byte {
	if t.Infomask()&HasNull == 0 {
		return nil
	}
	return t[TupleHeaderSize : TupleHeaderSize+(t.Natts()+7)/8]
}
