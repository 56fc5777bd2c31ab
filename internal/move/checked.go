package move

import (
	"context"
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// verifiable refuses a comparison that could only find a difference: rows that were in the target before have nothing to be compared with.
func verifiable(t *table, request Request) error {
	if t.source.directory != nil && request.Verify == VerifyHash {
		return noDirectoryHash()
	}
	adds := request.Wish.Fill == planner.Append || request.Wish.OnConflict != planner.NoConflictAction
	if request.Verify == NoVerify || !adds || t.facts.Target.Kind == planner.Missing || t.facts.Target.Empty {
		return nil
	}
	return &planner.Error{
		Kind:    planner.Refused,
		Message: "--verify cannot be used when rows are added to those of " + t.plan.Target.Relation,
		Detail:  "It compares whole tables, and the target holds rows already.",
		Hint:    "Leave --verify out. The server's count of the rows that it took is in the report.",
	}
}

// compareOpen compares before the commit: the target side is the worker's own transaction, which sees its rows.
func (r *run) compareOpen(ctx context.Context, t *table, w *worker) error {
	t.stage.set(stageVerify)
	if w.files != nil {
		return r.compareDirectory(ctx, t, w.dst)
	}
	return r.compare(ctx, t, []*session{w.src}, []*session{w.dst})
}

// compareVisible compares after the commit.
func (r *run) compareVisible(ctx context.Context, t *table) error {
	if t.source.directory != nil {
		return r.compareDirectoryVisible(ctx, t)
	}
	snap := r.snapshots[t.source]
	src, err := snap.reader(ctx)
	if err != nil {
		return err
	}
	dst, err := t.target.take(ctx, t.encoding)
	if err != nil {
		snap.release(src, true)
		return err
	}
	if _, err = dst.exec(ctx, beginRead(t.encoding, "", pathFor("", r.wish.Where))); err == nil {
		err = r.compare(ctx, t, []*session{src}, []*session{dst})
	}
	snap.release(src, err != nil)
	t.target.drop(dst)
	return err
}

// compare runs the comparison and makes an error of a difference.
func (r *run) compare(ctx context.Context, t *table, src, dst []*session) error {
	relation, err := t.targetNow(ctx, dst[0])
	if err != nil {
		return err
	}
	return r.compareWith(ctx, t, src, dst, relation)
}

// compareWith compares with the relation that holds the rows.
func (r *run) compareWith(ctx context.Context, t *table, src, dst []*session, relation planner.Relation) error {
	from := r.sourceSide(t, src)
	to := side{sessions: dst, relation: relation}
	for _, pair := range t.plan.Columns {
		to.columns = append(to.columns, pair.Target)
	}
	c, err := compareSides(ctx, from, to, r.verify)
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	t.report.Verified = c
	if c.Equal() {
		return nil
	}
	return &planner.Error{
		Message: t.plan.Source.Relation + " and " + t.plan.Target.Relation + " differ",
		Detail: fmt.Sprintf("The source has %d rows, the target %d; %d of %d ranges differ: %s.",
			c.SourceRows, c.TargetRows, len(c.Different), c.Ranges, firstRanges(c)),
		Hint: "Triggers, rules, or writers on the target change what it holds. Compare again with pghaul verify.",
	}
}

// sourceSide is the source as it was read. A condition may speak of a foreign table's names, which the real relation lacks: then the
// sub-selects that give it those names are compared.
func (r *run) sourceSide(t *table, sessions []*session) side {
	from := side{sessions: sessions, relation: t.facts.Source, where: r.wish.Where}
	var names, parts []string
	for _, pair := range t.plan.Columns {
		from.columns = append(from.columns, pair.Source)
		names = append(names, pair.Source.Name)
	}
	for _, part := range t.plan.Parts {
		if part.Renamed {
			parts = append(parts, "SELECT "+sqltext.QuoteIdents(names)+" FROM "+part.Source+" WHERE ("+r.wish.Where+"\n)")
		}
	}
	if len(parts) == 0 {
		return from
	}
	from.relation = planner.Relation{Kind: planner.Query, Query: strings.Join(parts, " UNION ALL ")}
	from.where = ""
	for i := range from.columns {
		from.columns[i].Remote = ""
	}
	return from
}

// firstRanges names a few of the ranges that differ.
func firstRanges(c *Comparison) string {
	var texts []string
	for _, d := range c.Different {
		if len(texts) == 3 {
			texts = append(texts, "...")
			break
		}
		texts = append(texts, d.Range)
	}
	return strings.Join(texts, ", ")
}

// targetNow is the target relation as it stands after the rows have come. One that this run has made is described by its source.
func (t *table) targetNow(ctx context.Context, s *session) (planner.Relation, error) {
	rel := t.facts.Target
	if rel.Kind == planner.Missing {
		schema, name := rel.Schema, rel.Name
		rel = t.facts.Source
		rel.Schema, rel.Name, rel.Path = schema, name, nil
		if rel.Kind != planner.Partitioned {
			rel.Kind, rel.AccessMethod = planner.Table, "heap"
		}
	}
	// Both the OID and the size may have changed: a new table can have been put in the old one's place.
	rows, err := s.table(ctx, fmt.Sprintf("SELECT c.oid, pg_catalog.pg_relation_size(c.oid) / pg_catalog.current_setting('block_size')::int "+
		"FROM pg_catalog.pg_class c WHERE c.oid = '%s'::pg_catalog.regclass", strings.ReplaceAll(t.plan.Target.Relation, "'", "''")))
	if err != nil {
		return rel, err
	}
	var oid uint32
	if _, err := fmt.Sscan(rows[0][0]+" "+rows[0][1], &oid, &rel.Pages); err != nil {
		return rel, err
	}
	rel.OID = oid
	return rel, nil
}
