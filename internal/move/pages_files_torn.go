package move

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"github.com/pghaul/pghaul/internal/heap"
)

// How a page is caught that the server rewrites while it is read. Under the source's SHARE lock nothing but pruning moves anything in a
// page, and pruning needs pd_prune_xid (heap_page_prune_opt of pruneheap.c) and writes WAL. The server writes a page from its start to
// its end, but may halt between two pages of memory, for up to 0.2 s where the kernel slows writers down (balance_dirty_pages).
//
//   - No pd_prune_xid, and an LSN from before the move: nobody rewrites the page.
//   - An LSN from before the move, now and once more after the page was read: the writing had not begun. The bytes are whole.
//   - An LSN from after it: the page is read again later, and is whole when both are the same.
//   - With checksums a page that has its checksum is whole.
const (
	tornPause   = 300 * time.Millisecond // between two reads that must be the same
	tornTries   = 40                     // so a page may change for 12 s
	tornMost    = 1 << 17                // pages that wait for their second read: 3 MB
	tornBackoff = 50 * time.Millisecond  // most between two reads of a page whose checksum is wrong
)

// tornPages are the pages to be read once more.
type tornPages struct {
	mu    sync.Mutex
	pages []tornPage
	last  time.Time // of the newest read
	seed  maphash.Seed
}

type tornPage struct {
	block uint32
	sum   uint64 // of its bytes as read before
}

// pageLSN reads pd_lsn, whose upper half comes first.
func pageLSN(p []byte) heap.LSN {
	return heap.LSN(binary.LittleEndian.Uint32(p))<<32 | heap.LSN(binary.LittleEndian.Uint32(p[4:]))
}

// vet looks for pages of a range that may be torn, and returns which of them must wait.
func (w *pageWorker) vet(ctx context.Context, pages []byte, first uint32) error {
	m := w.move
	size := m.Source.BlockSize
	w.waits = w.waits[:0]
	for at := 0; at < len(pages); at += size {
		page, block := pages[at:at+size], first+uint32(at/size)
		wait := false
		var err error
		switch {
		case m.SourceChecksums:
			err = w.verify(ctx, page, block)
		case m.Quiet == 0:
		case pageLSN(page) > m.Quiet:
			wait = true
		case m.Unlocked || binary.LittleEndian.Uint32(page[20:]) != 0:
			var now [8]byte
			if _, err = w.source.read(now[:], block); err == nil {
				wait = pageLSN(now[:]) != pageLSN(page)
			}
		}
		if err != nil {
			return err
		}
		if wait {
			w.waits = append(w.waits, tornPage{block: block, sum: maphash.Bytes(w.torn.seed, page)})
		}
	}
	if len(w.waits) == 0 {
		return nil
	}
	return w.postpone(ctx)
}

// verify proves a page by its checksum, reading it anew where a server may be writing it.
func (w *pageWorker) verify(ctx context.Context, page []byte, block uint32) error {
	for try, pause := 0, time.Millisecond; ; try, pause = try+1, min(2*pause, tornBackoff) {
		p := heap.Page(page)
		if p.Zero() {
			return nil
		}
		stored, sum := binary.LittleEndian.Uint16(page[8:]), heap.Checksum(p, block)
		if stored == sum {
			return nil
		}
		if w.move.Quiet == 0 || try == tornTries {
			return w.damaged(block, fmt.Errorf("the checksum is %#04x, the page's content has %#04x", stored, sum))
		}
		if err := pauseFor(ctx, pause); err != nil {
			return err
		}
		n, err := w.source.read(page, block)
		if err == nil && n < len(page) {
			err = w.source.short(block)
		}
		if err != nil {
			return err
		}
	}
}

// postpone keeps the pages that wait, and finishes those that have waited when they become too many.
func (w *pageWorker) postpone(ctx context.Context) error {
	t := w.torn
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pages, t.last = append(t.pages, w.waits...), time.Now()
	if len(t.pages) < tornMost {
		return nil
	}
	return w.settle(ctx)
}

// settle reads the pages that wait until each was twice the same, and writes them.
func (w *pageWorker) settle(ctx context.Context) error {
	t := w.torn
	page := make([]byte, w.move.Source.BlockSize)
	for range tornTries {
		if len(t.pages) == 0 {
			return nil
		}
		if err := pauseFor(ctx, time.Until(t.last.Add(tornPause))); err != nil {
			return err
		}
		left := t.pages[:0]
		for _, p := range t.pages {
			n, err := w.source.read(page, p.block)
			if err == nil && n < len(page) {
				err = w.vanished(p.block)
				if err == nil {
					continue
				}
			}
			if err != nil {
				return err
			}
			if sum := maphash.Bytes(t.seed, page); sum != p.sum {
				left = append(left, tornPage{block: p.block, sum: sum})
				continue
			}
			if err := w.late(ctx, page, p.block); err != nil {
				return err
			}
		}
		t.pages, t.last = left, time.Now()
	}
	if len(t.pages) > 0 {
		return w.damaged(t.pages[0].block, errors.New("the server kept changing it while it was read"))
	}
	return nil
}

// vanished is nil when the relation ends before a block that it had: VACUUM has cut off what was empty.
func (w *pageWorker) vanished(block uint32) error {
	if w.move.Unlocked {
		if ended, err := w.source.ended(block); err != nil || ended {
			return err
		}
	}
	return w.source.short(block)
}

// pauseFor waits, unless ctx ends first.
func pauseFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
