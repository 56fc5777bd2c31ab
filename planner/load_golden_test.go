package planner

import (
	"errors"
	"maps"
	"testing"
)

// loadGolden is one load: facts and a wish.
type loadGolden func() (LoadFacts, LoadWish)

// csv is a file of the rows of the seed table.
func csv() (LoadFacts, LoadWish) {
	target := orders(2, "orders")
	target.Rows, target.Pages, target.HeapBytes = 0, 0, 0
	return LoadFacts{
		TargetServer: server("db2:5432/app"), Target: target, Processors: 2, Input: `CSV with a header, delimiter ","`, Files: []string{"orders.csv (401 MB)"},
		Bytes: 401 << 20, Fields: []string{"id", "day", "n", "note"}, Width: 4,
	}, LoadWish{MaxErrors: -1}
}

// constrained is the same for a table with a primary key and other constraints.
func constrained() (LoadFacts, LoadWish) {
	f, w := csv()
	f.Target.Keys, f.Target.Indexes = []Key{{Name: "orders_pkey", Primary: true, Columns: []string{"id"}}}, 2
	f.Target.Rebuild = &Rebuild{Indexes: []IndexDef{
		{Name: "orders_pkey", Unique: true, Method: "USING btree (id)", Constraint: "PRIMARY KEY", ConstraintName: "orders_pkey", Clustered: true},
		{Name: "orders_day", Method: "USING btree (day)", Comment: "it's small"},
	}}
	f.Checks = []Check{
		{Name: "orders_id_not_null", Kind: CheckNotNull, Columns: []string{"id"}},
		{Name: "orders_n_check", Kind: CheckExpression, Expression: "n > 0", Columns: []string{"n"}},
		{Name: "orders_pkey", Kind: CheckUnique, Columns: []string{"id"}, Operators: []string{"pg_catalog.="}},
		{Name: "orders_n_fkey", Kind: CheckForeign, Columns: []string{"n"}, References: "ONLY public.numbers", Referenced: []string{"n"}, Operators: []string{"pg_catalog.="}},
	}
	return f, w
}

// loadGoldens are loads by COPY alone whose whole plan, or refusal, is kept in testdata.
func loadGoldens() map[string]loadGolden {
	return map[string]loadGolden{
		"load": csv,
		"load_text": func() (LoadFacts, LoadWish) {
			f, w := csv()
			f.Target.Columns = append(f.Target.Columns, col("x", xmlType), notNull(Column{Name: "serial", Type: int8Type, HasDefault: true, CanWrite: true}))
			f.Fields, f.Width, f.Files, f.Bytes = nil, 5, []string{"standard input"}, -1
			w.Columns = []string{"id", "", "x", "note", "n"}
			f.NoEncoder = map[string]string{"x": "type xml is read by the server alone"}
			return f, w
		},
		"load_two_phase": func() (LoadFacts, LoadWish) {
			f, w := csv()
			f.Processors, f.TargetServer.FreePrepared, w.Fill = 8, 64, Append
			f.Files = []string{"a.csv (100 MB)", "b.csv (100 MB)", "c.csv (100 MB)", "d.csv (50 MB)", "e.csv (50 MB)", "f.csv (1 MB)"}
			return f, w
		},
		"load_truncate": func() (LoadFacts, LoadWish) {
			f, w := constrained()
			f.Target.Empty, w.Fill, f.Unfinished = false, Truncate, []Unfinished{{Key: "k", Source: "other.csv", Rows: 3}}
			return f, w
		},
		"load_replace_aside": func() (LoadFacts, LoadWish) {
			f, w := constrained()
			f.Target.Rebuild.ForeignKeys = []string{"CONSTRAINT orders_n_fkey FOREIGN KEY (n) REFERENCES public.numbers(n)"}
			f.Target.Empty, w.Fill, w.OnError = false, Replace, SetRowsAside
			return f, w
		},
		"load_create": func() (LoadFacts, LoadWish) {
			f, w := csv()
			f.Definition = &Definition{From: "the rows", Schema: "public", Name: "orders", Before: []string{"CREATE TABLE public.orders (id bigint, day date, n integer, note text)"}}
			columns := f.Target.Columns
			f.Target, w.Create = missing("public", "orders"), true
			f.Target.Columns = columns
			return f, w
		},
		"load_aside": func() (LoadFacts, LoadWish) {
			f, w := constrained()
			w.OnError = SetRowsAside
			return f, w
		},
	}
}

