package move

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/datadir"
	"github.com/pghaul/pghaul/planner"
)

// noDirectoryHash refuses a comparison that only two servers could make.
func noDirectoryHash() error {
	return &planner.Error{Kind: planner.Refused, Message: "--verify hash cannot be used on a data directory",
		Detail: "Rows are hashed by the servers that hold them, and none runs on the source.", Hint: "Use --verify count."}
}

// compareDirectoryVisible compares after the commit.
func (r *run) compareDirectoryVisible(ctx context.Context, t *table) error {
	dst, err := t.target.take(ctx, t.encoding)
	if err != nil {
		return err
	}
	if err := r.compareDirectory(ctx, t, dst); err != nil {
		t.target.drop(dst)
		return err
	}
	t.target.give(t.encoding, dst)
	return nil
}

// compareDirectory compares the number of rows that were decoded with the number that stand in the target.
func (r *run) compareDirectory(ctx context.Context, t *table, dst *session) error {
	began := time.Now()
	only := ""
	if kind := t.facts.Target.Kind; kind == planner.Table || kind == planner.Missing {
		only = "ONLY "
	}
	text, err := dst.value(ctx, "SELECT pg_catalog.count(*) FROM "+only+t.plan.Target.Relation)
	if err != nil {
		return fmt.Errorf("verify: %w", &sideError{side: "target", err: err})
	}
	c := &Comparison{Level: VerifyCount, Source: t.plan.Source.Relation, Target: t.plan.Target.Relation, Ranges: 1, SourceRows: t.files.rows.Load()}
	if c.TargetRows, err = strconv.ParseInt(text, 10, 64); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if c.SourceRows != c.TargetRows {
		c.Different = []Difference{{Range: "all rows", SourceRows: c.SourceRows, TargetRows: c.TargetRows}}
	}
	if d := t.files.found(); d != nil {
		c.Notes = append(c.Notes, "Of the source "+d.String()+" were left out.")
	}
	c.Duration = time.Since(began)
	t.report.Verified = c
	if c.Equal() {
		return nil
	}
	return &planner.Error{
		Message: t.plan.Source.Relation + " and " + t.plan.Target.Relation + " differ",
		Detail:  fmt.Sprintf("%d rows were decoded, the target has %d.", c.SourceRows, c.TargetRows),
		Hint:    "Triggers, rules, or writers on the target change what it holds.",
	}
}

// onlyServers refuses data directories where both sides are asked to hash their rows.
func onlyServers(addresses ...string) error {
	for _, address := range addresses {
		if strings.HasPrefix(address, datadir.Scheme) {
			return &planner.Error{Kind: planner.Usage, Message: "a data directory cannot be compared with a table",
				Detail: "Both sides are compared by the servers that hold them.", Hint: "Use copy with --verify count, which counts the rows on their way."}
		}
	}
	return nil
}
