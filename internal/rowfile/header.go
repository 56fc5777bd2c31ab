package rowfile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/planner"
)

// hasHeader reports whether the first line holds names. Sniffing has settled the mode.
func (l *Layout) hasHeader() bool {
	return l.Format != Fixed && (l.Header == WithHeader || l.Header == MatchHeader)
}

// CheckHeader compares a header with the columns that it must have (NextCopyFromRawFields in copyfromparse.c), for MatchHeader. The error has the
// server's words.
func CheckHeader(names, columns []string) error {
	if len(names) != len(columns) {
		return &planner.Error{Message: fmt.Sprintf("wrong number of fields in header line: got %d, expected %d", len(names), len(columns))}
	}
	for i, name := range names {
		if name != columns[i] {
			return &planner.Error{Message: fmt.Sprintf(`column name mismatch in header line field %d: got "%s", expected "%s"`, i+1, name, columns[i])}
		}
	}
	return nil
}

// CheckForced refuses names of ForceNull and ForceNotNull that are neither columns that fields go to nor names of fields, as COPY does: a name that
// is misspelt would change nothing. So would any name in a format without quotes.
func (l *Layout) CheckForced(columns []string) error {
	if !l.isCSV() && len(l.ForceNull)+len(l.ForceNotNull) > 0 {
		return usage("FORCE_NULL and FORCE_NOT_NULL are for CSV", "The input is "+formatWords[l.Format]+".")
	}
	for _, forced := range []struct {
		names []string
		what  string
	}{{l.ForceNull, "FORCE_NULL"}, {l.ForceNotNull, "FORCE_NOT_NULL"}} {
		for _, name := range forced.names {
			if name != "*" && !slices.Contains(columns, name) && !slices.Contains(l.Names, name) {
				return &planner.Error{Message: fmt.Sprintf("%s column %q is not loaded", forced.what, name), Hint: "Name columns that fields go to, or * for all."}
			}
		}
	}
	return nil
}

// readHeader takes the names from the first row. The server's COPY would take any; two of one name, or an empty one, cannot be told apart or
// matched with a column.
func (l *Layout) readHeader(row sample) error {
	if row.bad != nil {
		return &planner.Error{Message: "the header line cannot be read: " + row.bad.Message, Hint: row.bad.Hint}
	}
	seen := map[string]int{}
	names := make([]string, len(row.fields))
	for i, f := range row.fields {
		names[i] = string(f)
		if first, twice := seen[names[i]]; twice {
			return &planner.Error{Message: fmt.Sprintf("the header has the name %q twice, in fields %d and %d", names[i], first, i+1),
				Hint: "Rename one of them, or skip the header and name the columns yourself."}
		}
		if names[i] == "" {
			return &planner.Error{Message: fmt.Sprintf("the header has no name for field %d", i+1),
				Hint: "Name it, or skip the header and name the columns yourself."}
		}
		seen[names[i]] = i + 1
	}
	l.Names = names
	return nil
}

// looksLikeHeader judges the first row of a file by the rows behind it. Where the target's columns are known it is a header when at least half of
// its fields are names of columns: one misspelt name must end in a message about it, and not in a row of names. Else it is one when all its
// fields look like names and a column below them holds numbers or dates only.
func looksLikeHeader(rows []sample, columns []string) bool {
	if len(rows) == 0 || rows[0].bad != nil || len(rows[0].fields) == 0 {
		return false
	}
	first := rows[0].fields
	if columns != nil {
		known := 0
		for _, f := range first {
			for _, c := range columns {
				if strings.EqualFold(string(bytes.TrimSpace(f)), c) {
					known++
					break
				}
			}
		}
		return known > 0 && 2*known >= len(first)
	}
	for i, f := range first {
		if !looksLikeName(f) {
			return false
		}
		for _, g := range first[:i] {
			if bytes.EqualFold(f, g) {
				return false
			}
		}
	}
	for i := range first {
		if numbersBelow(rows[1:], i) {
			return true
		}
	}
	return false
}

// numbersBelow reports whether a column has values and all of them begin as numbers and dates do.
func numbersBelow(rows []sample, i int) bool {
	found := false
	for _, r := range rows {
		if r.bad != nil || i >= len(r.fields) || len(r.fields[i]) == 0 {
			continue
		}
		if c := r.fields[i][0]; (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' {
			return false
		}
		found = true
	}
	return found
}

// looksLikeName reports whether f begins with a letter and has only what names have.
func looksLikeName(f []byte) bool {
	for i, c := range f {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80
		if !letter && (i == 0 || !(c >= '0' && c <= '9' || bytes.IndexByte([]byte(" -.$#/()%"), c) >= 0)) {
			return false
		}
	}
	return len(f) > 0
}
