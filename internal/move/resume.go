package move

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// record is what pghaul.move keeps of an unfinished move: how the source was cut, and enough to tell whether the source is still what it
// was when the first ranges were read.
type record struct {
	Ranges []planner.Range `json:"ranges"`
	Files  []string        `json:"files"` // pg_relation_filenode of each part: CLUSTER and VACUUM FULL give all rows new places
	// Running are the transactions and subtransactions that were on the way just before the snapshot, as 32-bit numbers with commas between;
	// Listed is the first transaction that may have begun after they were listed, empty on a standby.
	Running string `json:"running"`
	Listed  string `json:"listed"`
	// Where and Columns are for people, and for another move to tell in what it differs.
	Where    string   `json:"where,omitempty"`
	Columns  []string `json:"columns,omitempty"`
	snapshot string
}

// moveKey names a move in the target's records: the same source, target, columns and condition give the same key.
func moveKey(t *table, wish planner.Wish) string {
	h := sha256.New()
	s := t.facts.SourceServer
	for _, part := range []string{
		s.SystemID, strconv.FormatUint(uint64(s.DatabaseOID), 10), t.facts.Source.Schema, t.facts.Source.Name, t.facts.Source.Query,
		t.facts.Target.Schema, t.facts.Target.Name, wish.Where, strings.Join(wish.Columns, "\x00"),
	} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// findRecords looks for what interrupted runs have left in the target: this move's, and those of others.
func (t *table) findRecords(ctx context.Context, wish planner.Wish) error {
	t.key = moveKey(t, wish)
	s, err := t.target.take(ctx, t.encoding)
	if err != nil {
		return err
	}
	if err := t.readRecords(ctx, s); err != nil {
		t.target.drop(s)
		return err
	}
	t.target.give(t.encoding, s)
	return nil
}

func (t *table) readRecords(ctx context.Context, s *session) error {
	there, err := s.value(ctx, "SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "+
		"WHERE n.nspname = 'pghaul' AND c.relname IN ('move', 'done_range') "+
		"AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_table_privilege(c.oid, 'SELECT')")
	if err != nil || there != "2" {
		return err
	}
	if t.facts.Recorded, err = readRecord(ctx, s, t.key); err != nil {
		return err
	}
	t.facts.Unfinished, err = otherRecords(ctx, s, t.key, sqltext.QuoteQualified(t.facts.Target.Schema, t.facts.Target.Name))
	return err
}

// readRecord returns what the target knows of an unfinished move of that key, nil when there is none.
func readRecord(ctx context.Context, s *session, key string) (*planner.Recorded, error) {
	rec, err := loadRecord(ctx, s, key)
	if err != nil || rec == nil {
		return nil, err
	}
	recorded := &planner.Recorded{Ranges: rec.Ranges, Done: make([]bool, len(rec.Ranges)), Key: key}
	rows, err := recordedRows(ctx, s, key)
	if err != nil {
		return nil, err
	}
	for i, n := range rows {
		if i < 0 || i >= len(recorded.Done) {
			return nil, fmt.Errorf("pghaul.done_range holds range %d of a move that has %d", i, len(recorded.Done))
		}
		recorded.Done[i] = true
		recorded.Rows += n
	}
	return recorded, nil
}

// otherRecords returns the unfinished moves into the same target that have another key.
func otherRecords(ctx context.Context, s *session, key, target string) ([]planner.Unfinished, error) {
	rows, err := s.table(ctx, "SELECT m.key, m.source, m.ranges, (SELECT COALESCE(pg_catalog.sum(d.rows), 0) FROM pghaul.done_range AS d WHERE d.key = m.key) "+
		"FROM pghaul.move AS m WHERE m.target = "+sqltext.QuoteLiteral(target)+" AND m.key <> "+sqltext.QuoteLiteral(key)+" ORDER BY m.started")
	if err != nil {
		return nil, err
	}
	var others []planner.Unfinished
	for _, row := range rows {
		var rec record
		if err := json.Unmarshal([]byte(row[2]), &rec); err != nil {
			return nil, fmt.Errorf("read pghaul.move: %w", err)
		}
		u := planner.Unfinished{Key: row[0], Source: row[1], Where: rec.Where, Columns: rec.Columns}
		if u.Rows, err = strconv.ParseInt(row[3], 10, 64); err != nil {
			return nil, err
		}
		others = append(others, u)
	}
	return others, nil
}

func loadRecord(ctx context.Context, s *session, key string) (*record, error) {
	rows, err := s.table(ctx, "SELECT ranges, snapshot FROM pghaul.move WHERE key = "+sqltext.QuoteLiteral(key))
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	rec := &record{snapshot: rows[0][1]}
	if err := json.Unmarshal([]byte(rows[0][0]), rec); err != nil {
		return nil, fmt.Errorf("read pghaul.move: %w", err)
	}
	return rec, nil
}

// writeRecord notes the move before its first range.
func writeRecord(ctx context.Context, s *session, t *table, snap *snapshot, files []string, wish planner.Wish) error {
	cut, err := json.Marshal(record{Ranges: t.plan.Ranges, Files: files, Running: snap.running, Listed: snap.listed, Where: wish.Where, Columns: wish.Columns})
	if err != nil {
		return err
	}
	q := sqltext.QuoteLiteral
	_, err = s.exec(ctx, "INSERT INTO pghaul.move (key, source, target, snapshot, ranges, started) VALUES ("+
		strings.Join([]string{q(t.key), q(t.plan.Source.Server + " " + t.plan.Source.Relation), q(t.plan.Target.Relation), q(snap.text), q(string(cut))}, ", ")+
		", pg_catalog.now())")
	return err
}

// partFiles returns the file node of each part of the source.
func partFiles(ctx context.Context, s *session, p *planner.Plan) ([]string, error) {
	files := make([]string, len(p.Parts))
	for i, part := range p.Parts {
		if part.SourceOID == 0 {
			continue
		}
		var err error
		if files[i], err = s.value(ctx, fmt.Sprintf("SELECT pg_catalog.pg_relation_filenode(%d)", part.SourceOID)); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// changedSince returns why the source is no longer what it was when the recorded ranges were read, "" when it is. Rows that have come
// into ranges not yet read do no harm: those are read now. A row version that the first run's snapshot did not show, in a range that is
// done, would be missed; a row that has gone from there would stay in the target, or come a second time from where it went.
func changedSince(ctx context.Context, s *session, t *table, rec *record, rows map[int]int64) (string, error) {
	files, err := partFiles(ctx, s, t.plan)
	if err != nil {
		return "", err
	}
	for i, file := range files {
		if i < len(rec.Files) && rec.Files[i] != file {
			return t.plan.Parts[i].Source + " was rewritten (VACUUM FULL, CLUSTER, TRUNCATE or ALTER TABLE)", nil
		}
	}
	for i, done := range t.facts.Recorded.Done {
		if !done {
			continue
		}
		if why, err := rangeChanged(ctx, s, t, rec, i, rows[i]); err != nil || why != "" {
			return why, err
		}
	}
	return "", nil
}

// rangeChanged is changedSince for one range, from which the given number of rows was moved.
func rangeChanged(ctx context.Context, s *session, t *table, rec *record, i int, rows int64) (string, error) {
	counts, err := s.table(ctx, t.plan.CountSQL(t.plan.Ranges[i], rec.notShownBy()))
	if err != nil {
		return "", err
	}
	if counts[0][1] != "0" {
		return fmt.Sprintf("range %d, which was copied before, has %s new or changed rows", i+1, counts[0][1]), nil
	}
	if n := strconv.FormatInt(rows, 10); counts[0][0] != n && !dropsRows(t.facts.Target) {
		return fmt.Sprintf("range %d, from which %s rows were copied before, now has %s", i+1, n, counts[0][0]), nil
	}
	return "", nil
}

// notShownBy is the SQL condition for a row version that the first run's snapshot did not show because it did not exist. The 32-bit xmin is
// given the epoch that makes it older than the current snapshot; a frozen row keeps its xmin (HEAP_XMIN_FROZEN, htup_details.h).
//
// A snapshot's own list has no subtransactions (pg_snapshot), and on a standby no transactions at all. So those that were on the way are
// recorded besides, and what began while they were listed is suspect; of a standby's rows all that its oldest transaction can have made.
func (rec *record) notShownBy() string {
	const next = "pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())::text::bigint"
	full := "(" + next + " - 1 - pg_catalog.mod(pg_catalog.mod(" + next + " - 1 - xmin::text::bigint, 4294967296) + 4294967296, 4294967296))"
	snapshot := sqltext.QuoteLiteral(rec.snapshot) + "::pg_catalog.pg_snapshot"
	if rec.Listed == "" {
		return full + " >= pg_catalog.pg_snapshot_xmin(" + snapshot + ")::text::bigint"
	}
	return "(" + full + " >= 3 AND (NOT pg_catalog.pg_visible_in_snapshot(" + full + "::text::xid8, " + snapshot + ") OR " +
		full + " >= " + sqltext.QuoteLiteral(rec.Listed) + "::bigint OR xmin::text = ANY (pg_catalog.string_to_array(" + sqltext.QuoteLiteral(rec.Running) + ", ','))))"
}

// dropsRows reports whether the target may take fewer rows than it is sent.
func dropsRows(r planner.Relation) bool {
	for _, trigger := range r.Triggers {
		if trigger.Row && trigger.Before {
			return true
		}
	}
	return false
}
