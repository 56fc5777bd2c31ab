package move

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/pghaul/pghaul/internal/datadir"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// findPages reads what method pages must know, where it is asked for.
func (t *table) findPages(ctx context.Context, wish planner.Wish) error {
	if wish.Method != planner.Pages || t.facts.Source.Kind == planner.Query {
		return nil
	}
	f := &planner.PageFacts{}
	t.facts.Pages = f
	if err := t.askSide(ctx, t.target, &t.facts.Target, t.facts.TargetServer, "target", f, &f.Target); err != nil {
		return err
	}
	if err := t.askUnseen(ctx, f); err != nil {
		return err
	}
	if d := t.source.directory; d != nil {
		return directorySide(d, &t.facts.Source, f)
	}
	return t.askSide(ctx, t.source, &t.facts.Source, t.facts.SourceServer, "source", f, &f.Source)
}

// askSide reads one server's settings and the table's columns as they lie on the page, and looks whether its files are those of this machine.
func (t *table) askSide(ctx context.Context, at *site, relation *planner.Relation, server planner.Server, role string, f *planner.PageFacts, side *planner.PageSide) error {
	s, err := at.take(ctx, t.encoding)
	if err != nil {
		return err
	}
	settings, err := s.table(ctx, `SELECT coalesce(max(setting) FILTER (WHERE name = 'data_directory'), ''), max(setting) FILTER (WHERE name = 'block_size'),
max(setting) FILTER (WHERE name = 'segment_size'), max(setting) FILTER (WHERE name = 'full_page_writes'),
pg_catalog.floor(extract(epoch FROM pg_catalog.pg_postmaster_start_time())) FROM pg_catalog.pg_settings`)
	if err == nil && relation.Kind != planner.Missing {
		err = askAttributes(ctx, s, relation.OID, side)
	}
	if err != nil {
		at.drop(s)
		return err
	}
	at.give(t.encoding, s)
	found := settings[0]
	if role == "target" {
		f.FullPageWrites = found[3] == "on"
	}
	if why := unreachableFiles(found[0], server); why != "" {
		f.Blocked = append(f.Blocked, "the files of the "+role+" "+why)
	}
	_, err = fmt.Sscan(found[1]+" "+found[2], &side.BlockSize, &side.SegmentBlocks)
	return err
}

// unreachableFiles says why the data directory of a server cannot be used from here, empty when it can.
func unreachableFiles(path string, server planner.Server) string {
	if path == "" {
		return fmt.Sprintf("are where role %q may not see (data_directory): connect as a superuser, or as a member of pg_read_all_settings and pg_checkpoint", server.User)
	}
	dir, err := openDirectory(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "are not on this machine: there is no " + path
	case errors.Is(err, fs.ErrPermission):
		return "in " + path + " cannot be opened: run pghaul as root or as the server's user"
	case err != nil:
		return "in " + path + " cannot be read: " + err.Error()
	}
	if id := strconv.FormatUint(dir.Control().SystemID, 10); server.SystemID != "" && id != server.SystemID {
		return "are not on this machine: " + path + " is another server's"
	}
	if _, running := dir.Running(); !running {
		return "are not on this machine: no server runs on " + path
	}
	return ""
}

// askAttributes reads the columns and the CHECK constraints of a table.
func askAttributes(ctx context.Context, s *session, oid uint32, side *planner.PageSide) error {
	id := strconv.FormatUint(uint64(oid), 10)
	rows, err := s.table(ctx, `SELECT a.attname, a.attisdropped, a.attlen, a.attalign, a.attnotnull, coalesce(pg_catalog.pg_get_expr(d.adbin, d.adrelid), ''), a.attgenerated = 'v',
EXISTS (SELECT FROM pg_catalog.pg_constraint n WHERE n.conrelid = a.attrelid AND n.contype = 'n' AND n.conkey = ARRAY[a.attnum] AND NOT n.convalidated),
`+callsOwn("pg_attrdef", "d.oid")+`
FROM pg_catalog.pg_attribute a LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.attgenerated <> ''
WHERE a.attrelid = `+id+` AND a.attnum > 0 ORDER BY a.attnum`)
	if err != nil {
		return err
	}
	if side.File, err = s.value(ctx, "SELECT pg_catalog.pg_relation_filepath("+id+")"); err != nil {
		return err
	}
	side.Attributes = []planner.PageAttribute{}
	for _, r := range rows {
		length, err := strconv.ParseInt(r[2], 10, 16)
		if err != nil {
			return err
		}
		side.Attributes = append(side.Attributes, planner.PageAttribute{
			Name: r[0], Dropped: r[1] == "t", Len: int16(length), Align: r[3][0], NotNull: r[4] == "t", Unproven: r[7] == "t", Generated: r[5], Virtual: r[6] == "t", Calls: r[8] == "t",
		})
	}
	rows, err = s.table(ctx, `SELECT conname, pg_catalog.pg_get_constraintdef(oid), pg_catalog.pg_get_expr(conbin, conrelid), convalidated, coalesce((pg_catalog.to_jsonb(c) ->> 'conenforced')::pg_catalog.bool, true),
`+callsOwn("pg_constraint", "c.oid")+`
FROM pg_catalog.pg_constraint c WHERE contype = 'c' AND conrelid = `+id+` ORDER BY conname`)
	for _, r := range rows {
		side.Checks = append(side.Checks, planner.PageConstraint{Name: r[0], Definition: r[1], Expression: r[2], Valid: r[3] == "t", Unenforced: r[4] == "f", Calls: r[5] == "t"})
	}
	return err
}

