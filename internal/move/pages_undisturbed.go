package move

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/pghaul/pghaul/internal/datadir"
	"github.com/pghaul/pghaul/internal/heap"
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

// stillUnseen looks again, before rows that are in no WAL are committed, for those who would miss them: a base backup may have begun meanwhile.
func (t *table) stillUnseen(ctx context.Context) error {
	f := &planner.PageFacts{}
	if err := t.askUnseen(ctx, f); err != nil {
		return &sideError{side: "target", err: err}
	}
	if len(f.Unseen) == 0 {
		return nil
	}
	return &planner.Error{Kind: planner.Refused, Message: "the rows of " + t.plan.Target.Relation + " would be missing where only the WAL arrives", Detail: "Since the copy began, " + strings.Join(f.Unseen, ", and ") + ".",
		Hint: "Leave --not-logged out, or take that by --accept-missing-on-standbys."}
}

// complete proves that no long value lacks a part, where no server vouches for that. Sums that are not the same may come of chunks that belong to
// no row, as CLUSTER and dropped columns leave them, so each value is looked at then.
func (c *pageCopy) complete(ctx context.Context, want, have heap.ChunkSum) error {
	if c.src != nil || want == have {
		return nil
	}
	found := &planner.Error{}
	first, stop := context.WithCancel(ctx)
	defer stop()
	_, err := c.from.db.Check(first, c.from.main, &datadir.CheckOptions{Jobs: c.table.plan.Pages.Jobs, Fault: func(block uint32, line int, reason string) {
		if found.Message == "" {
			found.Message = fmt.Sprintf("block %d of %s cannot be copied", block, c.from.db.Path(c.from.main.Tablespace, c.from.main.File))
			found.Detail = fmt.Sprintf("Line %d: %s.", line, reason)
			found.Hint = "Leave --method pages out, and give --skip-damaged to leave out such rows. pghaul heap check names all of them."
		}
		stop()
	}})
	if found.Message != "" {
		return found
	}
	return err
}

// ofFile tells an error of the file system as what it is, and not as that of a connection.
func ofFile(err error) error {
	var file *fs.PathError
	var told *planner.Error
	if !errors.As(err, &file) || errors.As(err, &told) {
		return err
	}
	e := &planner.Error{Message: "cannot " + file.Op + " " + file.Path, Cause: file.Err}
	switch {
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		e.Hint = "Make room there: the new table needs as much as its source."
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS):
		e.Hint = "Run pghaul as root or as the server's user, where it may write the server's files."
	}
	return e
}

// takeAway removes what was written for a transaction that cannot be committed any more: its session has ended before COMMIT was sent.
func (c *pageCopy) takeAway() {
	for i := range c.written {
		// The server removes them too, unless it has crashed or has done so before. Nothing refers to them.
		_ = c.written[i].remove()
	}
	c.written = nil
}
