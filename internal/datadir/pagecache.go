package datadir

import (
	"fmt"

	"github.com/pghaul/pghaul/internal/heap"
)

const (
	cachedPages = 16 // single pages: an index's upper levels, and the last leaves
	aheadPages  = 16 // read at once when pages are asked for in their order
)

// blocks is what a pageCache reads: a *Relation.
type blocks interface {
	Blocks() uint32
	Read(block uint32, buf []byte) (int, error)
	Close() error
}

// pageCache reads pages of a relation for one goroutine: those asked for one after the other in larger reads, the others one by one.
type pageCache struct {
	relation  blocks
	size      int // of a block
	checksums bool

	slots [cachedPages]cachedPage
	ahead []byte // pages from start on
	start uint32
	count uint32
}

type cachedPage struct {
	block uint32
	bytes heap.Page // nil: empty slot
}

func newPageCache(r blocks, c *Control) *pageCache {
	return &pageCache{relation: r, size: c.BlockSize, checksums: c.Checksums}
}

// page returns a page, checked by its checksum. It is good until the second call that follows.
func (c *pageCache) page(block uint32) (heap.Page, error) {
	if block >= c.relation.Blocks() {
		return nil, fmt.Errorf("block %d is not there: the relation has %d", block, c.relation.Blocks())
	}
	size := c.size
	if block-c.start < c.count {
		at := int(block-c.start) * size
		return c.checked(c.ahead[at:at+size], block)
	}
	if c.count > 0 && block == c.start+c.count || c.slots[(block-1)%cachedPages].holds(block-1) {
		return c.readAhead(block)
	}
	slot := &c.slots[block%cachedPages]
	if slot.holds(block) {
		return slot.bytes, nil
	}
	page := slot.bytes
	if page == nil {
		page = make(heap.Page, size)
	}
	slot.bytes = nil
	if n, err := c.relation.Read(block, page); err != nil || n == 0 {
		return nil, missing(block, err)
	}
	if _, err := c.checked(page, block); err != nil {
		return nil, err
	}
	*slot = cachedPage{block: block, bytes: page}
	return page, nil
}

func (s *cachedPage) holds(block uint32) bool { return s.bytes != nil && s.block == block }

func (c *pageCache) readAhead(block uint32) (heap.Page, error) {
	size := c.size
	if c.ahead == nil {
		c.ahead = make([]byte, aheadPages*size)
	}
	c.count = 0
	n, err := c.relation.Read(block, c.ahead)
	if err != nil || n == 0 {
		return nil, missing(block, err)
	}
	c.start, c.count = block, uint32(n)
	return c.checked(c.ahead[:size], block)
}

func missing(block uint32, err error) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("block %d is not there", block)
}

func (c *pageCache) checked(p heap.Page, block uint32) (heap.Page, error) {
	if !c.checksums || p.Zero() {
		return p, nil
	}
	h, err := p.Header()
	if err != nil {
		return nil, fmt.Errorf("block %d: %w", block, err)
	}
	if computed := heap.Checksum(p, block); computed != h.Checksum {
		return nil, fmt.Errorf("block %d: the page's checksum is %d and should be %d", block, h.Checksum, computed)
	}
	return p, nil
}
