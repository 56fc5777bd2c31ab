package datadir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
)

const (
	slruSegmentPages = 32 // SLRU_PAGES_PER_SEGMENT of slru.h
	slruSlots        = 32
)

// errAbsent says that no page of that number is on disk.
var errAbsent = errors.New("the page is not on disk")

// slru reads one of the directories that slru.c keeps: pages in segment files of 32 pages, named by their number in four
// hexadecimal digits or more. Pages once read are kept in a direct-mapped cache; any number of goroutines may use it.
type slru struct {
	directory string
	pageSize  int
	slots     [slruSlots]atomic.Pointer[slruPage]
}

type slruPage struct {
	number uint32
	bytes  []byte // nil: absent
}

// page returns a page, which must not be changed. A page behind the end of its file, or of a file that is not there, is errAbsent.
func (s *slru) page(number uint32) ([]byte, error) {
	slot := &s.slots[number%slruSlots]
	p := slot.Load()
	if p == nil || p.number != number {
		bytes, err := s.read(number)
		if err != nil {
			return nil, err
		}
		p = &slruPage{number: number, bytes: bytes}
		slot.Store(p)
	}
	if p.bytes == nil {
		return nil, errAbsent
	}
	return p.bytes, nil
}

// file is the path of the segment that holds a page.
func (s *slru) file(number uint32) string {
	return filepath.Join(s.directory, fmt.Sprintf("%04X", number/slruSegmentPages))
}

func (s *slru) read(number uint32) ([]byte, error) {
	f, err := os.Open(s.file(number))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the state of transactions: %w", err)
	}
	defer f.Close()
	bytes := make([]byte, s.pageSize)
	_, err = f.ReadAt(bytes, int64(number%slruSegmentPages)*int64(s.pageSize))
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the state of transactions: %w", err)
	}
	return bytes, nil
}
