package move

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/pghaul/pghaul/internal/datadir"
	"github.com/pghaul/pghaul/internal/heap"
	"github.com/pghaul/pghaul/planner"
)

// pageCopy fills the hidden new table of one plan with the pages of its source.
type pageCopy struct {
	table    *table
	src, dst *session // src holds the lock on the source; nil where that is a data directory
	from     pageOrigin
	to       pageDestination
	written  []pageFiles
}

// pageOrigin is the source as its directory's own catalogs describe it once it is locked and on disk.
type pageOrigin struct {
	dir   *datadir.Directory
	db    *datadir.Database
	main  *datadir.Table
	tx    heap.Transactions
	quiet heap.LSN
}

// pageDestination are the files that the server has made in the running transaction.
type pageDestination struct {
	xid                uint32
	main, toast        string // below directory; toast is empty where the table has none
	lz4                bool   // the server can read values that it has compressed
	toastOID           uint32
	directory          string
	blockSize, segment int
	checksums          bool
}

// fillPages copies the pages into the hidden table, commits it under that name and has it logged. What it returns ends the lock on the source
// where an error has left it.
func (r *run) fillPages(ctx context.Context, t *table) (release func(), err error) {
	c := &pageCopy{table: t}
	release = c.release
	t.stage.set(stageRows)
	if err := c.still(ctx); err != nil {
		return release, &sideError{side: "source", err: err}
	}
	err = c.fill(ctx)
	if err == nil && r.wish.NotLogged && !r.wish.AcceptMissing {
		err = t.stillUnseen(ctx)
	}
	if err != nil {
		c.dropTarget()
		c.takeAway()
		return release, err
	}
	t.stage.set(stageCommit)
	err = commit(ctx, t, c.dst)
	// This session has looked at files which it knew to be empty; another one begins afresh.
	c.dropTarget()
	if err != nil {
		return release, &sideError{side: "target", err: err}
	}
	if r.verify != NoVerify && c.src != nil {
		if err := r.comparePages(ctx, t); err != nil {
			return release, err
		}
	}
	c.release()
	if err := c.log(ctx); err != nil || r.verify == NoVerify {
		return release, err
	}
	return release, t.checkHeap(ctx)
}

// still locks the source against changes, puts it on disk and finds its files.
func (c *pageCopy) still(ctx context.Context) (err error) {
	t, p := c.table, c.table.plan.Pages
	if d := t.source.directory; d != nil {
		return c.originOf(d.dir, d.db, 0)
	}
	if c.src, err = t.source.take(ctx, t.encoding); err != nil {
		return err
	}
	for _, sql := range []string{beginWrite(t.encoding), p.Lock, p.Checkpoint} {
		if _, err := c.src.exec(ctx, sql); err != nil {
			return err
		}
	}
	rows, err := c.src.table(ctx, `SELECT pg_catalog.pg_current_wal_insert_lsn(), pg_catalog.current_setting('data_directory'), pg_catalog.current_database(),
pg_catalog.pg_relation_filepath(`+oidText(t.facts.Source.OID)+`), (SELECT checkpoint_lsn FROM pg_catalog.pg_control_checkpoint())`)
	if err != nil {
		return err
	}
	found := rows[0]
	quiet, ok := parseLSN(found[0])
	written, ok2 := parseLSN(found[4])
	if !ok || !ok2 {
		return fmt.Errorf("the server's positions %q and %q in the WAL make no sense", found[0], found[4])
	}
	dir, err := openDirectory(found[1])
	if err != nil {
		return err
	}
	if dir.Control().CheckpointLSN < uint64(written) {
		return &planner.Error{Message: found[1] + " is not the data directory of " + t.source.server.Address,
			Detail: "Its control file has another last checkpoint.", Hint: "Run pghaul on the server's own host and outside of containers."}
	}
	db, err := dir.Database(found[2])
	if err != nil {
		return err
	}
	if err := c.originOf(dir, db, heap.LSN(quiet)); err != nil {
		return err
	}
	if at := db.Path(c.from.main.Tablespace, c.from.main.File); at != found[3] || c.from.main.OID != t.facts.Source.OID {
		return fmt.Errorf("the catalogs on disk name file %s for %s, and the server %s", at, t.plan.Source.Relation, found[3])
	}
	return nil
}

// openDirectory opens a running server's directory, whose control file may be just being written.
func openDirectory(path string) (*datadir.Directory, error) {
	const attempts = 5
	var dir *datadir.Directory
	var err error
	for range attempts {
		if dir, err = datadir.Open(path); err == nil {
			return dir, nil
		}
	}
	return nil, err
}

// originOf finds the table in the directory's catalogs.
func (c *pageCopy) originOf(dir *datadir.Directory, db *datadir.Database, quiet heap.LSN) error {
	source := &c.table.facts.Source
	main, err := db.Table(source.Schema, source.Name)
	if err != nil {
		return err
	}
	c.from = pageOrigin{dir: dir, db: db, main: main, tx: dir.Transactions(), quiet: quiet}
	return nil
}

