package heap

// A page of a visibility map holds two bits for each block of the heap, all-visible and all-frozen, behind its header
// (visibilitymapdefs.h, and MAPSIZE of src/backend/access/heap/visibilitymap.c).
const (
	visibilityBits  = 2
	visibilityByte  = 8 / visibilityBits
	visibilityWhole = 0xFF // four blocks, all-visible and all-frozen
)

// visibilityBlocks is how many blocks of the heap one page of its map covers: 32672 for pages of 8 kB.
func visibilityBlocks(size int) uint32 { return uint32(size-PageHeaderSize) * visibilityByte }

// VisibilityMapBlocks returns the number of pages that the map of a heap of heapBlocks blocks has.
func VisibilityMapBlocks(heapBlocks uint32, size int) uint32 {
	covers := uint64(visibilityBlocks(size))
	return uint32((uint64(heapBlocks) + covers - 1) / covers)
}

// VisibilityMap makes dst page number block of the visibility map of a heap of heapBlocks blocks, all of which every transaction sees
// and none will ever freeze. Bits of blocks behind the heap's end are 0.
func VisibilityMap(dst Page, block, heapBlocks uint32, checksums bool) {
	(&Packer{page: dst}).Reset()
	covers := uint64(visibilityBlocks(len(dst)))
	blocks := uint64(0)
	if first := uint64(block) * covers; first < uint64(heapBlocks) {
		blocks = min(uint64(heapBlocks)-first, covers)
	}
	bits := dst[PageHeaderSize:]
	for i := range blocks / visibilityByte {
		bits[i] = visibilityWhole
	}
	if rest := blocks % visibilityByte; rest > 0 {
		bits[blocks/visibilityByte] = 1<<(rest*visibilityBits) - 1
	}
	if checksums {
		le.PutUint16(dst[8:], Checksum(dst, block))
	}
}
