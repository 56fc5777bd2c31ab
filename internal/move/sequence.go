package move

import (
	"context"
	"fmt"

	"github.com/pghaul/pghaul/planner"
)

// copySequences carries the state of sequences over. Sequences stand outside transactions: their state is that of now, which is never behind
// the rows of a snapshot taken before.
func copySequences(ctx context.Context, read sequenceReader, dst *session, seqs []planner.SequenceCopy) error {
	for _, q := range seqs {
		state, err := read(ctx, q.Read)
		if err != nil {
			return fmt.Errorf("read a sequence: %w", err)
		}
		if state == nil {
			continue
		}
		if err := dst.conn.ExecParams(ctx, q.Write, state, nil, nil, nil).Read().Err; err != nil {
			return fmt.Errorf("set a sequence: %w", err)
		}
	}
	return nil
}

// sequenceReader returns last_value and is_called of a sequence as text; nil when there is none.
type sequenceReader func(ctx context.Context, read string) ([][]byte, error)

// sequence is the sequenceReader of a server.
func (s *session) sequence(ctx context.Context, sql string) ([][]byte, error) {
	rows, err := s.table(ctx, sql)
	if err != nil || len(rows) == 0 || len(rows[0]) < 2 || rows[0][0] == "" {
		return nil, err
	}
	return [][]byte{[]byte(rows[0][0]), []byte(rows[0][1])}, nil
}
