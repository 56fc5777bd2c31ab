package move

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/internal/copyfmt"
	"github.com/pghaul/pghaul/planner"
)

// insertRows sends rows of a batch as parameters of INSERT statements, for targets that COPY cannot serve. Pieces are COPY text.
func (s *loader) insertRows(ctx context.Context, b *loadBatch, rows []stretch) (took int64, err error) {
	sent := 0
	defer func() {
		if err != nil { // They are taken back, to be sent once more.
			s.w.gauge.moved(-int64(sent), 0)
		}
	}()
	var values [][]byte
	pending := 0
	send := func() error {
		n, err := s.insert(ctx, values, pending)
		took += n
		if err == nil {
			sent += pending
		}
		values, pending = values[:0], 0
		return err
	}
	for _, r := range rows {
		p := b.pieces[r.piece]
		if p.large != nil {
			return 0, errLargeInsert
		}
		data := p.data[skipRows(p.data, false, r.from):]
		for range r.to - r.from {
			end := bytes.IndexByte(data, '\n')
			values = appendValues(values, data[:end])
			data = data[end+1:]
			if pending++; pending == s.plan.Batch.Size {
				if err := send(); err != nil {
					return 0, err
				}
			}
		}
	}
	if pending > 0 {
		if err := send(); err != nil {
			return 0, err
		}
	}
	s.countDuplicates(-1, int64(count(rows))-took)
	return took, nil
}

// errLargeInsert refuses a row that would have to be in memory as a whole.
var errLargeInsert = &planner.Error{Kind: planner.Refused, Message: "a row of more than 8 MB cannot be sent by method insert",
	Hint: "Load it into a table, and copy it from there."}

// appendValues adds the values of a row of COPY text.
func appendValues(values [][]byte, row []byte) [][]byte {
	for field := range bytes.SplitSeq(row, []byte{'\t'}) {
		if copyfmt.IsTextNull(field) {
			values = append(values, nil)
		} else {
			values = append(values, copyfmt.AppendUnescaped([]byte{}, field))
		}
	}
	return values
}

// insert sends one statement.
func (s *loader) insert(ctx context.Context, values [][]byte, rows int) (int64, error) {
	if s.statements == nil {
		s.statements = map[int]string{}
	}
	sql := s.statements[rows]
	if sql == "" {
		sql = s.insertSQL(rows)
		s.statements[rows] = sql
	}
	halt := watch(ctx, s.w.dst)
	result := s.w.dst.conn.ExecParams(context.WithoutCancel(ctx), sql, values, nil, nil, nil).Read()
	halt()
	if result.Err != nil {
		return 0, because(context.Cause(ctx), result.Err)
	}
	s.w.gauge.moved(int64(rows), 0)
	return result.CommandTag.RowsAffected(), nil
}

// insertSQL is the statement for a number of rows.
func (s *loader) insertSQL(rows int) string {
	var sql strings.Builder
	sql.WriteString(s.plan.Batch.Head)
	n := 0
	for row := range rows {
		if row > 0 {
			sql.WriteString(", ")
		}
		sql.WriteByte('(')
		for i := range s.plan.Columns {
			if i > 0 {
				sql.WriteString(", ")
			}
			n++
			sql.WriteString("$" + strconv.Itoa(n))
		}
		sql.WriteByte(')')
	}
	sql.WriteString(s.plan.Batch.Tail)
	return sql.String()
}
