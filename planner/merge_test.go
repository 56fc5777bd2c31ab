package planner

import (
	"strings"
	"testing"
)

func keyed() Facts {
	f := between(orders(1, "orders"), orders(2, "orders"))
	f.Target.Empty = false
	f.Target.Keys = []Key{{Name: "pk", Primary: true, Columns: []string{"id"}}, {Name: "u", Columns: []string{"day", "n"}}}
	return f
}

func TestMergeUpdate(t *testing.T) {
	p := mustChoose(t, keyed(), Wish{OnConflict: DoUpdate})
	same(t, p.Merge.Create, "CREATE TEMPORARY TABLE pghaul_staging ON COMMIT DROP AS SELECT id, day, n, note FROM public.orders WITH NO DATA")
	same(t, p.Merge.Write, "COPY pghaul_staging (id, day, n, note) FROM STDIN WITH (FORMAT binary, FREEZE)")
	same(t, p.WriteSQL(p.Ranges[0]), p.Merge.Write)
	same(t, p.Merge.Count, "SELECT COALESCE(pg_catalog.sum(n), 0)::pg_catalog.int8 FROM (SELECT pg_catalog.count(*) AS n FROM pghaul_staging WHERE id IS NOT NULL GROUP BY id HAVING pg_catalog.count(*) > 1) AS shared")
	same(t, p.Merge.Merge, "INSERT INTO public.orders (id, day, n, note) SELECT DISTINCT ON (id) id, day, n, note FROM pghaul_staging ORDER BY id, ctid DESC "+
		"ON CONFLICT (id) DO UPDATE SET day = EXCLUDED.day, n = EXCLUDED.n, note = EXCLUDED.note")
	if p.Atomic != OneTransaction || p.Connections != 1 || p.Frozen {
		t.Errorf("%s on %d, frozen %v", p.Atomic, p.Connections, p.Frozen)
	}
}

func TestMergeNothingKeepsTheFirst(t *testing.T) {
	f := keyed()
	f.Target.Columns[0].Identity = 'a'
	p := mustChoose(t, f, Wish{OnConflict: DoNothing})
	same(t, p.Merge.Merge, "INSERT INTO public.orders (id, day, n, note) OVERRIDING SYSTEM VALUE SELECT id, day, n, note FROM pghaul_staging ON CONFLICT (id) DO NOTHING")
}

// TestMergeNullableKey: rows with a NULL in their key conflict with none, so DISTINCT must not make one of them.
func TestMergeNullableKey(t *testing.T) {
	f := keyed()
	f.Target.Columns[2].Remote = "N"
	p := mustChoose(t, f, Wish{OnConflict: DoUpdate, ConflictColumns: []string{"n", "day"}})
	const by = `"N", day, CASE WHEN "N" IS NULL OR day IS NULL THEN ctid END`
	same(t, p.Merge.Merge, `INSERT INTO public.orders (id, day, "N", note) SELECT DISTINCT ON (`+by+`) id, day, "N", note FROM pghaul_staging ORDER BY `+by+`, ctid DESC `+
		`ON CONFLICT ("N", day) DO UPDATE SET id = EXCLUDED.id, note = EXCLUDED.note`)
	if !strings.Contains(p.Merge.Count, `WHERE "N" IS NOT NULL AND day IS NOT NULL GROUP BY "N", day`) {
		t.Error(p.Merge.Count)
	}
}

func TestMergeKeyOnly(t *testing.T) {
	p := mustChoose(t, keyed(), Wish{OnConflict: DoUpdate, Columns: []string{"id"}})
	if !strings.HasSuffix(p.Merge.Merge, "ON CONFLICT (id) DO NOTHING") {
		t.Error(p.Merge.Merge)
	}
}

func TestMergeTruncates(t *testing.T) {
	p := mustChoose(t, keyed(), Wish{OnConflict: DoUpdate, Fill: Truncate})
	if len(p.Before) != 1 || p.Before[0].SQL != "TRUNCATE TABLE ONLY public.orders" {
		t.Errorf("%+v", p.Before)
	}
}

func TestMergeRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change change
		want   string
	}{
		"no key":        {func(f *Facts, _ *Wish) { f.Target.Keys = nil }, "no primary key"},
		"other key":     {func(_ *Facts, w *Wish) { w.ConflictColumns = []string{"day"} }, "no unique key on day"},
		"no column":     {func(_ *Facts, w *Wish) { w.ConflictColumns = []string{"Nope"} }, `no column "Nope"`},
		"key not moved": {func(f *Facts, w *Wish) { f.Target.Columns[0].HasDefault, w.Columns = true, []string{"day"} }, "Key column id of the target is not copied"},
		"view":          {func(f *Facts, _ *Wish) { f.Target.Kind = View }, "tables only"},
		"rules":         {func(f *Facts, _ *Wish) { f.Target.Rules = true }, "rules"},
		"RLS":           {func(f *Facts, _ *Wish) { f.Target.RowSecurity = true }, "row-level security"},
		"returning":     {func(_ *Facts, w *Wish) { w.Method, w.Returning = Auto, "id" }, ""},
		"missing":       {func(f *Facts, w *Wish) { f.Target, w.Create, f.Definition = missing("public", "x"), true, dumped() }, "no key yet"},
	} {
		f, w := keyed(), Wish{Method: Merge, OnConflict: DoUpdate}
		c.change(&f, &w)
		if w.Method == Auto {
			if p := mustChoose(t, f, w); p.Method != Insert {
				t.Errorf("%s: %s", name, p.Method)
			}
			continue
		}
		mustFail(t, f, w, Refused, c.want)
	}
}
