package pghaul

import (
	"sync"
	"time"

	"github.com/pghaul/pghaul/internal/move"
)

// Progress is a look at a running copy.
type Progress struct {
	// Table is the table that is worked on, or how many there are when several are, for instance "3 tables".
	Table string `json:"table"`

	// Stage is what is being done: "plan" while servers are asked and nothing is changed yet, then "rows", "merge" while staged rows
	// go on into the target, "indexes", "verify" or "commit".
	Stage string `json:"stage"`

	// Rows is the number of rows sent so far. The report's count comes from the target and may be smaller, where triggers or
	// conflicts drop rows.
	Rows int64 `json:"rows"`

	// TotalRows is the expected number of rows, an estimate; -1 when it is not known.
	TotalRows int64 `json:"total_rows"`

	// Bytes is the payload sent so far, in bytes.
	Bytes int64 `json:"bytes"`

	// TotalBytes is the expected payload in bytes, an estimate; 0 when it is not known.
	TotalBytes int64 `json:"total_bytes"`

	// Waiting is empty, or says who waits for a lock and who holds it.
	Waiting string `json:"waiting,omitempty"`

	// Elapsed is the time since the call.
	Elapsed time.Duration `json:"-"`
}

// defaultInterval makes a progress bar look alive and costs nothing that can be measured.
const defaultInterval = 200 * time.Millisecond

// stageOpen is the stage before the engine has one of its own.
const stageOpen = "plan"

// watch calls a function with the progress every interval, from a goroutine of its own, and once more when it is stopped.
type watch struct {
	report func(Progress)
	began  time.Time
	quit   chan struct{}
	ended  sync.WaitGroup

	lock    sync.Mutex
	look    func() move.Progress // nil while tables are planned
	waiting string               // the lock that planning waits for
	rows    int64                // the final count, 0 before
}

// newWatch starts a watch, or one that does nothing when nobody asked for progress.
func newWatch(report func(Progress), interval time.Duration) *watch {
	w := &watch{report: report, began: time.Now(), quit: make(chan struct{})}
	if report == nil {
		return w
	}
	if interval == 0 {
		interval = defaultInterval
	}
	w.ended.Go(func() { w.repeat(interval) })
	return w
}

func (w *watch) repeat(interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			w.report(w.now())
		case <-w.quit:
			w.report(w.now())
			return
		}
	}
}

func (w *watch) now() Progress {
	w.lock.Lock()
	look, rows, waiting := w.look, w.rows, w.waiting
	w.lock.Unlock()
	if look == nil {
		return Progress{Stage: stageOpen, TotalRows: -1, Waiting: waiting, Elapsed: time.Since(w.began)}
	}
	p := look()
	return Progress{
		Table: p.Table, Stage: p.Stage,
		Rows: max(p.Rows, rows), TotalRows: p.TotalRow,
		Bytes: p.Bytes, TotalBytes: p.Total,
		Waiting: p.Waiting, Elapsed: time.Since(w.began),
	}
}

// running says where to look from now on.
func (w *watch) running(look func() move.Progress) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.look = look
}

// waits says which lock planning waits for.
func (w *watch) waits(lock string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.waiting = lock
}

// finished makes the last progress agree with the report.
func (w *watch) finished(rows int64) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.rows = rows
}

// stop makes the last call and waits for it.
func (w *watch) stop() {
	close(w.quit)
	w.ended.Wait()
}
