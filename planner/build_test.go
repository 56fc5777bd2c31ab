package planner

import (
	"errors"
	"strings"
	"testing"
)

// Types as a catalog describes them.
var (
	int4Type = base(23, "int4", "integer")
	int8Type = base(20, "int8", "bigint")
	textType = base(25, "text", "text")
	xmlType  = base(142, "xml", "xml")
)

func base(oid uint32, name, sql string) Type {
	return Type{OID: oid, Schema: "pg_catalog", Name: name, SQL: sql, Mod: -1, Class: BaseType, Send: "pg_catalog." + name + "send", Receive: "pg_catalog." + name + "recv"}
}

func arrayOf(oid uint32, elem Type) Type {
	return Type{OID: oid, Schema: elem.Schema, Name: "_" + elem.Name, SQL: elem.SQL + "[]", Mod: -1, Class: Array, Send: "pg_catalog.array_send", Receive: "pg_catalog.array_recv", Elem: &elem}
}

func col(name string, t Type) Column {
	return Column{Name: name, Type: t, CanRead: true, CanWrite: true}
}

// notNull is an ID-like column.
func notNull(c Column) Column {
	c.NotNull = true
	return c
}

func table(oid uint32, schema, name string, columns ...Column) Relation {
	return Relation{
		Kind: Table, OID: oid, Schema: schema, Name: name, AccessMethod: "heap", Owner: "ann", Columns: columns, Rows: 1000, Pages: 10, HeapBytes: 10 * 8192,
		Empty: true, CanSelect: true, CanInsert: true, CanTruncate: true, IsOwner: true, CanCreate: true, SchemaFound: true, Rebuild: &Rebuild{},
	}
}

func server(address string) Server {
	return Server{Address: address, Version: 150020, VersionText: "15.20", Database: "app", Encoding: "UTF8", User: "ann", WALLevel: "replica", FreeConnections: 90}
}

// orders is the seed table of 20 million rows.
func orders(oid uint32, name string) Relation {
	r := table(oid, "public", name, notNull(col("id", int8Type)), col("day", base(1082, "date", "date")), col("n", int4Type), col("note", Type{
		OID: 1043, Schema: "pg_catalog", Name: "varchar", SQL: "character varying(10)", Mod: 14, Class: BaseType, Send: "pg_catalog.varcharsend", Receive: "pg_catalog.varcharrecv",
	}))
	r.Rows, r.Pages, r.HeapBytes = 20_000_000, 147059, 147059*8192
	return r
}

// between is two servers, within is one database.
func between(source, target Relation) Facts {
	if target.Kind != Missing {
		target.Rows, target.Pages, target.HeapBytes = 0, 0, 0
	}
	return Facts{SourceServer: server("db1:5432/app"), TargetServer: server("db2:5432/app"), Source: source, Target: target, Processors: 2}
}

func within(source, target Relation) Facts {
	f := between(source, target)
	f.TargetServer.Address = f.SourceServer.Address
	f.SameServer, f.SameDatabase = true, true
	return f
}

// missing is a target that does not exist.
func missing(schema, name string) Relation {
	return Relation{Schema: schema, Name: name, SchemaFound: true, CanCreate: true}
}

func mustChoose(t *testing.T, f Facts, w Wish) *Plan {
	t.Helper()
	p, err := Choose(f, w)
	if err != nil {
		t.Fatalf("Choose: %v", describe(err))
	}
	return p
}

func describe(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Message + " | " + e.Detail + " | " + e.Hint
	}
	return err.Error()
}

// mustFail checks the error's kind and that its three parts together hold each of the words.
func mustFail(t *testing.T, f Facts, w Wish, kind ErrorKind, words ...string) {
	t.Helper()
	_, err := Choose(f, w)
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an error with %q", err, words)
	}
	if e.Kind != kind {
		t.Errorf("kind %d, want %d: %s", e.Kind, kind, describe(e))
	}
	for _, word := range words {
		if !strings.Contains(describe(e), word) {
			t.Errorf("%q lacks %q", describe(e), word)
		}
	}
}
