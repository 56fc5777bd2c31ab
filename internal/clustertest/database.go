package clustertest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/cluster"
)

const (
	// statementLimit bounds each statement of this package, so that a lock left by a test ends it with a message.
	statementLimit = 2 * time.Minute

	// nameLimit is NAMEDATALEN - 1: the server cuts longer names silently.
	nameLimit = 63

	objectInUse = "55006" // SQLSTATE of a DROP DATABASE that prepared transactions or slots prevent
)

var serial atomic.Int64

// Database makes a fresh, empty database on Server and returns its URI. It is dropped when the test ends, and kept, with its
// address logged, when the test failed.
func Database(t testing.TB) string {
	t.Helper()
	return DatabaseOn(t, Server(t))
}

// DatabaseOn is Database on a given server. The options are further words of CREATE DATABASE, for example
// "ENCODING 'SQL_ASCII'" and "LOCALE 'C'".
func DatabaseOn(t testing.TB, s *cluster.Server, options ...string) string {
	t.Helper()
	name := databaseName(t.Name(), serial.Add(1))
	admin := s.URI("postgres")
	// template0 never has sessions, which would make tests that run in parallel fail, and allows other encodings.
	create := append([]string{"CREATE DATABASE", name, "TEMPLATE template0"}, options...)
	if _, err := run(admin, strings.Join(create, " ")); err != nil {
		t.Fatalf("create a test database: %v", err)
	}
	uri := s.URI(name)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(keptNote(uri))
			return
		}
		if !s.Running() {
			return // the test stopped its private server, which is deleted as a whole
		}
		if err := drop(admin, uri, name); err != nil {
			t.Errorf("drop the test database: %v", err)
		}
	})
	return uri
}

func keptNote(uri string) string {
	if keeping() {
		return fmt.Sprintf("kept the database: psql '%s'", uri)
	}
	return fmt.Sprintf("database %s ends with the test process; with PGHAUL_KEEP=1 it would stay for a look", uri)
}

// databaseName is the test's name in lower case letters, digits and underscores, with the serial number at its end. Names
// that are too long are cut and told apart by a hash.
func databaseName(test string, n int64) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(strings.TrimPrefix(test, "Test")))
	suffix := fmt.Sprintf("_%d", n)
	if room := nameLimit - len("t_") - len(suffix); len(clean) > room {
		h := fnv.New32a()
		h.Write([]byte(test))
		hash := fmt.Sprintf("_%08x", h.Sum32())
		clean = clean[:room-len(hash)] + hash
	}
	return "t_" + clean + suffix
}

// drop removes a database. What a test of crashes left in it, prepared transactions and replication slots, goes first.
func drop(admin, uri, name string) error {
	statement := "DROP DATABASE " + name + " WITH (FORCE)"
	_, err := run(admin, statement)
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) || pgErr.Code != objectInUse {
		return err
	}
	gids, err := run(uri, "SELECT quote_literal(gid) FROM pg_prepared_xacts WHERE database = current_database()")
	if err != nil {
		return err
	}
	for gid := range strings.Lines(gids) {
		if _, err := run(uri, "ROLLBACK PREPARED "+strings.TrimSuffix(gid, "\n")); err != nil {
			return err
		}
	}
	_, err = run(uri, "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = current_database()")
	if err != nil {
		return err
	}
	_, err = run(admin, statement)
	return err
}

// Exec runs statements one after the other on a connection of their own. Each may hold several, separated by semicolons.
func Exec(t testing.TB, uri string, sql ...string) {
	t.Helper()
	if _, err := run(uri, sql...); err != nil {
		t.Fatalf("%v", err)
	}
}

// Query runs a query and returns its rows as psql -At prints them: columns joined by |, rows by a newline, NULL as nothing.
func Query(t testing.TB, uri, sql string) string {
	t.Helper()
	text, err := run(uri, sql)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return text
}

// HasExtension tells whether the extension can be created in this database: downloaded builds list some whose libraries need
// what the machine lacks. It tries, and takes the try back.
func HasExtension(t testing.TB, uri, name string) bool {
	t.Helper()
	_, err := run(uri, "BEGIN", "CREATE EXTENSION IF NOT EXISTS "+pgx.Identifier{name}.Sanitize()+" CASCADE", "ROLLBACK")
	var pgErr *pgconn.PgError
	if err != nil && !errors.As(err, &pgErr) {
		t.Fatalf("%v", err)
	}
	return err == nil
}

// OnDatabase is the same address with another database's name.
func OnDatabase(t testing.TB, uri, name string) string {
	t.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatalf("%v", err)
	}
	u.Path = "/" + name
	return u.String()
}

// run returns the rows of the last statement.
func run(uri string, sql ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), statementLimit)
	defer cancel()
	conn, err := pgx.Connect(ctx, uri)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	var last *pgconn.Result
	for _, text := range sql {
		results, err := conn.PgConn().Exec(ctx, text).ReadAll()
		if err != nil {
			return "", fmt.Errorf("run %s: %w", shortened(text), err)
		}
		last = nil
		if len(results) > 0 {
			last = results[len(results)-1]
		}
	}
	return rowsText(last), nil
}

func rowsText(result *pgconn.Result) string {
	if result == nil {
		return ""
	}
	rows := make([]string, len(result.Rows))
	for i, row := range result.Rows {
		columns := make([]string, len(row))
		for j, value := range row {
			columns[j] = string(value)
		}
		rows[i] = strings.Join(columns, "|")
	}
	return strings.Join(rows, "\n")
}

func shortened(sql string) string {
	const limit = 300
	if len(sql) > limit {
		return sql[:limit] + "..."
	}
	return sql
}
