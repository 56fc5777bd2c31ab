package move

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/pghaul/pghaul/internal/heap"
)

const (
	pagePiece = 256 << 10 // bytes of a range: it stays in a core's cache from its reading to its writing
	pageJobs  = 32        // at most, so that all ranges take 8 MB
)

// run moves the pages. On return without an error all files and their directory are on disk; on an error the target is empty again.
func (m *pageMove) run(ctx context.Context) (moved pagesMoved, err error) {
	if err := m.sensible(); err != nil {
		return pagesMoved{}, err
	}
	target, err := openPageTarget(m.Target, m.Source.Path)
	if err != nil {
		return pagesMoved{}, fmt.Errorf("open the new relation's file: %w", err)
	}
	source := newPageSource(m.Source, m.Blocks, max(1, uint32(pagePiece/m.Source.BlockSize)))
	if moved, err = m.carry(ctx, source, target); err == nil {
		err = m.complete(ctx, target, moved.Blocks)
	}
	if closed := source.close(); err == nil {
		err = closed
	}
	if err != nil {
		return pagesMoved{}, errors.Join(err, target.abandon())
	}
	moved.Files = target.left()
	return moved, target.close()
}

// sensible checks what a caller must know before it asks.
func (m *pageMove) sensible() error {
	switch size := m.Source.BlockSize; {
	case size < 1<<10 || size > 32<<10 || size&(size-1) != 0:
		return fmt.Errorf("a block size of %d bytes is none of PostgreSQL", size)
	case size != m.Target.BlockSize:
		return fmt.Errorf("blocks of %d bytes cannot become blocks of %d", size, m.Target.BlockSize)
	case m.Source.SegmentBlocks == 0 || m.Target.SegmentBlocks == 0:
		return errors.New("a segment must have blocks")
	case m.VisibilityMap && m.Rewrite.Xid != 0:
		return errors.New("a visibility map over tuples that are not frozen would be wrong")
	}
	return nil
}

// jobs is the number of goroutines.
func (m *pageMove) jobs() int {
	if m.Jobs < 1 {
		return min(runtime.GOMAXPROCS(0), pageJobs)
	}
	return min(m.Jobs, pageJobs)
}

// carry reads, rewrites and writes all ranges.
func (m *pageMove) carry(ctx context.Context, source *pageSource, target *pageTarget) (pagesMoved, error) {
	rewrite := m.Rewrite
	if rewrite.Tx != nil {
		rewrite.Tx = &oneAtATime{tx: rewrite.Tx}
	}
	order, torn := newBlockOrder(), &tornPages{seed: maphash.MakeSeed()}
	var turns, rows atomic.Int64
	var chunks atomic.Uint64
	worker := func() *pageWorker {
		return &pageWorker{
			move: m, source: source, target: target, order: order, torn: torn, turns: &turns, rows: &rows,
			writer: heap.NewRewriter(rewrite, m.Source.BlockSize), packer: heap.NewPacker(m.Source.BlockSize),
		}
	}
	group, within := errgroup.WithContext(ctx)
	unhook := context.AfterFunc(within, order.stop)
	defer unhook()
	for range m.jobs() {
		group.Go(func() error {
			w := worker()
			err := w.run(within)
			chunks.Add(uint64(w.writer.Chunks()))
			return err
		})
	}
	err := group.Wait()
	if errors.Is(err, errTurn) && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return pagesMoved{}, err
	}
	last := worker()
	if err := last.settle(ctx); err != nil {
		return pagesMoved{}, err
	}
	if err := last.flush(ctx); err != nil {
		return pagesMoved{}, err
	}
	return pagesMoved{Rows: rows.Load(), Blocks: order.blocks, Chunks: heap.ChunkSum(chunks.Load()) + last.writer.Chunks()}, nil
}

// complete adds the visibility map and puts all on disk.
func (m *pageMove) complete(ctx context.Context, target *pageTarget, blocks uint32) error {
	if m.VisibilityMap {
		if err := target.writeMap(blocks, m.Rewrite.Checksums); err != nil {
			return fmt.Errorf("write the visibility map: %w", err)
		}
	}
	if err := target.finish(ctx, m.jobs()); err != nil {
		return fmt.Errorf("put the new relation on disk: %w", err)
	}
	return nil
}
