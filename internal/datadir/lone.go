package datadir

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/pghaul/pghaul/internal/heap"
)

// Lone is a relation's file that is read without catalogs.
type Lone struct {
	Database *Database // for Scan, Dump, Check and the like; it knows no other table
	Table    *Table
	// Notes tell what could not be known, in whole sentences.
	Notes []string
}

// OpenLone opens the first segment of a relation's main fork, whose columns are given as ParseColumns reads them; toast is the file of its
// TOAST table, or empty.
//
// Where the file still lies in its data directory, that tells the block size and what became of transactions. Elsewhere the block size is that
// of the first page, and what no hint bit tells counts as committed.
func OpenLone(path, columns, toast string) (*Lone, error) {
	list, err := ParseColumns(columns)
	if err != nil {
		return nil, err
	}
	t := &Table{Schema: "file", Name: filepath.Base(path), Kind: 'r', Persistence: 'p', AccessMethod: "heap", Rows: -1, Described: true, Columns: list, path: path}
	for i := range list {
		t.Attributes = append(t.Attributes, heap.Attribute{Name: list[i].Name, Len: list[i].Type.Len, Align: list[i].Type.Align, ByVal: list[i].Type.ByVal})
	}
	if toast != "" {
		t.Toast = &ToastRelation{path: toast}
	}
	l := &Lone{Table: t}
	dir := directoryAround(path)
	var tx heap.Transactions = assumed{}
	if dir != nil {
		tx = dir.Transactions()
		if _, running := dir.Running(); running {
			l.Notes = append(l.Notes, "a server runs on "+dir.path+": pages that it has not yet written are missing; run CHECKPOINT before")
		}
	} else {
		control, err := guessControl(path)
		if err != nil {
			return nil, err
		}
		dir = &Directory{path: filepath.Dir(path), control: control}
		l.Notes = append(l.Notes, "the file is in no data directory: rows whose transaction has no hint bit count as committed, and deleted where they have been deleted")
	}
	l.Database = &Database{Name: "file", dir: dir, catalogs: &catalogs{opened: true, tx: tx}}
	return l, nil
}

// mostLevelsUp is how far above a relation's file its data directory can be: pg_tblspc/OID/PG_VERSION_CATALOG/DATABASE/FILE.
const mostLevelsUp = 4

// directoryAround finds the data directory that a file lies in, nil where there is none that can be read.
func directoryAround(path string) *Directory {
	at, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	for range mostLevelsUp {
		at = filepath.Dir(at)
		if _, err := os.Stat(filepath.Join(at, "global", "pg_control")); err == nil {
			d, err := Open(at)
			if err != nil {
				return nil
			}
			return d
		}
	}
	return nil
}

// guessControl takes from the first page what a control file would tell.
func guessControl(path string) (Control, error) {
	f, err := os.Open(path)
	if err != nil {
		return Control{}, unreadable(path, err, "")
	}
	defer f.Close()
	const usual = 8192
	head := make([]byte, 32768)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return Control{}, unreadable(path, err, "")
	}
	head = head[:n]
	size := usual
	if n >= heap.PageHeaderSize {
		if stated := int(le.Uint16(head[18:]) & 0xFF00); stated >= 1024 && stated <= len(head) && stated&(stated-1) == 0 {
			size = stated
		}
	}
	c := Control{BlockSize: size, SegmentBlocks: uint32(1 << 30 / size), TOASTChunk: toastChunk(size)}
	if n >= size {
		if h, err := heap.Page(head[:size]).Header(); err == nil {
			c.Checksums = h.Checksum != 0 && heap.Checksum(head[:size], 0) == h.Checksum
		}
	}
	return c, nil
}

// toastChunk is the size of a TOAST value's chunks: four of their tuples fill a page (TOAST_MAX_CHUNK_SIZE of heaptoast.h).
func toastChunk(block int) int {
	const perPage, line, header, columns = 4, 4, 24, 4 + 4 + 4
	tuple := (block - (heap.PageHeaderSize+perPage*line+7)&^7) / perPage &^ 7
	return tuple - header - columns
}

// assumed stands for the transactions of a file without a directory.
type assumed struct{}

func (assumed) Status(uint32) (heap.Status, error) { return heap.Committed, nil }

func (assumed) Updater(uint32) (uint32, bool, error) { return 0, false, nil }
