package planner

import (
	"math/rand/v2"
	"testing"
)

func TestRangeSize(t *testing.T) {
	for _, c := range []struct {
		bytes int64
		n     int
		asked int64
		want  int64
	}{
		{0, 1, 0, smallestRange},
		{1149 * megabyte, 2, 0, usualRange},
		{1149 * megabyte, 4, 0, usualRange},
		{400 * megabyte, 4, 0, 25 * megabyte},
		{20 * megabyte, 4, 0, smallestRange},
		{1 << 40, 4, 0, largestRange},
		{1 << 40, 4, 1000, 1000},
	} {
		if got := rangeSize(c.bytes, c.n, c.asked); got != c.want {
			t.Errorf("%d bytes on %d: %d, want %d", c.bytes, c.n, got, c.want)
		}
	}
}

// TestRangesCoverEveryPageOnce holds whatever the sizes are.
func TestRangesCoverEveryPageOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		parts := make([]Part, 1+random.IntN(4))
		for i := range parts {
			parts[i] = Part{Pages: random.Int64N(1 << random.IntN(34)), Bytes: random.Int64N(1 << (1 + random.IntN(50)))}
		}
		size := random.Int64N(1 << (1 + random.IntN(40)))
		ranges := cut(parts, size)
		if n := countRanges(parts, size); n != len(ranges) {
			t.Fatalf("%d counted, %d cut", n, len(ranges))
		}
		next := make([]int64, len(parts))
		ended := make([]bool, len(parts))
		for i, r := range ranges {
			if i > 0 && r.Part < ranges[i-1].Part {
				t.Fatal("parts out of order")
			}
			if r.FromPage != next[r.Part] || ended[r.Part] {
				t.Fatalf("range %+v does not follow page %d of %+v", r, next[r.Part], parts[r.Part])
			}
			if r.ToPage == 0 {
				ended[r.Part] = true
			} else if r.ToPage <= r.FromPage {
				t.Fatalf("empty range %+v", r)
			}
			next[r.Part] = r.ToPage
		}
		for i, end := range ended {
			if !end {
				t.Fatalf("part %d has no last range", i)
			}
		}
		if len(ranges) > len(parts)*mostRanges {
			t.Fatalf("%d ranges", len(ranges))
		}
	}
}

// TestToastCounts: 3 GB of heap with 936 GB of TOAST went into one range when only heap pages were counted.
func TestToastCounts(t *testing.T) {
	f := between(orders(1, "orders"), orders(2, "orders"))
	f.Source.Pages, f.Source.HeapBytes, f.Source.ToastBytes = 393216, 3<<30, 936<<30
	f.TargetServer.FreePrepared, f.Processors = 64, 8
	p := mustChoose(t, f, Wish{})
	if n := len(p.Ranges); n < 3000 {
		t.Errorf("%d ranges", n)
	}
	if pages := p.Ranges[0].ToPage; pages > 150 {
		t.Errorf("%d pages in a range", pages)
	}
}

func TestOneStream(t *testing.T) {
	for name, change := range map[string]func(*Relation){
		"view":           func(r *Relation) { r.Kind, r.AccessMethod = View, "" },
		"foreign table":  func(r *Relation) { r.Kind, r.AccessMethod = ForeignTable, "" },
		"access method":  func(r *Relation) { r.AccessMethod = "columnar" },
		"query":          func(r *Relation) { r.Kind, r.Query = Query, "SELECT 1" },
		"columns only":   func(r *Relation) { r.ColumnsOnly = true },
		"one page":       func(r *Relation) { r.Pages, r.HeapBytes = 1, 8192 },
		"partitions off": func(r *Relation) { r.Kind = Partitioned },
	} {
		t.Run(name, func(t *testing.T) {
			f := between(orders(1, "orders"), orders(2, "orders"))
			change(&f.Source)
			f.TargetServer.FreePrepared, f.Processors = 64, 8
			p := mustChoose(t, f, Wish{Connections: 4})
			if len(p.Ranges) != 1 || p.Connections != 1 || p.Atomic != OneTransaction || p.Ranges[0] != (Range{Bytes: p.Ranges[0].Bytes}) {
				t.Errorf("%d connections, %s, %+v", p.Connections, p.Atomic, p.Ranges)
			}
		})
	}
}

