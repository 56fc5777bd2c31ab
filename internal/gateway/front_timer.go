package gateway

import (
	"sync/atomic"
	"time"
)

// mark is raised by one goroutine and taken by another.
type mark struct{ up atomic.Bool }

func (f *mark) raise() { f.up.Store(true) }

func (f *mark) taken() bool { return f.up.Load() && f.up.Swap(false) }

// arm makes the timer look after what stays open while front waits for the client. One that runs already is left to find
// out by itself that front has been at work since: setting it anew at each turn costs a stream of small INSERTs 3 %.
func (a *accel) arm() {
	a.turns++
	if a.armed {
		return
	}
	a.armed = true
	a.rest()
}

// rest sets the timer.
func (a *accel) rest() {
	a.turnsThen = a.turns
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

// tick sends what is held, or closes the stream, when front has had nothing to do since the timer was set.
func (a *accel) tick() {
	if !a.turn.TryLock() {
		// Front is at work. It keeps its turn when the session ends by an error.
		if !a.gone.Load() {
			time.AfterFunc(holdTime, a.tick)
		}
		return
	}
	defer a.turn.Unlock()
	a.armed = false
	if a.cancel.taken() {
		a.stop(a.abandon())
		return
	}
	if a.stream == nil && !a.group.held() {
		return
	}
	if a.turns != a.turnsThen {
		a.armed = true
		a.rest()
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
// stream is broken off. It must not wait for that: the server may wait for a lock, which only the cancel request ends.
func (a *accel) cancelled() {
	a.cancel.raise()
	time.AfterFunc(0, a.tick)
}
