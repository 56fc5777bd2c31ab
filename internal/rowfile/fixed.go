package rowfile

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/planner"
)

// FixedLayout is that of records whose fields stand at fixed places: the binary input of pg_bulkload (its manual, "Binary input format"), and
// lines of text whose columns are aligned.
type FixedLayout struct {
	Fields []FixedField
	// Stride is the length of a record in bytes, for records that are longer than their fields; 0 is the end of the last field.
	Stride int
	// Lines: each record is a line. Fields are then text, a field that the line's end cuts short is shorter, and Stride is not used.
	Lines bool
}

// FixedField is a field at a fixed place.
type FixedField struct {
	Kind   FixedKind
	Offset int // of its first byte in the record, from 0
	Size   int // in bytes
	// Null are the bytes that mean NULL. nil: none do, but for text that begins with a NUL byte.
	Null []byte
}

// FixedKind is how a field is written. Numbers are little-endian, as on the machines that PostgreSQL's own files are read on.
type FixedKind int

// The kinds.
const (
	FixedChar     FixedKind = iota // text without the spaces at its end
	FixedVarchar                   // text
	FixedInteger                   // signed, of 2, 4 or 8 bytes
	FixedUnsigned                  // of 2 or 4 bytes
	FixedFloat                     // of 4 or 8 bytes
)

// fixedTypes are the names of types, with what their sizes may be; the first is the default. None: the size must be given.
var fixedTypes = map[string]struct {
	kind  FixedKind
	sizes []int
}{
	"CHAR": {FixedChar, nil}, "CHARACTER": {FixedChar, nil},
	"VARCHAR": {FixedVarchar, nil}, "CHARACTER VARYING": {FixedVarchar, nil},
	"SMALLINT": {FixedInteger, []int{2}}, "SHORT": {FixedInteger, []int{2}},
	"INTEGER": {FixedInteger, []int{4, 2, 8}}, "INT": {FixedInteger, []int{4, 2, 8}},
	"BIGINT": {FixedInteger, []int{8}}, "LONG": {FixedInteger, []int{8}},
	"UNSIGNED SMALLINT": {FixedUnsigned, []int{2}}, "UNSIGNED SHORT": {FixedUnsigned, []int{2}},
	"UNSIGNED INTEGER": {FixedUnsigned, []int{4, 2}}, "UNSIGNED INT": {FixedUnsigned, []int{4, 2}},
	"FLOAT": {FixedFloat, []int{4, 8}}, "REAL": {FixedFloat, []int{4, 8}},
	"DOUBLE": {FixedFloat, []int{8}},
}

// ParseFixed reads fields as pg_bulkload's control files define them, one for each COL: TYPE, TYPE(L), TYPE(S+L) or TYPE(S:E), with S and E
// counted from 1, then NULLIF and a quoted string or hexadecimal digits; or a length alone, which is CHAR, and VARCHAR with preserveBlanks.
func ParseFixed(specs []string, preserveBlanks bool) ([]FixedField, error) {
	var fields []FixedField
	next := 0
	for _, spec := range specs {
		f, err := parseFixedField(strings.TrimSpace(spec), next, preserveBlanks)
		if err != nil {
			return nil, &planner.Error{Kind: planner.Usage, Message: fmt.Sprintf("field %q of the fixed layout: %v", spec, err),
				Hint: "Fields are TYPE, TYPE(LENGTH), TYPE(START+LENGTH) or TYPE(START:END), then NULLIF 'TEXT' or NULLIF HEX if wanted."}
		}
		next = f.Offset + f.Size
		fields = append(fields, f)
	}
	return fields, nil
}

