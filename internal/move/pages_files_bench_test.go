package move

import (
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/pghaul/pghaul/internal/heap"
)

// benchBlocks is the length of the file that is moved: 512 MB, half of the 20 million rows that facts are measured with.
const benchBlocks = 64 << 10

// benchFile writes a file of full pages: 157 rows in each, of the width that a bigint, a date, an int and a varchar(10) take.
func benchFile(b *testing.B) (path string, attrs []heap.Attribute) {
	b.Helper()
	attrs = []heap.Attribute{{Name: "id", Len: 8, Align: 'd'}, {Name: "day", Len: 4, Align: 'i'}, {Name: "n", Len: 4, Align: 'i'}, {Name: "v", Len: -1, Align: 'i'}}
	packer := heap.NewPacker(fileBlock)
	tup := make(heap.Tuple, 24+20)
	binary.LittleEndian.PutUint16(tup[18:], 4)
	binary.LittleEndian.PutUint16(tup[20:], uint16(heap.XminCommitted|heap.XmaxInvalid|heap.HasVarWidth))
	tup[22], tup[24+16] = 24, 9
	for packer.Add(tup) {
	}
	page, err := heap.NewRewriter(heap.Rewrite{Attrs: attrs}, fileBlock).Seal(packer, 0)
	if err != nil {
		b.Fatal(err)
	}
	path = filepath.Join(b.TempDir(), "source")
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	for range benchBlocks {
		if _, err := file.Write(page); err != nil {
			b.Fatal(err)
		}
	}
	if err := file.Sync(); err != nil {
		b.Fatal(err)
	}
	if err := file.Close(); err != nil {
		b.Fatal(err)
	}
	return path, attrs
}

// BenchmarkPages stands beside BenchmarkPlainCopy, which is what the machine allows.
func BenchmarkPages(b *testing.B) {
	for name, checksums := range map[string]bool{"plain": false, "checksums": true} {
		b.Run(name, func(b *testing.B) {
			path, attrs := benchFile(b)
			b.SetBytes(benchBlocks * fileBlock)
			for b.Loop() {
				target := newFile(b, path)
				m := &pageMove{
					Source: pageFile{path, 131072, fileBlock}, Target: pageFile{target, 131072, fileBlock}, Blocks: benchBlocks,
					Rewrite: heap.Rewrite{Attrs: attrs, Checksums: checksums}, VisibilityMap: true, Quiet: 1,
				}
				if moved, err := m.run(b.Context()); err != nil || moved.Blocks != benchBlocks {
					b.Fatal(moved, err)
				}
				removeFiles(b, target, target+"_vm")
			}
		})
	}
}

// BenchmarkPlainCopy copies the same file through a buffer of 128 kB, as cat does, and waits for the disk.
func BenchmarkPlainCopy(b *testing.B) {
	path, _ := benchFile(b)
	b.SetBytes(benchBlocks * fileBlock)
	for b.Loop() {
		target := newFile(b, path)
		if err := plainCopy(path, target); err != nil {
			b.Fatal(err)
		}
		removeFiles(b, target)
	}
}

func plainCopy(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer out.Close()
	type reader struct{ io.Reader } // without their short cuts inside the kernel
	type writer struct{ io.Writer }
	if _, err := io.CopyBuffer(writer{out}, reader{in}, make([]byte, 128<<10)); err != nil {
		return err
	}
	return out.Sync()
}

func newFile(b *testing.B, beside string) string {
	b.Helper()
	target := filepath.Join(filepath.Dir(beside), "target")
	if err := os.WriteFile(target, nil, 0o600); err != nil {
		b.Fatal(err)
	}
	return target
}

func removeFiles(b *testing.B, paths ...string) {
	b.Helper()
	for _, path := range paths {
		if err := os.Remove(path); err != nil {
			b.Fatal(err)
		}
	}
}
