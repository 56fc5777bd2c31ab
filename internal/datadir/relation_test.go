package datadir

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pghaul/pghaul/planner"
)

// segmented writes segment files, each block filled with its number, and opens them with 4 blocks a segment of 1024 bytes.
// sizes are in bytes; -1 leaves the file out.
func segmented(t *testing.T, expected uint32, sizes ...int) (*Relation, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "16384")
	for n, size := range sizes {
		if size < 0 {
			continue
		}
		content := make([]byte, size)
		for i := range content {
			content[i] = byte(n*4 + i/1024)
		}
		name := path
		if n > 0 {
			name = fmt.Sprintf("%s.%d", path, n)
		}
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return openRelation(path, &Control{BlockSize: 1024, SegmentBlocks: 4}, expected)
}

func TestSegments(t *testing.T) {
	const full = 4 * 1024
	tests := []struct {
		name     string
		expected uint32
		sizes    []int
		want     string // blocks, and gaps
	}{
		{"one", 0, []int{3 * 1024}, "0 1 2"},
		{"empty", 0, []int{0}, ""},
		{"three", 0, []int{full, full, 1024}, "0 1 2 3 4 5 6 7 8"},
		{"cut by the server", 0, []int{full, 1024, 0, 0}, "0 1 2 3 4"},
		{"middle missing", 0, []int{full, -1, 2048}, "0 1 2 3 [4+4] 8 9"},
		{"middle short", 0, []int{full, 1024, 2048}, "0 1 2 3 4 [5+3] 8 9"},
		{"middle empty", 0, []int{full, 0, 2048}, "0 1 2 3 [4+4] 8 9"},
		{"first missing", 0, []int{-1, 1024}, "[0+4] 4"},
		{"block not whole", 0, []int{2048 + 10}, "0 1 [2+1]"},
		{"middle not whole", 0, []int{2048 + 10, 1024}, "0 1 [2+2] 4"},
		{"far ones missing", 20, []int{full, -1, -1, -1, 1024}, "0 1 2 3 [4+4] [8+4] [12+4] 16"},
		{"last missing", 6, []int{full}, "0 1 2 3 [4+2]"},
		{"fewer than expected", 6, []int{1024}, "0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := segmented(t, tt.expected, tt.sizes...)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			var got []string
			buf := make([]byte, 3*1024)
			for block := uint32(0); block < r.Blocks(); {
				n, err := r.Read(block, buf)
				var gap *Gap
				if errors.As(err, &gap) {
					got = append(got, fmt.Sprintf("[%d+%d]", gap.Block, gap.Blocks))
					block += gap.Blocks
					continue
				}
				if err != nil || n == 0 {
					t.Fatalf("block %d: %d, %v", block, n, err)
				}
				for i := range n {
					if !bytes.Equal(buf[i*1024:(i+1)*1024], bytes.Repeat([]byte{byte(block)}, 1024)) {
						t.Errorf("block %d has other bytes", block)
					}
					got = append(got, fmt.Sprint(block))
					block++
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got %q, want %q", strings.Join(got, " "), tt.want)
			}
		})
	}
}

func TestMissingRelation(t *testing.T) {
	_, err := segmented(t, 0)
	var e *planner.Error
	if !errors.As(err, &e) || e.Hint == "" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	err = unreadable("x", &fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}, "")
	if !errors.As(err, &e) || !strings.Contains(e.Hint, "root") {
		t.Errorf("got %v", err)
	}
}

func TestRelationReadsSideBySide(t *testing.T) {
	sizes := slices.Repeat([]int{4 * 1024}, 3*openSegments)
	r, err := segmented(t, 0, sizes...)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var group sync.WaitGroup
	for worker := range uint32(4) {
		group.Go(func() {
			buf := make([]byte, 1024)
			for i := range r.Blocks() {
				block := (i*7 + worker*13) % r.Blocks()
				if n, err := r.Read(block, buf); n != 1 || err != nil || buf[5] != byte(block) {
					t.Errorf("block %d: %d, %v, %d", block, n, err, buf[5])
				}
			}
		})
	}
	group.Wait()
	if len(r.opened) > openSegments+1 {
		t.Errorf("%d files are open", len(r.opened))
	}
}
