package gateway

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/pghaul/pghaul/internal/wire"
)

const (
	typeFunctionCall = 'F'

	endWithin = wire.TypeCopyFail // in the list
)

// expectations are what the server still owes the client: one ReadyForQuery for each Query, FunctionCall and Sync. Front notes
// what it sends, back takes off what comes. Only when nothing is owed may front speak with the server on its own account: that
// is an errand.
//
// During copy-in the server passes over Sync and Flush (manual, "COPY Operations"), so that a Sync which was sent before the
// data is never answered, unless the COPY fails before it reads it. Where the two cannot be told apart the count is lost, and
// the session passes everything from then on.
type expectations struct {
	mu      sync.Mutex
	list    []byte // Q, F, S: owed a ReadyForQuery; c, f: the end of the client's own COPY data, f within a group
	copying bool   // the server reads the client's COPY data, whose end was not sent yet
	guessed bool   // a Sync was taken for swallowed; an error now would make that doubtful
	lost    bool
	gone    bool // the server's direction has ended
	unsaid  bool // what has come is not yet written to the client
	status  wire.Status
	waiting chan struct{} // closed when nothing is owed any more

	errand atomic.Pointer[errand] // takes the server's messages in the client's place
}

// newExpectations expects the ReadyForQuery that ends the start.
func newExpectations() *expectations {
	return &expectations{list: []byte{wire.TypeSync}, status: wire.Idle}
}

// sent notes a message of the client that goes to the server. within says that messages of the extended protocol have gone
// before it, without a Sync.
func (x *expectations) sent(kind byte, within bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch kind {
	case wire.TypeCopyDone, wire.TypeCopyFail:
		if x.copying {
			x.copying = false
			return
		}
		kind = wire.TypeCopyDone
		if within {
			kind = endWithin
		}
	case wire.TypeSync:
		if x.copying {
			x.guessed = true
			return
		}
	default:
		// The server closes the connection over them.
		x.lost = x.lost || x.copying
	}
	if !x.lost {
		x.list = append(x.list, kind)
	}
}

// ready takes a ReadyForQuery off.
func (x *expectations) ready(status wire.Status) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.status, x.unsaid, x.copying, x.guessed = status, true, false, false
	if x.lost {
		return
	}
	x.dropEnds(true)
	if len(x.list) == 0 {
		x.lost = true
		return
	}
	x.list = x.list[:copy(x.list, x.list[1:])]
	x.dropEnds(false)
}

// dropEnds drops ends of COPY data that no COPY has read: before the ReadyForQuery of a group those within it, after any those
// that follow.
func (x *expectations) dropEnds(within bool) {
	n := 0
	for n < len(x.list) && (x.list[n] == wire.TypeCopyDone || within && x.list[n] == endWithin) {
		n++
	}
	if n > 0 {
		x.list = x.list[:copy(x.list, x.list[n:])]
	}
}

// copyIn notes that the server begins to read the client's COPY data.
func (x *expectations) copyIn() {
	x.mu.Lock()
	defer x.mu.Unlock()
	at := 0
	if len(x.list) > 0 && x.list[0] == wire.TypeQuery {
		at = 1
	}
	for at < len(x.list) {
		kind := x.list[at]
		x.list = append(x.list[:at], x.list[at+1:]...)
		switch kind {
		case wire.TypeCopyDone, endWithin:
			return
		case wire.TypeSync:
			x.guessed = true
		default:
			x.lost = true
			return
		}
	}
	x.copying = true
}

// failed notes an error.
func (x *expectations) failed() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.copying = false
	x.lost = x.lost || x.guessed
}

// done notes that a statement has ended well.
func (x *expectations) done() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.guessed = false
}

// lose gives the count up.
func (x *expectations) lose() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.lost = true
	x.wake()
}

// said notes that all that came is written to the client.
func (x *expectations) said() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.unsaid = false
	if x.settled() || x.lost {
		x.wake()
	}
}

func (x *expectations) wake() {
	if x.waiting != nil {
		close(x.waiting)
		x.waiting = nil
	}
}

// settled: nothing is owed. An end of COPY data without its COPY is no debt.
func (x *expectations) settled() bool {
	if x.copying || x.unsaid || x.lost || x.gone {
		return false
	}
	for _, kind := range x.list {
		if kind != wire.TypeCopyDone && kind != endWithin {
			return false
		}
	}
	return true
}

// settle waits at most d until nothing is owed, and returns the session's status then.
func (x *expectations) settle(d time.Duration) (wire.Status, bool) {
	x.mu.Lock()
	if x.settled() || x.lost || x.gone || d <= 0 {
		defer x.mu.Unlock()
		return x.status, x.settled()
	}
	wake := make(chan struct{})
	x.waiting = wake
	x.mu.Unlock()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-wake:
	case <-timer.C:
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.waiting = nil
	return x.status, x.settled()
}

// begin sends the server's messages to e. The caller has seen that nothing is owed.
func (x *expectations) begin(e *errand) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.gone {
		e.end()
		return false
	}
	x.errand.Store(e)
	return true
}

// finish ends the errand.
func (x *expectations) finish(e *errand, status wire.Status) {
	x.mu.Lock()
	x.status = status
	x.errand.Store(nil)
	x.mu.Unlock()
	e.end()
}

// leave ends everything with the server's direction.
func (x *expectations) leave() {
	x.mu.Lock()
	x.gone = true
	e := x.errand.Swap(nil)
	x.wake()
	x.mu.Unlock()
	if e != nil {
		e.gone = true
		e.end()
	}
}

// reply is a message of the server.
type reply struct {
	kind byte
	body []byte
}

// errand is what front has to do with the server by itself. Back fills it, front reads it after done. It ends with a
// ReadyForQuery.
type errand struct {
	keep    bool   // hold notices back: the same work may be done again
	notices []byte // those held back, as frames

	replies []reply // without ReadyForQuery and errors
	failure []byte  // body of the first error
	status  wire.Status
	gone    bool // the server's direction has ended before

	failed atomic.Bool
	done   chan struct{}
}

func newErrand() *errand { return &errand{done: make(chan struct{})} }

func (e *errand) end() { close(e.done) }

// take is called by back.
func (e *errand) take(kind byte, body []byte) (ended bool) {
	switch kind {
	case wire.TypeReadyForQuery:
		if status, err := wire.ParseReady(body); err == nil {
			e.status = status
		}
		return true
	case wire.TypeError:
		if e.failure == nil {
			e.failure = append([]byte{}, body...)
		}
		e.failed.Store(true)
	default:
		e.replies = append(e.replies, reply{kind, append([]byte(nil), body...)})
	}
	return false
}
