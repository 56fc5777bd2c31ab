package move

import (
	"iter"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// renaming tells the new names of relations. What is not in it keeps its name.
type renaming map[tableKey]tableKey

// renamer gives new names to what a table owns and to what other tables of the run own.
type renamer struct{ own, run renaming }

// of returns the new name of a relation, and whether it has one.
func (r renamer) of(key tableKey) (tableKey, bool) {
	if to, ok := r.own[key]; ok {
		return to, true
	}
	to, ok := r.run[key]
	if !ok {
		return key, false
	}
	return to, true
}

// apply renames in one statement. pg_dump qualifies every relation, since it dumps under an empty search_path; names also stand in strings
// that are cast to regclass, as in the default of a serial column. Only the names of indexes, and of constraints that have one, stand
// without the schema, which is then that of their table.
func (r renamer) apply(sql string) string {
	if len(r.own) == 0 && len(r.run) == 0 {
		return sql
	}
	home := firstRelation(sql, func(key tableKey) bool { _, ok := r.of(key); return ok }).schema
	var b strings.Builder
	var before string // the words in front
	for i, piece := range pieces(sql) {
		switch {
		case piece[0] == '\'':
			piece = r.literal(piece, sql[i+len(piece):])
		case startsName(piece):
			indexed := strings.HasSuffix(before, " INDEX") || strings.HasSuffix(before, " CONSTRAINT") || strings.HasSuffix(before, " CLUSTER ON")
			before += " " + piece
			if indexed && partLength(piece) == len(piece) {
				piece = r.index(home, piece)
			} else {
				piece = r.dotted(piece)
			}
		}
		b.WriteString(piece)
	}
	return b.String()
}

// literal renames in a string that is cast to regclass.
func (r renamer) literal(literal, rest string) string {
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
func (r renamer) dotted(name string) string {
	key, rest := relationIn(name)
	if to, ok := r.of(key); ok {
		return to.quoted() + rest
	}
	return name
}

// index renames an index that stands without its schema.
func (r renamer) index(schema, name string) string {
	key, _ := leadingName(name)
	if to, ok := r.of(tableKey{schema, key.name}); ok {
		return ident(to.name)
	}
	return name
}

// firstRelation is the first of the relations in a statement that is wanted, or no name.
func firstRelation(sql string, wanted func(tableKey) bool) tableKey {
	for _, piece := range pieces(sql) {
		if startsName(piece) {
			if key, _ := relationIn(piece); key.name != "" && wanted(key) {
				return key
			}
		}
	}
	return tableKey{}
}

// relationIn reads schema.relation from a name, and what follows of it. The key is empty when it has no schema.
func relationIn(name string) (key tableKey, rest string) {
	end := partLength(name)
	if end+1 >= len(name) {
		return tableKey{}, name
	}
	end += 1 + partLength(name[end+1:])
	schema, relation, err := sqltext.ParseQualified(name[:end])
	if err != nil || schema == "" {
		return tableKey{}, name
	}
	return tableKey{schema, relation}, name[end:]
}

// pieces cuts a statement into names with the parts behind their dots, quoted text, comments, and single other bytes. It yields where each
// begins.
func pieces(sql string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := 0; i < len(sql); {
			n := max(1, skipLength(sql, i))
			if startsName(sql[i:]) {
				n = dottedLength(sql[i:])
			}
			if !yield(i, sql[i:i+n]) {
				return
			}
			i += n
		}
	}
}

// startsName reports whether text begins with a name, quoted or bare.
func startsName(text string) bool { return text[0] == '"' || isNameByte(text[0]) && text[0] != '$' }

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
