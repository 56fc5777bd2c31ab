package sqltext

import (
	"bytes"
	"unicode/utf8"
)

// LexOptions says how a session's server reads the text that its client
// sends. The zero value recognises nothing.
type LexOptions struct {
	// StandardConformingStrings is the setting of that name: without it a
	// backslash in a plain string is an escape, and such strings are refused.
	StandardConformingStrings bool

	// SafeEncoding says that in client_encoding no byte of a multi-byte
	// character is an ASCII byte. Nothing is recognised without it.
	SafeEncoding bool

	// UTF8 says that the server keeps text in UTF8 and gets it unconverted.
	// Only then are names beyond ASCII recognised (how they fold and how long
	// they are depends on the server's encoding) and escapes beyond ASCII
	// (\303 stands for a byte in the server's encoding, not the client's).
	UTF8 bool
}

// LexFor returns the options that belong to the values of client_encoding,
// server_encoding and standard_conforming_strings, as a server reports them
// in ParameterStatus. A value that it does not know makes fewer statements
// recognisable, never more.
func LexFor(clientEncoding, serverEncoding, standardConformingStrings string) LexOptions {
	return LexOptions{
		StandardConformingStrings: standardConformingStrings == "on",
		SafeEncoding:              safeEncodings[clientEncoding],
		UTF8:                      serverEncoding == "UTF8" && (clientEncoding == "UTF8" || clientEncoding == "SQL_ASCII"),
	}
}

// safeEncodings are the encodings whose multi-byte characters have no ASCII
// byte (manual, "Character Set Support"), but for MULE_INTERNAL, which 19
// drops.
var safeEncodings = wordSet(`UTF8 SQL_ASCII EUC_CN EUC_JP EUC_KR EUC_TW EUC_JIS_2004
	ISO_8859_5 ISO_8859_6 ISO_8859_7 ISO_8859_8 KOI8R KOI8U
	LATIN1 LATIN2 LATIN3 LATIN4 LATIN5 LATIN6 LATIN7 LATIN8 LATIN9 LATIN10
	WIN866 WIN874 WIN1250 WIN1251 WIN1252 WIN1253 WIN1254 WIN1255 WIN1256 WIN1257 WIN1258`)

// longestName is NAMEDATALEN less one. A longer name is cut by the server,
// with a notice, and at another place in servers built otherwise.
const longestName = 63

// Classes of bytes, from the server's scanner (parser/scan.l). A vertical tab
// is white space since 17 only and belongs to no class.
const (
	classSpace = 1 << iota
	classDigit
	classStart // may begin a bare name
	classPart  // may go on in one
)

var class = func() (t [256]uint8) {
	for _, c := range " \t\n\r\f" {
		t[c] = classSpace
	}
	for c := range t {
		switch {
		case c >= '0' && c <= '9':
			t[c] = classDigit | classPart
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c >= utf8.RuneSelf:
			t[c] = classStart | classPart
		case c == '$':
			t[c] = classPart
		}
	}
	return t
}()

// lexer stands at a place in a statement. Its methods take a token from there,
// or stay when the next token is another one.
type lexer struct {
	sql  []byte
	at   int
	opts LexOptions
}

// next returns the byte at the lexer's place, 0 at the end.
func (l *lexer) next() byte { return l.ahead(0) }

// ahead returns the byte n beyond the lexer's place, 0 beyond the end.
func (l *lexer) ahead(n int) byte {
	if l.at+n < len(l.sql) {
		return l.sql[l.at+n]
	}
	return 0
}

// skip goes over white space and comments. At a comment that is not closed it
// stays, as no token begins with "/*" the statement is refused then.
func (l *lexer) skip() {
	for l.at < len(l.sql) {
		switch c := l.sql[l.at]; {
		case class[c]&classSpace != 0:
			l.at++
		case c == '-' && l.ahead(1) == '-':
			l.skipLine()
		case c == '/' && l.ahead(1) == '*':
			end := commentEnd(l.sql, l.at)
			if end < 0 {
				return
			}
			l.at = end
		default:
			return
		}
	}
}

// skipLine goes to the next line break, which is CR or LF, or to the end.
func (l *lexer) skipLine() {
	if n := bytes.IndexAny(l.sql[l.at:], "\r\n"); n >= 0 {
		l.at += n
		return
	}
	l.at = len(l.sql)
}

// commentEnd returns where the comment that begins at at ends, -1 when it
// does not. Comments nest.
func commentEnd(sql []byte, at int) int {
	depth := 1
	for i := at + 2; i+1 < len(sql); {
		switch {
		case sql[i] == '*' && sql[i+1] == '/':
			i += 2
			depth--
			if depth == 0 {
				return i
			}
		case sql[i] == '/' && sql[i+1] == '*':
			i += 2
			depth++
		default:
			i++
		}
	}
	return -1
}

// byte takes white space and one byte that is a token for itself.
func (l *lexer) byte(c byte) bool {
	l.skip()
	if l.at < len(l.sql) && l.sql[l.at] == c {
		l.at++
		return true
	}
	return false
}

// peekWord returns the bare name or keyword after white space, nil when there
// is another token.
func (l *lexer) peekWord() []byte {
	l.skip()
	if class[l.next()]&classStart == 0 {
		return nil
	}
	end := l.at + 1
	for end < len(l.sql) && class[l.sql[end]]&classPart != 0 {
		end++
	}
	return l.sql[l.at:end]
}

// keyword takes white space and one keyword, given in lower case.
func (l *lexer) keyword(want string) bool {
	word := l.peekWord()
	if !isWord(word, want) {
		return false
	}
	l.at += len(word)
	return true
}

// isWord compares as the server compares keywords: by ASCII letters, whatever
// the locale. want is in lower case.
func isWord(word []byte, want string) bool {
	if len(word) != len(want) {
		return false
	}
	for i, c := range word {
		if lower(c) != want[i] {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

// name takes white space and a name, and folds it. A reserved word in its
// bare form is a name only after a dot (ColLabel in gram.y, elsewhere ColId).
// ok is false when there is no name, or one whose meaning depends on more
// than its bytes.
func (l *lexer) name(afterDot bool) (name string, ok bool) {
	word := l.peekWord()
	if word == nil {
		return l.quotedName()
	}
	if len(word) > longestName {
		return "", false
	}
	var folded [longestName]byte
	for i, c := range word {
		if c >= utf8.RuneSelf && !l.opts.UTF8 {
			return "", false
		}
		folded[i] = lower(c)
	}
	if !afterDot && reserved[string(folded[:len(word)])] {
		return "", false
	}
	l.at += len(word)
	// U&"..." and the like begin with what looks like a name.
	if c := l.next(); c == '&' || c == '\'' || c == '"' {
		return "", false
	}
	return string(folded[:len(word)]), true
}

// quotedName takes a name in double quotes.
func (l *lexer) quotedName() (name string, ok bool) {
	if l.next() != '"' {
		return "", false
	}
	var buf [longestName]byte
	n := 0
	for i := l.at + 1; i < len(l.sql); i++ {
		c := l.sql[i]
		if c == '"' {
			if i+1 == len(l.sql) || l.sql[i+1] != '"' {
				l.at = i + 1
				return string(buf[:n]), n > 0
			}
			i++
		}
		if n == len(buf) || c == 0 || c >= utf8.RuneSelf && !l.opts.UTF8 {
			return "", false
		}
		buf[n] = c
		n++
	}
	return "", false
}

// end takes semicolons, any number, and reports whether the query ends there.
func (l *lexer) end() (semicolon, ok bool) {
	for l.byte(';') {
		semicolon = true
	}
	return semicolon, l.at == len(l.sql)
}
