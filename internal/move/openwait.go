package move

import (
	"context"
	"time"
)

// watchLocks tells Request.OnWait which lock the connections that read facts are waiting for, and "" when that is over. The function that
// it returns ends the watch and waits for it.
func (o *opening) watchLocks(ctx context.Context) (halt func()) {
	tell := o.move.request.OnWait
	if tell == nil {
		return func() {}
	}
	wctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	ends := []*site{o.target.site()}
	if o.source.conn != nil {
		ends = append(ends, o.source.site())
	}
	go func() {
		defer close(done)
		w := &watchdog{move: o.move, askers: map[*site]*session{}}
		defer w.close()
		tick := time.NewTicker(askAfter)
		defer tick.Stop()
		for last := ""; ; {
			select {
			case <-tick.C:
			case <-wctx.Done():
				return
			}
			now := ""
			for _, at := range ends {
				if text, _, err := w.lockWait(wctx, at); err == nil && text != "" {
					now = text
				}
			}
			if now != last {
				tell(now)
				last = now
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// site is the end as the watchdog knows servers, with the one connection that reads facts.
func (e end) site() *site {
	s := newSite(e.conn.Config(), e.server)
	s.pids[e.conn.PgConn().PID()] = true
	return s
}
