// Package copyfmt encodes, decodes and cuts the formats of COPY: text and
// binary (manual, "COPY", File Formats; copyto.c and copyfromparse.c in the
// server).
//
// Three views of one stream, from the fastest to the fullest: a Splitter says
// for each block how far whole rows go and how many they are, and decodes
// nothing; a Reader yields rows of fields; Append functions write rows. All
// take streams that are cut anywhere and hold a bounded part of them: a
// Reader hands out a row above its limit as raw bytes, in pieces, so a row
// may have 1 GB.
//
// Text is taken to be in UTF8 or another encoding a server may use: in those
// no byte of a multi-byte character is an ASCII byte, so tabs, newlines and
// backslashes can be found bytewise. SJIS, BIG5, GBK, GB18030, UHC and JOHAB
// do not have that property: ask for client_encoding UTF8 instead. Nothing here
// checks that text is valid in its encoding, nor that an escape makes it so;
// the server does.
//
// Field values are bytes in the format's own form: what a type's output
// function wrote in text, what its send function wrote in binary.
package copyfmt

import "fmt"

// FormatError says that a stream is not in its format, and where.
type FormatError struct {
	Row     int64 // counted from 1; 0: in the header
	Field   int   // counted from 1; 0: in no particular field
	Offset  int64 // of the row's first byte in the stream
	Problem string
	cause   error
}

// Error returns the place and the problem in one line.
func (e *FormatError) Error() string {
	switch {
	case e.Row == 0:
		return "COPY header: " + e.Problem
	case e.Field == 0:
		return fmt.Sprintf("COPY row %d: %s", e.Row, e.Problem)
	}
	return fmt.Sprintf("COPY row %d, column %d: %s", e.Row, e.Field, e.Problem)
}

// Unwrap returns io.ErrUnexpectedEOF when the stream ended too early.
func (e *FormatError) Unwrap() error { return e.cause }
