package move

import (
	"context"

	"github.com/pghaul/pghaul/internal/heap"
)

// pageFile is the main fork of a relation: segments of SegmentBlocks blocks of BlockSize bytes, at Path, Path.1, Path.2 and so on.
type pageFile struct {
	Path          string
	SegmentBlocks uint32
	BlockSize     int
}

// pageMove writes the live rows of one relation's pages into the files of another, without a server's help.
type pageMove struct {
	Source pageFile
	Blocks uint32 // length of the source, taken under its lock
	// Target is the file that the server has made for the new relation in the running transaction: it exists and is empty.
	Target  pageFile
	Rewrite heap.Rewrite
	// Quiet is the end of the WAL when the source was locked and its pages had been written. The server may still prune newer pages, or
	// those with something to prune, while they are read. 0 where no server runs on the source.
	Quiet heap.LSN
	// Unlocked says that VACUUM may work on the source meanwhile: it is a TOAST table, which LOCK TABLE cannot lock.
	Unlocked        bool
	SourceChecksums bool
	VisibilityMap   bool // write the visibility map; only together with Rewrite.Xid 0
	Jobs            int  // goroutines; less than 1 means as many as there are processors

	Pace  func(ctx context.Context, bytes int) error // called before bytes are written; nil: no limit. By many goroutines
	Moved func(rows, bytes int64)                    // called after each write; nil: nobody watches. By many goroutines
}

// pagesMoved is what a pageMove wrote.
type pagesMoved struct {
	Rows   int64
	Blocks uint32
	Chunks heap.ChunkSum // that its TOAST pointers lead to, or that it has itself
	Files  pageFiles
}
