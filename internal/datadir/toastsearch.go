package datadir

import (
	"fmt"
	"sync"

	"github.com/pghaul/pghaul/internal/heap"
)

// summaryGroups is how many groups of blocks the summary of a TOAST table has at most: 8 bytes each.
const summaryGroups = 1 << 16

// summary tells which blocks of a TOAST table can hold a value, for tables whose index is damaged: the smallest and largest chunk_id of
// each group of blocks. Values get their numbers in order, so most of a table need not be read for one. It is made once for a table.
type summary struct {
	once   sync.Once
	group  uint32 // blocks in each group
	ranges []idRange
}

type idRange struct{ low, high uint32 } // high is below low where the group has no chunk

// build reads the whole TOAST table. Pages that are damaged count as empty.
func (s *summary) build(x *Toaster) {
	blocks := x.heap.relation.Blocks()
	s.group = blocks/summaryGroups + 1
	s.ranges = make([]idRange, 0, blocks/s.group+1)
	for block := range blocks {
		if block%s.group == 0 {
			s.ranges = append(s.ranges, idRange{low: 1<<32 - 1, high: 0})
		}
		p, err := x.heap.page(block)
		if err != nil {
			continue
		}
		r := &s.ranges[len(s.ranges)-1]
		x.eachChunk(p, func(_ int, id uint32, _ int64) { r.low, r.high = min(r.low, id), max(r.high, id) })
	}
}

// eachChunk visits the number and sequence of every chunk on a page, whatever became of it.
func (x *Toaster) eachChunk(p heap.Page, visit func(line int, id uint32, seq int64)) {
	for line := 1; line <= p.Lines(); line++ {
		l, err := p.Line(line)
		if err != nil || l.State != heap.LineNormal {
			continue
		}
		t, err := p.Tuple(line)
		if err != nil {
			continue
		}
		if x.values, err = t.Values(chunkColumns, x.values); err != nil || x.values[0].Null || x.values[1].Null {
			continue
		}
		visit(line, le.Uint32(x.values[0].Data), int64(int32(le.Uint32(x.values[1].Data))))
	}
}

// search goes on with a value by reading the TOAST table's own blocks.
func (x *Toaster) search(a *assembly) error {
	s := &x.toast.summary
	s.once.Do(func() { s.build(x) })
	found, id := map[int64][]position{}, a.pointer.ValueID
	var damaged error
	for i, r := range s.ranges {
		if id < r.low || id > r.high {
			continue
		}
		first := uint32(i) * s.group
		for block := first; block < min(first+s.group, x.heap.relation.Blocks()); block++ {
			p, err := x.heap.page(block)
			if err != nil {
				damaged = err
				continue
			}
			x.eachChunk(p, func(line int, chunk uint32, seq int64) {
				if chunk == id && seq >= a.next && seq < a.last {
					found[seq] = append(found[seq], position{block: block, line: uint16(line)})
				}
			})
		}
	}
	for a.next < a.last {
		due := a.next
		for _, at := range found[due] {
			if err := a.entry(due, at); err != nil {
				return err
			}
		}
		if a.next == due {
			if a.fault == nil && damaged != nil {
				a.fault = fmt.Errorf("it may have been in a damaged block: %w", damaged)
			}
			return nil
		}
	}
	return nil
}
