package rowfile

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/pghaul/pghaul/planner"
)

// sampled is how many rows of a file are looked at before it is read.
const sampled = 100

// candidates are the delimiters that are looked for in CSV; where several fit equally well the first wins. The comma is last, for it stands in
// numbers too.
var candidates = []byte{'\t', ';', '|', ','}

// copyBinarySignature begins a file of COPY's binary format (manual, "COPY", Binary Format).
var copyBinarySignature = []byte("PGCOPY\n\xff\r\n\x00")

// sample is one of the first rows.
type sample struct {
	fields [][]byte
	bad    *RowError
}

// sniff completes a layout by the first 64 kB of a file's decompressed contents: format, delimiter, encoding, line ends, header, names and width,
// where the user left them open. What the user said is kept. whole: the file has no more. Formats that are not text are only recognised.
func sniff(head []byte, whole bool, l Layout) (Layout, error) {
	if l.Format == AutoFormat {
		l.Format = formatOf(head)
	}
	name, err := encodingNamed(l.Encoding)
	if err != nil {
		return l, err
	}
	l.Encoding = name
	if l.Format == Binary || l.Format == Parquet || l.Format == NDJSON {
		return l, nil
	}
	mark := l.settleEncoding(head)
	text := textOf(head, &l)
	if l.Format == AutoFormat {
		l.Format = textFormatOf(text, l)
		if l.Format == AutoFormat {
			return l, notText()
		}
	}
	if l.Format == CSV && l.Delimiter == 0 {
		l.Delimiter = delimiterOf(text, whole, l)
	}
	l = l.complete()
	if err := l.check(); err != nil {
		return l, err
	}
	if l.Format == Fixed && !l.Fixed.Lines {
		l.Width, l.Header = len(l.Fixed.Fields), NoHeader
		return l, nil
	}
	err = l.settleRows(text, whole, mark)
	return l, err
}

// settleRows finds line ends, header, names and width.
func (l *Layout) settleRows(text []byte, whole bool, mark int) error {
	shape := l
	if l.Skip > 0 {
		shape = &Layout{Format: Fixed} // Skipped lines have no quotes.
	}
	l.Ends = lineEndOf(shape, text, whole)
	if l.Format == Fixed {
		l.Width, l.Header = len(l.Fixed.Fields), NoHeader
		return nil
	}
	rest := l.afterSkipped(text)
	rows := l.samples(rest, whole)
	if l.Header == AutoHeader {
		l.Header = NoHeader
		if looksLikeHeader(rows, l.Columns) {
			l.Header = WithHeader
		}
	}
	l.Width = widthOf(rows, l.hasHeader())
	if !l.hasHeader() {
		l.Lead = l.lead(mark, nil)
		return nil
	}
	if len(rows) == 0 {
		if len(rest) > 0 {
			return &planner.Error{Message: fmt.Sprintf("the header line does not end within the first %d kB", len(text)>>10), Hint: "Is this a text file?"}
		}
		return nil
	}
	scan := newRowScan(l, l.Ends)
	end := scan.first(rest)
	if end < 0 {
		end = len(rest)
	}
	l.Lead = l.lead(mark, rest[:end])
	return l.readHeader(rows[0])
}

// widthOf is the number of fields that most of the first rows have, the header's where there is one: a first row that is no row like the others is
// one to refuse, and says nothing about them.
func widthOf(rows []sample, header bool) int {
	if len(rows) == 0 {
		return 0
	}
	best, times := len(rows[0].fields), map[int]int{}
	if header {
		return best
	}
	for _, r := range rows {
		if r.bad == nil {
			times[len(r.fields)]++
		}
	}
	for _, r := range rows {
		if n := len(r.fields); times[n] > times[best] {
			best = n
		}
	}
	return best
}

// lead is what a file of refused rows begins with.
func (l *Layout) lead(mark int, header []byte) []byte {
	if !l.wideText() {
		return slices.Clone(header)
	}
	if mark > 0 {
		header = append(slices.Clone(utf8BOM), header...)
	}
	return appendUTF16(nil, header, l.Encoding == utf16BE)
}

// formatOf recognises formats that show themselves by their first bytes.
func formatOf(head []byte) Format {
	switch {
	case bytes.HasPrefix(head, copyBinarySignature):
		return Binary
	case bytes.HasPrefix(head, []byte("PAR1")):
		return Parquet
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(head, utf8BOM), " \t\r\n")
	if inner := bytes.TrimLeft(text[min(1, len(text)):], " \t\r\n"); len(inner) > 0 && text[0] == '[' && inner[0] == '{' {
		text = inner // One array of objects, which is no NDJSON; that is told there.
	}
	if len(text) > 1 && text[0] == '{' {
		// An object begins with a key or ends at once; a row of CSV may begin with a brace too, as arrays of the server do.
		if next := bytes.TrimLeft(text[1:], " \t\r\n"); len(next) > 0 && (next[0] == '}' || next[0] == '"' && beginsKey(next)) {
			return NDJSON
		}
	}
	return AutoFormat
}

// beginsKey reports whether text begins with a string and a colon.
func beginsKey(text []byte) bool {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			next := bytes.TrimLeft(text[i+1:], " \t\r\n")
			return len(next) > 0 && next[0] == ':'
		case '\n':
			return false
		}
	}
	return false
}

