package rowfile

import (
	"fmt"
	"slices"
	"strings"
)

var formatWords = map[Format]string{
	CSV: "CSV", TSV: "TSV", Text: "COPY text", Binary: "COPY binary", Fixed: "fixed width", NDJSON: "NDJSON", Parquet: "Parquet", Given: "rows",
}

func delimiterWords(d byte) string {
	if d == '\t' {
		return "tab"
	}
	return `"` + string(rune(d)) + `"`
}

func headerWords(l *Layout) string {
	if l.hasHeader() {
		return "a header"
	}
	return "no header"
}

// quotedNames lists columns for a message, the first of them when there are many.
func quotedNames(names []string) string {
	const most = 8
	var b strings.Builder
	for i, name := range names[:min(len(names), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", name)
	}
	if more := len(names) - most; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	if len(names) == 0 {
		return "none"
	}
	return b.String()
}

// Describe implements Rows.
func (in *Input) Describe() string {
	l := &in.layout
	words := formatWords[l.Format]
	var parts []string
	if l.isCSV() || l.Format == Text {
		words += " with " + headerWords(l)
		if l.Format == CSV || l.Format == Text && l.Delimiter != '\t' {
			parts = append(parts, "delimiter "+delimiterWords(l.Delimiter))
		}
		if l.isCSV() && l.Quote != '"' {
			parts = append(parts, "quote "+delimiterWords(l.Quote))
		}
		if l.isCSV() && l.Escape != l.Quote {
			parts = append(parts, "escape "+delimiterWords(l.Escape))
		}
		if l.Null != nil {
			parts = append(parts, fmt.Sprintf("NULL as %q", *l.Null))
		}
	}
	if ends := in.lineEnds(); ends != "" {
		parts = append(parts, ends)
	}
	if l.Encoding != "" && l.Encoding != utf8Name {
		parts = append(parts, "encoding "+l.Encoding)
	}
	if packed := in.packedWords(); packed != "" {
		parts = append(parts, packed)
	}
	return strings.Join(append([]string{words}, parts...), ", ")
}

// lineEnds says how the lines of the files end, where they are lines and have ends.
func (in *Input) lineEnds() string {
	var ends []string
	for _, s := range in.sources {
		l := &s.layout
		lines := l.isCSV() || l.Format == Text || l.Format == Fixed && l.Fixed.Lines
		if lines && !s.empty && l.Ends != UnknownEnd && !slices.Contains(ends, l.Ends.String()) {
			ends = append(ends, l.Ends.String())
		}
	}
	if len(ends) == 0 {
		return ""
	}
	return strings.Join(ends, " and ") + " line ends"
}

// packedWords says how the files are compressed.
func (in *Input) packedWords() string {
	var all []string
	for _, s := range in.sources {
		word := string(s.packing)
		if s.packing == plain {
			word = "not compressed"
		}
		if !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	if len(all) == 1 && all[0] == "not compressed" {
		return ""
	}
	return strings.Join(all, " and ")
}
