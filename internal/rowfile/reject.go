package rowfile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/pghaul/pghaul/planner"
)

// RejectWriter writes refused rows to a file in the form of the input, and the reasons to another one, a JSON object on each line. A file is made
// when the first row comes. It is for one goroutine.
type RejectWriter struct {
	rows, reasons appending
	lead          []byte
	ends          LineEnd
	utf16         string
	text          bool
}

// Rejected is one line of the file of reasons.
type Rejected struct {
	File string `json:"file"`
	// Line is the row's first line, counted from 1; 0 where a file has no lines.
	Line int64 `json:"line,omitempty"`
	// Offset is that of its first byte in the decompressed contents.
	Offset   int64  `json:"offset"`
	Column   string `json:"column,omitempty"`
	SQLState string `json:"sqlstate"`
	Message  string `json:"message"`
	Detail   string `json:"detail,omitempty"`
}

// OpenReject prepares the writing of refused rows to a path and of reasons to another one; an empty path writes none. at and reasonsAt are the
// sizes that the files had when the load was last recorded: what they have behind is cut off, since those rows are read again. They are -1 in a
// new load, which does not write to a file that has something in it: it may be a load's input, or rows that somebody still has to mend.
// The layout says what stands before the first row, so that the file can be loaded with the same options.
func OpenReject(path string, at int64, reasons string, reasonsAt int64, l *Layout) (*RejectWriter, error) {
	w := &RejectWriter{
		rows: appending{path: path, size: max(at, 0), fresh: at < 0}, reasons: appending{path: reasons, size: max(reasonsAt, 0), fresh: reasonsAt < 0},
		lead: l.Lead, ends: l.Ends, text: l.isCSV() || l.Format == Text || l.Format == Fixed && l.Fixed.Lines || l.Format == NDJSON,
	}
	if l.wideText() {
		w.utf16 = l.Encoding
	}
	if path != "" && path == reasons {
		return nil, usage("refused rows and reasons cannot go to one file", "")
	}
	for _, f := range []*appending{&w.rows, &w.reasons} {
		if err := f.prepare(); err != nil {
			return nil, errors.Join(err, w.Close())
		}
	}
	return w, nil
}

// Write adds a row, as Parser.Raw returned it, and its reason.
func (w *RejectWriter) Write(raw []byte, why *Rejected) error {
	if err := w.begin(); err != nil {
		return err
	}
	if err := w.rows.write(raw); err != nil {
		return err
	}
	return w.finish(raw[max(len(raw)-2, 0):], why)
}

// WriteLarge adds a row that is not in memory.
func (w *RejectWriter) WriteLarge(row *Large, why *Rejected) error {
	if err := w.begin(); err != nil {
		return err
	}
	in := bufio.NewReaderSize(io.NewSectionReader(row.Raw, 0, row.Size), pieceSize)
	var tail, turned []byte
	for {
		piece, err := in.Peek(pieceSize)
		if err != nil && err != io.EOF { //nolint:errorlint // the bare io.EOF alone is the end
			return &planner.Error{Message: "read a large row", Cause: err}
		}
		if len(piece) == 0 {
			break
		}
		n := len(piece)
		if w.utf16 != "" {
			n = wholeCharacters(piece, err != nil)
			turned = appendUTF16(turned[:0], piece[:n], w.utf16 == utf16BE)
			tail = append(tail[:0], turned[max(len(turned)-4, 0):]...)
			err = w.rows.write(turned)
		} else {
			tail = append(tail[:0], piece[max(n-2, 0):]...)
			err = w.rows.write(piece)
		}
		if err != nil {
			return err
		}
		if _, err := in.Discard(n); err != nil {
			return &planner.Error{Message: "read a large row", Cause: err}
		}
	}
	return w.finish(tail, why)
}

// wholeCharacters is the length of the start of text that cuts no character.
func wholeCharacters(text []byte, last bool) int {
	n := len(text)
	for i := 0; !last && i < 3 && n > 1 && text[n-1] >= 0x80; i++ {
		n--
		if text[n] >= 0xc0 {
			break
		}
	}
	return n
}

// begin writes what stands before the first row.
func (w *RejectWriter) begin() error {
	if w.rows.size > 0 {
		return nil
	}
	return w.rows.write(w.lead)
}

// finish gives a last row without a line end one, so that the next row does not run into it, and writes the reason.
func (w *RejectWriter) finish(tail []byte, why *Rejected) error {
	if w.text {
		if err := w.rows.write(w.missingEnd(tail)); err != nil {
			return err
		}
	}
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(why); err != nil {
		return &planner.Error{Message: "write the reason of a refused row", Cause: err}
	}
	return w.reasons.write(line.Bytes())
}

