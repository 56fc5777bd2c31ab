package move

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

func TestVerifyTwoServers(t *testing.T) {
	t.Parallel()
	source := clustertest.Database(t)
	target := clustertest.DatabaseOn(t, clustertest.Second(t))
	const tables = `CREATE TABLE one (id int PRIMARY KEY, t text); INSERT INTO one SELECT g, g FROM generate_series(1, 1000) g;
		CREATE SCHEMA "S"; CREATE TABLE "S"."T" (a int, b int); INSERT INTO "S"."T" VALUES (1, 2)`
	clustertest.Exec(t, source, tables, "ALTER TABLE one ADD extra int DEFAULT 5")
	clustertest.Exec(t, target, tables, "UPDATE one SET t = 'x' WHERE id = 500", `ALTER TABLE "S"."T" RENAME TO other; ALTER TABLE "S".other ADD more int`)
	got, err := Verify(t.Context(), VerifyRequest{Source: source, Target: target, Connections: 3,
		Tables: []TablePair{{Source: "one"}, {Source: `"S"."T"`, Target: `"S".other`}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || told(got[0]) != "all rows: 1000, 1000\n  id=500: different in t\n" || !got[1].Equal() || got[1].Level != VerifyHash {
		t.Errorf("%s", told(got[0]))
	}
	want := []string{"public.one", "Column extra is only in the source and was not compared.", `"S"."T"`, `"S".other`, "Column more is only in the target and was not compared."}
	if diff := cmp.Diff(want, []string{got[0].Source, got[0].Notes[0], got[1].Source, got[1].Target, got[1].Notes[0]}); diff != "" {
		t.Error(diff)
	}
	got, err = Verify(t.Context(), VerifyRequest{Source: source, Target: target, Patterns: []string{"on*"}, Columns: []string{"id"}, Where: "id > 10 -- all but ten"})
	if err != nil || len(got) != 1 || !got[0].Equal() || got[0].SourceRows != 990 || len(got[0].Notes) != 0 {
		t.Errorf("by pattern, column and condition: %v %+v", err, got)
	}
}

func TestVerifyFollowsForeignTables(t *testing.T) {
	t.Parallel()
	near, far := clustertest.Database(t), clustertest.DatabaseOn(t, clustertest.Second(t))
	clustertest.Exec(t, far, "CREATE TABLE real (key int PRIMARY KEY, v text)", "INSERT INTO real VALUES (1, 'a'), (2, 'b')")
	host := strings.SplitN(strings.SplitN(far, "host=", 2)[1], "&", 2)
	clustertest.Exec(t, near, "CREATE EXTENSION postgres_fdw",
		"CREATE SERVER s FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '"+strings.ReplaceAll(host[0], "%2F", "/")+"', port '"+strings.TrimPrefix(host[1], "port=")+
			"', dbname '"+strings.SplitN(strings.SplitN(far, "@/", 2)[1], "?", 2)[0]+"')",
		"CREATE USER MAPPING FOR postgres SERVER s OPTIONS (user 'postgres')",
		"CREATE FOREIGN TABLE ft (id int OPTIONS (column_name 'key'), v text) SERVER s OPTIONS (schema_name 'public', table_name 'real')",
		"CREATE TABLE plain (id int, v text)", "INSERT INTO plain VALUES (1, 'a'), (2, 'c')")
	got, err := Verify(t.Context(), VerifyRequest{Source: near, Tables: []TablePair{{Source: "plain", Target: "ft"}}})
	if err != nil {
		t.Fatal(err)
	}
	if told(got[0]) != "all rows: 2, 2\n  id=2: different in v\n" || got[0].Target != "public.\"real\"" {
		t.Errorf("%s %s", got[0].Target, told(got[0]))
	}
}

// TestVerifySeesOneMoment writes to a table all the time while it is compared with itself.
func TestVerifySeesOneMoment(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE t (id int PRIMARY KEY, v int)", "INSERT INTO t SELECT g, 0 FROM generate_series(1, 20000) g")
	stop := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				clustertest.Exec(t, uri, "UPDATE t SET v = v + 1 WHERE id % 100 = 7")
			}
		}
	}()
	for range 5 {
		got, err := Verify(t.Context(), VerifyRequest{Source: uri, Connections: 3, Tables: []TablePair{{Source: "t"}}})
		if err != nil {
			t.Fatal(err)
		}
		if !got[0].Equal() {
			t.Errorf("%s", told(got[0]))
		}
	}
	close(stop)
	<-stopped
}

func TestVerifyErrors(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE t (id int)", "CREATE SEQUENCE s", "CREATE TABLE hidden (id int)", "CREATE ROLE verify_nobody LOGIN",
		"GRANT SELECT ON t TO verify_nobody")
	t.Cleanup(func() { clustertest.Exec(t, uri, "DROP OWNED BY verify_nobody", "DROP ROLE verify_nobody") })
	nobody := strings.Replace(uri, "postgres@", "verify_nobody@", 1)
	for _, c := range []struct {
		request VerifyRequest
		want    string
		kind    planner.ErrorKind
	}{
		{VerifyRequest{Source: uri, Tables: []TablePair{{Source: "public.gone"}}}, "public.gone does not exist", planner.Failed},
		{VerifyRequest{Source: uri, Tables: []TablePair{{Source: "t", Target: "public.gone"}}}, "public.gone does not exist", planner.Failed},
		{VerifyRequest{Source: uri, Tables: []TablePair{{Source: "s", Target: "t"}}}, "it is a sequence", planner.Failed},
		{VerifyRequest{Source: uri, Tables: []TablePair{{Source: "t"}}, Columns: []string{"nope"}}, "column nope is not in both tables", planner.Usage},
		{VerifyRequest{Source: nobody, Tables: []TablePair{{Source: "hidden"}}}, "cannot compare public.hidden with public.hidden", planner.Failed},
		{VerifyRequest{Source: uri, Tables: []TablePair{{Source: "t"}}, Where: "nope > 1"}, "cannot use --where on source public.t", planner.Failed},
	} {
		_, err := Verify(t.Context(), c.request)
		var e *planner.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) || e.Kind != c.kind {
			t.Errorf("%+v: %v", c.request, err)
		}
	}
	if got, err := Verify(t.Context(), VerifyRequest{Source: nobody, Tables: []TablePair{{Source: "t"}}}); err != nil || !got[0].Equal() {
		t.Errorf("a table that may be read: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Verify(ctx, VerifyRequest{Source: uri, Tables: []TablePair{{Source: "t"}}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