func oidText(oid uint32) string {
	return "'" + strconv.FormatUint(uint64(oid), 10) + "'::pg_catalog.oid::pg_catalog.regclass"
}

// fill writes the pages within the target's open transaction.
func (c *pageCopy) fill(ctx context.Context) (err error) {
	t := c.table
	if c.dst, err = t.target.take(ctx, t.encoding); err != nil {
		return &sideError{side: "target", err: err}
	}
	if err := c.emptyFiles(ctx); err != nil {
		return &sideError{side: "target", err: err}
	}
	enums, err := c.enums(ctx)
	if err != nil {
		return err
	}
	moved, err := c.move(ctx, c.from.main, c.to.main, enums)
	if err != nil {
		return fmt.Errorf("copy the pages of %s: %w", t.plan.Source.Relation, err)
	}
	chunks, err := c.toast(ctx)
	if err != nil {
		return err
	}
	if err := c.complete(ctx, moved.Chunks, chunks); err != nil {
		return &sideError{side: "source", err: err}
	}
	if err := c.undisturbed(ctx); err != nil {
		return &sideError{side: "source", err: err}
	}
	t.addRows(moved.Rows)
	t.files.rows.Add(moved.Rows)
	t.stage.set(stageIndexes)
	return c.check(ctx)
}

// emptyFiles gives the hidden table new files in a new transaction, and asks where they are.
func (c *pageCopy) emptyFiles(ctx context.Context) error {
	t := c.table
	hidden := t.plan.Parts[0].Target
	for _, sql := range []string{beginWrite(t.encoding), t.plan.Pages.Empty} {
		if _, err := c.dst.exec(ctx, sql); err != nil {
			return err
		}
	}
	rows, err := c.dst.table(ctx, `SELECT pg_catalog.pg_current_xact_id(), pg_catalog.pg_relation_filepath(c.oid), c.reltoastrelid, coalesce(pg_catalog.pg_relation_filepath(NULLIF(c.reltoastrelid, 0)), ''),
pg_catalog.current_setting('data_directory'), pg_catalog.current_setting('block_size'), pg_catalog.current_setting('data_checksums'),
(SELECT setting FROM pg_catalog.pg_settings WHERE name = 'segment_size'),
EXISTS (SELECT FROM pg_catalog.pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals))
FROM pg_catalog.pg_class c WHERE c.oid = `+quoted(hidden)+`::pg_catalog.regclass`)
	if err != nil {
		return err
	}
	found := rows[0]
	xid, err := strconv.ParseUint(found[0], 10, 64)
	if err != nil {
		return err
	}
	c.to = pageDestination{xid: uint32(xid), main: found[1], toast: found[3], directory: found[4], checksums: found[6] == "on", lz4: found[8] == "t"}
	_, err = fmt.Sscan(found[2]+" "+found[5]+" "+found[7], &c.to.toastOID, &c.to.blockSize, &c.to.segment)
	return err
}

// move copies one relation's files.
func (c *pageCopy) move(ctx context.Context, from *datadir.Table, to string, enums map[int]map[uint32]uint32) (pagesMoved, error) {
	t, control, toast := c.table, c.from.dir.Control(), from.Kind == 't'
	blocks, err := c.from.db.Blocks(from)
	if err != nil {
		return pagesMoved{}, err
	}
	columns := t.plan.Pages.Columns
	if toast {
		columns = nil
	}
	m := &pageMove{
		Blocks:  blocks,
		Source:  pageFile{Path: filepath.Join(c.from.dir.Path(), c.from.db.Path(from.Tablespace, from.File)), SegmentBlocks: control.SegmentBlocks, BlockSize: control.BlockSize},
		Target:  pageFile{Path: filepath.Join(c.to.directory, to), SegmentBlocks: uint32(c.to.segment), BlockSize: c.to.blockSize},
		Rewrite: heap.Rewrite{Attrs: from.Attributes, Columns: columns, Enums: enums, Checksums: c.to.checksums, Tx: c.from.tx, Walk: t.source.directory != nil},
		Quiet:   c.from.quiet, Unlocked: toast && c.src != nil, SourceChecksums: control.Checksums, VisibilityMap: !t.plan.Pages.Logged,
		Jobs: t.plan.Pages.Jobs,
		Pace: t.gauge.pace, Moved: t.gauge.moved,
	}
	if t.plan.Pages.Logged {
		m.Rewrite.Xid = c.to.xid
	}
	if c.src == nil {
		m.Rewrite.ChunkSize, m.Rewrite.IsTOAST = control.TOASTChunk, toast
	}
	if !toast {
		m.Rewrite.ToastRelation, m.Rewrite.NoLZ4 = c.to.toastOID, !c.to.lz4
	}
	moved, err := m.run(ctx)
	if err != nil {
		return moved, ofFile(err)
	}
	c.written = append(c.written, moved.Files)
	return moved, nil
}