// missingEnd is the line end that a row with this tail lacks.
func (w *RejectWriter) missingEnd(tail []byte) []byte {
	end := map[LineEnd]string{EndCRLF: "\r\n", EndCR: "\r"}[w.ends]
	if end == "" {
		end = "\n"
	}
	last := end[len(end)-1]
	if w.utf16 == "" {
		if n := len(tail); n > 0 && tail[n-1] == last {
			return nil
		}
		return []byte(end)
	}
	big := w.utf16 == utf16BE
	unit := appendUTF16(nil, []byte{last}, big)
	if n := len(tail); n >= 2 && string(tail[n-2:]) == string(unit) {
		return nil
	}
	return appendUTF16(nil, []byte(end), big)
}

// Size returns the sizes of both files, rows first, with what is written but not yet flushed. A record of the load holds them, after Sync.
func (w *RejectWriter) Size() (rows, reasons int64) { return w.rows.size, w.reasons.size }

// Sync makes sure that all that was written survives a crash.
func (w *RejectWriter) Sync() error { return errors.Join(w.rows.sync(), w.reasons.sync()) }

// Close flushes and closes both files.
func (w *RejectWriter) Close() error { return errors.Join(w.rows.close(), w.reasons.close()) }

// Discard closes both files without what was written since OpenReject, for a load that has loaded nothing. A file that was made is removed.
func (w *RejectWriter) Discard() error { return errors.Join(w.rows.discard(), w.reasons.discard()) }

// appending is a file that is made when something is written to it.
type appending struct {
	path  string // empty: nothing is written
	size  int64
	fresh bool
	begin int64 // the size before anything was written
	f     *os.File
	w     *bufio.Writer
	made  bool
}

// prepare opens a file that must be there, and checks that a new one can be made.
func (a *appending) prepare() error {
	if a.path == "" {
		a.size = 0
		return nil
	}
	a.begin = a.size
	info, err := os.Stat(a.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && a.size == 0:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return a.lost()
	case err != nil:
		return a.wrong("use", err)
	case !info.Mode().IsRegular():
		return nil // A pipe or a device.
	case a.fresh && info.Size() > 0:
		return &planner.Error{Message: "file " + a.path + " exists already", Hint: "Refused rows are not added to a file of another load. Move it away, or name another one."}
	case a.size > info.Size():
		return a.lost()
	case info.Size() > a.size:
		if err := os.Truncate(a.path, a.size); err != nil {
			return a.wrong("cut", err)
		}
	}
	return nil
}

func (a *appending) lost() error {
	return &planner.Error{Message: "file " + a.path + " has lost refused rows that the interrupted load had written",
		Hint: "Put the file back where it was, or begin the load anew."}
}

func (a *appending) write(b []byte) error {
	if a.path == "" || len(b) == 0 {
		return nil
	}
	if a.f == nil {
		f, err := os.OpenFile(a.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return a.wrong("make", err)
		}
		a.f, a.w, a.made = f, bufio.NewWriterSize(f, pieceSize), a.size == 0
	}
	n, err := a.w.Write(b)
	a.size += int64(n)
	return a.wrong("write", err)
}

func (a *appending) sync() error {
	if a.f == nil {
		return nil
	}
	if err := a.w.Flush(); err != nil {
		return a.wrong("write", err)
	}
	// A pipe or a device cannot be synced, and keeps nothing.
	if info, err := a.f.Stat(); err != nil || !info.Mode().IsRegular() {
		return a.wrong("look at", err)
	}
	if err := a.f.Sync(); err != nil {
		return a.wrong("flush", err)
	}
	if a.made {
		a.made = false
		return a.wrong("flush the directory of", syncDirectory(a.path))
	}
	return nil
}

func (a *appending) close() error {
	if a.f == nil {
		return nil
	}
	err := a.w.Flush()
	if closed := a.f.Close(); err == nil {
		err = closed
	}
	a.f = nil
	return a.wrong("write", err)
}

func (a *appending) discard() error {
	if a.f == nil {
		return nil
	}
	info, err := a.f.Stat()
	if closed := a.f.Close(); err == nil {
		err = closed
	}
	a.f, a.size = nil, a.begin
	switch {
	case err != nil || !info.Mode().IsRegular():
	case a.begin == 0:
		err = os.Remove(a.path)
	default:
		err = os.Truncate(a.path, a.begin)
	}
	return a.wrong("undo", err)
}

func (a *appending) wrong(what string, err error) error {
	if err == nil {
		return nil
	}
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		err = path.Err // The message has the path.
	}
	return &planner.Error{Message: what + " file " + a.path, Cause: err}
}
