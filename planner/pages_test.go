package planner

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// pageFacts are those of two servers on this machine whose tables lie alike.
func pageFacts(f Facts) *PageFacts {
	side := func(r *Relation) PageSide {
		s := PageSide{BlockSize: 8192, SegmentBlocks: 131072}
		if r.Kind == Missing {
			return s
		}
		s.File = fmt.Sprintf("base/5/%d", r.OID)
		for _, c := range r.Columns {
			s.Attributes = append(s.Attributes, PageAttribute{Name: c.Name, Len: 8, Align: 'd', NotNull: c.NotNull})
		}
		return s
	}
	return &PageFacts{Source: side(&f.Source), Target: side(&f.Target), FullPageWrites: true}
}

func pages(change func(f *Facts, w *Wish)) (Facts, Wish) {
	f := within(orders(1, "orders"), orders(2, "orders_copy"))
	f.Source.AccessMethod, f.Target.AccessMethod = "heap", "heap"
	f.Target.Rebuild, f.Target.IsOwner, f.Target.CanCreate = &Rebuild{}, true, true
	w := Wish{Method: Pages}
	f.Pages = pageFacts(f)
	change(&f, &w)
	return f, w
}

func pagesGoldens() map[string]golden {
	return map[string]golden{
		"pages": func() (Facts, Wish) {
			return pages(func(f *Facts, _ *Wish) { f.TargetServer.Version = 160000 })
		},
		"pages_not_logged": func() (Facts, Wish) {
			return pages(func(f *Facts, w *Wish) {
				w.NotLogged, w.AcceptMissing, w.Connections = true, true, 2
				f.Pages.Unseen = []string{"a replication slot waits for the WAL"}
				f.Pages.Source.Attributes[1].NotNull, f.Pages.Target.Attributes[1].NotNull = false, true
				f.Pages.Target.Checks = []PageConstraint{{Name: "positive", Definition: "CHECK ((n > 0))", Expression: "(n > 0)", Valid: true}}
			})
		},
		"pages_create": func() (Facts, Wish) {
			return pages(func(f *Facts, w *Wish) {
				f.Target = missing("public", "orders_copy")
				f.Pages.Target.Attributes = nil
				f.Definition, w.Create = dumped(), true
			})
		},
	}
}

func TestPagesRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(f *Facts, w *Wish)
		want   string
	}{
		{"where", func(_ *Facts, w *Wish) { w.Where = "id > 1" }, "copied whole"},
		{"columns", func(_ *Facts, w *Wish) { w.Columns = []string{"id", "day", "n", "note"} }, "copied whole"},
		{"append", func(_ *Facts, w *Wish) { w.Fill = Append }, "cannot be added"},
		{"partitioned", func(f *Facts, _ *Wish) { f.Source.Kind = Partitioned }, "name its partitions"},
		{"unlogged source", func(f *Facts, _ *Wish) { f.Source.Unlogged = true }, "checkpoint does not write"},
		{"unlogged target", func(f *Facts, _ *Wish) { f.Target.Unlogged = true }, "would empty it"},
		{"access method", func(f *Facts, _ *Wish) { f.Source.AccessMethod = "columnar" }, `"columnar"`},
		{"trigger", func(f *Facts, _ *Wish) { f.Target.Triggers = []Trigger{{Name: "t"}} }, "would not fire"},
		{"policy", func(f *Facts, _ *Wish) { f.Target.RowSecurity = true }, "ow-level security"},
		{"owner", func(f *Facts, _ *Wish) { f.Target.IsOwner = false }, "does not own it"},
		{"standby", func(f *Facts, _ *Wish) { f.SourceServer.Standby = true }, "is a standby"},
		{"pooler", func(f *Facts, _ *Wish) { f.TargetServer.Pooled = true }, "pooler"},
		{"encoding", func(f *Facts, _ *Wish) { f.SourceServer.Encoding = "LATIN1" }, "encoding is LATIN1"},
		{"files", func(f *Facts, _ *Wish) { f.Pages.Blocked = []string{"the files of the source are elsewhere"} }, "are elsewhere"},
		{"block size", func(f *Facts, _ *Wish) { f.Pages.Source.BlockSize = 4096 }, "4096 bytes"},
		{"full_page_writes", func(f *Facts, _ *Wish) { f.Pages.FullPageWrites = false }, "full_page_writes off"},
		{"standbys", func(f *Facts, w *Wish) { w.NotLogged, f.Pages.Unseen = true, []string{"the WAL is archived"} }, "the WAL is archived; --accept"},
		{"column of the target alone", func(f *Facts, _ *Wish) { f.Pages.Target.Attributes[1].Name = "other" }, "which the source lacks"},
		{"size", func(f *Facts, _ *Wish) { f.Pages.Target.Attributes[1].Len = 4 }, "stored otherwise"},
		{"generated", func(f *Facts, _ *Wish) { f.Pages.Target.Attributes[2].Generated = "(id + 1)" }, "generated otherwise"},
		{"length", func(f *Facts, _ *Wish) { f.Target.Columns[3].Type.Mod = 9 }, "in the target"},
		{"object numbers", func(f *Facts, _ *Wish) {
			f.SameDatabase = false
			f.Source.Columns[2].Type = Type{OID: 2205, Schema: "pg_catalog", Name: "regclass", SQL: "regclass", Mod: -1, Class: BaseType}
			f.Target.Columns[2].Type = f.Source.Columns[2].Type
		}, "numbers of objects"},
		{"composite of another database", func(f *Facts, _ *Wish) {
			f.SameDatabase = false
			f.Source.Columns[2].Type = Type{OID: 70000, Schema: "public", Name: "pair", SQL: "public.pair", Mod: -1, Class: Composite}
			f.Target.Columns[2].Type = f.Source.Columns[2].Type
		}, "another database's own"},
		{"label of another database", func(f *Facts, _ *Wish) {
			f.SameDatabase = false
			f.Source.Columns[2].Type = Type{OID: 70000, Schema: "public", Name: "mood", SQL: "public.mood", Mod: -1, Class: Enum, Labels: []string{"sad"}}
			f.Target.Columns[2].Type = f.Source.Columns[2].Type
			f.Target.Columns[2].Type.Labels = []string{"happy"}
		}, "lacks the label 'sad'"},
		{"domain over another type", func(f *Facts, _ *Wish) {
			f.SameDatabase = false
			f.Source.Columns[2].Type, f.Target.Columns[2].Type = amountOf(int4Type), amountOf(Type{OID: 700, Schema: "pg_catalog", Name: "float4", SQL: "real", Mod: -1, Class: BaseType})
		}, "is integer in the source and real in the target"},
		{"infinite interval", func(f *Facts, _ *Wish) {
			f.SameDatabase, f.SourceServer.Version = false, 180000
			f.Source.Columns[2].Type = Type{OID: 1186, Schema: "pg_catalog", Name: "interval", SQL: "interval", Mod: -1, Class: BaseType}
			f.Target.Columns[2].Type = f.Source.Columns[2].Type
		}, "infinity"},
		{"row type of a catalog", func(f *Facts, _ *Wish) {
			f.SameDatabase = false
			f.Source.Columns[2].Type = Type{OID: 10000, Schema: "pg_catalog", Name: "pg_am", SQL: "pg_am", Mod: -1, Class: Composite}
			f.Target.Columns[2].Type = f.Source.Columns[2].Type
		}, "row type"},
		{"array whose element has another number", func(f *Facts, _ *Wish) {
			f.SameDatabase, f.SourceServer.Version = false, 160000
			element := Type{OID: 13000, Schema: "information_schema", Name: "sql_identifier", SQL: "information_schema.sql_identifier", Mod: -1, Class: Domain}
			f.Source.Columns[2].Type = Type{OID: 12999, Schema: "information_schema", Name: "_sql_identifier", SQL: "information_schema.sql_identifier[]", Mod: -1, Class: Array, Elem: &element}
			f.Target.Columns[2].Type = f.Source.Columns[2].Type
		}, "another number in each version"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, w := pages(c.change)
			p, err := Choose(f, w)
			var e *Error
			if !errors.As(err, &e) || e.Kind != Refused || !strings.Contains(e.Detail, c.want) {
				t.Errorf("got plan %v and error %v (%s), want a refusal with %q", p != nil, err, e.Detail, c.want)
			}
		})
	}
}

