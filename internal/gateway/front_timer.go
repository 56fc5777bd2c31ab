package gateway

import (
	"sync/atomic"
	"time"
)

// mark is raised by one goroutine and taken by another.
type mark struct{ up atomic.Bool }

func (f *mark) raise() { f.up.Store(true) }

func (f *mark) taken() bool { return f.up.Load() && f.up.Swap(false) }

// arm makes the timer look after what stays open while front waits for the client.
func (a *accel) arm() {
	d := a.s.gateway.config.StreamIdle
	if a.group.held() {
		d = holdTime
	}
	if a.timer == nil {
		a.timer = time.AfterFunc(d, a.tick)
		return
	}
	a.timer.Reset(d)
}

// tick sends what is held, or closes the stream, when front has had nothing to do since the timer was armed. When front is at
// work it arms the timer again by itself.
func (a *accel) tick() {
	if !a.turn.TryLock() {
		return
	}
	defer a.turn.Unlock()
	if a.cancel.taken() {
		a.stop(a.abandon())
		return
	}
	a.stop(a.clear(false))
}

// stop ends the session over an error of the timer's.
func (a *accel) stop(err error) {
	if err != nil && !a.s.outlived(err) {
		a.broken = err
	}
}

// cancelled is called before a cancel request goes to the server. While that waits for COPY data it would not be heard, so the
// stream is broken off. It must not wait: front may hang in a write that only the cancel can free.
func (a *accel) cancelled() {
	a.cancel.raise()
	if !a.turn.TryLock() {
		return // front sees the flag at the end of its turn, or the timer does
	}
	defer a.turn.Unlock()
	if a.cancel.taken() {
		a.stop(a.abandon())
	}
}
