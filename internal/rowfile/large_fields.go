package rowfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/pghaul/pghaul/planner"
)

// pieceSize is how much of a large field is looked at together.
const pieceSize = 64 << 10

// maxValue is the size from which the server takes no value (MaxAllocSize in memutils.h).
const maxValue = 1<<30 - 1

// LargeFields implements Parser. It reads the row once to find the fields and their sizes; opening a field reads it again from its start.
func (p *textParser) LargeFields(b *Block) ([]LargeField, *RowError) {
	raw, size := b.Large.Raw, b.Large.Size
	if p.from != nil {
		made, why := p.convertLarge(b)
		if why != nil {
			return nil, why
		}
		// The converted row lives as long as the row itself.
		release := b.Large.Release
		b.Large.Release = func() {
			made.release()
			if release != nil {
				release()
			}
		}
		raw, size = made, made.size
	}
	var fields []LargeField
	r := bufio.NewReaderSize(nil, pieceSize)
	for at := int64(0); ; {
		w := p.newFieldWalk(r, raw, at, size, b.ends)
		if bad := w.measure(); bad != nil {
			bad.Field = len(fields) + 1
			return nil, p.named(bad)
		}
		start := at
		if p.width >= 0 && len(fields) == p.width || len(fields) == mostFields {
			return nil, extraData()
		}
		fields = append(fields, p.largeField(w, len(fields), func() io.Reader { return p.newFieldWalk(bufio.NewReaderSize(nil, pieceSize), raw, start, size, b.ends) }))
		if at += w.taken; w.ended {
			break
		}
	}
	if p.width >= 0 && len(fields) < p.width {
		return nil, missingData(p.names, len(fields))
	}
	return fields, nil
}

// largeField describes the field that w has walked over.
func (p *textParser) largeField(w *fieldWalk, i int, open func() io.Reader) LargeField {
	f := LargeField{Null: w.isNull(), Size: w.made, Open: open}
	if i < len(p.force) {
		switch {
		case f.Null && p.force[i].notNull:
			f.Null = false
		case !f.Null && p.force[i].null && w.made == int64(len(p.null)) && string(w.value) == string(p.null):
			f.Null = true
		}
	}
	return f
}

// convertLarge makes a copy of a large row in UTF-8.
func (p *textParser) convertLarge(b *Block) (*scratch, *RowError) {
	made, err := newScratch()
	if err != nil {
		return nil, spoolFault(err)
	}
	in := bufio.NewReaderSize(io.NewSectionReader(b.Large.Raw, 0, b.Large.Size), pieceSize)
	for {
		piece, err := in.Peek(pieceSize)
		if err != nil && err != io.EOF { //nolint:errorlint // the bare io.EOF alone is the end
			made.release()
			return nil, spoolFault(err)
		}
		if len(piece) == 0 {
			return made, nil
		}
		n := p.from.whole(piece, err != nil)
		var bad *RowError
		if p.converted, bad = p.from.convert(p.converted[:0], piece[:n]); bad == nil {
			if _, err = made.Write(p.converted); err == nil || err == io.EOF { //nolint:errorlint // as above
				_, err = in.Discard(n)
			}
			if err != nil {
				bad = spoolFault(err)
			}
		}
		if bad != nil {
			made.release()
			return nil, bad
		}
	}
}

// spoolFault is a row that cannot be taken apart for want of room on disk.
func spoolFault(err error) *RowError {
	fault := &RowError{State: "58030", Message: err.Error()}
	var known *planner.Error
	if errors.As(err, &known) {
		fault.Hint = known.Hint
	}
	return fault
}

// fieldWalk decodes one field of a row that is not in memory, as an io.Reader.
type fieldWalk struct {
	r    *bufio.Reader
	ends LineEnd
	csv  *csvSplitter // nil: Text
	stop *specials
	null []byte

	taken  int64 // bytes of the row that the field has, delimiter or line end included
	raw    int64 // without them
	made   int64 // bytes of the value
	inside bool  // in quotes
	quoted bool  // has quotes or backslashes
	over   bool  // the field has ended
	ended  bool  // and the row with it
	bad    *RowError
	head   []byte // the field's first raw bytes, enough to know NULL by
	value  []byte // the value's
	out    []byte // decoded and not read yet
	buf    []byte
}

func (p *textParser) newFieldWalk(r *bufio.Reader, raw io.ReaderAt, at, size int64, ends LineEnd) *fieldWalk {
	r.Reset(io.NewSectionReader(raw, at, size-at))
	w := &fieldWalk{r: r, ends: ends, null: p.null}
	switch s := p.split[ends].(type) {
	case *csvSplitter:
		w.csv, w.stop = s, &s.stops
	case *textSplitter:
		w.stop = &s.stops
	}
	return w
}

// measure walks over the whole field.
func (w *fieldWalk) measure() *RowError {
	check := utf8Stream{}
	for {
		piece, err := w.next()
		if bad := check.add(piece, err != nil); bad != nil {
			return bad
		}
		if err == io.EOF { //nolint:errorlint // the bare io.EOF alone is the end
			break
		}
		if err != nil {
			return spoolFault(err)
		}
	}
	if w.bad == nil && w.made > maxValue {
		w.bad = &RowError{State: "54000", Message: fmt.Sprintf("value of %d bytes is larger than a column can hold", w.made)}
	}
	return w.bad
}

