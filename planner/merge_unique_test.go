package planner

import (
	"strings"
	"testing"
)

// TestMergeUniqueSource: rows that cannot share a key are not counted, and what could make them do so is.
func TestMergeUniqueSource(t *testing.T) {
	text := Type{OID: 25, Schema: "pg_catalog", Name: "text", SQL: "text", Mod: -1, Class: BaseType, Send: "pg_catalog.textsend", Receive: "pg_catalog.textrecv"}
	textual := func(f *Facts) { f.Source.Columns[0].Type, f.Target.Columns[0].Type = text, text }
	for name, c := range map[string]struct {
		change change
		unique bool
	}{
		"same key":        {func(*Facts, *Wish) {}, true},
		"under condition": {func(_ *Facts, w *Wish) { w.Where = "n > 5" }, true},
		"nothing":         {func(_ *Facts, w *Wish) { w.OnConflict = DoNothing }, true},
		"part of the key": {func(f *Facts, w *Wish) {
			w.ConflictColumns = []string{"id", "day"}
			f.Target.Keys = append(f.Target.Keys, Key{Name: "both", Columns: []string{"day", "id"}, Deterministic: true})
		}, true},
		"second key": {func(f *Facts, _ *Wish) {
			f.Source.Keys = append([]Key{{Name: "other", Columns: []string{"n"}}}, f.Source.Keys...)
		}, true},
		"text":                        {func(f *Facts, _ *Wish) { textual(f) }, true},
		"text without regard to case": {func(f *Facts, _ *Wish) { textual(f); f.Target.Keys[0].Deterministic = false }, false},
		"no key":                      {func(f *Facts, _ *Wish) { f.Source.Keys = nil }, false},
		"other key":                   {func(f *Facts, _ *Wish) { f.Source.Keys[0].Columns = []string{"day"} }, false},
		"wider key":                   {func(f *Facts, _ *Wish) { f.Source.Keys[0].Columns = []string{"id", "day"} }, false},
		"nullable":                    {func(f *Facts, _ *Wish) { f.Source.Columns[0].NotNull = false }, false},
		"other type":                  {func(f *Facts, _ *Wish) { f.Target.Columns[0].Type = text }, false},
		"own type":                    {func(f *Facts, _ *Wish) { f.Source.Columns[0].Type.OID, f.Target.Columns[0].Type.OID = 99999, 99999 }, false},
		"query":                       {func(f *Facts, _ *Wish) { f.Source.Kind, f.Source.Query = Query, "TABLE x" }, false},
		"view":                        {func(f *Facts, _ *Wish) { f.Source.Kind = View }, false},
	} {
		t.Run(name, func(t *testing.T) {
			f, w := keyed(), Wish{OnConflict: DoUpdate}
			f.Source.Columns[0].NotNull, f.Target.Keys[0].Deterministic = true, true
			f.Source.Keys = []Key{{Name: "from_pk", Primary: true, Columns: []string{"id"}}}
			c.change(&f, &w)
			m := mustChoose(t, f, w).Merge
			if unique := m.Count == ""; unique != c.unique {
				t.Fatalf("unique %v: %+v", unique, m)
			}
			if c.unique && (m.Plain != "" || m.CountAfter || strings.Contains(m.Merge, "DISTINCT")) {
				t.Errorf("%+v", m)
			}
		})
	}
}

// TestMergeCountsAfter: DO NOTHING takes all rows when none shares its key, unless a trigger has a say.
func TestMergeCountsAfter(t *testing.T) {
	p := mustChoose(t, keyed(), Wish{OnConflict: DoNothing})
	if !p.Merge.CountAfter || !strings.Contains(p.Text(), "Target SQL if that took fewer rows: SELECT COALESCE") {
		t.Error(p.Text())
	}
	f := keyed()
	f.Target.Triggers = []Trigger{{Name: "after", Row: true}, {Name: "statement", Before: true}}
	if p := mustChoose(t, f, Wish{OnConflict: DoNothing}); !p.Merge.CountAfter {
		t.Error("a trigger that changes no row")
	}
	f.Target.Triggers = append(f.Target.Triggers, Trigger{Name: "before", Row: true, Before: true})
	if p := mustChoose(t, f, Wish{OnConflict: DoNothing}); p.Merge.CountAfter || p.Merge.Count == "" {
		t.Errorf("%+v", p.Merge)
	}
}
