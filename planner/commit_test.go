package planner

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestReplaceTellsForeignKeysOnce(t *testing.T) {
	f := between(orders(1, "orders"), orders(2, "orders"))
	f.Target.Empty = false
	f.Target.Rebuild = &Rebuild{Blockers: []string{"a foreign key of public.l refers to it"}, ReferencedBy: []string{"public.l"}}
	_, err := Choose(f, Wish{Fill: Replace})
	var e *Error
	if !errors.As(err, &e) || e.Detail != "A foreign key of public.l refers to it." || strings.Contains(e.Hint, "Use --truncate") {
		t.Errorf("%+v", err)
	}
}

func TestAtomicity(t *testing.T) {
	for name, c := range map[string]struct {
		change change
		atomic Atomic
		n      int
		note   string
	}{
		"one":           {func(_ *Facts, w *Wish) { w.Connections = 1 }, OneTransaction, 1, ""},
		"two-phase":     {func(f *Facts, _ *Wish) { f.TargetServer.FreePrepared = 4 }, TwoPhase, 4, ""},
		"append":        {func(f *Facts, w *Wish) { f.TargetServer.FreePrepared, w.Fill, f.Target.Empty = 4, Append, false }, TwoPhase, 4, ""},
		"too few":       {func(f *Facts, _ *Wish) { f.TargetServer.FreePrepared = 3 }, Swap, 4, ""},
		"swap":          {func(*Facts, *Wish) {}, Swap, 4, ""},
		"pooled":        {func(f *Facts, _ *Wish) { f.TargetServer.FreePrepared, f.TargetServer.Pooled = 64, true }, Swap, 4, ""},
		"truncate":      {func(f *Facts, w *Wish) { f.TargetServer.FreePrepared, w.Fill, f.Target.Empty = 64, Truncate, false }, Swap, 4, ""},
		"append only":   {func(f *Facts, w *Wish) { w.Fill, f.Target.Empty = Append, false }, OneTransaction, 1, "rows are added"},
		"blocked":       {func(f *Facts, _ *Wish) { f.Target.Rebuild.Blockers = []string{"view public.v reads it"} }, OneTransaction, 1, "view public.v reads it"},
		"referenced":    {func(f *Facts, _ *Wish) { f.Target.Rebuild.ReferencedBy = []string{"public.l"} }, OneTransaction, 1, "public.l"},
		"triggers":      {func(f *Facts, _ *Wish) { f.Target.Triggers = []Trigger{{Name: "t"}} }, OneTransaction, 1, "would not fire"},
		"partitioned":   {func(f *Facts, _ *Wish) { f.Target.Kind = Partitioned }, OneTransaction, 1, "it is a partitioned table"},
		"temporary":     {func(f *Facts, _ *Wish) { f.TargetServer.FreePrepared, f.Target.Temporary = 64, true }, OneTransaction, 1, "temporary"},
		"unknown table": {func(f *Facts, _ *Wish) { f.Target.Rebuild = nil }, OneTransaction, 1, "not known"},
		"other's":       {func(f *Facts, _ *Wish) { f.Target.IsOwner = false }, OneTransaction, 1, "does not own it"},
		"no create":     {func(f *Facts, _ *Wish) { f.Target.CanCreate = false }, OneTransaction, 1, "may not create tables"},
		"replace":       {func(f *Facts, w *Wish) { w.Fill, f.Target.Empty, w.Connections = Replace, false, 1 }, Swap, 1, ""},
		"replace fires": {func(f *Facts, w *Wish) { w.Fill, f.Target.Triggers = Replace, []Trigger{{Name: "t"}} }, Swap, 4, "do not fire"},
		"range":         {func(_ *Facts, w *Wish) { w.Commit = CommitRange }, PerRange, 4, ""},
		"created": {func(f *Facts, w *Wish) {
			f.Target, f.Definition, w.Create = missing("public", "orders"), dumped(), true
		}, Swap, 4, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := Wish{Connections: 4}
			f := between(orders(1, "orders"), orders(2, "orders"))
			c.change(&f, &w)
			p := mustChoose(t, f, w)
			if p.Atomic != c.atomic || p.Connections != c.n || !strings.Contains(strings.Join(p.Notes, "; "), c.note) {
				t.Errorf("%s on %d, notes %q; want %s on %d, %q", p.Atomic, p.Connections, p.Notes, c.atomic, c.n, c.note)
			}
			if p.Atomic == OneTransaction && len(p.Ranges) != 1 {
				t.Errorf("%d ranges", len(p.Ranges))
			}
		})
	}
}

