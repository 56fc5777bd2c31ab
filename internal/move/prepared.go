package move

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// maxWorkers bounds the workers of one table, so that a table's number and a worker's make one number.
const maxWorkers = 1000

// preparedName is the name of a worker's prepared transaction: pghaul:RUN:XID:WORKER. At most 200 bytes are allowed (twophase.c).
type preparedName struct {
	run    string
	xid    string // of the deciding transaction
	worker int
}

func (n preparedName) String() string { return fmt.Sprintf("pghaul:%s:%s:%d", n.run, n.xid, n.worker) }

// parsePreparedName reads a name; ok is false for those of other programs.
func parsePreparedName(s string) (n preparedName, ok bool) {
	parts := strings.Split(s, ":")
	if len(parts) != 4 || parts[0] != "pghaul" {
		return preparedName{}, false
	}
	worker, err := strconv.Atoi(parts[3])
	if err != nil {
		return preparedName{}, false
	}
	if _, err := strconv.ParseUint(parts[2], 10, 64); err != nil {
		return preparedName{}, false
	}
	return preparedName{run: parts[1], xid: parts[2], worker: worker}, true
}

// settle ends the prepared transactions that killed runs have left in the session's database, each as its deciding transaction ended,
// and says so in sentences. Those of a run that is still at work are left alone.
func settle(ctx context.Context, s *session) ([]string, error) {
	rows, err := s.table(ctx, "SELECT gid FROM pg_catalog.pg_prepared_xacts "+
		"WHERE database = pg_catalog.current_database() AND gid LIKE 'pghaul:%' ORDER BY prepared")
	if err != nil {
		return nil, err
	}
	var done []string
	for _, row := range rows {
		name, ok := parsePreparedName(row[0])
		if !ok {
			continue
		}
		status, err := decision(ctx, s, name)
		if err != nil {
			return done, err
		}
		verb, word := "ROLLBACK PREPARED ", "rolled back"
		switch status {
		case "committed":
			verb, word = "COMMIT PREPARED ", "committed"
		case "aborted":
		default:
			continue
		}
		_, err = s.exec(ctx, verb+sqltext.QuoteLiteral(row[0]))
		if err != nil && !hasState(err, stateUndefinedObject) {
			return done, fmt.Errorf("end prepared transaction %s that an earlier run left: %w", row[0], err)
		}
		done = append(done, "prepared transaction "+row[0]+" of an earlier run was "+word)
	}
	return done, nil
}

// decision asks how a deciding transaction ended. The server may still be at work for a run that was killed, so one that goes on is given
// some time: rows that were moved again meanwhile would be there twice once it commits.
func decision(ctx context.Context, s *session, name preparedName) (string, error) {
	limit := time.NewTimer(stopGrace)
	defer limit.Stop()
	pause := time.NewTicker(50 * time.Millisecond)
	defer pause.Stop()
	for {
		status, err := s.value(ctx, "SELECT pg_catalog.pg_xact_status('"+name.xid+"')")
		if err != nil || status != "in progress" {
			return status, err
		}
		select {
		case <-pause.C:
		case <-limit.C:
			return status, nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}
