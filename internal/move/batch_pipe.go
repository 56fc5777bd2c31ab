package move

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pghaul/pghaul/internal/wire"
	"github.com/pghaul/pghaul/planner"
)

const (
	// pipeDepth is how many batches may be sent before the first of them is answered. 512 answers are 11 kB, less than any socket
	// holds, and at one row a batch they hide a round trip of several milliseconds.
	pipeDepth = 512

	// pipeFill is how much is gathered before it is sent. Small batches gain most: one write for a thousand of one row.
	pipeFill = 64 << 10
)

// flight is a batch that was sent and not yet answered: rows first to first+rows-1 of the range.
type flight struct {
	first int64
	rows  int64
	bytes int64
}

// pipe sends batches to prepared statements over a session's socket without waiting for their answers, which a goroutine reads
// meanwhile: notices and returned rows come at any time, and unless somebody reads them both ends wait for each other. No Sync is sent
// before the end; the transaction is open, and a Sync for each batch would cost a system call of the server.
type pipe struct {
	raw      *raw
	gauge    *gauge
	cause    func() error
	halt     func()
	onFail   context.CancelCauseFunc
	out      []byte      // messages that were not sent yet
	flights  chan flight // in the order in which they were sent
	broken   chan struct{}
	answer   chan struct{} // closed once the reader has ended
	rows     atomic.Int64  // that the server says it took
	returned atomic.Int64  // rows of RETURNING

	// Valid once broken is closed, or answer.
	failure error
	failed  flight // the batch that the failure is about
}

// openPipe takes the session's socket over until close. The context bounds all that is sent.
// failed is told of the first error of the server as soon as it comes.
func openPipe(ctx context.Context, s *session, g *gauge, failed context.CancelCauseFunc) (*pipe, error) {
	r, err := s.takeOver(ctx)
	if err != nil {
		return nil, err
	}
	// Returned rows may hold values of any size: they must come in pieces too.
	r.scan = wire.NewScanner(0, wire.TypeCopyData, wire.TypeDataRow)
	r.tx = 0
	p := &pipe{
		raw: r, gauge: g, onFail: failed,
		cause:   func() error { return context.Cause(ctx) },
		halt:    watch(ctx, s),
		flights: make(chan flight, pipeDepth),
		broken:  make(chan struct{}),
		answer:  make(chan struct{}),
	}
	go p.read()
	return p, nil
}

// put sends a batch, or only gathers it when held is set. An error means that the pipe takes no more; close tells why.
func (p *pipe) put(b *batch, statement string, first int64, held bool) error {
	before := len(p.out)
	p.out = b.appendBind(p.out, statement)
	p.out = wire.AppendExecute(p.out, "", 0)
	if err := p.await(flight{first: first, rows: int64(b.rows), bytes: int64(len(p.out) - before)}, before); err != nil {
		return err
	}
	if len(p.out) >= pipeFill && !held {
		return p.flush()
	}
	return nil
}

// maxMessage is the longest message that a server reads, its length word included (PQ_LARGE_MESSAGE_LIMIT, libpq.h).
const maxMessage = 1<<30 - 2

// putSpool sends one row that lies in a file.
func (p *pipe) putSpool(s *spool, statement string, first int64) error {
	size := bindHeadSize + int64(len(statement)) + s.size
	if size+4 > maxMessage {
		return &planner.Error{
			Message: fmt.Sprintf("row %d of the range has %d bytes, more than an INSERT can carry", first, s.size),
			Detail:  "A statement's values must have less than 1 GB together.",
			Hint:    "Use a method that copies, or a --copy-threshold other than off.",
		}
	}
	if err := p.await(flight{first: first, rows: 1}, len(p.out)); err != nil {
		return err
	}
	p.out = appendBindHead(p.out, statement, s.binary, s.params, int(s.size))
	if err := p.write(); err != nil {
		return err
	}
	// From here on the message must be sent to its end, whatever happens: nothing else can follow a part of one.
	err := s.send(func(piece []byte) error {
		p.gauge.moved(0, int64(len(piece)))
		return p.raw.send(piece)
	})
	if err == nil {
		err = p.raw.send(wire.AppendFlush(wire.AppendExecute(append([]byte(nil), bindTail...), "", 0)))
	}
	if err != nil {
		return errors.Join(err, p.raw.conn.Close())
	}
	return nil
}

