package planner

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
)

// dice turns fuzz input into choices; when it is used up every choice is 0.
type dice struct{ data []byte }

func (d *dice) roll(sides int) int {
	if len(d.data) == 0 {
		return 0
	}
	n := int(d.data[0])
	d.data = d.data[1:]
	return n % sides
}

func (d *dice) yes() bool { return d.roll(2) == 1 }

func (d *dice) number() int64 {
	if len(d.data) < 8 {
		return int64(d.roll(256))
	}
	n := int64(binary.LittleEndian.Uint64(d.data))
	d.data = d.data[8:]
	return n >> d.roll(64)
}

func (d *dice) pick(of ...string) string { return of[d.roll(len(of))] }

func (d *dice) kind(depth int) Type {
	t := Type{OID: uint32(d.roll(3) * 16383), Schema: d.pick("pg_catalog", "public"), Name: d.pick("int4", "xml", "regclass", "a\"b"), Class: TypeClass("bacdeprm?"[d.roll(9)])}
	t.Send, t.Receive, t.Extension = d.pick("", "x.send"), d.pick("", "recv"), d.pick("", "hstore")
	if depth == 0 {
		return t
	}
	for _, inner := range []**Type{&t.Elem, &t.Base, &t.Sub} {
		if d.yes() {
			within := d.kind(depth - 1)
			*inner = &within
		}
	}
	for range d.roll(3) {
		t.Fields = append(t.Fields, Field{Name: "f", Type: d.kind(depth - 1)})
		t.Labels = append(t.Labels, d.pick("", "a", "b"))
	}
	return t
}

func (d *dice) relation() Relation {
	r := Relation{
		Kind: Kind("rpvmfSq\x00?"[d.roll(9)]), OID: uint32(d.roll(3)), Schema: d.pick("public", ""), Name: d.pick("a", "b\"", "$pghaul$"), Query: d.pick("", "SELECT 1 --", ";"),
		AccessMethod: d.pick("heap", ""), Pages: d.number(), HeapBytes: d.number(), ToastBytes: d.number(), Rows: d.number(), Children: d.roll(2), Indexes: d.roll(3),
		Empty: d.yes(), CanSelect: d.yes(), CanInsert: !d.yes(), CanTruncate: !d.yes(), IsOwner: !d.yes(), CanCreate: !d.yes(), SchemaFound: !d.yes(), Rules: d.roll(4) == 1,
		RowSecurity: d.roll(4) == 1, Unlogged: d.yes(), Temporary: d.roll(4) == 1,
	}
	for range d.roll(4) {
		r.Columns = append(r.Columns, Column{
			Name: d.pick("a", "b", "c", "d"), Remote: d.pick("", "A"), Type: d.kind(2), NotNull: d.yes(), HasDefault: d.yes(), Generated: d.roll(4) == 1, Identity: "\x00ad"[d.roll(3)],
			CanRead: !d.yes(), CanWrite: !d.yes(),
		})
	}
	if d.yes() {
		r.Rebuild = &Rebuild{After: []string{"X %s", "%s"}, ForeignKeys: []string{"CONSTRAINT x"}, Indexes: []IndexDef{{Name: "i", Constraint: d.pick("", "UNIQUE", "EXCLUDE", "?")}}}
		r.Keys = []Key{{Primary: d.yes(), Columns: []string{d.pick("a", "x")}}}
		r.Sequences = []OwnedSequence{{Column: d.pick("a", "x"), Name: "s"}}
		r.Triggers = []Trigger{{Name: "t", Row: d.yes(), Before: d.yes()}}
	}
	if d.roll(4) == 1 {
		r.Path = []Hop{{Name: "ft"}}
	}
	for range d.roll(3) {
		leaf := Leaf{Relation: r, Bound: d.pick("x", "y"), KeyDef: d.pick("HASH (a)", "RANGE (b)")}
		leaf.Leaves, leaf.OID = nil, uint32(d.roll(4))
		r.Leaves = append(r.Leaves, leaf)
	}
	return r
}

func (d *dice) wish() Wish {
	w := Wish{
		Method: Method(d.pick("", "", "relay", "insert-select", "create-as", "unlogged", "insert", "merge", "pages")), Format: Format(d.pick("", "", "binary", "text")), Connections: d.roll(9),
		Fill: Fill(d.roll(4)), Create: d.yes(), Commit: Commit(d.roll(2)), Freeze: Tristate(d.roll(3) - 1), Where: d.pick("", "", "a > 1 -- b"), BatchSize: d.roll(9), CopyThreshold: d.roll(3) - 1,
		Returning: d.pick("", "", "a"), OnConflict: OnConflict(d.roll(3)), RangeBytes: max(d.number()>>8, 0),
	}
	if d.roll(4) == 1 {
		w.Columns = []string{"a"}
	}
	return w
}

