package sqltext

import "strings"

// Pattern turns a pattern as psql's \d and pg_dump's -t take it (manual of
// psql, "Patterns") into texts for the server's ~ operator, anchored at both
// ends: * is any run of characters, ? any one, a dot outside quotes separates
// schema and name, unquoted ASCII letters are folded to lower case. Other
// regular expression signs keep their meaning outside quotes, except $, which
// always stands for itself; inside double quotes each stands for itself.
//
// schemaRE is empty when the pattern has no dot; then only tables visible
// without a schema are meant. Errors are *NameError: empty pattern or part,
// more than one dot, an unclosed quote. Whether the result is a valid regular
// expression is for the server to say (SQLSTATE 2201B).
//
// Match with COLLATE pg_catalog.default, as psql does: the column type name
// has collation C, under which ~ knows only ASCII character classes.
func Pattern(s string) (schemaRE, nameRE string, err error) {
	if strings.IndexByte(s, 0) >= 0 {
		return "", "", &NameError{Text: strings.ReplaceAll(s, "\x00", `\0`), Problem: "a NUL byte inside"}
	}
	parts, err := patternParts(s)
	if err != nil {
		return "", "", err
	}
	for i, p := range parts {
		if p == "" {
			return "", "", emptyPart(s)
		}
		parts[i] = "^(" + p + ")$"
	}
	switch len(parts) {
	case 1:
		return "", parts[0], nil
	case 2:
		return parts[0], parts[1], nil
	}
	return "", "", &NameError{Text: s, Problem: "too many dotted parts in the pattern",
		Hint: `A dot inside a name must be in double quotes; "any character" is ?.`}
}

// IsPattern reports whether s has a * or ? outside double quotes, that is,
// whether it can mean more than one table.
func IsPattern(s string) bool {
	quoted := false
	for i := range len(s) {
		switch s[i] {
		case '"':
			quoted = !quoted
		case '*', '?':
			if !quoted {
				return true
			}
		}
	}
	return false
}

// patternParts translates each dotted part.
func patternParts(s string) ([]string, error) {
	var parts []string
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"' && quoted && i+1 < len(s) && s[i+1] == '"':
			b.WriteByte('"')
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
			writeEscaped(&b, c)
		case c == '.':
			parts = append(parts, b.String())
			b.Reset()
		default:
			writeBare(&b, c, s[i+1:])
		}
	}
	if quoted {
		return nil, unclosed(s)
	}
	return append(parts, b.String()), nil
}

// writeEscaped writes a character that stands for itself.
func writeEscaped(b *strings.Builder, c byte) {
	if strings.IndexByte(`|*+?()[]{}.^$\`, c) >= 0 {
		b.WriteByte('\\')
	}
	b.WriteByte(c)
}

// writeBare writes a character that stood outside quotes; after is what
// follows it.
func writeBare(b *strings.Builder, c byte, after string) {
	switch {
	case c == '*':
		b.WriteString(".*")
	case c == '?':
		b.WriteByte('.')
	case c == '$':
		b.WriteString(`\$`)
	case c == '[' && strings.HasPrefix(after, "]"):
		// psql's rule for names of array types: [] is not an empty bracket
		// expression, which would be an error in any case.
		b.WriteString(`\[`)
	case c >= 'A' && c <= 'Z':
		b.WriteByte(c + ('a' - 'A'))
	default:
		b.WriteByte(c)
	}
}
