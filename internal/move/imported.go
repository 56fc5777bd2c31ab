package move

import (
	"context"
	"fmt"
	"strconv"

	"github.com/pghaul/pghaul/planner"
)

// keepsImported is, for each major version, the first minor in which a concurrent VACUUM cannot take rows from under an imported snapshot
// (the releases of August 2026). Versions that are not listed keep them.
var keepsImported = map[int]int{14: 24, 15: 19, 16: 15, 17: 11, 18: 5}

// mayLoseImported reports whether a server of that server_version_num may show fewer rows to the sessions that import a snapshot than to
// the one that took it.
func mayLoseImported(version int) bool {
	first, listed := keepsImported[version/10000]
	return listed && version%10000 < first
}

// checkImported compares the rows of a whole table that were moved with those that the snapshot shows. It must come before the commit.
func (r *run) checkImported(ctx context.Context, t *table) error {
	ranges := make([]planner.Range, len(t.plan.Parts))
	for i := range ranges {
		ranges[i].Part = i
	}
	return r.checkImportedRanges(ctx, t, ranges, t.rows.Load())
}

// checkImportedRanges counts rows in the session that took the snapshot, where some could have been lost to those that imported it, and
// compares with what was moved.
func (r *run) checkImportedRanges(ctx context.Context, t *table, ranges []planner.Range, moved int64) error {
	if d := t.source.directory; d != nil {
		return d.quiet()
	}
	snap := r.snapshots[t.source]
	if t.load != nil {
		return nil
	}
	if snap.id == "" || snap.holder == nil || !mayLoseImported(t.source.server.Version) || dropsRows(t.facts.Target) || inServer(t.plan.Method) {
		return nil
	}
	r.holding.Lock() // The holder is one session, and several workers may be at this point.
	defer r.holding.Unlock()
	var want int64
	for _, each := range ranges {
		counts, err := snap.holder.table(ctx, t.plan.CountSQL(each, "false"))
		if err != nil {
			return &sideError{side: "source", err: err}
		}
		n, err := strconv.ParseInt(counts[0][0], 10, 64)
		if err != nil {
			return err
		}
		want += n
	}
	if moved == want {
		return nil
	}
	return &planner.Error{
		Message: "the source lost rows of " + t.name() + " while they were read",
		Detail:  fmt.Sprintf("The snapshot shows %d rows, %d came over the connections that imported it.", want, moved),
		Hint:    "This minor version of PostgreSQL lets VACUUM remove rows that an imported snapshot needs. Update the server, or use --jobs 1.",
	}
}
