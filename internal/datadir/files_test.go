package datadir

import (
	"fmt"
	"hash/crc32"
	"math"
	"testing"

	"github.com/pghaul/pghaul/internal/heap"
)

// controlFile makes a sound control file of a release.
func controlFile(r *release) []byte {
	b := make([]byte, controlFileSize)
	for offset, n := range map[int]uint32{
		8: r.controlVersion, 12: 202209061, 16: uint32(InProduction), 204: 8, 216: 8192, 220: 131072, 224: 8192, 228: 16 << 20,
		232: 64, 236: 32, 240: 1996, 244: 2048, 252: 1,
	} {
		le.PutUint32(b[offset:], n)
	}
	le.PutUint64(b, 7777777)
	le.PutUint64(b[208:], math.Float64bits(floatFormatSample))
	le.PutUint64(b[checkpointCopy+24:], 3<<32|1000)
	le.PutUint32(b[r.controlCRC:], crc32.Checksum(b[:r.controlCRC], castagnoli))
	return b
}

func TestControlFile(t *testing.T) {
	for i := range releases {
		r := &releases[i]
		c, err := parseControl(controlFile(r), r)
		if err != nil || c.SystemID != 7777777 || c.State != InProduction || c.NextXID != 3<<32|1000 || !c.Checksums || c.TOASTChunk != 1996 {
			t.Errorf("%d: %+v, %v", r.major, c, err)
		}
	}
	for offset, value := range map[int]uint32{204: 4, 216: 8000, 220: 0, 232: 32, 240: 0, 208: 5} {
		b, r := controlFile(&releases[1]), &releases[1]
		le.PutUint32(b[offset:], value)
		le.PutUint32(b[r.controlCRC:], crc32.Checksum(b[:r.controlCRC], castagnoli))
		if c, err := parseControl(b, r); err == nil {
			t.Errorf("offset %d: took %+v", offset, c)
		}
	}
}

func FuzzControlFile(f *testing.F) {
	for i := range releases {
		f.Add(controlFile(&releases[i]), i)
	}
	f.Add([]byte{}, 0)
	f.Fuzz(func(t *testing.T, b []byte, which int) {
		r := &releases[uint(which)%uint(len(releases))]
		if len(b) >= r.controlCRC+4 { // past the checksum, which chance does not get right
			le.PutUint32(b[8:], r.controlVersion)
			le.PutUint32(b[r.controlCRC:], crc32.Checksum(b[:r.controlCRC], castagnoli))
		}
		c, err := parseControl(b, r)
		if err == nil && (c.BlockSize < 1024 || c.SegmentBlocks == 0 || c.TOASTChunk == 0) {
			t.Errorf("took %+v", c)
		}
	})
}

func FuzzRelationMap(f *testing.F) {
	f.Add([]byte{0x17, 0x27, 0x59, 0, 1, 0, 0, 0, 0xEB, 4, 0, 0, 0xEB, 4, 0, 0}, true)
	f.Fuzz(func(t *testing.T, b []byte, sound bool) {
		r := &releases[2]
		if sound {
			b = append(b, make([]byte, max(0, r.mapCRC+4-len(b)))...)
			le.PutUint32(b, relationMapMagic)
			le.PutUint32(b[r.mapCRC:], crc32.Checksum(b[:r.mapCRC], castagnoli))
		}
		m, err := parseRelationMap(b, r)
		if err == nil && len(m) > 64 {
			t.Errorf("took %d mappings", len(m))
		}
	})
}

func FuzzMissingValue(f *testing.F) {
	f.Add([]byte{112, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 23, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 42, 0, 0, 0}, int16(4))
	f.Add([]byte{124, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 25, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 'a', 'b', 'c'}, int16(-1))
	f.Fuzz(func(t *testing.T, b []byte, length int16) {
		if length == 0 || length < -2 {
			length = -1
		}
		value, err := missingValue(b, &heap.Attribute{Len: length})
		if err == nil && value != nil && length > 0 && len(value) != int(length) {
			t.Errorf("took %d bytes", len(value))
		}
	})
}

