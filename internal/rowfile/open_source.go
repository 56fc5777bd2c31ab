package rowfile

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/pghaul/pghaul/planner"
)

// headSize is how much of a file's contents is looked at, in bytes.
const headSize = 64 << 10

// source is one file or stream whose contents can be read.
type source struct {
	File
	path    string // of a regular file
	was     stamp
	packing packing
	once    *once // of anything else
	head    []byte
	whole   bool // head is all of the contents
	empty   bool // there are none
	layout  Layout
}

// openSource looks at a file: what it is, and how its contents begin.
func openSource(ctx context.Context, n named, stdin io.Reader) (*source, error) {
	s := &source{File: File{Name: n.name, Bytes: -1}, path: n.path}
	switch {
	case n.path == "" && stdin == nil:
		return nil, usage("there is no standard input to read", "")
	case n.path == "":
		err := s.lookOnce(ctx, &given{r: stdin})
		return s, err
	case !n.info.Mode().IsRegular():
		err := s.lookOnce(ctx, &special{name: n.name, path: n.path})
		return s, err
	}
	f, err := os.Open(n.path)
	if err != nil {
		return nil, openError(n.name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		s.was, s.Bytes = stampOf(info), info.Size()
		s.Identity, err = identify(f, info)
	}
	if err != nil {
		return nil, readError(n.name, err)
	}
	err = s.look(ctx, headSize)
	return s, err
}

func (s *source) lookOnce(ctx context.Context, raw onceReader) (err error) {
	s.once = newOnce(s.Name, raw)
	if err = s.look(ctx, headSize); err != nil {
		s.once.close()
	}
	return err
}

// look sets head to the first size bytes of the contents.
func (s *source) look(ctx context.Context, size int) (err error) {
	if s.once == nil {
		err = s.lookAtFile(ctx, size)
	} else if s.head, err = s.once.look(ctx, size); err == nil {
		s.packing = s.once.u.packing // The goroutine set it before the bytes that were taken.
	}
	if err != nil {
		return err
	}
	s.whole = len(s.head) < size
	s.Compressed = s.packing != plain
	if inner := packingOf(s.head); inner != plain {
		return &planner.Error{
			Message: fmt.Sprintf("%s is compressed twice: there is %s data in its %s data", fileWords(s.Name), inner, s.packing),
			Hint:    "Decompress it once, or pipe it in: zcat FILE | pghaul load -.",
		}
	}
	return refuseBox(s.Name, s.head)
}

func (s *source) lookAtFile(ctx context.Context, size int) error {
	raw, err := openDisk(s.Name, s.path, s.was, 0)
	if err != nil {
		return err
	}
	u := &unpacker{name: s.Name, src: raw}
	defer u.Close()
	stop := context.AfterFunc(ctx, func() { raw.halt(context.Cause(ctx)) })
	defer stop()
	s.head = make([]byte, size)
	n, err := io.ReadFull(u, s.head)
	s.head = s.head[:n]
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF { //nolint:errorlint // short contents, as io.ReadFull says it
		return err
	}
	s.packing = u.packing
	return nil
}

// stillThere looks whether a file is what it was.
func (s *source) stillThere() error {
	if s.once != nil {
		return nil
	}
	d, err := openDisk(s.Name, s.path, s.was, 0)
	if err != nil {
		return err
	}
	return d.Close()
}

// contents is a source's decompressed contents from an offset on.
type contents struct {
	io.Reader
	consumed func() int64
	close    func()
}

// open begins to read. The context bounds it.
func (s *source) open(ctx context.Context, from int64) (*contents, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, readError(s.Name, err)
	}
	if s.once != nil {
		return s.openOnce(ctx, from)
	}
	if s.packing == plain {
		raw, err := openDisk(s.Name, s.path, s.was, from)
		if err != nil {
			return nil, err
		}
		stop := context.AfterFunc(ctx, func() { raw.halt(context.Cause(ctx)) })
		return &contents{raw, raw.read.Load, func() { stop(); _ = raw.Close() }}, nil
	}
	raw, err := openDisk(s.Name, s.path, s.was, 0)
	if err != nil {
		return nil, err
	}
	p := startPump(&unpacker{name: s.Name, src: raw}, from, func(size int64) error { return shortError(s.Name, size, from) })
	stop := context.AfterFunc(ctx, func() { p.halt(context.Cause(ctx)) })
	return &contents{p, raw.read.Load, func() {
		stop()
		p.halt(errClosed)
		p.wait(func() bool { return true })
	}}, nil
}

func (s *source) openOnce(ctx context.Context, from int64) (*contents, error) {
	r, err := s.once.contents(s.Name)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { s.once.pump.halt(context.Cause(ctx)) })
	c := &contents{r, s.once.raw.consumed, func() {
		stop()
		s.once.close()
	}}
	if n, err := io.CopyN(io.Discard, r, from); err == io.EOF { //nolint:errorlint // the bare io.EOF alone is the end
		c.close()
		return nil, shortError(s.Name, n, from)
	} else if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// fileWords is a file as messages name it.
func fileWords(name string) string {
	if name == stdinName {
		return name
	}
	return "file " + strconv.Quote(name)
}
