package move

import (
	"context"
	"fmt"

	"github.com/pghaul/pghaul/planner"
)

// copySequences carries the state of sequences over. Sequences stand outside transactions: their state is that of now, which is never behind
// the rows of a snapshot taken before.
func copySequences(ctx context.Context, src, dst *session, seqs []planner.SequenceCopy) error {
	for _, q := range seqs {
		rows, err := src.table(ctx, q.Read)
		if err != nil {
			return fmt.Errorf("read a sequence: %w", err)
		}
		if len(rows) == 0 || len(rows[0]) < 2 || rows[0][0] == "" {
			continue
		}
		state := [][]byte{[]byte(rows[0][0]), []byte(rows[0][1])}
		if err := dst.conn.ExecParams(ctx, q.Write, state, nil, nil, nil).Read().Err; err != nil {
			return fmt.Errorf("set a sequence: %w", err)
		}
	}
	return nil
}