// indexPageOf makes an index page with entries of (id, seq) -> (block, line).
func indexPageOf(size int, flags uint16, level, next uint32, entries ...[4]uint32) []byte {
	p := make([]byte, size)
	special := size - btreeOpaque
	upper := special
	for i, e := range entries {
		upper -= 16
		le.PutUint16(p[upper:], uint16(e[2]>>16))
		le.PutUint16(p[upper+2:], uint16(e[2]))
		le.PutUint16(p[upper+4:], uint16(e[3]))
		le.PutUint16(p[upper+6:], 16)
		le.PutUint32(p[upper+8:], e[0])
		le.PutUint32(p[upper+12:], e[1])
		le.PutUint32(p[24+4*i:], uint32(upper)|1<<15|16<<17)
	}
	le.PutUint16(p[12:], uint16(24+4*len(entries)))
	le.PutUint16(p[14:], uint16(upper))
	le.PutUint16(p[16:], uint16(special))
	le.PutUint16(p[18:], uint16(size)|4)
	le.PutUint32(p[special+4:], next)
	le.PutUint32(p[special+8:], level)
	le.PutUint16(p[special+12:], flags)
	return p
}

// smallIndex is a tree of two levels: values 5 and 7 on a left leaf, 9 on a right one.
func smallIndex() []byte {
	meta := indexPageOf(1024, btreeMeta, 0, 0)
	le.PutUint16(meta[12:], 24+24)
	le.PutUint32(meta[24:], btreeMagic)
	le.PutUint32(meta[28:], 4)
	le.PutUint32(meta[32:], 3)
	index := append([]byte{}, meta...)
	index = append(index, indexPageOf(1024, btreeLeaf, 0, 2, [4]uint32{9, 0, 0, 0}, [4]uint32{5, 0, 1, 1}, [4]uint32{5, 1, 1, 2}, [4]uint32{7, 0, 2, 1})...)
	index = append(index, indexPageOf(1024, btreeLeaf, 0, 0, [4]uint32{9, 0, 3, 1}, [4]uint32{9, 1, 3, 2})...)
	return append(index, indexPageOf(1024, 2, 1, 0, [4]uint32{0, 0, 1, 0}, [4]uint32{9, 0, 2, 0})...)
}

// memory is a relation of blocks of 1024 bytes.
type memory []byte

func (m memory) Blocks() uint32 { return uint32(len(m) / 1024) }
func (m memory) Close() error   { return nil }
func (m memory) Read(block uint32, buf []byte) (int, error) {
	return copy(buf, m[min(int(block)*1024, len(m)):len(m)&^1023]) / 1024, nil
}

func openIndex(content []byte) *btree {
	return &btree{pages: newPageCache(memory(content), &Control{BlockSize: 1024})}
}

func TestIndexWalk(t *testing.T) {
	b := openIndex(smallIndex())
	for id, want := range map[uint32]string{4: "", 5: "0:1,1 1:1,2 ", 7: "0:2,1 ", 8: "", 9: "0:3,1 1:3,2 ", 10: ""} {
		got := ""
		err := b.chunks(id, func(seq int64, at position) error {
			got += fmt.Sprintf("%d:%d,%d ", seq, at.block, at.line)
			return nil
		})
		if err != nil || got != want {
			t.Errorf("value %d: got %q, %v; want %q", id, got, err, want)
		}
	}
}

func FuzzIndex(f *testing.F) {
	f.Add(smallIndex(), uint32(9), uint16(2000), byte(7))
	f.Add(smallIndex(), uint32(5), uint16(3100), byte(3))
	f.Fuzz(func(t *testing.T, content []byte, id uint32, at uint16, value byte) {
		if len(content) > 1<<16 {
			return
		}
		if int(at) < len(content) {
			content[at] = value
		}
		b := openIndex(content)
		steps := 0
		// Whatever it finds, it ends.
		_ = b.chunks(id, func(int64, position) error { steps++; return nil })
		if steps > 1<<20 {
			t.Errorf("%d steps", steps)
		}
	})
}
