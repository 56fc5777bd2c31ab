package planner

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// sentence turns a phrase into a sentence.
func sentence(phrase string) string {
	if phrase == "" {
		return ""
	}
	if r := []rune(phrase); !startsWithName(phrase) {
		r[0] = unicode.ToUpper(r[0])
		phrase = string(r)
	}
	if strings.HasSuffix(phrase, ".") {
		return phrase
	}
	return phrase + "."
}

// startsWithName tells a phrase that begins with the name of a method or an option, which must stay as it is written.
func startsWithName(phrase string) bool {
	head, _, _ := strings.Cut(phrase, ":")
	for _, m := range Methods() {
		if head == string(m) {
			return true
		}
	}
	return strings.HasPrefix(phrase, "--")
}

func lowerFirst(s string) string {
	if s == "" {
		return ""
	}
	r, n := utf8.DecodeRuneInString(s)
	// An abbreviation such as COPY keeps its capitals.
	if next, _ := utf8.DecodeRuneInString(s[n:]); unicode.IsUpper(next) {
		return s
	}
	return string(unicode.ToLower(r)) + s[n:]
}

// list joins quoted names: "a", "a and b", "a, b and c".
func list(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = sqltext.QuoteIdent(n)
	}
	return enumerate(quoted)
}

func enumerate(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " and " + items[last]
}

// columnWord returns "column a" or "columns a and b".
func columnWord(names []string) string {
	if len(names) == 1 {
		return "column " + list(names)
	}
	return "columns " + list(names)
}

// kindName is what messages call a relation of this kind.
func kindName(k Kind) string {
	switch k {
	case Table:
		return "table"
	case Partitioned:
		return "partitioned table"
	case View:
		return "view"
	case MatView:
		return "materialized view"
	case ForeignTable:
		return "foreign table"
	case Sequence:
		return "sequence"
	case Query:
		return "query"
	case Missing:
		return "missing"
	case Index, PartitionedIndex:
		return "index"
	case ToastTable:
		return "TOAST table"
	case CompositeType:
		return "composite type"
	}
	return "relation"
}

// relationName is the quoted, qualified name of the relation that is really read or written.
func relationName(r *Relation) string {
	if r.Kind == Query {
		return "(query)"
	}
	return sqltext.QuoteQualified(r.Schema, r.Name)
}
