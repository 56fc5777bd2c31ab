package planner

import (
	"fmt"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// noteRounding warns of a column whose target keeps fewer digits of the same type: the server rounds without an error.
func (s *situation) noteRounding(p *Pair) {
	from, to := &p.Source.Type, &p.Target.Type
	if rounds(from, to) {
		s.note(fmt.Sprintf("column %s is %s in the source and %s in the target, which rounds its values", sqltext.QuoteIdent(p.Source.Name), from.SQL, to.SQL))
	}
}

// rounds reports whether the target type may keep fewer digits than the source type, of which it is another use (manual, "Numeric
// Types" and "Date/Time Types"; the modifiers are those of numeric.c and timestamp.c).
func rounds(from, to *Type) bool {
	from, to = baseType(from), baseType(to)
	if from.Class == Array && to.Class == Array && from.Elem != nil && to.Elem != nil {
		return rounds(from.Elem, to.Elem)
	}
	if !from.BuiltIn() || from.OID != to.OID || from.Mod == to.Mod || to.Mod < 0 {
		return false
	}
	switch to.Name {
	case "numeric":
		return from.Mod < 0 || numericScale(from.Mod) > numericScale(to.Mod)
	case "time", "timetz", "timestamp", "timestamptz":
		const digits = 6 // of a second, when there is no modifier
		return from.Mod < 0 && to.Mod < digits || from.Mod > to.Mod
	case "interval":
		return true // fields or digits are left out
	}
	return false
}

// numericScale is the number of digits behind the point, which is negative from PostgreSQL 15 on when digits before it are rounded.
func numericScale(mod int32) int32 {
	const header, bits, sign = 4, 0x7ff, 0x400
	return (mod-header)&bits ^ sign - sign
}