func TestMatViewIsCutAndSelected(t *testing.T) {
	f := between(orders(1, "orders"), orders(2, "orders"))
	f.Source.Kind, f.TargetServer.FreePrepared = MatView, 64
	p := mustChoose(t, f, Wish{Connections: 2})
	if len(p.Ranges) < 8 {
		t.Errorf("%d ranges", len(p.Ranges))
	}
	same(t, p.ReadSQL(p.Ranges[0]), "COPY (SELECT id, day, n, note FROM public.orders WHERE ctid < '(8192,0)'::pg_catalog.tid) TO STDOUT WITH (FORMAT binary)")
	last := p.Ranges[len(p.Ranges)-1]
	same(t, p.ReadSQL(last), "COPY (SELECT id, day, n, note FROM public.orders WHERE ctid >= '(139264,0)'::pg_catalog.tid) TO STDOUT WITH (FORMAT binary)")
	p = mustChoose(t, f, Wish{})
	same(t, p.ReadSQL(p.Ranges[0]), "COPY (SELECT id, day, n, note FROM public.orders) TO STDOUT WITH (FORMAT binary)")
}

func TestRangeWithCondition(t *testing.T) {
	f := between(orders(1, "orders"), orders(2, "orders"))
	f.TargetServer.FreePrepared = 64
	p := mustChoose(t, f, Wish{Connections: 2, Where: "n > 1 OR n < 0"})
	same(t, p.ReadSQL(p.Ranges[1]), "COPY (SELECT id, day, n, note FROM public.orders WHERE ctid >= '(8192,0)'::pg_catalog.tid AND ctid < '(16384,0)'::pg_catalog.tid AND (n > 1 OR n < 0)) TO STDOUT WITH (FORMAT binary)")
}

func TestConnections(t *testing.T) {
	for name, c := range map[string]struct {
		change change
		want   int
	}{
		"two processors":  {func(f *Facts, _ *Wish) { f.Processors = 2 }, 1},
		"eight":           {func(f *Facts, _ *Wish) { f.Processors = 8 }, 4},
		"sixty-four":      {func(f *Facts, _ *Wish) { f.Processors = 64 }, 4},
		"unknown":         {func(f *Facts, _ *Wish) { f.Processors = 0 }, 1},
		"small table":     {func(f *Facts, _ *Wish) { f.Processors, f.Source.HeapBytes = 8, 130*megabyte }, 2},
		"asked":           {func(f *Facts, w *Wish) { f.Processors, w.Connections = 2, 6 }, 6},
		"few free":        {func(f *Facts, w *Wish) { f.TargetServer.FreeConnections, w.Connections = 3, 6 }, 2},
		"few free on one": {func(f *Facts, w *Wish) { f.SameServer, f.SourceServer.FreeConnections, w.Connections = true, 8, 6 }, 3},
		"unknown free":    {func(f *Facts, w *Wish) { f.TargetServer.FreeConnections, w.Connections = 0, 6 }, 6},
		"few ranges":      {func(f *Facts, w *Wish) { f.Source.HeapBytes, w.Connections = 20*megabyte, 6 }, 3},
		"merge": {func(f *Facts, w *Wish) {
			f.Target.Keys, w.OnConflict, w.Connections = []Key{{Primary: true, Columns: []string{"id"}}}, DoUpdate, 6
		}, 1},
		"ranges one asked": {func(_ *Facts, w *Wish) { w.RangeBytes = 10 * megabyte }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := between(orders(1, "orders"), orders(2, "orders"))
			f.TargetServer.FreePrepared, f.Processors = 64, 2
			f, w := c.change.apply(f)
			if p := mustChoose(t, f, w); p.Connections != c.want {
				t.Errorf("%d connections, want %d; %q", p.Connections, c.want, p.Notes)
			}
		})
	}
}

func TestRangeBytesCutsForOneConnection(t *testing.T) {
	f := between(orders(1, "orders"), orders(2, "orders"))
	p := mustChoose(t, f, Wish{RangeBytes: 100 * megabyte})
	if len(p.Ranges) != 12 || p.Atomic != OneTransaction {
		t.Errorf("%d ranges, %s", len(p.Ranges), p.Atomic)
	}
}

func TestRecordedRangesStay(t *testing.T) {
	f := between(orders(1, "orders"), orders(2, "orders"))
	f.Target.Empty = false
	f.Recorded = &Recorded{Ranges: []Range{{ToPage: 5}, {FromPage: 5, ToPage: 9}, {FromPage: 9}}, Done: []bool{true, false, false}, Rows: 4}
	p := mustChoose(t, f, Wish{Commit: CommitRange, Fill: Truncate})
	if len(p.Ranges) != 3 || p.Ranges[1].ToPage != 9 || !p.Resumes {
		t.Errorf("%+v", p.Ranges)
	}
	for _, s := range p.Before {
		if s.SQL == "TRUNCATE TABLE ONLY public.orders" {
			t.Error("the rows that are done would be removed")
		}
	}
}
