package catalog

import (
	"context"
	"net"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Connect opens a connection and applies Settings(encoding) to it; an empty encoding means UTF8. See ConnectConfig.
func Connect(ctx context.Context, dsn, encoding string) (*pgx.Conn, error) {
	config, err := Config(dsn)
	if err != nil {
		return nil, err
	}
	return ConnectConfig(ctx, config, encoding)
}

// ConnectConfig opens a connection as config says, which Config has made and the caller may have given an OnNotice.
//
// Settings(encoding) are applied, except where a pooler stands between: there the session belongs to others too, who must not
// find our settings in it, and each transaction begins with LocalSettings instead. Errors are *planner.Error with host, port
// and database, and with the server's own error as cause where it sent one; never with the password.
func ConnectConfig(ctx context.Context, config *pgx.ConnConfig, encoding string) (*pgx.Conn, error) {
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, unreachable(config, err)
	}
	pooled, err := isPooled(ctx, c)
	if err == nil && !pooled {
		_, err = c.PgConn().Exec(ctx, Settings(encoding)).ReadAll()
	}
	if err != nil {
		_ = c.Close(ctx) // the error that counts is the first one
		return nil, unreachable(config, err)
	}
	return c, nil
}

// isPooled compares the process that serves with the one that the start-up named (manual, "Message Flow", BackendKeyData).
func isPooled(ctx context.Context, c *pgx.Conn) (bool, error) {
	results, err := c.PgConn().Exec(ctx, "SELECT pg_catalog.pg_backend_pid()").ReadAll()
	if err != nil {
		return false, err
	}
	return string(results[0].Rows[0][0]) != strconv.FormatUint(uint64(c.PgConn().PID()), 10), nil
}

// Address is where c is connected to as people know it: host:port/database, or directory:port/database for a socket.
func Address(c *pgx.Conn) string {
	config := c.Config()
	return reachedHost(c) + "/" + config.Database
}

// reachedHost is host:port; the peer's own address where several hosts were given, since pgx does not say which it took.
func reachedHost(c *pgx.Conn) string {
	config := c.Config()
	if len(hostsOf(config)) > 1 {
		peer := c.PgConn().Conn().RemoteAddr().String()
		if at := strings.LastIndex(peer, "/.s.PGSQL."); at >= 0 {
			return peer[:at] + ":" + peer[at+len("/.s.PGSQL."):]
		}
		return peer
	}
	return hostPort(config.Host, config.Port)
}

func hostPort(host string, port uint16) string {
	if strings.HasPrefix(host, "/") {
		return host + ":" + strconv.Itoa(int(port))
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}
