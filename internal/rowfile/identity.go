package rowfile

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/pghaul/pghaul/planner"
)

// identityBytes is how much of a file's start and of its end goes into its identity.
const identityBytes = 64 << 10

// stamp is what a change of a file's contents changes.
type stamp struct {
	size  int64
	mtime time.Time
}

func stampOf(info fs.FileInfo) stamp { return stamp{info.Size(), info.ModTime()} }

// changedSince compares a file with what it was when it was first looked at.
func changedSince(name string, was stamp, info fs.FileInfo) error {
	is := stampOf(info)
	if is.size == was.size && is.mtime.Equal(was.mtime) {
		return nil
	}
	verb := "was changed"
	switch {
	case is.size > was.size:
		verb = "grew"
	case is.size < was.size:
		verb = "shrank"
	}
	return &planner.Error{
		Message: fmt.Sprintf("%s %s while it was read", fileWords(name), verb),
		Detail:  fmt.Sprintf("It had %d bytes, last changed at %s, and has now %d, changed at %s.", was.size, clockText(was.mtime), is.size, clockText(is.mtime)),
		Hint:    "Load a file when its writer is done with it, or pipe in what is there: head -c BYTES FILE | pghaul load -.",
	}
}

func clockText(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000000Z") }

// identify returns the identity of an open file: a hash of where it is, its size, when it was changed, and its first and last bytes.
func identify(f *os.File, info fs.FileInfo) (string, error) {
	h := sha256.New()
	device, inode := place(info)
	var numbers []byte
	for _, n := range []uint64{device, inode, uint64(info.Size()), uint64(info.ModTime().UnixNano())} {
		numbers = binary.BigEndian.AppendUint64(numbers, n)
	}
	h.Write(numbers)
	for _, at := range []int64{0, max(0, info.Size()-identityBytes)} {
		if _, err := io.Copy(h, io.NewSectionReader(f, at, identityBytes)); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}
