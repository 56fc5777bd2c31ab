// Package sqltext quotes and reads the small pieces of SQL that pghaul
// writes itself or is given by a user: identifiers, literals, table names and
// name patterns. Of the statements that clients send it recognises INSERT ...
// VALUES, whole or not at all, and the few around it (ParseInsert,
// ParsePrepare, ParseExecute, ParseExplain, ParseSet).
//
// It knows the lexical rules of the server (manual, "Lexical Structure") and
// nothing about a connection. Text is taken to be in UTF8 or another encoding
// a server may use: in those no byte of a multi-byte character is an ASCII
// byte, so quotes and backslashes can be found bytewise. SJIS, BIG5, GBK,
// GB18030, UHC and JOHAB do not have that property and must not be the
// client_encoding of a session that sends what this package wrote.
//
// A NUL byte can stand in no SQL text; no function here removes one. The
// server refuses a message with one inside.
package sqltext

import "strings"

// QuoteIdent returns name as it must be written in SQL to mean exactly name.
// Like the server's quote_ident it leaves plain lower-case names bare, and
// quotes the rest: upper case, dots, quotes, non-ASCII letters, the empty
// string, and each keyword that some supported version does not take as a
// name (ruleutils.c, quote_identifier).
func QuoteIdent(name string) string {
	if isPlain(name) && !keywords[name] {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// QuoteQualified returns schema.name with both parts quoted as QuoteIdent
// does. An empty schema leaves the name unqualified.
func QuoteQualified(schema, name string) string {
	if schema == "" {
		return QuoteIdent(name)
	}
	return QuoteIdent(schema) + "." + QuoteIdent(name)
}

// QuoteIdents returns the names quoted and joined by ", ": a column list.
func QuoteIdents(names []string) string {
	var b strings.Builder
	for i, n := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(QuoteIdent(n))
	}
	return b.String()
}

// QuoteLiteral returns s as a string constant. When s has a backslash the
// constant is an escape string (E) with each backslash doubled, so that it means s
// whatever standard_conforming_strings is.
func QuoteLiteral(s string) string {
	quoted := strings.ReplaceAll(s, `'`, `''`)
	if !strings.Contains(s, `\`) {
		return `'` + quoted + `'`
	}
	return `E'` + strings.ReplaceAll(quoted, `\`, `\\`) + `'`
}

// isPlain reports whether name has only characters that need no quotes. A
// dollar sign is legal inside a bare name but not in standard SQL; the server
// quotes such names, and so does this.
func isPlain(name string) bool {
	if name == "" || (name[0] >= '0' && name[0] <= '9') {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}
