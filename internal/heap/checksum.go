package heap

// The checksum of a page (src/include/storage/checksum_impl.h): 32 FNV-1a hashes side by side over the page's 32-bit words, row by row,
// each begun with another offset, mixed by two rounds of zeros, XORed together, and with the block number.
const (
	checksumLanes = 32
	checksumPrime = 16777619
)

var checksumOffsets = [checksumLanes]uint32{
	0x5B1F36E9, 0xB8525960, 0x02AB50AA, 0x1DE66D2A, 0x79FF467A, 0x9BB9F8A3, 0x217E7CD2, 0x83E13D2C,
	0xF8D4474F, 0xE39EB970, 0x42C6AE16, 0x993216FA, 0x7B093B5D, 0x98DAFF3C, 0xF718902A, 0x0B1C9CDB,
	0xE58F764B, 0x187636BC, 0x5D7B3BB1, 0xE73DE7DE, 0x92BEC979, 0xCCA6C0B2, 0x304A0979, 0x85AA43D4,
	0x783125BB, 0x6CA8EAA2, 0xE407EAC6, 0x4B5CFC3E, 0x9FBF8C76, 0x15CA20BE, 0xF2CA9FD3, 0x959BD756,
}

// Checksum computes the checksum of a page, whose own checksum field counts as 0. block is its number over all segments of the fork.
func Checksum(p Page, block uint32) uint16 {
	sums := checksumOffsets
	const row = 4 * checksumLanes
	for off := 0; off+row <= len(p); off += row {
		words := (*[row]byte)(p[off:])
		for i := range sums {
			word := le.Uint32(words[4*i:])
			if off == 0 && i == 2 { // pd_checksum is the lower half of the third word
				word &= 0xFFFF0000
			}
			mixed := sums[i] ^ word
			sums[i] = mixed*checksumPrime ^ mixed>>17
		}
	}
	var folded uint32
	for _, sum := range sums {
		for range 2 {
			sum = sum*checksumPrime ^ sum>>17
		}
		folded ^= sum
	}
	return uint16((folded^block)%65535 + 1)
}
