package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// chooseFormat finds the columns whose binary form is not provably the same on both sides and settles the format of the rows.
func (s *situation) chooseFormat() *Error {
	var names []string
	for i := range s.pairs {
		p := &s.pairs[i]
		if s.fromDirectory() {
			p.Why = "is decoded from the source's files"
			s.noteType(p)
			s.noteRounding(p)
			continue
		}
		p.Why = s.facts.passage().inexact(&p.Source.Type, &p.Target.Type)
		if p.Exact = p.Why == ""; !p.Exact {
			s.inexact = append(s.inexact, *p)
			names = append(names, "column "+sqltext.QuoteIdent(p.Source.Name)+" "+p.Why)
			s.noteType(p)
		}
		s.noteRounding(p)
	}
	s.format = Binary
	if s.wish.Format == Text || len(s.inexact) > 0 || s.fromDirectory() {
		s.format = Text
		s.noteBytes()
	}
	if s.wish.Format == Binary && len(s.inexact) > 0 {
		return refusal("--format binary cannot be used from "+s.sourceName+" to "+s.targetName, sentence(strings.Join(names, "; ")),
			"Leave --format out: text is exact for every type that reads what it prints.")
	}
	return nil
}

// noteType warns of types that differ by name and not merely in what their binary form carries.
func (s *situation) noteType(p *Pair) {
	from, to := &p.Source.Type, &p.Target.Type
	if from.Name != to.Name {
		s.note(fmt.Sprintf("column %s is %s in the source and %s in the target: values pass as text", sqltext.QuoteIdent(p.Source.Name), from.SQL, to.SQL))
	}
}

// escapedChar is the first server_version_num whose "char" type prints bytes above 127 as \ooo and reads them so (char.c). Older
// servers print the byte itself and read the first byte of what they get.
const escapedChar = 150000

// noteBytes warns of values that text changes without an error.
func (s *situation) noteBytes() {
	source, target := s.facts.SourceServer.Version, s.facts.TargetServer.Version
	if s.fromDirectory() { // Whatever wrote the files, they are printed as the newest version does.
		source = escapedChar
	}
	if source >= escapedChar == (target >= escapedChar) {
		return
	}
	for _, p := range s.pairs {
		if holdsChar(&p.Source.Type) && holdsChar(&p.Target.Type) {
			s.note("column " + sqltext.QuoteIdent(p.Source.Name) + ` holds "char", whose bytes above 127 do not pass as text between PostgreSQL 14 and later versions; --verify hash finds them`)
		}
	}
}

// holdsChar reports whether the type is "char" or made of it.
func holdsChar(t *Type) bool {
	if t.BuiltIn() && t.Name == "char" {
		return true
	}
	for _, part := range []*Type{t.Base, t.Elem, t.Sub} {
		if part != nil && holdsChar(part) {
			return true
		}
	}
	return slices.ContainsFunc(t.Fields, func(f Field) bool { return holdsChar(&f.Type) })
}

// infiniteInterval is the first server_version_num whose interval type has infinity (release notes of PostgreSQL 17). In binary it is the
// largest months, days and microseconds, which an older server takes for a finite interval of 178956970 years (timestamp.c).
const infiniteInterval = 170000

// passage is what the exactness of every type depends on: the way from the source's database to the target's.
type passage struct {
	sameDatabase   bool
	source, target int // server_version_num
}

func (f *Facts) passage() passage {
	return passage{sameDatabase: f.SameDatabase, source: f.SourceServer.Version, target: f.TargetServer.Version}
}

// inexact says why the binary form that the source type's send function makes may not be what the target type's receive function takes
// for the same value, as a phrase that follows the column's name. It is empty when both are provably the same, which is decided from
// the functions' own code (src/backend/utils/adt): base types of PostgreSQL have one binary form in all versions, but for the infinite
// interval; arrays and composites carry type identifiers that are compared on arrival (arrayfuncs.c, rowtypes.c); an enum travels as
// its label, a domain as its base type, a range as its bounds.
func (w passage) inexact(from, to *Type) string {
	from, to = baseType(from), baseType(to)
	if from.Class != to.Class {
		return "has another type in the target: " + to.SQL
	}
	switch from.Class {
	case Array:
		return w.inexactArray(from, to)
	case Composite:
		return w.inexactComposite(from, to)
	case Enum:
		return inexactEnum(from, to)
	case RangeType, Multirange:
		if from.Sub == nil || to.Sub == nil {
			return "is a range type of unknown bounds"
		}
		return w.inexact(from.Sub, to.Sub)
	case Pseudo:
		return "has a pseudo-type"
	}
	return w.inexactBase(from, to)
}

