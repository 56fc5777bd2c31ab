package planner

import "testing"

func TestRelayPlain(t *testing.T) {
	p := mustChoose(t, between(orders(1, "orders"), orders(2, "orders")), Wish{})
	if p.Method != Relay || p.Format != Binary || p.Atomic != OneTransaction || p.Connections != 1 || len(p.Ranges) != 1 {
		t.Fatalf("got %+v", p)
	}
	same(t, p.ReadSQL(p.Ranges[0]), "COPY public.orders (id, day, n, note) TO STDOUT WITH (FORMAT binary)")
	same(t, p.WriteSQL(p.Ranges[0]), "COPY public.orders (id, day, n, note) FROM STDIN WITH (FORMAT binary)")
}

func same(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
