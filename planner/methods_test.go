package planner

import (
	"strings"
	"testing"
)

func TestAutoChooses(t *testing.T) {
	view := func(f *Facts, _ *Wish) { f.Target.Kind = View }
	key := []Key{{Primary: true, Columns: []string{"id"}}}
	for name, c := range map[string]struct {
		change change
		want   Method
	}{
		"between servers":     {func(*Facts, *Wish) {}, Relay},
		"within":              {func(f *Facts, _ *Wish) { f.SameDatabase = true }, Relay},
		"text within":         {func(f *Facts, _ *Wish) { f.SameDatabase = true; addXML(f) }, Relay},
		"view":                {view, Insert},
		"view within":         {func(f *Facts, w *Wish) { f.SameDatabase = true; view(f, w) }, Insert},
		"view with rule":      {func(f *Facts, w *Wish) { view(f, w); f.Target.Rules = true }, Insert},
		"rules":               {func(f *Facts, _ *Wish) { f.Target.Rules = true }, Insert},
		"rules within":        {func(f *Facts, _ *Wish) { f.SameDatabase, f.Target.Rules = true, true }, InsertSelect},
		"RLS":                 {func(f *Facts, _ *Wish) { f.Target.RowSecurity = true }, Insert},
		"RLS within":          {func(f *Facts, _ *Wish) { f.SameDatabase, f.Target.RowSecurity = true, true }, Insert},
		"returning":           {func(_ *Facts, w *Wish) { w.Returning = "id" }, Insert},
		"update":              {func(f *Facts, w *Wish) { f.Target.Keys, w.OnConflict = key, DoUpdate }, Merge},
		"nothing":             {func(f *Facts, w *Wish) { f.Target.Keys, w.OnConflict, f.SameDatabase = key, DoNothing, true }, Merge},
		"nothing without key": {func(_ *Facts, w *Wish) { w.OnConflict = DoNothing }, Insert},
		"update wide":         {func(f *Facts, w *Wish) { f.Source.HeapBytes, f.Target.Keys, w.OnConflict = 1<<40, key, DoUpdate }, Merge},
		"update through RLS":  {func(f *Facts, w *Wish) { f.Target.Keys, w.OnConflict, f.Target.RowSecurity = key, DoUpdate, true }, Insert},
		"made within": {func(f *Facts, w *Wish) {
			f.SameDatabase, f.Target, w.Create, f.Definition = true, missing("public", "x"), true, dumped()
		}, Relay},
		"empty source": {func(f *Facts, _ *Wish) {
			f.SameDatabase, f.Source.Rows, f.Source.HeapBytes, f.Source.Pages = true, 0, 0, 0
		}, Relay},
		"never analyzed": {func(f *Facts, _ *Wish) { f.SameDatabase, f.Source.Rows = true, -1 }, Relay},
		"query of unknown size": {func(f *Facts, _ *Wish) {
			f.SameDatabase, f.Source.Kind, f.Source.Rows, f.Source.HeapBytes = true, Query, -1, 0
		}, Relay},
	} {
		t.Run(name, func(t *testing.T) {
			f, w := c.change.apply(between(orders(1, "orders"), orders(2, "copy")))
			if p := mustChoose(t, f, w); p.Method != c.want {
				t.Errorf("%s, want %s\n%s", p.Method, c.want, p.Text())
			}
		})
	}
}

func addXML(f *Facts) {
	f.Source.Columns, f.Target.Columns = append(f.Source.Columns, col("x", xmlType)), append(f.Target.Columns, col("x", xmlType))
}

// TestSeedTableTimes: the estimates are those that were measured, within a tenth.
func TestSeedTableTimes(t *testing.T) {
	f := within(orders(1, "orders"), orders(2, "copy"))
	made := within(orders(1, "orders"), missing("public", "copy"))
	f.SourceServer.Address, made.SourceServer.Address = "localhost:5432/app", "localhost:5432/app"
	for _, c := range []struct {
		facts  Facts
		wish   Wish
		second float64
	}{
		{f, Wish{}, 7.65}, {f, Wish{Format: Text}, 14.4}, {f, Wish{Method: InsertSelect}, 18.8}, {made, Wish{Method: CreateAs}, 11.2}, {made, Wish{Method: Unlogged}, 24.6},
	} {
		p := mustChoose(t, c.facts, c.wish)
		if got := p.Estimate.Seconds; got < c.second*0.9 || got > c.second*1.1 {
			t.Errorf("%s %s: %.1f s, want %.1f", p.Method, p.Format, got, c.second)
		}
	}
}

func TestCostsOfOthers(t *testing.T) {
	p := mustChoose(t, within(orders(1, "orders"), orders(2, "copy")), Wish{})
	if len(p.Others) != len(Methods())-1 {
		t.Fatalf("%d others", len(p.Others))
	}
	for _, o := range p.Others {
		if (o.Refused == "") == (o.Factor == 0) {
			t.Errorf("%+v", o)
		}
	}
	if f := p.Others[0].Factor; p.Others[0].Method != InsertSelect || f < 2.2 || f > 2.7 {
		t.Errorf("insert-select costs %.1fx", f)
	}
}

