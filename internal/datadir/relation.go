package datadir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

const (
	openSegments = 16 // files of one relation that are kept open
	probed       = 2  // segments looked for behind the last one that was found, since one in the middle may be missing
)

// Relation is the main fork of a relation: its segment files as one row of blocks. Any number of goroutines may Read.
type Relation struct {
	path          string
	blockSize     int
	segmentBlocks uint32
	blocks        uint32
	segments      []uint32 // whole blocks in each

	mutex  sync.Mutex
	opened []*openSegment
}

type openSegment struct {
	number int
	file   *os.File
	users  int
}

// Gap is the error of a Read of blocks that should be there and are not: of a segment that is missing, or that ends early while
// others follow, or of a last block that is not whole.
type Gap struct {
	Block, Blocks uint32 // the first one, and how many
	Reason        string
}

// Error names the blocks and the reason.
func (g *Gap) Error() string {
	if g.Blocks == 1 {
		return fmt.Sprintf("block %d is missing: %s", g.Block, g.Reason)
	}
	return fmt.Sprintf("blocks %d to %d are missing: %s", g.Block, g.Block+g.Blocks-1, g.Reason)
}

// openRelation finds the segments of a relation. expected is how many blocks the catalog counted once: segments are looked for up to
// there although others before them are missing. No segment at all is an error.
func openRelation(path string, c *Control, expected uint32) (*Relation, error) {
	r := &Relation{path: path, blockSize: c.BlockSize, segmentBlocks: c.SegmentBlocks}
	least := int(expected / c.SegmentBlocks)
	last, whole := -1, true
	for n := 0; n <= max(least, last+probed); n++ {
		info, err := os.Stat(r.segment(n))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, unreadable(r.segment(n), err, "")
		}
		// A table that was cut keeps its further segments, empty (mdtruncate of md.c).
		if err != nil || info.Size() == 0 && n > 0 {
			continue
		}
		for len(r.segments) < n {
			r.segments = append(r.segments, 0)
		}
		last = n
		blocks := uint32(min(info.Size()/int64(c.BlockSize), int64(c.SegmentBlocks)))
		r.segments = append(r.segments, blocks)
		r.blocks = uint32(n)*c.SegmentBlocks + blocks
		whole = blocks == c.SegmentBlocks
		if !whole && info.Size() > int64(blocks)*int64(c.BlockSize) {
			r.blocks++ // the beginning of a block: reading it reports the gap
		}
	}
	if last >= 0 && whole && r.blocks < expected {
		r.blocks = expected // the catalog has counted blocks that a lost segment must have held
		for len(r.segments) <= int((expected-1)/c.SegmentBlocks) {
			r.segments = append(r.segments, 0)
		}
	}
	if len(r.segments) == 0 {
		if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
			return nil, unreadable(filepath.Dir(path), fs.ErrNotExist,
				"Mount the tablespace, or let its symbolic link in pg_tblspc lead to where its directory is.")
		}
		return nil, unreadable(path, fs.ErrNotExist, "The table's file is lost: only a backup has its rows.")
	}
	return r, nil
}

func (r *Relation) segment(n int) string {
	if n == 0 {
		return r.path
	}
	return r.path + "." + strconv.Itoa(n)
}

// Blocks is the number of blocks, those counted that are missing in the middle. A running server may have more in the meantime.
func (r *Relation) Blocks() uint32 { return r.blocks }

// Path is the path of the first segment.
func (r *Relation) Path() string { return r.path }

// Read fills buf, whose length is a multiple of the block size, with blocks from the given one on, and returns how many there were:
// fewer than have room at the end of the relation, of a segment, or before a gap, and 0 only at the end. The error is a *Gap where
// the first block is missing.
func (r *Relation) Read(block uint32, buf []byte) (blocks int, err error) {
	if block >= r.blocks {
		return 0, nil
	}
	n, within := int(block/r.segmentBlocks), block%r.segmentBlocks
	if within >= r.segments[n] {
		return 0, r.gap(block, n)
	}
	want := min(len(buf)/r.blockSize, int(r.segments[n]-within))
	f, err := r.acquire(n)
	if err != nil {
		return 0, &Gap{Block: block, Blocks: r.segments[n] - within, Reason: err.Error()}
	}
	defer r.release(f)
	read, err := f.file.ReadAt(buf[:want*r.blockSize], int64(within)*int64(r.blockSize))
	if read >= r.blockSize {
		return read / r.blockSize, nil // what failed behind them is the next call's first block
	}
	if errors.Is(err, io.EOF) {
		return 0, &Gap{Block: block, Blocks: r.segments[n] - within, Reason: "the file has become shorter"}
	}
	return 0, &Gap{Block: block, Blocks: 1, Reason: err.Error()}
}

// gap describes the missing blocks from a given one to the next that is there.
func (r *Relation) gap(block uint32, n int) *Gap {
	end := uint32(n+1) * r.segmentBlocks
	g := &Gap{Block: block, Blocks: min(end, r.blocks) - block, Reason: r.segment(n) + " ends there, though more follows"}
	switch {
	case r.segments[n] == 0:
		g.Reason = r.segment(n) + " does not exist, or has no whole block"
	case g.Blocks == 1 && n == len(r.segments)-1:
		g.Reason = r.segment(n) + " ends within it"
	}
	return g
}

func (r *Relation) acquire(n int) (*openSegment, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, s := range r.opened {
		if s.number == n {
			s.users++
			return s, nil
		}
	}
	f, err := os.Open(r.segment(n))
	if err != nil {
		return nil, err
	}
	s := &openSegment{number: n, file: f, users: 1}
	r.opened = append(r.opened, s)
	return s, nil
}

// release lets a segment go; the oldest one without users is closed when there are many.
func (r *Relation) release(s *openSegment) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	s.users--
	for i, other := range r.opened {
		if len(r.opened) > openSegments && other.users == 0 {
			other.file.Close()
			r.opened = append(r.opened[:i], r.opened[i+1:]...)
			return
		}
	}
}

// Close closes the files. No Read may be under way.
func (r *Relation) Close() error {
	var errs []error
	for _, s := range r.opened {
		errs = append(errs, s.file.Close())
	}
	r.opened = nil
	return errors.Join(errs...)
}
