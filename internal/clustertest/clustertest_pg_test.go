package clustertest

import (
	"strings"
	"testing"
)

func TestMain(m *testing.M) { Main(m) }

func TestDatabaseIsFreshAndDropped(t *testing.T) {
	var gone string
	t.Run("first", func(t *testing.T) {
		uri := Database(t)
		Exec(t, uri, "CREATE TABLE t (a int, b text)", "INSERT INTO t VALUES (1, 'x'), (2, NULL)")
		if got, want := Query(t, uri, "TABLE t ORDER BY a"), "1|x\n2|"; got != want {
			t.Errorf("rows: got %q, want %q", got, want)
		}
		gone = Query(t, uri, "SELECT current_database()")
	})
	uri := Database(t)
	if got := Query(t, uri, "SELECT to_regclass('t') IS NULL"); got != "t" {
		t.Error("the second database has the first one's table")
	}
	if got := Query(t, uri, "SELECT count(*) FROM pg_database WHERE datname = '"+gone+"'"); got != "0" {
		t.Errorf("database %s was not dropped", gone)
	}
}

func TestDatabaseIsDroppedInSpiteOfLeftovers(t *testing.T) {
	t.Run("leftovers", func(t *testing.T) {
		uri := Database(t)
		// The slot first: making one waits for the transactions that are open.
		Exec(t, uri, "SELECT pg_create_logical_replication_slot('left', 'pgoutput')", "CREATE TABLE t (a int)",
			"BEGIN; INSERT INTO t VALUES (1); PREPARE TRANSACTION 'it''s left'")
	})
	uri := Server(t).URI("postgres")
	for _, view := range []string{"pg_prepared_xacts", "pg_replication_slots"} {
		if got := Query(t, uri, "SELECT count(*) FROM "+view); got != "0" {
			t.Errorf("%s rows left in %s", got, view)
		}
	}
}

func TestSettings(t *testing.T) {
	uri := Database(t)
	for name, want := range map[string]string{
		"fsync": "off", "wal_level": "logical", "max_prepared_transactions": "64", "server_encoding": "UTF8",
	} {
		if got := Query(t, uri, "SHOW "+name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestSecondIsAnotherServer(t *testing.T) {
	a, b := Database(t), DatabaseOn(t, Second(t))
	const identity = "SELECT system_identifier FROM pg_control_system()"
	if Query(t, a, identity) == Query(t, b, identity) {
		t.Error("both servers have one system identifier")
	}
}

func TestDatabaseOptions(t *testing.T) {
	uri := DatabaseOn(t, Server(t), "ENCODING 'SQL_ASCII'", "LOCALE 'C'")
	if got := Query(t, uri, "SHOW server_encoding"); got != "SQL_ASCII" {
		t.Errorf("encoding: got %s", got)
	}
}

func TestHasExtension(t *testing.T) {
	uri := Database(t)
	if !HasExtension(t, uri, "plpgsql") {
		t.Error("plpgsql is part of each server")
	}
	if HasExtension(t, uri, "it's none") {
		t.Error("found an extension that does not exist")
	}
}

func TestDatabaseName(t *testing.T) {
	tests := []struct{ test, want string }{
		{"TestCopy", "t_copy_7"},
		{"TestCopy/with \"quotes\"/é", "t_copy_with__quotes____7"},
		{"Test" + strings.Repeat("x", 80), "t_" + strings.Repeat("x", 50) + "_02bd5b45_7"},
	}
	for _, tt := range tests {
		got := databaseName(tt.test, 7)
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.test, got, tt.want)
		}
		if len(got) > nameLimit {
			t.Errorf("%s: %d bytes", got, len(got))
		}
	}
}
