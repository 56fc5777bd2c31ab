package planner

import (
	"strings"
	"testing"
)

// bothParted is a partitioned table on both sides with equal bounds.
func bothParted(key string) Facts {
	return between(parted(orders(1, "orders"), 100, key), parted(orders(2, "orders"), 200, key))
}

func targets(p *Plan) string {
	var all []string
	for _, part := range p.Parts {
		all = append(all, part.Target)
	}
	return strings.Join(all, " ")
}

func TestLeaves(t *testing.T) {
	const twins, root = "parts.orders_a parts.orders_b", "public.orders public.orders"
	for name, c := range map[string]struct {
		key    string
		change change
		want   string
	}{
		"equal":             {"RANGE (n)", func(*Facts, *Wish) {}, twins},
		"other key":         {"RANGE (n)", func(f *Facts, _ *Wish) { f.Target.Leaves[0].KeyDef = "RANGE (id)" }, "public.orders parts.orders_b"},
		"other bound":       {"LIST (n)", func(f *Facts, _ *Wish) { f.Target.Leaves[1].Bound = "DEFAULT" }, "parts.orders_a public.orders"},
		"plain target":      {"RANGE (n)", func(f *Facts, _ *Wish) { f.Target = orders(2, "orders") }, root},
		"foreign leaf":      {"RANGE (n)", func(f *Facts, _ *Wish) { f.Target.Leaves[0].Kind = ForeignTable }, "public.orders parts.orders_b"},
		"leaf RLS":          {"RANGE (n)", func(f *Facts, _ *Wish) { f.Target.Leaves[0].RowSecurity = true }, "public.orders parts.orders_b"},
		"leaf rules":        {"RANGE (n)", func(f *Facts, _ *Wish) { f.Target.Leaves[0].Rules = true }, "public.orders parts.orders_b"},
		"leaf denied":       {"RANGE (n)", func(f *Facts, _ *Wish) { f.Target.Leaves[0] = denyInsert(f.Target.Leaves[0]) }, "public.orders parts.orders_b"},
		"leaf type":         {"RANGE (n)", func(f *Facts, _ *Wish) { f.Target.Leaves[0].Columns = retyped(f.Target.Leaves[0].Columns) }, "public.orders parts.orders_b"},
		"statement trigger": {"RANGE (n)", func(f *Facts, _ *Wish) { f.Target.Triggers = []Trigger{{Name: "s"}} }, root},
		"leaf statement":    {"RANGE (n)", func(f *Facts, _ *Wish) { f.Target.Leaves[0].Triggers = []Trigger{{Name: "s"}} }, "public.orders parts.orders_b"},
		"row trigger":       {"RANGE (n)", func(f *Facts, _ *Wish) { f.Target.Triggers = []Trigger{{Name: "r", Row: true}} }, twins},
		"root default": {"RANGE (n)", func(f *Facts, w *Wish) {
			f.Target.Columns[3].HasDefault, w.Columns = true, []string{"id", "day", "n"}
		}, root},
		"followed":        {"RANGE (n)", func(f *Facts, w *Wish) { f.Target.Path, w.Columns = []Hop{{Name: "ft"}}, []string{"id", "day", "n"} }, root},
		"hash":            {"HASH (n)", func(*Facts, *Wish) {}, twins},
		"hash encoding":   {"HASH (n)", func(f *Facts, _ *Wish) { f.TargetServer.Encoding = "LATIN1" }, root},
		"hash of enum":    {"HASH (n)", func(f *Facts, _ *Wish) { enumColumn(f, 2) }, root},
		"range of text":   {"RANGE (note)", func(*Facts, *Wish) {}, root},
		"list of text":    {"LIST (note)", func(*Facts, *Wish) {}, twins},
		"text within":     {"RANGE (note)", func(f *Facts, _ *Wish) { f.SameDatabase = true }, twins},
		"one transaction": {"RANGE (n)", func(_ *Facts, w *Wish) { w.Fill = Append }, twins},
	} {
		t.Run(name, func(t *testing.T) {
			f, w := c.change.apply(bothParted(c.key))
			p := mustChoose(t, f, w)
			same(t, targets(p), c.want)
			if len(p.Ranges) != 2 {
				t.Errorf("%d ranges", len(p.Ranges))
			}
		})
	}
}

func denyInsert(l Leaf) Leaf {
	l.CanInsert = false
	l.Columns = append([]Column(nil), l.Columns...)
	for i := range l.Columns {
		l.Columns[i].CanWrite = false
	}
	return l
}

func retyped(columns []Column) []Column {
	columns = append([]Column(nil), columns...)
	columns[3].Type.Mod = 99
	return columns
}

func enumColumn(f *Facts, i int) {
	t := Type{OID: 70000, Name: "mood", SQL: "public.mood", Class: Enum, Labels: []string{"a"}}
	for _, r := range []*Relation{&f.Source, &f.Target} {
		r.Columns[i].Type = t
		for j := range r.Leaves {
			r.Leaves[j].Columns[i].Type = t
		}
	}
}

func TestSourceLeaves(t *testing.T) {
	f := bothParted("RANGE (n)")
	p := mustChoose(t, f, Wish{Where: "n > 1"})
	same(t, p.ReadSQL(p.Ranges[1]), "COPY (SELECT id, day, n, note FROM parts.orders_b WHERE (n > 1)) TO STDOUT WITH (FORMAT binary)")
	if p.Estimate.Rows != 2000 || p.Estimate.Bytes != 20*8192 {
		t.Errorf("%+v", p.Estimate)
	}
	for name, change := range map[string]func(*Leaf){
		"may not be read": func(l *Leaf) {
			l.CanSelect, l.Columns = false, append([]Column(nil), l.Columns...)
			l.Columns[0].CanRead = false
		},
		"row-level security": func(l *Leaf) { l.RowSecurity = true },
	} {
		f := bothParted("RANGE (n)")
		change(&f.Source.Leaves[1])
		p := mustChoose(t, f, Wish{})
		same(t, p.ReadSQL(p.Ranges[0]), "COPY (SELECT id, day, n, note FROM public.orders) TO STDOUT WITH (FORMAT binary)")
		if len(p.Ranges) != 1 || !strings.Contains(strings.Join(p.Notes, ""), name) {
			t.Errorf("%d ranges, notes %q", len(p.Ranges), p.Notes)
		}
	}
}

func TestForeignLeafIsSelected(t *testing.T) {
	f := bothParted("RANGE (n)")
	f.Source.Leaves[0].Kind, f.Source.Leaves[0].AccessMethod = ForeignTable, ""
	p := mustChoose(t, f, Wish{Connections: 2})
	same(t, p.ReadSQL(p.Ranges[0]), "COPY (SELECT id, day, n, note FROM parts.orders_a) TO STDOUT WITH (FORMAT binary)")
}
