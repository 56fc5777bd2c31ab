package heap

import "encoding/binary"

// Datatype is what must be known of a type to write its values onto a page (pg_type).
type Datatype struct {
	OID      uint32
	Name     string // as messages of the server have it: format_type without modifier
	Class    byte   // typtype: b base, c composite, d domain, e enum, r range, m multirange; 'a' for true arrays
	Len      int16  // typlen: bytes, -1 for a varlena
	Align    byte   // typalign
	Storage  byte   // typstorage
	Modifier int32  // atttypmod, -1 for none
	// Receive is the type's binary input function without schema, such as "int4recv": it tells apart what extensions bring.
	Receive string
	// Elem is an array's element, a range's subtype, a multirange's range and a domain's base.
	Elem *Datatype
	// Labels are an enum's, with their numbers in pg_enum.
	Labels map[string]uint32
}

// Maker appends the form that a value has on the page to dst: the bytes of a fixed-length type, or the payload of a varlena, which has no header
// yet. payload is the value as a field of COPY binary has it. An error is a *Refused; dst then comes back as it was.
type Maker func(dst, payload []byte) ([]byte, error)

// Refused is the refusal of a value in the words of the type's receive function.
type Refused struct {
	State   string // SQLSTATE
	Message string
	Detail  string
}

// Error returns the message.
func (e *Refused) Error() string { return e.Message }

// States of the errors that receive functions raise (manual, "PostgreSQL Error Codes").
const (
	stateProtocol         = "08P01"
	stateTooLong          = "22001"
	stateOutOfRange       = "22003"
	stateDatetimeOverflow = "22008"
	stateDisplacement     = "22009"
	stateBadEncoding      = "22021"
	stateLengthMismatch   = "22026"
	stateInvalidText      = "22P02"
	stateInvalidBinary    = "22P03"
	stateNameTooLong      = "42622"
	stateMismatch         = "42804"
	stateLimit            = "54000"
)

// errShort and errLong say what the server says of a payload that does not end with its value.
var (
	errShort = &Refused{State: stateProtocol, Message: "insufficient data left in message"}
	errLong  = &Refused{State: stateInvalidBinary, Message: "incorrect binary data format"}
)

// MakerFor returns the maker of a type. It is nil where the type has none: rows with such a column cannot be formed here.
func MakerFor(t *Datatype) Maker {
	switch t.Class {
	case 'b':
		if of := scalarMakers[t.OID]; of != nil {
			return of(t)
		}
		if t.Len == -1 && (t.Receive == "textrecv" || t.Receive == "citextrecv") && t.OID >= firstNormalOID { // a type of an extension that is text in all but name
			return makeText
		}
	case 'd':
		if t.Elem != nil {
			return MakerFor(t.Elem)
		}
	case 'e':
		return enumMaker(t)
	case 'a':
		return arrayMaker(t)
	case 'r':
		return rangeMaker(t)
	case 'm':
		return multirangeMaker(t)
	}
	return nil
}

const firstNormalOID = 16384 // access/transam.h

// Strict reports whether the maker of the type refuses every payload that the receive function refuses, and makes the same of the others. It does
// not for xml, which it does not parse, and for ranges, whose bounds it does not compare: their payloads must come from an encoder or a server.
func (t *Datatype) Strict() bool {
	switch {
	case t.Class == 'r' || t.Class == 'm' || t.OID == oidXML:
		return false
	case t.Elem != nil:
		return t.Elem.Strict()
	}
	return true
}

// swapBytes is the length of a type whose values are one number without any rule, 0 for others: the bytes only change their order.
func (t *Datatype) swapBytes() int {
	for t.Class == 'd' && t.Elem != nil {
		t = t.Elem
	}
	if t.Class == 'b' {
		return plainNumbers[t.OID]
	}
	return 0
}

// plainNumbers are those types, by OID (pg_type.dat).
var plainNumbers = map[uint32]int{
	20: 8, 21: 2, 23: 4, 26: 4, 28: 4, 29: 4, 700: 4, 701: 8, 790: 8, 3220: 8, 5069: 8, // int8 int2 int4 oid xid cid float4 float8 money pg_lsn xid8
	24: 4, 2202: 4, 2203: 4, 2204: 4, 2205: 4, 2206: 4, 3734: 4, 3769: 4, 4089: 4, 4096: 4, 4191: 4, // reg*
}

// scalarMakers are the built-in types that hold no others, by OID (pg_type.dat).
var scalarMakers = gather(numberMakers, textMakers, timeMakers, networkMakers, geometricMakers, jsonMakers)

func gather(sets ...map[uint32]func(*Datatype) Maker) map[uint32]func(*Datatype) Maker {
	all := map[uint32]func(*Datatype) Maker{}
	for oid, size := range plainNumbers {
		all[oid] = same(swapper(size))
	}
	for _, set := range sets {
		for oid, of := range set {
			all[oid] = of
		}
	}
	return all
}

// same is a maker that does not depend on the modifier.
func same(m Maker) func(*Datatype) Maker { return func(*Datatype) Maker { return m } }

// sized refuses payloads of another length.
func sized(payload []byte, size int) error {
	switch {
	case len(payload) < size:
		return errShort
	case len(payload) > size:
		return errLong
	}
	return nil
}

// swapper makes numbers of 2, 4 or 8 bytes.
func swapper(size int) Maker {
	return func(dst, payload []byte) ([]byte, error) {
		if err := sized(payload, size); err != nil {
			return dst, err
		}
		return appendSwapped(dst, payload), nil
	}
}

// appendSwapped appends a number in the order of the page.
func appendSwapped(dst, payload []byte) []byte {
	switch len(payload) {
	case 8:
		return le.AppendUint64(dst, binary.BigEndian.Uint64(payload))
	case 4:
		return le.AppendUint32(dst, binary.BigEndian.Uint32(payload))
	default:
		return le.AppendUint16(dst, binary.BigEndian.Uint16(payload))
	}
}

// copier makes values whose bytes are the same on both sides.
func copier(size int) Maker {
	return func(dst, payload []byte) ([]byte, error) {
		if err := sized(payload, size); err != nil {
			return dst, err
		}
		return append(dst, payload...), nil
	}
}

func enumMaker(t *Datatype) Maker {
	labels, name := t.Labels, t.Name
	return func(dst, payload []byte) ([]byte, error) {
		oid, found := labels[string(payload)]
		if !found {
			return dst, &Refused{State: stateInvalidText, Message: "invalid input value for enum " + name + `: "` + string(payload) + `"`}
		}
		return le.AppendUint32(dst, oid), nil
	}
}

// reader takes a payload apart. Its first failure sticks.
type reader struct {
	rest  []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if r.short || n < 0 || n > len(r.rest) {
		r.short = true
		return make([]byte, min(max(n, 0), 16)) // whoever asks for more looks at short first
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) uint32() uint32 { return binary.BigEndian.Uint32(r.take(4)) }

// end is the error that is due when a value has been read.
func (r *reader) end() error {
	switch {
	case r.short:
		return errShort
	case len(r.rest) > 0:
		return errLong
	}
	return nil
}
