package planner

import (
	"strings"
	"testing"
)

func TestSequences(t *testing.T) {
	serial := func(name string) []OwnedSequence {
		return []OwnedSequence{{Column: "id", Schema: "public", Name: name}}
	}
	const set = ", $1::pg_catalog.int8, $2::pg_catalog.bool)"
	for name, c := range map[string]struct {
		change change
		want   string
	}{
		"set":          {func(*Facts, *Wish) {}, "SELECT pg_catalog.setval('public.\"to\"'::pg_catalog.regclass" + set},
		"shared":       {func(f *Facts, _ *Wish) { f.SameDatabase, f.Target.Sequences = true, serial("from") }, ""},
		"only source":  {func(f *Facts, _ *Wish) { f.Target.Sequences = nil }, ""},
		"only target":  {func(f *Facts, _ *Wish) { f.Source.Sequences = nil }, ""},
		"column apart": {func(f *Facts, w *Wish) { f.Target.Columns[0].HasDefault, w.Columns = true, []string{"n"} }, ""},
		"made": {func(f *Facts, w *Wish) { f.Target, w.Create, f.Definition = missing("public", "o'x"), true, dumped() },
			`SELECT pg_catalog.setval(pg_catalog.pg_get_serial_sequence('public."o''x"', 'id')::pg_catalog.regclass` + set},
	} {
		f := between(orders(1, "orders"), orders(2, "orders"))
		f.Source.Sequences, f.Target.Sequences = serial("from"), serial("to")
		var w Wish
		c.change(&f, &w)
		p := mustChoose(t, f, w)
		if len(p.Sequences) == 0 {
			same(t, "", c.want)
			continue
		}
		t.Run(name, func(t *testing.T) {
			same(t, p.Sequences[0].Read, `SELECT last_value, is_called FROM public."from"`)
			same(t, p.Sequences[0].Write, c.want)
		})
	}
}

func TestSequenceKeepsTheGreater(t *testing.T) {
	f, w := goldens()["sequences"]()
	write := mustChoose(t, f, w).Sequences[0].Write
	for _, want := range []string{"seqincrement > 0 AND $1 > s.last_value", "seqincrement < 0 AND $1 < s.last_value", "$2 AND NOT s.is_called"} {
		if !strings.Contains(write, want) {
			t.Errorf("%s lacks %s", write, want)
		}
	}
}

// TestUsedSequenceStaysWhereItIs: a replacement takes over what its columns own, and not what other tables may use.
func TestUsedSequenceStaysWhereItIs(t *testing.T) {
	f := between(orders(1, "orders"), orders(2, "orders"))
	f.Source.Sequences = []OwnedSequence{{Column: "id", Schema: "public", Name: "from"}}
	f.Target.Sequences = []OwnedSequence{{Column: "id", Schema: "public", Name: "shared", Used: true}}
	p := mustChoose(t, f, Wish{Fill: Replace})
	for _, step := range p.After {
		if strings.Contains(step.SQL, "shared") {
			t.Error(step.SQL)
		}
	}
	if len(p.Sequences) != 1 || !strings.Contains(p.Sequences[0].Write, "$1 > s.last_value") {
		t.Errorf("%+v", p.Sequences)
	}
	f.Target.Sequences = append(f.Target.Sequences, OwnedSequence{Column: "id", Schema: "public", Name: "own"})
	if p := mustChoose(t, f, Wish{}); len(p.Sequences) != 1 || !strings.HasSuffix(p.Sequences[0].Write, `'public.own'::pg_catalog.regclass, $1::pg_catalog.int8, $2::pg_catalog.bool)`) {
		t.Errorf("an owned one goes before one that is used: %+v", p.Sequences)
	}
	f.Target.Sequences = []OwnedSequence{{Column: "id", Schema: "public", Name: "shared", Used: true, Denied: true}}
	if p := mustChoose(t, f, Wish{}); len(p.Sequences) != 0 || !strings.Contains(p.Text(), "sequence public.shared, which the default of column id uses, may not be read or set") {
		t.Error(p.Text())
	}
}
