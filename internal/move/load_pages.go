package move

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/pghaul/pghaul/internal/heap"
	"github.com/pghaul/pghaul/planner"
)

// rowPages fills the hidden new table of a load with pages that are made of its rows.
type rowPages struct {
	table    *table
	load     *load
	copy     *pageCopy // the target's side of it
	form     heap.Form
	typesFor []*heap.Datatype // of the load's columns
	reserve  int              // bytes of each page that stay free (fillfactor)
	jobs     int

	main, toast            *pageTarget // toast is nil where the table has no such relation
	mainBlocks, longBlocks *blockOrder
	taking                 sync.Mutex // over turn and the feed
	turn                   int
	value                  atomic.Uint32 // of the TOAST relation, the last that was given out
	chunks                 atomic.Int64
	rows                   atomic.Int64
	reader                 *serverReader
	places                 *rowPlaces // nil where no row will be looked for
}

// firstValue is the first number of a value in the TOAST relation: those below are the server's own (FirstNormalObjectId of access/transam.h).
const firstValue = planner.FirstNormalOID

// fillFromRows makes the pages, and commits the hidden table under its name. Nothing has to be held until the end.
func (r *run) fillFromRows(ctx context.Context, t *table) (release func(), err error) {
	release = func() {}
	w := &rowPages{table: t, load: t.load, copy: &pageCopy{table: t}, jobs: t.plan.Pages.Jobs}
	if w.jobs < 1 {
		w.jobs = runtime.GOMAXPROCS(0)
	}
	w.jobs = min(w.jobs, pageJobs)
	w.reader = &serverReader{table: t, load: t.load}
	defer w.reader.close()
	t.stage.set(stageRows)
	err = w.fill(ctx)
	if err == nil && r.wish.NotLogged && !r.wish.AcceptMissing {
		err = t.stillUnseen(ctx)
	}
	if err != nil {
		w.copy.dropTarget()
		w.copy.takeAway()
		return release, err
	}
	t.stage.set(stageCommit)
	err = commit(ctx, t, w.copy.dst)
	// This session has looked at files which it knew to be empty; another one begins afresh.
	w.copy.dropTarget()
	if err != nil {
		return release, &sideError{side: "target", err: err}
	}
	if err := w.weed(ctx); err != nil {
		return release, err
	}
	t.load.pages = w
	return release, w.copy.log(ctx)
}

// fill writes the pages within the target's open transaction.
func (w *rowPages) fill(ctx context.Context) (err error) {
	t, c := w.table, w.copy
	if c.dst, err = t.target.take(ctx, t.encoding); err != nil {
		return &sideError{side: "target", err: err}
	}
	if err := c.emptyFiles(ctx); err != nil {
		return &sideError{side: "target", err: err}
	}
	if err := w.describe(ctx); err != nil {
		return err
	}
	rules, err := w.rules(ctx, c.dst)
	if err != nil {
		return &sideError{side: "target", err: err}
	}
	if len(rules) > 0 || w.setsAside() {
		w.places = &rowPlaces{}
	}
	if err := w.write(ctx); err != nil {
		return err
	}
	if w.chunks.Load() > 0 {
		t.stage.set(stageIndexes)
		if _, err := c.dst.exec(ctx, "REINDEX TABLE "+t.plan.Parts[0].Target); err != nil {
			return &sideError{side: "target", err: err}
		}
	}
	t.addRows(w.rows.Load())
	if w.load.setAside() {
		return nil
	}
	return w.check(ctx, rules)
}

// setsAside reports whether rows may be taken out again.
func (w *rowPages) setsAside() bool {
	return w.load.setAside() || w.load.plan.OnDuplicate != planner.DuplicateError
}

// write opens the files, fills them and puts them on disk. On an error they are as they were found.
func (w *rowPages) write(ctx context.Context) (err error) {
	if w.main, err = openPageTarget(w.file(w.copy.to.main), ""); err != nil {
		return ofFile(err)
	}
	targets := []*pageTarget{w.main}
	if w.copy.to.toast != "" {
		if w.toast, err = openPageTarget(w.file(w.copy.to.toast), ""); err != nil {
			return errors.Join(ofFile(err), w.main.abandon())
		}
		targets = append(targets, w.toast)
	}
	w.mainBlocks, w.longBlocks = newBlockOrder(), newBlockOrder()
	w.value.Store(firstValue - 1)
	if err = w.carry(ctx); err == nil {
		err = w.complete(ctx)
	}
	for _, target := range targets {
		if err != nil {
			err = errors.Join(err, target.abandon())
			continue
		}
		w.copy.written = append(w.copy.written, target.left())
		err = target.close()
	}
	return ofFile(err)
}

func (w *rowPages) file(path string) pageFile {
	to := &w.copy.to
	return pageFile{Path: filepath.Join(to.directory, path), SegmentBlocks: uint32(to.segment), BlockSize: to.blockSize}
}

// carry has all rows formed and written.
func (w *rowPages) carry(ctx context.Context) error {
	group, within := errgroup.WithContext(ctx)
	unhook := context.AfterFunc(within, w.mainBlocks.stop)
	defer unhook()
	for range w.jobs {
		group.Go(func() error { return w.writer().run(within) })
	}
	err := group.Wait()
	if errors.Is(err, errTurn) && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err
}

// complete adds the visibility maps and puts all on disk.
func (w *rowPages) complete(ctx context.Context) error {
	for _, part := range []struct {
		target *pageTarget
		blocks *blockOrder
	}{{w.main, w.mainBlocks}, {w.toast, w.longBlocks}} {
		if part.target == nil {
			continue
		}
		if !w.table.plan.Pages.Logged {
			if err := part.target.writeMap(part.blocks.blocks, w.copy.to.checksums); err != nil {
				return err
			}
		}
		if err := part.target.finish(ctx, w.jobs); err != nil {
			return err
		}
	}
	return nil
}

// pageGroup is how many bytes of rows are made into pages together. The last page of each group stays open, so that one of about 130 pages is half
// empty.
const pageGroup = 1 << 20

// next takes the pieces that are to be made into pages together, and their place in the order; none behind the last.
func (w *rowPages) next(ctx context.Context) (pieces []*piece, turn int, err error) {
	w.taking.Lock()
	defer w.taking.Unlock()
	for bytes := 0; bytes < pageGroup; {
		p, err := w.load.feed.Load().next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return pieces, 0, err
		}
		pieces = append(pieces, p)
		bytes += len(p.data) + len(p.block.Data)/4
	}
	turn = w.turn
	w.turn++
	return pieces, turn, nil
}
