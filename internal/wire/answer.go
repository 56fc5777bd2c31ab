package wire

import (
	"strconv"
	"strings"
)

// Tag is the command tag of a CommandComplete message.
type Tag struct {
	Verb string // "COPY", "INSERT", "CREATE TABLE"
	Rows int64  // rows it touched; -1 when the tag has no count
}

// ParseTag reads the body of CommandComplete (cmdtaglist.h): a verb of one or
// more words, then for some verbs a row count; INSERT has an OID between the
// two, always 0. The error is a *BodyError.
func ParseTag(msg []byte) (Tag, error) {
	b := body{kind: TypeCommandComplete, rest: msg}
	text := b.string("end of its tag")
	if err := b.end(); err != nil {
		return Tag{}, err
	}
	verb, last, ok := cutLast(text)
	rows, isCount := count(last)
	if !ok || !isCount {
		return Tag{Verb: text, Rows: -1}, nil
	}
	if word, oid, ok := cutLast(verb); ok && word == "INSERT" {
		if _, isOID := count(oid); isOID {
			verb = word
		}
	}
	return Tag{Verb: verb, Rows: rows}, nil
}

func cutLast(s string) (before, last string, ok bool) {
	i := strings.LastIndexByte(s, ' ')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// count reads a number that is not negative.
func count(s string) (n int64, ok bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= 0
}

// CopyStart is the content of CopyInResponse, CopyOutResponse and
// CopyBothResponse.
type CopyStart struct {
	Binary  bool
	Columns []bool // for each column whether it is binary; as Binary in all servers so far
}

// ParseCopyStart reads the body of one of the three. The error is a
// *BodyError.
func ParseCopyStart(msg []byte) (CopyStart, error) {
	b := body{kind: TypeCopyOut, rest: msg}
	format := b.byte("format")
	n := b.int16("column count")
	if format > 1 {
		b.fail("known format")
	}
	// The count is a signed number on the wire; no table has 32768 columns.
	if n < 0 || len(b.rest) != 2*int(n) {
		b.fail("format for each of its columns")
		n = 0
	}
	c := CopyStart{Binary: format == 1, Columns: make([]bool, n)}
	for i := range c.Columns {
		c.Columns[i] = b.int16("column format") != 0
	}
	if err := b.end(); err != nil {
		return CopyStart{}, err
	}
	return c, nil
}

// ParseParameter reads the body of ParameterStatus: a setting that the server
// reports whenever it changes. The error is a *BodyError.
func ParseParameter(msg []byte) (name, value string, err error) {
	b := body{kind: TypeParameterStatus, rest: msg}
	name = b.string("name")
	value = b.string("value")
	if err := b.end(); err != nil {
		return "", "", err
	}
	return name, value, nil
}

// Status is what ReadyForQuery says of the session's transaction.
type Status byte

// The three states a session can be ready in.
const (
	Idle          Status = 'I' // outside a transaction block
	InTransaction Status = 'T'
	InFailed      Status = 'E' // in a transaction block that can only be rolled back
)

// ParseReady reads the body of ReadyForQuery. The error is a *BodyError.
func ParseReady(msg []byte) (Status, error) {
	b := body{kind: TypeReadyForQuery, rest: msg}
	s := Status(b.byte("transaction status"))
	if s != Idle && s != InTransaction && s != InFailed {
		b.fail("known transaction status")
	}
	return s, b.end()
}