// baseType goes through domains, which travel as what they are based on.
func baseType(t *Type) *Type {
	for t.Class == Domain && t.Base != nil {
		t = t.Base
	}
	return t
}

func (w passage) inexactBase(from, to *Type) string {
	switch {
	case from.Send == "" || to.Receive == "":
		return "has a type without a binary form: " + from.SQL
	case from.BuiltIn() != to.BuiltIn(), from.Name != to.Name, from.BuiltIn() && from.OID != to.OID:
		return "has another type in the target: " + to.SQL
	case from.BuiltIn() && from.Name == "xml":
		// xml_recv looks for an encoding declaration that xml_send has rewritten (xml.c); text has no such step.
		return "is xml, whose binary form depends on the client's encoding"
	case from.BuiltIn() && (from.Name == "int2vector" || from.Name == "oidvector"):
		// An empty one is sent as an array without dimensions, which its receive function refuses (int.c, oid.c).
		return "is an " + from.Name + ", which may be empty and then has no binary form"
	case from.BuiltIn() && from.Name == "tsquery":
		// tsqueryrecv refuses an empty one, "operand not found" (tsquery.c): seen in 14.23, 16.14, 17.10 and 18.4, and not in 15.20.
		return "is a tsquery, which may be empty and then has no binary form"
	case from.BuiltIn() && objectAlias(from.Name) && !w.sameDatabase:
		return "is a " + from.Name + ", whose binary form is an object identifier of its own database"
	case from.BuiltIn() && from.Name == "interval" && w.source >= infiniteInterval && w.target < infiniteInterval:
		return "is an interval, which may be infinite and then is another value in the binary form of the target's older version"
	case from.BuiltIn():
		// money is among these: its binary form is the stored integer, and so is its text when both sessions have lc_monetary C.
		return ""
	case w.sameDatabase && from.OID == to.OID:
		return ""
	case from.Extension == "" || to.Extension == "":
		return "has a type of its own database: " + from.SQL
	case from.Extension != to.Extension || from.ExtensionVersion != to.ExtensionVersion:
		return fmt.Sprintf("has a type of extension %s, whose version differs or is not known: %s, %s", from.Extension,
			versionText(from.ExtensionVersion), versionText(to.ExtensionVersion))
	case unqualified(from.Send) != unqualified(to.Send) || unqualified(from.Receive) != unqualified(to.Receive):
		return "has a type with other binary functions in the target: " + from.SQL
	}
	return ""
}

func versionText(v string) string {
	if v == "" {
		return "unknown"
	}
	return v
}

// unqualified drops the schema of a function's name: an extension may be installed in any.
func unqualified(function string) string { return function[strings.LastIndex(function, ".")+1:] }

// objectAlias tells the types that print a name and send an identifier (manual, "Object Identifier Types").
func objectAlias(name string) bool {
	return strings.HasPrefix(name, "reg")
}

func (w passage) inexactArray(from, to *Type) string {
	if from.Elem == nil || to.Elem == nil {
		return "is an array of an unknown type"
	}
	if why := w.inexact(from.Elem, to.Elem); why != "" {
		return "is an array, each element of which " + why
	}
	if from.Elem.OID != to.Elem.OID || from.Elem.OID == 0 {
		return "is an array of a type with another OID in the target: " + from.Elem.SQL
	}
	return ""
}

func (w passage) inexactComposite(from, to *Type) string {
	if len(from.Fields) != len(to.Fields) {
		return fmt.Sprintf("is a composite type with %d fields, and %d in the target", len(from.Fields), len(to.Fields))
	}
	for i := range from.Fields {
		a, b := &from.Fields[i], &to.Fields[i]
		if why := w.inexact(&a.Type, &b.Type); why != "" {
			return "is a composite type, whose field " + sqltext.QuoteIdent(a.Name) + " " + why
		}
		if a.Type.OID != b.Type.OID || a.Type.OID == 0 {
			return "is a composite type, whose field " + sqltext.QuoteIdent(a.Name) + " has a type with another OID in the target: " + a.Type.SQL
		}
	}
	return ""
}

func inexactEnum(from, to *Type) string {
	for _, label := range from.Labels {
		if !slices.Contains(to.Labels, label) {
			return "is an enum, and the target is not known to have its label " + sqltext.QuoteLiteral(label)
		}
	}
	if len(from.Labels) == 0 && len(to.Labels) == 0 {
		return "is an enum of unknown labels"
	}
	return ""
}
