package move

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/internal/rowfile"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// loadState is what pghaul.load keeps of how far a load has come.
type loadState struct {
	Files []fileRecord `json:"files"`
	// Reject and Reasons are the sizes of the reject files.
	Reject   int64 `json:"reject"`
	Reasons  int64 `json:"reasons"`
	Finished bool  `json:"finished,omitempty"`
}

// fileRecord is how far one file was read.
type fileRecord struct {
	Name     string           `json:"name"`
	Identity string           `json:"identity"`
	At       rowfile.Position `json:"at"`
	Whole    bool             `json:"whole,omitempty"`
}

// loadKey names a load in the target's records: the same files, with the same contents, into the same columns of the same table.
func loadKey(l *load, database uint32) string {
	h := sha256.New()
	parts := []string{strconv.FormatUint(uint64(database), 10), l.target, strings.Join(l.wish.Columns, "\x00"), l.rows.Describe()}
	for _, f := range l.files {
		parts = append(parts, f.Identity)
	}
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// findLoad looks for what an interrupted load of the same files has left in the target.
func (t *table) findLoad(ctx context.Context, l *load, facts *planner.LoadFacts) error {
	l.from, l.whole = make([]rowfile.Position, len(l.files)), make([]bool, len(l.files))
	t.key = loadKey(l, facts.TargetServer.DatabaseOID)
	for _, f := range l.files {
		switch {
		case f.Identity != "":
		case l.wish.CommitEvery == 0: // Nothing can have been recorded of it.
			t.key = ""
		default:
			return &planner.Error{Kind: planner.Refused, Message: "--commit-every cannot be used with " + f.Name,
				Detail: "Its rows cannot be read a second time, so that a load which was interrupted could not go on.", Hint: "Write them into a file first, or leave --commit-every out."}
		}
	}
	s, err := t.target.take(ctx, t.encoding)
	if err != nil {
		return err
	}
	if err := l.readRecord(ctx, s, t.key, facts); err != nil {
		t.target.drop(s)
		return err
	}
	t.target.give(t.encoding, s)
	return nil
}

func (l *load) readRecord(ctx context.Context, s *session, key string, facts *planner.LoadFacts) error {
	there, err := s.value(ctx, "SELECT pg_catalog.count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "+
		"WHERE n.nspname = 'pghaul' AND c.relname = 'load' AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_table_privilege(c.oid, 'SELECT')")
	if err != nil || there == "0" {
		return err
	}
	if facts.Unfinished, err = l.otherLoads(ctx, s, key); err != nil {
		return err
	}
	rows, err := s.table(ctx, "SELECT position, rows, refused FROM pghaul.load WHERE key = "+sqltext.QuoteLiteral(key))
	if err != nil || len(rows) == 0 {
		return err
	}
	var rec loadState
	if err := json.Unmarshal([]byte(rows[0][0]), &rec); err != nil || len(rec.Files) != len(l.files) {
		return &planner.Error{Message: "pghaul.load holds a record that cannot be read", Cause: err,
			Hint: "Forget it by DELETE FROM pghaul.load WHERE key = '" + key + "', and see which rows are in the table."}
	}
	l.recorded, l.before = rec, planner.RecordedLoad{Key: key, Position: rows[0][0]}
	if l.before.Rows, err = strconv.ParseInt(rows[0][1], 10, 64); err != nil {
		return err
	}
	if l.before.Refused, err = strconv.ParseInt(rows[0][2], 10, 64); err != nil {
		return err
	}
	facts.Recorded = &l.before
	return nil
}

// otherLoads are the records of loads of other files into the same table.
func (l *load) otherLoads(ctx context.Context, s *session, key string) ([]planner.Unfinished, error) {
	rows, err := s.table(ctx, "SELECT key, files, rows FROM pghaul.load WHERE target = "+sqltext.QuoteLiteral(l.target)+" AND key <> "+sqltext.QuoteLiteral(key)+" ORDER BY started")
	if err != nil {
		return nil, err
	}
	var others []planner.Unfinished
	for _, row := range rows {
		u := planner.Unfinished{Key: row[0], Source: row[1]}
		if u.Rows, err = strconv.ParseInt(row[2], 10, 64); err != nil {
			return nil, err
		}
		others = append(others, u)
	}
	return others, nil
}

// goOn begins where the record says that an interrupted load of the same files has stopped.
func (l *load) goOn() {
	for i, f := range l.recorded.Files {
		l.from[i], l.whole[i] = f.At, f.Whole
	}
	l.finished = l.recorded.Finished
}

// byCommits loads in transactions of CommitEvery rows, each with a record of how far it came.
func (r *run) byCommits(ctx context.Context, t *table, undo *undoLog) error {
	t.stage.set(stageBefore)
	if err := runOwn(ctx, t, t.plan.Before, 1, undo); err != nil {
		return err
	}
	if !t.load.finished {
		ws, err := r.workers(ctx, t, 1)
		if err != nil {
			return err
		}
		t.stage.set(stageRows)
		err = r.commitEach(ctx, t, ws[0])
		r.dismiss(t, ws, err != nil)
		if err != nil {
			return err
		}
	}
	t.committed = true
	if err := r.afterwards(ctx, t, t.plan.After, undo); err != nil {
		return err
	}
	undo.forget()
	return nil
}

// commitEach loads batch after batch.
func (r *run) commitEach(ctx context.Context, t *table, w *worker) error {
	if !t.plan.Resumes {
		if err := r.guardUnrecorded(ctx, t, w); err != nil {
			return err
		}
	}
	progress := t.load.recordFrom()
	checkFirst := false
	for more := true; more; {
		s := newLoader(w)
		s.checkFirst = checkFirst
		if err := r.begin(ctx, t, w); err != nil {
			return err
		}
		rows := int64(0)
		for read := int64(0); more && read < t.load.wish.CommitEvery; {
			var b *loadBatch
			var err error
			if b, more, err = s.gather(ctx, t.load.wish.CommitEvery-read); err != nil {
				return err
			}
			read += progress.pass(b)
			n, err := s.takeOrFail(ctx, b)
			if err != nil {
				return err
			}
			rows += n
		}
		checkFirst = s.checkFirst
		if progress.Finished = !more; progress.Finished {
			if err := t.load.refusals.settle(); err != nil {
				return err
			}
		}
		if err := r.recordAndCommit(ctx, t, w, progress, rows); err != nil {
			return err
		}
		t.addRows(rows)
	}
	return nil
}

// takeOrFail loads a batch: with refused rows set aside, or up to the first one.
func (s *loader) takeOrFail(ctx context.Context, b *loadBatch) (int64, error) {
	if s.plan.Savepoints {
		return s.take(ctx, b)
	}
	for _, p := range b.pieces {
		if len(p.bad) > 0 {
			return 0, s.l.refusedRow(p, p.bad[0])
		}
	}
	if s.plan.Batch != nil {
		n, err := s.insertRows(ctx, b, b.all())
		if err != nil {
			return 0, &sideError{side: "target", err: err}
		}
		return n, nil
	}
	into, err := s.destination(ctx)
	if err != nil {
		return 0, &sideError{side: "target", err: err}
	}
	c := &copying{session: s.w.dst, gauge: s.w.gauge, destination: into}
	sent := &trail{pieces: b.pieces}
	defer sent.forget()
	for _, p := range b.pieces {
		if err := c.write(ctx, p, 0, p.rows); err != nil {
			return 0, s.l.refusedAt(sent, c, err)
		}
	}
	if err := c.finish(); err != nil {
		return 0, s.l.refusedAt(sent, c, err)
	}
	if s.plan.Stage != nil {
		return s.mergeBatch(ctx, b, b.all())
	}
	return c.took, nil
}

// guardUnrecorded looks for rows in a target that must have none, and begins the record.
func (r *run) guardUnrecorded(ctx context.Context, t *table, w *worker) error {
	if err := r.begin(ctx, t, w); err != nil {
		return err
	}
	if err := r.guardEmpty(ctx, t, w.dst); err != nil {
		return err
	}
	_, err := w.dst.exec(ctx, "COMMIT")
	return err
}

// recordFrom is the record at the start of this run.
func (l *load) recordFrom() *loadState {
	rec := &loadState{Files: make([]fileRecord, len(l.files))}
	for i, f := range l.files {
		rec.Files[i] = fileRecord{Name: f.Name, Identity: f.Identity, At: l.from[i], Whole: l.whole[i]}
	}
	return rec
}

// pass notes the pieces of a batch, and returns how many rows were read.
func (rec *loadState) pass(b *loadBatch) (read int64) {
	for _, p := range b.pieces {
		rec.Files[p.block.File].At = p.block.Next
		read += p.read
	}
	return read
}

// recordAndCommit commits rows with the record of them. The reject files are safe on disk before.
func (r *run) recordAndCommit(ctx context.Context, t *table, w *worker, rec *loadState, rows int64) error {
	l := t.load
	if rec.Finished {
		for i := range rec.Files {
			rec.Files[i].Whole = true
		}
	}
	var err error
	if rec.Reject, rec.Reasons, err = l.refusals.sync(); err != nil {
		return err
	}
	text, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	q := sqltext.QuoteLiteral
	last := "NULL"
	if l.before.Position != "" {
		last = q(l.before.Position)
	}
	sql := bindText(l.plan.Record, q(t.key), q(string(text)), strconv.FormatInt(l.before.Rows+t.rows.Load()+rows, 10), strconv.FormatInt(l.refusals.before+l.refusals.count, 10), last)
	tag, err := w.dst.exec(ctx, sql)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 { // The rows of both runs would be in the table.
		return &planner.Error{Message: "another run of the same load has committed rows into " + l.target, Detail: "Its record in pghaul.load has changed since this run has read it.",
			Hint: "Let the other one end. The same command then goes on behind its rows."}
	}
	if err := commit(ctx, t, w.dst); err != nil {
		return err
	}
	l.before.Position = string(text)
	return nil
}

// kept says what of a load that has failed between two commits stands in the target, with the rows of this run.
func (l *load) kept(rows int64) string {
	if rows += l.before.Rows; rows == 0 {
		return keptNothing
	}
	return strconv.FormatInt(rows, 10) + " rows are in the target; running the same command again goes on behind them"
}
