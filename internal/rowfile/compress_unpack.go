package rowfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/pghaul/pghaul/planner"
)

// unpacker reads the contents of a source, compressed or not; it finds out at the first read.
type unpacker struct {
	name     string
	src      io.ReadCloser
	packing  packing // set by the first read
	contents decompressor
	at       int64 // bytes read
	failed   error // of src, which decompressors may replace with their own
	begun    bool
}

// Read implements io.Reader. Errors are *planner.Error.
func (u *unpacker) Read(p []byte) (n int, err error) {
	// Decompressors are written for speed. A defect of one must not end the program with the bytes of a damaged file.
	defer func() {
		if r := recover(); r != nil {
			n, err = 0, unpackError(u.name, u.packing, u.at, fmt.Errorf("decompress: %v", r))
		}
	}()
	if !u.begun {
		u.begun = true
		if err := u.begin(); err != nil {
			return 0, u.explain(err)
		}
	}
	n, err = u.contents.Read(p)
	u.at += int64(n)
	if err == io.EOF { //nolint:errorlint // the bare io.EOF alone is the end
		// What is behind the end of the compressed data is read too, because only the end of the file tells whether it was changed.
		if _, rest := io.Copy(io.Discard, noted{u}); rest != nil {
			return n, u.explain(rest)
		}
		return n, io.EOF
	}
	if err != nil {
		return n, u.explain(err)
	}
	return n, nil
}

// begin looks at the first bytes.
func (u *unpacker) begin() error {
	in := bufio.NewReaderSize(noted{u}, 512)
	head, err := in.Peek(512)
	if err != nil && err != io.EOF { //nolint:errorlint // a short file is none
		return err
	}
	if err := refuseBox(u.name, head); err != nil {
		return err
	}
	u.packing = packingOf(head)
	u.contents, err = newDecompressor(u.packing, in)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // of something that had begun
	}
	return err
}

func (u *unpacker) explain(err error) error {
	if u.failed != nil {
		return readError(u.name, u.failed)
	}
	if own := (*planner.Error)(nil); errors.As(err, &own) {
		return own
	}
	if u.packing == plain {
		return readError(u.name, err)
	}
	return unpackError(u.name, u.packing, u.at, err)
}

// Close gives up the decompressor's memory and the source.
func (u *unpacker) Close() error {
	if u.contents.release != nil {
		u.contents.release()
	}
	return u.src.Close()
}

// noted is the source of an unpacker, whose errors are noted.
type noted struct{ u *unpacker }

// Read implements io.Reader.
func (s noted) Read(p []byte) (int, error) {
	n, err := s.u.src.Read(p)
	if err != nil && err != io.EOF {
		s.u.failed = err
	}
	return n, err
}
