package rowfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"

	"github.com/pghaul/pghaul/planner"
)

// disk reads a regular file from an offset on. At its end it looks whether the file is still what it was.
type disk struct {
	f      *os.File
	name   string
	was    stamp
	read   atomic.Int64
	halted atomic.Pointer[error]
}

// openDisk opens a file that was looked at before.
func openDisk(name, path string, was stamp, from int64) (*disk, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, openError(name, err)
	}
	info, err := f.Stat()
	if err == nil {
		err = changedSince(name, was, info)
	}
	if err == nil && from > was.size {
		err = shortError(name, was.size, from)
	}
	if err == nil {
		_, err = f.Seek(from, io.SeekStart)
	}
	if err != nil {
		_ = f.Close()
		return nil, readError(name, err)
	}
	d := &disk{f: f, name: name, was: was}
	d.read.Store(from)
	return d, nil
}

// Read implements io.Reader.
func (d *disk) Read(p []byte) (int, error) {
	if cause := d.halted.Load(); cause != nil {
		return 0, *cause
	}
	n, err := d.f.Read(p)
	d.read.Add(int64(n))
	if err == io.EOF {
		if changed := d.unchanged(); changed != nil {
			return n, changed
		}
		return n, io.EOF
	}
	return n, readError(d.name, err)
}

// unchanged returns an error when the file is not what it was.
func (d *disk) unchanged() error {
	info, err := d.f.Stat()
	if err != nil {
		return readError(d.name, err)
	}
	return changedSince(d.name, d.was, info)
}

// halt makes all later reads fail. A read of a regular file is never waited for.
func (d *disk) halt(cause error) { d.halted.CompareAndSwap(nil, &cause) }

// Close closes the file.
func (d *disk) Close() error { return d.f.Close() }

// readError is what a user reads about a file that could not be read; nil for nil.
func readError(name string, err error) error {
	if own := (*planner.Error)(nil); err == nil || errors.As(err, &own) {
		return err
	}
	return &planner.Error{Message: "could not read " + fileWords(name), Cause: bare(err)}
}

// openError is what a user reads about a file that could not be opened.
func openError(name string, err error) error {
	e := &planner.Error{Message: fmt.Sprintf("could not open file %q", name), Cause: bare(err)}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Message = fmt.Sprintf("file %q does not exist", name)
		e.Cause = nil
		e.Hint = "Paths are of the machine that pghaul runs on, relative to the directory that it was started in."
	case errors.Is(err, fs.ErrPermission):
		e.Hint = "Files are read by the user who runs pghaul, not by the server."
	}
	return e
}

// bare takes the operation and the path off an error of package os: messages name the file as the user does.
func bare(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	return err
}

// shortError says that a position to go on from is behind the end.
func shortError(name string, size, from int64) error {
	return &planner.Error{
		Message: fmt.Sprintf("%s ends at byte %d, before byte %d, from which it was to be read on", fileWords(name), size, from),
		Hint:    "It is not the file that the interrupted load had read.",
	}
}
