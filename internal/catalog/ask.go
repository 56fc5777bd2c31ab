package catalog

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/planner"
)

// question is one statement and what to do with each of its rows.
type question struct {
	sql  string
	args []any
	row  func(pgx.Rows) error
}

// quiet settles, for the transaction that a batch is, what decides how definitions are printed: names qualified and quoted as
// quote_ident does, and the constants in partition bounds the same on every server, also on a session without our settings. jit
// is off because compiling these queries takes longer than running them.
const quiet = "SELECT pg_catalog.set_config('search_path', '', true), pg_catalog.set_config('quote_all_identifiers', 'off', true)," +
	" pg_catalog.set_config('DateStyle', 'ISO, YMD', true), pg_catalog.set_config('IntervalStyle', 'postgres', true)," +
	" pg_catalog.set_config('TimeZone', 'UTC', true), pg_catalog.set_config('extra_float_digits', '3', true)," +
	" pg_catalog.set_config('bytea_output', 'hex', true), pg_catalog.set_config('jit', 'off', true)"

// ask sends all questions in one round trip and one transaction, on an empty search_path.
func ask(ctx context.Context, c *pgx.Conn, questions ...question) error {
	batch := &pgx.Batch{}
	batch.Queue(quiet)
	for _, q := range questions {
		batch.Queue(q.sql, q.args...).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				if err := q.row(rows); err != nil {
					return err
				}
			}
			return rows.Err()
		})
	}
	return c.SendBatch(ctx, batch).Close()
}

// oidArray writes object identifiers as an oid[] constant.
func oidArray(oids []uint32) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, oid := range oids {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatUint(uint64(oid), 10))
	}
	b.WriteByte('}')
	return b.String()
}

// failed wraps an error that asking ended with in a message of what was being done.
func failed(doing string, err error) error {
	if err == nil {
		return nil
	}
	var own *planner.Error
	if errors.As(err, &own) {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	e := &planner.Error{Message: "could not " + doing, Cause: err}
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		e.Detail = answer.Detail
		e.Hint = answer.Hint
	}
	return e
}

// sqlState is the SQLSTATE of the server's error in the chain, empty when there is none.
func sqlState(err error) string {
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		return answer.Code
	}
	return ""
}

// version is the server's version number as it named itself at the start, for instance 150020; 0 when it cannot be read.
func version(c *pgx.Conn) int {
	text := c.PgConn().ParameterStatus("server_version")
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9') {
		end++
	}
	major, err := strconv.Atoi(text[:end])
	if err != nil {
		return 0
	}
	return major * 10000
}
