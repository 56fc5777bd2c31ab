package rowfile

import (
	"io"
	"os"

	"github.com/pghaul/pghaul/planner"
)

// newSpool makes a file that no name leads to, so that nothing is left of it whatever happens to this process.
func newSpool() (*os.File, error) {
	f, err := os.CreateTemp("", "pghaul-row-*")
	if err != nil {
		return nil, &planner.Error{Message: "make a temporary file for a large row", Cause: err,
			Hint: "Rows above 8 MB are kept on disk. Make room in the directory for temporary files, or set TMPDIR to another one."}
	}
	// Where a file that is open cannot be removed dropSpool does it.
	_ = os.Remove(f.Name())
	return f, nil
}

// dropSpool gives a spool file's space back.
func dropSpool(f *os.File) {
	_ = f.Close() // Its contents have been read, or nobody wants them.
	_ = os.Remove(f.Name())
}

// scratch is a spool file that is written from its start and read anywhere.
type scratch struct {
	f    *os.File
	size int64
}

func newScratch() (*scratch, error) {
	f, err := newSpool()
	if err != nil {
		return nil, err
	}
	return &scratch{f: f}, nil
}

// Write appends.
func (s *scratch) Write(p []byte) (int, error) {
	n, err := s.f.WriteAt(p, s.size)
	s.size += int64(n)
	if err != nil {
		return n, &planner.Error{
			Message: "could not keep rows in a temporary file", Cause: err,
			Hint: "Make room in the directory for temporary files, or set TMPDIR to another one.",
		}
	}
	return n, nil
}

// ReadAt implements io.ReaderAt.
func (s *scratch) ReadAt(p []byte, at int64) (int, error) { return s.f.ReadAt(p, at) }

func (s *scratch) reader() io.Reader { return io.NewSectionReader(s.f, 0, s.size) }

// release gives the space back.
func (s *scratch) release() { dropSpool(s.f) }
