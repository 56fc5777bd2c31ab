package move

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// byRange commits each range with a record of it, so that an interrupted move can go on where it stopped.
func (r *run) byRange(ctx context.Context, t *table, undo *undoLog) error {
	t.stage.set(stageBefore)
	if err := runOwn(ctx, t, t.plan.Before, 1, undo); err != nil {
		return err
	}
	// From here on what stands in the target is meant to stay.
	undo.forget()
	if err := r.openRecord(ctx, t); err != nil {
		return err
	}
	ws, err := r.workers(ctx, t, max(1, min(t.plan.Connections, len(t.pending()))))
	if err != nil {
		return err
	}
	err = moveRanges(ctx, t, ws, func(ctx context.Context, w *worker, i int) (int64, error) { return r.carryRecorded(ctx, t, w, i) })
	for _, w := range ws {
		t.noteSent(w)
	}
	r.dismiss(t, ws, err != nil)
	if err != nil {
		return err
	}
	t.committed = true
	return r.afterwards(ctx, t, t.plan.After, undo)
}

// openRecord makes sure that the records belong to the source as it is now: it writes them, or compares those of the first run.
func (r *run) openRecord(ctx context.Context, t *table) error {
	s, err := t.target.take(ctx, t.encoding)
	if err != nil {
		return err
	}
	if err := r.checkRecord(ctx, t, s); err != nil {
		t.target.drop(s)
		return err
	}
	t.target.give(t.encoding, s)
	return nil
}

func (r *run) checkRecord(ctx context.Context, t *table, dst *session) error {
	snap := r.snapshots[t.source]
	src, err := snap.reader(ctx)
	if err != nil {
		return err
	}
	// The reader's transaction goes on whatever comes of this.
	defer func() { snap.release(src, src.conn.TxStatus() != 'T') }()
	if !t.plan.Resumes {
		if err := r.guardEmpty(ctx, t, dst); err != nil {
			return err
		}
		files, err := partFiles(ctx, src, t.plan)
		if err != nil {
			return err
		}
		return writeRecord(ctx, dst, t, snap, files, r.wish)
	}
	rec, err := loadRecord(ctx, dst, t.key)
	if err != nil {
		return err
	}
	if rec == nil {
		return fmt.Errorf("the records of move %s are gone", t.key)
	}
	rows, err := recordedRows(ctx, dst, t.key)
	if err != nil {
		return err
	}
	why, err := changedSince(ctx, src, t, rec, rows)
	if err != nil || why == "" {
		return err
	}
	return sourceChanged(t, why)
}

// sourceChanged refuses to go on with a move whose source is no longer what it was.
func sourceChanged(t *table, why string) error {
	return &planner.Error{
		Message: "cannot go on with the interrupted copy of " + t.name(),
		Detail:  "The source has changed: " + why + ".",
		Hint: "Start anew: empty the target and forget the records by DELETE FROM pghaul.move WHERE key = '" + t.key +
			"'; DELETE FROM pghaul.done_range WHERE key = '" + t.key + "'.",
	}
}

// recordedRows returns the row count of each range that is done.
func recordedRows(ctx context.Context, s *session, key string) (map[int]int64, error) {
	table, err := s.table(ctx, "SELECT range, rows FROM pghaul.done_range WHERE key = "+sqltext.QuoteLiteral(key))
	if err != nil {
		return nil, err
	}
	rows := map[int]int64{}
	for _, row := range table {
		i, err := strconv.Atoi(row[0])
		if err != nil {
			return nil, err
		}
		if rows[i], err = strconv.ParseInt(row[1], 10, 64); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// carryRecorded moves one range in a transaction of its own that also holds the record of it.
func (r *run) carryRecorded(ctx context.Context, t *table, w *worker, i int) (int64, error) {
	if err := r.begin(ctx, t, w); err != nil {
		return 0, err
	}
	rows, err := carry(ctx, w, i)
	if err != nil {
		return 0, err
	}
	if err := r.checkImportedRanges(ctx, t, t.plan.Ranges[i:i+1], rows); err != nil {
		return 0, err
	}
	if _, err := w.dst.exec(ctx, bindText(t.plan.Record, sqltext.QuoteLiteral(t.key), strconv.Itoa(i), strconv.FormatInt(rows, 10))); err != nil {
		if hasState(err, stateUniqueViolation) {
			return 0, r.acceptRecorded(ctx, t, w, i)
		}
		return 0, err
	}
	if err := commit(ctx, t, w.dst); err != nil {
		return 0, err
	}
	return rows, nil
}

// acceptRecorded leaves a range to whoever has recorded it in the meantime: the server process of a run that was killed may commit its
// last range after this run has read the records. Its rows stay when the source still shows the same.
func (r *run) acceptRecorded(ctx context.Context, t *table, w *worker, i int) error {
	if _, err := w.dst.exec(ctx, "ROLLBACK"); err != nil {
		return err
	}
	rec, err := loadRecord(ctx, w.dst, t.key)
	if err != nil {
		return err
	}
	rows, err := recordedRows(ctx, w.dst, t.key)
	if err != nil || rec == nil {
		return errors.Join(err, fmt.Errorf("range %d was recorded by another run, whose records are gone", i+1))
	}
	why, err := rangeChanged(ctx, w.src, t, rec, i, rows[i])
	if err != nil || why == "" {
		return err
	}
	return sourceChanged(t, why)
}

// bindText puts values, already in SQL, in the place of $1 to $9. What looks like a parameter inside a value stays.
func bindText(sql string, values ...string) string {
	var bound strings.Builder
	for {
		at := strings.IndexByte(sql, '$')
		if at < 0 || at+1 == len(sql) {
			return bound.String() + sql
		}
		n := int(sql[at+1] - '0')
		if n < 1 || n > len(values) {
			bound.WriteString(sql[:at+1])
			sql = sql[at+1:]
			continue
		}
		bound.WriteString(sql[:at] + values[n-1])
		sql = sql[at+2:]
	}
}

// forgetRecords removes the records of the tables that are complete. It goes on over lost connections for some time.
func (r *run) forgetRecords(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 3*stopGrace)
	defer cancel()
	for _, t := range r.tables {
		if t.report.Err != nil {
			continue
		}
		if err := persist(ctx, func() error { return t.forgetRecord(ctx) }); err != nil {
			return &planner.Error{
				Message: "all rows are in " + t.plan.Target.Relation + ", but the record of their copy could not be removed",
				Hint:    "Run the same command again: it finds nothing left to copy and removes the record.",
				Cause:   err,
			}
		}
	}
	return nil
}

func (t *table) forgetRecord(ctx context.Context) error {
	s, err := t.target.take(ctx, t.encoding)
	if err != nil {
		return err
	}
	key := sqltext.QuoteLiteral(t.key)
	_, err = s.exec(ctx, "BEGIN; DELETE FROM pghaul.done_range WHERE key = "+key+"; DELETE FROM pghaul.move WHERE key = "+key+"; COMMIT")
	if err != nil {
		t.target.drop(s)
		return err
	}
	t.target.give(t.encoding, s)
	return nil
}
