package move

import (
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// renaming tells the new names of the relations that a dump makes. What is not in it keeps its name.
type renaming map[tableKey]tableKey

// apply renames in one statement. pg_dump qualifies every relation, since it dumps under an empty search_path; names also stand in strings
// that are cast to regclass, as in the default of a serial column.
func (r renaming) apply(sql string) string {
	if len(r) == 0 {
		return sql
	}
	var b strings.Builder
	for i := 0; i < len(sql); {
		var n int
		switch {
		case sql[i] == '\'':
			n = skipLength(sql, i)
			b.WriteString(r.literal(sql[i:i+n], sql[i+n:]))
		case sql[i] == '"' || isNameByte(sql[i]) && sql[i] != '$':
			n = dottedLength(sql[i:])
			b.WriteString(r.dotted(sql[i : i+n]))
		default:
			n = max(1, skipLength(sql, i))
			b.WriteString(sql[i : i+n])
		}
		i += n
	}
	return b.String()
}

// literal renames in a string that is cast to regclass.
func (r renaming) literal(literal, rest string) string {
	if !strings.HasPrefix(rest, "::regclass") {
		return literal
	}
	inside := strings.ReplaceAll(strings.Trim(literal, "'"), "''", "'")
	if renamed := r.dotted(inside); renamed != inside {
		return quoted(renamed)
	}
	return literal
}

// dotted renames one name, qualified or not; behind a relation's name a column's may follow.
func (r renaming) dotted(name string) string {
	end := partLength(name)
	if end+1 >= len(name) {
		return name
	}
	end += 1 + partLength(name[end+1:])
	schema, relation, err := sqltext.ParseQualified(name[:end])
	if err != nil || schema == "" {
		return name
	}
	if to, ok := r[tableKey{schema, relation}]; ok {
		return sqltext.QuoteQualified(to.schema, to.name) + name[end:]
	}
	return name
}

// dottedLength is the length of the name, with the parts behind its dots, that text begins with.
func dottedLength(text string) int {
	end := partLength(text)
	for end+1 < len(text) && text[end] == '.' && (text[end+1] == '"' || isNameByte(text[end+1])) {
		end += 1 + partLength(text[end+1:])
	}
	return end
}

// partLength is the length of the quoted or bare name that text begins with.
func partLength(text string) int {
	if strings.HasPrefix(text, `"`) {
		return quoteLength(text, '"', false)
	}
	end := 0
	for end < len(text) && isNameByte(text[end]) {
		end++
	}
	return end
}