// stagedGoldens are those that commit now and then, change indexes, or go through a temporary table or no COPY at all.
func stagedGoldens() map[string]loadGolden {
	return map[string]loadGolden{
		"load_commit_every": func() (LoadFacts, LoadWish) {
			f, w := constrained()
			w.CommitEvery, w.DeferIndexes, w.Fill = 100000, true, Append
			return f, w
		},
		"load_commit_resumed": func() (LoadFacts, LoadWish) {
			f, w := constrained()
			w.CommitEvery, f.Target.Empty = 100000, false
			f.Recorded = &RecordedLoad{Key: "k", Position: "{}", Rows: 300000, Refused: 2}
			f.Deferred = []DeferredIndex{{Name: "orders_n", Definition: "CREATE INDEX orders_n ON public.orders USING btree (n)"}}
			return f, w
		},
		"load_defer": func() (LoadFacts, LoadWish) {
			f, w := constrained()
			w.DeferIndexes, w.Fill, f.Target.Empty = true, Append, false
			return f, w
		},
		"load_update": func() (LoadFacts, LoadWish) {
			f, w := constrained()
			f.Target.Empty, w.OnDuplicate = false, DuplicateUpdate
			return f, w
		},
		"load_keep_old": func() (LoadFacts, LoadWish) {
			f, w := constrained()
			f.Target.Empty, w.OnDuplicate, w.OnError = false, DuplicateKeepOld, SetRowsAside
			return f, w
		},
		"load_set": func() (LoadFacts, LoadWish) {
			f, w := csv()
			f.Fields = []string{"ID", "day", "n", "remark"}
			w.Set = []SetColumn{{"note", "left(remark, 10) -- no longer"}, {"n", "n::int * 100;"}}
			return f, w
		},
		"load_view": func() (LoadFacts, LoadWish) {
			f, w := csv()
			f.Target.Kind, f.Target.Triggers = View, []Trigger{{Name: "put", Row: true, Before: true}}
			return f, w
		},
		"load_pages": func() (LoadFacts, LoadWish) {
			f, w := constrained()
			f.Pages = &PageFacts{Target: PageSide{BlockSize: 8192}, FullPageWrites: true}
			w.Method = Pages
			return f, w
		},
		"load_unknown_field": func() (LoadFacts, LoadWish) {
			f, w := csv()
			f.Fields = []string{"ID", "dya", "n", "note"}
			return f, w
		},
	}
}

func TestLoadGolden(t *testing.T) {
	all := loadGoldens()
	maps.Copy(all, stagedGoldens())
	for name, given := range all {
		t.Run(name, func(t *testing.T) {
			p, err := ChooseLoad(given())
			if err != nil {
				compare(t, name+".txt", threeParts(err))
				return
			}
			compare(t, name+".txt", p.Text())
			data, err := p.JSON()
			if err != nil {
				t.Fatal(err)
			}
			if name == "load" || name == "load_aside" {
				compare(t, name+".json", string(data)+"\n")
			}
		})
	}
}

// mustLoad plans a load.
func mustLoad(t *testing.T, f LoadFacts, w LoadWish) *Plan {
	t.Helper()
	p, err := ChooseLoad(f, w)
	if err != nil {
		t.Fatalf("ChooseLoad: %v", describe(err))
	}
	return p
}

// mustNotLoad returns the refusal of a load.
func mustNotLoad(t *testing.T, f LoadFacts, w LoadWish) *Error {
	t.Helper()
	_, err := ChooseLoad(f, w)
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an error", err)
	}
	return e
}
