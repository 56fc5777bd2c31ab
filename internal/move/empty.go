package move

import (
	"context"
	"fmt"

	"github.com/pghaul/pghaul/planner"
)

// guardEmpty looks once more, inside the writing transaction, for rows in a target that must have none: those that somebody added, or
// that settling an earlier run has brought to light.
func (r *run) guardEmpty(ctx context.Context, t *table, s *session) error {
	if !t.expectsEmpty(r.wish) {
		return nil
	}
	// A server process goes on with a COMMIT, for as long as a standby lets it wait, when the program that sent it was killed. Its rows are
	// not to be seen yet, but it holds this lock until they are.
	if _, err := s.exec(ctx, fmt.Sprintf("SELECT pg_catalog.pg_advisory_xact_lock(%d)", fillLock(t.facts.Target.OID))); err != nil {
		return err
	}
	// Where row security applies, a look is an error: the sessions have it off so that it never hides rows silently.
	if !t.facts.Target.CanSelect || t.facts.Target.RowSecurity {
		return nil
	}
	found, err := r.holdsRows(ctx, t, s)
	if err != nil {
		return err
	}
	if found == "t" {
		return &planner.Error{
			Message: "target " + t.plan.Target.Relation + " is not empty",
			Detail:  r.whyFilled(),
			Hint:    "Use --append to add to its rows, --truncate to remove them first, or --replace to put a new table in its place.",
		}
	}
	return nil
}

// fillLock is the advisory lock of runs that fill an empty relation: "pghl" and its OID.
func fillLock(oid uint32) int64 { return 0x7067686c<<32 | int64(oid) }

// holdsRows looks for a row with a snapshot that is newer than the lock: a transaction that reads inside the server has an older one.
func (r *run) holdsRows(ctx context.Context, t *table, s *session) (string, error) {
	only := "ONLY "
	if t.facts.Target.Kind != planner.Table {
		only = ""
	}
	look := "SELECT EXISTS (SELECT FROM " + only + t.plan.Target.Relation + ")"
	if !inServer(t.plan.Method) {
		return s.value(ctx, look)
	}
	other, err := t.target.take(ctx, t.encoding)
	if err != nil {
		return "", err
	}
	found, err := other.value(ctx, look)
	if err != nil {
		t.target.drop(other)
		return "", err
	}
	t.target.give(t.encoding, other)
	return found, nil
}

// whyFilled tells rows that somebody else has added from those of an earlier run.
func (r *run) whyFilled() string {
	if r.settled {
		return "It was empty when the copy was planned. Since then the rows of an earlier run, which had been left prepared, were committed."
	}
	return "It was empty when the copy was planned."
}