func parseFixedField(spec string, next int, preserveBlanks bool) (FixedField, error) {
	if n, err := strconv.Atoi(spec); err == nil {
		spec = fmt.Sprintf("CHAR(%d)", n)
		if preserveBlanks {
			spec = "VAR" + spec
		}
	}
	f := FixedField{Offset: next}
	head, null := cutNullIf(spec)
	name, place, placed := strings.Cut(head, "(")
	known, ok := fixedTypes[strings.ToUpper(strings.Join(strings.Fields(name), " "))]
	if !ok {
		return f, errors.New("no such type")
	}
	f.Kind = known.kind
	switch {
	case placed:
		inner, closed := strings.CutSuffix(strings.TrimSpace(place), ")")
		if err := f.parsePlace(inner); err != nil || !closed {
			return f, errors.New("its place must be (LENGTH), (START+LENGTH) or (START:END)")
		}
	case len(known.sizes) == 0:
		return f, errors.New("a length must be given")
	default:
		f.Size = known.sizes[0]
	}
	if err := f.checkSize(known.sizes); err != nil {
		return f, err
	}
	err := f.parseNull(null)
	return f, err
}

// cutNullIf parts a definition from what follows its NULLIF. A string behind it may hold the word too.
func cutNullIf(spec string) (head, null string) {
	const word = "NULLIF"
	for i := 1; i+len(word) < len(spec); i++ {
		if strings.EqualFold(spec[i:i+len(word)], word) && strings.ContainsAny(spec[i-1:i], " \t)") {
			return spec[:i], strings.TrimSpace(spec[i+len(word):])
		}
	}
	return spec, ""
}

func (f *FixedField) parsePlace(s string) error {
	at := strings.IndexAny(s, "+:")
	if at < 0 {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		f.Size = n
		return err
	}
	first, err := strconv.Atoi(strings.TrimSpace(s[:at]))
	if err != nil {
		return err
	}
	second, err := strconv.Atoi(strings.TrimSpace(s[at+1:]))
	if err != nil {
		return err
	}
	f.Offset, f.Size = first-1, second
	if s[at] == ':' {
		f.Size = second - first + 1
	}
	return nil
}

func (f *FixedField) checkSize(sizes []int) error {
	if f.Size <= 0 || f.Size > maxStride || f.Offset < 0 || f.Offset > maxStride {
		return fmt.Errorf("its place must be within the first %d bytes", maxStride)
	}
	if len(sizes) == 0 {
		return nil
	}
	for _, n := range sizes {
		if n == f.Size {
			return nil
		}
	}
	return fmt.Errorf("its length must be one of %v", sizes)
}

func (f *FixedField) parseNull(s string) error {
	if s == "" {
		return nil
	}
	text := f.isText()
	if n := len(s); s[0] == '\'' || s[0] == '"' {
		if n < 2 || s[n-1] != s[0] {
			return errors.New("the string behind NULLIF has no end")
		}
		f.Null = []byte(s[1 : n-1])
	} else {
		b, err := hex.DecodeString(s)
		if err != nil {
			return errors.New("NULLIF takes a quoted string or hexadecimal digits")
		}
		f.Null = b
	}
	if len(f.Null) > f.Size || !text && len(f.Null) != f.Size {
		return fmt.Errorf("NULLIF has %d bytes and the field %d", len(f.Null), f.Size)
	}
	return nil
}

func (f *FixedField) isText() bool { return f.Kind == FixedChar || f.Kind == FixedVarchar }

// maxStride bounds a record, so that a block always holds whole ones.
const maxStride = 1 << 20

// stride is the length of a record.
func (l *FixedLayout) stride() int {
	n := l.Stride
	if n == 0 {
		for _, f := range l.Fields {
			n = max(n, f.Offset+f.Size)
		}
	}
	return n
}

func (l *FixedLayout) check() error {
	if len(l.Fields) == 0 {
		return usage("a fixed layout needs its fields", "")
	}
	for i, f := range l.Fields {
		switch {
		case l.Lines && !f.isText():
			return usage(fmt.Sprintf("field %d of the fixed layout is binary, which lines cannot hold", i+1), "Define it as CHAR.")
		case !l.Lines && f.Offset+f.Size > l.stride():
			return usage(fmt.Sprintf("field %d of the fixed layout ends behind the record's %d bytes", i+1, l.stride()), "")
		}
	}
	if n := l.stride(); !l.Lines && (n <= 0 || n > maxStride) {
		return usage(fmt.Sprintf("a fixed record may have 1 to %d bytes", maxStride), "")
	}
	return nil
}
