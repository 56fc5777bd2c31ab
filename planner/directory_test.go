package planner

import (
	"strings"
	"testing"
)

// dead is the seed table in a data directory without a server.
func dead() (Facts, Wish) {
	f, w := seed()
	f.SourceServer = Server{Address: "pgdata:/srv/15/main?dbname=app", Directory: "/srv/15/main", Version: 150000, VersionText: "15", Encoding: "UTF8",
		Database: "app", FreeConnections: 1 << 16}
	f.Source.File, f.Source.Rebuild = "base/16384/16400", nil
	return f, w
}

// directoryGoldens cover a data directory as the source.
func directoryGoldens() map[string]golden {
	return map[string]golden{
		"directory": dead,
		"directory_jobs": func() (Facts, Wish) {
			f, w := dead()
			f.TargetServer.FreePrepared, w.Connections = 64, 2
			f.Source.Sequences = []OwnedSequence{{Column: "id", Schema: "public", Name: "orders_id_seq", File: "base/16384/16399"}}
			f.Target.Sequences = []OwnedSequence{{Column: "id", Schema: "public", Name: "orders_id_seq"}}
			return f, w
		},
		"directory_create": func() (Facts, Wish) {
			f, w := dead()
			f.Source, f.Target = parted(f.Source, 100, ""), missing("public", "orders")
			for i := range f.Source.Leaves {
				f.Source.Leaves[i].File = "base/16384/1650" + string(rune('0'+i))
			}
			f.Source.Leaves[1].Unlogged = true
			f.Definition = &Definition{From: "the source's columns", Schema: "public", Name: "orders",
				Before: []string{"CREATE TABLE public.orders (id bigint NOT NULL, day date, n integer, note character varying(10))"}}
			w.Create = true
			return f, w
		},
		"directory_merge": func() (Facts, Wish) {
			f, w := dead()
			f.Target.Keys, f.Target.Empty, w.OnConflict = []Key{{Name: "orders_pkey", Primary: true, Columns: []string{"id"}}}, false, DoUpdate
			return f, w
		},
		"directory_where": func() (Facts, Wish) {
			f, w := dead()
			w.Where = "id > 3"
			return f, w
		},
		"directory_within": func() (Facts, Wish) {
			f, w := dead()
			w.Method = InsertSelect
			return f, w
		},
	}
}

func TestDirectoryRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(f *Facts, w *Wish)
		kind   ErrorKind
		words  []string
	}{
		{"binary", func(_ *Facts, w *Wish) { w.Format = Binary }, Refused, []string{"--format binary"}},
		{"ranges", func(_ *Facts, w *Wish) { w.Commit = CommitRange }, Refused, []string{"--commit range"}},
		{"view", func(f *Facts, _ *Wish) { f.Source.Kind = View }, Failed, []string{"view", "public.orders"}},
		{"foreign", func(f *Facts, _ *Wish) { f.Source.Kind = ForeignTable }, Failed, []string{"another server"}},
		{"query", func(f *Facts, _ *Wish) { f.Source.Kind = Query }, Failed, []string{"queries"}},
		{"columnar", func(f *Facts, _ *Wish) { f.Source.AccessMethod = "columnar" }, Failed, []string{`"columnar"`}},
		{"temporary", func(f *Facts, _ *Wish) { f.Source.Temporary = true }, Failed, []string{"temporary"}},
		{"sequence", func(f *Facts, _ *Wish) { f.Source.Kind = Sequence }, Failed, []string{"sequence"}},
		{"leaf", func(f *Facts, _ *Wish) {
			f.Source = parted(f.Source, 100, "")
			f.Source.Leaves[1].Kind = ForeignTable
		}, Failed, []string{"orders_b", "partition of public.orders"}},
		{"old", func(f *Facts, _ *Wish) { f.SourceServer.Version = 130000 }, Failed, []string{"too old"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, w := dead()
			c.change(&f, &w)
			mustFail(t, f, w, c.kind, c.words...)
		})
	}
}

// A type whose binary form could not pass is no matter where the rows are text, but a note about another type is.
func TestDirectoryPassesAsText(t *testing.T) {
	f, w := dead()
	f.Source.Columns = append(f.Source.Columns, col("x", Type{OID: 90001, Schema: "public", Name: "mood", SQL: "public.mood", Mod: -1, Class: Enum}))
	f.Target.Columns = append(f.Target.Columns, col("x", textType))
	p := mustChoose(t, f, w)
	if p.Format != Text {
		t.Errorf("format %s", p.Format)
	}
	if notes := strings.Join(p.Notes, "\n"); !strings.Contains(notes, "public.mood in the source and text in the target") {
		t.Errorf("no word of the types: %s", notes)
	}
}

// The last block of a range that is printed belongs to it, and the next range begins behind it.
func TestDirectoryReading(t *testing.T) {
	p := &Plan{Parts: []Part{{File: "base/5/7", Pages: 30}}}
	for want, r := range map[string]Range{
		"base/5/7 (30 blocks), decoded here":      {},
		"base/5/7, blocks 0 to 9, decoded here":   {ToPage: 10},
		"base/5/7, blocks 10 to 19, decoded here": {FromPage: 10, ToPage: 20},
		"base/5/7 from block 20 on, decoded here": {FromPage: 20},
	} {
		if got := p.reading(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
