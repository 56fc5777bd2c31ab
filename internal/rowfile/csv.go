package rowfile

import "bytes"

const stateBadFormat = "22P04" // bad_copy_file_format

// fieldSplitter parts one row at a time. It is what CSV and Text differ in.
type fieldSplitter interface {
	// split takes the row of data that begins at at, and returns where it ends. Each field goes to row.add.
	split(data []byte, at int, row *fieldList) (end int, bad *RowError)
}

// fieldList collects the fields of one row.
type fieldList struct {
	fields [][]byte
	count  int // of fields in the row, which may be more than are kept
	most   int // how many are kept
	// lines tells that the row may have more than one line.
	lines   bool
	scratch []byte // values that are not in the file as they are
}

// mostFields bounds the fields of a row where nothing is known: a table has at most 1600 columns.
const mostFields = 4096

func (r *fieldList) add(value []byte) {
	if r.count < r.most {
		r.fields = append(r.fields, value)
	}
	r.count++
}

// csvSplitter parts rows of CSV (CopyReadAttributesCSV in copyfromparse.c). Quotes may open and close anywhere in a field.
type csvSplitter struct {
	delimiter, quote, escape byte
	null                     []byte
	ends                     LineEnd
	stops                    specials
}

func newCSVSplitter(l *Layout, ends LineEnd) *csvSplitter {
	return &csvSplitter{
		delimiter: l.Delimiter, quote: l.Quote, escape: l.Escape, null: append([]byte{}, l.null()...), ends: ends,
		stops: newSpecials(l.Delimiter, l.Quote, '\n', '\r'),
	}
}

func (s *csvSplitter) split(data []byte, at int, row *fieldList) (end int, bad *RowError) {
	for {
		start := at
		i := s.stops.index(data, at)
		var value []byte
		if i < len(data) && data[i] == s.quote {
			if value, i, bad = s.quoted(data, start, i, row, bad); i == len(data) {
				row.add(value)
				return i, bad
			}
		} else if value = data[start:i:i]; len(value) == len(s.null) && string(value) == string(s.null) {
			value = nil
		}
		row.add(value)
		if i == len(data) {
			return i, bad
		}
		at = i + 1
		if data[i] == s.delimiter {
			continue
		}
		end, stray := lineEndAt(data, i, s.ends)
		if stray && bad == nil {
			bad = strayCSV(data[i])
		}
		if end > 0 {
			return end, bad
		}
	}
}

// quoted returns a field that has quotes, and where it ends. start is its first byte, i the first quote.
func (s *csvSplitter) quoted(data []byte, start, i int, row *fieldList, bad *RowError) (value []byte, end int, _ *RowError) {
	row.lines = true
	if start == i && s.escape == s.quote {
		if n := bytes.IndexByte(data[i+1:], s.quote); n >= 0 {
			// Most quoted fields are one pair of quotes around the value.
			j := i + 1 + n
			if j+1 == len(data) || data[j+1] != s.quote && s.stops.is[data[j+1]] {
				return data[i+1 : j : j], j + 1, bad
			}
		}
	}
	begin := len(row.scratch)
	row.scratch = append(row.scratch, data[start:i]...)
	out := row.scratch
	for {
		var closed bool
		if out, i, closed = s.inside(out, data, i+1); !closed {
			if bad == nil {
				bad = &RowError{State: stateBadFormat, Message: "unterminated CSV quoted field"}
			}
			break
		}
		j := s.stops.index(data, i)
		out = append(out, data[i:j]...)
		if i = j; i == len(data) || data[i] != s.quote {
			break
		}
	}
	row.scratch = out
	return out[begin:len(out):len(out)], i, bad
}

// inside appends what stands in quotes from i on, and returns where it goes on behind the closing quote.
func (s *csvSplitter) inside(out, data []byte, i int) ([]byte, int, bool) {
	for {
		n := bytes.IndexByte(data[i:], s.quote)
		stretch := data[i:]
		if n >= 0 {
			stretch = stretch[:n]
		}
		if s.escape != s.quote {
			if e := bytes.IndexByte(stretch, s.escape); e >= 0 {
				out = append(out, stretch[:e]...)
				i += e + 1
				if i < len(data) && (data[i] == s.escape || data[i] == s.quote) {
					out = append(out, data[i])
					i++
				} else {
					out = append(out, s.escape)
				}
				continue
			}
		}
		out = append(out, stretch...)
		if n < 0 {
			return out, len(data), false
		}
		i += n + 1
		if s.escape == s.quote && i < len(data) && data[i] == s.quote {
			out = append(out, s.quote)
			i++
			continue
		}
		return out, i, true
	}
}

// lineEndAt tells what the \r or \n at i is that no quote and no backslash covers. end is where the row ends with it, 0 when the row goes on.
// stray: it is not the end that the file's lines have, which the server refuses (CopyReadLineText).
func lineEndAt(data []byte, i int, ends LineEnd) (end int, stray bool) {
	switch cr := data[i] == '\r'; {
	case ends == EndCR:
		if cr {
			return i + 1, false
		}
		return 0, true
	case ends != EndCRLF && cr:
		return 0, true
	case ends != EndCRLF:
		return i + 1, false
	case !cr:
		return i + 1, true
	case i+1 < len(data) && data[i+1] == '\n':
		return i + 2, false
	}
	return 0, true
}

// strayCSV is the server's refusal of a line end that is not the file's.
func strayCSV(c byte) *RowError {
	name := endName(c)
	return &RowError{State: stateBadFormat, Message: "unquoted " + name + " found in data", Hint: "Use quoted CSV field to represent " + name + "."}
}

func endName(c byte) string {
	if c == '\r' {
		return "carriage return"
	}
	return "newline"
}
