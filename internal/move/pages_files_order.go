package move

import (
	"errors"
	"sync"
)

// blockOrder hands out the blocks of the target, densely. Ranges of the source get theirs in the order of the source, so that rows stay
// in their order, although ranges are read and written side by side: a range waits only until those before it were read.
type blockOrder struct {
	mu      sync.Mutex
	turned  sync.Cond
	turn    int    // range that is next
	blocks  uint32 // handed out
	stopped bool
}

// errTurn is only what a goroutine sees when another one has failed.
var errTurn = errors.New("the move of pages was stopped")

func newBlockOrder() *blockOrder {
	o := &blockOrder{}
	o.turned.L = &o.mu
	return o
}

// take returns the first of n blocks for a range, when its turn has come.
func (o *blockOrder) take(turn, n int) (uint32, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.turn != turn && !o.stopped {
		o.turned.Wait()
	}
	if o.stopped {
		return 0, errTurn
	}
	o.turn++
	o.turned.Broadcast()
	return o.claim(n)
}

// extra returns a block for what did not fit where it was.
func (o *blockOrder) extra() (uint32, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.claim(1)
}

// claim returns the first of n blocks. A relation ends before block number 0xFFFFFFFF (MaxBlockNumber of block.h).
func (o *blockOrder) claim(n int) (uint32, error) {
	const most = 0xFFFFFFFE
	first := o.blocks
	if uint64(first)+uint64(n) > most {
		return 0, errors.New("the new relation would have more blocks than PostgreSQL can count")
	}
	o.blocks += uint32(n)
	return first, nil
}

// stop wakes all who wait.
func (o *blockOrder) stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stopped = true
	o.turned.Broadcast()
}