// toast copies the TOAST table, and has its index built. It returns the sum of its chunks.
func (c *pageCopy) toast(ctx context.Context) (heap.ChunkSum, error) {
	from := c.from.db.ToastTable(c.from.main)
	if from == nil || c.to.toast == "" { // No row points into it then, or the rows would have been an error.
		return 0, nil
	}
	moved, err := c.move(ctx, from, c.to.toast, nil)
	if err != nil {
		return 0, fmt.Errorf("copy the pages of the TOAST table of %s: %w", c.table.plan.Source.Relation, err)
	}
	// The new table has no index of its own yet. REINDEX INDEX would want USAGE on the schema pg_toast, which only superusers have.
	if _, err := c.dst.exec(ctx, "REINDEX TABLE "+c.table.plan.Parts[0].Target); err != nil {
		return 0, &sideError{side: "target", err: err}
	}
	return moved.Chunks, nil
}

// check looks for rows that the target's constraints do not allow.
func (c *pageCopy) check(ctx context.Context) error {
	// With it on, the server would answer from the constraint itself.
	if _, err := c.dst.exec(ctx, "SET LOCAL constraint_exclusion = off"); err != nil {
		return &sideError{side: "target", err: err}
	}
	for _, check := range c.table.plan.Pages.Checks {
		rows, err := c.dst.table(ctx, check.SQL)
		if err != nil {
			return &sideError{side: "target", err: err}
		}
		if len(rows) > 0 {
			return &planner.Error{Message: check.Name, Detail: "Found by " + check.SQL + ".", Hint: "Mend the rows in the source, or change the target's definition."}
		}
	}
	return nil
}

// log has VACUUM freeze the first tuple of each page, which puts every page into the WAL. That is proved by relfrozenxid, which VACUUM moves
// behind a transaction only when no tuple of it is left unfrozen. While older transactions run it cannot, so it is tried again.
func (c *pageCopy) log(ctx context.Context) error {
	t := c.table
	if !t.plan.Pages.Logged {
		return nil
	}
	t.stage.set(stageLog)
	s, err := t.target.take(ctx, t.encoding)
	if err != nil {
		return &sideError{side: "target", err: err}
	}
	proof := fmt.Sprintf(`SELECT count(*) FROM pg_catalog.pg_class c, pg_catalog.pg_class r WHERE r.oid = %s::pg_catalog.regclass AND c.oid IN (r.oid, r.reltoastrelid)
AND pg_catalog.age(c.relfrozenxid) >= pg_catalog.age('%d'::pg_catalog.xid)`, quoted(t.plan.Parts[0].Target), c.to.xid)
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		left := ""
		if _, err = s.exec(ctx, t.plan.Pages.Vacuum); err == nil {
			left, err = s.value(ctx, proof)
		}
		if err != nil {
			t.target.drop(s)
			return &sideError{side: "target", err: err}
		}
		if left == "0" {
			t.target.give(t.encoding, s)
			return nil
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			t.target.give(t.encoding, s)
			return context.Cause(ctx)
		}
	}
}

func (c *pageCopy) dropTarget() {
	if c.dst != nil {
		c.table.target.drop(c.dst)
		c.dst = nil
	}
}

// release ends the lock on the source.
func (c *pageCopy) release() {
	if c.src != nil {
		c.table.source.drop(c.src)
		c.src = nil
	}
}

// enums tells for each column of an enum type what the numbers of its labels become in the target's database; nil where they stay.
func (c *pageCopy) enums(ctx context.Context) (map[int]map[uint32]uint32, error) {
	if c.table.facts.SameDatabase {
		return nil, nil
	}
	var all map[int]map[uint32]uint32
	for _, column := range c.from.main.Columns {
		typ := column.Type
		for depth := 0; typ.Kind == 'd' && typ.Base != nil && depth < mostLevels; depth++ {
			typ = typ.Base
		}
		if typ.Kind != 'e' {
			continue
		}
		rows, err := c.dst.table(ctx, "SELECT e.oid, e.enumlabel FROM pg_catalog.pg_enum e, pg_catalog.pg_type t, pg_catalog.pg_namespace n WHERE t.oid = e.enumtypid AND n.oid = t.typnamespace AND t.typname = "+
			quoted(typ.Name)+" AND n.nspname = "+quoted(typ.Schema))
		if err != nil {
			return nil, &sideError{side: "target", err: err}
		}
		labels := map[string]uint32{}
		for _, row := range rows {
			oid, err := strconv.ParseUint(row[0], 10, 32)
			if err != nil {
				return nil, err
			}
			labels[row[1]] = uint32(oid)
		}
		become := map[uint32]uint32{}
		for oid, label := range typ.Labels {
			if to, ok := labels[label]; ok {
				become[oid] = to
			}
		}
		if all == nil {
			all = map[int]map[uint32]uint32{}
		}
		all[column.Number-1] = become
	}
	return all, nil
}