// callsOwn is a condition: an object of a catalog calls functions or operators that are not PostgreSQL's own. It depends on them, while nothing is
// noted about what initdb has made (isObjectPinned of catalog.c).
func callsOwn(catalog, oid string) string {
	return "EXISTS (SELECT FROM pg_catalog.pg_depend o WHERE o.classid = 'pg_catalog." + catalog + "'::pg_catalog.regclass AND o.objid = " + oid +
		" AND o.refclassid IN ('pg_catalog.pg_proc'::pg_catalog.regclass, 'pg_catalog.pg_operator'::pg_catalog.regclass))"
}

// directorySide takes the same from a data directory. Its constraints are not known, so the target's are all checked.
func directorySide(d *directory, relation *planner.Relation, f *planner.PageFacts) error {
	control := d.dir.Control()
	f.Source = planner.PageSide{BlockSize: control.BlockSize, SegmentBlocks: int(control.SegmentBlocks), File: relation.File, Attributes: []planner.PageAttribute{}}
	if relation.Kind != planner.Table && relation.Kind != planner.MatView {
		return nil
	}
	main, err := d.db.Table(relation.Schema, relation.Name)
	if err != nil {
		return err
	}
	if toast := d.db.ToastTable(main); toast != nil && !control.State.Clean() {
		if blocks, err := d.db.Blocks(toast); err != nil || blocks > 0 {
			// Pages are not looked into so far as to find a value whose chunks had not been written.
			f.Blocked = append(f.Blocked, "the server of "+d.dir.Path()+" was not shut down cleanly, and long values of the table may lack parts; without --method pages each is looked at")
		}
	}
	columns := map[int]datadir.Column{}
	for _, c := range main.Columns {
		columns[c.Number] = c
	}
	for i, a := range main.Attributes {
		c := columns[i+1]
		generated := ""
		if c.Generated != 0 {
			generated = "an expression that only a server reads"
		}
		f.Source.Attributes = append(f.Source.Attributes, planner.PageAttribute{
			Name: a.Name, Dropped: a.Dropped, Len: a.Len, Align: a.Align, NotNull: c.NotNull, Generated: generated, Virtual: c.Generated == 'v',
		})
	}
	return nil
}

// askUnseen finds out who gets the target's rows from its WAL.
func (t *table) askUnseen(ctx context.Context, f *planner.PageFacts) error {
	s, err := t.target.take(ctx, t.encoding)
	if err != nil {
		return err
	}
	backups := "SELECT pg_catalog.count(*) FROM pg_catalog.pg_stat_progress_basebackup"
	if t.facts.TargetServer.Version < 150000 {
		backups = "SELECT (SELECT pg_catalog.count(*) FROM pg_catalog.pg_stat_progress_basebackup) + pg_catalog.pg_is_in_backup()::pg_catalog.int4"
	}
	rows, err := s.table(ctx, "SELECT (SELECT pg_catalog.count(*) FROM pg_catalog.pg_stat_replication), (SELECT pg_catalog.count(*) FROM pg_catalog.pg_replication_slots), "+
		"pg_catalog.current_setting('archive_mode'), ("+backups+")")
	if err != nil {
		t.target.drop(s)
		return err
	}
	t.target.give(t.encoding, s)
	found := rows[0]
	add := func(n, one, many string) {
		switch n {
		case "0":
		case "1":
			f.Unseen = append(f.Unseen, one)
		default:
			f.Unseen = append(f.Unseen, n+" "+many)
		}
	}
	add(found[0], "a standby or another receiver of the WAL is connected", "standbys or other receivers of the WAL are connected")
	add(found[1], "a replication slot waits for the WAL", "replication slots wait for the WAL")
	if found[2] != "off" {
		f.Unseen = append(f.Unseen, "the WAL is archived (archive_mode = "+found[2]+")")
	}
	add(found[3], "a base backup is being taken", "base backups are being taken")
	return nil
}

