package catalog

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"
)

// Wait tells what a server process is doing.
type Wait struct {
	State     string // pg_stat_activity.state, for instance "active"; empty when the user may not see it
	EventType string // wait_event_type, for instance "Lock"; empty when it does not wait
	Event     string
	Blockers  []Blocker // those that hold, or wait in front for, the lock that it waits for
}

// Locked reports whether the process waits for another's lock.
func (w Wait) Locked() bool { return len(w.Blockers) > 0 || w.EventType == "Lock" }

// Blocker is a process that another one waits for.
type Blocker struct {
	PID             uint32 // 0 for a prepared transaction
	ApplicationName string
	User            string
	State           string
	Query           string // its latest statement; a text in angle brackets when the user may not see it
}

// String names the blocker as a message does, for instance "process 123 (psql)".
func (b Blocker) String() string {
	if b.PID == 0 {
		return "a prepared transaction"
	}
	text := "process " + strconv.FormatUint(uint64(b.PID), 10)
	if b.ApplicationName != "" {
		text += " (" + b.ApplicationName + ")"
	}
	return text
}

const blockingSQL = `
SELECT a.pid, coalesce(a.state, ''), coalesce(a.wait_event_type, ''), coalesce(a.wait_event, ''),
       b.pid, coalesce(s.application_name, ''), coalesce(s.usename::text, ''), coalesce(s.state, ''), coalesce(s.query, '')
  FROM pg_catalog.pg_stat_activity a
  LEFT JOIN LATERAL (SELECT DISTINCT p AS pid FROM pg_catalog.unnest(pg_catalog.pg_blocking_pids(a.pid)) p) b ON true
  LEFT JOIN pg_catalog.pg_stat_activity s ON s.pid = b.pid
 WHERE a.pid = ANY ($1::oid[]::int[])
 ORDER BY a.pid, b.pid`

// Blocking tells for each of the server processes what it is doing and which others it waits for. A process that has ended is
// missing in the answer. Ask on a connection that does nothing else; the look takes the lock manager's locks for a moment, so
// once a second is often enough.
func Blocking(ctx context.Context, c *pgx.Conn, pids []uint32) (map[uint32]Wait, error) {
	waits := map[uint32]Wait{}
	err := ask(ctx, c, question{sql: blockingSQL, args: []any{oidArray(pids)}, row: func(r pgx.Rows) error {
		var pid uint32
		var w Wait
		var blocker *uint32
		var b Blocker
		err := r.Scan(&pid, &w.State, &w.EventType, &w.Event, &blocker, &b.ApplicationName, &b.User, &b.State, &b.Query)
		if err != nil {
			return err
		}
		w.Blockers = waits[pid].Blockers
		if blocker != nil {
			b.PID = *blocker
			w.Blockers = append(w.Blockers, b)
		}
		waits[pid] = w
		return nil
	}})
	return waits, failed("look at what the server processes wait for", err)
}
