package planner

import "testing"

// change is one case: what differs from a copy of the seed table between two servers.
type change func(*Facts, *Wish)

func (c change) apply(f Facts) (Facts, Wish) {
	var w Wish
	c(&f, &w)
	return f, w
}

func TestHardChecks(t *testing.T) {
	for name, c := range map[string]struct {
		change change
		kind   ErrorKind
		words  []string
	}{
		"old server":       {func(f *Facts, _ *Wish) { f.SourceServer.Version = 130009 }, Failed, []string{"db1:5432/app is too old", "14"}},
		"standby target":   {func(f *Facts, _ *Wish) { f.TargetServer.Standby = true }, Failed, []string{"is a standby", "primary"}},
		"source missing":   {func(f *Facts, _ *Wish) { f.Source = missing("public", "x") }, Failed, []string{"source table public.x does not exist", "db1"}},
		"source schema":    {func(f *Facts, _ *Wish) { f.Source = Relation{Schema: "No", Name: "x"} }, Failed, []string{`Schema "No" does not exist`}},
		"source sequence":  {func(f *Facts, _ *Wish) { f.Source.Kind = Sequence }, Failed, []string{"cannot copy from sequence", "copied with the table"}},
		"source RLS":       {func(f *Facts, _ *Wish) { f.Source.RowSecurity = true }, Failed, []string{"would be filtered", `"ann"`, "BYPASSRLS"}},
		"source denied":    {func(f *Facts, _ *Wish) { unreadable(&f.Source, 0, 1, 2, 3) }, Failed, []string{"permission denied for source table", "SELECT"}},
		"column denied":    {func(f *Facts, _ *Wish) { unreadable(&f.Source, 1) }, Failed, []string{"SELECT privilege on column day", "--columns"}},
		"unlogged standby": {func(f *Facts, _ *Wish) { f.Source.Unlogged, f.SourceServer.Standby = true, true }, Failed, []string{"unlogged", "primary"}},
		"same table":       {func(f *Facts, _ *Wish) { f.SameDatabase, f.Target.OID = true, f.Source.OID }, Failed, []string{"the same table"}},
		"own partition":    {func(f *Facts, _ *Wish) { f.SameDatabase, f.Source = true, parted(f.Source, f.Target.OID, "LIST (n)") }, Failed, []string{"overlap", "is a partition of"}},
		"target missing":   {func(f *Facts, _ *Wish) { f.Target = missing("public", "x") }, Failed, []string{"target table public.x does not exist", "--create"}},
		"target schema":    {func(f *Facts, w *Wish) { f.Target, w.Create = Relation{Schema: "No", Name: "x"}, true }, Failed, []string{`Schema "No"`, `CREATE SCHEMA "No"`}},
		"may not create": {func(f *Facts, w *Wish) {
			f.Target, w.Create, f.Definition = missing("public", "x"), true, dumped()
			f.Target.CanCreate = false
		}, Failed, []string{"permission denied to make table public.x"}},
		"no definition":   {func(f *Facts, w *Wish) { f.Target, w.Create = missing("public", "x"), true }, Failed, []string{"cannot make target table"}},
		"target sequence": {func(f *Facts, _ *Wish) { f.Target.Kind = Sequence }, Failed, []string{"cannot copy into sequence"}},
		"target matview":  {func(f *Facts, _ *Wish) { f.Target.Kind = MatView }, Failed, []string{"cannot copy into materialized view", "REFRESH"}},
		"fixed view":      {func(f *Facts, _ *Wish) { f.Target.Kind, f.Target.Rules, f.Target.CanInsert = View, true, false }, Failed, []string{"cannot copy into view", "INSTEAD OF"}},
		"view by relay":   {func(f *Facts, w *Wish) { f.Target.Kind, w.Method = View, Relay }, Refused, []string{"COPY cannot write to a view", "--method insert"}},
		"view by select":  {func(f *Facts, w *Wish) { f.SameDatabase, f.Target.Kind, w.Method = true, View, InsertSelect }, Refused, []string{"Only method insert writes to a view"}},
		"not empty, unseen": {func(f *Facts, _ *Wish) {
			f.Target.Empty, f.Target.RowSecurity, f.TargetServer.User = false, true, "ann"
		}, Failed, []string{"is not empty", `role "ann" may not see`, "--append"}},
		"not empty": {func(f *Facts, _ *Wish) { f.Target.Empty = false }, Failed, []string{"is not empty", "--append", "--truncate", "--replace"}},
		"interrupted": {func(f *Facts, _ *Wish) {
			f.Target.Empty, f.Recorded = false, &Recorded{Ranges: []Range{{}}, Done: []bool{true}}
		}, Failed, []string{"interrupted copy", "--commit range"}},
		"insert denied":    {func(f *Facts, _ *Wish) { unwritable(&f.Target, 0, 1, 2, 3) }, Failed, []string{"permission denied for target table", "INSERT"}},
		"column not given": {func(f *Facts, _ *Wish) { unwritable(&f.Target, 3) }, Failed, []string{"INSERT privilege on column note"}},
		"column lacking":   {func(f *Facts, _ *Wish) { f.Target.Columns = f.Target.Columns[1:3] }, Failed, []string{"lacks columns id and note", "--columns"}},
		"unknown column":   {func(_ *Facts, w *Wish) { w.Columns = []string{"id", "Nope"} }, Failed, []string{`has no column "Nope"`}},
		"generated asked":  {func(f *Facts, w *Wish) { f.Target.Columns[2].Generated, w.Columns = true, []string{"n"} }, Failed, []string{"column n of target table", "is generated"}},
		"all generated": {func(f *Facts, _ *Wish) {
			f.Source.Columns, f.Target.Columns = f.Source.Columns[2:3], generated(f.Target.Columns[2:3])
		}, Failed, []string{"no column of public.orders can be written"}},
		"no source columns": {func(f *Facts, _ *Wish) { f.Source.Columns, f.Target.Columns = nil, f.Target.Columns[1:] }, Failed, []string{"has no columns to copy"}},
		"nothing for it":    {func(f *Facts, _ *Wish) { f.Source.Columns = f.Source.Columns[1:] }, Failed, []string{"no value for not-null column id"}},
		"query twice": {func(f *Facts, _ *Wish) {
			f.Source.Kind, f.Source.Columns = Query, append(f.Source.Columns, f.Source.Columns[0])
		}, Failed, []string{"returns column id more than once", "AS"}},
		"truncate referenced": {func(f *Facts, w *Wish) {
			w.Fill, f.Target.Rebuild.ReferencedBy = Truncate, []string{"public.lines"}
		}, Refused, []string{"--truncate", "public.lines"}},
		"truncate denied": {func(f *Facts, w *Wish) { w.Fill, f.Target.CanTruncate = Truncate, false }, Refused, []string{"no TRUNCATE privilege"}},
		"truncate view":   {func(f *Facts, w *Wish) { w.Fill, f.Target.Kind = Truncate, View }, Refused, []string{"cannot be truncated"}},
		"replace blocked": {func(f *Facts, w *Wish) {
			w.Fill, f.Target.Rebuild.Blockers = Replace, []string{"view public.v reads it"}
		}, Refused, []string{"--replace", "View public.v reads it", "--truncate"}},
		"replace parted":   {func(f *Facts, w *Wish) { w.Fill, f.Target.Kind = Replace, Partitioned }, Refused, []string{"It is a partitioned table"}},
		"replace foreign":  {func(f *Facts, w *Wish) { w.Fill, f.Target.IsOwner = Replace, false }, Refused, []string{"does not own it"}},
		"pooled":           {func(f *Facts, w *Wish) { f.SourceServer.Pooled, w.Connections = true, 2 }, Refused, []string{"2 connections", "pooler", "snapshot"}},
		"freeze not fresh": {func(_ *Facts, w *Wish) { w.Freeze = Yes }, Refused, []string{"--freeze", "neither made nor truncated", "--truncate"}},
		"damaged record": {func(f *Facts, w *Wish) {
			w.Commit, f.Recorded = CommitRange, &Recorded{Ranges: []Range{{}, {}}, Done: []bool{true}}
		}, Failed, []string{"damaged"}},
		"record without rows": {func(f *Facts, w *Wish) {
			w.Commit, f.Recorded = CommitRange, &Recorded{Ranges: []Range{{}}, Done: []bool{true}, Rows: 5}
		}, Failed, []string{"has lost the rows", "5 rows"}},
		"record of other parts": {func(f *Facts, w *Wish) {
			w.Commit, f.Recorded = CommitRange, &Recorded{Ranges: []Range{{Part: 3}}, Done: []bool{false}}
		}, Failed, []string{"does not fit the source"}},
	} {
		t.Run(name, func(t *testing.T) {
			f, w := c.change.apply(between(orders(1, "orders"), orders(2, "orders")))
			mustFail(t, f, w, c.kind, c.words...)
		})
	}
}

