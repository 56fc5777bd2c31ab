package sqltext

import (
	"fmt"
	"strings"
)

// NameError says why a table name, pair or pattern typed by a user cannot be
// read. It carries its parts so that a caller can print them apart.
type NameError struct {
	Text    string // what was typed
	Problem string // what is wrong with it, for example "empty name after the dot"
	Hint    string // how to write it instead; may be empty
}

// Error returns the text and its problem in one line, without the hint.
func (e *NameError) Error() string {
	return fmt.Sprintf("cannot read name %s: %s", e.Text, e.Problem)
}

// ParseQualified reads a table name as typed on a command line: t, s.t,
// "My Schema"."T.x". Parts without quotes are folded to lower case as the
// server folds them (ASCII letters only; parser/scansup.c); inside quotes
// nothing changes but "" which stands for one quote. Blanks around a part are
// ignored. As in the server's regclass input, an unquoted part may have any
// character but blanks, dots and quotes. The schema is empty when none was
// typed.
//
// Names longer than the server's limit (63 bytes unless it was built
// otherwise) are returned as they are, not cut: cut, they might name another
// table. Errors are *NameError.
func ParseQualified(s string) (schema, name string, err error) {
	parts, err := splitDots(s)
	if err != nil {
		return "", "", err
	}
	switch len(parts) {
	case 1:
		return "", parts[0], nil
	case 2:
		return parts[0], parts[1], nil
	}
	return "", "", &NameError{Text: s,
		Problem: fmt.Sprintf("too many dotted parts (%d, at most 2)", len(parts)),
		Hint:    `A name with a dot inside must be in double quotes: "a.b".`}
}

// SplitPair cuts TABLE[:TARGET] at its colon. A colon inside double quotes
// belongs to the name. Both halves are returned as typed, to be given to
// ParseQualified; target is empty when there is no colon. Errors are
// *NameError: an empty half, more than one colon, an unclosed quote.
func SplitPair(s string) (source, target string, err error) {
	colon := -1
	quoted := false
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ':' && !quoted && colon >= 0:
			return "", "", &NameError{Text: s, Problem: "more than one colon",
				Hint: `Write TABLE or TABLE:TARGET; a name with a colon inside must be in double quotes.`}
		case s[i] == ':' && !quoted:
			colon = i
		}
	}
	if quoted {
		return "", "", unclosed(s)
	}
	if colon < 0 {
		source = s
	} else {
		source, target = s[:colon], s[colon+1:]
	}
	if strings.TrimSpace(source) == "" {
		return "", "", &NameError{Text: s, Problem: "no source table"}
	}
	if colon >= 0 && strings.TrimSpace(target) == "" {
		return "", "", &NameError{Text: s, Problem: "no target table after the colon"}
	}
	return source, target, nil
}

// splitDots reads parts separated by dots.
func splitDots(s string) ([]string, error) {
	if strings.IndexByte(s, 0) >= 0 {
		return nil, &NameError{Text: strings.ReplaceAll(s, "\x00", `\0`), Problem: "a NUL byte inside"}
	}
	var parts []string
	rest := s
	for {
		part, after, err := readPart(s, trimLeft(rest))
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		after = trimLeft(after)
		if after == "" {
			return parts, nil
		}
		if after[0] != '.' {
			return nil, &NameError{Text: s, Problem: fmt.Sprintf("unexpected %q after %q", after, part),
				Hint: "A name with blanks or quotes inside must be in double quotes, with each quote in it doubled."}
		}
		rest = after[1:]
	}
}

// readPart reads one quoted or bare part from the start of rest and returns
// what follows it. whole is only for messages.
func readPart(whole, rest string) (part, after string, err error) {
	if strings.HasPrefix(rest, `"`) {
		return readQuoted(whole, rest)
	}
	end := strings.IndexAny(rest, ".\" \t\n\r\f\v")
	if end < 0 {
		end = len(rest)
	}
	if end == 0 {
		return "", "", emptyPart(whole)
	}
	return foldASCII(rest[:end]), rest[end:], nil
}

// readQuoted reads a part that starts with a double quote.
func readQuoted(whole, rest string) (part, after string, err error) {
	var b strings.Builder
	for i := 1; i < len(rest); i++ {
		if rest[i] != '"' {
			b.WriteByte(rest[i])
			continue
		}
		if i+1 < len(rest) && rest[i+1] == '"' {
			b.WriteByte('"')
			i++
			continue
		}
		if b.Len() == 0 {
			return "", "", emptyPart(whole)
		}
		return b.String(), rest[i+1:], nil
	}
	return "", "", unclosed(whole)
}

func emptyPart(s string) error {
	if strings.TrimSpace(s) == "" {
		return &NameError{Text: s, Problem: "empty name"}
	}
	return &NameError{Text: s, Problem: "empty part",
		Hint: "Write TABLE or SCHEMA.TABLE."}
}

func unclosed(s string) error {
	return &NameError{Text: s, Problem: "a double quote is not closed",
		Hint: "Most shells eat double quotes: put single quotes around the whole argument."}
}

// foldASCII lowers A to Z and nothing else: the server leaves multi-byte
// letters alone, so strings.ToLower would name another table.
func foldASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + ('a' - 'A')
		}
	}
	return string(b)
}

func trimLeft(s string) string { return strings.TrimLeft(s, " \t\n\r\f\v") }