func TestFreeze(t *testing.T) {
	fresh := func(f *Facts, w *Wish) {
		f.Target, f.Definition, w.Create = missing("public", "orders"), dumped(), true
	}
	for name, c := range map[string]struct {
		change change
		frozen bool
	}{
		"empty":        {func(*Facts, *Wish) {}, false},
		"truncated":    {func(_ *Facts, w *Wish) { w.Fill = Truncate }, true},
		"asked not to": {func(_ *Facts, w *Wish) { w.Fill, w.Freeze = Truncate, No }, false},
		"asked":        {func(_ *Facts, w *Wish) { w.Fill, w.Freeze = Truncate, Yes }, true},
		"made":         {fresh, true},
		"made parts":   {func(f *Facts, w *Wish) { fresh(f, w); f.Source = parted(f.Source, 9, "LIST (n)") }, false},
		"partitioned":  {func(f *Facts, w *Wish) { f.Target.Kind, w.Fill = Partitioned, Truncate }, false},
		"foreign":      {func(f *Facts, w *Wish) { f.Target.Kind, w.Fill = ForeignTable, Truncate }, false},
		"replaced":     {func(_ *Facts, w *Wish) { w.Fill = Replace }, false},
		"swapped":      {func(f *Facts, w *Wish) { fresh(f, w); w.Connections = 4 }, false},
		"insert":       {func(_ *Facts, w *Wish) { w.Fill, w.Method = Truncate, Insert }, false},
		"by range":     {func(_ *Facts, w *Wish) { w.Fill, w.Commit = Truncate, CommitRange }, false},
	} {
		t.Run(name, func(t *testing.T) {
			f, w := c.change.apply(between(orders(1, "orders"), orders(2, "orders")))
			p := mustChoose(t, f, w)
			if p.Frozen != c.frozen || c.frozen != strings.Contains(p.WriteSQL(p.Ranges[0]), "FREEZE") {
				t.Errorf("frozen %v: %s", p.Frozen, p.WriteSQL(p.Ranges[0]))
			}
		})
	}
	f := within(orders(1, "orders"), orders(2, "copy"))
	mustFail(t, f, Wish{Method: InsertSelect, Fill: Truncate, Freeze: Yes}, Refused, "does not write the table by COPY")
}

// TestStepsOrder: what belongs to the deciding transaction stands together, with steps by themselves only before and after it.
func TestStepsOrder(t *testing.T) {
	for name, given := range goldens() {
		p, err := Choose(given())
		if err != nil {
			continue
		}
		inside, left := false, false
		for _, s := range p.After {
			switch {
			case !s.Own && left:
				t.Errorf("%s: %s comes after a step by itself in mid-transaction", name, s.SQL)
			case !s.Own:
				inside = true
			case inside:
				left = true
			}
		}
		for _, s := range append(append([]Step(nil), p.Before...), p.After...) {
			if s.Parallel && !s.Own {
				t.Errorf("%s: %s is parallel inside a transaction", name, s.SQL)
			}
		}
	}
}