func (d *dice) facts() Facts {
	f := Facts{SourceServer: server(d.pick("", "localhost:1/a", "db")), TargetServer: server("db2"), Source: d.relation(), Target: d.relation(), SameServer: d.yes(), SameDatabase: d.yes(), Processors: d.roll(64)}
	f.TargetServer.FreePrepared, f.TargetServer.FreeConnections, f.SourceServer.Pooled = d.roll(9), d.roll(99), d.roll(8) == 1
	if d.yes() {
		f.Definition = &Definition{Name: d.pick("", "a"), Before: []string{"CREATE;"}, Indexes: []string{"INDEX"}}
	}
	if d.yes() {
		f.Pages = &PageFacts{FullPageWrites: d.yes(), Unseen: []string{"x"}[:d.roll(2)], Source: PageSide{Attributes: make([]PageAttribute, d.roll(4))}, Target: PageSide{Attributes: make([]PageAttribute, d.roll(4))}}
	}
	if d.roll(4) == 1 {
		f.Recorded = &Recorded{Ranges: []Range{{Part: d.roll(3) - 1}}, Done: make([]bool, 1), Key: "k"}
	}
	return f
}

// FuzzChoose: whatever the facts, there is a plan that can be printed and run, or an error in three parts.
func FuzzChoose(f *testing.F) {
	f.Add([]byte{})
	for seed := range 200 {
		data := make([]byte, 300)
		for i := range data {
			data[i] = byte((i*i + seed*31 + i*seed*7) >> (seed % 5))
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := dice{data}
		w := d.wish()
		facts := d.facts()
		p, err := Choose(facts, w)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Message == "" || p != nil {
				t.Fatalf("%v, %v", p, err)
			}
			return
		}
		checkPlan(t, p)
	})
}

// checkPlan holds for every plan.
func checkPlan(t *testing.T, p *Plan) {
	t.Helper()
	if len(p.Ranges) == 0 || p.Connections < 1 || p.Connections > len(p.Ranges) {
		t.Fatalf("%d connections for %d ranges", p.Connections, len(p.Ranges))
	}
	if p.Atomic == OneTransaction && p.Connections != 1 {
		t.Fatalf("one transaction on %d connections", p.Connections)
	}
	for _, r := range p.Ranges[:min(len(p.Ranges), 3)] {
		if p.ReadSQL(r) == "" || p.WriteSQL(r) == "" {
			t.Fatal("empty statement")
		}
	}
	if (p.Batch != nil) != (p.Method == Insert) || (p.Merge != nil) != (p.Method == Merge) {
		t.Fatalf("%s with %v and %v", p.Method, p.Batch, p.Merge)
	}
	if p.Text() == "" {
		t.Fatal("no text")
	}
	if len(p.Ranges) > 1000 {
		return
	}
	if _, err := p.JSON(); err != nil {
		t.Fatal(err)
	}
	for _, o := range p.Others {
		if o.Method == p.Method || o.Refused == "" && o.Why == "" {
			t.Fatalf("%+v", o)
		}
	}
}

// TestChooseRandom does what FuzzChoose does, over facts that are more often complete.
func TestChooseRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	plans := map[Method]int{}
	for range 6000 {
		data := make([]byte, 400)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		d := dice{data}
		w := d.wish()
		f := between(orders(1, "orders"), orders(2, "orders"))
		if d.yes() {
			f.Source = d.relation()
		}
		f.Target.Keys = []Key{{Primary: true, Columns: []string{"id"}}}
		switch d.roll(4) {
		case 0:
			f.Target = missing("public", "x")
		case 1:
			f.Target = d.relation()
			f.Source.Columns = f.Target.Columns
		}
		w.RangeBytes <<= 24
		if d.yes() {
			w = Wish{Method: w.Method, Connections: w.Connections, Create: true}
		}
		f.Pages = pageFacts(f)
		f.SameDatabase, f.Definition, f.TargetServer.FreePrepared, f.Target.Empty = d.yes(), dumped(), d.roll(9), true
		if p, err := Choose(f, w); err == nil {
			checkPlan(t, p)
			plans[p.Method]++
		}
	}
	for _, m := range Methods() {
		if plans[m] < 8 {
			t.Errorf("only %d plans of %s", plans[m], m)
		}
	}
}
