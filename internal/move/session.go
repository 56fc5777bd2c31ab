package move

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/catalog"
)

// stopGrace is how long a cancelled server may take to say that it has stopped before its connection is cut. A backend looks for
// cancels between rows and in every wait, so it answers within milliseconds unless the network or its machine is gone.
const stopGrace = 10 * time.Second

// session is one connection to one server, with the settings that both ends of a move share.
type session struct {
	conn    *pgconn.PgConn
	address string // host:port/database, as people know it
	pooled  bool   // a pooler may give each transaction another server process
}

// openSession connects and applies the settings.
func openSession(ctx context.Context, config *pgx.ConnConfig, encoding, address string) (*session, error) {
	c, err := catalog.ConnectConfig(ctx, config, encoding)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			// That the server was not reached follows from this.
			return nil, cause
		}
		return nil, err
	}
	return &session{conn: c.PgConn(), address: address}, nil
}

// close ends the session. Open transactions are rolled back by the server.
func (s *session) close() {
	ctx, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	// The server rolls back when it sees the end of the connection in any case, so a failing farewell changes nothing.
	_ = s.conn.Close(ctx)
}

// broken reports whether the session can run no more statements.
func (s *session) broken() bool { return s.conn.IsClosed() }

// pid is the backend's process ID, by which other sessions can look at it.
func (s *session) pid() uint32 { return s.conn.PID() }

// exec sends sql, which may hold several statements, by the simple protocol and returns the last one's tag. When ctx ends first, the
// server is told to cancel and its answer is waited for.
func (s *session) exec(ctx context.Context, sql string) (pgconn.CommandTag, error) {
	results, err := s.run(ctx, sql)
	if err != nil || len(results) == 0 {
		return pgconn.CommandTag{}, err
	}
	return results[len(results)-1].CommandTag, nil
}

// value returns the first column of the first row of sql's last statement, "" when it is NULL or there is none.
func (s *session) value(ctx context.Context, sql string) (string, error) {
	rows, err := s.table(ctx, sql)
	if err != nil || len(rows) == 0 || len(rows[0]) == 0 {
		return "", err
	}
	return rows[0][0], nil
}

// table returns all rows of sql's last statement as text, NULL as "". For small results.
func (s *session) table(ctx context.Context, sql string) ([][]string, error) {
	results, err := s.run(ctx, sql)
	if err != nil || len(results) == 0 {
		return nil, err
	}
	var rows [][]string
	for _, values := range results[len(results)-1].Rows {
		row := make([]string, len(values))
		for i, v := range values {
			row[i] = string(v)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// run is exec with rows. The statement itself is not bound to ctx, since pgconn answers an ended context by cutting the connection
// and leaving the statement to run on in the server.
func (s *session) run(ctx context.Context, sql string) ([]*pgconn.Result, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	halt := watch(ctx, s)
	results, err := s.conn.Exec(context.Background(), sql).ReadAll()
	halt()
	if err != nil {
		return nil, because(context.Cause(ctx), err)
	}
	return results, nil
}

// cancelUntil asks the server to cancel what the session runs until done is closed; when that takes longer than stopGrace, it cuts
// the connection. It asks again because a request can arrive between two statements of one query.
func (s *session) cancelUntil(done <-chan struct{}) {
	deadline := time.NewTimer(stopGrace)
	defer deadline.Stop()
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for {
		s.requestCancel()
		select {
		case <-done:
			return
		case <-again.C:
		case <-deadline.C:
			_ = s.conn.Conn().SetDeadline(time.Unix(1, 0))
			return
		}
	}
}

// requestCancel sends one cancel request on a connection of its own.
func (s *session) requestCancel() {
	ctx, cancel := context.WithTimeout(context.Background(), stopGrace/2)
	defer cancel()
	// A server that cannot be reached is dealt with by the deadline.
	_ = s.conn.CancelRequest(ctx)
}

// watch cancels what the session runs when ctx ends. The function that it returns ends the watch and waits for it.
func watch(ctx context.Context, s *session) (halt func()) {
	stopped := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-stopped:
		case <-ctx.Done():
			s.cancelUntil(stopped)
		}
	}()
	return func() {
		close(stopped)
		<-watched
	}
}

// because returns cause, why a context ended, with the failure that followed from it; err alone when there is no cause.
func because(cause, err error) error {
	if cause == nil || errors.Is(err, cause) {
		return err
	}
	return fmt.Errorf("%w (%w)", cause, err)
}
