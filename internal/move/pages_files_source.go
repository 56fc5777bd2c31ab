package move

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
)

// segmentPath is the file of a relation's segment (_mdfd_segpath of src/backend/storage/smgr/md.c).
func segmentPath(path string, segment uint32) string {
	if segment == 0 {
		return path
	}
	return path + "." + strconv.FormatUint(uint64(segment), 10)
}

// pageSource reads the source's blocks. Segments are opened when they are first needed, and closed when all their ranges were read, so
// that a table of terabytes does not hold thousands of files.
type pageSource struct {
	file   pageFile
	blocks uint32
	piece  uint32 // blocks of a range, which never crosses the end of a segment

	mu   sync.Mutex
	open map[uint32]*openSegment
}

type openSegment struct {
	file *os.File
	uses int // ranges still to be read
}

func newPageSource(file pageFile, blocks, piece uint32) *pageSource {
	return &pageSource{file: file, blocks: blocks, piece: min(piece, file.SegmentBlocks), open: map[uint32]*openSegment{}}
}

// perSegment is the number of ranges of a full segment.
func (s *pageSource) perSegment() uint64 {
	return (uint64(s.file.SegmentBlocks) + uint64(s.piece) - 1) / uint64(s.piece)
}

// span returns the first block of a range and how many it has: none behind the last range.
func (s *pageSource) span(turn int) (first uint32, n int) {
	segment, part := uint64(turn)/s.perSegment(), uint64(turn)%s.perSegment()
	start := segment*uint64(s.file.SegmentBlocks) + part*uint64(s.piece)
	if start >= uint64(s.blocks) {
		return 0, 0
	}
	end := min(start+uint64(s.piece), (segment+1)*uint64(s.file.SegmentBlocks), uint64(s.blocks))
	return uint32(start), int(end - start)
}

// segment opens the segment of a block, for one use. Who takes it gives it back through done.
func (s *pageSource) segment(block uint32) (*openSegment, error) {
	number := block / s.file.SegmentBlocks
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.open[number]; o != nil {
		return o, nil
	}
	file, err := os.Open(segmentPath(s.file.Path, number))
	if err != nil {
		return nil, fmt.Errorf("read block %d: %w", block, err)
	}
	o := &openSegment{file: file, uses: int(s.perSegment())}
	s.open[number] = o
	return o, nil
}

// done counts a range of the block's segment as read.
func (s *pageSource) done(block uint32) error {
	number := block / s.file.SegmentBlocks
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.open[number]
	if o == nil {
		return nil
	}
	if o.uses--; o.uses > 0 {
		return nil
	}
	delete(s.open, number)
	return o.file.Close()
}

// read fills buf with the blocks from first on, which are all in one segment, and returns how many bytes the segment has of them.
func (s *pageSource) read(buf []byte, first uint32) (int, error) {
	o, err := s.segment(first)
	if err != nil {
		return 0, err
	}
	n, err := o.file.ReadAt(buf, int64(first%s.file.SegmentBlocks)*int64(s.file.BlockSize))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// short is the error about a segment that ends too early.
func (s *pageSource) short(block uint32) error {
	return fmt.Errorf("%s ends before block %d of %d", segmentPath(s.file.Path, block/s.file.SegmentBlocks), block, s.blocks)
}

// ended reports whether the relation ends before a block now: the block's segment does, and no later one holds anything. VACUUM has cut
// off empty blocks then.
func (s *pageSource) ended(block uint32) (bool, error) {
	number := block / s.file.SegmentBlocks
	for segment := number; uint64(segment)*uint64(s.file.SegmentBlocks) < uint64(s.blocks); segment++ {
		info, err := os.Stat(segmentPath(s.file.Path, segment))
		if errors.Is(err, os.ErrNotExist) && segment > number {
			continue
		}
		if err != nil {
			return false, err
		}
		limit := int64(0)
		if segment == number {
			limit = int64(block%s.file.SegmentBlocks) * int64(s.file.BlockSize)
		}
		if info.Size() > limit {
			return false, nil
		}
	}
	return true, nil
}

// close closes what is open.
func (s *pageSource) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for number, o := range s.open {
		err = errors.Join(err, o.file.Close())
		delete(s.open, number)
	}
	return err
}
