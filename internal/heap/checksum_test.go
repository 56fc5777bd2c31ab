package heap_test

import (
	"testing"

	"github.com/pghaul/pghaul/internal/heap"
)

// slowChecksum is checksum_impl.h word by word: lane i hashes the words i, i+32, i+64 and so on, and then two zeros.
func slowChecksum(page []byte, block uint32) uint16 {
	offsets := []uint32{
		0x5B1F36E9, 0xB8525960, 0x02AB50AA, 0x1DE66D2A, 0x79FF467A, 0x9BB9F8A3, 0x217E7CD2, 0x83E13D2C,
		0xF8D4474F, 0xE39EB970, 0x42C6AE16, 0x993216FA, 0x7B093B5D, 0x98DAFF3C, 0xF718902A, 0x0B1C9CDB,
		0xE58F764B, 0x187636BC, 0x5D7B3BB1, 0xE73DE7DE, 0x92BEC979, 0xCCA6C0B2, 0x304A0979, 0x85AA43D4,
		0x783125BB, 0x6CA8EAA2, 0xE407EAC6, 0x4B5CFC3E, 0x9FBF8C76, 0x15CA20BE, 0xF2CA9FD3, 0x959BD756,
	}
	var folded uint32
	for lane, sum := range offsets {
		step := func(word uint32) {
			mixed := sum ^ word
			sum = mixed*16777619 ^ mixed>>17
		}
		for at := 4 * lane; at+4 <= len(page); at += 128 {
			word := le.Uint32(page[at:])
			if at == 8 {
				word = uint32(le.Uint16(page[10:])) << 16
			}
			step(word)
		}
		step(0)
		step(0)
		folded ^= sum
	}
	return uint16((folded^block)%65535) + 1
}

func FuzzChecksum(f *testing.F) {
	for _, page := range realPages(f) {
		f.Add([]byte(page), uint32(1<<17+5))
	}
	f.Add([]byte("a short one"), uint32(0))
	f.Fuzz(func(t *testing.T, content []byte, block uint32) {
		page := make(heap.Page, 8192)
		copy(page, content)
		got := heap.Checksum(page, block)
		if want := slowChecksum(page, block); got != want {
			t.Fatalf("the checksum is %#04x, want %#04x", got, want)
		}
		le.PutUint16(page[8:], got)
		if heap.Checksum(page, block) != got {
			t.Fatal("the checksum depends on its own field")
		}
	})
}
