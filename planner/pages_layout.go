package planner

import (
	"slices"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// pagesLayoutBlock compares how the values lie on the page: they are taken as they are, so both tables must agree on each column's size and type.
// Its place may be another one.
func (s *situation) pagesLayoutBlock() string {
	from := s.facts.Pages.Source.Attributes
	for _, to := range s.facts.Pages.Target.Attributes {
		if to.Dropped {
			continue
		}
		i := attributeNamed(from, to.Name)
		if i < 0 {
			return "the target has column " + sqltext.QuoteIdent(to.Name) + ", which the source lacks"
		}
		if why := attributeBlock(&from[i], &to); why != "" {
			return "column " + sqltext.QuoteIdent(to.Name) + " " + why
		}
	}
	return s.pagesTypeBlock()
}

func attributeNamed(attributes []PageAttribute, name string) int {
	return slices.IndexFunc(attributes, func(a PageAttribute) bool { return a.Name == name && !a.Dropped })
}

func attributeBlock(from, to *PageAttribute) string {
	switch {
	case from.Len != to.Len || from.Align != to.Align:
		return "is stored otherwise in the target"
	case from.Generated != to.Generated || from.Virtual != to.Virtual:
		return "is generated otherwise in the target"
	}
	return ""
}

// pageColumns has for each column of the new table the index of the source's attribute; nil where all stand in their places. The new table has
// the live columns of the target, or when there is none those of the source.
func (s *situation) pageColumns() []int {
	from, to := s.facts.Pages.Source.Attributes, s.facts.Pages.Target.Attributes
	if to == nil {
		to = from
	}
	columns := []int{}
	same := true
	for _, a := range to {
		if a.Dropped {
			continue
		}
		at := attributeNamed(from, a.Name)
		same = same && at == len(columns)
		columns = append(columns, at)
	}
	if same && len(columns) == len(from) {
		return nil
	}
	return columns
}

// pagesTypeBlock looks for types whose values mean something else on the other side.
func (s *situation) pagesTypeBlock() string {
	for _, from := range s.source.Columns {
		to := from
		if !s.created {
			c := column(s.target.Columns, from.Name)
			if c == nil {
				return "the target has no column " + sqltext.QuoteIdent(from.Name)
			}
			to = *c
		}
		if why := s.storedBlock(&from.Type, &to.Type); why != "" {
			return "column " + sqltext.QuoteIdent(from.Name) + " " + why
		}
	}
	return ""
}

// storedBlock says why stored values of one type are not those of the other.
func (s *situation) storedBlock(from, to *Type) string {
	switch {
	case from.Schema != to.Schema || from.Name != to.Name || from.Mod != to.Mod && to.Mod != -1:
		return "is " + from.SQL + " in the source and " + to.SQL + " in the target"
	case s.facts.SameDatabase:
		return ""
	}
	return s.foreignBlock(from, to)
}

// foreignBlock judges a type whose values come from another database, where objects have other numbers.
func (s *situation) foreignBlock(from, to *Type) string {
	otherMajor := s.facts.SourceServer.Version/10000 != s.facts.TargetServer.Version/10000
	switch {
	case from.Class == Array && from.Elem != nil && to.Elem != nil && from.BuiltIn():
		if otherMajor && from.Elem.OID >= firstUnfixedOID {
			return "is an array of " + from.Elem.SQL + ", which has another number in each version"
		}
		return s.foreignBlock(from.Elem, to.Elem)
	case from.BuiltIn() && from.Class == Composite:
		return "is of the row type " + from.SQL + ", whose values carry numbers of their own database"
	case from.BuiltIn() && numbered[from.Name]:
		return "is of type " + from.SQL + ", whose values are numbers of objects in their own database"
	case from.BuiltIn() && from.Name == "aclitem" && otherMajor:
		return "is of type aclitem, which versions store differently"
	case from.BuiltIn() && from.Name == "interval" && s.facts.SourceServer.Version >= infiniteInterval && s.facts.TargetServer.Version < infiniteInterval:
		return "is of type interval, whose infinity the older target takes for a number of years"
	case from.BuiltIn():
		return ""
	case from.Class == Enum:
		for _, label := range from.Labels {
			if !slices.Contains(to.Labels, label) {
				return "is of enum type " + from.SQL + ", which lacks the label " + sqltext.QuoteLiteral(label) + " in the target"
			}
		}
		return ""
	case from.Class == BaseType && from.Extension != "" && from.Extension == to.Extension && from.ExtensionVersion == to.ExtensionVersion:
		return ""
	case from.Class == Domain && from.Base != nil && to.Base != nil:
		return s.storedBlock(from.Base, to.Base)
	}
	return "is of type " + from.SQL + ", which is another database's own; only enums, domains and types of the same extension version are carried over"
}

// firstUnfixedOID is where the identifiers begin that initdb gives out, in another order in each version (FirstGenbkiObjectId of
// access/transam.h).
const firstUnfixedOID = 10000

// domainChecks have the target look at values of its own domains, which may take less than the source's of the same name. A value that one
// does not take is the server's error.
func (s *situation) domainChecks(hidden string) []PageCheck {
	var checks []PageCheck
	if s.facts.SameDatabase {
		return nil
	}
	for _, from := range s.source.Columns {
		typ := from.Type
		if c := column(s.target.Columns, from.Name); c != nil {
			typ = c.Type
		}
		if typ.Class != Domain {
			continue
		}
		name := sqltext.QuoteIdent(from.Name)
		checks = append(checks, PageCheck{Name: "column " + name + " holds a value that " + typ.SQL + " does not take",
			SQL: "SELECT FROM ONLY " + hidden + " WHERE pg_catalog.num_nulls((" + name + "::" + baseType(&typ).SQL + ")::" + typ.SQL + ") > 1 LIMIT 1"})
	}
	return checks
}

// numbered are the types whose values are OIDs that another database gives to other objects; pg_upgrade refuses most of them too.
var numbered = map[string]bool{
	"regproc": true, "regprocedure": true, "regoper": true, "regoperator": true, "regclass": true, "regtype": true, "regconfig": true,
	"regdictionary": true, "regnamespace": true, "regrole": true, "regcollation": true,
}
