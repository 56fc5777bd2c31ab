package rowfile

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// rowScan finds where rows end, and holds where in a row it is, so that a row may come in pieces.
//
// In CSV a line end counts where an even number of quotes stands before it, as in the server (CopyReadLineText in copyfromparse.c), whatever the
// fields are. With an escape of its own each byte must be looked at, and so in Text, where a backslash escapes a line end.
type rowScan struct {
	kind          scanKind
	quote, escape byte
	// term ends a row: the last byte of the line end.
	term byte
	wide wideness

	inQuote bool
	escaped bool
	// trail is how many bytes of a character are still to come; lead says that the last byte was a character's first.
	trail int
	lead  bool
}

type scanKind int

const (
	scanLines     scanKind = iota // each line is a row
	scanQuotes                    // the escape is the quote
	scanEscapes                   // it is another byte
	scanBackslash                 // Text
)

func newRowScan(l *Layout, ends LineEnd) rowScan {
	s := rowScan{quote: l.Quote, escape: l.Escape, term: '\n', wide: wideOf(l.Encoding)}
	if ends == EndCR {
		s.term = '\r'
	}
	switch {
	case l.Format == Text:
		s.kind = scanBackslash
	case !l.isCSV():
		s.kind = scanLines
	case l.Escape != l.Quote:
		s.kind = scanEscapes
	default:
		s.kind = scanQuotes
	}
	return s
}

// bytewise reports whether all bytes that matter are below those that characters of more than one byte are made of.
func (s *rowScan) bytewise() bool {
	return s.wide == narrow || s.kind == scanLines || s.kind == scanQuotes && s.quote < firstTrail
}

// scan goes on over b from index from, where the last scan came to; b begins with a row. It returns the end of the last whole row, which is 0
// when there is none, and the number of whole rows. marker is where a line with the end-of-copy marker begins, which ends the scan, or -1.
func (s *rowScan) scan(b []byte, from int) (end, rows, marker int) {
	switch {
	case s.kind == scanLines,
		s.kind == scanQuotes && s.bytewise() && !s.inQuote && bytes.IndexByte(b[from:], s.quote) < 0,
		s.kind == scanBackslash && s.wide == narrow && !s.escaped && bytes.IndexByte(b, '\\') < 0:
		if rows = bytes.Count(b[from:], []byte{s.term}); rows > 0 {
			end = from + bytes.LastIndexByte(b[from:], s.term) + 1
		}
		return end, rows, -1
	case s.kind == scanQuotes && s.bytewise():
		end, rows = s.scanParity(b, from)
		return end, rows, -1
	case s.kind == scanBackslash && s.wide == narrow:
		return s.scanBackslashes(b, from)
	}
	start := 0
	for i := from; i < len(b); i++ {
		if !s.step(b[i]) {
			continue
		}
		if s.kind == scanBackslash && isMarker(b[start:i]) {
			return start, rows, start
		}
		rows++
		start = i + 1
	}
	return start, rows, -1
}

// scanBackslashes is scan for Text with backslashes: it looks back from each line end.
func (s *rowScan) scanBackslashes(b []byte, from int) (end, rows, marker int) {
	for at := from; ; {
		n := bytes.IndexByte(b[at:], s.term)
		if n < 0 {
			s.escaped = isEscaped(b, len(b))
			return end, rows, -1
		}
		at += n + 1
		if isEscaped(b, at-1) {
			continue
		}
		if isMarker(b[end : at-1]) {
			return end, rows, end
		}
		rows++
		end = at
	}
}

// isEscaped reports whether an odd number of backslashes stands before i. b begins with a row.
func isEscaped(b []byte, i int) bool {
	j := i
	for j > 0 && b[j-1] == '\\' {
		j--
	}
	return (i-j)%2 == 1
}

// first goes on over b and returns the end of the row that it is in, or -1 when that is not in b.
func (s *rowScan) first(b []byte) int {
	if s.bytewise() && (s.kind == scanLines || s.kind == scanQuotes) {
		return s.firstBytewise(b)
	}
	for i, c := range b {
		if s.step(c) {
			return i + 1
		}
	}
	return -1
}

