package move

import (
	"regexp"
	"strings"
)

// dumpStatement is one statement of pg_dump's plain output.
type dumpStatement struct {
	kind  string // of the entry that it belongs to: "TABLE", "INDEX", "FK CONSTRAINT" (pg_dump.c, ARCHIVE_OPTS .description)
	name  string // of the entry
	first bool   // it is the entry's first
	sql   string // without the semicolon
}

// dumpHeader is the comment in front of an entry (pg_backup_archiver.c, _printTocEntry). Names in it have no line breaks left.
var dumpHeader = regexp.MustCompile(`^-- Name: (.*); Type: ([A-Z ]+); Schema: .*; Owner: `)

// splitDump cuts pg_dump's output into statements. It drops settings, which a session of pghaul has its own of, and commands for psql, such as
// \restrict, which the minor releases since August 2025 write.
func splitDump(text string) []dumpStatement {
	var all []dumpStatement
	var kind, name string
	first := true
	for text != "" {
		switch {
		case strings.HasPrefix(text, "--"):
			line, rest := cutLine(text)
			if m := dumpHeader.FindStringSubmatch(line); m != nil {
				name, kind, first = m[1], m[2], true
			}
			text = rest
		case text[0] == '\\':
			_, text = cutLine(text)
		case strings.IndexByte(" \t\r\n;", text[0]) >= 0:
			text = text[1:]
		default:
			n := statementLength(text)
			sql := strings.TrimSpace(text[:n])
			text = text[n:]
			if sql != "" && !strings.HasPrefix(sql, "SET ") && !strings.HasPrefix(sql, "SELECT pg_catalog.set_config(") {
				all = append(all, dumpStatement{kind: kind, name: name, first: first, sql: sql})
				first = false
			}
		}
	}
	return all
}

func cutLine(text string) (line, rest string) {
	line, rest, _ = strings.Cut(text, "\n")
	return line, rest
}

// statementLength is the number of bytes before the semicolon that ends a statement: one that is in no quotes, comment or parentheses (rules
// hold statements in parentheses).
func statementLength(text string) int {
	return unquoted(text, func(c byte, depth int) bool { return c == ';' && depth <= 0 })
}

// unquoted is where the first byte stands at which stop says so: one in no quotes and no comment. depth counts the parentheses that are open
// behind it. It is the text's length when there is none.
func unquoted(text string, stop func(c byte, depth int) bool) int {
	depth := 0
	for i := 0; i < len(text); {
		if n := skipLength(text, i); n > 0 {
			i += n
			continue
		}
		switch text[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if stop(text[i], depth) {
			return i
		}
		i++
	}
	return len(text)
}

// skipLength is the length of the quoted text or comment that starts at i, 0 when none does. What is not closed goes to the end.
func skipLength(text string, i int) int {
	rest := text[i:]
	switch {
	case rest[0] == '"':
		return quoteLength(rest, '"', false)
	case rest[0] == '\'':
		escapes := i > 0 && (text[i-1] == 'E' || text[i-1] == 'e') && (i == 1 || !isNameByte(text[i-2]))
		return quoteLength(rest, '\'', escapes)
	case rest[0] == '$' && (i == 0 || !isNameByte(text[i-1])):
		return dollarLength(rest)
	case strings.HasPrefix(rest, "--"):
		if n := strings.IndexByte(rest, '\n'); n >= 0 {
			return n
		}
		return len(rest)
	case strings.HasPrefix(rest, "/*"):
		return blockLength(rest)
	}
	return 0
}

func quoteLength(rest string, quote byte, escapes bool) int {
	for i := 1; i < len(rest); i++ {
		switch {
		case escapes && rest[i] == '\\':
			i++
		case rest[i] == quote && i+1 < len(rest) && rest[i+1] == quote:
			i++
		case rest[i] == quote:
			return i + 1
		}
	}
	return len(rest)
}

// dollarLength is the length of a dollar-quoted text, 0 when the dollar sign starts none.
func dollarLength(rest string) int {
	end := 1
	for end < len(rest) && isNameByte(rest[end]) && rest[end] != '$' {
		end++
	}
	if end >= len(rest) || rest[end] != '$' || (rest[1] >= '0' && rest[1] <= '9') {
		return 0
	}
	tag := rest[:end+1]
	if n := strings.Index(rest[len(tag):], tag); n >= 0 {
		return n + 2*len(tag)
	}
	return len(rest)
}

// blockLength is the length of a comment, in which others may nest.
func blockLength(rest string) int {
	depth := 0
	for i := 0; i+1 < len(rest); i++ {
		switch rest[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
			if depth == 0 {
				return i + 1
			}
		}
	}
	return len(rest)
}

// isNameByte reports whether a byte can be inside a bare name (manual, "Identifiers and Key Words").
func isNameByte(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
}
