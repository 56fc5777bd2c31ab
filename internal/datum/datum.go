// Package datum turns values as they lie in PostgreSQL's data files into the text that the server's output functions give.
//
// A Type describes a data type as pg_type does; NewPrinter makes a Printer of it, once for each column, and the Printer appends
// the text of one value after the other. A printer takes a fixed-length value as its bytes and a varlena as its payload, without
// header, compression and TOAST; values nested in arrays, ranges and composites are read through the caller's Open.
//
// The text is that of DateStyle ISO, IntervalStyle postgres, bytea_output hex, TimeZone UTC, extra_float_digits 1 and lc_monetary
// C, as COPY TO writes it but for COPY's own escapes. Files are read as those of a little-endian machine. PostgreSQL 14 to 18 are
// meant: where a type's text differs between them, the newest counts and the printer's comment tells.
//
// No bytes make a printer panic: what does not hold together is a Malformed error. Text is passed on as it is; whether it is
// valid in the database's encoding is for the reader to say.
package datum

import (
	"fmt"
)

// Type is a data type as pg_type and its companions describe it.
type Type struct {
	OID          uint32
	Schema, Name string
	Len          int16 // typlen: a number of bytes, -1 for a varlena, -2 for a C string
	Align        byte  // typalign: c, s, i or d
	ByVal        bool
	Kind         byte   // typtype: b base, c composite, d domain, e enum, r range, m multirange, p pseudo
	Category     byte   // typcategory
	Delimiter    byte   // typdelim, between the elements of an array of this type; 0 counts as a comma
	Output       string // the name of the typoutput function, which decides the printer

	Element *Type   // of an array, int2vector or oidvector
	Base    *Type   // of a domain
	Subtype *Type   // of a range the type of its bounds, of a multirange its range type
	Fields  []Field // of a composite type, in order, dropped ones included

	Labels map[uint32]string // of an enum type: the OID in pg_enum gives the label

	// Names gives the text of an object for the reg types, with quotes and schema as the server would print it, and of a role for
	// aclitem, bare. Without it, and where it knows no name, the OID is printed as a number, as the server does for an OID that
	// it does not find.
	Names func(oid uint32) (string, bool)

	// Lookup gives the type of an OID that only the value names, as in anyarray of pg_statistic; nil knows the built-in ones.
	Lookup func(oid uint32) *Type
}

// Field is a column of a composite type.
type Field struct {
	Name    string
	Type    *Type // nil when Dropped
	Typmod  int32
	Dropped bool
	Len     int16 // attlen and attalign, which outlive the type of a dropped column
	Align   byte
}

// Printer appends the text of one value to dst. value holds the bytes of a fixed-length type, a C string without its NUL, or the
// payload of a varlena, that is: without header, decompressed and fetched. A Printer keeps nothing of value. It may be used by
// one goroutine at a time; on an error dst comes back as it was, though its spare capacity may have been written to.
type Printer func(dst, value []byte) ([]byte, error)

// Open reads the varlena at the start of a slice that may go on behind it: its payload, as a Printer takes it, and its whole size
// in the slice with the header. A payload must stay as it is until the Printer that the caller called has returned: what is nested
// in it is opened while it is walked.
type Open func(varlena []byte) (payload []byte, size int, err error)

// Unprintable is the error of NewPrinter for a type whose output function is not known.
type Unprintable struct {
	Type   string // schema and name
	Output string // the output function
	Reason string // set when the description is at fault, not the type
}

// Error tells the type and the reason.
func (e *Unprintable) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("type %s cannot be printed: %s", e.Type, e.Reason)
	}
	return fmt.Sprintf("type %s cannot be printed: its output function %q is not a built-in one", e.Type, e.Output)
}

// Hint is a sentence that tells what to do instead.
func (e *Unprintable) Hint() string {
	return "Leave the column out, or let a server read the table: its extension knows how to print the type."
}

// Malformed is the error of a Printer for bytes that cannot be a value of the type.
type Malformed struct {
	Type   string // the type or the part of it, in the words of the manual
	Reason string
}

// Error tells the type and what does not hold together.
func (e *Malformed) Error() string { return "malformed " + e.Type + ": " + e.Reason }

func malformed(what, reason string) error { return &Malformed{Type: what, Reason: reason} }

// maximumOutput is the longest text a printer makes, in bytes. The server's strings end there too (MaxAllocSize in memutils.h).
const maximumOutput = 1<<30 - 1

// maximumNesting bounds how deep types nest in types. The server forbids cycles; a damaged catalog may hold one.
const maximumNesting = 64

// builder makes the printers of a type and of those nested in it.
type builder struct {
	open  Open
	depth int
}

// NewPrinter makes a printer for values of a type. open reads the varlenas nested in arrays, ranges and composites; nil reads
// plain ones only. The error is an *Unprintable.
func NewPrinter(t *Type, open Open) (Printer, error) {
	if open == nil {
		open = OpenPlain
	}
	b := &builder{open: open}
	return b.printer(t)
}

func (b *builder) printer(t *Type) (Printer, error) {
	if t == nil {
		return nil, &Unprintable{Type: "(none)", Reason: "its description is missing"}
	}
	if b.depth++; b.depth > maximumNesting {
		return nil, unprintable(t, "it contains itself")
	}
	defer func() { b.depth-- }()
	if t.Kind == 'd' {
		if t.Base == nil {
			return nil, unprintable(t, "its base type is missing")
		}
		return b.printer(t.Base)
	}
	if p, ok := plainPrinters[t.Output]; ok {
		return checkedLength(t, p)
	}
	if build, ok := builtPrinter(t.Output); ok {
		return build(b, t)
	}
	return nil, unprintable(t, "")
}

func unprintable(t *Type, reason string) error {
	name := t.Name
	if t.Schema != "" {
		name = t.Schema + "." + t.Name
	}
	return &Unprintable{Type: name, Output: t.Output, Reason: reason}
}

// checkedLength compares the description's length with the printer's, so that a printer of a fixed length may read without
// looking at its own name.
func checkedLength(t *Type, p plainPrinter) (Printer, error) {
	if t.Len != p.length && (p.length >= 0 || t.Len >= 0) {
		return nil, unprintable(t, fmt.Sprintf("its length is %d, where %s takes %d", t.Len, t.Output, p.length))
	}
	return p.print, nil
}
