package catalog

import (
	"strconv"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
)

func TestServer(t *testing.T) {
	uri, sibling, second := clustertest.Database(t), clustertest.Database(t), clustertest.DatabaseOn(t, clustertest.Second(t))
	c := connect(t, uri)
	got, err := Server(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if got.Version < OldestVersion || !strings.HasPrefix(got.VersionText, strconv.Itoa(got.Version/10000)) || got.SystemID == "" ||
		got.StartTime == "" || got.DatabaseOID == 0 || got.Encoding != "UTF8" || got.User != "postgres" || !got.Superuser || got.Standby || got.Pooled ||
		got.WALLevel == "" || !strings.HasSuffix(got.Address, "/"+got.Database) || version(c)/10000 != got.Version/10000 {
		t.Errorf("%+v", got)
	}
	same, err := Server(t.Context(), connect(t, uri))
	if err != nil || !SameServer(got, same) || !SameDatabase(got, same) {
		t.Errorf("the same: %+v, %v", same, err)
	}
	other, err := Server(t.Context(), connect(t, sibling))
	if err != nil || !SameServer(got, other) || SameDatabase(got, other) {
		t.Errorf("another database: %+v, %v", other, err)
	}
	far, err := Server(t.Context(), connect(t, second))
	if err != nil || SameServer(got, far) || SameDatabase(got, far) {
		t.Errorf("another server: %+v, %v", far, err)
	}
}

func TestServerCounts(t *testing.T) {
	uri := clustertest.Database(t)
	c := connect(t, uri)
	before, err := Server(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	clustertest.Exec(t, uri, `CREATE TABLE t (a int)`)
	clustertest.Exec(t, uri, `BEGIN; INSERT INTO t VALUES (1); PREPARE TRANSACTION 'catalog_count'`)
	extra := connect(t, uri)
	after, err := Server(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	clustertest.Exec(t, uri, `ROLLBACK PREPARED 'catalog_count'`)
	if before.FreePrepared-after.FreePrepared != 1 || before.FreeConnections-after.FreeConnections != 1 {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
	role := newRole(t, uri, "CONNECTION LIMIT 3")
	limited, err := Server(t.Context(), connect(t, as(t, uri, role)))
	if err != nil || limited.FreeConnections != 2 {
		t.Errorf("%d of 3 are free, %v", limited.FreeConnections, err)
	}
	if extra.IsClosed() {
		t.Error("closed")
	}
}

func TestServerWithoutControl(t *testing.T) {
	uri := clustertest.Database(t)
	role := newRole(t, uri, "")
	clustertest.Exec(t, uri, `REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC`)
	got, err := Server(t.Context(), connect(t, as(t, uri, role)))
	if err != nil || got.SystemID != "" || got.StartTime == "" || got.Superuser {
		t.Errorf("%+v, %v", got, err)
	}
	whole, err := Server(t.Context(), connect(t, uri))
	if err != nil || !SameDatabase(got, whole) {
		t.Errorf("the same database is not known as such: %+v, %v", whole, err)
	}
}

func TestEncodingOfDatabases(t *testing.T) {
	s := clustertest.Server(t)
	latin := clustertest.DatabaseOn(t, s, "ENCODING 'LATIN1'", "LOCALE 'C'")
	ascii := clustertest.DatabaseOn(t, s, "ENCODING 'SQL_ASCII'", "LOCALE 'C'")
	for _, uri := range []string{latin, ascii} {
		clustertest.Exec(t, uri, `SET client_encoding = 'UTF8'`, `CREATE TABLE "größe" ("maß" int)`)
	}
	a, err := Server(t.Context(), connect(t, latin))
	if err != nil {
		t.Fatal(err)
	}
	b, err := Server(t.Context(), connect(t, ascii))
	if err != nil {
		t.Fatal(err)
	}
	if got := Encoding(b, a); got != "LATIN1" {
		t.Errorf("encoding %s", got)
	}
	// On a connection that speaks LATIN1 a name typed in UTF-8 is found, and comes back in LATIN1, as it must be sent again.
	c, err := Connect(t.Context(), latin, "LATIN1")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(t.Context()) }()
	for _, typed := range []string{"größe", "public.größe"} {
		schema, name, err := Resolve(t.Context(), c, typed)
		if err != nil || schema != "public" || name != "gr\xf6\xdfe" {
			t.Errorf("%s: %q, %q, %v", typed, schema, name, err)
			continue
		}
		if got, err := Read(t.Context(), c, schema, name, Source); err != nil || len(got.Columns) != 1 || got.Columns[0].Name != "ma\xdf" {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if names, err := List(t.Context(), c, []string{"gr?ße"}); err != nil || len(names) != 1 || names[0].Name != "gr\xf6\xdfe" {
		t.Errorf("%q, %v", names, err)
	}
	if schema, name, err := Resolve(t.Context(), connect(t, ascii), "größe"); err != nil || schema != "public" || name != "größe" {
		t.Errorf("SQL_ASCII: %q, %q, %v", schema, name, err)
	}
}