// settleEncoding decides the encoding and returns the length of the byte order mark.
func (l *Layout) settleEncoding(head []byte) int {
	little, big := bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff})
	switch {
	case l.Format == Fixed && !l.Fixed.Lines:
	case l.Encoding == utf16LE && little, l.Encoding == utf16BE && big:
		return 2
	case (l.Encoding == "" || l.Encoding == "UTF16") && little:
		l.Encoding = utf16LE
		return 2
	case (l.Encoding == "" || l.Encoding == "UTF16") && big:
		l.Encoding = utf16BE
		return 2
	case l.Encoding == "UTF16":
		l.Encoding = utf16BE // RFC 2781: big-endian where nothing says otherwise.
	case bytes.HasPrefix(head, utf8BOM) && l.Encoding == "":
		l.Encoding = utf8Name
		return len(utf8BOM)
	}
	if l.Encoding == "" {
		l.Encoding = utf8Name
	}
	return 0
}

// textOf returns the head in the form that rows are cut in.
func textOf(head []byte, l *Layout) []byte {
	if l.wideText() {
		text := make([]byte, 3*len(head)/2+3)
		u := newUTF16Reader(bytes.NewReader(head[:len(head)&^1]), l.Encoding == utf16BE)
		n := 0
		for n < len(text) {
			got, err := u.Read(text[n:])
			if n += got; err != nil {
				break
			}
		}
		head = text[:n]
	}
	return bytes.TrimPrefix(head, utf8BOM)
}

// textFormatOf tells COPY text from CSV. Text has a tab or \N and no quote around a field, and needs a backslash to show itself: a file of tabs
// without one is the same in both.
func textFormatOf(text []byte, l Layout) Format {
	if bytes.IndexByte(text, 0) >= 0 {
		return AutoFormat
	}
	if l.Delimiter != 0 && l.Delimiter != '\t' || l.Quote != 0 {
		return CSV
	}
	nulls := bytes.Contains(text, []byte("\t\\N")) || bytes.HasPrefix(text, []byte("\\N\t")) || bytes.Contains(text, []byte("\n\\N\t")) ||
		bytes.Contains(text, []byte("\n\\.\n"))
	escapes := bytes.Contains(text, []byte("\t")) && (bytes.Contains(text, []byte(`\t`)) || bytes.Contains(text, []byte(`\n`)) || bytes.Contains(text, []byte(`\\`)))
	quoted := text[:min(1, len(text))]
	if (nulls || escapes) && !bytes.Equal(quoted, []byte{'"'}) && !bytes.Contains(text, []byte("\t\"")) {
		return Text
	}
	return CSV
}

func notText() error {
	return &planner.Error{Message: "this is not a text file: its first bytes hold NUL bytes",
		Hint: "Name the format, and the encoding where it is UTF16 without a byte order mark."}
}

// delimiterOf finds the delimiter that parts the first rows into the same number of fields, at least two, in most rows. The target's number of
// columns decides first.
func delimiterOf(text []byte, whole bool, l Layout) byte {
	best, bestScore := byte(','), 0
	for _, d := range candidates {
		if null := l.null(); bytes.IndexByte([]byte(null), d) >= 0 || d == l.Quote {
			continue
		}
		shape := l
		shape.Delimiter = d
		shape = shape.complete()
		shape.Ends = lineEndOf(&shape, text, whole)
		rows := shape.samples(shape.afterSkipped(text), whole)
		count := map[int]int{}
		for _, r := range rows {
			if r.bad == nil {
				count[len(r.fields)]++
			}
		}
		for width, times := range count {
			score := times * 1000 / max(len(rows), 1)
			switch {
			case width < 2:
				continue
			case width == len(l.Columns):
				score += 2000
			}
			if score > bestScore {
				best, bestScore = d, score
			}
		}
	}
	return best
}

// afterSkipped drops the lines that the layout skips.
func (l *Layout) afterSkipped(text []byte) []byte {
	for range l.Skip {
		i := bytes.IndexByte(text, lastByte(l.Ends))
		if i < 0 {
			return nil
		}
		text = text[i+1:]
	}
	return text
}

// samples parses the first rows of text. A row that its end does not complete is left out.
func (l *Layout) samples(text []byte, whole bool) []sample {
	shape := *l
	shape.Names, shape.Width, shape.expected = nil, 0, nil
	c := newCutter(bytes.NewReader(text), 0, "", &shape, Position{Line: 1})
	if l.wideText() {
		c.r, c.unit = bytes.NewReader(text), 1 // It is converted already.
	}
	c.begun = true
	var rows []sample
	p := newTextParser(&shape)
	for len(rows) < sampled {
		b, err := c.Next()
		if err != nil {
			break
		}
		_ = p.Parse(b, func(r *Row) error {
			if len(rows) == sampled || !whole && r.End == len(b.Data) && !endsLine(b.Data, l.Ends) {
				return errEnough
			}
			s := sample{bad: r.Bad}
			for _, f := range r.Fields {
				s.fields = append(s.fields, slices.Clone(f))
			}
			rows = append(rows, s)
			return nil
		})
	}
	return rows
}

// errEnough ends a parsing early.
var errEnough = &planner.Error{Message: "enough rows were seen"}

func endsLine(b []byte, ends LineEnd) bool {
	return len(b) > 0 && b[len(b)-1] == lastByte(ends)
}
