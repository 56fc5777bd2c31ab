package move

import (
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/planner"
)

// form is how a pair of columns enters the hash of its row on either side.
type form struct {
	source, target ingredient
	// note is a sentence about columns whose types differ; empty when they do not.
	note string
}

// formOf chooses the form of a pair: by the value itself where a hash function takes all of it into account, else by its output text, which
// is the same on both servers because their settings are (DateStyle, extra_float_digits and so on). Values that are equal to SQL but not
// identical, such as 0.0 and -0.0, or 1.0 and 1.00, differ.
//
// Where the types differ, a text move has put the source's text through the target's type; so does the form.
func formOf(source, target planner.Column, sameEncoding bool) form {
	from, to := baseType(source.Type), baseType(target.Type)
	a, b := ident(source.RealName()), ident(target.RealName())
	if sameType(from, to) {
		return form{source: ingredientOf(from, a, sameEncoding), target: ingredientOf(to, b, sameEncoding)}
	}
	note := fmt.Sprintf("Column %s is %s in the source and %s in the target: ", ident(source.Name), source.Type.SQL, target.Type.SQL)
	switch {
	case isInteger(from) && isInteger(to):
		return form{source: wideInteger(a + "::int8"), target: wideInteger(b + "::int8")}
	case isBpchar(from) || isBpchar(to):
		note += "compared as text without trailing blanks."
		return form{source: textIngredient(trimmedText(from, a), sameEncoding), target: textIngredient(trimmedText(to, b), sameEncoding), note: note}
	case isString(from) && isString(to):
		return form{source: ingredientOf(from, a, sameEncoding), target: ingredientOf(to, b, sameEncoding)}
	case canCast(to):
		note += "the source's values are compared as the target's type reads their text."
		converted := "(" + outputText(from, a) + ")::" + to.SQL
		return form{source: ingredientOf(to, converted, sameEncoding), target: ingredientOf(to, b, sameEncoding), note: note}
	default:
		note += "compared as text."
		return form{source: textIngredient(outputText(from, a), sameEncoding), target: textIngredient(outputText(to, b), sameEncoding), note: note}
	}
}

// ingredientOf is the ingredient of a value whose type is the same on both sides.
func ingredientOf(t planner.Type, value string, sameEncoding bool) ingredient {
	if !catalogType(t) {
		return textIngredient(outputText(t, value), sameEncoding)
	}
	switch t.Name {
	case "int2", "int4", "oid", "bool", "date", "uuid":
		return ingredient{small: []string{value + "::" + t.Name}}
	case "int8":
		return wideInteger(value + "::int8")
	case "char":
		// Its text is ambiguous: \377 is one byte or four characters depending on the version (PostgreSQL 15 release notes, "char").
		return ingredient{small: []string{value + "::int4"}}
	case "timestamp", "timestamptz", "time":
		// Their hash functions fold 64 bits into 32.
		return ingredient{small: []string{t.Name + "_send(" + value + ")"}}
	case "interval":
		// PostgreSQL 14 cannot print all that it stores. Infinity, new in 17, has the bytes of a finite interval of older versions.
		return ingredient{small: []string{"interval_send(" + value + ")", "isfinite(" + value + ")"}}
	case "bytea":
		return bytesIngredient(value, "octet_length("+value+")")
	case "bit", "varbit":
		return bytesIngredient(t.Name+"_send("+value+")", "octet_length("+value+")")
	}
	return textIngredient(outputText(t, value), sameEncoding)
}

// wideInteger takes both halves of a bigint, because hashint8 folds them into one: 1 and 4294967296 have the same hash.
func wideInteger(value string) ingredient {
	return ingredient{small: []string{value, "(" + value + " >> 32)"}}
}

// textIngredient takes a text. Where the servers store text in different encodings the bytes are made the same first.
func textIngredient(text string, sameEncoding bool) ingredient {
	if sameEncoding {
		return ingredient{text: text}
	}
	return bytesIngredient("convert_to("+text+", 'UTF8')", "length("+text+")")
}

// outputText is the text that the type's output function makes of a value, NULL for NULL.
func outputText(t planner.Type, value string) string {
	switch {
	case catalogType(t) && t.Name == "bpchar":
		return "textin(bpcharout(" + value + "))" // its cast to text strips blanks
	case catalogType(t) && t.Name == "bool":
		return "textin(boolout(" + value + "))" // its cast to text says true, its output t
	case catalogType(t) && t.Name == "xml":
		return "textin(xml_out(" + value + "))" // its cast to text keeps an encoding declaration, which does not travel
	case t.Class == planner.BaseType && !t.BuiltIn():
		// Its owner may have made a cast to text that does not keep everything. format always calls the output function.
		return "CASE WHEN num_nulls(" + value + ") = 0 THEN format('%s', " + value + ") END"
	}
	return value + "::text"
}

// trimmedText is a string without the trailing blanks that char(n) does not count.
func trimmedText(t planner.Type, value string) string {
	if isBpchar(t) {
		return value + "::text"
	}
	return "rtrim(" + outputText(t, value) + ", ' ')"
}

// baseType goes through domains: they add constraints, not values.
func baseType(t planner.Type) planner.Type {
	for t.Class == planner.Domain && t.Base != nil {
		t = *t.Base
	}
	return t
}

// sameType reports whether a value that has gone from type a to type b has the output that it had. For types that are not the server's own
// the text decides, so their names need not be equal.
func sameType(a, b planner.Type) bool {
	if !a.BuiltIn() || !b.BuiltIn() {
		return a.BuiltIn() == b.BuiltIn()
	}
	if isBpchar(a) && isBpchar(b) {
		return a.Mod == b.Mod
	}
	return a.OID == b.OID && (b.Mod < 0 || a.Mod == b.Mod || !hasDigits(a))
}

// hasDigits reports whether the type's modifier says how many digits its values have: 1.5 is 1.500 as numeric(10,3), and 1.2345 is 1.235.
func hasDigits(t planner.Type) bool {
	if t.Class == planner.Array && t.Elem != nil {
		t = *t.Elem
	}
	switch t.Name {
	case "numeric", "time", "timetz", "timestamp", "timestamptz", "interval":
		return catalogType(t)
	}
	return false
}

// canCast reports whether every server knows the type, so that the source can convert to it. The types of references to objects (regclass and
// others) look names up, which the source may not have.
func canCast(t planner.Type) bool {
	return t.BuiltIn() && t.Class != planner.Pseudo && t.Class != planner.Composite && !strings.HasPrefix(strings.TrimPrefix(t.Name, "_"), "reg")
}

func catalogType(t planner.Type) bool { return t.BuiltIn() && t.Class == planner.BaseType }

func isBpchar(t planner.Type) bool { return catalogType(t) && t.Name == "bpchar" }

func isInteger(t planner.Type) bool {
	return catalogType(t) && (t.Name == "int2" || t.Name == "int4" || t.Name == "int8")
}

func isString(t planner.Type) bool {
	return catalogType(t) && (t.Name == "text" || t.Name == "varchar" || t.Name == "name")
}
