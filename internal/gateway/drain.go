package gateway

import (
	"context"
	"sync"
	"time"
)

// finishLimit is how long a session that was told to finish may take to come to the end of a message: a client that does not
// read keeps it in the middle of one for ever.
const finishLimit = 5 * time.Second

// drain waits for the connections to end by themselves, then tells them to finish, then closes what is left.
func (g *Gateway) drain(serving *sync.WaitGroup, stop context.CancelFunc) {
	gone := make(chan struct{})
	go func() {
		serving.Wait()
		close(gone)
	}()
	if g.config.DrainTimeout > 0 && within(gone, g.config.DrainTimeout) {
		return
	}
	g.mu.Lock()
	g.ending = true
	g.mu.Unlock()
	open := g.all()
	g.log.Info("ending the sessions that are left", "sessions", len(open))
	for _, m := range open {
		m.finish()
	}
	if within(gone, finishLimit) {
		return
	}
	stop()
	for _, m := range g.all() {
		m.abort()
	}
	<-gone
}

// within waits for done at most d and reports whether it came.
func within(done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
