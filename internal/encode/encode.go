// Package encode turns the text of a value into the binary form that COPY and Bind take: what the type's input function would make of the
// text, in the form of its send function.
//
// Model: For finds the encoder of a type once for each column; the encoder appends the payload of one value after the other. It takes every
// text that the server's input function takes and refuses every text that it refuses, with the server's SQLSTATE and message. Where neither
// is certain (a time zone by name, a date like "tomorrow") it answers ErrUnsure, and the text must be sent to the server as it is.
//
// Limits: text is valid UTF-8 without NUL bytes, which the caller has checked. Settings are those that sessions of this program have: DateStyle
// ISO with the order in Settings, IntervalStyle postgres, lc_monetary C, array_nulls on, xmloption content. PostgreSQL 14 to 18 are meant: a
// text that some of them refuse and others take is ErrUnsure, unless Settings.Version decides.
package encode

import "errors"

// Type is a data type as an encoder needs to know it.
type Type struct {
	OID      uint32 // pg_type.oid
	Name     string // as messages of the server have it: format_type without modifier, such as "timestamp without time zone"
	Modifier int32  // atttypmod, -1 for none
	Class    Class
	// Receive is the type's binary input function without schema, such as "int4recv": it tells apart what extensions bring.
	Receive string
	Elem    *Type    // of an array, the subtype of a range or multirange, the base type of a domain
	Range   *Type    // of a multirange
	Delim   byte     // of an array's elements: ',' but for box ';'. 0 is ','
	Labels  []string // of an enum
	Fields  []Type   // of a composite
	// Discrete: the range type has a canonical function that makes [) of every bound (int4range, int8range, daterange).
	Discrete bool
	// Plain: the range's subtype is ordered as its text or number alone says, without a collation or an operator class of its own.
	Plain bool
}

// Class is pg_type.typtype, with 'a' for true arrays.
type Class byte

// The classes of type.
const (
	Base       Class = 'b'
	Array      Class = 'a'
	Composite  Class = 'c'
	Domain     Class = 'd'
	Enum       Class = 'e'
	Range      Class = 'r'
	Multirange Class = 'm'
)

// Settings are what the meaning of a text depends on besides its type.
type Settings struct {
	// Version is the target's server_version_num divided by 10000, such as 15.
	Version int
	// Order is DateStyle's order of the fields of a date.
	Order DateOrder
	// UTC: the session's TimeZone is UTC, so that a timestamp without a zone is one of UTC.
	UTC bool
}

// DateOrder is the order of day, month and year where a date's text leaves it open (manual, "Date/Time Types", DateStyle).
type DateOrder uint8

// The orders.
const (
	MDY DateOrder = iota
	DMY
	YMD
)

// Encoder appends the binary form of a value to dst, without its length. The error is *Invalid when the server would refuse the text, and
// ErrUnsure when only the server can tell; dst is then returned with the length that it had.
type Encoder func(dst, text []byte) ([]byte, error)

// ErrUnsure says that the text may be good and what it means is for the server to say.
var ErrUnsure = errors.New("only the server can read this value")

// Invalid is the refusal of a text, in the server's words.
type Invalid struct {
	State   string // SQLSTATE
	Message string
	Detail  string
	Hint    string
}

// Error returns the message.
func (e *Invalid) Error() string { return e.Message }

// States of the errors that input functions raise (manual, "PostgreSQL Error Codes").
const (
	stateInvalidText      = "22P02"
	stateOutOfRange       = "22003"
	stateTooLong          = "22001"
	stateDatetimeOverflow = "22008"
	stateInvalidDatetime  = "22007"
	stateLengthMismatch   = "22026"
)

// invalidSyntax is the refusal that most input functions share.
func invalidSyntax(typeName string, text []byte) *Invalid {
	return &Invalid{State: stateInvalidText, Message: "invalid input syntax for type " + typeName + `: "` + string(text) + `"`}
}

// For returns the encoder of a type. It is nil where the type has none: its values must be sent as text.
func For(t *Type, s Settings) Encoder {
	if scalar := scalars[t.OID]; scalar != nil && t.Class == Base {
		return scalar(t, s)
	}
	switch t.Class {
	case Array:
		return arrayEncoder(t, s)
	case Range, Multirange:
		return rangeEncoder(t, s)
	case Enum:
		return enumEncoder(t)
	case Domain:
		return For(t.Elem, s) // The server's domain_recv checks the domain's constraints.
	case Base:
		return extensionEncoder(t)
	case Composite: // record_recv wants the OIDs of the fields' types, which may be dropped ones.
	}
	return nil
}

// maker makes the encoder of a type for the given settings; nil where the settings keep it from being exact.
type maker func(*Type, Settings) Encoder

// scalars are the built-in types that are no arrays and no ranges, by OID (pg_type.dat).
var scalars = gather(plainTypes, numberTypes, timeTypes, networkTypes, geometricTypes)

func gather(sets ...map[uint32]maker) map[uint32]maker {
	all := map[uint32]maker{}
	for _, set := range sets {
		for oid, scalar := range set {
			all[oid] = scalar
		}
	}
	return all
}