func unreadable(r *Relation, columns ...int) {
	for _, i := range columns {
		r.Columns[i].CanRead = false
	}
}

func unwritable(r *Relation, columns ...int) {
	for _, i := range columns {
		r.Columns[i].CanWrite = false
	}
}

func generated(columns []Column) []Column {
	for i := range columns {
		columns[i].Generated = true
	}
	return columns
}

// TestOneServerMayBePooled: nothing but sharing a snapshot is impossible through a pooler.
func TestPooledMovesOnOneConnection(t *testing.T) {
	f := between(orders(1, "orders"), orders(2, "orders"))
	f.SourceServer.Pooled, f.Processors = true, 16
	if p := mustChoose(t, f, Wish{}); p.Connections != 1 {
		t.Errorf("%d connections", p.Connections)
	}
}

// What is no table is called what it is.
func TestNoTable(t *testing.T) {
	for name, c := range map[string]struct {
		change change
		words  []string
	}{
		"source index": {func(f *Facts, _ *Wish) { f.Source.Kind, f.Source.Of = Index, "public.t" },
			[]string{"cannot copy from index public.orders", "It is an index of table public.t.", "Name the table"}},
		"source type":    {func(f *Facts, _ *Wish) { f.Source.Kind = CompositeType }, []string{"cannot copy from composite type", "It is a composite type"}},
		"target index":   {func(f *Facts, _ *Wish) { f.Target.Kind = PartitionedIndex }, []string{"cannot copy into index", "It is an index and not a table."}},
		"target TOAST":   {func(f *Facts, _ *Wish) { f.Target.Kind, f.Target.Of = ToastTable, "public.t" }, []string{"cannot copy into TOAST table", "table public.t."}},
		"target catalog": {func(f *Facts, _ *Wish) { f.Target.Schema = "pg_catalog" }, []string{"cannot copy into system table", "a table of your own"}},
	} {
		t.Run(name, func(t *testing.T) {
			f, w := c.change.apply(between(orders(1, "orders"), orders(2, "orders")))
			mustFail(t, f, w, Failed, c.words...)
		})
	}
}