// amountOf is a domain.
func amountOf(base Type) Type {
	return Type{OID: 70000, Schema: "public", Name: "amount", SQL: "public.amount", Mod: -1, Class: Domain, Base: &base}
}

func TestPagesHaveDomainsChecked(t *testing.T) {
	f, w := pages(func(f *Facts, _ *Wish) {
		f.SameDatabase = false
		f.Source.Columns[2].Type, f.Target.Columns[2].Type = amountOf(int4Type), amountOf(int4Type)
	})
	const want = "num_nulls((n::integer)::public.amount)"
	if p := mustChoose(t, f, w); len(p.Pages.Checks) != 1 || !strings.Contains(p.Pages.Checks[0].SQL, want) {
		t.Errorf("checks are %v, want one with %s", p.Pages.Checks, want)
	}
	f.SameDatabase = true
	if p := mustChoose(t, f, w); len(p.Pages.Checks) != 0 {
		t.Errorf("within one database a domain is the same, and %v are checked", p.Pages.Checks)
	}
}

func TestPageColumns(t *testing.T) {
	attributes := func(names ...string) []PageAttribute {
		all := []PageAttribute{}
		for _, name := range names {
			all = append(all, PageAttribute{Name: name, Dropped: name == "-", Len: 8, Align: 'd'})
		}
		return all
	}
	for _, c := range []struct {
		name     string
		from, to []PageAttribute
		want     []int
	}{
		{"the same", attributes("id", "day", "n", "note"), attributes("id", "day", "n", "note"), nil},
		{"a new table", attributes("id", "day", "n", "note"), nil, nil},
		{"a new table of one with a dropped column", attributes("id", "-", "day", "n", "note"), nil, []int{0, 2, 3, 4}},
		{"dropped at the end", attributes("id", "day", "n", "note", "-"), attributes("id", "day", "n", "note"), []int{0, 1, 2, 3}},
		{"dropped in the target", attributes("id", "day", "n", "note"), attributes("-", "id", "day", "-", "n", "note"), nil},
		{"in another order", attributes("id", "day", "n", "note"), attributes("note", "id", "n", "day"), []int{3, 0, 2, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, w := pages(func(f *Facts, w *Wish) {
				if c.to == nil {
					f.Target, w.Create, f.Definition = missing("public", "x"), true, dumped()
				}
				f.Pages.Source.Attributes, f.Pages.Target.Attributes = c.from, c.to
			})
			p := mustChoose(t, f, w)
			if !slices.Equal(p.Pages.Columns, c.want) || (p.Pages.Columns == nil) != (c.want == nil) {
				t.Errorf("columns are %v, want %v", p.Pages.Columns, c.want)
			}
		})
	}
}

func TestPagesAreTakenByNameOnly(t *testing.T) {
	f, w := pages(func(_ *Facts, w *Wish) { w.Method = Auto })
	if p := mustChoose(t, f, w); p.Method == Pages {
		t.Error("pages were taken without being asked for")
	}
	f, w = pages(func(_ *Facts, w *Wish) { w.Method, w.NotLogged = Relay, true })
	if _, err := Choose(f, w); err == nil || !strings.Contains(err.Error(), "--method pages") {
		t.Errorf("--not-logged with relay: %v", err)
	}
}
