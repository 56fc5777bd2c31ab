package rowfile

import (
	"context"
	"io"
	"sort"
	"sync"
	"sync/atomic"
)

// A block of a Parquet file has about parquetBlock bytes of values. Without an index of pages a parser must decode the pages in front of its block,
// so that blocks are larger there.
const (
	parquetBlock      = 4 * BlockSize
	parquetLooseBlock = 16 * BlockSize
	maxParquetRows    = 64 << 10
)

// parquetStream hands out the rows of a file in ranges that lie in one row group each.
type parquetStream struct {
	p     *parquetFile
	open  *parquetOpen
	file  int
	row   int64 // the next one
	end   int64
	done  atomic.Int64 // rows handed out
	stuck error
	halt  atomic.Pointer[error]
	stop  func() bool
	once  sync.Once
}

// newParquetStream begins at a row. skip and limit are in rows.
func newParquetStream(ctx context.Context, p *parquetFile, file int, from Position, skip, limit int64) (*parquetStream, error) {
	open, err := p.use()
	if err != nil {
		return nil, err
	}
	s := &parquetStream{p: p, open: open, file: file, row: from.Row, end: open.rows()}
	if from.Line == 0 {
		s.row = min(skip, s.end)
	}
	if s.row > s.end {
		p.release()
		return nil, shortError(p.source.Name, s.end, s.row)
	}
	if limit > 0 && limit < s.end && skip < s.end {
		s.end = min(s.end, skip+limit)
	}
	s.stop = context.AfterFunc(ctx, func() {
		cause := context.Cause(ctx)
		s.halt.Store(&cause)
	})
	return s, nil
}

// Next implements Stream.
func (s *parquetStream) Next() (*Block, error) {
	if cause := s.halt.Load(); cause != nil {
		return nil, readError(s.p.source.Name, *cause)
	}
	if s.stuck == nil && s.row >= s.end {
		if s.stuck = s.p.unchanged(); s.stuck == nil {
			s.stuck = io.EOF
		}
	}
	if s.stuck != nil {
		return nil, s.stuck
	}
	// The last group that begins at or before the row; empty ones share their start with the next.
	group := sort.Search(len(s.open.starts), func(i int) bool { return s.open.starts[i] > s.row }) - 1
	count := min(s.perBlock(group), s.open.starts[group+1]-s.row, s.end-s.row)
	b := &Block{File: s.file, Begin: parquetPosition(s.row), Next: parquetPosition(s.row + count), Group: group, Count: count}
	s.row += count
	s.done.Store(s.row)
	return b, nil
}

func parquetPosition(row int64) Position { return Position{Offset: row, Line: row + 1, Row: row} }

// perBlock is the number of rows of a block.
func (s *parquetStream) perBlock(group int) int64 {
	g := s.open.Metadata().RowGroups[group]
	size := int64(parquetLooseBlock)
	if s.open.indexed(group) {
		size = parquetBlock
	}
	each := max(1, g.TotalByteSize/max(1, g.NumRows))
	return min(max(1, size/each), maxParquetRows)
}

// Consumed implements Stream: the part of the rows that was handed out, of the file's size.
func (s *parquetStream) Consumed() int64 {
	rows := s.open.rows()
	if rows == 0 || s.p.source.Bytes < 0 {
		return max(0, s.p.source.Bytes)
	}
	return int64(float64(s.p.source.Bytes) * float64(s.done.Load()) / float64(rows))
}

// Close implements Stream.
func (s *parquetStream) Close() error {
	s.once.Do(func() {
		s.stop()
		s.p.release()
	})
	return nil
}
