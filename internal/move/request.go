package move

import (
	"log/slog"
	"time"

	"github.com/pghaul/pghaul/planner"
)

// Request says what to move, from where to where.
type Request struct {
	// Source and Target are connection strings as libpq knows them, completed by the PG* environment, service and password files. An empty
	// Target means the Source. A Source may also be a data directory without a server, pgdata:DIR?dbname=NAME; an empty Target then means
	// what the PG* environment says.
	Source string
	Target string

	// Tables are the pairs that the user named. Patterns are psql patterns of source tables, each going to the same name.
	Tables   []TablePair
	Patterns []string
	// Query is a SELECT on the source whose rows go into QueryInto. It excludes Tables and Patterns.
	Query     string
	QueryInto string

	Wish planner.Wish

	// StallTimeout ends a move that makes no progress for so long, lock waits not counted. 0 means 5 minutes.
	StallTimeout time.Duration
	// MaxRate limits the bytes per second that are read from the source, over all connections. 0 means no limit.
	MaxRate int64
	// Verify compares source and target before the rows are committed where that is possible, and after it otherwise.
	Verify VerifyLevel
	// SkipDamaged leaves out the blocks and rows of a data directory that cannot be read, where an error would end the move.
	SkipDamaged bool
	// PgDump is the path of pg_dump, looked up in PATH when empty.
	PgDump string
	// OnWait hears which lock Open waits for, and "" when it waits no longer. It is called from one goroutine. nil hears nothing; Run has
	// Progress.
	OnWait func(lock string)
	// Logger takes what happens on the way. nil means silence.
	Logger *slog.Logger
}

// TablePair is a source and a target as typed: optionally qualified and quoted names. An empty Target means the same name.
type TablePair struct {
	Source string
	Target string
}

// VerifyLevel is how closely source and target are compared.
type VerifyLevel string

// The levels.
const (
	NoVerify    VerifyLevel = ""
	VerifyCount VerifyLevel = "count"
	VerifyHash  VerifyLevel = "hash"
)
