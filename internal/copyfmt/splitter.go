package copyfmt

import "bytes"

// Splitter cuts a stream into whole rows without decoding them.
type Splitter interface {
	// Split takes the next block of the stream and returns how many of its
	// bytes go up to the last row end in it, 0 when it has none, and how many
	// rows end in it. The bytes behind end begin a row that later blocks end.
	// A header or trailer of the format ends like a row, and counts as none.
	// The error is a *FormatError and sticks.
	Split(block []byte) (end int, rows int64, err error)

	// Whole reports whether the stream so far ends with a row end.
	Whole() bool
}

// NewSplitter returns a splitter for a stream of COPY from its start.
func NewSplitter(binary bool) Splitter {
	if binary {
		return NewBinarySplitter()
	}
	return NewTextSplitter()
}

// TextSplitter is the Splitter of COPY text. Rows end with \n, which serves
// \r\n too; a newline behind a backslash is data. The zero value is ready.
type TextSplitter struct {
	escaped bool // the last byte was a backslash that escapes the next
	partial bool
}

// NewTextSplitter returns a splitter at a row's start.
func NewTextSplitter() *TextSplitter { return &TextSplitter{} }

// Split implements Splitter. It never fails.
func (s *TextSplitter) Split(block []byte) (end int, rows int64, err error) {
	if len(block) == 0 {
		return 0, 0, nil
	}
	// Servers escape newlines as \n, so a backslash in front of one is rare,
	// and most often the second of a pair: count all newlines at the speed
	// of memory, then take back the escaped ones.
	rows = int64(bytes.Count(block, newline) - s.countEscaped(block))
	end = bytes.LastIndexByte(block, '\n')
	for end >= 0 && isEscaped(block, end, s.escaped) {
		end = bytes.LastIndexByte(block[:end], '\n')
	}
	end++
	s.partial = end < len(block)
	s.escaped = isEscaped(block, len(block), s.escaped)
	return end, rows, nil
}

// Whole implements Splitter. A last row without its newline is a row for
// COPY FROM; it is for the caller to end it.
func (s *TextSplitter) Whole() bool { return !s.partial }

var (
	newline        = []byte("\n")
	escapedNewline = []byte("\\\n")
)

// countEscaped counts the newlines in block that are data.
func (s *TextSplitter) countEscaped(block []byte) (n int) {
	if block[0] == '\n' && s.escaped {
		n++
	}
	for from := 0; ; {
		i := bytes.Index(block[from:], escapedNewline)
		if i < 0 {
			return n
		}
		if isEscaped(block, from+i+1, s.escaped) {
			n++
		}
		from += i + 2
	}
}
