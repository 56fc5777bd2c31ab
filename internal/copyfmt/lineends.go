package copyfmt

// lineEnd is a way to end lines.
type lineEnd int

const (
	unknownEnd lineEnd = iota
	endLF
	endCRLF
	endCR
)

// lineEnds finds the ends of lines of COPY text. The first line's end, the
// first \n or \r without a backslash before it, decides for the whole stream.
type lineEnds struct {
	style   lineEnd
	escaped bool // the next byte stands behind an escaping backslash
	cr      bool // the last byte was the first line's \r: is \n next?
}

// first implements boundary.
func (l *lineEnds) first(block []byte) (n int, ended piece, err error) {
	if l.style == unknownEnd {
		n, ended = l.detect(block)
		return n, ended, nil
	}
	last := byte('\n')
	if l.style == endCR {
		last = '\r'
	}
	i := indexBare(block, last, l.escaped)
	if i < 0 {
		l.escaped = isEscaped(block, len(block), l.escaped)
		return len(block), nothing, nil
	}
	l.escaped = false
	return i + 1, rowPiece, nil
}

// detect is first for the first line. block is not empty.
func (l *lineEnds) detect(block []byte) (n int, ended piece) {
	if l.cr {
		l.cr = false
		if block[0] == '\n' {
			l.style = endCRLF
			return 1, rowPiece
		}
		l.style = endCR
		return 0, rowPiece
	}
	lf := indexBare(block, '\n', l.escaped)
	cr := indexBare(block, '\r', l.escaped)
	switch {
	case lf < 0 && cr < 0:
		l.escaped = isEscaped(block, len(block), l.escaped)
		return len(block), nothing
	case cr < 0 || lf >= 0 && lf < cr:
		l.style, l.escaped = endLF, false
		return lf + 1, rowPiece
	case cr+1 == len(block):
		l.cr, l.escaped = true, false
		return len(block), nothing
	case block[cr+1] == '\n':
		l.style, l.escaped = endCRLF, false
		return cr + 2, rowPiece
	}
	l.style, l.escaped = endCR, false
	return cr + 1, rowPiece
}

// inRow implements boundary.
func (l *lineEnds) inRow() bool { return true }

// finish implements boundary: a last line needs no end.
func (l *lineEnds) finish(begun bool) (ended piece, err error) {
	switch {
	case l.cr:
		l.cr, l.style = false, endCR
		return rowPiece, nil
	case begun:
		return openRow, nil
	}
	return nothing, nil
}

// trim returns the line without its end, or what is wrong with its \n and \r,
// in the server's words.
func (l *lineEnds) trim(line []byte, ended piece) (content []byte, problem string) {
	n := len(line)
	bareLF := false
	if ended == rowPiece {
		n--
		if l.style == endCRLF {
			bareLF = n == 0 || line[n-1] != '\r' || isEscaped(line, n-1, false)
			if !bareLF {
				n--
			}
		}
	}
	content = line[:n:n]
	switch {
	case l.style != endCR && indexBare(content, '\r', false) >= 0:
		return nil, "literal carriage return found in data"
	case bareLF || l.style == endCR && indexBare(content, '\n', false) >= 0:
		return nil, "literal newline found in data"
	}
	return content, ""
}