// isNull reports whether the field, walked over, is NULL.
func (w *fieldWalk) isNull() bool {
	if w.csv != nil && w.quoted || w.raw != int64(len(w.null)) {
		return false
	}
	return string(w.head) == string(w.null)
}

// Read implements io.Reader.
func (w *fieldWalk) Read(p []byte) (int, error) {
	for len(w.out) == 0 {
		piece, err := w.next()
		if err != nil {
			return 0, err
		}
		w.out = piece
	}
	n := copy(p, w.out)
	w.out = w.out[n:]
	return n, nil
}

// next decodes some more of the field. What it returns is good until the next call.
func (w *fieldWalk) next() ([]byte, error) {
	if w.over {
		return nil, io.EOF
	}
	w.buf = w.buf[:0]
	data, err := w.r.Peek(pieceSize)
	if err != nil && err != io.EOF {
		return nil, err
	}
	last := err != nil
	n := w.step(data, last)
	if n > 0 {
		w.keepHead(data[:n])
	}
	if _, err := w.r.Discard(n); err != nil {
		return nil, err
	}
	w.taken += int64(n)
	if !w.over {
		w.raw += int64(n)
	}
	if keep := len(w.null) - len(w.value); keep > 0 {
		w.value = append(w.value, w.buf[:min(keep, len(w.buf))]...)
	}
	w.made += int64(len(w.buf))
	return w.buf, nil
}

func (w *fieldWalk) keepHead(data []byte) {
	if keep := len(w.null) - len(w.head); keep > 0 {
		w.head = append(w.head, data[:min(keep, len(data))]...)
	}
}

// step decodes from data, which the field goes on in, into buf and returns how many bytes it took. It leaves a few bytes untaken where what
// follows them decides, unless data is the last.
func (w *fieldWalk) step(data []byte, last bool) int {
	i := 0
	for i < len(data) {
		if w.inside {
			n, more := w.insideQuotes(data[i:], last)
			if i += n; !more {
				return i
			}
			continue
		}
		j := w.stop.index(data, i)
		w.buf = append(w.buf, data[i:j]...)
		if i = j; i == len(data) {
			break
		}
		c := data[i]
		switch {
		case w.csv != nil && c == w.csv.quote:
			w.inside, w.quoted = true, true
			i++
		case w.csv == nil && c == '\\':
			n := w.backslash(data[i:], last)
			if n == 0 {
				return i
			}
			i += n
		case c != '\r' && c != '\n': // the delimiter
			return w.finish(i, i+1, false)
		default:
			if c == '\r' && w.ends == EndCRLF && i+1 == len(data) && !last {
				return i
			}
			end, stray := lineEndAt(data, i, w.ends)
			if stray && w.bad == nil {
				w.bad = w.stray(c)
			}
			if end > 0 {
				return w.finish(i, end, true)
			}
			i++
		}
	}
	if last {
		if w.inside && w.bad == nil {
			w.bad = &RowError{State: stateBadFormat, Message: "unterminated CSV quoted field"}
		}
		return w.finish(len(data), len(data), true)
	}
	return i
}

// finish ends the field at data[:at], with what ends it up to behind.
func (w *fieldWalk) finish(at, behind int, row bool) int {
	w.over, w.ended = true, row
	w.raw += int64(at)
	return behind
}

func (w *fieldWalk) stray(c byte) *RowError {
	if w.csv != nil {
		return strayCSV(c)
	}
	return strayText(c)
}

// insideQuotes decodes what stands in quotes. more: the caller may go on.
func (w *fieldWalk) insideQuotes(data []byte, last bool) (n int, more bool) {
	s := w.csv
	i := bytes.IndexByte(data, s.quote)
	if i < 0 {
		i = len(data)
	}
	if s.escape != s.quote {
		if e := bytes.IndexByte(data[:i], s.escape); e >= 0 {
			i = e
		}
	}
	w.buf = append(w.buf, data[:i]...)
	if i == len(data) {
		return i, !last
	}
	if i+1 == len(data) && !last {
		return i, false // What follows decides.
	}
	next := i + 1
	if data[i] == s.escape && next < len(data) && (data[next] == s.escape || data[next] == s.quote) {
		w.buf = append(w.buf, data[next])
		return next + 1, true
	}
	if data[i] == s.quote {
		w.inside = false
		return next, true
	}
	w.buf = append(w.buf, data[i])
	return next, true
}

// backslash decodes one escape of Text and returns its length, 0 when more of it is needed.
func (w *fieldWalk) backslash(data []byte, last bool) int {
	const longest = 4 // \123
	if len(data) < longest && !last {
		return 0
	}
	w.quoted = true
	n := escapeLength(data)
	if n > 1 && data[1] == '.' && w.bad == nil {
		w.bad = markerInRow()
	}
	w.buf = appendEscape(w.buf, data[:n])
	return n
}
