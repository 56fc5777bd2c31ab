package datadir

import (
	"errors"
	"fmt"

	"github.com/pghaul/pghaul/internal/heap"
)

// The layout of a B-tree's pages (access/nbtree.h, access/itup.h, storage/itemid.h).
const (
	btreeMagic    = 0x053162
	btreeRoot     = 24 + 8 // of the meta page: magic, version, root
	btreeOpaque   = 16     // special space: prev, next, level, flags, cycle
	btreeLeaf     = 1 << 0
	btreeDeleted  = 1 << 2
	btreeMeta     = 1 << 3
	btreeHalfDead = 1 << 4

	indexTupleHeader = 8 // TID and t_info
	indexSizeMask    = 0x1FFF
	indexAltTID      = 0x2000 // the TID's line has counts and flags instead
	indexNulls       = 0x8000
	btreePosting     = 0x2000 // of such a line: a list of TIDs
	btreeCountMask   = 0x0FFF
	tidSize          = 6
	maximumLevel     = 32 // a tree of two entries a page has no more
)

// chunkKey is the key of a TOAST table's index.
type chunkKey struct {
	id  uint32
	seq int64 // below all where the index leaves it out
}

func (k chunkKey) less(o chunkKey) bool { return k.id < o.id || k.id == o.id && k.seq < o.seq }

// position is where a tuple is in a table.
type position struct {
	block uint32
	line  uint16
}

// btree reads the index of a TOAST table, on chunk_id and chunk_seq. Every step is checked and counted: a damaged index ends in an
// error, never in an endless walk.
type btree struct {
	pages *pageCache
}

// chunks visits the entries of one value in the order of their chunks. An entry may lead to a tuple of something else by now.
func (b *btree) chunks(id uint32, visit func(seq int64, at position) error) error {
	target := chunkKey{id: id}
	page, err := b.leaf(target)
	if err != nil {
		return err
	}
	for steps := uint32(0); ; steps++ {
		if steps > b.pages.relation.Blocks() {
			return errors.New("the index's pages lead in a circle")
		}
		if !page.gone() {
			done, err := page.visit(target, visit)
			if err != nil || done {
				return err
			}
		}
		if page.next() == 0 {
			return nil
		}
		if page, err = b.page(page.next()); err != nil {
			return err
		}
		if !page.isLeaf() {
			return errors.New("an index leaf leads to a page that is none")
		}
	}
}

// leaf descends to the leftmost leaf that can hold the target.
func (b *btree) leaf(target chunkKey) (indexPage, error) {
	meta, err := b.pages.page(0)
	if err != nil {
		return indexPage{}, err
	}
	m, err := newIndexPage(meta, 0)
	if err != nil {
		return indexPage{}, err
	}
	if m.flags()&btreeMeta == 0 || le.Uint32(meta[24:]) != btreeMagic {
		return indexPage{}, errors.New("the index has no meta page")
	}
	root := le.Uint32(meta[btreeRoot:])
	if root == 0 {
		return indexPage{}, errors.New("the index is empty")
	}
	page, err := b.page(root)
	for steps := uint32(0); err == nil && !page.isLeaf(); steps++ {
		level := page.level()
		if steps > b.pages.relation.Blocks() || level == 0 || level > maximumLevel || page.gone() {
			return page, fmt.Errorf("index page %d cannot be of level %d", page.block, level)
		}
		var child uint32
		if child, err = page.child(target); err != nil {
			return page, err
		}
		if child == 0 { // all keys are smaller: a split of the page was not finished
			child = page.next()
			level++
		}
		block := page.block
		if page, err = b.page(child); err == nil && (page.level() != level-1 || child == block) {
			return page, fmt.Errorf("index page %d leads to page %d of level %d", block, child, page.level())
		}
	}
	return page, err
}

func (b *btree) page(block uint32) (indexPage, error) {
	p, err := b.pages.page(block)
	if err != nil {
		return indexPage{}, err
	}
	return newIndexPage(p, block)
}

// indexPage is a page whose header and special space are sound.
type indexPage struct {
	bytes  heap.Page
	header heap.Header
	block  uint32
}

func newIndexPage(p heap.Page, block uint32) (indexPage, error) {
	h, err := p.Header()
	if err != nil {
		return indexPage{}, fmt.Errorf("index page %d: %w", block, err)
	}
	if len(p)-int(h.Special) != btreeOpaque {
		return indexPage{}, fmt.Errorf("index page %d is not of a B-tree", block)
	}
	return indexPage{bytes: p, header: h, block: block}, nil
}

