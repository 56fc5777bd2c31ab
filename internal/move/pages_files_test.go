package move

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pghaul/pghaul/internal/heap"
)

const fileBlock = 8192

var fileAttrs = []heap.Attribute{{Name: "id", Len: 4, Align: 'i'}, {Name: "pad", Len: 1000, Align: 'c'}}

// filePage is a page of live rows with these ids, of 1 kB each.
func filePage(ids ...uint32) heap.Page {
	p := heap.NewPacker(fileBlock)
	for _, id := range ids {
		t := make(heap.Tuple, 24+1004)
		binary.LittleEndian.PutUint32(t, 10)
		binary.LittleEndian.PutUint16(t[18:], 2)
		binary.LittleEndian.PutUint16(t[20:], uint16(heap.XminCommitted|heap.XmaxInvalid))
		t[22] = 24
		binary.LittleEndian.PutUint32(t[24:], id)
		if !p.Add(t) {
			panic("a page has no room for these rows")
		}
	}
	page, err := heap.NewRewriter(heap.Rewrite{Attrs: fileAttrs}, fileBlock).Seal(p, 0)
	if err != nil {
		panic(err)
	}
	return page
}

// filesOf writes pages into segments and returns a move of them into an empty file, to segments of another size.
func filesOf(t testing.TB, pages [][]byte, from, to uint32) *pageMove {
	t.Helper()
	dir := t.TempDir()
	for segment := uint32(0); segment == 0 || int(segment*from) < len(pages); segment++ {
		part := pages[segment*from : min(len(pages), int((segment+1)*from))]
		if err := os.WriteFile(segmentPath(filepath.Join(dir, "1"), segment), bytes.Join(part, nil), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "2"), nil, 0o640); err != nil {
		t.Fatal(err)
	}
	return &pageMove{
		Source: pageFile{filepath.Join(dir, "1"), from, fileBlock}, Target: pageFile{filepath.Join(dir, "2"), to, fileBlock},
		Blocks: uint32(len(pages)), Rewrite: heap.Rewrite{Attrs: fileAttrs, Checksums: true}, Jobs: 3,
	}
}

// manyPages has a row on most pages, in order, pages without rows and zero pages between them.
func manyPages(n int) (pages [][]byte, rows int) {
	for i := range n {
		switch {
		case i%7 == 3:
			pages = append(pages, filePage())
		case i%11 == 5:
			pages = append(pages, make([]byte, fileBlock))
		default:
			pages = append(pages, filePage(uint32(rows), uint32(rows+1)))
			rows += 2
		}
	}
	return pages, rows
}

// readTarget checks the target's pages and returns the ids in them. Every segment but the last must be full.
func readTarget(t *testing.T, m *pageMove, blocks uint32) (ids []uint32) {
	t.Helper()
	var all []byte
	for segment := uint32(0); segment == 0 || segment*m.Target.SegmentBlocks < blocks; segment++ {
		path := segmentPath(m.Target.Path, segment)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
		if all = append(all, b...); len(all) != fileBlock*int(min(blocks, (segment+1)*m.Target.SegmentBlocks)) {
			t.Fatalf("segment %d has %d bytes", segment, len(b))
		}
	}
	for block := range blocks {
		page := heap.Page(all[block*fileBlock:][:fileBlock])
		for _, f := range page.Check(block, fileAttrs, true) {
			t.Errorf("block %d, line %d: %s", block, f.Line, f.Reason)
		}
		for n := 1; n <= page.Lines(); n++ {
			tup, err := page.Tuple(n)
			if err != nil {
				t.Fatal(err)
			}
			if at, line := tup.CTID(); at != block || int(line) != n {
				t.Errorf("block %d, line %d: ctid (%d,%d)", block, n, at, line)
			}
			ids = append(ids, binary.LittleEndian.Uint32(tup[24:]))
		}
	}
	return ids
}

func inSequence(t *testing.T, ids []uint32, rows int) {
	t.Helper()
	if len(ids) != rows {
		t.Fatalf("%d rows instead of %d", len(ids), rows)
	}
	for i, id := range ids {
		if id != uint32(i) {
			t.Fatalf("row %d has id %d", i, id)
		}
	}
}

func TestPageFilesKeepOrderAcrossSegments(t *testing.T) {
	for _, c := range []struct {
		pages    int
		from, to uint32
	}{{0, 5, 5}, {1, 5, 5}, {200, 7, 3}, {200, 50, 170}, {200, 33, 33}, {90, 1000, 1}} {
		pages, rows := manyPages(c.pages)
		m := filesOf(t, pages, c.from, c.to)
		m.VisibilityMap = true
		var bytesMoved, rowsMoved, paced atomic.Int64
		m.Pace = func(_ context.Context, n int) error { paced.Add(int64(n)); return nil }
		m.Moved = func(rows, bytes int64) { rowsMoved.Add(rows); bytesMoved.Add(bytes) }
		got, err := m.run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got.Rows != int64(rows) || rowsMoved.Load() != got.Rows || bytesMoved.Load() != int64(got.Blocks)*fileBlock || paced.Load() != bytesMoved.Load() {
			t.Errorf("%+v, want %d rows; told of %d rows, %d bytes, paced %d", got, rows, rowsMoved.Load(), bytesMoved.Load(), paced.Load())
		}
		inSequence(t, readTarget(t, m, got.Blocks), rows)
		vm, err := os.ReadFile(m.Target.Path + "_vm")
		if (got.Blocks == 0) != errors.Is(err, os.ErrNotExist) || got.Blocks > 0 && len(vm) != fileBlock {
			t.Errorf("visibility map of %d bytes, %v", len(vm), err)
		}
		if _, err := m.run(t.Context()); got.Blocks > 0 && (err == nil || !strings.Contains(err.Error(), "is not empty")) {
			t.Errorf("written a second time: %v", err)
		}
	}
}

