package catalog

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/planner"
)

// OldestVersion is the oldest server_version_num that is supported.
const OldestVersion = 140000

const serverSQL = `
SELECT pg_catalog.current_setting('server_version_num')::int,
       pg_catalog.split_part(current_setting('server_version'), ' ', 1),
       pg_catalog.current_database(),
       d.oid,
       pg_catalog.current_setting('server_encoding'),
       current_user::text,
       r.rolsuper,
       pg_catalog.pg_is_in_recovery(),
       pg_catalog.current_setting('wal_level'),
       extract(epoch FROM pg_catalog.pg_postmaster_start_time())::text,
       pg_catalog.pg_backend_pid(),
       pg_catalog.has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE'),
       pg_catalog.current_setting('max_prepared_transactions')::int
           - (SELECT count(*) FROM pg_catalog.pg_prepared_xacts),
       least(
           pg_catalog.current_setting('max_connections')::bigint
               - pg_catalog.current_setting('superuser_reserved_connections')::bigint
               - coalesce(pg_catalog.current_setting('reserved_connections', true), '0')::bigint
               - s.clients,
           CASE WHEN d.datconnlimit >= 0 THEN d.datconnlimit - s.here END,
           CASE WHEN r.rolconnlimit >= 0 THEN r.rolconnlimit - s.mine END)
  FROM pg_catalog.pg_database d,
       pg_catalog.pg_roles r,
       (SELECT count(*) AS clients,
               count(*) FILTER (WHERE a.datname = pg_catalog.current_database()) AS here,
               count(*) FILTER (WHERE a.usename = session_user) AS mine
          FROM pg_catalog.pg_stat_activity a
         WHERE a.datid IS NOT NULL
           AND coalesce(a.backend_type, 'client backend') = 'client backend') s
 WHERE d.datname = pg_catalog.current_database()
   AND r.rolname = current_user`

// versionSQL works on servers of any age, which the rest need not.
const versionSQL = `
SELECT pg_catalog.current_setting('server_version_num')::int, pg_catalog.split_part(current_setting('server_version'), ' ', 1)`

// Server tells what c's server is. A server older than OldestVersion is a *planner.Error. SystemID stays empty where
// pg_control_system() may not be called.
func Server(ctx context.Context, c *pgx.Conn) (planner.Server, error) {
	s := planner.Server{Address: Address(c)}
	doing := "read the facts of server " + s.Address
	err := ask(ctx, c, question{sql: versionSQL, row: func(r pgx.Rows) error { return r.Scan(&s.Version, &s.VersionText) }})
	if err != nil {
		return s, failed(doing, err)
	}
	if s.Version < OldestVersion {
		return s, &planner.Error{
			Message: "server " + s.Address + " is too old",
			Detail:  "It is PostgreSQL " + s.VersionText + "; the oldest supported version is " + strconv.Itoa(OldestVersion/10000) + ".",
			Hint:    "Use pg_dump, or upgrade the server.",
		}
	}
	var pid uint32
	var mayControl bool
	err = ask(ctx, c, question{sql: serverSQL, row: func(r pgx.Rows) error {
		return r.Scan(&s.Version, &s.VersionText, &s.Database, &s.DatabaseOID, &s.Encoding, &s.User, &s.Superuser, &s.Standby,
			&s.WALLevel, &s.StartTime, &pid, &mayControl, &s.FreePrepared, &s.FreeConnections)
	}})
	if err != nil {
		return s, failed(doing, err)
	}
	s.FreePrepared = max(s.FreePrepared, 0)
	s.FreeConnections = max(s.FreeConnections, 0)
	s.Pooled = pid != c.PgConn().PID()
	if !mayControl {
		return s, nil
	}
	err = ask(ctx, c, question{
		sql: "SELECT system_identifier::text FROM pg_catalog.pg_control_system()",
		row: func(r pgx.Rows) error { return r.Scan(&s.SystemID) },
	})
	return s, failed(doing, err)
}

// SameServer reports whether both are one database cluster. The start time, which has microseconds, tells a cluster from its
// copies, which share the identifier, and stands alone where the identifier may not be read.
func SameServer(a, b planner.Server) bool {
	if a.SystemID != "" && b.SystemID != "" && a.SystemID != b.SystemID {
		return false
	}
	return a.StartTime != "" && a.StartTime == b.StartTime && a.Version == b.Version
}

// SameDatabase reports whether both are the same database of the same cluster.
func SameDatabase(a, b planner.Server) bool {
	return SameServer(a, b) && a.DatabaseOID == b.DatabaseOID
}
