package move

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/wire"
)

// blockSize is how much is read from a socket at once. Larger blocks gain nothing: a Unix socket holds about 200 kB.
const blockSize = 256 << 10

// raw is a session's socket, taken over for the length of one COPY.
type raw struct {
	session *session
	hc      *pgconn.HijackedConn
	conn    net.Conn
	scan    *wire.Scanner
	block   []byte // buffer for receive
	rest    []byte // what of block has not been looked at
	report  []byte // start of a report that comes in pieces
	tx      byte   // the transaction status of the last ReadyForQuery
}

// takeOver takes the session's socket. Nothing else may use the session until giveBack.
func (s *session) takeOver(ctx context.Context) (*raw, error) {
	if err := s.conn.SyncConn(ctx); err != nil {
		return nil, fmt.Errorf("take over the connection to %s: %w", s.address, err)
	}
	hc, err := s.conn.Hijack()
	if err != nil {
		return nil, fmt.Errorf("take over the connection to %s: %w", s.address, err)
	}
	// A server may report a changed setting at any time. Such messages that pgconn has read already must not be lost half-way.
	for hc.Frontend.ReadBufferLen() > 0 {
		if _, err := hc.Frontend.Receive(); err != nil {
			return nil, fmt.Errorf("take over the connection to %s: %w", s.address, err)
		}
	}
	return &raw{session: s, hc: hc, conn: hc.Conn, scan: wire.NewScanner(0, wire.TypeCopyData, wire.TypeError, wire.TypeNotice), block: make([]byte, blockSize)}, nil
}

// giveBack returns the socket to the session. The server must stand at ReadyForQuery; when it does not, the session is closed.
func (r *raw) giveBack() error {
	if err := r.farewell(); err != nil {
		return errors.Join(err, r.conn.Close())
	}
	if r.tx == 0 || len(r.rest) > 0 || !r.scan.Idle() {
		return errors.Join(errors.New("the connection is in the middle of a message"), r.conn.Close())
	}
	_ = r.conn.SetDeadline(time.Time{})
	r.hc.TxStatus = r.tx
	conn, err := pgconn.Construct(r.hc)
	if err != nil {
		return errors.Join(err, r.conn.Close())
	}
	r.session.conn = conn
	return nil
}

// farewell looks at what came behind ReadyForQuery: a server that is shut down says so then and there. Notices and changed settings, which
// may come as well, are passed by.
func (r *raw) farewell() error {
	for r.tx != 0 && len(r.rest) > 0 {
		used, event, err := r.scan.Next(r.rest)
		r.rest = r.rest[used:]
		if err != nil {
			return err
		}
		if event.Type == wire.TypeError {
			return serverError(event.Body)
		}
	}
	return nil
}

// send writes whole messages.
func (r *raw) send(p []byte) error {
	_, err := r.conn.Write(p)
	return err
}

// receive returns the next event: a message, or a piece of a CopyData payload. It is good until the next call.
func (r *raw) receive() (wire.Event, error) {
	for {
		if len(r.rest) == 0 {
			n, err := r.conn.Read(r.block)
			if n == 0 && err != nil {
				return wire.Event{}, lostConnection(err)
			}
			r.rest = r.block[:n]
		}
		used, event, err := r.scan.Next(r.rest)
		r.rest = r.rest[used:]
		if err != nil {
			return wire.Event{}, err
		}
		if event.Type == wire.TypeReadyForQuery && len(event.Body) == 1 {
			r.tx = event.Body[0]
		}
		if (event.Type == wire.TypeError || event.Type == wire.TypeNotice) && !(event.First && event.Last) {
			if event = r.gather(event); event.Type == 0 {
				continue
			}
		}
		if event.Type != 0 {
			return event, nil
		}
	}
}

// gather puts the pieces of a report together. What is said of a value of hundreds of megabytes can repeat it: the end of such a report is cut off.
func (r *raw) gather(piece wire.Event) wire.Event {
	if piece.First {
		r.report = r.report[:0]
	}
	r.report = append(r.report, piece.Body[:min(len(piece.Body), wire.MessageLimit-len(r.report))]...)
	if !piece.Last {
		return wire.Event{}
	}
	if piece.Length > len(r.report) {
		r.report = append(r.report[:len(r.report)-2], 0, 0) // The ends of the field and of the report.
	}
	return wire.Event{Type: piece.Type, Length: len(r.report), Body: r.report, First: true, Last: true}
}

// finish reads up to ReadyForQuery and returns the row count of the last CommandComplete, or the first error of the server.
func (r *raw) finish() (int64, error) {
	var rows int64
	var failure error
	for {
		event, err := r.receive()
		if err != nil {
			return rows, errors.Join(failure, err)
		}
		switch event.Type {
		case wire.TypeReadyForQuery:
			return rows, failure
		case wire.TypeCommandComplete:
			rows, err = commandRows(event.Body)
		case wire.TypeError:
			err = serverError(event.Body)
		}
		if failure == nil {
			failure = err
		}
	}
}

// start sends sql and reads up to the server's readiness to copy. On an error of the server the socket stands at ReadyForQuery.
func (r *raw) start(sql string, ready byte) error {
	r.tx = 0
	if err := r.send(wire.AppendQuery(nil, sql)); err != nil {
		return lostConnection(err)
	}
	for {
		event, err := r.receive()
		if err != nil {
			return err
		}
		switch event.Type {
		case ready:
			return nil
		case wire.TypeError:
			failure := serverError(event.Body)
			if _, err := r.finish(); err != nil {
				return errors.Join(failure, err)
			}
			return failure
		case wire.TypeReadyForQuery:
			return errors.New("the server did not start to copy")
		}
	}
}

// commandRows reads the row count of a CommandComplete.
func commandRows(body []byte) (int64, error) {
	tag, err := wire.ParseTag(body)
	return max(tag.Rows, 0), err
}

// serverError reads an ErrorResponse into the error type that the rest of the program knows.
func serverError(body []byte) error {
	e, err := wire.ParseReport(body)
	if err != nil {
		return err
	}
	return &pgconn.PgError{
		Severity: e.Severity, SeverityUnlocalized: e.SeverityPlain, Code: e.Code, Message: e.Message, Detail: e.Detail, Hint: e.Hint,
		Position: int32(e.Position), InternalPosition: int32(e.InternalPosition), InternalQuery: e.InternalQuery, Where: e.Where,
		SchemaName: e.Schema, TableName: e.Table, ColumnName: e.Column, DataTypeName: e.DataType, ConstraintName: e.Constraint,
		File: e.File, Line: int32(e.Line), Routine: e.Routine,
	}
}

// lostConnection says what an end of the stream means: only a server that died or a cut network ends it between ReadyForQueries.
func lostConnection(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("the server closed the connection: %w", io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("the connection was lost: %w", err)
}