func TestSpeedUp(t *testing.T) {
	s := situation{facts: &Facts{Processors: 2, SourceServer: Server{Address: "localhost:1/a"}, TargetServer: Server{Address: "127.0.0.1:2/a"}}}
	if got := s.speedUp(4); got != 1 {
		t.Errorf("two processors for all: %g", got)
	}
	s.facts.TargetServer.Address = "db2:5432/a"
	if got := s.speedUp(4); got != 4 {
		t.Errorf("servers elsewhere: %g", got)
	}
}

func TestWALLevelMinimal(t *testing.T) {
	f := between(orders(1, "orders"), orders(2, "orders"))
	f.TargetServer.WALLevel = "minimal"
	if p := mustChoose(t, f, Wish{}); p.Estimate.WALBytes == 0 {
		t.Error("rows of a table that was there are logged")
	}
	if p := mustChoose(t, f, Wish{Fill: Truncate}); p.Estimate.WALBytes != 0 {
		t.Errorf("%d bytes of WAL", p.Estimate.WALBytes)
	}
}

func TestInsertSelect(t *testing.T) {
	f := within(orders(1, "orders"), orders(2, "copy"))
	f.Target.Columns[0].Identity, f.TargetServer.FreePrepared = 'a', 64
	p := mustChoose(t, f, Wish{Method: InsertSelect, Connections: 2})
	same(t, p.WriteSQL(p.Ranges[0]), "INSERT INTO public.copy (id, day, n, note) OVERRIDING SYSTEM VALUE SELECT id, day, n, note FROM public.orders WHERE ctid < '(8192,0)'::pg_catalog.tid")
	same(t, p.ReadSQL(p.Ranges[0]), "SELECT id, day, n, note FROM public.orders WHERE ctid < '(8192,0)'::pg_catalog.tid")
	mustFail(t, between(f.Source, f.Target), Wish{Method: InsertSelect}, Refused, "different databases")
}

func TestCreateAs(t *testing.T) {
	f := within(orders(1, "orders"), missing("public", "copy"))
	f.Source.Columns[0].Identity, f.Source.Columns[2].Generated, f.Source.Columns[1].Remote = 'a', true, "Day"
	p := mustChoose(t, f, Wish{Method: CreateAs, Where: "n > 1"})
	same(t, p.WriteSQL(p.Ranges[0]), `CREATE TABLE public.copy AS SELECT id, "Day" AS day, n, note FROM public.orders WHERE (n > 1)`)
	if len(p.Before)+len(p.After)+len(p.Sequences) != 0 {
		t.Errorf("%+v", p)
	}
	mustFail(t, within(f.Source, orders(2, "copy")), Wish{Method: CreateAs}, Refused, "Target public.copy exists")
}

func TestUnlogged(t *testing.T) {
	f := within(orders(1, "orders"), missing("public", "copy"))
	p := mustChoose(t, f, Wish{Method: Unlogged, Connections: 4})
	same(t, p.Before[0].SQL, "CREATE UNLOGGED TABLE public.copy (LIKE public.orders INCLUDING ALL EXCLUDING INDEXES)")
	same(t, p.After[0].SQL, "ALTER TABLE public.copy SET LOGGED")
	if p.Atomic != OneTransaction || p.Connections != 1 {
		t.Errorf("%s on %d", p.Atomic, p.Connections)
	}
	f.Source.Kind = Query
	mustFail(t, f, Wish{Method: Unlogged}, Refused, "no definition")
	f.Source.Kind = Partitioned
	mustFail(t, f, Wish{Method: Unlogged}, Refused, "partitioned")
}

func TestForeignCondition(t *testing.T) {
	f := between(orders(1, "orders"), orders(2, "orders"))
	f.Source.Path, f.Source.Columns[2].Remote = []Hop{{Schema: "public", Name: "orders"}}, "number"
	p := mustChoose(t, f, Wish{})
	same(t, p.ReadSQL(p.Ranges[0]), "COPY public.orders (id, day, number, note) TO STDOUT WITH (FORMAT binary)")
	p = mustChoose(t, f, Wish{Where: "n > 1"})
	same(t, p.ReadSQL(p.Ranges[0]), "COPY (SELECT id, day, n, note FROM (SELECT ctid, id, day, number AS n, note FROM public.orders) AS orders WHERE (n > 1)) TO STDOUT WITH (FORMAT binary)")
}

func TestIndexesCost(t *testing.T) {
	f := between(orders(1, "orders"), orders(2, "orders"))
	plain := mustChoose(t, f, Wish{}).Estimate
	f.Target.Indexes = 2
	if with := mustChoose(t, f, Wish{}).Estimate; with.Seconds < 2*plain.Seconds || with.WALBytes < 2*plain.WALBytes {
		t.Errorf("%+v, without %+v", with, plain)
	}
	if built := mustChoose(t, f, Wish{Fill: Replace}).Estimate; built.Seconds > mustChoose(t, f, Wish{}).Estimate.Seconds {
		t.Error("building indexes afterwards should cost less than keeping them up")
	}
}

func TestNotes(t *testing.T) {
	f := between(orders(1, "orders"), orders(2, "orders"))
	f.Target.Kind, f.Target.NotFollowed, f.Source.Kind, f.Source.NotFollowed = ForeignTable, "it has row triggers", ForeignTable, "its wrapper is file_fdw"
	notes := strings.Join(mustChoose(t, f, Wish{Create: true}).Notes, "\n")
	for _, want := range []string{"it has row triggers", "its wrapper is file_fdw", "--create has nothing to make"} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q lacks %q", notes, want)
		}
	}
}
