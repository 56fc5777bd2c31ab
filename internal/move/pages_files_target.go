package move

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/pghaul/pghaul/internal/heap"
)

// pageTarget writes the target's blocks. It writes into the file that the server made, if it is empty, and into files that it makes
// itself: never into one that it finds.
type pageTarget struct {
	file pageFile
	info os.FileInfo // of the first segment, whose owner and mode the others get

	mu       sync.Mutex
	segments []*os.File // by number; nil where not yet made
	made     []string   // files that are removed when the move fails
}

// openPageTarget opens the first segment. source is the source's, which must be another file.
func openPageTarget(file pageFile, source string) (*pageTarget, error) {
	first, err := os.OpenFile(file.Path, os.O_RDWR|openNoFollow, 0)
	if err != nil {
		return nil, err
	}
	info, err := first.Stat()
	if err == nil {
		err = emptyFile(file.Path, info)
	}
	if from, statErr := os.Stat(source); err == nil && statErr == nil && os.SameFile(info, from) {
		err = fmt.Errorf("%s is the source itself", file.Path)
	}
	if err != nil {
		return nil, errors.Join(err, first.Close())
	}
	return &pageTarget{file: file, info: info, segments: []*os.File{first}}, nil
}

func emptyFile(path string, info os.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case info.Size() != 0:
		return fmt.Errorf("%s is not empty: it has %d bytes", path, info.Size())
	}
	return nil
}

// create makes a file of the target's relation. One that is there already is an error.
func (t *pageTarget) create(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|openNoFollow, t.info.Mode().Perm())
	if err != nil {
		return nil, err
	}
	t.made = append(t.made, path)
	if err := errors.Join(file.Chmod(t.info.Mode().Perm()), giveTo(file, t.info)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// segment returns the file of a segment, made when it is new.
func (t *pageTarget) segment(number uint32) (*os.File, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for uint32(len(t.segments)) <= number {
		t.segments = append(t.segments, nil)
	}
	if file := t.segments[number]; file != nil {
		return file, nil
	}
	file, err := t.create(segmentPath(t.file.Path, number))
	if err != nil {
		return nil, err
	}
	t.segments[number] = file
	return file, nil
}

// write puts whole blocks at block number first and what follows.
func (t *pageTarget) write(blocks []byte, first uint32) error {
	for len(blocks) > 0 {
		at := first % t.file.SegmentBlocks
		n := min(len(blocks)/t.file.BlockSize, int(t.file.SegmentBlocks-at))
		file, err := t.segment(first / t.file.SegmentBlocks)
		if err != nil {
			return err
		}
		piece, offset := blocks[:n*t.file.BlockSize], int64(at)*int64(t.file.BlockSize)
		if _, err := file.WriteAt(piece, offset); err != nil {
			return err
		}
		startFlush(file, offset, int64(len(piece)))
		blocks, first = blocks[len(piece):], first+uint32(n)
	}
	return nil
}

// writeMap writes the visibility map of the relation (its fork is named by forkNames of src/common/relpath.c).
func (t *pageTarget) writeMap(blocks uint32, checksums bool) error {
	if blocks == 0 {
		return nil
	}
	page := make(heap.Page, t.file.BlockSize)
	var file *os.File
	for n := range heap.VisibilityMapBlocks(blocks, t.file.BlockSize) {
		heap.VisibilityMap(page, n, blocks, checksums)
		if at := n % t.file.SegmentBlocks; at == 0 {
			made, err := t.create(segmentPath(t.file.Path+"_vm", n/t.file.SegmentBlocks))
			if err != nil {
				return err
			}
			file = made
			t.segments = append(t.segments, file)
		}
		if _, err := file.WriteAt(page, int64(n%t.file.SegmentBlocks)*int64(len(page))); err != nil {
			return err
		}
	}
	return nil
}

// finish puts everything on disk: contents, then the directory that names the files.
func (t *pageTarget) finish(ctx context.Context, jobs int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(jobs)
	for _, file := range t.segments {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return file.Sync()
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(t.file.Path))
}

func syncDirectory(path string) error {
	directory, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(directory.Sync(), directory.Close())
}

// abandon leaves the target as it was found: an empty first segment and nothing else.
func (t *pageTarget) abandon() error {
	err := t.segments[0].Truncate(0)
	err = errors.Join(err, t.close())
	for _, path := range t.made {
		if removed := os.Remove(path); !errors.Is(removed, os.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}
	return err
}

// pageFiles are the files of a new relation whose move has succeeded.
type pageFiles struct {
	first string
	info  os.FileInfo // of first
	made  []string
}

// left tells which files to take away when the transaction fails after the move.
func (t *pageTarget) left() pageFiles {
	return pageFiles{first: t.file.Path, info: t.info, made: t.made}
}

// remove is for a transaction that ends without a commit. A server that rolls back removes the files that it finds at that moment, and one that
// crashes none: what was written after it, or before it, would stay for ever.
func (f *pageFiles) remove() error {
	var err error
	for _, path := range f.made {
		if removed := os.Remove(path); !errors.Is(removed, os.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}
	first, opened := os.OpenFile(f.first, os.O_RDWR|openNoFollow, 0)
	if errors.Is(opened, os.ErrNotExist) {
		return err
	}
	if opened != nil {
		return errors.Join(err, opened)
	}
	info, stat := first.Stat()
	if stat == nil && os.SameFile(info, f.info) {
		stat = first.Truncate(0)
	}
	return errors.Join(err, stat, first.Close())
}

func (t *pageTarget) close() error {
	var err error
	for _, file := range t.segments {
		if file != nil {
			err = errors.Join(err, file.Close())
		}
	}
	t.segments = nil
	return err
}
