package planner

import (
	"slices"
	"strings"
	"testing"
)

func moved(p *Plan) string {
	names := make([]string, len(p.Columns))
	for i, c := range p.Columns {
		names[i] = c.Source.RealName() + ">" + c.Target.RealName()
	}
	return strings.Join(names, " ")
}

func TestPairing(t *testing.T) {
	for name, c := range map[string]struct {
		change change
		moved  string
		note   string
	}{
		"by name":          {func(f *Facts, _ *Wish) { slices.Reverse(f.Target.Columns) }, "id>id day>day n>n note>note", ""},
		"generated target": {func(f *Facts, _ *Wish) { f.Target.Columns[2].Generated = true }, "id>id day>day note>note", "generated column n is computed"},
		"generated source": {func(f *Facts, _ *Wish) { f.Source.Columns[2].Generated = true }, "id>id day>day n>n note>note", ""},
		"default":          {func(f *Facts, _ *Wish) { f.Source.Columns = f.Source.Columns[:3] }, "id>id day>day n>n", "default is used for column note"},
		"some":             {func(_ *Facts, w *Wish) { w.Columns = []string{"note", "id"} }, "id>id note>note", "default is used for columns day and n"},
		"some of more":     {func(f *Facts, w *Wish) { f.Target.Columns, w.Columns = f.Target.Columns[:2], []string{"id"} }, "id>id", ""},
		"identity":         {func(f *Facts, _ *Wish) { f.Target.Columns[0].Identity = 'a' }, "id>id day>day n>n note>note", ""},
		"identity default": {func(f *Facts, _ *Wish) { f.Target.Columns[0].Identity, f.Source.Columns = 'd', f.Source.Columns[1:] }, "day>day n>n note>note", "default is used for column id"},
		"filled by trigger": {func(f *Facts, _ *Wish) {
			f.Target.Triggers, f.Source.Columns = []Trigger{{Name: "fill", Row: true, Before: true}}, f.Source.Columns[1:]
		}, "day>day n>n note>note", "triggers fire on the target: fill"},
		"filled by domain": {func(f *Facts, _ *Wish) {
			f.Target.Columns = append(f.Target.Columns, notNull(col("d", domainOf(70000, int4Type))))
		}, "id>id day>day n>n note>note", "default is used for column d"},
		"made generated": {func(f *Facts, w *Wish) {
			f.Source.Columns[2].Generated = true
			f.Target, f.Definition, w.Create = missing("public", "orders"), dumped(), true
		}, "id>id day>day note>note", ""},
		"made behind a foreign table": {func(f *Facts, w *Wish) {
			f.Source.Columns[0].Remote = "ID"
			f.Target, f.Definition, w.Create = missing("public", "orders"), dumped(), true
		}, "ID>id day>day n>n note>note", ""},
		"remote names": {func(f *Facts, _ *Wish) { f.Source.Columns[0].Remote, f.Target.Columns[1].Remote = "ID", "the day" }, "ID>id day>the day n>n note>note", ""},
		"other type":   {func(f *Facts, _ *Wish) { f.Target.Columns[2].Type = textType }, "id>id day>day n>n note>note", "column n is integer in the source and text in the target"},
	} {
		t.Run(name, func(t *testing.T) {
			f, w := c.change.apply(between(orders(1, "orders"), orders(2, "orders")))
			p := mustChoose(t, f, w)
			same(t, moved(p), c.moved)
			if !strings.Contains(strings.Join(p.Notes, "\n"), c.note) {
				t.Errorf("notes %q lack %q", p.Notes, c.note)
			}
		})
	}
}

func TestNoColumnsOnBothSides(t *testing.T) {
	f := within(table(1, "public", "a"), table(2, "public", "b"))
	p := mustChoose(t, f, Wish{Method: Relay})
	same(t, p.ReadSQL(p.Ranges[0]), "COPY (SELECT FROM public.a) TO STDOUT WITH (FORMAT binary)")
	same(t, p.WriteSQL(p.Ranges[0]), "COPY public.b FROM STDIN WITH (FORMAT binary)")
	p = mustChoose(t, f, Wish{Method: InsertSelect})
	same(t, p.WriteSQL(p.Ranges[0]), "INSERT INTO public.b SELECT FROM public.a")
	p = mustChoose(t, f, Wish{Method: Insert})
	same(t, p.InsertSQL(p.Ranges[0], 1), "INSERT INTO public.b DEFAULT VALUES")
	same(t, p.InsertSQL(p.Ranges[0], 3), "INSERT INTO public.b SELECT FROM pg_catalog.generate_series(1, 3)")
}

func TestGeneratedSourceIsSelected(t *testing.T) {
	f := between(orders(1, "orders"), orders(2, "orders"))
	f.Source.Columns[2].Generated = true
	p := mustChoose(t, f, Wish{})
	same(t, p.ReadSQL(p.Ranges[0]), "COPY (SELECT id, day, n, note FROM public.orders) TO STDOUT WITH (FORMAT binary)")
}

func TestNamesAreQuoted(t *testing.T) {
	source := table(1, "My Schema", `a"b`, col("Select", int4Type), col("x.y", int4Type), col("😀", int4Type))
	target := table(2, "public", "table", source.Columns...)
	p := mustChoose(t, between(source, target), Wish{})
	same(t, p.ReadSQL(p.Ranges[0]), `COPY "My Schema"."a""b" ("Select", "x.y", "😀") TO STDOUT WITH (FORMAT binary)`)
	same(t, p.WriteSQL(p.Ranges[0]), `COPY public."table" ("Select", "x.y", "😀") FROM STDIN WITH (FORMAT binary)`)
}

func TestRulesAreTold(t *testing.T) {
	f := between(orders(1, "orders"), orders(2, "orders"))
	f.Target.Rules = true
	if p := mustChoose(t, f, Wish{}); !strings.Contains(strings.Join(p.Notes, ""), "rules of the target decide") {
		t.Errorf("notes %q", p.Notes)
	}
}

func TestInheritanceParentOfOne(t *testing.T) {
	f := between(orders(1, "orders"), orders(2, "orders"))
	f.Source.Children = 1
	if p := mustChoose(t, f, Wish{}); !strings.Contains(strings.Join(p.Notes, ""), "the 1 table that inherits") {
		t.Errorf("notes %q", p.Notes)
	}
}

func TestInheritanceParent(t *testing.T) {
	f := between(orders(1, "orders"), orders(2, "orders"))
	f.Source.Children = 2
	p := mustChoose(t, f, Wish{Where: "n > 1"})
	same(t, p.ReadSQL(p.Ranges[0]), "COPY (SELECT id, day, n, note FROM ONLY public.orders WHERE (n > 1)) TO STDOUT WITH (FORMAT binary)")
	if !strings.Contains(strings.Join(p.Notes, ""), "2 tables that inherit") {
		t.Errorf("notes %q", p.Notes)
	}
	p = mustChoose(t, f, Wish{})
	same(t, p.ReadSQL(p.Ranges[0]), "COPY public.orders (id, day, n, note) TO STDOUT WITH (FORMAT binary)")
	// postgres_fdw would read the children too.
	f.Source.Path = []Hop{{Schema: "public", Name: "orders"}}
	p = mustChoose(t, f, Wish{})
	same(t, p.ReadSQL(p.Ranges[0]), "COPY (SELECT id, day, n, note FROM public.orders) TO STDOUT WITH (FORMAT binary)")
}
