package rowfile

import (
	"slices"
	"strconv"

	"github.com/pghaul/pghaul/planner"
)

// Layout says how the rows of text files are written: what the user said of them, completed by what their first bytes show. The zero value
// leaves everything to those. All files of one run have one layout but for LineEnd and Lead, which are each file's own.
type Layout struct {
	Format Format
	// Delimiter stands between fields. 0 finds it in CSV, and is a tab in the other formats.
	Delimiter byte
	// Quote and Escape are those of CSV. 0 is a double quote, and for Escape whatever Quote is.
	Quote, Escape byte
	// Null is the text of NULL; nil is the unquoted empty string in CSV, and \N in Text.
	Null *string
	// ForceNull are columns in which a quoted Null is NULL too, ForceNotNull those in which no text is NULL. A single "*" means all.
	ForceNull, ForceNotNull []string
	Header                  HeaderMode
	// Encoding is the name of the files' encoding as PostgreSQL has it, or UTF16, UTF16LE, UTF16BE. Empty is UTF8 but for files that begin
	// with a byte order mark of UTF-16.
	Encoding string
	// Skip is the number of lines that are dropped at the start of each file, before its header. Lines end where a line end stands, quotes
	// notwithstanding; of a fixed layout without line ends they are records.
	Skip int64
	// Limit is the number of rows that are read of each file, 0 for all.
	Limit int64
	Fixed FixedLayout

	// Columns are the target's columns, for telling a header from a row. nil when they are not known.
	Columns []string
	// Names are the fields' names of the header, nil without one.
	Names []string
	// Width is the number of fields of the first row, 0 when there is none.
	Width int
	// Ends is how the lines of this file end; the first line decides, as in the server.
	Ends LineEnd
	// Lead is what a file of refused rows must begin with to be read as this file is: its byte order mark in UTF-16 and its header line.
	Lead []byte

	// expected are the columns that the fields go to; see SetColumns.
	expected []string
}

// HeaderMode says whether the first line holds the names of the fields.
type HeaderMode int

// The modes.
const (
	AutoHeader HeaderMode = iota
	NoHeader
	WithHeader
	// MatchHeader is a header that must have the names of the target's columns in their order (COPY's HEADER MATCH).
	MatchHeader
)

// LineEnd is a way to end lines.
type LineEnd int

// The ways; a file without a line end leaves it unknown.
const (
	UnknownEnd LineEnd = iota
	EndLF
	EndCRLF
	EndCR
)

// String names the line end.
func (e LineEnd) String() string {
	return [...]string{"no line ends", "LF", "CRLF", "CR"}[e]
}

// SetColumns says which column each field goes to, so that a row's number of fields is checked and messages have the columns' names, and for
// which columns ForceNull and ForceNotNull mean a field. An empty name is a field that is dropped. Parsers made before it do not know.
func (l *Layout) SetColumns(names []string) { l.expected = slices.Clone(names) }

// fields are the names that a row's fields are held to; nil when nothing is known but, perhaps, Width.
func (l *Layout) fields() []string {
	if l.expected != nil {
		return l.expected
	}
	return l.Names
}

// null is the text of NULL in force.
func (l *Layout) null() string {
	switch {
	case l.Null != nil:
		return *l.Null
	case l.Format == Text:
		return `\N`
	}
	return ""
}

// complete fills in what a format implies. Its result is what the rest of the package works with.
func (l *Layout) complete() Layout {
	full := *l
	switch {
	case l.Format == TSV || l.Format == Text:
		if full.Delimiter == 0 {
			full.Delimiter = '\t'
		}
	case full.Delimiter == 0:
		full.Delimiter = ','
	}
	if full.Quote == 0 {
		full.Quote = '"'
	}
	if full.Escape == 0 {
		full.Escape = full.Quote
	}
	return full
}

// isCSV reports whether the format has quotes.
func (l *Layout) isCSV() bool { return l.Format == CSV || l.Format == TSV }

// usage is a complaint about the layout that the user asked for.
func usage(message, hint string) error {
	return &planner.Error{Kind: planner.Usage, Message: message, Hint: hint}
}

// check refuses layouts that the server would refuse (ProcessCopyOptions in copy.c), in its words. It takes a completed layout.
func (l *Layout) check() error {
	null := l.null()
	for _, c := range []byte(null) {
		switch {
		case c == '\n' || c == '\r':
			return usage("COPY null representation cannot use newline or carriage return", "")
		case c == l.Delimiter:
			return usage("COPY delimiter character must not appear in the NULL specification", "")
		case l.isCSV() && c == l.Quote:
			return usage("CSV quote character must not appear in the NULL specification", "")
		}
	}
	if l.Format == Fixed {
		return l.Fixed.check()
	}
	for _, c := range []byte{l.Delimiter, l.Quote, l.Escape} {
		if c >= 0x80 || c == 0 || c == '\n' || c == '\r' {
			return usage("delimiter, quote and escape must each be one ASCII character other than a line end",
				"This one was given: "+strconv.QuoteToASCII(string([]byte{c}))+".")
		}
	}
	if l.isCSV() {
		if l.Delimiter == l.Quote {
			return usage("COPY delimiter and quote must be different", "")
		}
		return nil
	}
	if l.Format == Text && slices.Contains([]byte(`\.abcdefghijklmnopqrstuvwxyz0123456789`), l.Delimiter) {
		return usage(`COPY delimiter cannot be "`+string(l.Delimiter)+`"`, "")
	}
	return nil
}