// leftOver returns the files beside the source's, and their sizes.
func leftOver(t *testing.T, m *pageMove) map[string]int64 {
	t.Helper()
	names, err := filepath.Glob(m.Target.Path + "*")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int64{}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		found[filepath.Base(name)] = info.Size()
	}
	return found
}

func TestPageFilesLeaveAnEmptyTarget(t *testing.T) {
	stop := errors.New("enough")
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, m *pageMove)
		want   string
		kept   map[string]int64
	}{
		{"a failing pace", func(_ *testing.T, m *pageMove) {
			var calls atomic.Int64
			m.Pace = func(context.Context, int) error {
				if calls.Add(1) == 20 {
					return stop
				}
				return nil
			}
		}, "enough", map[string]int64{"2": 0}},
		{"a broken page", func(t *testing.T, m *pageMove) {
			overwrite(t, segmentPath(m.Source.Path, 20), 3*fileBlock+18, []byte{9, 9})
		},
			"block 143 of", map[string]int64{"2": 0}},
		{"a wrong checksum", func(_ *testing.T, m *pageMove) { m.SourceChecksums = true }, "the checksum is", map[string]int64{"2": 0}},
		{"a missing segment", func(t *testing.T, m *pageMove) { discard(t, segmentPath(m.Source.Path, 9)) }, "no such file", map[string]int64{"2": 0}},
		{"a short segment", func(t *testing.T, m *pageMove) { shorten(t, segmentPath(m.Source.Path, 9), 5*fileBlock) }, "ends before block 68", map[string]int64{"2": 0}},
		{"a short segment in the middle of a TOAST table", func(t *testing.T, m *pageMove) {
			m.Unlocked, m.Quiet = true, 1
			shorten(t, segmentPath(m.Source.Path, 9), 5*fileBlock)
		}, "ends before block 68", map[string]int64{"2": 0}},
		{"a segment that is there", func(t *testing.T, m *pageMove) { scribble(t, m.Target.Path+".4") }, "exists", map[string]int64{"2": 0, "2.4": 3}},
		{"a visibility map that is there", func(t *testing.T, m *pageMove) { m.VisibilityMap = true; scribble(t, m.Target.Path+"_vm") },
			"exists", map[string]int64{"2": 0, "2_vm": 3}},
		{"a target with content", func(t *testing.T, m *pageMove) { scribble(t, m.Target.Path) }, "is not empty", map[string]int64{"2": 3}},
		{"no target", func(t *testing.T, m *pageMove) { discard(t, m.Target.Path) }, "no such file", map[string]int64{}},
		{"a link", func(t *testing.T, m *pageMove) {
			discard(t, m.Target.Path)
			if err := os.Symlink(m.Source.Path, m.Target.Path); err != nil {
				t.Fatal(err)
			}
		}, "symbolic links", map[string]int64{"2": 7 * fileBlock}},
		{"a map of what is not frozen", func(_ *testing.T, m *pageMove) { m.VisibilityMap, m.Rewrite.Xid = true, 5 }, "would be wrong", map[string]int64{"2": 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			pages, _ := manyPages(200)
			m := filesOf(t, pages, 7, 5)
			c.damage(t, m)
			if _, err := m.run(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v instead of %q", err, c.want)
			}
			found := leftOver(t, m)
			if len(found) != len(c.kept) {
				t.Errorf("left are %v", found)
			}
			for name, size := range c.kept {
				if got, there := found[name]; !there || got != size {
					t.Errorf("left are %v instead of %v", found, c.kept)
				}
			}
		})
	}
}

func TestPageFilesStopWhenCancelled(t *testing.T) {
	pages, _ := manyPages(200)
	m := filesOf(t, pages, 7, 5)
	ctx, cancel := context.WithCancel(t.Context())
	var calls atomic.Int64
	m.Moved = func(int64, int64) {
		if calls.Add(1) == 5 {
			cancel()
		}
	}
	if _, err := m.run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if found := leftOver(t, m); len(found) != 1 || found["2"] != 0 {
		t.Errorf("left are %v", found)
	}
}

// change does something to a file that must work.
func change(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func discard(t *testing.T, path string)             { change(t, os.Remove(path)) }
func shorten(t *testing.T, path string, size int64) { change(t, os.Truncate(path, size)) }
func scribble(t *testing.T, path string)            { change(t, os.WriteFile(path, []byte("abc"), 0o600)) }

func overwrite(t *testing.T, path string, at int64, b []byte) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	change(t, err)
	_, err = file.WriteAt(b, at)
	change(t, errors.Join(err, file.Close()))
}