func (s *rowScan) firstBytewise(b []byte) int {
	at := 0
	for {
		if s.inQuote {
			i := bytes.IndexByte(b[at:], s.quote)
			if i < 0 {
				return -1
			}
			at += i + 1
			s.inQuote = false
		}
		line := bytes.IndexByte(b[at:], s.term)
		stretch := b[at:]
		if line >= 0 {
			stretch = stretch[:line]
		}
		i := -1
		if s.kind == scanQuotes {
			i = bytes.IndexByte(stretch, s.quote)
		}
		switch {
		case i >= 0:
			s.inQuote = true
			at += i + 1
		case line >= 0:
			return at + line + 1
		default:
			return -1
		}
	}
}

// step takes one byte and reports whether it ends a row.
func (s *rowScan) step(c byte) bool {
	if s.wide != narrow && s.inCharacter(c) {
		s.escaped = false
		return false
	}
	switch s.kind {
	case scanBackslash:
		if s.escaped || c == '\\' {
			s.escaped = !s.escaped
			return false
		}
		return c == s.term
	case scanLines:
		return c == s.term
	case scanQuotes:
		if c == s.quote {
			s.inQuote = !s.inQuote
			return false
		}
	case scanEscapes:
		if s.inQuote && c == s.escape {
			s.escaped = !s.escaped
		}
		if c == s.quote && !s.escaped {
			s.inQuote = !s.inQuote
		}
		if c != s.escape {
			s.escaped = false
		}
	}
	return c == s.term && !s.inQuote
}

// inCharacter reports whether c is part of a character of more than one byte. A byte that cannot be is taken for itself, so that a broken
// character does not swallow the line end behind it.
func (s *rowScan) inCharacter(c byte) bool {
	switch {
	case s.trail > 0:
		s.trail--
		return c >= firstTrail
	case s.lead:
		s.lead = false
		if s.wide == wideGB18030 && c >= '0' && c <= '9' {
			s.trail = 2
		}
		return c >= firstTrail
	case c >= 0x80 && s.wide.leads(c):
		s.lead = true
		return true
	}
	return false
}

// parity has for eight bytes' quotes, the first byte's bit lowest, the bytes that stand in quotes when the first does not.
var parity = func() (t [256]uint8) {
	for m := range t {
		inside := uint8(0)
		for i := range 8 {
			inside ^= uint8(m>>i) & 1
			t[m] |= inside << i
		}
	}
	return t
}()

// scanParity is scan for quotes that are their own escape: eight bytes at once, at about 2 GB/s where each row has quotes.
func (s *rowScan) scanParity(b []byte, from int) (end, rows int) {
	quotes, terms := uint64(s.quote)*eachByte, uint64(s.term)*eachByte
	inside := uint8(0)
	if s.inQuote {
		inside = 0xff
	}
	i := from
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		q, t := zeroBytes(w^quotes), zeroBytes(w^terms)
		if q == 0 {
			if t != 0 && inside == 0 {
				rows += bits.OnesCount64(t)
				end = i + 8 - bits.LeadingZeros64(t)>>3
			}
			continue
		}
		within := parity[gathered(q)] ^ inside
		inside = uint8(int8(within) >> 7)
		if t != 0 {
			if bare := gathered(t) &^ within; bare != 0 {
				rows += bits.OnesCount8(bare)
				end = i + 8 - bits.LeadingZeros8(bare)
			}
		}
	}
	s.inQuote = inside != 0
	for ; i < len(b); i++ {
		if s.step(b[i]) {
			rows++
			end = i + 1
		}
	}
	return end, rows
}

// isMarker reports whether a line without its last byte is the end-of-copy marker.
func isMarker(line []byte) bool {
	return len(line) >= 2 && line[0] == '\\' && line[1] == '.' && (len(line) == 2 || len(line) == 3 && line[2] == '\r')
}

// lineEndOf says how the first row of b ends; it is unknown when b does not show it. whole: nothing comes after b.
func lineEndOf(l *Layout, b []byte, whole bool) LineEnd {
	lf, cr := newRowScan(l, EndLF), newRowScan(l, EndCR)
	i, j := lf.first(b), cr.first(b)
	switch {
	case i < 0 && j < 0:
		return UnknownEnd
	case j < 0 || i >= 0 && i < j:
		return EndLF
	case j == len(b) && !whole:
		return UnknownEnd
	case j < len(b) && b[j] == '\n':
		return EndCRLF
	}
	return EndCR
}
