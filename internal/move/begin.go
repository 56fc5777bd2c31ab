package move

import (
	"errors"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/planner"
)

// errSnapshotLost ends the tables that were to be read after the only reader of an unexported snapshot had failed.
var errSnapshotLost = errors.New("the source's snapshot ended with the table before")

// beginLocking starts a transaction of the source that locks before it sees anything: the settings contain a query, which would take the
// transaction's snapshot. LOCK TABLE alone takes none.
const beginLocking = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

// beginRead starts a transaction of the source, under the snapshot of the given ID when there is one. The settings are set again in the
// transaction: behind a pooler the backend need not be the one that got them at connect time.
func beginRead(encoding, snapshot string, names namePath) string {
	return "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; " + importSnapshot(snapshot) + catalog.LocalSettings(encoding) + string(names)
}

// beginBoth starts a transaction of the target that also reads the source.
func beginBoth(encoding, snapshot string, names namePath) string {
	return "BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE; " + importSnapshot(snapshot) + catalog.LocalSettings(encoding) + string(names)
}

// namePath is the statement that sets how names without a schema are looked up while the source is read.
type namePath string

// pathFor returns the empty search_path of all moves, unless SQL that the user wrote is part of what is sent: its names mean what they mean
// in the role's own sessions.
func pathFor(query, where string) namePath {
	if query == "" && where == "" {
		return ""
	}
	return "; " + catalog.OwnPath
}

// importSnapshot must come before the first statement that takes a snapshot itself.
func importSnapshot(id string) string {
	if id == "" {
		return ""
	}
	return "SET TRANSACTION SNAPSHOT '" + id + "'; "
}

// beginWrite starts a transaction of the target. READ COMMITTED whatever the server's default: a serializable COPY could fail at its
// end for reasons that have nothing to do with it.
func beginWrite(encoding string) string {
	return "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; " + catalog.LocalSettings(encoding)
}

// importFailed explains why a snapshot could not be shared.
func importFailed(err error, server planner.Server) error {
	hint := "Use --jobs 1, which needs no shared snapshot."
	if server.Pooled {
		hint = "A connection pooler stands before the server. Connect to the server itself, or use --jobs 1."
	}
	return &planner.Error{
		Message: "cannot share one snapshot between several connections to " + server.Address,
		Detail:  "Every range must be read under the same snapshot.",
		Hint:    hint,
		Cause:   err,
	}
}
