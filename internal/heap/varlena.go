package heap

import "fmt"

// Compression is how a value's bytes are compressed (toast_compression.h).
type Compression uint8

// The compressions. NoCompression is no value on disk.
const (
	PGLZ Compression = iota
	LZ4
	NoCompression Compression = 0xFF
)

// Varlena is a value of variable length, apart from its header (varatt.h, formerly postgres.h).
type Varlena struct {
	Compression Compression // of Payload; NoCompression for a plain one
	External    bool        // the value is in the TOAST table: Pointer tells where
	Payload     []byte
	RawSize     int // bytes once decompressed
	Pointer     ToastPointer
}

// ToastPointer leads to a value in a TOAST table (varatt_external of varatt.h).
type ToastPointer struct {
	RawSize     uint32 // bytes of the value, without header, once decompressed
	StoredSize  uint32 // bytes of all its chunks
	Compression Compression
	ValueID     uint32 // chunk_id
	RelationID  uint32 // OID of the TOAST table
}

const (
	externalTag      = 18 // VARTAG_ONDISK
	externalSize     = 2 + 16
	longHeader       = 4
	compressedHeader = 8
)

// VarlenaSize returns how many bytes the varlena at the start of b takes, header included. It does not look at whether all are there.
func VarlenaSize(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, fmt.Errorf("the value starts behind the tuple")
	}
	switch first := b[0]; {
	case first == 1:
		if len(b) < 2 || b[1] != externalTag {
			return 0, fmt.Errorf("the value is of an external kind that no file holds")
		}
		return externalSize, nil
	case first&1 == 1:
		return int(first >> 1), nil
	}
	if len(b) < longHeader {
		return 0, fmt.Errorf("the header of the value is cut")
	}
	size := int(le.Uint32(b) >> 2)
	if size < longHeader || b[0]&3 == 2 && size < compressedHeader {
		return 0, fmt.Errorf("the value states a length of %d bytes, less than its header", size)
	}
	return size, nil
}

// ParseVarlena reads the varlena at the start of b and returns it with its size, header included. The payload is a part of b.
func ParseVarlena(b []byte) (Varlena, int, error) {
	size, err := VarlenaSize(b)
	if err != nil {
		return Varlena{}, 0, err
	}
	if size > len(b) {
		return Varlena{}, 0, fmt.Errorf("the value has %d bytes, of which %d are there", size, len(b))
	}
	switch {
	case b[0] == 1:
		pointer, err := parsePointer(b[2:externalSize])
		return Varlena{Compression: NoCompression, External: true, RawSize: int(pointer.RawSize), Pointer: pointer}, size, err
	case b[0]&1 == 1:
		return Varlena{Compression: NoCompression, Payload: b[1:size:size], RawSize: size - 1}, size, nil
	case b[0]&3 == 0:
		return Varlena{Compression: NoCompression, Payload: b[longHeader:size:size], RawSize: size - longHeader}, size, nil
	}
	info := le.Uint32(b[4:])
	v := Varlena{Compression: Compression(info >> 30), RawSize: int(info & 0x3FFFFFFF), Payload: b[compressedHeader:size:size]}
	if v.Compression > LZ4 {
		return Varlena{}, 0, fmt.Errorf("compression method %d is not known", v.Compression)
	}
	return v, size, nil
}

// parsePointer reads a varatt_external. va_rawsize counts a 4-byte header; va_extinfo has the method in its upper two bits.
func parsePointer(b []byte) (ToastPointer, error) {
	raw, info := le.Uint32(b), le.Uint32(b[4:])
	p := ToastPointer{
		RawSize: raw - longHeader, StoredSize: info & 0x3FFFFFFF, Compression: NoCompression,
		ValueID: le.Uint32(b[8:]), RelationID: le.Uint32(b[12:]),
	}
	if raw < longHeader || raw > 1<<30 || p.StoredSize > p.RawSize {
		return p, fmt.Errorf("the TOAST pointer states %d bytes stored for a value of %d", p.StoredSize, raw)
	}
	if p.StoredSize < p.RawSize {
		if p.Compression = Compression(info >> 30); p.Compression > LZ4 {
			return p, fmt.Errorf("compression method %d is not known", p.Compression)
		}
	}
	return p, nil
}