// comparePages compares with the new table, committed under its hidden name. It comes before VACUUM: the source is still locked as its pages were
// read, and a writer that waits for that lock has a snapshot, which keeps VACUUM from freezing the rows until the lock is released.
func (r *run) comparePages(ctx context.Context, t *table) error {
	t.stage.set(stageVerify)
	src, err := t.source.fresh(ctx, t.encoding)
	if err != nil {
		return err
	}
	defer t.source.drop(src)
	dst, err := t.target.fresh(ctx, t.encoding)
	if err != nil {
		return err
	}
	defer t.target.drop(dst)
	for _, s := range []*session{src, dst} {
		if _, err := s.exec(ctx, beginRead(t.encoding, "", "")); err != nil {
			return err
		}
	}
	relation, err := t.hiddenNow(ctx, dst)
	if err != nil {
		return err
	}
	err = r.compareWith(ctx, t, []*session{src}, []*session{dst}, relation)
	if c := t.report.Verified; c != nil {
		c.Target = t.plan.Target.Relation
	}
	return err
}

// hiddenNow describes the hidden table as the one whose place it takes.
func (t *table) hiddenNow(ctx context.Context, s *session) (planner.Relation, error) {
	relation := t.facts.Target
	if relation.Kind == planner.Missing {
		relation = t.facts.Source
	}
	relation.Kind, relation.AccessMethod, relation.Path = planner.Table, "heap", nil
	rows, err := s.table(ctx, "SELECT n.nspname, c.relname, c.oid, pg_catalog.pg_relation_size(c.oid) / pg_catalog.current_setting('block_size')::pg_catalog.int4 FROM pg_catalog.pg_class c, pg_catalog.pg_namespace n "+
		"WHERE n.oid = c.relnamespace AND c.oid = "+quoted(t.plan.Parts[0].Target)+"::pg_catalog.regclass")
	if err != nil {
		return relation, err
	}
	relation.Schema, relation.Name = rows[0][0], rows[0][1]
	_, err = fmt.Sscan(rows[0][2]+" "+rows[0][3], &relation.OID, &relation.Pages)
	return relation, err
}

// checkHeap has the extensions amcheck and pg_visibility look at the new pages, where the target's role may use or make them. What they need
// is rolled back.
func (t *table) checkHeap(ctx context.Context) error {
	s, err := t.target.fresh(ctx, t.encoding)
	if err != nil {
		return err
	}
	defer t.target.drop(s)
	if _, err := s.exec(ctx, beginWrite(t.encoding)); err != nil {
		return err
	}
	table := quoted(t.plan.Parts[0].Target) + "::pg_catalog.regclass"
	for _, check := range []struct{ extension, columns, function, found string }{
		{"amcheck", "blkno || ',' || offnum || ': ' || msg", "verify_heapam(" + table + ", check_toast => true)", "verify_heapam finds damage"},
		{"pg_visibility", "t_ctid::text", "pg_check_frozen(" + table + ") t_ctid", "pg_check_frozen finds a tuple that is not frozen"},
		{"pg_visibility", "t_ctid::text", "pg_check_visible(" + table + ") t_ctid", "pg_check_visible finds a tuple that is not visible to all"},
	} {
		schema, err := lendExtension(ctx, s, check.extension)
		if err != nil {
			return err
		}
		if schema == "" {
			continue
		}
		fault, err := s.value(ctx, "SELECT "+check.columns+" FROM "+schema+"."+check.function+" LIMIT 1")
		if err != nil {
			return err
		}
		if fault != "" {
			return &planner.Error{Message: check.found + " in the copy of " + t.plan.Source.Relation, Detail: fault, Hint: "Copy without --method pages, and report this."}
		}
	}
	return nil
}

// lendExtension returns the quoted schema of an extension, made for this transaction where it is missing; empty where that cannot be done.
func lendExtension(ctx context.Context, s *session, name string) (string, error) {
	find := "SELECT pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = " + sqltext.QuoteLiteral(name)
	schema, err := s.value(ctx, find)
	if err != nil || schema != "" {
		return schema, err
	}
	if _, err := s.exec(ctx, "SAVEPOINT lent"); err != nil {
		return "", err
	}
	if _, err := s.exec(ctx, "CREATE EXTENSION "+sqltext.QuoteIdent(name)+" SCHEMA pg_catalog"); err != nil {
		_, err := s.exec(ctx, "ROLLBACK TO SAVEPOINT lent") // The role may not, or the extension is not installed.
		return "", err
	}
	return s.value(ctx, find)
}
