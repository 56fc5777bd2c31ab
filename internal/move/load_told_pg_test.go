package move

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// TestLoadToldPlace: the line of the file is told, and not COPY's own, which is another one below a header; what a row's function was doing stays.
func TestLoadToldPlace(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE t (id int PRIMARY KEY)", `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
		IF NEW.id = 7 THEN RAISE EXCEPTION 'no seven'; END IF; RETURN NEW; END$$`, "CREATE TRIGGER refuse BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION refuse()")
	for _, c := range []struct{ content, detail, context string }{
		{"id\n1\n2\n1\n", "Line 4 of", ""},
		{"id\n1\n7\n", "Line 3 of", "PL/pgSQL function public.refuse() line 2 at RAISE"},
	} {
		_, _, err := loaded(t, uri, &loadCase{content: c.content, into: "t"})
		var pg *pgconn.PgError
		var own *planner.Error
		if !errors.As(err, &pg) || !errors.As(err, &own) {
			t.Fatalf("%q: got error %v", c.content, err)
		}
		if !strings.HasPrefix(own.Detail, c.detail) || strings.ReplaceAll(pg.Where, "function refuse", "function public.refuse") != c.context {
			t.Errorf("%q: got detail %q with context %q, want %q with %q", c.content, own.Detail, pg.Where, c.detail, c.context)
		}
	}
}

// TestLoadToldWay: where the server does not say which row an expression fails on, the message says how to learn it.
func TestLoadToldWay(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE t (id int, v int)")
	wish := planner.LoadWish{Set: []planner.SetColumn{{Column: "v", Expression: "10 / id"}}}
	_, _, err := loaded(t, uri, &loadCase{content: "id\n1\n0\n", into: "t", wish: wish})
	var own *planner.Error
	if !errors.As(err, &own) || !strings.Contains(own.Error(), "division by zero") || !strings.Contains(own.Hint, "--reject-reasons") {
		t.Errorf("got error %v with hint %q", err, own.Hint)
	}
}

// TestLoadToldQuery: a query that fails among its rows is named.
func TestLoadToldQuery(t *testing.T) {
	uri := clustertest.Database(t)
	q, err := OpenQuery(t.Context(), uri, "SELECT 1 / (5 - g) AS id FROM generate_series(1, 9) AS g")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = q.Close() }()
	_, err = io.ReadAll(q)
	var own *planner.Error
	if !errors.As(err, &own) || !strings.HasPrefix(own.Message, "cannot run the query on ") || !strings.HasSuffix(err.Error(), ": division by zero") {
		t.Errorf("got error %v", err)
	}
}
