package pghaul

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/pghaul/pghaul/internal/move"
	"github.com/pghaul/pghaul/planner"
)

// WriterOptions says how a Writer writes. The zero value and nil mean all defaults.
type WriterOptions struct {
	// Columns are the columns that rows give values for, in their order, exact and without quotes. Defaults to all columns of the table that
	// can be written.
	Columns []string

	// FlushBytes is the size of the buffered rows at which they are written. Defaults to 1 MB.
	FlushBytes int

	// FlushInterval is the longest time that a row waits in the buffer. Defaults to 1 second; a negative one leaves it to size and Flush.
	FlushInterval time.Duration

	// OnDuplicate says what happens to a row whose key is there already, as in LoadOptions. Defaults to an error.
	OnDuplicate planner.OnDuplicate

	// ConflictColumns are the columns of the unique key that OnDuplicate speaks of. Defaults to the primary key.
	ConflictColumns []string

	// OnRefused, when set, hears of each row that the server does not take, and the others of its flush are written. It is called while the
	// Writer is locked and must not use it. Defaults to none: a refused row makes its flush fail.
	OnRefused func(Refusal)

	// Logger takes what happens on the way. Defaults to silence.
	Logger *slog.Logger
}

// Refusal is a row that was not written, and why.
type Refusal = move.Refusal

// Writer writes rows into a table for as long as a program runs, many rows in one COPY. Each flush is a transaction of its own: its rows are
// written all or not at all. A Writer may be used by several goroutines.
//
// A row is safe once a Flush, or a Close, that came after its Write has returned without an error.
type Writer struct {
	lock   sync.Mutex
	to     *move.Writer
	bytes  int
	full   bool  // so much is in the buffer
	failed error // of a flush that time had called for
	rows   int64
	closed bool
	quit   chan struct{}
	stop   context.CancelFunc // ends a flush that time had called for
	ended  sync.WaitGroup
}

// timedFlushLimit is how long a flush may take that time has called for: as long as a load may stand still by default.
const timedFlushLimit = 5 * time.Minute

// NewWriter connects to the server of the connection string target and plans how rows are written into a table, which may hold rows. ctx is for
// this call alone.
func NewWriter(ctx context.Context, target, into string, opts *WriterOptions) (*Writer, error) {
	if opts == nil {
		opts = &WriterOptions{}
	}
	var c complaints
	load := LoadOptions{Columns: opts.Columns, Fill: planner.Append, OnDuplicate: opts.OnDuplicate, ConflictColumns: opts.ConflictColumns,
		Analyze: planner.No, Logger: opts.Logger}
	if opts.OnRefused != nil {
		load.OnError = planner.SetRowsAside
	}
	request := load.request(target, into, &c)
	c.negative("the flush size", int64(opts.FlushBytes))
	if err := c.err(); err != nil {
		return nil, err
	}
	request.OnRefused = opts.OnRefused
	to, err := move.OpenWriter(ctx, request)
	if err != nil {
		return nil, err
	}
	w := &Writer{to: to, bytes: opts.FlushBytes, quit: make(chan struct{}), stop: func() {}}
	if w.bytes == 0 {
		w.bytes = 1 << 20
	}
	interval := opts.FlushInterval
	if interval == 0 {
		interval = time.Second
	}
	if interval > 0 {
		timed, stop := context.WithCancel(context.WithoutCancel(ctx))
		w.stop = stop
		w.ended.Go(func() { w.flushEvery(timed, interval) })
	}
	return w, nil
}

// Write adds a row, one value for each column, after a flush where the buffer is full. nil is NULL. After an error, be it of the row's values or of
// the flush, this row is not in the buffer. The rows of a flush that has failed are, for another Flush or for Discard.
func (w *Writer) Write(ctx context.Context, values ...any) error {
	return w.WriteRow(ctx, func(b *RowBuilder) {
		for _, v := range values {
			b.Value(v)
		}
	})
}

// WriteRow is Write without boxed values: fill makes one call of b for each column.
func (w *Writer) WriteRow(ctx context.Context, fill func(b *RowBuilder)) error {
	w.lock.Lock()
	defer w.lock.Unlock()
	if err := w.late(); err != nil {
		return err
	}
	if w.full {
		if err := w.flush(ctx); err != nil {
			return err
		}
	}
	bytes, err := w.to.Add(fill)
	w.full = bytes >= w.bytes
	return err
}

// Flush writes the buffered rows and returns when they are committed.
func (w *Writer) Flush(ctx context.Context) error {
	w.lock.Lock()
	defer w.lock.Unlock()
	if err := w.late(); err != nil {
		return err
	}
	return w.flush(ctx)
}

var errClosed = &planner.Error{Kind: planner.Usage, Message: "the Writer is closed"}

// late hands out the error of a flush that time had called for.
func (w *Writer) late() error {
	if w.closed {
		return errClosed
	}
	err := w.failed
	w.failed = nil
	return err
}

func (w *Writer) flush(ctx context.Context) error {
	n, err := w.to.Flush(ctx)
	w.rows += n
	w.full = w.full && err != nil
	return err
}

func (w *Writer) flushEvery(ctx context.Context, interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			w.lock.Lock()
			if w.failed == nil {
				limited, cancel := context.WithTimeout(ctx, timedFlushLimit)
				w.failed = w.flush(limited)
				cancel()
			}
			w.lock.Unlock()
		case <-w.quit:
			return
		}
	}
}

// Discard drops the rows in the buffer and returns how many there were.
func (w *Writer) Discard() int64 {
	w.lock.Lock()
	defer w.lock.Unlock()
	n := w.to.Rows()
	w.to.Discard()
	w.failed, w.full = nil, false
	return n
}

// Rows is the number of rows that were written.
func (w *Writer) Rows() int64 {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.rows
}

// Plan is the plan by which rows are written.
func (w *Writer) Plan() *planner.Plan { return w.to.Plan() }

// Close flushes and disconnects. After an error the rows of the last flush are not written. The end of ctx ends a flush that is going on.
func (w *Writer) Close(ctx context.Context) error {
	w.lock.Lock()
	if w.closed {
		w.lock.Unlock()
		return errClosed
	}
	w.closed = true
	w.lock.Unlock()
	close(w.quit)
	halt := context.AfterFunc(ctx, w.stop)
	w.ended.Wait()
	halt()
	w.stop()
	w.lock.Lock()
	defer w.lock.Unlock()
	err := w.failed
	if err == nil {
		err = w.flush(ctx)
	}
	w.to.Close()
	return err
}