// TestMadeTableIsDecidedByItsLastStep: a failure of any of them, the last one too, takes the table back.
func TestMadeTableIsDecidedByItsLastStep(t *testing.T) {
	f := between(orders(1, "orders"), missing("public", "orders"))
	for _, d := range []*Definition{dumped(), {Before: []string{"CREATE"}, Indexes: []string{"A", "B"}}, {Before: []string{"CREATE"}}} {
		f.Definition = d
		p := mustChoose(t, f, Wish{Create: true, Connections: 2})
		steps := slices.DeleteFunc(slices.Clone(p.After), func(s Step) bool { return s.Late })
		for i, s := range steps {
			if last := i == len(steps)-1; s.Own == last {
				t.Errorf("step %d of %d: %+v", i+1, len(steps), s)
			}
		}
		if first := p.After[0]; first.Own && first.Undo != "DROP TABLE IF EXISTS public.orders" {
			t.Errorf("%+v", first)
		}
	}
}

func TestRowsOfAnEarlierCopyAreForgotten(t *testing.T) {
	f := between(orders(1, "orders"), orders(2, "orders"))
	f.Target.Empty, f.Recorded = false, &Recorded{Ranges: []Range{{}}, Done: []bool{true}, Key: "it's"}
	p := mustChoose(t, f, Wish{Fill: Truncate})
	if n := len(p.After); n != 2 || p.After[1].SQL != "DELETE FROM pghaul.move WHERE key = 'it''s'" || p.After[1].Own {
		t.Errorf("%+v", p.After)
	}
	if p = mustChoose(t, f, Wish{Fill: Append}); len(p.After) != 0 {
		t.Errorf("its rows stay, and so must their record: %+v", p.After)
	}
}

func TestTruncateByRangeComesFirst(t *testing.T) {
	f := between(orders(1, "orders"), orders(2, "orders"))
	f.Target.Empty = false
	p := mustChoose(t, f, Wish{Fill: Truncate, Commit: CommitRange})
	if n := len(p.Before); n != 2 || p.Before[1].SQL != "TRUNCATE TABLE ONLY public.orders" || !p.Before[1].Own {
		t.Errorf("%+v", p.Before)
	}
}

func TestCreateByRangeMakesTheTableWhole(t *testing.T) {
	f := between(orders(1, "orders"), missing("public", "orders"))
	f.Definition = dumped()
	p := mustChoose(t, f, Wish{Create: true, Commit: CommitRange})
	if !strings.Contains(p.Before[1].SQL, "PRIMARY KEY") || !strings.Contains(p.Before[1].SQL, "CLUSTER ON") {
		t.Errorf("%+v", p.Before)
	}
	if len(p.After) != 1 || !p.After[0].Late || !p.After[0].Own || !strings.Contains(p.After[0].SQL, "FOREIGN KEY") {
		t.Errorf("%+v", p.After)
	}
}

func TestMadeTableIsRenamed(t *testing.T) {
	f := between(orders(1, "orders"), missing("Other", "orders_copy"))
	f.Definition = dumped()
	p := mustChoose(t, f, Wish{Create: true})
	var all []string
	for _, s := range p.Before {
		all = append(all, s.SQL)
	}
	if !strings.HasSuffix(strings.Join(all, "|"), `|ALTER TABLE public.orders RENAME TO orders_copy|ALTER TABLE public.orders_copy SET SCHEMA "Other"`) {
		t.Errorf("%q", all)
	}
	same(t, p.WriteSQL(p.Ranges[0]), `COPY "Other".orders_copy (id, day, n, note) FROM STDIN WITH (FORMAT binary, FREEZE)`)
}

func TestHiddenNameIsStable(t *testing.T) {
	a, b := hiddenBase("public", "orders"), hiddenBase("public", "orders")
	if a != b || a == hiddenBase("publi", "corders") || len(a) > 63 {
		t.Errorf("%s %s", a, b)
	}
}

func TestGuardTakesAnyName(t *testing.T) {
	w := swapping{s: &situation{targetName: `"a$pghaul$'b"`}}
	if got := w.guard(); !strings.HasPrefix(got, "DO 'BEGIN") || strings.Count(got, "'")%2 != 0 {
		t.Error(got)
	}
}
