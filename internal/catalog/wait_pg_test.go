package catalog

import (
	"sync"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
)

func TestBlocking(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, `CREATE TABLE t (a int)`)
	holder, waiter, watcher := connect(t, uri), connect(t, uri), connect(t, uri)
	if _, err := holder.Exec(t.Context(), "BEGIN"); err != nil {
		t.Fatal(err)
	}
	if _, err := holder.Exec(t.Context(), "LOCK TABLE public.t"); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	wait.Add(1)
	go func() {
		defer wait.Done()
		if _, err := waiter.Exec(t.Context(), "INSERT INTO public.t VALUES (1)"); err != nil {
			t.Error(err)
		}
	}()
	pid := waiter.PgConn().PID()
	var got Wait
	for !got.Locked() { // the test's own deadline ends it
		all, err := Blocking(t.Context(), watcher, []uint32{pid, holder.PgConn().PID(), 1})
		if err != nil {
			t.Fatal(err)
		}
		if got = all[pid]; len(all) != 2 || all[holder.PgConn().PID()].Locked() {
			t.Fatalf("%+v", all)
		}
	}
	if len(got.Blockers) != 1 {
		t.Fatalf("%+v", got)
	}
	b := got.Blockers[0]
	if b.PID != holder.PgConn().PID() || b.ApplicationName != "pghaul" || b.State != "idle in transaction" || b.Query != "LOCK TABLE public.t" ||
		b.String() != "process "+clustertest.Query(t, uri, "SELECT pid FROM pg_stat_activity WHERE query = 'LOCK TABLE public.t'")+" (pghaul)" {
		t.Errorf("%+v", b)
	}
	if _, err := holder.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	wait.Wait()
	if none, err := Blocking(t.Context(), watcher, nil); err != nil || len(none) != 0 {
		t.Error(none, err)
	}
}

func TestBlockedByPreparedTransaction(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, `CREATE TABLE t (a int)`, `BEGIN; LOCK TABLE t; INSERT INTO t VALUES (1); PREPARE TRANSACTION 'catalog_wait'`)
	waiter, watcher := connect(t, uri), connect(t, uri)
	var wait sync.WaitGroup
	wait.Add(1)
	go func() {
		defer wait.Done()
		if _, err := waiter.Exec(t.Context(), "TRUNCATE public.t"); err != nil {
			t.Error(err)
		}
	}()
	var got Wait
	for len(got.Blockers) == 0 {
		all, err := Blocking(t.Context(), watcher, []uint32{waiter.PgConn().PID()})
		if err != nil {
			t.Fatal(err)
		}
		got = all[waiter.PgConn().PID()]
	}
	if got.Blockers[0].String() != "a prepared transaction" {
		t.Errorf("%+v", got)
	}
	clustertest.Exec(t, uri, `ROLLBACK PREPARED 'catalog_wait'`)
	wait.Wait()
}
