package move

import (
	"context"

	"github.com/pghaul/pghaul/planner"
)

// undisturbed proves, once the pages were read, that nobody could change the source meanwhile: the session that locked it is still in the same
// transaction, and on a data directory no server has begun to run. Somebody may have ended the session, or the server all of them when one
// crashed, and then a row that was updated is in the pages twice or not at all.
func (c *pageCopy) undisturbed(ctx context.Context) error {
	if d := c.table.source.directory; d != nil {
		return d.quiet()
	}
	_, err := c.src.exec(ctx, "SELECT")
	if err == nil || context.Cause(ctx) != nil {
		return err
	}
	return &planner.Error{Message: "the lock on " + c.table.plan.Source.Relation + " was lost while its pages were read", Detail: "What others changed since then may be in some pages and not in others.",
		Hint: "Run the same command again.", Cause: err}
}

// takeAway removes what was written for a transaction that cannot be committed any more: its session has ended before COMMIT was sent.
func (c *pageCopy) takeAway() {
	for i := range c.written {
		// The server removes them too, unless it has crashed or has done so before. Nothing refers to them.
		_ = c.written[i].remove()
	}
	c.written = nil
}