// await notes that a batch is on its way, whose message lies in out from its place on, or is not there yet. It is noted before it is sent: an
// answer that came sooner would be taken for that of another batch.
func (p *pipe) await(f flight, place int) error {
	select {
	case p.flights <- f:
		return nil
	default:
	}
	// The server answers only what it has been sent, and flushes its answers only when asked to.
	own := bytes.Clone(p.out[place:])
	p.out = p.out[:place]
	if err := p.flush(); err != nil {
		return err
	}
	p.out = append(p.out, own...)
	select {
	case p.flights <- f:
		return nil
	case <-p.broken:
		return errPipe
	}
}

// errPipe says that the server has refused something; the pipe's failure has its words.
var errPipe = errors.New("the server takes no more rows")

// flush sends what was gathered and asks the server for its answers so far.
func (p *pipe) flush() error {
	if len(p.out) == 0 {
		return nil
	}
	p.out = wire.AppendFlush(p.out)
	return p.write()
}

// write sends what was gathered.
func (p *pipe) write() error {
	select {
	case <-p.broken:
		return errPipe
	default:
	}
	// A server that waits for a message does not look for cancels.
	if err := p.cause(); err != nil {
		return err
	}
	err := p.raw.send(p.out)
	p.out = emptied(p.out, keepBytes)
	if err != nil {
		return lostConnection(err)
	}
	return nil
}

// close ends the pipe, waits for all answers and gives the socket back. It returns the rows that the server took. After an error of the
// server that error is returned, whatever the sender met.
func (p *pipe) close(sender error) (int64, error) {
	if sender != nil {
		p.out = p.out[:0] // What was not sent is not wanted any more.
	}
	p.out = wire.AppendSync(p.out)
	if err := p.raw.send(p.out); err != nil {
		sender = errors.Join(sender, lostConnection(err))
		// The server's last word may still be on its way; nothing else will come.
		_ = p.raw.conn.SetReadDeadline(time.Now().Add(stopGrace))
	}
	<-p.answer
	p.halt()
	err := p.failure
	if err == nil && !errors.Is(sender, errPipe) {
		err = sender
	}
	if back := p.raw.giveBack(); back != nil && err == nil {
		err = fmt.Errorf("give back the connection to %s: %w", p.raw.session.address, back)
	}
	if err != nil {
		return 0, because(p.cause(), err)
	}
	return p.rows.Load(), nil
}

// read takes the server's answers up to ReadyForQuery.
func (p *pipe) read() {
	defer close(p.answer)
	for {
		event, err := p.raw.receive()
		if err != nil {
			p.fail(err, flight{})
			return
		}
		switch event.Type {
		case wire.TypeCommandComplete:
			rows, err := commandRows(event.Body)
			f := p.landed()
			if err != nil {
				p.fail(err, f)
				continue
			}
			p.rows.Add(rows)
			p.gauge.moved(rows, f.bytes)
		case wire.TypeDataRow:
			if event.First {
				p.returned.Add(1)
			}
		case wire.TypeError:
			p.fail(serverError(event.Body), p.landed())
		case wire.TypeReadyForQuery:
			return
		}
	}
}

// landed returns the batch that an answer is about; an empty one when none is in flight, as when the server is shut down.
func (p *pipe) landed() flight {
	select {
	case f := <-p.flights:
		return f
	default:
		return flight{}
	}
}

// fail notes the first failure and stops the sender. A server that has reported an error throws away all up to the Sync.
func (p *pipe) fail(err error, f flight) {
	if p.failure != nil {
		return
	}
	p.failure, p.failed = err, f
	close(p.broken)
	p.onFail(errPipe)
}
