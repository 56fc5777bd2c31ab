package move

import (
	"context"
	"errors"
	"io"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/planner"
)

// QueryRows is the result of a query as a stream of COPY text.
type QueryRows struct {
	session *session
	out     *copyOut
	names   []string
	piece   []byte
	release context.CancelFunc
}

// OpenQuery runs a SELECT, VALUES or TABLE statement on a server. The context bounds the stream up to Close.
func OpenQuery(ctx context.Context, source, query string) (*QueryRows, error) {
	at, err := connectEnd(ctx, source)
	if err != nil {
		return nil, err
	}
	relation, err := catalog.ReadQuery(ctx, at.conn, query)
	if err != nil {
		return nil, errors.Join(err, at.conn.Close(context.WithoutCancel(ctx)))
	}
	q := &QueryRows{session: &session{conn: at.conn.PgConn(), address: at.server.Address}}
	for _, c := range relation.Columns {
		q.names = append(q.names, c.Name)
	}
	if err := q.start(ctx, relation.Query); err != nil {
		q.session.close()
		return nil, queryFailed(at.server.Address, err)
	}
	return q, nil
}

// queryFailed names the query: its rows are read as if they were standard input, which the user has never heard of.
func queryFailed(address string, err error) error {
	e := &planner.Error{Message: "cannot run the query on " + address, Cause: err}
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &pg):
		e.Cause = &brief{text: pg.Message, err: err}
	case connectionLost(err):
		e.Hint = "The server or the network went away. Run the same command again when it is back."
	}
	return e
}

func (q *QueryRows) start(ctx context.Context, query string) error {
	if _, err := q.session.exec(ctx, beginRead(endEncoding, "", pathFor(query, ""))); err != nil {
		return err
	}
	ctx, q.release = context.WithCancel(ctx)
	var err error
	q.out, err = q.session.copyOut(ctx, "COPY ("+query+"\n) TO STDOUT")
	return err
}

// Names are the names of the query's columns.
func (q *QueryRows) Names() []string { return q.names }

// Read implements io.Reader.
func (q *QueryRows) Read(p []byte) (int, error) {
	for len(q.piece) == 0 {
		piece, err := q.out.next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				err = queryFailed(q.session.address, err)
			}
			return 0, err
		}
		q.piece = piece
	}
	n := copy(p, q.piece)
	q.piece = q.piece[n:]
	return n, nil
}

// Close ends the query and the connection.
func (q *QueryRows) Close() error {
	err := q.out.close()
	q.release()
	q.session.close()
	return err
}
