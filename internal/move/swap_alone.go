package move

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/pghaul/pghaul/planner"
)

// The server needs a moment to see that a killed run's session has ended.
const (
	aloneTries = 20
	alonePause = 100 * time.Millisecond
)

// alone keeps other runs from the hidden table, whose name is always the same: a second run begins by dropping it, and makes an empty one that the
// first would then put in the target's place. The lock is that of a transaction, which a pooler leaves with its session; it has no snapshot.
func (t *table) alone(ctx context.Context) (*session, error) {
	s, err := t.target.fresh(ctx, t.encoding)
	if err != nil {
		return nil, err
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte("pghaul swap\x00" + t.plan.Target.Relation)) // a hash takes any bytes
	_, err = s.exec(ctx, beginWrite(t.encoding))
	got := ""
	for try := 0; err == nil && got != "t" && try < aloneTries; try++ {
		if try > 0 {
			err = pauseFor(ctx, alonePause)
		}
		if err == nil {
			got, err = s.value(ctx, fmt.Sprintf("SELECT pg_catalog.pg_try_advisory_xact_lock(%d)", int64(h.Sum64())))
		}
	}
	if err == nil && got != "t" {
		err = &planner.Error{Message: "another copy is just making the new table for " + t.plan.Target.Relation,
			Detail: "Both would use the same hidden table.", Hint: "Wait for its end. A copy that was killed ends once the server has seen that."}
	}
	if err != nil {
		t.target.drop(s)
		return nil, err
	}
	return s, nil
}

// stillAlone proves, before the new table takes the target's place, that it is the one that was filled.
func (t *table) stillAlone(ctx context.Context, s *session) error {
	_, err := s.exec(ctx, "SELECT")
	if err == nil || context.Cause(ctx) != nil {
		return err
	}
	return &planner.Error{Message: "the session that kept other copies from " + t.plan.Target.Relation + " was ended", Hint: "Run the same command again.", Cause: err}
}
