package move

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// SQLSTATE codes that decide what is done next (manual, "PostgreSQL Error Codes").
const (
	stateQueryCanceled     = "57014"
	stateUndefinedTable    = "42P01"
	stateDuplicateObject   = "42710"
	stateUndefinedObject   = "42704"
	stateAdminShutdown     = "57P01"
	stateCrashShutdown     = "57P02"
	stateCannotConnect     = "57P03" // the server starts, stops or recovers
	stateUniqueViolation   = "23505"
	stateNoPrivilege       = "42501"
	stateReadOnly          = "25006"
	stateDuplicateTable    = "42P07" // indexes and sequences too
	stateUndefinedFunction = "42883"
	stateUndefinedSchema   = "3F000"
)

// hasState reports whether a server's error with the given SQLSTATE is in err's chain.
func hasState(err error, code string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == code
}
