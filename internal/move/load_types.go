package move

import (
	"strings"

	"github.com/pghaul/pghaul/internal/encode"
	"github.com/pghaul/pghaul/planner"
)

// encodedType describes a type to the encoders; nil for one that they cannot be told of.
func encodedType(t *planner.Type) *encode.Type {
	e := &encode.Type{OID: t.OID, Name: withoutModifier(t), Modifier: t.Mod, Class: encode.Class(t.Class), Labels: t.Labels}
	_, e.Receive, _ = strings.Cut(t.Receive, ".")
	inner := t.Elem
	switch t.Class {
	case planner.Domain:
		inner = t.Base
	case planner.RangeType, planner.Multirange:
		inner = t.Sub
		e.Discrete, e.Plain = discreteRanges[t.OID], t.BuiltIn()
	case planner.Array:
		e.Delim = ','
		if inner != nil && inner.OID == boxOID {
			e.Delim = ';'
		}
	case planner.Composite, planner.Pseudo:
		return nil
	}
	if inner == nil {
		if t.Class == planner.BaseType || t.Class == planner.Enum {
			return e
		}
		return nil
	}
	if e.Elem = encodedType(inner); e.Elem == nil {
		return nil
	}
	if t.Class == planner.Array { // Its modifier is that of each element.
		e.Elem.Modifier = t.Mod
	}
	return e
}

// isDocument reports whether values are json or jsonb, or arrays or domains of them, by OID (pg_type.dat).
func isDocument(t *encode.Type) bool {
	for ; t != nil; t = t.Elem {
		if t.OID == 114 || t.OID == 3802 {
			return true
		}
	}
	return false
}

// discreteRanges are the built-in ranges and multiranges that have one form for each set of values, by OID (pg_range.dat).
var discreteRanges = map[uint32]bool{3904: true, 3926: true, 3912: true, 4451: true, 4536: true, 4535: true}

// withoutModifier is the name of a type as messages have it: format_type without the modifier in parentheses.
func withoutModifier(t *planner.Type) string {
	from := strings.IndexByte(t.SQL, '(')
	to := strings.IndexByte(t.SQL, ')')
	if t.Mod < 0 || from < 0 || to < from || strings.HasPrefix(t.SQL, `"`) {
		return t.SQL
	}
	return t.SQL[:from] + t.SQL[to+1:]
}
