package planner

import (
	"strings"
	"testing"
)

func TestInsertSQL(t *testing.T) {
	p := mustChoose(t, between(orders(1, "orders"), orders(2, "orders")), Wish{Method: Insert, Columns: []string{"id", "note"}})
	r := p.Ranges[0]
	same(t, p.InsertSQL(r, 1), "INSERT INTO public.orders (id, note) VALUES ($1, $2)")
	same(t, p.InsertSQL(r, 2), "INSERT INTO public.orders (id, note) VALUES ($1, $2), ($3, $4)")
	same(t, p.InsertSQL(r, 1000), `INSERT INTO public.orders (id, note) SELECT pg_catalog.unnest($1::pg_catalog.int8[]), pg_catalog.unnest($2::pg_catalog."varchar"[])`)
	same(t, p.WriteSQL(r), "COPY public.orders (id, note) FROM STDIN WITH (FORMAT binary)")
	if p.Batch.Size != 1000 || !p.Batch.Unnest || p.Batch.Arrays(unnestFrom-1) || !p.Batch.Arrays(unnestFrom) || p.Batch.NoCopy != "" {
		t.Errorf("%+v", p.Batch)
	}
}

func TestInsertIdentityConflictReturning(t *testing.T) {
	f := between(orders(1, "orders"), orders(2, "orders"))
	f.Target.Columns[0].Identity, f.Target.Columns[2].Remote = 'a', "N"
	f.Target.Keys = []Key{{Primary: true, Columns: []string{"id"}}, {Columns: []string{"day", "n"}}}
	p := mustChoose(t, f, Wish{Method: Insert, OnConflict: DoUpdate, ConflictColumns: []string{"n", "day"}, Returning: "id"})
	same(t, p.InsertSQL(p.Ranges[0], 1), `INSERT INTO public.orders (id, day, "N", note) OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3, $4) `+
		`ON CONFLICT ("N", day) DO UPDATE SET id = EXCLUDED.id, note = EXCLUDED.note RETURNING id`)
	p = mustChoose(t, f, Wish{Method: Insert, OnConflict: DoNothing})
	same(t, p.Batch.Conflict, "ON CONFLICT (id) DO NOTHING")
	f.Target.Keys = nil
	p = mustChoose(t, f, Wish{Method: Insert, OnConflict: DoNothing})
	same(t, p.Batch.Conflict, "ON CONFLICT DO NOTHING")
	mustFail(t, f, Wish{Method: Insert, OnConflict: DoUpdate}, Refused, "no primary key")
	mustFail(t, f, Wish{Method: Insert, OnConflict: DoNothing, ConflictColumns: []string{"id"}}, Refused, "no unique key on id")
	f.Target.Rules = true
	mustFail(t, f, Wish{Method: Insert, OnConflict: DoNothing}, Refused, "rules")
}

func TestNoCopy(t *testing.T) {
	for name, c := range map[string]struct {
		change change
		why    string
	}{
		"plain":       {func(*Facts, *Wish) {}, ""},
		"returning":   {func(_ *Facts, w *Wish) { w.Returning = "id" }, "RETURNING"},
		"on conflict": {func(_ *Facts, w *Wish) { w.OnConflict = DoNothing }, "ON CONFLICT"},
		"view":        {func(f *Facts, _ *Wish) { f.Target.Kind = View }, "view"},
		"rules":       {func(f *Facts, _ *Wish) { f.Target.Rules = true }, "rules"},
		"RLS":         {func(f *Facts, _ *Wish) { f.Target.RowSecurity = true }, "row-level security"},
	} {
		f, w := c.change.apply(between(orders(1, "orders"), orders(2, "orders")))
		w.Method = Insert
		p := mustChoose(t, f, w)
		if (c.why == "") != (p.Batch.NoCopy == "") || !strings.Contains(p.Batch.NoCopy, c.why) {
			t.Errorf("%s: %q", name, p.Batch.NoCopy)
		}
		if byCopy := strings.Contains(p.Text(), "for a batch by COPY"); byCopy != (c.why == "") {
			t.Errorf("%s: the plan shows a COPY: %v", name, byCopy)
		}
	}
}

func TestUnnestNeedsPlainColumns(t *testing.T) {
	array := arrayOf(1007, int4Type)
	domain := Type{OID: 70000, Name: "d", SQL: "public.d", Class: Domain, Base: &array}
	vector := base(22, "int2vector", "int2vector")
	row := Type{OID: 70001, Schema: "public", Name: "c", SQL: "public.c", Class: Composite, Fields: []Field{{"f", int4Type}}}
	for name, c := range map[string]struct {
		kind Type
		can  bool
	}{"integer": {int4Type, true}, "array": {array, false}, "domain": {domain, false}, "vector": {vector, false}, "composite": {row, true}} {
		f := between(table(1, "public", "a", col("v", c.kind)), table(2, "public", "b", col("v", c.kind)))
		p := mustChoose(t, f, Wish{Method: Insert})
		if p.Batch.Unnest != c.can || c.can == strings.Contains(p.Batch.NoUnnest, "column v") {
			t.Errorf("%s: %+v", name, p.Batch)
		}
	}
}

func TestParametersAreCounted(t *testing.T) {
	wide := func(kind Type) Facts {
		var columns []Column
		for i := range 1600 {
			columns = append(columns, col("c"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+prettyRows(int64(i)), kind))
		}
		return between(table(1, "public", "a", columns...), table(2, "public", "b", columns...))
	}
	p := mustChoose(t, wide(arrayOf(1007, int4Type)), Wish{Method: Insert})
	if p.Batch.Size != 40 || p.Batch.Unnest {
		t.Errorf("%+v", p.Batch)
	}
	// With arrays there is one parameter for each column, and batches of 41 rows and more need them.
	p = mustChoose(t, wide(int4Type), Wish{Method: Insert})
	if p.Batch.Size != 1000 || p.Batch.Arrays(40) || !p.Batch.Arrays(41) {
		t.Errorf("%+v", p.Batch)
	}
}

func TestRowSecurityIsSwitchedOn(t *testing.T) {
	f := between(orders(1, "orders"), orders(2, "orders"))
	f.Target.RowSecurity, f.TargetServer.FreePrepared = true, 64
	p := mustChoose(t, f, Wish{Connections: 4})
	if p.Atomic != OneTransaction || len(p.Before) != 1 || p.Before[0].SQL != "SET LOCAL row_security = on" || p.Before[0].Own {
		t.Errorf("%s, %+v", p.Atomic, p.Before)
	}
	mustFail(t, f, Wish{Method: Insert, Commit: CommitRange}, Refused, "row-level security")
}

func TestBatchesInText(t *testing.T) {
	f := between(orders(1, "orders"), orders(2, "orders"))
	for threshold, want := range map[int]string{CopyAuto: "whichever", CopyNever: "never by COPY, as asked for", 500: "by COPY from 500 rows on", 1: "by COPY from 1 row on"} {
		if text := mustChoose(t, f, Wish{Method: Insert, CopyThreshold: threshold}).Text(); !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