func (p indexPage) next() uint32  { return le.Uint32(p.bytes[p.header.Special+4:]) }
func (p indexPage) level() uint32 { return le.Uint32(p.bytes[p.header.Special+8:]) }
func (p indexPage) flags() uint16 { return le.Uint16(p.bytes[p.header.Special+12:]) }
func (p indexPage) isLeaf() bool  { return p.flags()&btreeLeaf != 0 }
func (p indexPage) gone() bool    { return p.flags()&(btreeDeleted|btreeHalfDead) != 0 }

// first is the first line with an entry: line 1 is the high key, but for the rightmost page of a level.
func (p indexPage) first() int {
	if p.next() == 0 {
		return 1
	}
	return 2
}

// item returns the index tuple at a line.
func (p indexPage) item(line int) ([]byte, error) {
	word := le.Uint32(p.bytes[heap.PageHeaderSize+4*(line-1):])
	offset, length := int(word&0x7FFF), int(word>>17)
	if length < indexTupleHeader || offset < int(p.header.Upper) || offset+length > int(p.header.Special) {
		return nil, fmt.Errorf("line %d of index page %d leads outside of it", line, p.block)
	}
	item := p.bytes[offset : offset+length]
	if size := int(le.Uint16(item[6:]) & indexSizeMask); size < indexTupleHeader || size > length {
		return nil, fmt.Errorf("line %d of index page %d states a size of %d bytes", line, p.block, size)
	}
	return item, nil
}

// key reads the key of an index tuple; a pivot tuple may lack its second part, and the first one of an inner page both.
func key(item []byte) (chunkKey, error) {
	info, size := le.Uint16(item[6:]), int(le.Uint16(item[6:])&indexSizeMask)
	if info&indexNulls != 0 {
		return chunkKey{}, errors.New("an index entry has a NULL")
	}
	k := chunkKey{seq: -1 << 62}
	if size >= indexTupleHeader+4 {
		k.id = le.Uint32(item[indexTupleHeader:])
	}
	line := le.Uint16(item[4:])
	truncated := info&indexAltTID != 0 && line&btreePosting == 0 && line&btreeCountMask < 2
	if size >= indexTupleHeader+8 && !truncated {
		k.seq = int64(int32(le.Uint32(item[indexTupleHeader+4:])))
	}
	return k, nil
}

// child is the last downlink whose key is smaller than the target, 0 where the high key is smaller already.
func (p indexPage) child(target chunkKey) (uint32, error) {
	lines := p.bytes.Lines()
	if lines < p.first() {
		return 0, fmt.Errorf("inner index page %d is empty", p.block)
	}
	if p.first() == 2 {
		item, err := p.item(1)
		if err != nil {
			return 0, err
		}
		if high, err := key(item); err != nil || high.less(target) {
			return 0, err
		}
	}
	low, high := p.first(), lines // the first entry is below everything
	for low < high {
		middle := (low + high + 1) / 2
		item, err := p.item(middle)
		if err != nil {
			return 0, err
		}
		k, err := key(item)
		if err != nil {
			return 0, err
		}
		if k.less(target) {
			low = middle
		} else {
			high = middle - 1
		}
	}
	item, err := p.item(low)
	if err != nil {
		return 0, err
	}
	return tid(item).block, nil
}

// visit goes through the entries of the target's value on this leaf, and says whether larger ones follow.
func (p indexPage) visit(target chunkKey, visit func(seq int64, at position) error) (done bool, err error) {
	for line := p.first(); line <= p.bytes.Lines(); line++ {
		item, err := p.item(line)
		if err != nil {
			return false, err
		}
		k, err := key(item)
		if err != nil {
			return false, err
		}
		if k.id > target.id {
			return true, nil
		}
		if k.id < target.id {
			continue
		}
		if err := visitPositions(item, k.seq, visit); err != nil {
			return false, err
		}
	}
	return false, nil
}

// visitPositions visits the TID of an entry, or all those of a posting list.
func visitPositions(item []byte, seq int64, visit func(seq int64, at position) error) error {
	at := tid(item)
	if le.Uint16(item[6:])&indexAltTID == 0 {
		return visit(seq, at)
	}
	count, offset := int(at.line&btreeCountMask), int(at.block)
	if at.line&btreePosting == 0 || offset < indexTupleHeader || offset > len(item)-count*tidSize {
		return errors.New("an index leaf has an entry that belongs on no leaf")
	}
	for i := range count {
		if err := visit(seq, tid(item[offset+i*tidSize:])); err != nil {
			return err
		}
	}
	return nil
}

// tid reads an ItemPointerData, whose block number has its upper half first.
func tid(b []byte) position {
	return position{block: uint32(le.Uint16(b))<<16 | uint32(le.Uint16(b[2:])), line: le.Uint16(b[4:])}
}
